/** Calls to whatever service: nothing is sent where it was not meant to go. */

import { limit } from "./abort.js";
import { retryAfter } from "./errors.js";
import { HitlError, HitlVerificationError, isObject, readObject, shown } from "./hitl-case.js";
import type { JsonObject } from "./json.js";

/** A credential and the address it is for: it is sent to that origin and to no other. */
export interface HitlAuthorization {
  /** An address of the service that was called. */
  readonly url: string;
  /** The value of the `Authorization` header it was called with. */
  readonly value: string;
}

/** How long a poll or a submit may take. */
const CALL_MS = 30_000;

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export class Wire {
  constructor(
    private readonly fetch: typeof globalThis.fetch,
    private readonly authorization: HitlAuthorization | undefined,
  ) {}

  /** A GET that is answered whole; anything but success and 304 is thrown. */
  async get(url: string, headers: Record<string, string>, signal: AbortSignal | undefined): Promise<Reply> {
    return this.whole(url, { headers: { ...this.credential(url), ...headers } }, signal);
  }

  /** A POST with a token of its own. */
  async post(url: string, token: string, body: string, signal: AbortSignal | undefined): Promise<Reply> {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    return this.whole(url, { method: "POST", headers, body }, signal);
  }

  /** A GET whose answer may go on for ever. */
  async open(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    const response = await this.send(url, { headers: { ...this.credential(url), ...headers } }, signal);
    if (!response.ok) throw refused(response.status, response.headers, await response.text());
    return response;
  }

  private async whole(url: string, init: RequestInit, signal: AbortSignal | undefined): Promise<Reply> {
    const time = limit(signal, CALL_MS);
    try {
      const { status, headers, ok, ...rest } = await this.read(url, init, time.signal);
      if (!ok && status !== 304) throw refused(status, headers, rest.text);
      return { status, headers, text: rest.text };
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof HitlError) throw error;
      throw new HitlError(`${shown(url)} cannot be reached`, { code: "unreachable", cause: error });
    } finally {
      time.done();
    }
  }

  private async read(url: string, init: RequestInit, signal: AbortSignal): Promise<Reply & { ok: boolean }> {
    const response = await this.send(url, init, signal);
    return { status: response.status, ok: response.ok, headers: response.headers, text: await response.text() };
  }

  private async send(url: string, init: RequestInit, signal: AbortSignal): Promise<Response> {
    const { fetch } = this;
    // A redirect could carry a token to somebody else.
    return fetch(url, { ...init, redirect: "manual", signal });
  }

  private credential(url: string): Record<string, string> {
    const { authorization } = this;
    const home = authorization && new URL(authorization.url).origin === new URL(url).origin;
    return home ? { authorization: authorization.value } : {};
  }
}

/** Whether the same call may succeed later. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof HitlError)) return false;
  const status = error.status ?? 0;
  return error.code === "unreachable" || [408, 425, 429].includes(status) || status >= 500;
}

function refused(status: number, headers: Headers, body: string): HitlError {
  const said: JsonObject = readObject(body) ?? {};
  // Some frameworks wrap their errors once more.
  const inner = isObject(said["detail"]) ? said["detail"] : said;
  const text = (name: string): string | undefined => (typeof inner[name] === "string" ? inner[name] : undefined);
  const code = text("error") ?? `http-${status}`;
  const unverified = status === 403 && (code === "verification_required" || code === "verification_failed");
  return new (unverified ? HitlVerificationError : HitlError)(`${text("message") ?? "the service refused"} (HTTP ${status} ${code})`, {
    code,
    status,
    retryAfterMs: retryAfter(headers.get("retry-after")),
    reviewUrl: text("review_url"),
  });
}
