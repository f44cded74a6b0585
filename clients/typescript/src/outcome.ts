/** How an ask ended: one union, told apart by `verdict`. */

import { CountersignError } from "./errors.js";
import type { JsonObject, JsonValue } from "./json.js";
import type { Answer, Ask, Assurance, By, ChooseQuestion, ConfirmQuestion, Question, Report, Result } from "./types.js";

interface Ended {
  /** When it ended. */
  readonly at: string;
  /** The signed receipt, a compact JWS. */
  readonly receipt: string | null;
  /** The ask as it ended. */
  readonly ask: Ask;
}

/** A person answered. */
export interface Answered extends Ended {
  /** Who; a member of a pool is not named. */
  readonly by: { readonly kind: "human"; readonly id: string };
  /** How sure the server is that it was them. */
  readonly assurance: PersonalAssurance;
  /** The door they came through: `web`, `api`, `cli` …; `script` for the scripted people of a test server. */
  readonly via: string | null;
  readonly comment: string | null;
}

/** The assurances that stand for a person. */
export type PersonalAssurance = Exclude<Assurance, "none" | "agent-attested">;

/** Yes. */
export interface Approved extends Answered {
  readonly verdict: "approved";
  /** The details as the person changed them; only where `editable` was declared. Use these. */
  readonly edits?: JsonObject;
}
/** No. */
export interface Rejected extends Answered {
  readonly verdict: "rejected";
}
/** Change it and ask again; `comment` says what. Possible for every kind of question. */
export interface ChangesRequested extends Answered {
  readonly verdict: "changes_requested";
}
/** The chosen ids, in the order of the options. */
export interface Chosen<Id extends string = string> extends Answered {
  readonly verdict: "chosen";
  /** The first of `options`, and the only one unless `pick` was `"many"`. */
  readonly option: Id;
  readonly options: readonly Id[];
}
/** The values of a form. */
export interface Provided<V = JsonObject> extends Answered {
  readonly verdict: "provided";
  readonly values: V;
}
/** Go ahead with these. */
export interface Confirmed<Id extends string = string> extends Answered {
  readonly verdict: "confirmed";
  readonly items: readonly Id[];
}
/** Do not. */
export interface Declined extends Answered {
  readonly verdict: "declined";
}
/** Try again with these parameters. */
export interface Retry extends Answered {
  readonly verdict: "retry";
  readonly params: JsonObject;
}
/** Leave this step out. */
export interface Skip extends Answered {
  readonly verdict: "skip";
}
/** Stop. */
export interface Abort extends Answered {
  readonly verdict: "abort";
}
/** A free answer. */
export interface Replied extends Answered {
  readonly verdict: "replied";
  readonly text: string;
}

/** Time ran out. `report` is what the asker wanted to be told then; nobody approved anything. */
export interface Expired extends Ended {
  readonly verdict: "expired";
  readonly report: Report | null;
}
/** It was withdrawn. */
export interface Cancelled extends Ended {
  readonly verdict: "cancelled";
  readonly by: By;
  readonly reason: string | null;
}
/** Time ran out as a failure. */
export interface Failed extends Ended {
  readonly verdict: "failed";
  readonly reason: string | null;
}
/**
 * An answer that no person is known to have given: the default taken on silence (`by` is the
 * system), or one that only the agent attests. It is never `approved`, whatever it says.
 */
export interface Defaulted extends Ended {
  readonly verdict: "defaulted";
  readonly answer: Answer;
  readonly by: By;
  readonly assurance: Assurance | null;
}
/** `answer` was given and called back since; `reason` is why, if that was said. It is never `approved`. */
export interface Revoked extends Ended {
  readonly verdict: "revoked";
  readonly answer: Answer;
  readonly by: By;
  readonly reason: string | null;
}
/** Somebody answered, and the words were erased since. */
export interface Erased extends Ended {
  readonly verdict: "erased";
  readonly by: By;
}

/** The endings without an answer of a person that can be read and still holds. */
export type Unanswered = Expired | Cancelled | Failed | Defaulted | Revoked | Erased;

/** How an `approve` ends. */
export type ApproveOutcome = Approved | Rejected | ChangesRequested | Unanswered;
/** How a `choose` ends. */
export type ChooseOutcome<Id extends string = string> = Chosen<Id> | ChangesRequested | Unanswered;
/** How a `provide` ends. */
export type ProvideOutcome<V = JsonObject> = Provided<V> | ChangesRequested | Unanswered;
/** How a `confirm` ends. */
export type ConfirmOutcome<Id extends string = string> = Confirmed<Id> | Declined | ChangesRequested | Unanswered;
/** How an `escalate` ends. */
export type EscalateOutcome = Retry | Skip | Abort | ChangesRequested | Unanswered;
/** How a `converse` ends. */
export type ConverseOutcome = Replied | ChangesRequested | Unanswered;

