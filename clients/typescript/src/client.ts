/** The client. */

import { Misconfigured } from "./errors.js";
import { type EventsOptions, eventsFrom } from "./events.js";
import type { Fields, Values } from "./form.js";
import { type Guarded, type GuardOptions, guard } from "./guard.js";
import { ABORTABLE, type Abortable, acknowledge, Asked, cancel, type CancelOptions } from "./handle.js";
import { type Insights, INSIGHTS, type InsightsOptions } from "./insights.js";
import { type Names, only } from "./options.js";
import {
  type ApproveOutcome,
  type ChooseOutcome,
  type ConfirmOutcome,
  type ConverseOutcome,
  type EscalateOutcome,
  type Outcome,
  type OutcomeOf,
  outcomeOf,
  type ProvideOutcome,
} from "./outcome.js";
import {
  type ApproveOptions,
  approveQuestion,
  ASK,
  askBody,
  type AskOptions,
  type Choosable,
  type ChooseOptions,
  chooseQuestion,
  type ConfirmOptions,
  confirmQuestion,
  converseQuestion,
  type EscalateOptions,
  escalateQuestion,
  type IdOf,
  type ProvideOptions,
  provideQuestion,
  type QuestionOptions,
} from "./questions.js";
import { type Jwks, nextPage } from "./receipt.js";
import { type RetryPolicy, textOf, Transport } from "./transport.js";
import type { Ask, AskEvent, AskState, Comment, Kind, Priority, Question, StreamReset } from "./types.js";
import { Tasks } from "./tasks.js";
import { askPath, waitFor, type WaitOptions } from "./wait.js";
import { randomId } from "./webcrypto.js";

/** How to reach the server. */
export interface CountersignOptions {
  /** Where it is: `COUNTERSIGN_URL`, else `A2H_BASE_URL` or `HUMANLAYER_API_BASE`, or http://localhost:3402. */
  readonly url?: string | undefined;
  /** An agent key: `COUNTERSIGN_API_KEY`, else `A2H_API_KEY` or `HUMANLAYER_API_KEY`, unless given. */
  readonly apiKey?: string | undefined;
  /** Another `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** How long one try of a request may take; 30 s unless told. */
  readonly timeoutMs?: number | undefined;
  readonly retry?: Partial<RetryPolicy> | undefined;
}

/** Which asks to list. */
export interface ListOptions extends Abortable {
  /** Open ones, unless told. */
  readonly state?: ListState | readonly ListState[] | undefined;
  readonly kind?: Kind | undefined;
  readonly priority?: Priority | undefined;
  /** How many to fetch at a time, up to 100. */
  readonly pageSize?: number | undefined;
}

/** The states of lists. */
export type ListState = "open" | "waiting" | "engaged" | "all" | Extract<AskState, "completed" | "expired" | "cancelled" | "failed">;

const CLIENT: Names<CountersignOptions> = { url: true, apiKey: true, fetch: true, timeoutMs: true, retry: true };
const RETRY: Names<RetryPolicy> = { retries: true, firstDelayMs: true, longestDelayMs: true };
const LIST: Names<ListOptions> = { ...ABORTABLE, state: true, kind: true, priority: true, pageSize: true };

/** Asks people on behalf of an agent. */
export class Countersign {
  private readonly transport: Transport;
  private readonly retries: number;
  /** Work a person owns and an agent does: every operation of HACP. */
  readonly tasks: Tasks;

  constructor(options: CountersignOptions = {}) {
    only(options, CLIENT);
    const url = address(options.url ?? env("COUNTERSIGN_URL") ?? a2hUrl() ?? "http://localhost:3402");
    const apiKey = options.apiKey ?? env("COUNTERSIGN_API_KEY") ?? env("A2H_API_KEY") ?? env("HUMANLAYER_API_KEY");
    if (!apiKey) {
      const advice =
        "Set COUNTERSIGN_API_KEY or pass `apiKey`. `countersign serve` prints a key at its first start, " +
        "`countersign keys` issues more; with `serve --dev` it is dev-agent-key.";
      throw new Misconfigured(`There is no API key. ${advice}`, { code: "missing-api-key" });
    }
    const policy = { retries: 5, firstDelayMs: 250, longestDelayMs: 8000, ...defined(only(options.retry ?? {}, RETRY)) };
    // Called as a plain function: a page's own `fetch` refuses another `this`.
    const fetch: typeof globalThis.fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.retries = policy.retries;
    this.transport = new Transport(url, apiKey, fetch, policy, options.timeoutMs ?? 30_000);
    this.tasks = new Tasks(this.transport, this.retries);
  }

