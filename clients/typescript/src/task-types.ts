/** Tasks as HACP has them: work a person owns and an agent does. Members are named as on the wire. */

import type { JsonObject, JsonValue } from "./json.js";

/** Where a task stands. `completed` and `rejected` are the end. */
export type TaskState =
  | "created"
  | "assigned"
  | "in_progress"
  | "blocked"
  | "review_ready"
  | "under_review"
  | "accepted"
  | "completed"
  | "rejected";

/** Which protocol an object speaks. */
export interface Stamp {
  readonly spec_version: string;
  readonly schema_version: string;
  readonly profile: string;
}

/** How much an agent may do by itself. */
export type Autonomy = "autonomous" | "plan_then_implement" | "confirm_each_action" | "read_only";
export type Risk = "low" | "medium" | "high";
export type Handover = "assign" | "checkpoint" | "approve" | "reject" | "handoff";
export type Intent = "redirect" | "clarify" | "constrain" | "abort_hint";
export type Verdict = "approved" | "changes_requested" | "rejected";
export type CheckpointKind = "approval" | "choice" | "input" | "escalation";
export type ResolutionAction = "approve" | "reject" | "choose" | "provide" | "reassign";
export type PayloadKind = "diff" | "blob" | "ref" | "inline";

/** Something there is to work with. */
export type InputRef =
  | { readonly kind: "artifact"; readonly id: string; readonly version: string }
  | { readonly kind: "resource"; readonly uri: string; readonly id?: string | null };

/** A permission to be given, or taken back with `deny`. `until` is `session`, `task` or a moment. */
export interface NewGrant {
  readonly scope: string;
  readonly decision: "allow" | "deny";
  readonly until?: string;
}

/** A permission that was given. */
export interface PermissionGrant extends NewGrant {
  readonly until: string;
  readonly granted_by: string;
  readonly granted_at: string;
  /** The run it counts in, where it counts as long as a run. */
  readonly run_id?: string;
}

/** What has to be kept to. */
export interface Constraints<Grant = PermissionGrant> {
  readonly max_duration?: string | null;
  readonly must_use_capabilities?: readonly { readonly capability_id: string; readonly version?: string | null }[];
  readonly external_refs?: readonly JsonObject[];
  readonly autonomy?: Autonomy;
  readonly grants?: readonly Grant[];
}

/** Who has to judge what is delivered. */
export interface ReviewPolicy {
  readonly required_reviewers: readonly string[];
  readonly quorum?: "all" | "majority" | "any";
}

/** What is wanted. It never changes. */
export interface TaskSpec {
  readonly goal: string | null;
  readonly acceptance_criteria: readonly string[];
  readonly inputs: readonly InputRef[];
  readonly constraints: Constraints;
  readonly review_policy?: ReviewPolicy | null;
}

/** Who answers for a task, and whom it is with. */
export interface Ownership {
  readonly task_id: string;
  readonly principal: string;
  readonly assignee: string;
  readonly delegable: boolean;
  readonly chain: readonly { readonly from: string; readonly to: string; readonly at: string; readonly via: Handover }[];
}

/** Work a person owns. */
export interface Task extends Stamp {
  readonly id: string;
  readonly type: string;
  readonly spec: TaskSpec;
  readonly ownership: Ownership;
  readonly state: TaskState;
  readonly parent_task: string | null;
  readonly created_at: string;
  readonly deadline: string | null;
  readonly checkpoints: readonly string[];
  readonly artifacts: readonly string[];
  readonly audit_trail: string;
  readonly steering_log: readonly Amendment[];
  readonly revision: number;
  readonly grants: readonly PermissionGrant[];
  readonly deliveries: readonly VersionRef[];
  readonly reviews: readonly Review[];
  readonly project: string;
  readonly run_id: string | null;
  readonly started_at: string | null;
  readonly due_at: string | null;
  readonly on_expiry: "stay_blocked" | "cancel";
}

/** What the principal said on the way. */
export interface Amendment {
  readonly text: string | null;
  readonly intent: Intent;
  readonly by: string;
  readonly at: string;
}

/** One version of what was delivered. */
export interface VersionRef {
  readonly id: string;
  readonly version: string;
}

/** Something that can be chosen. */
export interface CheckpointOption {
  readonly id: string;
  readonly label: string;
  readonly risk?: Risk | null;
}

/** What an agent shows for a decision. */
export interface Evidence {
  readonly kind: string;
  readonly id?: string | null;
  readonly version?: string | null;
  readonly content?: JsonValue;
}

/** Something an agent wants to do, to be approved by itself. */
export interface ProposedAction {
  readonly id: string;
  readonly kind: string;
  readonly summary: string;
  readonly detail?: JsonObject | null;
  readonly risk?: Risk | null;
  readonly permission_scope?: string | null;
}

/** What a person says to a checkpoint. */
export interface NewResolution {
  readonly action: ResolutionAction;
  readonly choice?: string;
  readonly input?: JsonValue;
  readonly reassign_to?: string;
  readonly comment?: string;
  readonly approved_actions?: readonly string[];
  readonly denied_actions?: readonly string[];
  readonly state_patch?: JsonObject;
  readonly edited_artifact_ref?: VersionRef;
}

