/** What can go wrong. Every message says what to do. */

import type { Outcome } from "./outcome.js";

/** One field the server did not accept. */
export interface FieldError {
  readonly field: string;
  readonly expected: string;
  readonly code?: string;
}

/** What an error carries beside its message. */
export interface ErrorFields {
  code: string;
  detail?: string;
  errors?: readonly FieldError[];
  status?: number | undefined;
  requestId?: string | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** Everything this package throws, except wrong arguments (`TypeError`) and the reason of an aborted signal. */
export class CountersignError extends Error {
  /** A stable word, the same as the server's where the server refused: `not-found`, `invalid-field` … */
  readonly code: string;
  /** What happened, in the server's words where it said something. */
  readonly detail: string;
  /** The fields that were wrong, if any. */
  readonly errors: readonly FieldError[];
  /** The HTTP status, where there was an answer. */
  readonly status: number | undefined;
  /** The id of the request in the server's log. */
  readonly requestId: string | undefined;
  /** When the server wants to be asked again. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, fields: ErrorFields) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.name = new.target.name;
    this.code = fields.code;
    this.detail = fields.detail ?? message;
    this.errors = fields.errors ?? [];
    this.status = fields.status;
    this.requestId = fields.requestId;
    this.retryAfterMs = fields.retryAfterMs;
  }
}

/** The client cannot work like this: no key, or an address that is none. */
export class Misconfigured extends CountersignError {}

/** The server refused or failed. Its subclasses say how. */
export class ApiError extends CountersignError {}

/** 401: the key is missing, unknown or revoked. */
export class Unauthorized extends ApiError {}

/** 403: the key is fine, but this is not allowed. */
export class NotAllowed extends ApiError {}

/** 404: no such thing, or this key may not see it. */
export class NotFound extends ApiError {}

/** 409, 410, 412: too late, or somebody else was first. */
export class Conflict extends ApiError {}

/**
 * A guarded function was called with a key that stands for another call. It did not run, and no person was asked.
 */
export class KeyReused extends Conflict {
  constructor(
    /** The function's name. */
    readonly tool: string,
    /** The idempotency key that was sent. */
    readonly key: string,
    refused: Conflict,
  ) {
    const detail =
      `${tool} was not run: the key "${key}" was used before for a call with other arguments, another prompt or ` +
      "other options";
    const advice =
      "Use the same key only to repeat a call, and another key (or namespace) for another call; if the prompt or the " +
      "options changed since, cancel the open ask and use a new key.";
    const { code, status, requestId } = refused;
    super(`${detail} (${code}, ${status}). ${advice}`, { code, detail, status, requestId, cause: refused });
  }
}

/** Any other 4xx: the request is wrong; `errors` names the fields. */
export class InvalidRequest extends ApiError {}

/** 429: too many requests, even after waiting and trying again. */
export class RateLimited extends ApiError {}

/** 5xx, even after trying again. */
export class ServerFailed extends ApiError {}

/** An operation on a task was refused. `code` is the protocol's: `PRECONDITION_FAILED` and so on. */
export class TaskError extends ApiError {
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** What the server knows beside its sentence: the field that was wrong, the revision the task has now. */
  readonly details: Readonly<Record<string, unknown>>;
  /** The task it is about. */
  readonly correlationId: string | undefined;

