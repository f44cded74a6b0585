//! The channels: everything that sends something to a person, each in a folder of its own. A channel renders
//! what is said about a request in its platform's markup, sends it, changes it when the request is closed,
//! verifies that what comes back is from the platform, and reads it. It knows nothing of the gateway: who a
//! person is and whether they may answer is decided there.
//!
//! ```text
//! MessageCard ──render──▶ message ──deliver──▶ platform ──▶ person
//!                            │                     │
//!                         update ◀── closed   WebhookCall ──verify──▶ parse ──▶ InboundMessage ──▶ the gateway
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`channel`] | the trait every channel implements, and the messages it sends |
//! | [`registry`] | every channel there is, one line each |
//! | [`setup`] | how a channel is made from its settings, and what the server gives it |
//! | [`inbound`] | inbound messages: a person pressed a button, wrote, or a message was delivered |
//! | [`errors`] | why a message was not delivered, and when to try again |
//! | [`secret`] | texts that never print |
//! | [`standard`] | signatures of Standard Webhooks |
//! | [`email`] | email: SMTP out; replies in by mailbox, listener or provider |
//! | [`push`] | Web Push: notifications on people's devices |
//! | [`terminal`] | the terminal the server runs in |
//! | [`slack`], [`telegram`], [`ntfy`] | the platforms of these names |
//! | [`sms`], [`whatsapp`] | text messages, and `WhatsApp` through Meta or Twilio |
//! | [`twilio`] | what [`sms`] and [`whatsapp`] share: an account at Twilio |
//! | [`webhook`] | a program the operator runs, for everything else |

pub mod channel;
pub mod email;
pub mod errors;
pub mod inbound;
pub mod ntfy;
pub mod push;
pub mod registry;
pub mod secret;
mod sender_claim;
pub mod setup;
pub mod slack;
pub mod sms;
pub mod standard;
pub mod telegram;
pub mod terminal;
#[cfg(feature = "testing")]
pub mod testing;
pub mod twilio;
pub mod webhook;
pub mod whatsapp;
mod wire;

pub use channel::{Channel, InboundHandler, OutboundMessage, PostedMessage, WebhookCall};
pub use errors::{DeliveryError, ForgedCall, UnreadableCall};
pub use inbound::InboundMessage;
pub use registry::{ChannelRegistry, ChannelSettings};
pub use secret::Secret;
pub use sender_claim::{SenderClaim, UnverifiedSender};
