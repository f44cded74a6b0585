//! Notifies people, by the contact methods they have.
//!
//! ```text
//! Notify ──▶ NotificationStep, one for each person ──▶ Send, or Push for each device
//!              ▲   │                                          │
//!              │   └─▶ Digest                                 │ sent: if there is no response
//!              └──────────────────────────────────────────────┘ failed: at once
//! ```
//!
//! Each arrow is one commit that settles a delivery and writes the next one, so a crash loses
//! nothing and repeats at most the delivery under way. The rules are in
//! [`kernel::notification_steps`].
//!
//! | module | contents |
//! |---|---|
//! | [`contact_methods`] | how a person can be notified now, and whether they may be |
//! | `recipients` | from assignees to people, and from closed asks to the messages about them |
//! | `notification_steps` | the next contact method, and what follows an attempt |
//! | `messages` | one message to one address |
//! | `conversation_origin`, `reply_codes` | the thread a message belongs to; the code that a written answer begins with |
//! | [`push`] | one push notification to one device |
//! | [`digest`] | the digest of requests that can wait |
//! | `security` | notifications of changes to a person's access |
//! | [`sign_in_links`] | sign-in links by email |
//! | [`verification_codes`] | codes that verify a contact method |
//! | `terminal` | lines on the terminal that the server runs in |

pub mod contact_methods;
mod conversation_origin;
pub mod digest;
pub(crate) mod messages;
pub(crate) mod notification_steps;
pub mod push;
pub(crate) mod recipients;
mod reply_codes;
mod security;
pub mod sign_in_links;
mod terminal;
pub mod verification_codes;

use std::sync::Arc;

use channels::ChannelRegistry;
use gateway::Gateway;
use gateway::secrets::ServerSecrets;
use store::Work;
use store::{ClaimedWork, Settlement, StoreError};

use crate::answer_offers::AnswerOffers;
use crate::links::LinkBuilder;
use crate::outgoing::Outgoing;
use contact_methods::ContactMethods;
use digest::{DigestDelivery, Digests};
use messages::{MessageDelivery, MessageSender};
use notification_steps::{Notification, NotificationSteps};
use push::{DeviceNotifications, DevicePush};
use security::{SecurityNotice, SecurityNotices};
use sign_in_links::SignInLinks;
use terminal::TerminalLines;

pub use messages::slack_message_ts;

/// Executes the deliveries that notify people.
pub(crate) struct PeopleNotifier {
    pub(crate) contacts: ContactMethods,
    pub(crate) steps: NotificationSteps,
    pub(crate) digests: Digests,
    pub(crate) sign_in_links: SignInLinks,
    terminal: TerminalLines,
    messages: MessageSender,
    devices: DeviceNotifications,
    security: SecurityNotices,
}

impl PeopleNotifier {
    /// Notifies through these channels.
    pub(crate) fn new(
        gateway: &Gateway,
        secrets: &Arc<ServerSecrets>,
        channels: &Arc<ChannelRegistry>,
        contacts: &ContactMethods,
        links: &LinkBuilder,
    ) -> Self {
        let (gateway, secrets) = (|| gateway.clone(), || Arc::clone(secrets));
        let (contacts, links) = (|| contacts.clone(), || links.clone());
        let outgoing = || Outgoing { gateway: gateway(), channels: Arc::clone(channels) };
        let steps = NotificationSteps { gateway: gateway(), contacts: contacts() };
        let devices = DeviceNotifications {
            gateway: gateway(),
            secrets: secrets(),
            contacts: contacts(),
            steps: steps.clone(),
        };
        let messages = MessageSender {
            gateway: gateway(),
            secrets: secrets(),
            channels: Arc::clone(channels),
            links: links(),
            offers: AnswerOffers { gateway: gateway(), secrets: secrets() },
            outgoing: outgoing(),
            contacts: contacts(),
            steps: steps.clone(),
        };
        let digests = Digests {
            gateway: gateway(),
            contacts: contacts(),
            links: links(),
            outgoing: outgoing(),
            devices: devices.clone(),
            steps: steps.clone(),
        };
        let security = SecurityNotices {
            gateway: gateway(),
            contacts: contacts(),
            links: links(),
            outgoing: outgoing(),
            steps: steps.clone(),
        };
        let sign_in_links = SignInLinks {
            gateway: gateway(),
            secrets: secrets(),
            links: links(),
            outgoing: outgoing(),
        };
        let terminal = TerminalLines {
            gateway: gateway(),
            channel: channels.terminal.clone(),
            links: links(),
        };
        let contacts = contacts();
        Self { contacts, steps, digests, sign_in_links, terminal, messages, devices, security }
    }

    /// Notifies one person, by one contact method.
    pub(crate) async fn notify(&self, delivery: &ClaimedWork) -> Result<Settlement, StoreError> {
        let attempt = delivery.attempt;
        match &delivery.work {
            Work::Push { device, ask, why, priority, plan: chain } => {
                let (device, ask, why, priority) = (*device, *ask, *why, *priority);
                let chain = chain.as_ref();
                let push = DevicePush { device, ask, why, priority, chain, attempt };
                self.devices.push(push).await
            }
            Work::Send { ask, why, priority, medium, to, plan: chain, passed_on } => {
                let about = Notification { ask: *ask, why: *why, priority: *priority };
                let (to, chain, passed_on) = (*to, chain.as_ref(), *passed_on);
                let since = delivery.written_at;
                let sending =
                    MessageDelivery { about, to, chain, passed_on, medium, attempt, since };
                self.messages.send(sending).await
            }
            Work::Amend { message, .. } => {
                self.messages.update_message(*message, attempt, delivery.written_at).await
            }
            Work::SendDigest { human, at, to, tried, .. } => {
                let digest = DigestDelivery { human, at: *at, tried };
                self.digests.send(digest, *to, attempt).await
            }
            Work::PushDigest { human, at, device } => {
                let digest = DigestDelivery { human, at: *at, tried: &[] };
                self.digests.push(digest, *device, attempt).await
            }
            Work::Security { human, event, to, .. } => {
                let notice = SecurityNotice { human, event: *event, to: *to };
                self.security.send(notice, attempt, delivery.written_at).await
            }
            Work::Notify { .. }
            | Work::NotificationStep { .. }
            | Work::Digest { .. }
            | Work::Close { .. }
            | Work::CallBack { .. }
            | Work::Webhook { .. }
            | Work::DropFiles { .. }
            | Work::EraseHuman { .. }
            | Work::DropArtifact { .. }
            | Work::SetAside { .. }
            | Work::SignInLink { .. }
            | Work::Contract(_) => Ok(Settlement::Done),
        }
    }
}
