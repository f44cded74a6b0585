//! The objects of the protocol, field for field. Members of 0.2 and Countersign's extensions are in
//! a `later` that 0.1 lacks. HACP-004 to HACP-007, HACP-086.

use std::borrow::Cow;
use std::ops::Deref;

use kernel::task::{
    Autonomy, Capability, CheckpointKind, CheckpointOption, Evidence, ExternalRef, GrantDecision,
    Handover, Intent, OnSilence, PayloadKind, ProposedAction, Quorum, RaisedBy, ResolutionAction,
    ReviewKind, Role, Severity, TaskInput, TaskState, Verdict, VersionRef,
};
use kernel::{ArtifactId, LedgerId, ProjectId, ReviewId, RunId, TaskId, Time};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The version members of an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// The version of the specification.
    pub spec_version: Cow<'static, str>,
    /// The version of the schemas.
    pub schema_version: Cow<'static, str>,
    /// The conformance claim.
    pub profile: Cow<'static, str>,
}

/// An object with its version members.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stamped<T> {
    #[serde(flatten)]
    pub object: T,
    #[serde(flatten)]
    pub stamp: Stamp,
}

/// A nested object with its version members. They are absent where the protocol shows the object
/// without them, and in objects of older servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nested<T> {
    #[serde(flatten)]
    pub object: T,
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<Stamp>,
}

impl<T> Nested<T> {
    /// The object without version members.
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

/// A task that a person owns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub id: TaskId,
    #[serde(rename = "type")]
    pub sort: String,
    /// The assignment. Never changes.
    pub spec: TaskSpec,
    pub ownership: Nested<Ownership>,
    pub state: TaskState,
    pub parent_task: Option<TaskId>,
    pub created_at: Time,
    pub deadline: Option<Time>,
    /// The ids of its checkpoints, in order.
    pub checkpoints: Vec<String>,
    /// The delivered artifacts, in order.
    pub artifacts: Vec<ArtifactId>,
    /// The first event of its history (K-19).
    pub audit_trail: String,
    /// Members that 0.1 lacks.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub later: Option<TaskLater>,
}

/// The members of a task that 0.1 lacks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskLater {
    /// The principal's amendments.
    pub steering_log: Vec<SteeringAmendment>,
    /// How often the task was changed.
    pub revision: u64,
    /// All permissions, initial and later. This and all following members are Countersign
    /// extensions.
    pub grants: Vec<PermissionGrant>,
    /// Every delivered version, in order.
    pub deliveries: Vec<VersionRef>,
    /// The reviews, in order.
    pub reviews: Vec<Nested<Review>>,
    pub project: ProjectId,
    /// The current run, or the last one.
    pub run_id: Option<RunId>,
    /// When an agent first started it.
    pub started_at: Option<Time>,
    /// When it must be done, by its deadline or its maximum duration.
    pub due_at: Option<Time>,
    /// What happens when one of its checkpoints expires.
    pub on_expiry: OnSilence,
    /// The agent's envelope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hxp: Option<Map<String, Value>>,
}

/// The assignment. Erased text is `null` or absent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskSpec {
    pub goal: Option<String>,
    pub acceptance_criteria: Vec<String>,
    pub inputs: Vec<TaskInput>,
    pub constraints: Constraints,
    /// Members that 0.1 lacks.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub later: Option<TaskSpecLater>,
}

/// The members of a spec that 0.1 lacks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskSpecLater {
    /// Who must review the artifacts; `null` if the principal does.
    // Absent differs from `null`: only 0.1 lacks the member.
    #[serde(deserialize_with = "Option::deserialize")]
    pub review_policy: Option<ReviewPolicy>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Constraints {
    /// The maximum duration, as the caller wrote it.
    pub max_duration: Option<String>,
    pub must_use_capabilities: Vec<Capability>,
    /// Members that 0.1 lacks.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub later: Option<ConstraintsLater>,
}

/// The members of constraints that 0.1 lacks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConstraintsLater {
    /// Ids in other systems.
    pub external_refs: Vec<ExternalRef>,
    /// How much the agent may do without asking.
    pub autonomy: Autonomy,
    /// The initial permissions.
    pub grants: Vec<PermissionGrant>,
}

/// A permission or a denial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionGrant {
    /// The actions it covers.
    pub scope: String,
    pub decision: GrantDecision,
    /// The duration: `session`, `task`, or a time.
    pub until: String,
    pub granted_by: String,
    pub granted_at: Time,
    /// The run in which a `session` grant is valid, once that run has started. A Countersign
    /// extension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The protocol version.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<Stamp>,
}

/// An amendment of the principal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteeringAmendment {
    /// `null` once erased.
    pub text: Option<String>,
    pub intent: Intent,
    pub by: String,
    pub at: Time,
}

/// Who must review the artifacts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewPolicy {
    /// The people whose verdicts count.
    pub required_reviewers: Vec<String>,
    /// How many of them must approve.
    pub quorum: Quorum,
    /// The protocol version.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<Stamp>,
}

/// The principal and the assignee of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ownership {
    pub task_id: TaskId,
    /// The person who is accountable. Never changes.
    pub principal: String,
    /// The person or agent who works on it.
    pub assignee: String,
    /// Whether the agent may delegate it.
    pub delegable: bool,
    /// All handovers, in order.
    pub chain: Vec<OwnershipTransfer>,
}

/// A handover of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnershipTransfer {
    pub from: String,
    pub to: String,
    pub at: Time,
    /// The kind of handover.
    pub via: Handover,
}

