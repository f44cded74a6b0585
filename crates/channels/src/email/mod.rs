//! Email: notifications out over SMTP, replies in, emails to agents, and bounces.
//!
//! ```text
//! ReplyAddresses::address ──▶ email ──▶ person ──▶ reply ──▶ Imap | EmailListener | ProviderWebhook
//!                                                                      │
//!                               InboundMessage ◀── EmailReader ◀── bytes ┘
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`channel`] | the channel, and its settings |
//! | [`smtp`] | sending through a mail server |
//! | [`reply_address`] | the signed addresses that replies and first emails go to |
//! | [`reader`] | reads an inbound email: an answer, a bounce, or nothing |
//! | [`sender`] | verifies that an email came from the address it names as its sender |
//! | [`quotes`] | the text of a reply, without quotations |
//! | [`imap`] | fetches emails from a mailbox as they arrive |
//! | [`listener`] | accepts emails over SMTP or LMTP |
//! | [`provider_webhook`] | emails that a provider posts |
//! | [`template`] | emails with an agent's own layout (A2H) |

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
pub mod smtp;
mod smtp_session;
pub mod template;

pub use channel::{EmailChannel, EmailSettings, ListenerProtocol, NAME, ReplySettings};
pub use reader::{EmailReader, IgnoredEmail, ReadEmail};
pub use reply_address::{AddressOwner, Invitation, OpenedAddress, ReplyAddress, ReplyAddresses};
pub use sender::{Dns, SenderSettings, SenderVerifier};
pub use smtp::{SmtpSecurity, SmtpSettings};
