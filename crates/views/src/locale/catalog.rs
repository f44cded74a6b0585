//! The catalogs: every text, once for each language.

use std::borrow::Cow;
use std::sync::LazyLock;

use askama::filters::{Html, Safe};
use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use unic_langid::LanguageIdentifier;

use super::format;
use super::reader::{Language, language};

/// The files of one language.
macro_rules! files {
    ($language:literal, $($part:literal),+ $(,)?) => {
        [$(include_str!(concat!("../../locales/", $language, "/", $part, ".ftl"))),+]
    };
}

static CATALOGS: LazyLock<[FluentBundle<FluentResource>; 2]> = LazyLock::new(|| {
    let english = files!("en", "lists", "requests", "account", "work", "messages");
    let german = files!("de", "lists", "requests", "account", "work", "messages");
    [bundle(Language::English, &english), bundle(Language::German, &german)]
});

fn bundle(language: Language, files: &[&str]) -> FluentBundle<FluentResource> {
    let tag: LanguageIdentifier = language.tag().parse().unwrap_or_default();
    let mut bundle = FluentBundle::new_concurrent(vec![tag]);
    // Isolation marks would be visible in plain text. Templates isolate with <bdi>.
    bundle.set_use_isolating(false);
    bundle.set_formatter(Some(match language {
        Language::English => |value, _| number(Language::English, value),
        Language::German => |value, _| number(Language::German, value),
    }));
    for file in files {
        // A test reads every file strictly; an entry that cannot be read is left out here.
        let resource = FluentResource::try_new((*file).to_owned());
        let resource = resource.unwrap_or_else(|(resource, _)| resource);
        bundle.add_resource_overriding(resource);
    }
    bundle
}

/// Whole numbers as the language writes them. Everything else is formatted before.
fn number(language: Language, value: &FluentValue<'_>) -> Option<String> {
    let FluentValue::Number(number) = value else { return None };
    #[expect(clippy::cast_possible_truncation, reason = "only whole numbers are given")]
    let whole = number.value as i64;
    Some(format::number_in(language, whole))
}

/// A text in the reader's language. Use [`crate::t!`], which names the values.
pub fn message(id: &str, values: &[(&'static str, FluentValue<'_>)]) -> String {
    message_of(language(), id, values)
}

/// A text in a language. English replaces a text that is missing, and the id one that does not
/// exist; a test makes sure that neither happens.
pub fn message_of(
    language: Language,
    id: &str,
    values: &[(&'static str, FluentValue<'_>)],
) -> String {
    let [english, german] = &*CATALOGS;
    let bundles = match language {
        Language::English => [english, english],
        Language::German => [german, english],
    };
    let found =
        bundles.into_iter().find_map(|bundle| Some((bundle, bundle.get_message(id)?.value()?)));
    let Some((bundle, pattern)) = found else { return id.to_owned() };
    let args: FluentArgs<'_> =
        values.iter().map(|(name, value)| (Cow::Borrowed(*name), value.clone())).collect();
    // A value that is missing shows as its name in braces; a test compares names and calls.
    bundle.format_pattern(pattern, Some(&args), &mut Vec::new()).into_owned()
}

/// A text with markup in the reader's language. Use [`crate::th!`], which escapes the values.
pub fn html_message(id: &str, values: &[(&'static str, FluentValue<'_>)]) -> Safe<String> {
    Safe(message(id, values))
}

/// What a text can contain as a value.
pub trait Argument {
    fn argument(&self) -> FluentValue<'_>;
}

/// What a text with markup can contain as a value: escaped unless it is safe.
pub trait HtmlArgument {
    fn html_argument(&self) -> FluentValue<'_>;
}

impl<T: Argument + ?Sized> Argument for &T {
    fn argument(&self) -> FluentValue<'_> {
        (**self).argument()
    }
}

impl<T: HtmlArgument + ?Sized> HtmlArgument for &T {
    fn html_argument(&self) -> FluentValue<'_> {
        (**self).html_argument()
    }
}

macro_rules! texts {
    ($($kind:ty),+ $(,)?) => {$(
        impl Argument for $kind {
            fn argument(&self) -> FluentValue<'_> {
                FluentValue::from(AsRef::<str>::as_ref(self))
            }
        }

        impl HtmlArgument for $kind {
            fn html_argument(&self) -> FluentValue<'_> {
                FluentValue::from(escaped(AsRef::<str>::as_ref(self)))
            }
        }
    )+};
}

texts!(str, String, Cow<'_, str>);

macro_rules! numbers {
    ($($kind:ty),+ $(,)?) => {$(
        impl Argument for $kind {
            fn argument(&self) -> FluentValue<'_> {
                FluentValue::from(*self)
            }
        }

        impl HtmlArgument for $kind {
            fn html_argument(&self) -> FluentValue<'_> {
                FluentValue::from(*self)
            }
        }
    )+};
}

numbers!(u8, u16, u32, u64, usize, i32, i64);

impl<T: AsRef<str>> HtmlArgument for Safe<T> {
    fn html_argument(&self) -> FluentValue<'_> {
        FluentValue::from(self.0.as_ref())
    }
}

fn escaped(text: &str) -> String {
    use askama::filters::Escaper as _;
    let mut safe = String::with_capacity(text.len());
    // Writing to a string cannot fail.
    let _ = Html.write_escaped_str(&mut safe, text);
    safe
}

#[cfg(test)]
mod tests;
