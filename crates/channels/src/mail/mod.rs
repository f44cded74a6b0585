//! Mail that comes in: answers to letters, letters to agents, letters that came back, and what agents want letters to look
//! like. Letters go out from the gateway itself; this is everything else.
//!
//! ```text
//! Replies::address ──▶ letter ──▶ person ──▶ answer ──▶ Imap | Listener | Inbound
//!                                                                   │
//!                                        Heard ◀── Reader ◀── bytes ┘
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`address`] | addresses that answers and first words go to: what is trusted |
//! | [`letter`] | what a letter says: an answer, a failure, or nothing |
//! | [`quotes`] | what somebody wrote, without what they quoted |
//! | [`imap`] | letters fetched from a mailbox as they come |
//! | [`listener`] | letters taken over SMTP or LMTP |
//! | [`inbound`] | letters a provider posts to us |
//! | [`template`] | letters that agents lay out themselves (A2H) |

pub mod address;
mod bounce;
mod html;
pub mod imap;
pub mod inbound;
pub mod letter;
pub mod listener;
pub mod quotes;
mod session;
pub mod template;
mod wire;

pub use address::{Addressed, Invitation, Replies, Reply, Whom};
pub use letter::{Ignored, Read, Reader};
pub use quotes::SEPARATOR;
