//! The objects of the protocol, field for field. What a field has only from 0.2 on, or only here,
//! stands in a `later` that 0.1 does not have. HACP-004 to HACP-007, HACP-086.

use std::borrow::Cow;
use std::ops::Deref;

use kernel::task::{
    Action, Autonomy, Capability, CheckpointKind, CheckpointOption, Evidence, ExternalRef,
    Handover, Input, Intent, Leave, OnSilence, PayloadKind, ProposedAction, Quorum, RaisedBy,
    ReviewKind, Role, Severity, State, Verdict, VersionRef,
};
use kernel::{ArtifactId, LedgerId, ProjectId, ReviewId, RunId, TaskId, Time};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Which protocol an object speaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// The version of the specification.
    pub spec_version: Cow<'static, str>,
    /// The version of the schemas.
    pub schema_version: Cow<'static, str>,
    /// The claim.
    pub profile: Cow<'static, str>,
}

/// An object as it goes out: itself, and which protocol it speaks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stamped<T> {
    /// The object.
    #[serde(flatten)]
    pub object: T,
    /// Which protocol.
    #[serde(flatten)]
    pub stamp: Stamp,
}

/// An object inside another: itself, and which protocol it speaks. Objects that other places show without
/// it, and those of servers of before it was shown, have no stamp.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nested<T> {
    /// The object.
    #[serde(flatten)]
    pub object: T,
    /// Which protocol.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<Stamp>,
}

impl<T> Nested<T> {
    /// The object without a stamp.
    pub fn bare(object: T) -> Self {
        Self { object, stamp: None }
    }
}

impl<T> Deref for Nested<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.object
    }
}

/// Work a person owns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Its name.
    pub id: TaskId,
    /// What sort of task.
    #[serde(rename = "type")]
    pub sort: String,
    /// What is wanted. Never changes.
    pub spec: TaskSpec,
    /// Who answers for it, and whom it is with.
    pub ownership: Nested<Ownership>,
    /// Where it stands.
    pub state: State,
    /// The task it is part of.
    pub parent_task: Option<TaskId>,
    /// When it was written down.
    pub created_at: Time,
    /// Until when it is to be done.
    pub deadline: Option<Time>,
    /// Its checkpoints, in order.
    pub checkpoints: Vec<String>,
    /// What was delivered, in order.
    pub artifacts: Vec<ArtifactId>,
    /// The first event of its history (K-19).
    pub audit_trail: String,
    /// What 0.1 does not have.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub later: Option<TaskLater>,
}

/// What 0.1 does not have of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskLater {
    /// What its principal said on the way.
    pub steering_log: Vec<SteeringAmendment>,
    /// How often it was changed.
    pub revision: u64,
    /// Everything that was allowed and forbidden, first and later. Ours, like all that follows.
    pub grants: Vec<PermissionGrant>,
    /// Every version that was delivered, in order.
    pub deliveries: Vec<VersionRef>,
    /// What was said of them, in order.
    pub reviews: Vec<Nested<Review>>,
    /// The project it belongs to.
    pub project: ProjectId,
    /// The run that works on it, or did last.
    pub run_id: Option<RunId>,
    /// When somebody first began.
    pub started_at: Option<Time>,
    /// When it has to be done, by its deadline or by how long it may take.
    pub due_at: Option<Time>,
    /// What happens when a checkpoint of it runs out.
    pub on_expiry: OnSilence,
    /// The envelope it came with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hxp: Option<Map<String, Value>>,
}

/// What is wanted. Words that were erased are `null` or gone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskSpec {
    /// What is to be reached.
    pub goal: Option<String>,
    /// By what one sees that it was.
    pub acceptance_criteria: Vec<String>,
    /// What there is to work with.
    pub inputs: Vec<Input>,
    /// What has to be kept to.
    pub constraints: Constraints,
    /// What 0.1 does not have.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub later: Option<TaskSpecLater>,
}

/// What 0.1 does not have of a spec.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskSpecLater {
    /// Who has to judge what is delivered; `null` where the principal does.
    // Not there is not the same as `null`: only 0.1 has it not.
    #[serde(deserialize_with = "Option::deserialize")]
    pub review_policy: Option<ReviewPolicy>,
}

