/** A 202 that asks for a person. Sections 2 and 2.1 of the HITL protocol. */

import { CountersignError, retryAfter } from "./errors.js";
import { type JsonObject, type JsonValue, parseJson } from "./json.js";

/** What kind of decision is wanted; a type of the service's own is treated as `input`. */
export type ReviewType = "approval" | "selection" | "input" | "confirmation" | "escalation";

const TYPES: ReadonlySet<string> = new Set(["approval", "selection", "input", "confirmation", "escalation"]);

/** What went wrong with a case. `code` is the service's where the service refused. */
export class HitlError extends CountersignError {
  constructor(
    message: string,
    fields: { code: string; status?: number; retryAfterMs?: number | undefined; cause?: unknown; reviewUrl?: string | undefined },
  ) {
    const { reviewUrl, ...rest } = fields;
    super(message, rest);
    this.reviewUrl = reviewUrl;
  }

  /** Where the person can go instead, if the service said so. */
  readonly reviewUrl: string | undefined;
}

/**
 * An answer needs a proof that a person gives it, or one that was passed on does not count (0.8): `code`
 * is `verification_required` or `verification_failed`. Nothing is gained by sending it again; the person
 * gives it at `reviewUrl`, if there is one.
 */
export class HitlVerificationError extends HitlError {}

/** The service does not speak the protocol. */
export function malformed(what: string): HitlError {
  return new HitlError(`the response is not HITL: ${what}`, { code: "malformed" });
}

/** A case as the service offered it. Its tokens are neither printed nor written as JSON. */
export class HitlCase {
  readonly specVersion: string;
  readonly caseId: string;
  /** As the service calls it; `treatedAs` is what to make of it. */
  readonly type: string;
  readonly prompt: string;
  /** What the service wants the person told, if it said so beside the prompt. */
  readonly message: string | undefined;
  readonly context: JsonObject;
  /** What the service said beside the case. */
  readonly data: JsonValue | undefined;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** What the agent does when nobody answers. */
  readonly defaultAction: string;
  readonly reminders: readonly Date[];
  readonly previousCaseId: string | undefined;
  /** The only actions that may be passed on; `undefined` leaves it to the type. */
  readonly inlineActions: readonly string[] | undefined;
  readonly #reviewUrl: string;
  readonly #pollUrl: string;
  readonly #eventsUrl: string | undefined;
  readonly #submit: { readonly url: string; readonly token: string } | undefined;

  private constructor(
    body: JsonObject,
    /** How long the service wants to be left alone before the first poll. */
    readonly retryAfterMs: number | undefined,
  ) {
    const fields = new Fields(body["hitl"]);
    this.specVersion = fields.text("spec_version");
    this.caseId = fields.text("case_id");
    this.type = fields.text("type");
    if (!TYPES.has(this.type) && !this.type.startsWith("x-")) throw malformed(`${this.type} is not a review type`);
    this.prompt = fields.text("prompt");
    const { message } = body;
    this.message = typeof message === "string" && message.trim() !== "" ? message : undefined;
    this.context = fields.object("context");
    this.data = body["data"];
    this.createdAt = fields.time("created_at");
    this.expiresAt = fields.time("expires_at");
    this.defaultAction = fields.maybe("default_action") ?? "skip";
    this.reminders = fields.times("reminder_at");
    this.previousCaseId = fields.maybe("previous_case_id");
    this.inlineActions = fields.texts("inline_actions");
    this.#reviewUrl = address(fields.text("review_url"));
    this.#pollUrl = address(fields.text("poll_url"));
    const events = fields.maybe("events_url");
    this.#eventsUrl = events === undefined ? undefined : address(events);
    const url = fields.maybe("submit_url");
    const token = fields.maybe("submit_token");
    if ((url === undefined) !== (token === undefined)) throw malformed("submit_url and submit_token must be present together");
    this.#submit = url === undefined || token === undefined ? undefined : { url: address(url), token };
  }

  /**
   * The case in an answer: `undefined` if the service needs nobody (another status, or a 202 for
   * something else); throws if it says it does and the rest makes no sense.
   */
  static recognise(status: number, body: unknown, retryAfterMs?: number): HitlCase | undefined {
    if (status !== 202 || !isObject(body) || body["status"] !== "human_input_required" || !("hitl" in body)) return undefined;
    return new HitlCase(body, retryAfterMs);
  }