  /** Yes or no to an action. Only `verdict: "approved"` is a yes. */
  approve(prompt: string, options: ApproveOptions = {}): Asked<ApproveOutcome> {
    return this.create(approveQuestion(prompt, options), options);
  }

  /** One of several options, or more with `pick: "many"`. */
  choose<const O extends readonly Choosable[]>(prompt: string, options: ChooseOptions<O>): Asked<ChooseOutcome<IdOf<O>>> {
    return this.create(chooseQuestion(prompt, options), options);
  }

  /** Values only a person can supply. */
  provide<const F extends Fields>(prompt: string, options: ProvideOptions<F>): Asked<ProvideOutcome<Values<F>>> {
    return this.create(provideQuestion(prompt, options), options);
  }

  /** "Go ahead with exactly these", or not. */
  confirm<const O extends readonly Choosable[]>(prompt: string, options: ConfirmOptions<O>): Asked<ConfirmOutcome<IdOf<O>>> {
    return this.create(confirmQuestion(prompt, options), options);
  }

  /** Something failed: retry, skip or abort? */
  escalate(prompt: string, options: EscalateOptions = {}): Asked<EscalateOutcome> {
    return this.create(escalateQuestion(prompt, options), options);
  }

  /** A free message that wants a free answer. */
  converse(prompt: string, options: QuestionOptions = {}): Asked<ConverseOutcome> {
    return this.create(converseQuestion(prompt, options), options);
  }

  /** Any question, as it is on the wire. */
  ask<const Q extends Question>(request: { readonly question: Q } & AskOptions): Asked<OutcomeOf<Q>> {
    return this.create(request.question, only(request, { ...ASK, question: true }));
  }

  /**
   * The function, run only after a person approved this very call. They see its name and its
   * arguments; with `editable` they may change the arguments, and then the changed ones are used.
   * With a `key`, or as a tool of a framework that passes on the tool-call id, a restarted agent
   * comes back to the question that is open already instead of asking again.
   */
  requireApproval<A extends readonly unknown[], R>(
    run: (...args: A) => R,
    options: GuardOptions<A> & { readonly onDenied: "return" },
  ): Guarded<A, Awaited<R> | string>;
  requireApproval<A extends readonly unknown[], R>(run: (...args: A) => R, options?: GuardOptions<A>): Guarded<A, Awaited<R>>;
  requireApproval<A extends readonly unknown[], R>(
    run: (...args: A) => R,
    options: GuardOptions<A> = {},
  ): Guarded<A, Awaited<R> | string> {
    return guard(this, run, options);
  }

  /** Waits for an ask that was created before, perhaps by another process. */
  async wait(id: string, options: WaitOptions = {}): Promise<Outcome> {
    return outcomeOf(await waitFor(this.transport, id, options));
  }

  /** An ask as it stands. */
  async get(id: string, options: Abortable = {}): Promise<Ask> {
    return this.transport.json(askPath(id), only(options, ABORTABLE));
  }

  /** The asks, newest pages fetched as they are needed. Without receipts: `get` has them. */
  async *list(options: ListOptions = {}): AsyncGenerator<Ask, void, undefined> {
    const { state, kind, priority, pageSize, signal } = only(options, LIST);
    const query = new URLSearchParams();
    for (const one of state === undefined ? [] : [state].flat()) query.append("state", one);
    for (const [key, value] of Object.entries({ kind, priority, limit: pageSize })) {
      if (value !== undefined) query.set(key, String(value));
    }
    for (;;) {
      const page = await this.transport.json<{ asks: Ask[]; next: string | null }>(`/api/v1/asks?${query}`, { signal });
      yield* page.asks;
      if (page.next === null) return;
      query.set("cursor", page.next);
    }
  }

  /** Withdraws an ask. */
  async cancel(id: string, options: CancelOptions = {}): Promise<Ask> {
    return cancel(this.transport, id, options);
  }

  /** Gives people more time. */
  async extend(id: string, until: Date | string, options: Abortable = {}): Promise<Ask> {
    return this.transport.json(`${askPath(id)}/extend`, { method: "POST", body: { until }, ...only(options, ABORTABLE) });
  }

  /** Says that the secret values of an answer have arrived: the server forgets them. */
  async acknowledge(id: string, options: Abortable = {}): Promise<void> {
    return acknowledge(this.transport, id, options);
  }

