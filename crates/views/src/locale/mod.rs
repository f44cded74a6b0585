//! The reader of a page or message: their language and their time zone.
//!
//! Every text that people read is in the catalogs `locales/en` and `locales/de`, one folder for
//! each language, in the syntax of Project Fluent. Code and templates get a text with
//! [`t!`](crate::t), or with [`th!`](crate::th) if the text contains markup:
//!
//! ```text
//! t!("inbox-title")                            the text
//! t!("inbox-waiting", count = self.waiting)    with values; numbers select plural forms
//! th!("receipt-by", name = person)             markup from the catalog, values escaped
//! ```
//!
//! The reader is ambient: [`scope`] sets it for a future, [`with`] for a function, and whatever
//! renders inside of them uses it. A text needs no parameter for it, so no function between a
//! handler and a template has to pass it on. Without a reader texts are English and times UTC.

mod catalog;
mod format;
mod reader;

pub use fluent_bundle::FluentValue;

pub use catalog::{Argument, HtmlArgument, html_message, message, message_of};
pub use format::{date, date_time, decimal, number, time_of_day, utc_date, utc_day_and_month};
pub use reader::{Language, ReaderLocale, Scope, adopt, current, scope, with};

/// A text from the catalog of the reader's language, as a `String`.
#[macro_export]
macro_rules! t {
    ($id:literal) => {
        $crate::locale::message($id, &[])
    };
    ($id:literal, $($name:ident = $value:expr),+ $(,)?) => {
        $crate::locale::message(
            $id,
            &[$((stringify!($name), $crate::locale::Argument::argument(&$value))),+],
        )
    };
}

/// A text with markup from the catalog of the reader's language. Values are escaped, unless they
/// are [`askama::filters::Safe`] already.
#[macro_export]
macro_rules! th {
    ($id:literal) => {
        $crate::locale::html_message($id, &[])
    };
    ($id:literal, $($name:ident = $value:expr),+ $(,)?) => {
        $crate::locale::html_message(
            $id,
            &[$((stringify!($name), $crate::locale::HtmlArgument::html_argument(&$value))),+],
        )
    };
}
