/**
 * Following any service that answers "a person decides this first": HITL 0.7 and 0.8, for agents.
 * Nothing here decides for a person. A default is told, and it is the agent that carries it out.
 */

import { sleep } from "./abort.js";
import { HitlCase, malformed, moment, readObject } from "./hitl-case.js";
import { Following, type HitlClock, type HitlNotify } from "./hitl-follow.js";
import type { HitlCompleted, HitlOutcome } from "./hitl-outcome.js";
import { type HitlAuthorization, Wire } from "./hitl-wire.js";
import { type JsonObject, stringifyJson } from "./json.js";
import { type Names, only } from "./options.js";

/** How to follow. */
export interface HitlFollowerOptions {
  /** What the service was called with, sent to that service's origin and to no other. */
  readonly authorization?: HitlAuthorization | undefined;
  /** Another `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Another clock, for tests. */
  readonly clock?: HitlClock | undefined;
}

const OPTIONS: Names<HitlFollowerOptions> = { authorization: true, fetch: true, clock: true };

/** Who pressed: on which platform, and who they are there. */
export interface HitlSubmittedBy {
  readonly platform: "telegram" | "slack" | "discord" | "whatsapp" | "teams" | `x-${string}`;
  readonly platformUserId: string;
  readonly displayName?: string | undefined;
}

/** What a person pressed, and where. */
export interface HitlSubmission {
  readonly action: string;
  readonly data?: JsonObject | undefined;
  readonly submittedVia:
    | "telegram_inline_button"
    | "slack_block_action"
    | "discord_component"
    | "whatsapp_reply_button"
    | "teams_adaptive_card"
    | `x-${string}`;
  readonly submittedBy: HitlSubmittedBy;
  /** The proofs the person gave (0.8), passed on untouched: an agent makes none and changes none. */
  readonly verificationEvidence?: readonly JsonObject[] | undefined;
}

/** The service took the answer. */
export interface HitlSubmitted {
  readonly caseId: string;
  readonly completedAt: Date | undefined;
  readonly nextCaseId: string | undefined;
}

/** What to do in each round. */
export interface HitlRounds {
  /** The first request. */
  readonly request: JsonObject;
  /** Sends a request to the service. */
  readonly send: (request: JsonObject) => Promise<Response>;
  /** Makes the next request after an `edit`; `undefined` leaves it at that. */
  readonly revise: (request: JsonObject, edit: HitlCompleted) => JsonObject | undefined | Promise<JsonObject | undefined>;
  readonly notify: HitlNotify;
  readonly signal?: AbortSignal | undefined;
}

/** How it ended, after however many rounds: with a case, or with an answer that needed nobody. */
export type HitlRoundsEnd =
  | { readonly caseId: string; readonly outcome: HitlOutcome; readonly response?: undefined }
  | { readonly response: Response; readonly caseId?: undefined; readonly outcome?: undefined };

const SYSTEM: HitlClock = { now: () => Date.now(), sleep };

/** Follows cases of any service. */
export class HitlFollower {
  private readonly wire: Wire;
  private readonly clock: HitlClock;

  constructor(options: HitlFollowerOptions = {}) {
    const { authorization, fetch = globalThis.fetch, clock = SYSTEM } = only(options, OPTIONS);
    this.wire = new Wire(fetch, authorization);
    this.clock = clock;
  }

  /**
   * Tells the person, and waits until the case is over. `notify` is called once now and once for each
   * reminder; it is the only way to the person, and nothing is ever decided for them. Without it,
   * somebody else tells them.
   */
  async follow(hitlCase: HitlCase, notify?: HitlNotify, options: { signal?: AbortSignal } = {}): Promise<HitlOutcome> {
    const following = new Following(this.wire, hitlCase, this.clock, notify, options.signal);
    await following.tell(false);
    return following.untilOver();
  }

  /**
   * Sends a request and follows what comes of it. For as long as the person asks for an `edit`,
   * `revise` makes the next request, which is sent with `previous_case_id`. The addresses of the next
   * case come with its own 202; if the service continued the case by itself, `revise` sees that in
   * `nextCaseId`.
   */
  async rounds({ request, send, revise, notify, signal }: HitlRounds): Promise<HitlRoundsEnd> {
    for (let body = request; ; ) {
      const response = await send(body);
      const hitlCase = await HitlCase.of(response);
      if (!hitlCase) return { response };
      const outcome = await this.follow(hitlCase, notify, signal ? { signal } : {});
      const { caseId } = hitlCase;
      const isEdit = outcome.status === "completed" && outcome.action === "edit";
      const revised = isEdit ? await revise(body, outcome) : undefined;
      if (!revised) return { caseId, outcome };
      body = { ...revised, previous_case_id: caseId };
    }
  }

  /**
   * Passes on what a person pressed. Call it from the handler of their press and from nowhere else. It
   * is sent once: after a failure that may have come too late, following the case tells what is so.
   * Where a proof is missing or does not count it throws `HitlVerificationError`.
   */
  async submit(hitlCase: HitlCase, submission: HitlSubmission, options: { signal?: AbortSignal } = {}): Promise<HitlSubmitted> {
    const { url, token } = hitlCase.inline(submission.action);
    const { platform, platformUserId, displayName } = submission.submittedBy;
    if (platformUserId === "") throw new TypeError("submittedBy.platformUserId is empty");
    const evidence = submission.verificationEvidence ?? [];
    const body = {
      action: submission.action,
      data: submission.data ?? {},
      submitted_via: submission.submittedVia,
      submitted_by: {
        platform,
        platform_user_id: platformUserId,
        ...(displayName !== undefined && { display_name: displayName }),
      },
      ...(evidence.length > 0 && { verification_evidence: [...evidence] }),
    };
    const reply = await this.wire.post(url, token, stringifyJson(body), options.signal);
    const said = readObject(reply.text);
    const caseId = said?.["case_id"];
    if (!said || typeof caseId !== "string") throw malformed("the response to a submit names no case");
    const next = said["next_case_id"];
    return { caseId, completedAt: moment(said["completed_at"]), nextCaseId: typeof next === "string" ? next : undefined };
  }
}
