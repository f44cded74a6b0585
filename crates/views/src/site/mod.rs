//! What belongs to the site as a whole: its frame, addresses, assets and headers.

pub mod assets;
pub mod headers;
pub mod icons;
pub mod paths;
