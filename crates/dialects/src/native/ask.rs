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

/// A request from an agent to a person.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Ask))]
pub struct AskView<'a> {
    /// The ID of the ask.
    pub id: AskId,
    /// The version, which is also the `ETag`.
    pub version: u64,
    /// The current state.
    pub state: AskStatus,
    /// The project of the agent.
    #[cfg_attr(feature = "openapi", schema(value_type = ProjectId))]
    pub project: &'a ProjectId,
    /// The agent that asked.
    #[cfg_attr(feature = "openapi", schema(value_type = AgentId))]
    pub agent: &'a AgentId,
    /// The person responsible for the agent.
    #[cfg_attr(feature = "openapi", schema(value_type = HumanId))]
    pub owner: &'a HumanId,
    /// The kind of question.
    pub kind: QuestionKind,
    /// The question; `null` after an erasure.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Question>))]
    pub question: Option<&'a Question>,
    /// Custom data; `null` after an erasure.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub metadata: Option<&'a Map<String, Value>>,
    /// Tags for routing and filters.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub tags: &'a BTreeSet<String>,
    /// The priority.
    pub priority: Priority,
    /// Whether the agent marked the request as irreversible: `irreversible: true` or `reversible:
    /// false` in its metadata, details or envelope.
    pub irreversible: bool,
    /// Whether an answer that lets the agent proceed requires a second confirmation, because the
    /// request is irreversible or critical.
    pub needs_confirmation: bool,
    /// The assignees: the people who were asked.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Assignee>))]
    pub seats: &'a [Assignee],
    /// The person who claimed the ask.
    pub assigned_to: Option<String>,
    /// The time of creation.
    pub created_at: Time,
    /// The deadline.
    pub expires_at: Option<Time>,
    /// The ask that this one continues.
    pub follows: Option<AskId>,
    /// The ask that continues this one.
    pub followed_by: Option<AskId>,
    /// The conversation that the ask belongs to; `null` without a conversation.
    pub conversation: Option<ConversationView<'a>>,
    /// The similarity key, which similar requests share; `null` once the ask is closed.
    pub fold: Option<SimilarityKey>,
    /// Whether bulk actions can answer the ask.
    pub bulk: bool,
    /// The number of comments.
    pub comments: usize,
    /// The URL of the request page.
    pub url: String,
    /// The result; `null` while the ask is open.
    pub result: Option<ResultView>,
    /// The revocation of the receipt, if it was revoked.
    pub revoked: Option<RevocationView>,
    /// The signed receipt; `null` in lists and streams.
    pub receipt: Option<String>,
    /// The envelope of HXP eXperience, with the agent's claims about its message; `null` without an
    /// envelope or after an erasure.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub hxp: Option<&'a Map<String, Value>>,
    /// The result of checking that envelope.
    pub hxp_verdict: Option<EnvelopeVerdict>,
    /// The actions in `hxp` that people picked: what they want the agent to do before they answer.
    pub hxp_picked: Vec<PickedActionView>,
}

/// A conversation a person began with an agent.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Conversation))]
pub struct ConversationView<'a> {
    /// The ID of the conversation, which is the ID of its first ask. An agent continues the
    /// conversation by sending it as `conversation`.
    pub id: AskId,
    /// The person who began the conversation.
    #[cfg_attr(feature = "openapi", schema(value_type = HumanId))]
    pub with: &'a HumanId,
    /// The newest ask of the conversation; only on the first ask, and only after the agent
    /// continued.
    pub latest: Option<AskId>,
}

/// The revocation of a receipt.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Revocation))]
pub struct RevocationView {
    /// The time.
    pub at: Time,
    /// The reason; `null` after an erasure.
    pub reason: Option<String>,
}

impl RevocationView {
    /// The revocation of this ask's receipt, if it was revoked.
    pub fn of(ask: &Ask) -> Option<Self> {
        let revoked = ask.revoked.as_ref()?;
        Some(Self { at: revoked.at, reason: revoked.reason.value().cloned() })
    }
}

/// The state of an ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = AskState))]
#[serde(rename_all = "snake_case")]
pub enum AskStatus {
    /// Open; no one has opened it yet.
    Pending,
    /// Open; a person has opened it.
    Opened,
    /// Open; a person has started to answer.
    InProgress,
    /// Answered, or the default was taken at the deadline.
    Completed,
    /// Expired; the result says what the agent should do.
    Expired,
    /// Cancelled before it was answered.
    Cancelled,
    /// Expired, which the agent treats as a failure.
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

/// The possible outcomes of an ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", schema(as = Outcome))]
pub enum AskOutcome {
    /// A person answered, or the default was taken at the deadline.
    Completed,
    /// The ask expired; `report` says what the agent should do.
    Expired,
    /// The ask expired, which counts as a failure.
    Failed,
    /// The ask was cancelled.
    Cancelled,
}

/// The result of an ask.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = AskResult))]
pub struct ResultView {
    /// The outcome.
    pub outcome: AskOutcome,
    /// The answer; `null` after an erasure.
    pub answer: Option<Answer>,
    /// The comment on the answer.
    pub comment: Option<String>,
    /// Who closed the ask; `system` if it expired.
    pub by: ActorRef,
    /// The interface through which the answer was given.
    pub via: Option<AnswerInterface>,
    /// The assurance about who answered.
    pub assurance: Option<Assurance>,
    /// The person, as reported by the agent that passed the answer on. The server did not verify
    /// it.
    pub attested: Option<AttestedIdentity>,
    /// What the agent should do after the ask expired.
    pub report: Option<DefaultAction>,
    /// The reason for cancelling.
    pub reason: Option<String>,
    /// The time at which the ask was closed.
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

/// A comment.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Comment))]
pub struct CommentView<'a> {
    /// The author.
    pub by: ActorRef,
    /// The time.
    pub at: Time,
    /// The text; `null` after an erasure.
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

/// An event in a stream.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Event))]
pub struct EventView<'a> {
    /// The position in the stream. To resume after it, send it as `Last-Event-ID`.
    pub position: u64,
    /// The name of the event.
    pub event: &'a str,
    /// The time.
    pub at: Time,
    /// The version of the ask after the event.
    pub version: u64,
    /// The ask at the time of sending, which may already have a later version.
    pub ask: AskView<'a>,
}

// A person's own view: the asks they snoozed, and who works on which ask.

/// `PUT /api/v1/asks/{id}/snooze`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SnoozeBody {
    /// When the ask returns to the inbox; at most ten years from now.
    pub until: Time,
}

/// The asks that a person snoozed.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Snoozed<'a> {
    /// The snoozed asks, soonest first.
    pub snoozed: Vec<SnoozedAsk<'a>>,
}

/// A snoozed ask.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SnoozedAsk<'a> {
    /// When the ask returns to the inbox.
    pub until: Time,
    /// The snoozed ask.
    pub ask: AskView<'a>,
}

/// The people who are viewing asks.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Lookers))]
pub struct PresenceView {
    /// The people who reported within the last minute that they are viewing an ask.
    pub looking: Vec<PresentPerson>,
}

/// A person who is viewing an ask.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Looker))]
pub struct PresentPerson {
    /// The ask.
    pub ask: AskId,
    /// The person.
    pub human: HumanId,
}
