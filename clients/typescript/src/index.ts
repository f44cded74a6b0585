/**
 * Countersign for TypeScript and JavaScript: ask a person, wait for the answer, verify the receipt.
 *
 * @packageDocumentation
 */

export { type Abortable, Countersign, type CountersignOptions, type ListOptions, type ListState } from "./client.js";
export {
  ApiError,
  Conflict,
  ConnectionFailed,
  CountersignError,
  Denied,
  type ErrorFields,
  type FieldError,
  InvalidReceipt,
  InvalidRequest,
  Misconfigured,
  NotAllowed,
  NotFound,
  RateLimited,
  ServerFailed,
  Unauthorized,
  WaitTimeout,
} from "./errors.js";
export type { EventsOptions } from "./events.js";
export { field, type Field, type FieldOptions, type Fields, type Selectable, type Values } from "./form.js";
export type { Guarded, GuardOptions } from "./guard.js";
export { Asked, type CancelOptions } from "./handle.js";
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
export { isApproval, type Jwk, type Jwks, questionHash, type ReceiptClaims, verifyReceipt, type VerifyOptions } from "./receipt.js";
export type { RetryPolicy } from "./transport.js";
export type * from "./types.js";
export type { WaitOptions } from "./wait.js";
