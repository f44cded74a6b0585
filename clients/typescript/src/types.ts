/** The objects of the API, as they are on the wire. */

import type { JsonObject, JsonValue } from "./json.js";

/** How urgent. */
export type Priority = "low" | "normal" | "high" | "critical";

/** Where an ask stands. */
export type AskState = "pending" | "opened" | "in_progress" | "completed" | "expired" | "cancelled" | "failed";

/** Who is asked. */
export type Route =
  | { readonly to: "owner" }
  | { readonly to: "delegate" }
  | { readonly to: "pool"; readonly group?: string }
  | { readonly to: "person"; readonly human: string };

/** One thing to choose or to confirm: `id` comes back, the person reads `label`. */
export interface Choice<Id extends string = string> {
  readonly id: Id;
  readonly label: string;
  readonly description?: string;
}

interface Prompted {
  /** What the person reads first. */
  readonly prompt: string;
  /** Why it is asked. */
  readonly context?: string;
}

/** Yes or no to an action. */
export interface ApproveQuestion extends Prompted {
  readonly kind: "approve";
  readonly details?: JsonObject;
  /** Whether the agent can take edited details. */
  readonly editable?: boolean;
  readonly reject_requires_reason?: boolean;
}

/** One or more of several. */
export interface ChooseQuestion<Id extends string = string> extends Prompted {
  readonly kind: "choose";
  readonly options: readonly Choice<Id>[];
  readonly pick: "one" | "many";
  readonly suggested?: Id;
}

/** Values only a person can supply. */
export interface ProvideQuestion extends Prompted {
  readonly kind: "provide";
  readonly form: Form;
}

/** "Go ahead with exactly these", or not. */
export interface ConfirmQuestion<Id extends string = string> extends Prompted {
  readonly kind: "confirm";
  readonly items: readonly Choice<Id>[];
  readonly yes: string;
  readonly no: string;
}

/** Something failed: retry, skip or abort. */
export interface EscalateQuestion extends Prompted {
  readonly kind: "escalate";
  readonly error?: JsonObject;
  /** Parameters a retry may change. */
  readonly params?: JsonObject;
}

/** A free message that wants a free answer. */
export interface ConverseQuestion extends Prompted {
  readonly kind: "converse";
}

/** What can be asked. */
export type Question =
  | ApproveQuestion
  | ChooseQuestion
  | ProvideQuestion
  | ConfirmQuestion
  | EscalateQuestion
  | ConverseQuestion;

/** The kind of a question. */
export type Kind = Question["kind"];

/** A form: one list of fields, or several steps of them. */
export type Form =
  | { readonly fields: readonly FieldSpec[] }
  | { readonly steps: readonly { readonly title: string; readonly description?: string; readonly fields: readonly FieldSpec[] }[] };

/** One field of a form. */
export interface FieldSpec {
  readonly key: string;
  readonly label: string;
  readonly type: string;
  readonly required?: boolean;
  readonly placeholder?: string;
  readonly hint?: string;
  readonly default?: JsonValue;
  readonly default_ref?: string;
  readonly sensitive?: boolean;
  readonly options?: readonly { readonly value: string; readonly label: string }[];
  readonly validation?: Validation;
  readonly conditional?: Condition;
}

/** Limits on a value. */
export interface Validation {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly min?: number | string;
  readonly max?: number | string;
  readonly allowed_values?: readonly JsonValue[];
}

/** When a field is shown: compared with an earlier field. */
export interface Condition {
  readonly field: string;
  readonly operator: "eq" | "neq" | "gt" | "lt" | "in";
  readonly value: JsonValue;
}

/** A file a person uploaded; fetch it with `file(askId, sha256)`. */
export interface FileRef {
  readonly sha256: string;
  readonly name: string;
  readonly size: number;
  readonly media_type: string;
}

/** What a person said. */
export type Answer =
  | { readonly verdict: "approved"; readonly edits?: JsonObject }
  | { readonly verdict: "rejected" }
  | { readonly verdict: "changes_requested" }
  | { readonly verdict: "chosen"; readonly options: readonly string[] }
  | { readonly verdict: "provided"; readonly values: JsonObject }
  | { readonly verdict: "confirmed"; readonly items: readonly string[] }
  | { readonly verdict: "declined" }
  | { readonly verdict: "retry"; readonly params?: JsonObject }
  | { readonly verdict: "skip" }
  | { readonly verdict: "abort" }
  | { readonly verdict: "replied"; readonly text: string };

/** An answer with the words that go with it. */
export interface Reply {
  readonly answer: Answer;
  readonly comment?: string;
}

/** What the agent does when nobody answered and it asked for a report. */
export type Report = "skip" | "approve" | "reject" | "abort";

/** What happens when nobody answers in time. */
export type OnExpiry = "stay_open" | "fail" | { readonly answer: Reply } | { readonly report: Report };

/** Who did something. */
export type By =
  | { readonly kind: "human"; readonly id: string }
  | { readonly kind: "agent"; readonly id: string }
  | { readonly kind: "system" };

/** How sure the server is that the named person answered, from nobody to a passkey. */
export type Assurance = "none" | "agent-attested" | "link" | "channel" | "session" | "passkey";

/** How an ask ended, as the server says it. */
export interface Result {
  readonly outcome: "completed" | "expired" | "failed" | "cancelled";
  /** `null` if there is none, or once it was erased. */
  readonly answer: Answer | null;
  readonly comment: string | null;
  readonly by: By;
  readonly via: string | null;
  readonly assurance: Assurance | null;
  readonly report: Report | null;
  readonly reason: string | null;
  readonly at: string;
}

/** That an answer was called back. */
export interface Revocation {
  readonly at: string;
  readonly reason: string | null;
}

/** What an agent wants from a person. */
export interface Ask {
  readonly id: string;
  readonly version: number;
  readonly state: AskState;
  readonly project: string;
  readonly agent: string;
  readonly owner: string;
  readonly kind: Kind;
  /** `null` once erased. */
  readonly question: Question | null;
  /** The data that the agent attached to the ask; `null` once erased. */
  readonly metadata: JsonObject | null;
  /** The labels that the ask was created with, each once and in alphabetical order. */
  readonly tags: readonly string[];
  readonly priority: Priority;
  readonly seats: readonly JsonObject[];
  readonly assigned_to: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly follows: string | null;
  readonly followed_by: string | null;
  /** How many. */
  readonly comments: number;
  /** Where a person answers. */
  readonly url: string;
  readonly result: Result | null;
  /** The signed receipt, a compact JWS; `null` while open, and in lists. */
  readonly receipt: string | null;
  /** When and why what was said was called back, if it was. */
  readonly revoked?: Revocation | null;
}

/** Something that happened to an ask. */
export interface AskEvent {
  /** Where it stands in the stream; give it as `after` to go on from here. */
  readonly position: number | string;
  readonly event:
    | "asked"
    | "opened"
    | "progressed"
    | "claimed"
    | "assigned"
    | "commented"
    | "answered"
    | "defaulted"
    | "cancelled"
    | "expired"
    | "failed"
    | "reminded"
    | "escalated"
    | "extended"
    | "followed"
    | "revoked"
    | "erased";
  readonly at: string;
  readonly version: number;
  readonly ask: Ask;
}

/** The stream was too far behind: events were left out. List the asks again, then go on. */
export interface StreamReset {
  readonly event: "reset";
}

/** A remark on an ask. */
export interface Comment {
  readonly by: By;
  readonly at: string;
  readonly text: string;
}
