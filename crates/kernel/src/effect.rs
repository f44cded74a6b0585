//! What must now be done outside. Rows first, calls later.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::ask::{Ask, Place, Priority, Seat};
use crate::audit::Digest;
use crate::ids::{ArtifactId, AskId, HumanId, KeyId, WebhookId};
use crate::task::Contract;
use crate::time::Time;
use crate::topic::Topic;

/// Work for the outbox, written in the same transaction as the events that caused it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "effect")]
pub enum Effect {
    /// Tell whoever holds this seat.
    Notify {
        /// About which ask.
        ask: AskId,
        /// Whom.
        seat: Seat,
        /// Why now.
        why: Occasion,
        /// How urgent: critical ones are delivered first and at once.
        priority: Priority,
    },
    /// The ask is over: lock or withdraw what was sent.
    Settle {
        /// Which ask.
        ask: AskId,
    },
    /// The ask is over: tell the agent where it wants to be told.
    CallBack {
        /// Which ask.
        ask: AskId,
        /// To which host, as a short hash: those who answer need not wait for those who do not.
        #[serde(default)]
        to: String,
    },
    /// Tell an endpoint what happened.
    Tell {
        /// Which endpoint.
        webhook: WebhookId,
        /// What.
        told: Told,
    },
    /// The words of the ask are erased: what was uploaded to it goes too.
    DropFiles {
        /// Which ask.
        ask: AskId,
    },
    /// A person was erased: erase what they wrote on asks and tasks. Goes through the record feed in
    /// steps; each step is written in the place of the one before, so a restart continues there.
    EraseHuman {
        /// Who.
        human: HumanId,
        /// The feed position up to which this is done.
        #[serde(default)]
        after: u64,
    },
    /// An artifact was erased: its bytes go.
    DropArtifact {
        /// Which.
        artifact: ArtifactId,
    },
    /// Tell one device of a person, or that it is over.
    Push {
        /// Which device.
        device: Digest,
        /// About which ask.
        ask: AskId,
        /// Why now; nothing if it is over.
        why: Option<Occasion>,
        /// How urgent.
        priority: Priority,
        /// Where it goes on when this was in vain; nothing for a device beside another, or if it goes
        /// on already.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        chain: Option<Chain>,
    },
    /// Get a notice through to one person: by the next means that was not tried.
    Reach {
        /// About which ask.
        ask: AskId,
        /// Why they are told.
        why: Occasion,
        /// How urgent.
        priority: Priority,
        /// Whom, and how they were told so far.
        chain: Chain,
    },
    /// Tell somebody that an ask waits, by one means; or whoever is where the agent wanted it put.
    #[serde(alias = "mail")]
    Send {
        /// About which ask.
        ask: AskId,
        /// Why they are told.
        why: Occasion,
        /// How urgent.
        priority: Priority,
        /// By what kind of means; letters were the first.
        #[serde(default = "email")]
        medium: String,
        /// To which address, by its mark: addresses are not kept here.
        to: Digest,
        /// Whom, and where it goes on when this was in vain; nobody, if the agent named the place.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        chain: Option<Chain>,
        /// Whether it goes on already.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        passed_on: bool,
    },
    /// The ask is over: say so where a message about it lies.
    Amend {
        /// Which ask.
        ask: AskId,
        /// By what kind of means.
        medium: String,
        /// Which message.
        message: Digest,
    },
    /// Tell somebody of everything that can wait.
    Gather {
        /// Whom.
        human: HumanId,
        /// When they are to be told. There is one for each such moment, however much can wait.
        at: Time,
        /// By which means they could not be told.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tried: Vec<Digest>,
    },
    /// The same, by one means.
    #[serde(alias = "mail_gathered")]
    SendGathered {
        /// Whom.
        human: HumanId,
        /// When they are to be told.
        at: Time,
        /// By what kind of means.
        #[serde(default = "email")]
        medium: String,
        /// To which address of theirs, by its mark.
        to: Digest,
        /// By which means they could not be told before.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tried: Vec<Digest>,
    },
    /// The same, on one device.
    PushGathered {
        /// Whom.
        human: HumanId,
        /// When they are to be told.
        at: Time,
        /// Which device.
        device: Digest,
    },
    /// Notify a person, by one contact method, of a change to what lets them in.
    NotifySecurity {
        /// Whom.
        human: HumanId,
        /// What changed.
        event: SecurityEvent,
        /// By what kind of contact method.
        medium: String,
        /// To which address, by its mark: addresses are not kept here.
        to: Digest,
    },
    /// Send a sign-in link to whoever it is for.
    MailLink {
        /// Which link.
        key: KeyId,
        /// What its secret is made from, together with what only the server knows.
        seed: Digest,
    },
    /// Have the runtime of an agent do something.
    Contract(Contract),
    /// An event that a follower could not read. It is given up at once, so that operators see it.
    SetAside {
        /// The position of the event in the feed.
        position: u64,
        /// Why it cannot be read.
        error: String,
    },
}