/// What has to be kept to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Constraints {
    /// How long it may take, as it was written.
    pub max_duration: Option<String>,
    /// What it has to be done with.
    pub must_use_capabilities: Vec<Capability>,
    /// What 0.1 does not have.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub later: Option<ConstraintsLater>,
}

/// What 0.1 does not have of constraints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConstraintsLater {
    /// Names that mean something elsewhere.
    pub external_refs: Vec<ExternalRef>,
    /// How much the agent may do by itself.
    pub autonomy: Autonomy,
    /// What it may do, as far as that was said at first.
    pub grants: Vec<PermissionGrant>,
}

/// A permission given, or taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionGrant {
    /// What it is about.
    pub scope: String,
    /// Whether it may be done.
    pub decision: Leave,
    /// How long: `session`, `task`, or a moment.
    pub until: String,
    /// Who gave it.
    pub granted_by: String,
    /// When.
    pub granted_at: Time,
    /// The run it counts in, where it counts as long as a run and that one has begun. Ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// Which protocol.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<Stamp>,
}

/// What the principal said on the way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteeringAmendment {
    /// What; `null` once it was erased.
    pub text: Option<String>,
    /// To what end.
    pub intent: Intent,
    /// Who.
    pub by: String,
    /// When.
    pub at: Time,
}

/// Who has to judge what is delivered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewPolicy {
    /// Whose verdicts count.
    pub required_reviewers: Vec<String>,
    /// How many of them have to approve.
    pub quorum: Quorum,
    /// Which protocol.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<Stamp>,
}

/// Who answers for a task, and whom it is with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ownership {
    /// The task.
    pub task_id: TaskId,
    /// Who answers for it. Never changes.
    pub principal: String,
    /// Whom it is with.
    pub assignee: String,
    /// Whether its agent may hand it down.
    pub delegable: bool,
    /// Everybody it went to, in order.
    pub chain: Vec<OwnershipTransfer>,
}

/// A task went from one to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnershipTransfer {
    /// From whom.
    pub from: String,
    /// To whom.
    pub to: String,
    /// When.
    pub at: Time,
    /// In what way.
    pub via: Handover,
}

/// A point at which a person decides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Its name.
    pub id: String,
    /// The task it holds up.
    pub task_id: TaskId,
    /// What sort of decision.
    pub kind: CheckpointKind,
    /// What the person reads; `null` once it was erased.
    pub prompt: Option<String>,
    /// What can be chosen.
    pub options: Vec<CheckpointOption>,
    /// What the agent shows for it.
    pub context: Vec<Evidence>,
    /// What became of it.
    pub state: CheckpointState,
    /// When it was raised.
    pub raised_at: Time,
    /// When it runs out.
    pub expires_at: Option<Time>,
    /// What was decided.
    pub resolution: Option<CheckpointResolution>,
    /// What 0.1 does not have.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub later: Option<CheckpointLater>,
}

/// What 0.1 does not have of a checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckpointLater {
    /// Who wanted it.
    pub raised_by: RaisedBy,
    /// What the agent wants to do, each to be approved by itself.
    pub proposed_actions: Vec<Nested<ProposedAction>>,
    /// The envelope it came with. Ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hxp: Option<Map<String, Value>>,
}

/// What became of a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckpointState {
    /// Nothing yet.
    Pending,
    /// Somebody decided.
    Resolved,
    /// Nobody did.
    Expired,
}

/// What was decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckpointResolution {
    /// Who decided.
    pub by: String,
    /// What they did.
    pub action: Action,
    /// The option they chose.
    pub choice: Option<String>,
    /// What they provided.
    pub input: Option<String>,
    /// Who goes on instead.
    pub reassign_to: Option<String>,
    /// Why.
    pub comment: Option<String>,
    /// When.
    pub at: Time,
    /// Whether what was said was erased. Then choice, input, comment and the rest are empty because
    /// nothing is known of them, not because nothing was said. Ours.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub erased: bool,
    /// What 0.1 does not have.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub later: Option<ResolutionLater>,
}

