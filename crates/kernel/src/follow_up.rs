//! The effects of an event outside the database: the server notifies people, webhook endpoints and
//! agents, and deletes files.
//!
//! One pure function derives them, whichever command caused the event. It needs the event, the ask
//! after the event, and the directory. A follower that reads the feed later gets the same result as
//! the process that committed the event, with two exceptions: a reminder goes to the assignees at
//! the time of reading, and webhook messages go to the endpoints at that time. A follower writes
//! the result as work together with its position in the feed, so each event becomes work exactly
//! once.

use serde::{Deserialize, Serialize};

use crate::actor::ActorRef;
use crate::ask::{Ask, Assignee, Priority};
use crate::audit::Digest;
use crate::directory::Directory;
use crate::event::{AskEvent, DirectoryEvent, DomainEvent, Event};
use crate::ids::{ArtifactId, AskId, HumanId, KeyId, Subject, WebhookId};
use crate::question::QuestionKind;
use crate::task::{ArtifactEvent, Contract};
use crate::time::Time;
use crate::topic::Topic;

/// Something that has to be done outside the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FollowUp {
    /// Notify an assignee.
    Notify {
        /// The ask that the assignee is notified of.
        ask: AskId,
        /// The person or the pool to notify.
        assignee: Assignee,
        /// Why the assignee is notified.
        why: NotificationReason,
        /// The priority of the ask. Critical notifications are sent first.
        priority: Priority,
    },
    /// Post a message where the agent wants it.
    Post {
        /// The ask that the message is about.
        ask: AskId,
        /// Why it is posted.
        why: NotificationReason,
        /// The priority of the ask.
        priority: Priority,
        /// The kind of contact method.
        medium: String,
        /// The digest of the address. The address itself is stored with the ask alone.
        to: Digest,
    },
    /// The ask is closed: update or withdraw the notifications about it.
    Close {
        /// The closed ask whose notifications are updated.
        ask: AskId,
    },
    /// The ask is closed: call the agent back at the URL that it named.
    CallBack {
        /// The closed ask whose outcome the agent receives.
        ask: AskId,
        /// A short hash of the host, so that a slow host delays no other.
        to: String,
    },
    /// Send a message to a webhook endpoint.
    Webhook {
        /// The endpoint that receives the message.
        webhook: WebhookId,
        /// The message as data. The server renders its body when it sends it.
        message: WebhookMessage,
    },
    /// The text of the ask is erased: delete the files that were uploaded to it.
    DropFiles {
        /// The erased ask whose files are deleted.
        ask: AskId,
    },
    /// A person was erased: erase their text on asks and tasks.
    EraseHuman {
        /// The erased person who wrote the text.
        human: HumanId,
    },
    /// An artifact was erased: delete its bytes.
    DropArtifact {
        /// The erased artifact whose bytes are deleted.
        artifact: ArtifactId,
    },
    /// Notify a person of a security event, by one contact method.
    Security {
        /// The person whose access changed.
        human: HumanId,
        /// The security event.
        event: SecurityEvent,
        /// The kind of contact method.
        medium: String,
        /// The digest of the address.
        to: Digest,
    },
    /// Send a sign-in link by mail.
    SignInLink {
        /// The id of the credential that the link presents.
        key: KeyId,
        /// The server derives the secret of the link from this and from a key of its own.
        seed: Digest,
    },
    /// Pass a contract to the runtime of an agent.
    Contract(Contract),
}

/// A change to a person's sign-in methods, of which the server notifies them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecurityEvent {
    /// A passkey was added.
    PasskeyAdded,
    /// A passkey was removed.
    PasskeyRemoved,
    /// All access was ended.
    AccessEnded,
}

/// Why someone is notified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotificationReason {
    /// The ask is new.
    Asked,
    /// The ask was assigned to them.
    Assigned,
    /// The ask is still open.
    Reminder,
    /// No one else answered.
    Escalated,
}

impl NotificationReason {
    /// The name under which it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Assigned => "assigned",
            Self::Reminder => "reminder",
            Self::Escalated => "escalated",
        }
    }
}

/// A message to a webhook endpoint. Its body is rendered when it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookMessage {
    /// The id of the message. It is the same for every attempt and for every endpoint, so that a
    /// receiver can deduplicate by it.
    pub id: String,
    /// The topic; absent in a test message.
    pub topic: Option<Topic>,
    /// The ask, if the message is about one.
    pub ask: Option<AskId>,
    /// The time of the event.
    pub at: Time,
    /// The contract for the runtime of an agent, if the message is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract: Option<Box<Contract>>,
}

