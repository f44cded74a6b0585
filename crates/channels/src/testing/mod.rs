//! Platforms played by the rules they publish, for tests. Each is stricter than the platform: what it
//! would refuse, or silently cut, is refused here.

pub mod mail;