/// What 0.1 does not have of a resolution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResolutionLater {
    /// Which of the proposed actions may be done; what is not here may not.
    pub approved_actions: Vec<String>,
    /// Which may not.
    pub denied_actions: Vec<String>,
    /// What the agent goes on from.
    pub state_patch: Option<Map<String, Value>>,
    /// The version the person edited, which the agent goes on from.
    pub edited_artifact_ref: Option<VersionRef>,
}

/// A verdict on what was delivered. Never changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    /// Its name.
    pub id: ReviewId,
    /// The task.
    pub task_id: TaskId,
    /// What was judged.
    pub artifact_id: ArtifactId,
    /// Who judged.
    pub reviewer: String,
    /// How.
    pub verdict: Verdict,
    /// In which words, place by place.
    pub comments: Vec<ReviewComment>,
    /// What has to change.
    pub requested_changes: Vec<String>,
    /// When.
    pub at: Time,
    /// Whether its text was erased, so that the lists are empty. Ours.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub erased: bool,
    /// What 0.1 does not have.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub later: Option<ReviewLater>,
}

/// What 0.1 does not have of a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewLater {
    /// As what it was judged.
    pub kind: ReviewKind,
    /// In which version.
    pub artifact_version: Option<String>,
    /// What was added later, in order. Ours.
    pub added: Vec<CommentRecord>,
}

/// A comment on a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewComment {
    /// Where; `null` for the whole.
    pub anchor: Option<String>,
    /// How much it matters.
    pub severity: Severity,
    /// What is said.
    pub body: String,
}

/// A comment added to a review that stands (K-05, K-06).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommentRecord {
    /// To which review.
    pub review_id: ReviewId,
    /// Of which task.
    pub task_id: TaskId,
    /// Who.
    pub by: String,
    /// What; `null` once it was erased.
    pub comment: Option<ReviewComment>,
    /// When.
    pub at: Time,
}

/// One version of what was delivered. Never changes, but for who uses it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Artifact {
    /// Its name, the same for all versions (K-08).
    pub id: ArtifactId,
    /// What sort of thing.
    #[serde(rename = "type")]
    pub sort: String,
    /// Where it comes from.
    pub provenance: ArtifactProvenance,
    /// Which version.
    pub version: String,
    /// The version it came from.
    pub parent_version: Option<String>,
    /// What it is made of.
    pub payload: ArtifactPayload,
    /// The tasks that use it.
    pub references: Vec<ArtifactRef>,
    /// What 0.1 does not have.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub later: Option<ArtifactLater>,
}

/// What 0.1 does not have of an artifact: ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactLater {
    /// The project it belongs to.
    pub project: ProjectId,
    /// The other projects whose tasks may refer to it.
    pub shared_with: Vec<ProjectId>,
    /// All its versions, oldest first.
    pub versions: Vec<String>,
}

/// Where a version comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactProvenance {
    /// The task that made it.
    pub produced_by: TaskId,
    /// When.
    pub produced_at: Time,
}

/// What a version is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactPayload {
    /// In what form.
    pub kind: PayloadKind,
    /// Where it is.
    pub uri: String,
    /// What its bytes hash to: `sha256:…`.
    pub checksum: String,
    /// How many they are.
    pub size: u64,
    /// What sort of bytes, if it was said. Ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
}

/// A task that uses a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactRef {
    /// Which.
    pub task_id: TaskId,
    /// As what.
    #[serde(rename = "as")]
    pub role: Role,
}

/// What a project, a team or the whole organisation remembers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// Its name.
    pub id: LedgerId,
    /// Whose it is.
    pub scope: String,
}

/// What a key of a ledger says, or said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LedgerEntry {
    /// Which key.
    pub key: String,
    /// What it says; `null` once it was erased.
    pub value: Value,
    /// When it was written.
    pub written_at: Time,
    /// The task that wrote it.
    pub by: TaskId,
    /// What 0.1 does not have.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub later: Option<LedgerEntryLater>,
}

/// What 0.1 does not have of an entry: ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerEntryLater {
    /// Which ledger.
    pub ledger_id: LedgerId,
    /// Whose it is.
    pub scope: String,
    /// How often the key was written, with this.
    pub revision: u64,
}
