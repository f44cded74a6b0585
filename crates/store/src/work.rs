//! Work: the rows that workers execute. Followers write them, and a worker that executes one may
//! write the next.

use std::borrow::Cow;

use kernel::ask::{Assignee, Priority};
use kernel::audit::Digest;
use kernel::follow_up::{NotificationReason, SecurityEvent, WebhookMessage};
use kernel::task::Contract;
use kernel::{ArtifactId, AskId, FollowUp, HumanId, KeyId, Time, WebhookId};
use serde::{Deserialize, Serialize};

/// One row of work. Rows hold ids and digests, never text, addresses or secrets. The stored names
/// are those of the first releases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "effect")]
pub enum Work {
    /// Notify an assignee. Releases without followers wrote this; it becomes a notification step
    /// for each person.
    Notify {
        /// The ask that the assignee is notified of.
        ask: AskId,
        /// The person or the pool to notify.
        #[serde(rename = "seat")]
        assignee: Assignee,
        /// Why the assignee is notified.
        why: NotificationReason,
        /// The priority of the ask.
        priority: Priority,
    },
    /// The ask is closed: update or withdraw the notifications about it. Releases without followers
    /// wrote this.
    #[serde(rename = "settle")]
    Close {
        /// The closed ask whose notifications are updated.
        ask: AskId,
    },
    /// The ask is closed: call the agent back.
    CallBack {
        /// The closed ask whose outcome the agent receives.
        ask: AskId,
        /// A short hash of the host, so that a slow host delays no other.
        #[serde(default)]
        to: String,
    },
    /// Send a message to a webhook endpoint.
    #[serde(rename = "tell")]
    Webhook {
        /// The endpoint that receives the message.
        webhook: WebhookId,
        /// The message as data. The server renders its body when it sends it.
        #[serde(rename = "told")]
        message: WebhookMessage,
    },
    /// Delete the files that were uploaded to an erased ask.
    DropFiles {
        /// The erased ask whose files are deleted.
        ask: AskId,
    },
    /// Erase the text of an erased person on asks and tasks. The worker reads the feed in steps.
    /// Each step replaces the previous row, so a restart continues there.
    EraseHuman {
        /// The erased person who wrote the text.
        human: HumanId,
        /// The feed position up to which this is done.
        #[serde(default)]
        after: u64,
    },
    /// Delete the bytes of an erased artifact.
    DropArtifact {
        /// The erased artifact whose bytes are deleted.
        artifact: ArtifactId,
    },
    /// Send a push notification to one device of a person, or withdraw it.
    Push {
        /// The name of the device: a digest of its push address.
        device: Digest,
        /// The ask that the push notification is about.
        ask: AskId,
        /// Why the person is notified; absent if the ask is closed.
        why: Option<NotificationReason>,
        /// The priority of the ask.
        priority: Priority,
        /// The plan that continues if this fails. Absent if another device of the person carries
        /// the plan, or if the plan continues already.
        #[serde(rename = "chain", default, skip_serializing_if = "Option::is_none")]
        plan: Option<NotificationPlan>,
    },
    /// Notify a person by the next contact method that was not tried.
    #[serde(rename = "reach")]
    NotificationStep {
        /// The ask that the person is notified of.
        ask: AskId,
        /// Why the person is notified.
        why: NotificationReason,
        /// The priority of the ask.
        priority: Priority,
        /// The person, and how they were notified so far.
        #[serde(rename = "chain")]
        plan: NotificationPlan,
    },
    /// Send a message about an ask by one contact method, to a person or to the address that the
    /// agent named.
    #[serde(alias = "mail")]
    Send {
        /// The ask that the message is about.
        ask: AskId,
        /// Why it is sent.
        why: NotificationReason,
        /// The priority of the ask.
        priority: Priority,
        /// The kind of contact method. Rows of the first releases are emails.
        #[serde(default = "email")]
        medium: String,
        /// The digest of the address.
        to: Digest,
        /// The plan that continues if this fails; absent if the agent named the address.
        #[serde(rename = "chain", default, skip_serializing_if = "Option::is_none")]
        plan: Option<NotificationPlan>,
        /// Whether the plan continues already.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        passed_on: bool,
    },
    /// Update a message about an ask that is closed.
    Amend {
        /// The closed ask that the message is about.
        ask: AskId,
        /// The kind of contact method.
        medium: String,
        /// The [name](crate::Message::name) of the sent message.
        message: Digest,
    },
    /// Send a person the digest of all requests that can wait.
    #[serde(rename = "gather")]
    Digest {
        /// The person who receives the digest.
        human: HumanId,
        /// When the digest is due. There is one for each such time, however many requests can wait.
        at: Time,
        /// The contact methods that failed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tried: Vec<Digest>,
    },
    /// Send the digest by one contact method.
    #[serde(rename = "send_gathered", alias = "mail_gathered")]
    SendDigest {
        /// The person who receives the digest.
        human: HumanId,
        /// When the digest is due.
        at: Time,
        /// The kind of contact method.
        #[serde(default = "email")]
        medium: String,
        /// The digest of the address.
        to: Digest,
        /// The contact methods that failed before.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tried: Vec<Digest>,
    },
    /// Send the digest to one device.
    #[serde(rename = "push_gathered")]
    PushDigest {
        /// The person who receives the digest.
        human: HumanId,
        /// When the digest is due.
        at: Time,
        /// The name of the device: a digest of its push address.
        device: Digest,
    },
    /// Notify a person of a security event, by one contact method.
    #[serde(rename = "notify_security")]
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
    #[serde(rename = "mail_link")]
    SignInLink {
        /// The id of the credential that the link presents.
        key: KeyId,
        /// The server derives the secret of the link from this and from a key of its own.
        seed: Digest,
    },
    /// Pass a contract to the runtime of an agent.
    Contract(Contract),
    /// An event that a follower could not read. It is given up at once, so that operators see it.
    SetAside {
        /// The position of the event in the feed.
        position: u64,
        /// Why it cannot be read.
        error: String,
    },
}

