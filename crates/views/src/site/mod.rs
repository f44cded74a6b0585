//! The parts that all pages share: the base template, paths, assets and headers.

pub mod assets;
pub mod headers;
pub mod icons;
pub mod paths;
pub(crate) mod script_words;
pub mod vendor;
