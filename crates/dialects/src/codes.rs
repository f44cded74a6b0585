//! The error codes of a dialect: named, and in one list that tests hold against its documents.

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        /// The codes, by name.
        pub mod code {
            $($(#[$doc])* pub const $name: &str = $text;)*
        }

        /// Every code this dialect can send.
        pub const CODES: &[&str] = &[$($text),*];
    };
}

pub(crate) use codes;