/// How a person was notified of an ask so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotificationPlan {
    /// The person whom the server notifies.
    pub human: HumanId,
    /// The time of the event they are notified of. Together with the ask and the reason it
    /// identifies the notification.
    pub since: Time,
    /// The digests of the contact methods that failed or got no response.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<Digest>,
}

impl From<FollowUp> for Work {
    fn from(follow_up: FollowUp) -> Self {
        match follow_up {
            FollowUp::Notify { ask, assignee: seat, why, priority } => {
                Self::Notify { ask, assignee: seat, why, priority }
            }
            FollowUp::Post { ask, why, priority, medium, to } => {
                Self::Send { ask, why, priority, medium, to, plan: None, passed_on: false }
            }
            FollowUp::Close { ask } => Self::Close { ask },
            FollowUp::CallBack { ask, to } => Self::CallBack { ask, to },
            FollowUp::Webhook { webhook, message } => Self::Webhook { webhook, message },
            FollowUp::DropFiles { ask } => Self::DropFiles { ask },
            FollowUp::EraseHuman { human } => Self::EraseHuman { human, after: 0 },
            FollowUp::DropArtifact { artifact } => Self::DropArtifact { artifact },
            FollowUp::Security { human, event, medium, to } => {
                Self::Security { human, event, medium, to }
            }
            FollowUp::SignInLink { key, seed } => Self::SignInLink { key, seed },
            FollowUp::Contract(contract) => Self::Contract(contract),
        }
    }
}

/// How many lanes the notifications of one kind of contact method have.
const LANES: u8 = 8;

/// The kind of contact method of rows that do not say.
fn email() -> String {
    "email".to_owned()
}

impl Work {
    /// The lane of work that needs no receiver: notification steps, digests and deletions.
    pub const PEOPLE: &str = "";
    /// The prefix of the lanes of runtimes.
    pub const RUNTIMES: &str = "runtime:";