  /** What was remarked on an ask. */
  async comments(id: string, options: Abortable = {}): Promise<readonly Comment[]> {
    const path = `${askPath(id)}/comments`;
    return (await this.transport.json<{ comments: Comment[] }>(path, only(options, ABORTABLE))).comments;
  }

  /** A file that a person gave as an answer. */
  async file(id: string, sha256: string, options: Abortable = {}): Promise<ArrayBuffer> {
    const path = `${askPath(id)}/files/${encodeURIComponent(sha256)}`;
    return (await this.transport.send(path, { headers: { accept: "*/*" }, ...only(options, ABORTABLE) })).bytes;
  }

  /** Everything that happens to this key's asks, from now on or from `after` on. Comes back after interruptions. */
  events(options: EventsOptions = {}): AsyncGenerator<AskEvent | StreamReset, void, undefined> {
    return eventsFrom(this.transport, options, this.retries);
  }

  /** Numbers about what agents claim and what people do with it, of all that this key may see. */
  async insights(options: InsightsOptions = {}): Promise<Insights> {
    const { signal, ...narrowed } = only(options, INSIGHTS);
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(narrowed)) if (value !== undefined) query.set(key, value);
    return this.transport.json(`/api/v1/insights?${query}`, { signal });
  }

  /** The signed receipt of an ask that is over: a compact JWS, for `verifyReceipt`. */
  async receipt(id: string, options: Abortable = {}): Promise<string> {
    return this.text(`${askPath(id)}/receipt`, options);
  }

  /** The server's public keys, for `verifyReceipt`. Keep them: then receipts verify offline. */
  async jwks(options: Abortable = {}): Promise<Jwks> {
    return this.transport.json("/.well-known/jwks.json", only(options, ABORTABLE));
  }

  /** The server's signed list of revoked receipts and keys, page by page, for `verifyReceipt`. */
  async revocations(options: Abortable = {}): Promise<readonly string[]> {
    const pages: string[] = [];
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const query = cursor === undefined ? "" : `?cursor=${encodeURIComponent(cursor)}`;
      const page = await this.text(`/api/v1/receipts/revocations${query}`, options);
      pages.push(page);
      cursor = nextPage(page);
    }
    return pages;
  }

  private create<O extends Outcome>(question: Question, options: AskOptions): Asked<O> {
    return new Asked<O>(this.transport, question, this.post(question, options));
  }

  private async post(question: Question, options: AskOptions): Promise<Ask> {
    const { idempotencyKey, signal } = options;
    if (idempotencyKey !== undefined && !/^[\x21-\x7e]{1,255}$/.test(idempotencyKey)) {
      throw new TypeError("an idempotencyKey is 1 to 255 ASCII characters without spaces");
    }
    const headers = { "idempotency-key": idempotencyKey ?? (await randomId()) };
    return this.transport.json("/api/v1/asks", { method: "POST", body: askBody(question, options), headers, signal });
  }

  private async text(path: string, options: Abortable): Promise<string> {
    const call = { headers: { accept: "application/jose" }, ...only(options, ABORTABLE) };
    return textOf(await this.transport.send(path, call)).trim();
  }
}

function address(given: string): string {
  let url: URL;
  try {
    url = new URL(given);
  } catch (cause) {
    const detail = `COUNTERSIGN_URL or \`url\` is not a URL: ${JSON.stringify(given)}`;
    throw new Misconfigured(`${detail}. Expected a URL such as http://localhost:3402.`, { code: "bad-url", detail, cause });
  }
  if (!/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    const detail = "COUNTERSIGN_URL or `url` must be a plain http or https URL";
    throw new Misconfigured(`${detail}, like http://localhost:3402; the key goes into COUNTERSIGN_API_KEY.`, {
      code: "bad-url",
      detail,
    });
  }
  return url.href.replace(/\/+$/, "");
}

/** The server by the names of A2H, which have the path of that protocol at their end. */
function a2hUrl(): string | undefined {
  const base = env("A2H_BASE_URL") ?? env("HUMANLAYER_API_BASE");
  return base?.replace(/\/+$/, "").replace(/\/(a2h|humanlayer)\/v1$/, "");
}

/** A variable of the environment, where there is one. */
function env(name: string): string | undefined {
  try {
    const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
    return process?.env?.[name] || undefined;
  } catch {
    // Deno asks for permission first; without it there is no environment.
    return undefined;
  }
}

function defined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}
