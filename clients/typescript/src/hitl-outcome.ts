/** How a case ended, from a poll, an event or a callback. Sections 7.2, 12 and 13 of the HITL protocol. */

import { HitlError, isObject, malformed, moment, readObject } from "./hitl-case.js";
import type { JsonObject } from "./json.js";
import { webCrypto } from "./webcrypto.js";

/** A person decided. */
export interface HitlCompleted {
  readonly status: "completed";
  /** What they did: `approve`, `select`, … */
  readonly action: string;
  readonly data: JsonObject;
  /** Who it was, if the service says so. */
  readonly respondedBy: { readonly name?: string; readonly email?: string } | undefined;
  readonly completedAt: Date | undefined;
  /** The case that continues this one, if there is one already. */
  readonly nextCaseId: string | undefined;
  /** The service's signature of the result, as it came. */
  readonly signature: JsonObject | undefined;
  /** How it was answered, where the service speaks 0.8. */
  readonly submissionContext: JsonObject | undefined;
}

/** Nobody decided in time: the agent does `defaultAction` (HITL-150). */
export interface HitlExpired {
  readonly status: "expired";
  readonly defaultAction: string;
  readonly expiredAt: Date;
  /** `clock`: the service was silent, or went on calling it open. */
  readonly judgedBy: "service" | "clock";
}

/** The case was withdrawn. */
export interface HitlCancelled {
  readonly status: "cancelled";
  readonly reason: string | undefined;
  readonly cancelledAt: Date | undefined;
}

/** How a case ended. */
export type HitlOutcome = HitlCompleted | HitlExpired | HitlCancelled;

/** A callback whose signature was good. */
export interface HitlCallback {
  readonly caseId: string;
  readonly outcome: HitlOutcome;
}

/** What a case says about its end, where the service leaves it out. */
export interface Terms {
  readonly defaultAction: string;
  readonly expiresAt: Date;
}

/** How it ended under this status; `undefined` if it goes on. */
export function hitlOutcome(status: string, body: JsonObject, terms: Terms): HitlOutcome | undefined {
  switch (status) {
    case "completed":
      return completed(body);
    case "expired":
      return {
        status,
        defaultAction: text(body["default_action"]) ?? terms.defaultAction,
        expiredAt: moment(body["expired_at"]) ?? terms.expiresAt,
        judgedBy: "service",
      };
    case "cancelled":
      return { status, reason: text(body["reason"]), cancelledAt: moment(body["cancelled_at"]) };
    default:
      // pending, opened, in_progress, and what later versions may add.
      return undefined;
  }
}

function completed(body: JsonObject): HitlCompleted {
  const { result, responded_by: by } = body;
  const action = isObject(result) ? text(result["action"]) : undefined;
  if (!isObject(result) || action === undefined) throw malformed("the case is completed but has no result");
  const object = (value: unknown): JsonObject | undefined => (isObject(value) ? value : undefined);
  const who = (name: "name" | "email"): { [K in typeof name]?: string } => {
    const value = isObject(by) ? text(by[name]) : undefined;
    return value === undefined ? {} : { [name]: value };
  };
  return {
    status: "completed",
    action,
    data: object(result["data"]) ?? {},
    respondedBy: isObject(by) ? { ...who("name"), ...who("email") } : undefined,
    completedAt: moment(body["completed_at"]),
    nextCaseId: text(body["next_case_id"]),
    signature: object(result["signature"]),
    submissionContext: object(body["submission_context"]),
  };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/**
 * Checks `X-HITL-Signature` over the raw body, in constant time and before anything of it is read,
 * and then reads it. Services may deliver the same callback twice.
 */
export async function verifyHitlCallback(
  secret: string,
  body: Uint8Array | string,
  signature: string | null | undefined,
): Promise<HitlCallback> {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : new Uint8Array(body);
  const given = /^sha256=([a-f0-9]{64})$/.exec(signature ?? "")?.[1];
  const { subtle } = await webCrypto();
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const key = await subtle.importKey("raw", new TextEncoder().encode(secret), hmac, false, ["verify"]);
  const pairs = Uint8Array.from(given?.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  if (!(await subtle.verify("HMAC", key, pairs, bytes))) {
    throw new HitlError("the callback is not signed with this secret", { code: "bad-signature" });
  }
  const said = readObject(new TextDecoder().decode(bytes));
  const caseId = text(said?.["case_id"]);
  if (!said || caseId === undefined) throw malformed("the callback names no case");
  const event = text(said["event"]) ?? "";
  const status = event.startsWith("review.") ? event.slice("review.".length) : "";
  const terms = { defaultAction: "skip", expiresAt: moment(said["timestamp"]) ?? new Date(0) };
  const outcome = hitlOutcome(status, said, terms);
  if (!outcome) throw malformed(`the callback: ${JSON.stringify(event)} is not a final event`);
  return { caseId, outcome };
}
