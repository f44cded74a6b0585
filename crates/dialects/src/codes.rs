//! The error codes of a dialect: constants by name, and one list that tests compare with its
//! documents.

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        pub mod code {
            $($(#[$doc])* pub const $name: &str = $text;)*
        }

        /// Every code this dialect can send.
        pub const CODES: &[&str] = &[$($text),*];
    };
}

pub(crate) use codes;
