//! An ask as our own API shows it.

use std::collections::BTreeSet;

use kernel::actor::AttestedIdentity;
use kernel::ask::{Assignee, Comment, DefaultAction, Ending, Priority, SimilarityKey};
use kernel::audit::Erasable;
use kernel::question::{Answer, Question, QuestionBody, QuestionKind, Reply};
use kernel::{
    ActorRef, AgentId, AnswerInterface, Ask, AskId, AskState, Assurance, HumanId, ProjectId,
    Refusal, Time,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::hacp_decision;
use crate::hxp_execution::pseudonym;
use crate::hxp_experience::claims::{EnvelopeVerdict, PickedActionView};

/// An ask.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Ask))]
pub struct AskView<'a> {
    /// Its id.
    pub id: AskId,
    /// Its version; also its `ETag`.
    pub version: u64,
    /// Where it stands.
    pub state: AskStatus,
    /// Its project.
    #[cfg_attr(feature = "openapi", schema(value_type = ProjectId))]
    pub project: &'a ProjectId,
    /// Who asked.
    #[cfg_attr(feature = "openapi", schema(value_type = AgentId))]
    pub agent: &'a AgentId,
    /// Who answers for the agent.
    #[cfg_attr(feature = "openapi", schema(value_type = HumanId))]
    pub owner: &'a HumanId,
    /// The kind of question.
    pub kind: QuestionKind,
    /// What is asked; `null` once erased.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Question>))]
    pub question: Option<&'a Question>,
    /// Free data; `null` once erased.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub metadata: Option<&'a Map<String, Value>>,
    /// What it is about.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub tags: &'a BTreeSet<String>,
    /// How urgent.
    pub priority: Priority,
    /// Whether the agent says that it cannot be undone: `irreversible: true` or `reversible: false`
    /// in its metadata, details or envelope.
    pub irreversible: bool,
    /// Whether an answer that lets the agent proceed needs a second step where a person gives it:
    /// it cannot be undone, or it is critical.
    pub needs_confirmation: bool,
    /// Who was asked.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Assignee>))]
    pub seats: &'a [Assignee],
    /// Who took it.
    pub assigned_to: Option<String>,
    /// When it was asked.
    pub created_at: Time,
    /// When it runs out.
    pub expires_at: Option<Time>,
    /// The ask it continues.
    pub follows: Option<AskId>,
    /// The ask that continues it.
    pub followed_by: Option<AskId>,
    /// The conversation it belongs to; `null` where no person began one.
    pub conversation: Option<ConversationView<'a>>,
    /// What it has in common with those that are nearly the same; `null` once it is over.
    pub fold: Option<SimilarityKey>,
    /// Whether it may be answered together with others.
    pub bulk: bool,
    /// How many remarks there are.
    pub comments: usize,
    /// Its page.
    pub url: String,
    /// How it ended.
    pub result: Option<ResultView>,
    /// That this no longer counts.
    pub revoked: Option<RevocationView>,
    /// The proof of how it ended, signed; `null` in lists and streams.
    pub receipt: Option<String>,
    /// What the agent says of its message, as HXP eXperience has it; `null` where it says nothing,
    /// or once erased.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub hxp: Option<&'a Map<String, Value>>,
    /// What was found about that.
    pub hxp_verdict: Option<EnvelopeVerdict>,
    /// Which of the actions in `hxp` people picked, as something they want of the agent before they
    /// answer.
    pub hxp_picked: Vec<PickedActionView>,
}

/// A conversation a person began with an agent.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Conversation))]
pub struct ConversationView<'a> {
    /// Its name: the id of what was written first. An agent goes on by asking with it.
    pub id: AskId,
    /// Who began it.
    #[cfg_attr(feature = "openapi", schema(value_type = HumanId))]
    pub with: &'a HumanId,
    /// The newest ask of it: on its first one, once the agent went on.
    pub latest: Option<AskId>,
}

/// That a receipt was called back.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Revocation))]
pub struct RevocationView {
    /// When.
    pub at: Time,
    /// Why; `null` once erased.
    pub reason: Option<String>,
}

impl RevocationView {
    /// The revocation of this ask's receipt, if it was revoked.
    pub fn of(ask: &Ask) -> Option<Self> {
        let revoked = ask.revoked.as_ref()?;
        Some(Self { at: revoked.at, reason: revoked.reason.value().cloned() })
    }
}

/// Where an ask stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = AskState))]
#[serde(rename_all = "snake_case")]
pub enum AskStatus {
    /// Nobody looked yet.
    Pending,
    /// Somebody looked.
    Opened,
    /// Somebody began to answer.
    InProgress,
    /// Answered, or a default was taken on silence.
    Completed,
    /// Ran out; the result says what the agent is to do.
    Expired,
    /// Withdrawn.
    Cancelled,
    /// Ran out, and the agent wanted that to be a failure.
    Failed,
}