impl WebhookMessage {
    /// The message about one event of an ask, named by the place of the event in the ask's chain.
    pub fn of(ask: &Ask, topic: Topic, seq: u64, at: Time) -> Self {
        let id = format!("msg_{}_{seq}", ask.id.ulid());
        Self { id, topic: Some(topic), ask: Some(ask.id), at, contract: None }
    }

    /// The message about a contract.
    pub fn of_contract(contract: &Contract) -> Self {
        Self {
            id: format!("msg_{}", contract.id()),
            topic: Some(Topic::of_duty(contract.duty)),
            ask: None,
            at: contract.at,
            contract: Some(Box::new(contract.clone())),
        }
    }
}

impl FollowUp {
    /// Calls the agent back, if it named a URL.
    fn call_back(ask: &Ask) -> Self {
        let url = ask.callback.as_ref().and_then(|callback| callback.url.value());
        let host = url.map_or("", |url| host(url)).to_ascii_lowercase();
        let to = Digest::of(host.as_bytes()).to_string().chars().take(16).collect();
        Self::CallBack { ask: ask.id, to }
    }

    /// The ask, if it is about one.
    pub fn ask(&self) -> Option<AskId> {
        match self {
            Self::Notify { ask, .. }
            | Self::Post { ask, .. }
            | Self::Close { ask }
            | Self::CallBack { ask, .. }
            | Self::DropFiles { ask } => Some(*ask),
            Self::Webhook { message, .. } => message.ask,
            Self::EraseHuman { .. }
            | Self::DropArtifact { .. }
            | Self::Security { .. }
            | Self::SignInLink { .. }
            | Self::Contract(_) => None,
        }
    }
}

/// The host of a URL, with its port.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#', '\\']).next().unwrap_or_default()
}

/// The effects of an event. `ask` is the ask of the event, in its state after the event or later;
/// without it, an event of an ask has no effects.
pub fn follow_ups(event: &Event, ask: Option<&Ask>, directory: &Directory) -> Vec<FollowUp> {
    Cause::of(event).follow_ups(ask, directory)
}

/// The part of an event that decides what follows from it, taken before the event becomes state.
pub(crate) struct Cause {
    seq: u64,
    at: Time,
    /// The topic under which webhook endpoints are notified, if they are.
    topic: Option<Topic>,
    kind: CauseKind,
}

enum CauseKind {
    /// These assignees are notified, unless the agent named a place for the question.
    Asked(Vec<Assignee>),
    /// These assignees are notified.
    Assigned(Vec<Assignee>, NotificationReason),
    /// All assignees are notified once more.
    Repeated(NotificationReason),
    Closed,
    CallbackWanted,
    Erased,
    HumanErased(HumanId),
    ArtifactErased(ArtifactId),
    WebhookTested(WebhookId),
    /// At most webhook endpoints are notified.
    Other,
}

impl CauseKind {
    fn of_ask(what: &AskEvent, by: &ActorRef) -> Self {
        match what {
            AskEvent::Asked(asked) => {
                // The person who made the artifact that is reviewed knows about it already.
                let maker = if let ActorRef::Human(human) = by
                    && asked.review.is_some()
                {
                    Some(human)
                } else {
                    None
                };
                let knows = |seat: &Assignee| matches!(seat, Assignee::Person { human } if Some(human) == maker);
                Self::Asked(asked.assignees.iter().filter(|seat| !knows(seat)).cloned().collect())
            }
            AskEvent::Assigned { to } => Self::Assigned(
                vec![Assignee::Person { human: to.clone() }],
                NotificationReason::Assigned,
            ),
            AskEvent::Escalated { assignees: seats } | AskEvent::Joined { assignees: seats } => {
                Self::Assigned(seats.clone(), NotificationReason::Escalated)
            }
            AskEvent::Commented { nudge: true, .. } => {
                Self::Repeated(NotificationReason::Escalated)
            }
            AskEvent::Reminded => Self::Repeated(NotificationReason::Reminder),
            AskEvent::Answered { decisive: true, .. }
            | AskEvent::Defaulted { .. }
            | AskEvent::Cancelled { .. }
            | AskEvent::Expired { .. }
            | AskEvent::Failed { .. } => Self::Closed,
            AskEvent::CallbackWanted => Self::CallbackWanted,
            AskEvent::Erased => Self::Erased,
            AskEvent::Answered { decisive: false, .. }
            | AskEvent::AnswerHeld { .. }
            | AskEvent::AnswerWithdrawn
            | AskEvent::Followed { .. }
            | AskEvent::Opened
            | AskEvent::Progressed { .. }
            | AskEvent::Claimed
            | AskEvent::Commented { nudge: false, .. }
            | AskEvent::ActionPicked { .. }
            | AskEvent::Extended { .. }
            | AskEvent::Granted { .. }
            | AskEvent::CalledBack { .. }
            | AskEvent::Revoked { .. }
            | AskEvent::WordsErased(_) => Self::Other,
        }
    }
}