  constructor(message: string, fields: ErrorFields & { retryable: boolean; details: Readonly<Record<string, unknown>>; correlationId?: string | undefined }) {
    super(message, fields);
    this.retryable = fields.retryable;
    this.details = fields.details;
    this.correlationId = fields.correlationId;
  }
}

/** No answer came, even after trying again. `cause` says why. */
export class ConnectionFailed extends CountersignError {}

/** `wait` reached its `timeoutMs`. The ask is still open; wait again or cancel it. */
export class WaitTimeout extends CountersignError {
  constructor(
    /** The ask that is still open. */
    readonly askId: string,
    timeoutMs: number,
  ) {
    const detail = `there was no answer to ${askId} within ${timeoutMs} ms`;
    super(`${detail}; it is still open: wait again, or cancel it`, { code: "wait-timeout", detail });
  }
}

/** A guarded function was not run, because no person approved it. */
export class Denied extends CountersignError {
  constructor(
    /** Why, in a sentence: the person's own words where they left some. */
    readonly reason: string,
    /** How the ask ended. */
    readonly outcome: Outcome,
  ) {
    super(`not approved: ${reason}`, { code: "denied", detail: reason });
  }
}

/** A receipt that proves nothing. `code` says which check failed. */
export class InvalidReceipt extends CountersignError {
  constructor(code: string, detail: string) {
    super(`the receipt is not valid: ${detail}`, { code, detail });
  }
}

/** Passkey evidence that does not prove the answer of a receipt; `code` says in one word why. */
export class InvalidEvidence extends CountersignError {
  constructor(code: string, detail: string) {
    super(`the passkey evidence is not valid: ${detail}`, { code, detail });
  }
}

/** What to do about a code, where the server's own words do not say it. */
const ADVICE: Readonly<Record<string, string>> = {
  unauthorized: "Check COUNTERSIGN_API_KEY: it must be an agent key of this server that is not revoked.",
  "not-found": "Check the ID; a key can see only the asks of its agent or project.",
  "idempotency-mismatch": "Use another idempotencyKey for another question.",
  "rate-limited": "Send fewer requests, or give each agent its own key.",
  "too-large": "Send a smaller body: put a link into the details instead of the content.",
  "wrong-host": "Set COUNTERSIGN_URL to the server's public_url.",
  "default-forbidden": "This project does not allow a default on silence; use onExpiry \"fail\" or \"stay_open\".",
  "already-answered": "Read the ask to see the answer.",
  "already-cancelled": "Ask again if you still need an answer.",
  unavailable: "Try again, with the same idempotency key if you used one.",
};

/** The error for an answer with an error status. */
export function apiError(status: number, headers: Headers, body: string, base: string): ApiError {
  return taskError(status, headers, body) ?? problemError(status, headers, body, base);
}

/** The error in the words of HACP, if it is one. */
function taskError(status: number, headers: Headers, body: string): TaskError | undefined {
  let said: Record<string, unknown> | undefined;
  try {
    said = (JSON.parse(body) as { error?: Record<string, unknown> } | null)?.error;
  } catch {
    return undefined;
  }
  const { code, message, details, retryable, correlation_id: task } = said ?? {};
  if (typeof code !== "string" || typeof message !== "string") return undefined;
  return new TaskError(`${message} (${code}, ${status})`, {
    code,
    detail: message,
    status,
    retryable: retryable === true,
    details: typeof details === "object" && details !== null ? (details as Record<string, unknown>) : {},
    correlationId: typeof task === "string" ? task : undefined,
    requestId: headers.get("x-request-id") ?? undefined,
    retryAfterMs: retryAfter(headers.get("retry-after")),
  });
}

function problemError(status: number, headers: Headers, body: string, base: string): ApiError {
  const problem = readProblem(body);
  const ours = problem?.type?.startsWith("/errors/") ? problem.type : undefined;
  const code = ours?.split("/").at(-1) || `http-${status}`;
  // A 404 that is no word of ours is not "there is no such ask", but nobody there who knows asks.
  const detail =
    status === 404 && ours === undefined
      ? `no Countersign API at ${base}; check COUNTERSIGN_URL`
      : problem?.detail || problem?.title || "the response is not from Countersign; check COUNTERSIGN_URL and any proxy";
  const page = ours === undefined ? undefined : `See ${base}${ours}`;
  const said = /[.!?]$/.test(detail) ? detail : `${detail}.`;
  const message = [`${said} (${code}, ${status})`, ADVICE[code], page].filter(Boolean).join(" ");
  const Kind = kind(status);
  return new Kind(message, {
    code,
    detail,
    errors: Array.isArray(problem?.errors) ? problem.errors : [],
    status,
    requestId: headers.get("x-request-id") ?? undefined,
    retryAfterMs: retryAfter(headers.get("retry-after")),
  });
}

interface Problem {
  type?: string;
  title?: string;
  detail?: string;
  errors?: FieldError[];
}

function readProblem(body: string): Problem | undefined {
  try {
    const problem: unknown = JSON.parse(body);
    if (typeof problem !== "object" || problem === null) return undefined;
    const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
    const { type, title, detail, errors } = problem as Record<string, unknown>;
    const known = Object.entries({ type: text(type), title: text(title), detail: text(detail), errors });
    return Object.fromEntries(known.filter(([, value]) => value !== undefined)) as Problem;
  } catch {
    return undefined;
  }
}

function kind(status: number): typeof ApiError {
  if (status >= 500) return ServerFailed;
  switch (status) {
    case 401:
      return Unauthorized;
    case 403:
      return NotAllowed;
    case 404:
      return NotFound;
    case 409:
    case 410:
    case 412:
      return Conflict;
    case 429:
      return RateLimited;
    default:
      return InvalidRequest;
  }
}

/** `Retry-After` in milliseconds: seconds, or a date. */
export function retryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