  /** The case in a response of `fetch`, with its `Retry-After`. Reads the body of a 202, of a copy. */
  static async of(response: Response): Promise<HitlCase | undefined> {
    if (response.status !== 202) return undefined;
    return HitlCase.recognise(202, readObject(await response.clone().text()), retryAfter(response.headers.get("retry-after")));
  }

  /** A case from a body that was kept, whatever its status was. */
  static read(body: unknown): HitlCase {
    if (!isObject(body)) throw malformed("the hitl object is missing");
    return new HitlCase(body, undefined);
  }

  /** What the person is told: the message, else the prompt. */
  get text(): string {
    return this.message ?? this.prompt;
  }

  /** What kind of decision it is; a type of the service's own is an input. */
  get treatedAs(): ReviewType {
    return TYPES.has(this.type) ? (this.type as ReviewType) : "input";
  }

  /** Where the person decides. Whoever has it can: send it to nobody else. */
  get reviewUrl(): string {
    return this.#reviewUrl;
  }

  /** @internal */
  get pollUrl(): string {
    return this.#pollUrl;
  }

  /** @internal */
  get eventsUrl(): string | undefined {
    return this.#eventsUrl;
  }

  /**
   * What to put into a messenger's button: `caseId:action`. It never holds a token. `limit` is in
   * bytes: 64 for Telegram, 100 for Discord, 256 for WhatsApp, 2000 for Slack.
   */
  button(action: string, limit = 64): string {
    this.inline(action);
    const text = `${this.caseId}:${action}`;
    if (new TextEncoder().encode(text).length > limit) {
      throw new TypeError(`${text} exceeds ${limit} bytes; use a shorter name`);
    }
    return text;
  }

  /** The case id and the action in what a button sent back. */
  static pressed(data: string): { caseId: string; action: string } | undefined {
    const at = data.lastIndexOf(":");
    return at > 0 && at < data.length - 1 ? { caseId: data.slice(0, at), action: data.slice(at + 1) } : undefined;
  }

  /** Where to pass this action on. @internal */
  inline(action: string): { readonly url: string; readonly token: string } {
    const notInline = (message: string): HitlError => new HitlError(message, { code: "not-inline" });
    if (!this.#submit) throw notInline(`${this.caseId} can only be answered on its page`);
    if (this.inlineActions && !this.inlineActions.includes(action)) throw notInline(`${action} is possible on the page only`);
    return this.#submit;
  }
}

/** The members of a `hitl` object, each as what it has to be. */
class Fields {
  private readonly hitl: JsonObject;

  constructor(hitl: unknown) {
    if (!isObject(hitl)) throw malformed("the hitl object is missing");
    this.hitl = hitl;
  }

  maybe(name: string): string | undefined {
    const value = this.hitl[name] ?? undefined;
    if (value !== undefined && typeof value !== "string") throw malformed(`${name} is not a string`);
    return value;
  }

  text(name: string): string {
    const value = this.maybe(name);
    if (value === undefined || value === "") throw malformed(`${name} is missing`);
    return value;
  }

  time(name: string): Date {
    return moment(this.text(name)) ?? fail(name);
  }

  times(name: string): Date[] {
    const value = this.hitl[name] ?? [];
    return (Array.isArray(value) ? (value as JsonValue[]) : [value]).map((one) => moment(one) ?? fail(name));
  }

  texts(name: string): string[] | undefined {
    const value = this.hitl[name] ?? undefined;
    return Array.isArray(value) ? (value as JsonValue[]).map(String) : undefined;
  }

  object(name: string): JsonObject {
    const value = this.hitl[name];
    return isObject(value) ? value : {};
  }
}

function fail(name: string): never {
  throw malformed(`${name} is not an RFC 3339 time`);
}

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

/** A moment, if it is one. */
export function moment(value: unknown): Date | undefined {
  if (typeof value !== "string" || !RFC3339.test(value)) return undefined;
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The JSON object in a text; `undefined` if there is none. */
export function readObject(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** An address that may be called: https, or http on this machine (HITL-242). */
function address(text: string): string {
  let url: URL | undefined;
  try {
    url = new URL(text);
  } catch {
    // Told below.
  }
  const local = url?.hostname === "localhost" || url?.hostname === "127.0.0.1";
  if (url && (url.protocol === "https:" || (url.protocol === "http:" && local))) return text;
  throw malformed(`${shown(text)} is neither an https URL nor a URL on this machine`);
}

/** An address without what opens it. */
export function shown(url: string): string {
  return url.replace(/[?#].*$/s, "");
}