impl Cause {
    pub(crate) fn of(event: &Event) -> Self {
        let kind = match (&event.what, &event.subject) {
            (DomainEvent::Ask(what), _) => CauseKind::of_ask(what, &event.by),
            (DomainEvent::Directory(DirectoryEvent::HumanErased), Subject::Human(human)) => {
                CauseKind::HumanErased(human.clone())
            }
            (DomainEvent::Directory(DirectoryEvent::WebhookTested), Subject::Webhook(id)) => {
                CauseKind::WebhookTested(*id)
            }
            (DomainEvent::Artifact(event), Subject::Artifact(id))
                if matches!(**event, ArtifactEvent::Erased) =>
            {
                CauseKind::ArtifactErased(*id)
            }
            (_, _) => CauseKind::Other,
        };
        Self { seq: event.seq, at: event.at, topic: Topic::of(&event.what), kind }
    }

    pub(crate) fn follow_ups(&self, ask: Option<&Ask>, directory: &Directory) -> Vec<FollowUp> {
        let mut follow_ups = match (&self.kind, ask) {
            (CauseKind::HumanErased(human), _) => {
                vec![FollowUp::EraseHuman { human: human.clone() }]
            }
            (CauseKind::ArtifactErased(artifact), _) => {
                vec![FollowUp::DropArtifact { artifact: *artifact }]
            }
            (CauseKind::WebhookTested(webhook), _) => vec![self.test(*webhook)],
            (_, Some(ask)) => self.of_ask(ask),
            (_, None) => Vec::new(),
        };
        if let (Some(ask), Some(topic)) = (ask, self.topic)
            && let Some(topic) = topic.delivered_for(ask)
        {
            let message = WebhookMessage::of(ask, topic, self.seq, self.at);
            follow_ups.extend(directory.webhook_follow_ups(ask, &message, topic));
        }
        follow_ups
    }

    fn of_ask(&self, ask: &Ask) -> Vec<FollowUp> {
        // A person began the conversation: the assignee is that person, and no answer is needed.
        if ask.starts_conversation() {
            return Vec::new();
        }
        let notify = |seat: &Assignee, why| {
            let (ask, seat, priority) = (ask.id, seat.clone(), ask.priority);
            FollowUp::Notify { ask, assignee: seat, why, priority }
        };
        match &self.kind {
            // If the agent named an address, the assignees find the request in the inbox. They are
            // notified only if the message cannot be delivered to that address.
            CauseKind::Asked(_) if ask.posting_address.is_some() => {
                ask.posting_follow_up(NotificationReason::Asked).into_iter().collect()
            }
            CauseKind::Asked(seats) => {
                seats.iter().map(|seat| notify(seat, NotificationReason::Asked)).collect()
            }
            CauseKind::Assigned(seats, why) => {
                seats.iter().map(|seat| notify(seat, *why)).collect()
            }
            CauseKind::Repeated(why) => {
                let seats = ask.assignees.iter().map(|seat| notify(seat, *why));
                seats.chain(ask.posting_follow_up(*why)).collect()
            }
            CauseKind::Closed => {
                let callback = ask.callback.as_ref().map(|_| FollowUp::call_back(ask));
                [FollowUp::Close { ask: ask.id }].into_iter().chain(callback).collect()
            }
            CauseKind::CallbackWanted => vec![FollowUp::call_back(ask)],
            CauseKind::Erased if may_have_files(ask) => vec![drop_files(ask.id)],
            CauseKind::Erased
            | CauseKind::HumanErased(_)
            | CauseKind::ArtifactErased(_)
            | CauseKind::WebhookTested(_)
            | CauseKind::Other => Vec::new(),
        }
    }

    fn test(&self, webhook: WebhookId) -> FollowUp {
        let id = format!("msg_{}_{}", webhook.ulid(), self.seq);
        let message = WebhookMessage { id, topic: None, ask: None, at: self.at, contract: None };
        FollowUp::Webhook { webhook, message }
    }
}

/// The question is erased by now. Only one that asks for values can have asked for files.
fn may_have_files(ask: &Ask) -> bool {
    ask.kind == QuestionKind::Provide
}

fn drop_files(ask: AskId) -> FollowUp {
    FollowUp::DropFiles { ask }
}