impl AskStatus {
    fn of(ask: &Ask) -> Self {
        match &ask.state {
            AskState::Pending => Self::Pending,
            AskState::Opened => Self::Opened,
            AskState::InProgress { .. } => Self::InProgress,
            AskState::Over { ending, .. } => match **ending {
                Ending::Completed(_) => Self::Completed,
                Ending::Expired { .. } => Self::Expired,
                Ending::Cancelled { .. } => Self::Cancelled,
                Ending::Failed { .. } => Self::Failed,
            },
        }
    }
}

/// The ways an ask may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", schema(as = Outcome))]
pub enum AskOutcome {
    /// Somebody answered, or a default was taken on silence.
    Completed,
    /// Time ran out; `report` says what the agent is to do.
    Expired,
    /// Time ran out as a failure.
    Failed,
    /// It was withdrawn.
    Cancelled,
}

/// How an ask ended.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = AskResult))]
pub struct ResultView {
    /// In which way.
    pub outcome: AskOutcome,
    /// What was answered; `null` once erased.
    pub answer: Option<Answer>,
    /// The words that came with it.
    pub comment: Option<String>,
    /// Who ended it; the system where nobody did.
    pub by: ActorRef,
    /// Through which door.
    pub via: Option<AnswerInterface>,
    /// How sure we are who it was.
    pub assurance: Option<Assurance>,
    /// Who it was, as the agent says that passed the answer on; nobody else saw them.
    pub attested: Option<AttestedIdentity>,
    /// What the agent is to do with an ask that ran out.
    pub report: Option<DefaultAction>,
    /// Why it was withdrawn.
    pub reason: Option<String>,
    /// When it ended.
    pub at: Time,
}

/// The viewer of an ask.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Viewer<'a> {
    /// The agent that asked. It sees every value, but pseudonyms in place of the names of a pool.
    /// They are made with this secret.
    Agent(&'a [u8]),
    /// A person. They see names, but no secret answers.
    Person,
}

impl Viewer<'_> {
    /// Whether this viewer may not see people's names.
    pub fn hides_names(self, ask: &Ask) -> bool {
        matches!(self, Self::Agent(_)) && ask.is_pooled()
    }

    /// An actor as this viewer may see them.
    pub(super) fn shown_actor(self, by: &ActorRef, ask: &Ask) -> ActorRef {
        match (self, by) {
            (Self::Agent(secret), ActorRef::Human(human)) if ask.is_pooled() => {
                // A pseudonym is a valid name; if it were not, no person would be named.
                pseudonym(secret, ask.id, human).parse().map_or(ActorRef::System, ActorRef::Human)
            }
            _ => by.clone(),
        }
    }

    /// A refusal as this viewer may see it.
    pub fn redact_refusal(self, refusal: Refusal, ask: &Ask) -> Refusal {
        match refusal {
            Refusal::AlreadyAnswered { by, at } => {
                Refusal::AlreadyAnswered { by: self.shown_actor(&by, ask), at }
            }
            Refusal::AlreadyCancelled { by, at } => {
                Refusal::AlreadyCancelled { by: self.shown_actor(&by, ask), at }
            }
            Refusal::TakenBy { by } => match self.shown_actor(&ActorRef::Human(by.clone()), ask) {
                ActorRef::Human(by) => Refusal::TakenBy { by },
                ActorRef::Agent(_)
                | ActorRef::LinkHolder
                | ActorRef::Relay
                | ActorRef::Guest
                | ActorRef::System => Refusal::TakenBy { by },
            },
            Refusal::BeingAnswered { by } => {
                match self.shown_actor(&ActorRef::Human(by.clone()), ask) {
                    ActorRef::Human(by) => Refusal::BeingAnswered { by },
                    ActorRef::Agent(_)
                    | ActorRef::LinkHolder
                    | ActorRef::Relay
                    | ActorRef::Guest
                    | ActorRef::System => Refusal::BeingAnswered { by },
                }
            }
            other => other,
        }
    }
}

impl<'a> AskView<'a> {
    /// Shows an ask. `base` is the server's URL; `receipt` is the signed receipt, if the caller
    /// wants it.
    pub fn of(ask: &'a Ask, viewer: Viewer<'_>, base: &str, receipt: Option<String>) -> Self {
        let engaged = ask.engaged_by().map(|(by, _)| viewer.shown_actor(&by, ask));
        Self {
            id: ask.id,
            version: ask.version(),
            state: AskStatus::of(ask),
            project: &ask.project,
            agent: &ask.agent,
            owner: &ask.owner,
            kind: ask.kind,
            question: ask.question.value(),
            metadata: ask.metadata.value(),
            tags: &ask.tags,
            priority: ask.priority,
            irreversible: ask.is_irreversible(),
            needs_confirmation: ask.needs_confirmation(),
            seats: &ask.assignees,
            assigned_to: engaged.map(|by| by.to_string()),
            created_at: ask.created_at,
            expires_at: ask.expires_at,
            follows: ask.follows,
            followed_by: ask.followed_by,
            conversation: ask.conversation.as_ref().map(|begun| ConversationView {
                id: begun.opening,
                with: &begun.with,
                latest: ask.latest,
            }),
            fold: if ask.is_open() { ask.similarity_key() } else { None },
            bulk: ask.is_open() && ask.allows_bulk().is_ok(),
            comments: ask.comments.len(),
            url: format!("{}/asks/{}", base.trim_end_matches('/'), ask.id),
            result: ask.ending().map(|ending| ResultView::of(ending, ask, viewer)),
            revoked: RevocationView::of(ask),
            receipt,
            hxp: ask.envelope(),
            hxp_verdict: EnvelopeVerdict::of(ask),
            hxp_picked: PickedActionView::all(ask),
        }
    }
}

