//! The site as a whole: its frame, paths, assets and headers.

pub mod assets;
pub mod headers;
pub mod icons;
pub mod paths;
