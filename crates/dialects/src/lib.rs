//! dialects
pub mod native;
