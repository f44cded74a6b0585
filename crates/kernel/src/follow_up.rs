//! What follows from an event outside the database: people, webhook endpoints and agents are notified, and
//! files are deleted.
//!
//! One pure function answers that, whichever verb caused the event. It needs the event, the ask as it is
//! afterwards and the directory, so a follower that reads the feed again later comes to the same result as
//! the process that committed the event. A follower writes the result as work together with its position in
//! the feed, so each event becomes work exactly once.

use crate::actor::By;
use crate::ask::{Ask, Seat};
use crate::directory::Directory;
use crate::effect::{Effect, Occasion, Told};
use crate::event::{Event, Happened};
use crate::ids::{ArtifactId, AskId, HumanId, Subject, WebhookId};
use crate::question::Kind;
use crate::task::ArtifactEvent;
use crate::time::Time;
use crate::topic::Topic;

/// What follows from an event. `ask` is the ask the event is about, as it is afterwards or later; without
/// it nothing follows from an event of an ask.
pub fn follow_ups(event: &Event, ask: Option<&Ask>, directory: &Directory) -> Vec<Effect> {
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
    Asked {
        /// The person who made what is to be reviewed. They know about it already.
        maker: Option<HumanId>,
    },
    /// These assignees are notified.
    Assigned(Vec<Seat>, Occasion),
    /// All assignees are notified once more.
    Repeated(Occasion),
    Closed,
    CallbackWanted,
    Erased,
    HumanErased(HumanId),
    ArtifactErased(ArtifactId),
    WebhookTested(WebhookId),
    /// At most webhook endpoints are notified.
    Other,
}

impl Cause {
    pub(crate) fn of(event: &Event) -> Self {
        let kind = match (&event.what, &event.subject) {
            (Happened::Asked(asked), _) => {
                let maker = match &event.by {
                    By::Human(human) if asked.review.is_some() => Some(human.clone()),
                    _ => None,
                };
                CauseKind::Asked { maker }
            }
            (Happened::Assigned { to }, _) => {
                CauseKind::Assigned(vec![Seat::Person { human: to.clone() }], Occasion::Assigned)
            }
            (Happened::Escalated { seats } | Happened::Joined { seats }, _) => {
                CauseKind::Assigned(seats.clone(), Occasion::Escalated)
            }
            (Happened::Commented { nudge: true, .. }, _) => {
                CauseKind::Repeated(Occasion::Escalated)
            }
            (Happened::Reminded, _) => CauseKind::Repeated(Occasion::Reminder),
            (
                Happened::Answered { decisive: true, .. }
                | Happened::Defaulted { .. }
                | Happened::Cancelled { .. }
                | Happened::Expired { .. }
                | Happened::Failed { .. },
                _,
            ) => CauseKind::Closed,
            (Happened::CallbackWanted, _) => CauseKind::CallbackWanted,
            (Happened::Erased, _) => CauseKind::Erased,
            (Happened::HumanErased, Subject::Human(human)) => CauseKind::HumanErased(human.clone()),
            (Happened::Artifact(event), Subject::Artifact(id))
                if matches!(**event, ArtifactEvent::Erased) =>
            {
                CauseKind::ArtifactErased(*id)
            }
            (Happened::WebhookTested, Subject::Webhook(id)) => CauseKind::WebhookTested(*id),
            (_, _) => CauseKind::Other,
        };
        Self { seq: event.seq, at: event.at, topic: Topic::of(&event.what), kind }
    }

    pub(crate) fn follow_ups(&self, ask: Option<&Ask>, directory: &Directory) -> Vec<Effect> {
        let mut follow_ups = match (&self.kind, ask) {
            (CauseKind::HumanErased(human), _) => {
                vec![Effect::EraseHuman { human: human.clone(), after: 0 }]
            }
            (CauseKind::ArtifactErased(artifact), _) => {
                vec![Effect::DropArtifact { artifact: *artifact }]
            }
            (CauseKind::WebhookTested(webhook), _) => vec![self.test(*webhook)],
            (_, Some(ask)) => self.of_ask(ask),
            (_, None) => Vec::new(),
        };
        if let (Some(ask), Some(topic)) = (ask, self.topic)
            && let Some(topic) = topic.told_of(ask)
        {
            let told = Told::of(ask, topic, self.seq, self.at);
            follow_ups.extend(directory.told(ask, &told, topic));
        }
        follow_ups
    }

    fn of_ask(&self, ask: &Ask) -> Vec<Effect> {
        // A person began the conversation: the assignee is that person, and nobody has to answer.
        if ask.is_opening() {
            return Vec::new();
        }
        let notify = |seat: &Seat, why| {
            let (ask, seat, priority) = (ask.id, seat.clone(), ask.priority);
            Effect::Notify { ask, seat, why, priority }
        };
        match &self.kind {
            CauseKind::Asked { maker } => {
                // Where the agent named a place, the assignees find the request in the inbox, and are
                // notified only if nobody can be reached at that place.
                if ask.place.is_some() {
                    return ask.posting(Occasion::Asked).into_iter().collect();
                }
                let knows = |seat: &Seat| matches!(seat, Seat::Person { human } if Some(human) == maker.as_ref());
                let seats = ask.seats.iter().filter(|seat| !knows(seat));
                seats.map(|seat| notify(seat, Occasion::Asked)).collect()
            }
            CauseKind::Assigned(seats, why) => {
                seats.iter().map(|seat| notify(seat, *why)).collect()
            }
            CauseKind::Repeated(why) => {
                let seats = ask.seats.iter().map(|seat| notify(seat, *why));
                seats.chain(ask.posting(*why)).collect()
            }
            CauseKind::Closed => {
                let callback = ask.callback.as_ref().map(|_| Effect::call_back(ask));
                [Effect::Settle { ask: ask.id }].into_iter().chain(callback).collect()
            }
            CauseKind::CallbackWanted => vec![Effect::call_back(ask)],
            CauseKind::Erased if may_have_files(ask) => vec![drop_files(ask.id)],
            CauseKind::Erased
            | CauseKind::HumanErased(_)
            | CauseKind::ArtifactErased(_)
            | CauseKind::WebhookTested(_)
            | CauseKind::Other => Vec::new(),
        }
    }

    fn test(&self, webhook: WebhookId) -> Effect {
        let id = format!("msg_{}_{}", webhook.ulid(), self.seq);
        let told = Told { id, topic: None, ask: None, at: self.at, contract: None };
        Effect::Tell { webhook, told }
    }
}

/// The question is erased by now. Only one that asks for values can have asked for files.
fn may_have_files(ask: &Ask) -> bool {
    ask.kind == Kind::Provide
}

fn drop_files(ask: AskId) -> Effect {
    Effect::DropFiles { ask }
}
