/**
 * Countersign for TypeScript and JavaScript: ask a person, wait for the answer, verify the receipt.
 *
 * @packageDocumentation
 */

export { Countersign, type CountersignOptions, type ListOptions, type ListState } from "./client.js";
export {
  ApiError,
  Conflict,
  ConnectionFailed,
  CountersignError,
  Denied,
  type ErrorFields,
  type FieldError,
  InvalidEvidence,
  InvalidReceipt,
  InvalidRequest,
  KeyReused,
  Misconfigured,
  NotAllowed,
  NotFound,
  RateLimited,
  ServerFailed,
  TaskError,
  Unauthorized,
  WaitTimeout,
} from "./errors.js";
export type { EventsOptions } from "./events.js";
export { field, type Field, type FieldOptions, type Fields, type Selectable, type Values } from "./form.js";
export type { Guarded, GuardOptions } from "./guard.js";
export { type Abortable, Asked, type CancelOptions } from "./handle.js";
export {
  HitlFollower,
  type HitlFollowerOptions,
  type HitlRounds,
  type HitlRoundsEnd,
  type HitlSubmission,
  type HitlSubmitted,
  type HitlSubmittedBy,
} from "./hitl.js";
export { HitlCase, HitlError, HitlVerificationError, type ReviewType } from "./hitl-case.js";
export type { HitlClock, HitlNotice, HitlNotify } from "./hitl-follow.js";
export {
  type HitlCallback,
  type HitlCancelled,
  type HitlCompleted,
  type HitlExpired,
  type HitlOutcome,
  verifyHitlCallback,
} from "./hitl-outcome.js";
export type { HitlAuthorization } from "./hitl-wire.js";
export type {
  AgentInsights,
  Calibration,
  EndedCounts,
  Insights,
  InsightsOptions,
  ReadingCounts,
  VerdictCounts,
  WaitCounts,
} from "./insights.js";
export { canonicalJson, type JsonObject, type JsonValue, parseJson } from "./json.js";
export type * from "./outcome.js";
export { outcomeOf } from "./outcome.js";
export type {
  ApproveOptions,
  AskOptions,
  Choosable,
  ChooseOptions,
  ConfirmOptions,
  EscalateOptions,
  ProvideOptions,
  QuestionOptions,
} from "./questions.js";
export { type AnswerStatement, type EvidenceOptions, type PasskeyEvidence, verifyEvidence } from "./passkey.js";
export { isApproval, type Jwk, type Jwks, questionHash, type ReceiptClaims, verifyReceipt, type VerifyOptions } from "./receipt.js";
export type { ArtifactBytes } from "./artifact.js";
export type * from "./task-operations.js";
export type * from "./task-types.js";
export { leave, type Leave, type LeaveOptions } from "./leave.js";
export { type Duty, type Page, type RunOptions, type TaskEvent, Tasks, type Terms } from "./tasks.js";
export type { RetryPolicy } from "./transport.js";
export type * from "./types.js";
export type { WaitOptions } from "./wait.js";
