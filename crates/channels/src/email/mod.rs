//! Email: notifications out over SMTP, replies in, emails to agents, and bounces.
//!
//! ```text
//! ReplyAddresses::address ──▶ email ──▶ person ──▶ reply ──▶ Imap | EmailListener | ProviderWebhook
//!                                                                      │
//!                               InboundMessage ◀── EmailReader ◀── bytes ┘
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`channel`] | the channel, and its settings |
//! | [`smtp`] | sending through a mail server |
//! | [`reply_address`] | addresses that replies and first emails go to: what is trusted |
//! | [`reader`] | what an inbound email says: an answer, a bounce, or nothing |
//! | [`sender`] | whether an email came from the address it names as its sender |
//! | [`quotes`] | what a person wrote, without what they quoted |
//! | [`imap`] | emails fetched from a mailbox as they come |
//! | [`listener`] | emails accepted over SMTP or LMTP |
//! | [`provider_webhook`] | emails that a provider posts |
//! | [`template`] | emails that agents lay out themselves (A2H) |

mod bounce;
pub mod channel;
mod html;
pub mod imap;
pub mod listener;
pub mod provider_webhook;
pub mod quotes;
pub mod reader;
pub mod reply_address;
pub mod sender;
mod session;
pub mod smtp;
pub mod template;
mod wire;

pub use channel::{EmailChannel, EmailSettings, ListenerProtocol, NAME, ReplySettings};
pub use reader::{EmailReader, Ignored, ReadEmail};
pub use reply_address::{AddressOwner, Invitation, OpenedAddress, ReplyAddress, ReplyAddresses};
pub use sender::{Dns, SenderSettings, SenderVerifier};
pub use smtp::{SmtpSecurity, SmtpSettings};