/// A point at which a person decides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    pub id: String,
    /// The task that it blocks.
    pub task_id: TaskId,
    /// The kind of decision.
    pub kind: CheckpointKind,
    /// The question; `null` once erased.
    pub prompt: Option<String>,
    pub options: Vec<CheckpointOption>,
    /// The agent's evidence.
    pub context: Vec<Evidence>,
    pub state: CheckpointState,
    pub raised_at: Time,
    pub expires_at: Option<Time>,
    pub resolution: Option<CheckpointResolution>,
    /// Members that 0.1 lacks.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub later: Option<CheckpointLater>,
}

/// The members of a checkpoint that 0.1 lacks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckpointLater {
    pub raised_by: RaisedBy,
    /// The actions that the agent proposes. The person approves each separately.
    pub proposed_actions: Vec<Nested<ProposedAction>>,
    /// The agent's envelope. A Countersign extension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hxp: Option<Map<String, Value>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckpointState {
    Pending,
    /// A person decided.
    Resolved,
    /// No one decided in time.
    Expired,
}

/// The decision at a checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckpointResolution {
    pub by: String,
    pub action: ResolutionAction,
    /// The chosen option.
    pub choice: Option<String>,
    /// The text that the person provided.
    pub input: Option<String>,
    /// The new assignee.
    pub reassign_to: Option<String>,
    pub comment: Option<String>,
    pub at: Time,
    /// Whether the person's text was erased. Then choice, input, comment and the rest are empty
    /// because they were erased. A Countersign extension.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub erased: bool,
    /// Members that 0.1 lacks.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub later: Option<ResolutionLater>,
}

/// The members of a resolution that 0.1 lacks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResolutionLater {
    /// The proposed actions that the agent may perform. All others are denied.
    pub approved_actions: Vec<String>,
    /// The proposed actions that the agent may not perform.
    pub denied_actions: Vec<String>,
    /// Changes to the state from which the agent continues.
    pub state_patch: Option<Map<String, Value>>,
    /// The version that the person edited, from which the agent continues.
    pub edited_artifact_ref: Option<VersionRef>,
}

/// A person's verdict on an artifact. Never changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    pub id: ReviewId,
    pub task_id: TaskId,
    pub artifact_id: ArtifactId,
    pub reviewer: String,
    pub verdict: Verdict,
    /// The comments, each with its anchor.
    pub comments: Vec<ReviewComment>,
    pub requested_changes: Vec<String>,
    pub at: Time,
    /// Whether its text was erased, so that the lists are empty. A Countersign extension.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub erased: bool,
    /// Members that 0.1 lacks.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub later: Option<ReviewLater>,
}

/// The members of a review that 0.1 lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewLater {
    pub kind: ReviewKind,
    /// The reviewed version.
    pub artifact_version: Option<String>,
    /// Comments added later, in order. A Countersign extension.
    pub added: Vec<CommentRecord>,
}

/// A comment on a part of an artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewComment {
    /// The part it is about; `null` for the whole artifact.
    pub anchor: Option<String>,
    pub severity: Severity,
    pub body: String,
}

/// A comment added to an existing review (K-05, K-06).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommentRecord {
    pub review_id: ReviewId,
    pub task_id: TaskId,
    pub by: String,
    /// `null` once erased.
    pub comment: Option<ReviewComment>,
    pub at: Time,
}

/// A version of an artifact. Only its references change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Artifact {
    /// The id, the same for all versions (K-08).
    pub id: ArtifactId,
    #[serde(rename = "type")]
    pub sort: String,
    pub provenance: ArtifactProvenance,
    pub version: String,
    /// The version it is based on.
    pub parent_version: Option<String>,
    pub payload: ArtifactPayload,
    /// The tasks that refer to it.
    pub references: Vec<ArtifactRef>,
    /// Members that 0.1 lacks.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub later: Option<ArtifactLater>,
}

/// The members of an artifact that 0.1 lacks, all Countersign extensions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactLater {
    pub project: ProjectId,
    /// The other projects whose tasks may refer to it.
    pub shared_with: Vec<ProjectId>,
    /// All its versions, oldest first.
    pub versions: Vec<String>,
}

/// The origin of a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactProvenance {
    /// The task that produced it.
    pub produced_by: TaskId,
    pub produced_at: Time,
}

/// The content of a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactPayload {
    pub kind: PayloadKind,
    pub uri: String,
    /// The hash of its bytes: `sha256:…`.
    pub checksum: String,
    /// The number of bytes.
    pub size: u64,
    /// The stated media type. A Countersign extension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
}

/// A task that refers to a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactRef {
    pub task_id: TaskId,
    /// The role of the version in the task.
    #[serde(rename = "as")]
    pub role: Role,
}

/// The shared memory of a project, a team or the whole organisation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    pub id: LedgerId,
    pub scope: String,
}

/// A value of a key in a ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LedgerEntry {
    pub key: String,
    /// `null` once erased.
    pub value: Value,
    pub written_at: Time,
    /// The task that wrote it.
    pub by: TaskId,
    /// Members that 0.1 lacks.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub later: Option<LedgerEntryLater>,
}

/// The members of an entry that 0.1 lacks, all Countersign extensions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerEntryLater {
    pub ledger_id: LedgerId,
    pub scope: String,
    /// How often the key was written, including this time.
    pub revision: u64,
}