/// A change to what lets a person in, of which they are notified.
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

/// How somebody was told of an ask so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chain {
    /// Who.
    pub human: HumanId,
    /// Since when they are to be told: with the ask and why, what one notice is known by.
    pub since: Time,
    /// The marks of the means that told them in vain, or could not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<Digest>,
}

/// What an endpoint is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// The same however often it is sent, and whoever is told: whoever knows it already heard this.
    pub id: String,
    /// What happened; nothing, if it is a test.
    pub topic: Option<Topic>,
    /// To which ask.
    pub ask: Option<AskId>,
    /// When.
    pub at: Time,
    /// Or what the runtime of an agent has to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract: Option<Box<Contract>>,
}

impl Told {
    /// What one event of an ask is told as: named by its place in the record.
    pub fn of(ask: &Ask, topic: Topic, seq: u64, at: Time) -> Self {
        let id = format!("msg_{}_{seq}", ask.id.ulid());
        Self { id, topic: Some(topic), ask: Some(ask.id), at, contract: None }
    }

    /// What a runtime has to do is told under its own name.
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

/// Why somebody is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Occasion {
    /// It is new.
    Asked,
    /// It was handed to them.
    Assigned,
    /// It still waits.
    Reminder,
    /// Nobody else answered.
    Escalated,
}

impl Occasion {
    /// The occasion as it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Assigned => "assigned",
            Self::Reminder => "reminder",
            Self::Escalated => "escalated",
        }
    }
}

/// How many lanes notices of one kind of means have.
const LANES: u8 = 8;

/// The kind of means of rows that do not say.
fn email() -> String {
    "email".to_owned()
}

impl Effect {
    /// The lane of what people are told, and of what is done here.
    pub const PEOPLE: &str = "";
    /// What the lanes of runtimes begin with.
    pub const RUNTIMES: &str = "runtime:";

    /// Calls the agent back, on the lane of the host it named.
    pub(crate) fn call_back(ask: &Ask) -> Self {
        let url = ask.callback.as_ref().and_then(|callback| callback.url.value());
        let host = url.map_or("", |url| host(url)).to_ascii_lowercase();
        let to = Digest::of(host.as_bytes()).to_string().chars().take(16).collect();
        Self::CallBack { ask: ask.id, to }
    }

    /// Tells whoever is where the agent wanted its question put.
    pub(crate) fn posting(ask: AskId, place: &Place, why: Occasion, priority: Priority) -> Self {
        let (medium, to) = (place.means.kind().to_owned(), place.means.mark());
        Self::Send { ask, why, priority, medium, to, chain: None, passed_on: false }
    }

