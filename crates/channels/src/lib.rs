//! The channels: everything that sends messages to people, one folder each. A channel renders a
//! request in its platform's markup, sends it, updates it when the request is closed, verifies that
//! inbound calls are from the platform, and reads them. It does not depend on the gateway, which
//! decides who a person is and whether they may answer.
//!
//! ```text
//! MessageCard ──render──▶ message ──deliver──▶ platform ──▶ person
//!                            │                     │
//!                         update ◀── closed   WebhookCall ──verify──▶ parse ──▶ InboundMessage ──▶ the gateway
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`channel`] | the trait every channel implements, and the messages it sends |
//! | [`registry`] | all channels, one line each |
//! | [`setup`] | how a channel is created from its settings, and what the server provides |
//! | [`inbound`] | inbound messages: a person pressed a button, wrote, or a message was delivered |
//! | [`errors`] | why a message was not delivered, and when to try again |
//! | [`secret`] | secrets that are never printed |
//! | [`standard_webhooks`] | signatures of Standard Webhooks |
//! | [`email`] | email: SMTP out; replies in by mailbox, listener or provider |
//! | [`push`] | Web Push: notifications on people's devices |
//! | [`terminal`] | the terminal the server runs in |
//! | [`slack`], [`telegram`], [`ntfy`] | the platforms of these names |
//! | [`sms`], [`whatsapp`] | text messages, and `WhatsApp` through Meta or Twilio |
//! | [`twilio`] | the Twilio account that [`sms`] and [`whatsapp`] share |
//! | [`webhook`] | a program the operator runs, for everything else |

pub mod channel;
pub mod email;
pub mod errors;
pub mod inbound;
pub mod ntfy;
mod platform_http;
pub mod push;
pub mod registry;
pub mod secret;
mod sender_claim;
pub mod setup;
pub mod slack;
pub mod sms;
pub mod standard_webhooks;
pub mod telegram;
pub mod terminal;
#[cfg(feature = "testing")]
pub mod testing;
pub mod twilio;
pub mod webhook;
pub mod whatsapp;

pub use channel::{Channel, InboundHandler, OutboundMessage, PostedMessage, WebhookCall};
pub use errors::{DeliveryError, ForgedCall, UnreadableCall};
pub use inbound::InboundMessage;
pub use registry::{ChannelRegistry, ChannelSettings};
pub use secret::SecretString;
pub use sender_claim::{SenderClaim, UnverifiedSender};