/** What was decided. */
export interface CheckpointResolution {
  readonly by: string;
  readonly action: ResolutionAction;
  readonly choice: string | null;
  readonly input: string | null;
  readonly reassign_to: string | null;
  readonly comment: string | null;
  readonly at: string;
  readonly approved_actions: readonly string[];
  readonly denied_actions: readonly string[];
  readonly state_patch: JsonObject | null;
  readonly edited_artifact_ref: VersionRef | null;
}

/** A point at which a person decides. */
export interface Checkpoint extends Stamp {
  readonly id: string;
  readonly task_id: string;
  readonly kind: CheckpointKind | "interrupt";
  readonly prompt: string | null;
  readonly options: readonly CheckpointOption[];
  readonly context: readonly Evidence[];
  readonly state: "pending" | "resolved" | "expired";
  readonly raised_at: string;
  readonly expires_at: string | null;
  readonly resolution: CheckpointResolution | null;
  readonly raised_by: "agent" | "human" | "system";
  readonly proposed_actions: readonly ProposedAction[];
}

/** A remark on a place of what was delivered. */
export interface ReviewComment {
  readonly anchor?: string | null;
  readonly severity: "blocker" | "major" | "minor" | "nit";
  readonly body: string;
}

/** A verdict. It never changes. */
export interface Review {
  readonly id: string;
  readonly task_id: string;
  readonly artifact_id: string;
  readonly reviewer: string;
  readonly verdict: Verdict;
  readonly comments: readonly ReviewComment[];
  readonly requested_changes: readonly string[];
  readonly at: string;
  readonly kind: "plan" | "deliverable";
  readonly artifact_version: string | null;
  readonly added: readonly CommentRecord[];
}

/** A comment added to a review that stands. */
export interface CommentRecord {
  readonly review_id: string;
  readonly task_id: string;
  readonly by: string;
  readonly comment: ReviewComment | null;
  readonly at: string;
}

/** What a version is said to be made of: `content`, or where it is. */
export interface NewPayload {
  readonly kind: PayloadKind;
  readonly uri?: string;
  readonly checksum?: string;
  readonly size?: number;
  readonly content?: string;
  readonly encoding?: "utf-8" | "base64";
  readonly media_type?: string;
}

/** What was delivered, in one version. */
export interface Artifact extends Stamp {
  readonly id: string;
  readonly type: string;
  readonly provenance: { readonly produced_by: string; readonly produced_at: string };
  readonly version: string;
  readonly parent_version: string | null;
  readonly payload: {
    readonly kind: PayloadKind;
    readonly uri: string;
    readonly checksum: string;
    readonly size: number;
    readonly media_type?: string;
  };
  readonly references: readonly { readonly task_id: string; readonly as: "input" | "output" }[];
  readonly project: string;
  readonly shared_with: readonly string[];
  readonly versions: readonly string[];
}

/** What a key of a ledger says, or said. */
export interface LedgerEntry {
  readonly key: string;
  readonly value: JsonValue;
  readonly written_at: string;
  readonly by: string;
  readonly ledger_id: string;
  readonly scope: string;
  readonly revision: number;
}

/** One event of a history. */
export interface AuditEvent extends Stamp {
  readonly id: string;
  readonly seq: number;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly subject: { readonly kind: string; readonly id: string };
  readonly task_id: string | null;
  readonly before: JsonObject | null;
  readonly after: JsonObject | null;
  readonly reducer: JsonObject | null;
  readonly prev_hash: string;
  readonly hash: string;
}

/** A task as it was at a moment, and what had happened to it. */
export interface Replay {
  readonly at: string;
  readonly task: Task | null;
  readonly events: readonly AuditEvent[];
}

/** Something that waits for a person. */
export interface InboxItem {
  readonly kind: "resolve_checkpoint" | "submit_review";
  readonly task_id: string;
  readonly project: string;
  readonly principal: string;
  readonly agent_id: string | null;
  readonly checkpoint_id: string | null;
  readonly artifact_id: string | null;
  readonly artifact_version: string | null;
  readonly prompt: string | null;
  readonly since: string;
  readonly expires_at: string | null;
}

/** Something the runtime of an agent has to do. */
export interface HarnessEvent {
  readonly operation_id: string;
  readonly operation: "delegate" | "block" | "resume" | "handoff" | "steer" | "cancel";
  readonly task_id: string;
  readonly correlation_id: string;
  readonly run_id: string;
  readonly agent_id: string;
  readonly parent_run: string | null;
  readonly at: string;
  readonly capability: string | null;
  readonly input: JsonValue;
  readonly spec?: TaskSpec;
  readonly checkpoint_id?: string;
  readonly reason?: string;
  readonly resolution?: CheckpointResolution;
  readonly review?: Review;
  readonly amendment?: Amendment;
  readonly grant?: PermissionGrant;
  readonly operation_context: JsonObject;
}

/** The same with its place: what `ack` is given. */
export interface Delivery {
  readonly cursor: string;
  readonly event: HarnessEvent;
}

/** Something a runtime has not confirmed. */
export interface OutboxRecord {
  readonly operation_id: string;
  readonly task_id: string;
  readonly operation: HarnessEvent["operation"];
  readonly state: "pending" | "succeeded" | "failed";
  readonly request: HarnessEvent;
  readonly result: JsonValue;
  readonly created_at: string;
  readonly updated_at: string;
}
