//! Platforms played by the rules they publish, for tests. Each is stricter than the platform: what it
//! would refuse, or silently cut, is refused here.

pub mod cards;
pub mod dkim;
pub mod dns;
pub mod email;
pub mod ntfy;
pub mod slack;
pub mod stand;
pub mod telegram;
pub mod twilio;
pub mod webhook;
pub mod whatsapp;
