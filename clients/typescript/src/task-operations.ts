/** Every operation of HACP: what it takes and what it gives. */

import type { JsonObject, JsonValue } from "./json.js";
import type {
  Artifact,
  AuditEvent,
  Checkpoint,
  CheckpointKind,
  CheckpointOption,
  CommentRecord,
  Constraints,
  Delivery,
  Evidence,
  Handover,
  InboxItem,
  InputRef,
  Intent,
  LedgerEntry,
  NewGrant,
  NewPayload,
  NewResolution,
  OutboxRecord,
  Ownership,
  ProposedAction,
  Replay,
  Review,
  ReviewComment,
  ReviewPolicy,
  Task,
  TaskState,
  Verdict,
} from "./task-types.js";

/** A page of a list. */
export interface PageOptions {
  readonly limit?: number;
  /** `next` of the page before. */
  readonly cursor?: string;
}

/** A task to be written down. */
export interface NewTask {
  /** What sort of task. */
  readonly type: string;
  readonly goal: string;
  readonly acceptance_criteria?: readonly string[];
  readonly inputs?: readonly InputRef[];
  readonly constraints?: Constraints<NewGrant>;
  readonly review_policy?: ReviewPolicy;
  readonly parent_task?: string;
  readonly deadline?: string | Date;
  readonly delegable?: boolean;
  readonly project?: string;
  /** What happens when a checkpoint of it runs out. */
  readonly on_expiry?: "stay_blocked" | "cancel";
  readonly hxp?: JsonObject;
}

/** A checkpoint to be raised. */
export interface NewCheckpoint {
  readonly task_id: string;
  readonly kind: CheckpointKind;
  readonly prompt: string;
  readonly options?: readonly CheckpointOption[];
  readonly context?: readonly Evidence[];
  readonly proposed_actions?: readonly ProposedAction[];
  readonly expires_at?: string | Date;
  readonly priority?: "low" | "normal" | "high" | "critical";
  readonly hxp?: JsonObject;
}

/** A verdict to be given, on the newest version unless told. */
export interface NewReview {
  readonly task_id: string;
  readonly verdict: Verdict;
  readonly art_id?: string;
  readonly version?: string;
  readonly kind?: "plan" | "deliverable";
  readonly comments?: readonly ReviewComment[];
  readonly requested_changes?: readonly string[];
}

/** Something to be delivered; with `art_id` it is the next version of that. */
export interface NewVersion {
  readonly task_id: string;
  readonly type: string;
  readonly payload: NewPayload;
  readonly art_id?: string;
  readonly version?: string;
  readonly parent_version?: string;
}

/** Which tasks. */
export interface TaskQuery extends PageOptions {
  readonly state?: TaskState;
  readonly principal?: string;
  readonly assignee?: string;
  readonly project?: string;
  readonly parent_task?: string;
}

/** Which events. */
export interface AuditQuery extends PageOptions {
  readonly task_id?: string;
  readonly actor?: string;
  readonly action?: string;
}

interface OneTask {
  readonly task_id: string;
}

/** By name: what an operation takes, and what it gives. */
export interface TaskOperations {
  "task.create": [NewTask, Task];
  "task.assign": [OneTask & { readonly agent_id: string; readonly capability?: string; readonly input?: JsonValue }, Task];
  "task.start": [OneTask, Task];
  "task.cancel": [OneTask & { readonly reason?: string }, Task];
  "task.interrupt": [OneTask & { readonly prompt: string }, Checkpoint];
  "task.amend": [OneTask & { readonly text: string; readonly intent?: Intent }, Task];
  "task.grant": [OneTask & NewGrant, Task];
  "task.get": [OneTask, Task];
  "task.list": [TaskQuery, Task[]];
  "checkpoint.raise": [NewCheckpoint, Checkpoint];
  "checkpoint.resolve": [{ readonly ckpt_id: string; readonly resolution: NewResolution }, Checkpoint];
  "checkpoint.expire": [{ readonly ckpt_id: string }, Checkpoint];
  "ownership.transfer": [OneTask & { readonly to: string; readonly via?: Handover }, Ownership];
  "ownership.delegate": [OneTask & { readonly to_agent: string; readonly capability?: string; readonly input?: JsonValue }, Ownership];
  "review.submit": [NewReview, Review];
  "review.comment": [{ readonly review_id: string; readonly comment: string | ReviewComment; readonly task_id?: string }, CommentRecord];
  "artifact.commit": [NewVersion, Artifact];
  "artifact.get": [{ readonly art_id: string; readonly version?: string }, Artifact];
  "artifact.reference": [
    { readonly art_id: string; readonly version: string; readonly by_task: string; readonly as_?: "input" | "output" },
    Artifact,
  ];
  "artifact.share": [{ readonly art_id: string; readonly project: string }, Artifact];
  "ledger.read": [{ readonly scope: string; readonly key: string }, LedgerEntry | null];
  "ledger.write": [
    { readonly scope: string; readonly key: string; readonly value: JsonValue; readonly by: string; readonly expected_revision?: number },
    LedgerEntry,
  ];
  "ledger.history": [PageOptions & { readonly scope: string; readonly key: string }, LedgerEntry[]];
  "audit.query": [AuditQuery, AuditEvent[]];
  "audit.replay": [OneTask & { readonly at?: string | Date }, AuditEvent[] | Replay];
  "human.inbox": [PageOptions, InboxItem[]];
  "pending.outbox": [PageOptions & { readonly task_id?: string }, OutboxRecord[]];
  "runtime.peek": [{ readonly run_id?: string; readonly cursor?: string; readonly limit?: number }, Delivery[]];
  "runtime.ack": [{ readonly through: string; readonly run_id?: string }, JsonValue];
}

/** The name of an operation. */
export type TaskOperation = keyof TaskOperations;

/** What changes nothing, and may be repeated without a key; to acknowledge twice does no harm either. */
export const LOOKS: ReadonlySet<TaskOperation> = new Set<TaskOperation>([
  "task.get",
  "task.list",
  "artifact.get",
  "ledger.read",
  "ledger.history",
  "audit.query",
  "audit.replay",
  "human.inbox",
  "pending.outbox",
  "runtime.peek",
  "runtime.ack",
]);
