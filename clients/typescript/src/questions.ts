/** From what is comfortable to write to a question on the wire, spelled as the server spells it. */

import { type Fields, formOf } from "./form.js";
import type { JsonObject } from "./json.js";
import { type Names, only } from "./options.js";
import type {
  ApproveQuestion,
  Choice,
  ChooseQuestion,
  ConfirmQuestion,
  ConverseQuestion,
  EscalateQuestion,
  OnExpiry,
  Priority,
  ProvideQuestion,
  Route,
} from "./types.js";

/** What every ask takes. */
export interface AskOptions {
  readonly priority?: Priority | undefined;
  /** Who is asked: the agent's owner, unless told. */
  readonly route?: Route | undefined;
  /** After how many seconds it runs out: never, unless told. */
  readonly timeoutSeconds?: number | undefined;
  /** What then. A default taken on silence is never a person's approval. */
  readonly onExpiry?: OnExpiry | undefined;
  /** When to remind, as RFC 3339 times. */
  readonly reminders?: readonly (string | Date)[] | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly metadata?: JsonObject | undefined;
  /** The id of the ask this one continues. */
  readonly follows?: string | undefined;
  /** Where to tell, in one signed call, that it is over. */
  readonly callbackUrl?: string | undefined;
  /**
   * The same key gives the same ask, while it is open and for at least 24 hours after. Each ask has a random one, so that trying again
   * asks once; give your own (a job's id) to survive a restart of the agent too.
   */
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What every question takes. */
export interface QuestionOptions extends AskOptions {
  /** Why it is asked. */
  readonly context?: string | undefined;
}

/** What `approve` takes. */
export interface ApproveOptions extends QuestionOptions {
  /** The action, whole: this is what the person sees. */
  readonly details?: JsonObject | undefined;
  /** Whether the person may edit the details. Declare it only if you use `edits`. */
  readonly editable?: boolean | undefined;
  readonly rejectRequiresReason?: boolean | undefined;
}

/** Something to choose or confirm: an id, or an id with what the person reads. */
export type Choosable = string | Choice;

/** The ids of some choices. */
export type IdOf<O extends readonly Choosable[]> = O[number] extends infer One
  ? One extends string
    ? One
    : One extends { readonly id: infer Id extends string }
      ? Id
      : never
  : never;

/** What `choose` takes. */
export interface ChooseOptions<O extends readonly Choosable[]> extends QuestionOptions {
  /** At least two. */
  readonly options: O;
  /** How many may be chosen: one, unless told. */
  readonly pick?: "one" | "many" | undefined;
  /** What the agent would take by itself. */
  readonly suggested?: NoInfer<IdOf<O>> | undefined;
}

/** What `provide` takes. */
export interface ProvideOptions<F extends Fields> extends QuestionOptions {
  /** The fields, by the key of their value; make them with `field`. */
  readonly form: F;
}

/** What `confirm` takes. */
export interface ConfirmOptions<O extends readonly Choosable[]> extends QuestionOptions {
  /** What is about to happen, item by item. */
  readonly items: O;
  /** The label of going ahead. */
  readonly yes?: string | undefined;
  /** The label of not doing so. */
  readonly no?: string | undefined;
}

/** What `escalate` takes. */
export interface EscalateOptions extends QuestionOptions {
  /** What failed: an error, or anything about it. */
  readonly error?: Error | JsonObject | undefined;
  /** Parameters a retry may change. */
  readonly params?: JsonObject | undefined;
}

export const ASK: Names<AskOptions> = {
  priority: true,
  route: true,
  timeoutSeconds: true,
  onExpiry: true,
  reminders: true,
  tags: true,
  metadata: true,
  follows: true,
  callbackUrl: true,
  idempotencyKey: true,
  signal: true,
};
const QUESTION: Names<QuestionOptions> = { ...ASK, context: true };
const APPROVE: Names<ApproveOptions> = { ...QUESTION, details: true, editable: true, rejectRequiresReason: true };
const CHOOSE: Names<ChooseOptions<[]>> = { ...QUESTION, options: true, pick: true, suggested: true };
const PROVIDE: Names<ProvideOptions<Fields>> = { ...QUESTION, form: true };
const CONFIRM: Names<ConfirmOptions<[]>> = { ...QUESTION, items: true, yes: true, no: true };
const ESCALATE: Names<EscalateOptions> = { ...QUESTION, error: true, params: true };

// The receipt holds the hash of the question as the server writes it: empty members are left out and
// false ones of `approve` are there. Written the same way here, what was asked can be held against it.

export function approveQuestion(prompt: string, options: ApproveOptions): ApproveQuestion {
  only(options, APPROVE);
  return {
    kind: "approve",
    ...words(prompt, options),
    ...filled("details", options.details),
    editable: options.editable ?? false,
    reject_requires_reason: options.rejectRequiresReason ?? false,
  };
}

export function chooseQuestion<const O extends readonly Choosable[]>(
  prompt: string,
  options: ChooseOptions<O>,
): ChooseQuestion {
  only(options, CHOOSE);
  return {
    kind: "choose",
    ...words(prompt, options),
    options: options.options.map(choice),
    pick: options.pick ?? "one",
    ...(options.suggested !== undefined && { suggested: options.suggested }),
  };
}

export function provideQuestion(prompt: string, options: ProvideOptions<Fields>): ProvideQuestion {
  only(options, PROVIDE);
  return { kind: "provide", ...words(prompt, options), form: formOf(options.form) };
}

export function confirmQuestion<const O extends readonly Choosable[]>(
  prompt: string,
  options: ConfirmOptions<O>,
): ConfirmQuestion {
  only(options, CONFIRM);
  return {
    kind: "confirm",
    ...words(prompt, options),
    items: options.items.map(choice),
    yes: options.yes ?? "Go ahead",
    no: options.no ?? "Do not",
  };
}

export function escalateQuestion(prompt: string, options: EscalateOptions): EscalateQuestion {
  const { error } = only(options, ESCALATE);
  const told = error instanceof Error ? { name: error.name, message: error.message } : error;
  return { kind: "escalate", ...words(prompt, options), ...filled("error", told), ...filled("params", options.params) };
}

export function converseQuestion(prompt: string, options: QuestionOptions): ConverseQuestion {
  only(options, QUESTION);
  return { kind: "converse", ...words(prompt, options) };
}

/**
 * The body of `POST /asks`; what was not said is left to the server, but for one thing: an ask with a timeout expires,
 * because one that stays open after its time would be waited for in vain.
 */
export function askBody(question: object, options: AskOptions): object {
  const { priority, route, timeoutSeconds, onExpiry, reminders, tags, metadata, follows, callbackUrl } = options;
  return {
    question,
    priority,
    route,
    timeout_seconds: timeoutSeconds,
    on_expiry: onExpiry ?? (timeoutSeconds ? { report: "abort" } : undefined),
    reminders,
    tags,
    metadata,
    follows,
    callback_url: callbackUrl,
  };
}

function words(prompt: string, options: QuestionOptions): { prompt: string; context?: string } {
  return { prompt, ...(options.context !== undefined && { context: options.context }) };
}

function filled<K extends string>(key: K, value: JsonObject | undefined): { [P in K]?: JsonObject } {
  const isFilled = value !== undefined && Object.values(value).some((member) => member !== undefined);
  return (isFilled ? { [key]: value } : {}) as { [P in K]?: JsonObject };
}

function choice(one: Choosable): Choice {
  if (typeof one === "string") return { id: one, label: one };
  const { id, label, description } = one;
  return { id, label, ...(description !== undefined && { description }) };
}