    /// Which others it may hold up: deliveries of one lane wait for each other, and for no other. A
    /// lane of one's own has everybody whose answer we depend on.
    pub fn lane(&self) -> Cow<'static, str> {
        match self {
            Self::Notify { .. }
            | Self::Reach { .. }
            | Self::Gather { .. }
            | Self::Settle { .. }
            | Self::DropFiles { .. }
            | Self::EraseHuman { .. }
            | Self::DropArtifact { .. }
            | Self::SetAside { .. } => Self::PEOPLE.into(),
            Self::MailLink { .. } => "mail".into(),
            Self::CallBack { to, .. } => format!("callback:{to}").into(),
            Self::Push { device, .. } | Self::PushGathered { device, .. } => {
                format!("device:{device}").into()
            }
            // All of it goes through one platform, so a lane for each address would wait for the same;
            // and however slow it is, it keeps only so many callers busy, and holds up no other.
            Self::Send { medium, to: Digest([first, ..]), .. }
            | Self::NotifySecurity { medium, to: Digest([first, ..]), .. }
            | Self::SendGathered { medium, to: Digest([first, ..]), .. }
            | Self::Amend { medium, message: Digest([first, ..]), .. } => {
                format!("{medium}:{}", first % LANES).into()
            }
            Self::Tell { webhook, .. } => webhook.to_string().into(),
            Self::Contract(contract) => format!("{}{}", Self::RUNTIMES, contract.agent).into(),
        }
    }

    /// The ask it is about, if it is about one.
    pub fn ask(&self) -> Option<AskId> {
        match self {
            Self::Notify { ask, .. }
            | Self::Settle { ask }
            | Self::CallBack { ask, .. }
            | Self::Push { ask, .. }
            | Self::Reach { ask, .. }
            | Self::Send { ask, .. }
            | Self::Amend { ask, .. }
            | Self::DropFiles { ask } => Some(*ask),
            Self::Tell { told, .. } => told.ask,
            Self::Gather { .. }
            | Self::SendGathered { .. }
            | Self::PushGathered { .. }
            | Self::MailLink { .. }
            | Self::NotifySecurity { .. }
            | Self::EraseHuman { .. }
            | Self::DropArtifact { .. }
            | Self::SetAside { .. }
            | Self::Contract(_) => None,
        }
    }

    /// The order in which the outbox is worked off: 0 first.
    pub fn rank(&self) -> u8 {
        match self {
            Self::Notify { priority, .. }
            | Self::Reach { priority, .. }
            | Self::Send { priority, .. }
            | Self::Push { priority, .. } => priority.rank(),
            Self::Settle { .. }
            | Self::Amend { .. }
            | Self::CallBack { .. }
            | Self::Tell { .. }
            | Self::Contract(_)
            | Self::NotifySecurity { .. }
            | Self::MailLink { .. } => Priority::High.rank(),
            Self::Gather { .. }
            | Self::SendGathered { .. }
            | Self::PushGathered { .. }
            | Self::DropFiles { .. }
            | Self::EraseHuman { .. }
            | Self::DropArtifact { .. }
            | Self::SetAside { .. } => Priority::Low.rank(),
        }
    }

    /// What it is called, if it is to be done once however often it is wanted: while it waits under this
    /// name, it is not written again.
    pub fn name(&self) -> Option<String> {
        match self {
            Self::Gather { human, at, .. } => Some(format!("gather:{human}:{}", at.millis())),
            // A chain goes on at one place.
            Self::Reach { ask, why, chain: Chain { human, since, .. }, .. } => {
                Some(format!("reach:{ask}:{}:{}:{human}", why.as_str(), since.millis()))
            }
            Self::Notify { .. }
            | Self::Send { .. }
            | Self::Amend { .. }
            | Self::SendGathered { .. }
            | Self::PushGathered { .. }
            | Self::Push { .. }
            | Self::Settle { .. }
            | Self::CallBack { .. }
            | Self::Tell { .. }
            | Self::Contract(_)
            | Self::DropFiles { .. }
            | Self::EraseHuman { .. }
            | Self::DropArtifact { .. }
            | Self::NotifySecurity { .. }
            | Self::SetAside { .. }
            | Self::MailLink { .. } => None,
        }
    }
}

/// The host of an address, with its port.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#', '\\']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::NewAsk;
    use crate::testing::{Cast, new_ask, yes};

    #[test]
    fn one_host_is_one_lane_and_people_wait_for_none() {
        let mut cast = Cast::new();
        let mut lane = |url: &str| {
            let id = cast.ask(NewAsk { callback: Some(url.to_owned()), ..new_ask() });
            let olga = cast.human("olga");
            cast.run(olga, crate::AskCommand::Answer(id, yes()));
            let last = cast.effects().last().unwrap();
            assert!(matches!(last, Effect::CallBack { .. }));
            last.lane().into_owned()
        };
        let one = lane("https://a.example/hook");
        assert_eq!(one, lane("https://A.example?x=1"));
        for other in ["https://a.example:8443/hook", "https://b.example/a.example"] {
            assert_ne!(one, lane(other), "{other}");
        }
        let notices = cast
            .effects()
            .iter()
            .filter(|effect| matches!(effect, Effect::Notify { .. } | Effect::Settle { .. }));
        assert!(notices.clone().count() > 0);
        assert!(notices.into_iter().all(|effect| effect.lane() == Effect::PEOPLE));
    }

    /// Rows of before lanes were known.
    #[test]
    fn what_was_written_before_is_read() {
        let old = r#"{"effect":"call_back","ask":"ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C"}"#;
        let read: Effect = serde_json::from_str(old).unwrap();
        assert_eq!(read.lane(), "callback:");
        let device = Digest::ZERO;
        let old = format!(
            r#"{{"effect":"push","device":"{device}","ask":"ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C","why":"asked","priority":"low"}}"#
        );
        let read: Effect = serde_json::from_str(&old).unwrap();
        assert!(matches!(read, Effect::Push { chain: None, .. }));
        assert_eq!(serde_json::to_string(&read).unwrap(), old);
        let old = format!(
            r#"{{"effect":"mail","ask":"ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C","why":"asked","priority":"low","to":"{device}","chain":{{"human":"user_ada","since":"2026-01-10T11:00:00Z"}}}}"#
        );
        let read: Effect = serde_json::from_str(&old).unwrap();
        assert!(matches!(read, Effect::Send { chain: Some(_), .. }));
        assert_eq!(read.lane(), "email:0");
    }
}
