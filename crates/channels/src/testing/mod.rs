//! Simulated platforms for tests, built from their published rules. Each is stricter than the real
//! platform: it rejects everything that the platform would reject or silently truncate.

pub mod dkim;
pub mod dns;
pub mod email;
pub mod fake_platform;
pub mod ntfy;
pub mod sample_cards;
pub mod slack;
pub mod telegram;
pub mod twilio;
pub mod webhook;
pub mod whatsapp;
