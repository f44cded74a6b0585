/** Requests with a credential, tried again where that helps. */

import { limit, sleep } from "./abort.js";
import { apiError, ConnectionFailed, CountersignError, Misconfigured } from "./errors.js";
import { parseJson, stringifyJson } from "./json.js";

/** How often and how patiently a request is tried again. */
export interface RetryPolicy {
  /** How often after the first try; 5 unless told. */
  readonly retries: number;
  /** The first pause; each next one is about twice as long. 250 ms unless told. */
  readonly firstDelayMs: number;
  /** The longest pause. 8 s unless told. */
  readonly longestDelayMs: number;
}

/** A request. */
export interface Call {
  readonly method?: "GET" | "POST" | "PATCH";
  readonly body?: unknown;
  /** Bytes to send as they are, in place of a body in JSON. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** How long one try may take. */
  readonly timeoutMs?: number;
  /** How often to try again; the policy's number unless told. */
  readonly retries?: number;
}

/** What goes over the wire. */
type Sent = string | Uint8Array<ArrayBuffer> | undefined;

/** What came back, read whole. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: ArrayBuffer;
}

/** A `Retry-After` longer than this is not slept through: the caller should know. */
const LONGEST_RETRY_AFTER_MS = 60_000;
const AGAIN: ReadonlySet<number> = new Set([429, 502, 503, 504]);

export class Transport {
  constructor(
    /** Without a slash at its end. */
    readonly url: string,
    private readonly apiKey: string,
    private readonly fetch: typeof globalThis.fetch,
    private readonly policy: RetryPolicy,
    private readonly timeoutMs: number,
  ) {}

  /** The JSON that came back. */
  async json<T>(path: string, call: Call = {}): Promise<T> {
    return this.read<T>(await this.send(path, call));
  }

  /** A reply as JSON. */
  read<T>(reply: Reply): T {
    try {
      return parseJson(textOf(reply)) as T;
    } catch (cause) {
      const detail = `the response of ${this.url} is not JSON`;
      throw new CountersignError(`${detail}; check COUNTERSIGN_URL and any proxy`, { code: "not-json", detail, cause });
    }
  }

  /** Sends, tries again where that helps, and gives what came back with a status below 400. */
  async send(path: string, call: Call = {}): Promise<Reply> {
    // Written once: every try sends the same bytes under the same headers.
    const body = call.bytes ?? (call.body === undefined ? undefined : stringifyJson(call.body));
    const retries = call.retries ?? this.policy.retries;
    for (let tries = 0; ; tries += 1) {
      try {
        return await this.once(path, call, body);
      } catch (error) {
        const again = isPassing(error) && tries < retries;
        const asked = error instanceof CountersignError ? error.retryAfterMs : undefined;
        if (!again || (asked ?? 0) > LONGEST_RETRY_AFTER_MS) throw error;
        await sleep(Math.max(this.delay(tries), asked ?? 0), call.signal);
      }
    }
  }

  /** A response whose body is still coming. One try; the caller decides what to do next. */
  async open(path: string, call: Call, signal: AbortSignal): Promise<Response> {
    const response = await this.request(path, call, undefined, signal);
    if (response.status >= 400) throw apiError(response.status, response.headers, await response.text(), this.url);
    return response;
  }

  /** The pause before try `n + 1`: exponential, with jitter so that clients do not come back in step. */
  delay(n: number): number {
    const { firstDelayMs, longestDelayMs } = this.policy;
    return Math.min(longestDelayMs, firstDelayMs * 2 ** n) * (0.5 + Math.random() / 2);
  }

  private async once(path: string, call: Call, body: Sent): Promise<Reply> {
    const ms = call.timeoutMs ?? this.timeoutMs;
    const time = limit(call.signal, ms);
    try {
      const response = await this.request(path, call, body, time.signal);
      const reply = { status: response.status, headers: response.headers, bytes: await response.arrayBuffer() };
      if (reply.status >= 400) throw apiError(reply.status, reply.headers, textOf(reply), this.url);
      return reply;
    } catch (error) {
      if (error instanceof CountersignError) throw error;
      call.signal?.throwIfAborted();
      throw unreachable(this.url, time.timedOut ? `no answer within ${ms} ms` : String(causeOf(error)), error);
    } finally {
      time.done();
    }
  }

  private async request(path: string, call: Call, body: Sent, signal: AbortSignal): Promise<Response> {
    const { fetch } = this;
    const response = await fetch(this.url + path, {
      method: call.method ?? "GET",
      headers: {
        authorization: `Bearer ${this.apiKey}`,
        accept: "application/json",
        ...(typeof body === "string" && { "content-type": "application/json" }),
        ...call.headers,
      },
      ...(body !== undefined && { body }),
      signal,
      // Followed blindly, a redirect could carry the key away or turn a POST into a GET.
      redirect: "manual",
    });
    const redirected = response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400);
    if (redirected && response.status !== 304) {
      const to = response.headers.get("location") ?? "another address";
      const detail = `${this.url} redirects to ${to}`;
      throw new Misconfigured(`${detail}; set COUNTERSIGN_URL to the URL of the server itself`, { code: "redirected", detail });
    }
    return response;
  }
}

/** Whether the same request may well succeed a little later. */
export function isPassing(error: unknown): boolean {
  return error instanceof ConnectionFailed || (error instanceof CountersignError && AGAIN.has(error.status ?? 0));
}

/** The error for a connection that could not be made or broke. */
export function unreachable(url: string, why: string, cause: unknown): ConnectionFailed {
  const detail = `${url} cannot be reached: ${why}`;
  const advice = "Check that the server is running and that COUNTERSIGN_URL is its URL.";
  return new ConnectionFailed(`${detail}. ${advice}`, { code: "connection-failed", detail, cause });
}

/** The text of a reply. */
export function textOf(reply: Reply): string {
  return new TextDecoder().decode(reply.bytes);
}

/** `fetch failed` says nothing; what lies below it does. */
function causeOf(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { cause } = error;
  if (cause instanceof Error) return (cause as { code?: unknown }).code ?? cause.message;
  return error.message;
}