/** How any ask can end. */
export type Outcome =
  | ApproveOutcome
  | ChooseOutcome
  | ProvideOutcome
  | ConfirmOutcome
  | EscalateOutcome
  | ConverseOutcome;

/** How an ask with this question can end. */
export type OutcomeOf<Q extends Question> = Q extends { kind: "approve" }
  ? ApproveOutcome
  : Q extends ChooseQuestion<infer Id>
    ? ChooseOutcome<Id>
    : Q extends { kind: "provide" }
      ? ProvideOutcome
      : Q extends ConfirmQuestion<infer Id>
        ? ConfirmOutcome<Id>
        : Q extends { kind: "escalate" }
          ? EscalateOutcome
          : Q extends { kind: "converse" }
            ? ConverseOutcome
            : never;

/** Whether nothing will change any more. */
export function isOver(ask: Ask): ask is Ask & { readonly result: Result } {
  return ask.result !== null && ask.result !== undefined;
}

const PERSONAL: ReadonlySet<string> = new Set<PersonalAssurance>(["link", "channel", "session", "passkey"]);

/** Whether a person answered, as far as the server knows. What it does not vouch for does not count. */
export function isPersonal(by: By, assurance: unknown): by is By & { readonly kind: "human" } {
  return by.kind === "human" && typeof assurance === "string" && PERSONAL.has(assurance);
}

/** How an ask that is over ended. */
export function outcomeOf(ask: Ask): Outcome {
  if (!isOver(ask)) {
    throw new CountersignError(`${ask.id} is still open; wait for it first`, { code: "not-over" });
  }
  const { result } = ask;
  const ended: Ended = { at: result.at, receipt: ask.receipt, ask };
  switch (result.outcome) {
    case "expired":
      return { verdict: "expired", report: result.report ?? null, ...ended };
    case "failed":
      return { verdict: "failed", reason: result.reason ?? null, ...ended };
    case "cancelled":
      return { verdict: "cancelled", by: result.by, reason: result.reason ?? null, ...ended };
    case "completed":
      return completed(result, ended);
    default:
      return unknown("outcome", result.outcome);
  }
}

function completed(result: Result, ended: Ended): Outcome {
  const { answer, by, assurance } = result;
  if (!answer) return { verdict: "erased", by, ...ended };
  const { revoked } = ended.ask;
  if (revoked) return { verdict: "revoked", answer, by, reason: revoked.reason ?? null, ...ended };
  if (!isPersonal(by, assurance)) return { verdict: "defaulted", answer, by, assurance: assurance ?? null, ...ended };
  const answered: Answered = {
    by,
    assurance: assurance as PersonalAssurance,
    via: result.via ?? null,
    comment: result.comment ?? null,
    ...ended,
  };
  switch (answer.verdict) {
    case "approved":
      return { verdict: "approved", ...(answer.edits && { edits: answer.edits }), ...answered };
    case "chosen": {
      const [option] = answer.options;
      if (option === undefined) return unknown("answer", answer as unknown as JsonValue);
      return { verdict: "chosen", option, options: answer.options, ...answered };
    }
    case "provided":
      return { verdict: "provided", values: answer.values, ...answered };
    case "confirmed":
      return { verdict: "confirmed", items: answer.items, ...answered };
    case "retry":
      return { verdict: "retry", params: answer.params ?? {}, ...answered };
    case "replied":
      return { verdict: "replied", text: answer.text, ...answered };
    case "rejected":
    case "changes_requested":
    case "declined":
    case "skip":
    case "abort":
      return { verdict: answer.verdict, ...answered };
    default:
      return unknown("answer", answer);
  }
}

function unknown(what: string, value: JsonValue): never {
  const detail = `the server sent an ${what} this version does not know: ${JSON.stringify(value)}`;
  throw new CountersignError(`${detail}; update @countersign/client`, { code: "unknown-answer", detail });
}

/** Why nobody approved, in a sentence. */
export function reasonOf(outcome: Outcome): string {
  switch (outcome.verdict) {
    case "rejected":
      return outcome.comment ?? "rejected without a reason";
    case "changes_requested":
      return `changes requested: ${outcome.comment ?? "without saying which"}`;
    case "expired":
    case "failed":
      return "there was no answer in time";
    case "defaulted":
      return "there was no answer in time; the default was taken, which is not a person's approval";
    case "cancelled":
      return outcome.reason === null ? "the request was cancelled" : `the request was cancelled: ${outcome.reason}`;
    case "revoked":
      return outcome.reason === null ? "the answer was revoked" : `the answer was revoked: ${outcome.reason}`;
    case "erased":
      return "the answer was erased";
    default:
      return `the answer was ${outcome.verdict}, not an approval`;
  }
}