    /// The lane. Work waits only for other work of its lane, so every receiver on whose response
    /// the server depends has a lane of its own.
    pub fn lane(&self) -> Cow<'static, str> {
        match self {
            Self::Notify { .. }
            | Self::NotificationStep { .. }
            | Self::Digest { .. }
            | Self::Close { .. }
            | Self::DropFiles { .. }
            | Self::EraseHuman { .. }
            | Self::DropArtifact { .. }
            | Self::SetAside { .. } => Self::PEOPLE.into(),
            // Critical notifications have lanes of their own, so that they wait for no others.
            Self::Send { medium, priority: Priority::Critical, .. } => {
                format!("{medium}:critical").into()
            }
            Self::Push { device, priority: Priority::Critical, .. } => {
                format!("device:{device}:critical").into()
            }
            Self::SignInLink { .. } => "mail".into(),
            Self::CallBack { to, .. } => format!("callback:{to}").into(),
            Self::Push { device, .. } | Self::PushDigest { device, .. } => {
                format!("device:{device}").into()
            }
            // All addresses share one platform, so lanes for single addresses would all wait for
            // that platform. A few lanes keep a slow platform from occupying all callers.
            Self::Send { medium, to: Digest([first, ..]), .. }
            | Self::Security { medium, to: Digest([first, ..]), .. }
            | Self::SendDigest { medium, to: Digest([first, ..]), .. }
            | Self::Amend { medium, message: Digest([first, ..]), .. } => {
                format!("{medium}:{}", first % LANES).into()
            }
            Self::Webhook { webhook, .. } => webhook.to_string().into(),
            Self::Contract(contract) => format!("{}{}", Self::RUNTIMES, contract.agent).into(),
        }
    }

    /// The ask, if it is about one.
    pub fn ask(&self) -> Option<AskId> {
        match self {
            Self::Notify { ask, .. }
            | Self::Close { ask }
            | Self::CallBack { ask, .. }
            | Self::Push { ask, .. }
            | Self::NotificationStep { ask, .. }
            | Self::Send { ask, .. }
            | Self::Amend { ask, .. }
            | Self::DropFiles { ask } => Some(*ask),
            Self::Webhook { message, .. } => message.ask,
            Self::Digest { .. }
            | Self::SendDigest { .. }
            | Self::PushDigest { .. }
            | Self::SignInLink { .. }
            | Self::Security { .. }
            | Self::EraseHuman { .. }
            | Self::DropArtifact { .. }
            | Self::SetAside { .. }
            | Self::Contract(_) => None,
        }
    }

    /// The rank in which work is executed: 0 first.
    pub fn rank(&self) -> u8 {
        match self {
            Self::Notify { priority, .. }
            | Self::NotificationStep { priority, .. }
            | Self::Send { priority, .. }
            | Self::Push { priority, .. } => priority.rank(),
            Self::Close { .. }
            | Self::Amend { .. }
            | Self::CallBack { .. }
            | Self::Webhook { .. }
            | Self::Contract(_)
            | Self::Security { .. }
            | Self::SignInLink { .. } => Priority::High.rank(),
            Self::Digest { .. }
            | Self::SendDigest { .. }
            | Self::PushDigest { .. }
            | Self::DropFiles { .. }
            | Self::EraseHuman { .. }
            | Self::DropArtifact { .. }
            | Self::SetAside { .. } => Priority::Low.rank(),
        }
    }

    /// The name under which this work waits only once: while it waits, it is not written again.
    pub fn name(&self) -> Option<String> {
        match self {
            Self::Digest { human, at, .. } => Some(format!("gather:{human}:{}", at.millis())),
            // A plan continues at one place.
            Self::NotificationStep {
                ask,
                why,
                plan: NotificationPlan { human, since, .. },
                ..
            } => Some(format!("reach:{ask}:{}:{}:{human}", why.as_str(), since.millis())),
            Self::Notify { .. }
            | Self::Send { .. }
            | Self::Amend { .. }
            | Self::SendDigest { .. }
            | Self::PushDigest { .. }
            | Self::Push { .. }
            | Self::Close { .. }
            | Self::CallBack { .. }
            | Self::Webhook { .. }
            | Self::Contract(_)
            | Self::DropFiles { .. }
            | Self::EraseHuman { .. }
            | Self::DropArtifact { .. }
            | Self::Security { .. }
            | Self::SetAside { .. }
            | Self::SignInLink { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::command::NewAsk;
    use kernel::testing::{Cast, new_ask, yes};

    use super::*;

    #[test]
    fn each_host_has_one_lane_and_notifications_have_none_of_their_own() {
        let mut cast = Cast::new();
        let mut lane = |url: &str| {
            let id = cast.ask(NewAsk { callback: Some(url.to_owned()), ..new_ask() });
            let olga = cast.human("olga");
            cast.run(olga, kernel::AskCommand::Answer(id, yes()));
            let last = Work::from(cast.follow_ups().last().unwrap().clone());
            assert!(matches!(last, Work::CallBack { .. }));
            last.lane().into_owned()
        };
        let one = lane("https://a.example/hook");
        assert_eq!(one, lane("https://A.example?x=1"));
        for other in ["https://a.example:8443/hook", "https://b.example/a.example"] {
            assert_ne!(one, lane(other), "{other}");
        }
        let all = cast.follow_ups().iter().cloned().map(Work::from);
        let people = all.filter(|work| matches!(work, Work::Notify { .. } | Work::Close { .. }));
        let people: Vec<Work> = people.collect();
        assert!(!people.is_empty());
        assert!(people.iter().all(|work| work.lane() == Work::PEOPLE));
    }

    #[test]
    fn critical_notifications_have_lanes_of_their_own() {
        let send = |priority: &str| -> Work {
            let row = format!(
                r#"{{"effect":"mail","ask":"ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C","why":"asked","priority":"{priority}","to":"{}"}}"#,
                Digest::ZERO
            );
            serde_json::from_str(&row).unwrap()
        };
        assert_eq!(send("critical").lane(), "email:critical");
        for other in ["high", "normal", "low"] {
            assert_eq!(send(other).lane(), "email:0", "{other}");
        }
    }

    /// Rows of releases before lanes, plans and contact methods were stored.
    #[test]
    fn rows_of_earlier_releases_are_read() {
        let old = r#"{"effect":"call_back","ask":"ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C"}"#;
        let read: Work = serde_json::from_str(old).unwrap();
        assert_eq!(read.lane(), "callback:");
        let device = Digest::ZERO;
        let old = format!(
            r#"{{"effect":"push","device":"{device}","ask":"ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C","why":"asked","priority":"low"}}"#
        );
        let read: Work = serde_json::from_str(&old).unwrap();
        assert!(matches!(read, Work::Push { plan: None, .. }));
        assert_eq!(serde_json::to_string(&read).unwrap(), old);
        let old = format!(
            r#"{{"effect":"mail","ask":"ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C","why":"asked","priority":"low","to":"{device}","chain":{{"human":"user_ada","since":"2026-01-10T11:00:00Z"}}}}"#
        );
        let read: Work = serde_json::from_str(&old).unwrap();
        assert!(matches!(read, Work::Send { plan: Some(_), .. }));
        assert_eq!(read.lane(), "email:0");
    }
}