impl ResultView {
    fn of(ending: &Ending, ask: &Ask, viewer: Viewer<'_>) -> Self {
        let bare = |outcome, at| Self {
            outcome,
            answer: None,
            comment: None,
            by: ActorRef::System,
            via: None,
            assurance: None,
            attested: None,
            report: None,
            reason: None,
            at,
        };
        match ending {
            Ending::Completed(resolution) => {
                let reply = resolution.reply.value().cloned().map(|reply| match viewer {
                    Viewer::Agent(_) => reply,
                    Viewer::Person => without_secrets(reply, ask),
                });
                let (answer, comment) =
                    reply.map_or((None, None), |reply| (Some(reply.answer), reply.comment));
                Self {
                    answer,
                    comment,
                    by: viewer.shown_actor(&resolution.by, ask),
                    via: Some(resolution.via),
                    assurance: Some(resolution.assurance),
                    attested: resolution.attested.as_deref().and_then(Erasable::value).cloned(),
                    ..bare(AskOutcome::Completed, resolution.at)
                }
            }
            Ending::Expired { at, report } => {
                Self { report: Some(*report), ..bare(AskOutcome::Expired, *at) }
            }
            Ending::Failed { at } => bare(AskOutcome::Failed, *at),
            Ending::Cancelled { at, by, .. } => Self {
                by: viewer.shown_actor(by, ask),
                reason: hacp_decision::cancellation_reason(ending),
                ..bare(AskOutcome::Cancelled, *at)
            },
        }
    }
}

fn without_secrets(reply: Reply, ask: &Ask) -> Reply {
    let form = ask.question.value().and_then(|question| match question.body() {
        QuestionBody::Provide { form } => Some(form),
        QuestionBody::Approve { .. }
        | QuestionBody::Choose { .. }
        | QuestionBody::Confirm { .. }
        | QuestionBody::Escalate { .. }
        | QuestionBody::Converse => None,
    });
    match (reply.answer, form) {
        (Answer::Provided { values }, Some(form)) => {
            let redacted = serde_json::from_value(Value::Object(values.redacted(form)));
            // Values are any JSON object, so reading one back cannot fail. If it did, no value
            // would be shown.
            let values = redacted.unwrap_or_default();
            Reply { answer: Answer::Provided { values }, comment: reply.comment }
        }
        (answer, _) => Reply { answer, comment: reply.comment },
    }
}

/// A remark.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Comment))]
pub struct CommentView<'a> {
    /// Who said it.
    pub by: ActorRef,
    /// When.
    pub at: Time,
    /// What; `null` once erased.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub text: Option<&'a str>,
}

impl<'a> CommentView<'a> {
    /// All comments on an ask, in order.
    pub fn all(ask: &'a Ask, viewer: Viewer<'_>) -> Vec<Self> {
        let one = |said: &'a Comment| Self {
            by: viewer.shown_actor(&said.by, ask),
            at: said.at,
            text: said.text.value().map(String::as_str),
        };
        ask.comments.iter().map(one).collect()
    }
}

/// Something that happened, as a stream tells it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Event))]
pub struct EventView<'a> {
    /// Its place in the stream; resume after it with `Last-Event-ID`.
    pub position: u64,
    /// What happened.
    pub event: &'a str,
    /// When.
    pub at: Time,
    /// The version the ask moved to.
    pub version: u64,
    /// The ask as it is when this is sent, which may be a later version.
    pub ask: AskView<'a>,
}

// A person's own view: the asks they snoozed, and who works on which ask.

/// `PUT /api/v1/asks/{id}/snooze`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SnoozeBody {
    /// When it comes back; within ten years.
    pub until: Time,
}

/// What a person has hidden.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Snoozed<'a> {
    /// Soonest first.
    pub snoozed: Vec<SnoozedAsk<'a>>,
}

/// One ask that is hidden.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SnoozedAsk<'a> {
    /// When it comes back.
    pub until: Time,
    /// Which.
    pub ask: AskView<'a>,
}

/// Who looks at asks.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Lookers))]
pub struct PresenceView {
    /// Whoever said so within the last minute.
    pub looking: Vec<PresentPerson>,
}

/// Somebody who looks at an ask.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Looker))]
pub struct PresentPerson {
    /// At which.
    pub ask: AskId,
    /// Who.
    pub human: HumanId,
}
