/**
 * Waiting for the end of a case: events where they are offered, polls everywhere, and the clock where
 * the service falls silent. Sections 7, 11 and 12 of the HITL protocol.
 */

import { retryAfter } from "./errors.js";
import { type HitlCase, HitlError, malformed, moment, readObject } from "./hitl-case.js";
import { hitlOutcome, type HitlOutcome } from "./hitl-outcome.js";
import { Watch } from "./hitl-watch.js";
import { isPassing, type Wire } from "./hitl-wire.js";
import type { JsonObject } from "./json.js";
import type { SseEvent } from "./sse.js";

/** What time it is in milliseconds, and waiting; a test has its own. */
export interface HitlClock {
  now(): number;
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>;
}

/** What the person is told. */
export interface HitlNotice {
  readonly caseId: string;
  readonly text: string;
  readonly reviewUrl: string;
  readonly expiresAt: Date;
  /** Whether they were told before. */
  readonly isReminder: boolean;
}

/** Tells the person. It is awaited. */
export type HitlNotify = (notice: HitlNotice) => unknown;

/** The pause between polls where the service names none; it grows while nothing happens. */
const INTERVAL = 30_000;
/** The longest pause of our own, and how often a poll backs up an open stream. */
const LONGEST = 300_000;
/** The first pause after a failure; it doubles. */
const FAILED = 5000;
/** How long after its end a case may still be called open, for clocks that disagree. */
const GRACE = 60_000;
/** When we stop asking, however long the service wants to be left alone. */
const LAST = 300_000;
/** So often in a row an answer may make no sense. */
const MOST_GARBLED = 3;
/** A service tells of a reminder a little after its time; within this it is the same one. */
const SAME = 60_000;

interface Looked {
  readonly outcome: HitlOutcome | undefined;
  readonly isNews: boolean;
  readonly askedMs: number | undefined;
}

/** One case being followed. */
export class Following {
  private readonly reminders: Reminders;
  private expiresAt: Date;
  /** Whether somebody works on it: then nobody is reminded. */
  private engaged = false;
  private tag: string | undefined;
  private said = "";
  /** When to poll next. */
  private due: number;
  /** The service does not want to be called before. */
  private notBefore: number;
  private askedMs: number | undefined;
  private idle = 0;
  private failed = 0;
  private garbled = 0;
  private askedSinceEnd = false;

  constructor(
    private readonly wire: Wire,
    private readonly hitlCase: HitlCase,
    private readonly clock: HitlClock,
    private readonly notify: HitlNotify | undefined,
    private readonly signal: AbortSignal | undefined,
  ) {
    const now = clock.now();
    this.expiresAt = hitlCase.expiresAt;
    this.reminders = new Reminders(hitlCase.reminders.map(Number), now);
    this.askedMs = hitlCase.retryAfterMs;
    // A case that is over already is looked at once, at once.
    const first = this.askedMs === undefined ? Math.min(now + INTERVAL, this.end) : now + this.askedMs;
    this.due = this.end <= now ? now : first;
    this.notBefore = now;
  }

  async tell(isReminder: boolean): Promise<void> {
    const { caseId, text, reviewUrl } = this.hitlCase;
    await this.notify?.({ caseId, text, reviewUrl, expiresAt: this.expiresAt, isReminder });
  }

  async untilOver(): Promise<HitlOutcome> {
    const { eventsUrl } = this.hitlCase;
    let watch = eventsUrl === undefined ? undefined : new Watch(this.wire, eventsUrl, this.clock, this.signal);
    try {
      for (;;) {
        this.signal?.throwIfAborted();
        const now = this.clock.now();
        if (this.reminders.takeDue(now) && !this.engaged && now < this.end) await this.tell(true);
        if (now >= this.due) {
          const outcome = await this.poll(watch?.isOpen ?? false);
          if (outcome) return outcome;
          continue;
        }
        if (now >= this.lastResort) {
          return { status: "expired", defaultAction: this.hitlCase.defaultAction, expiredAt: this.expiresAt, judgedBy: "clock" };
        }
        const ms = Math.min(this.due, this.reminders.next, this.lastResort) - now;
        if (!watch) {
          await this.clock.sleep(ms, this.signal);
          continue;
        }
        const news = await watch.listen(ms);
        if (typeof news === "string") {
          watch.close();
          watch = undefined;
          if (news === "over") this.hurry();
          continue;
        }
        for (const event of news) {
          const outcome = await this.heard(event);
          if (outcome) return await this.whole(outcome);
        }
      }
    } finally {
      watch?.close();
    }
  }

  private get end(): number {
    return this.expiresAt.getTime();
  }

  /** When the clock decides, whatever the service says or does not say. */
  private get lastResort(): number {
    return this.end + (this.askedSinceEnd ? GRACE : LAST);
  }

  /** There is something to see; as soon as the service lets us. */
  private hurry(): void {
    this.due = Math.max(this.clock.now(), this.notBefore);
  }

  /** One poll; the outcome if it is over. */
  private async poll(listening: boolean): Promise<HitlOutcome | undefined> {
    let pause: number;
    try {
      const looked = await this.look();
      if (looked.outcome) return looked.outcome;
      pause = this.pauseAfter(looked, listening);
    } catch (error) {
      this.signal?.throwIfAborted();
      pause = this.pauseAfterError(error);
    }
    const now = this.clock.now();
    this.askedSinceEnd ||= now >= this.end;
    this.due = now + Math.max(1000, pause);
    return undefined;
  }

  private pauseAfter({ isNews, askedMs }: Looked, listening: boolean): number {
    const now = this.clock.now();
    this.idle = isNews ? 0 : this.idle + 1;
    this.failed = this.garbled = 0;
    this.askedMs = askedMs;
    if (askedMs !== undefined) return listening ? Math.max(askedMs, Math.min(LONGEST, this.end - now)) : askedMs;
    if (now >= this.end) return FAILED;
    // Our own pace: the end is looked at when it comes, and soon again after.
    const own = listening ? LONGEST : Math.min(INTERVAL * 1.5 ** Math.min(this.idle, 8), LONGEST);
    return Math.min(own, this.end - now);
  }

  private pauseAfterError(error: unknown): number {
    const isMalformed = error instanceof HitlError && error.code === "malformed";
    if (isMalformed) this.garbled += 1;
    if (isMalformed ? this.garbled >= MOST_GARBLED : !isPassing(error)) throw error;
    const own = Math.min(FAILED * 2 ** Math.min(this.failed, 10), LONGEST);
    this.failed += 1;
    const asked = error instanceof HitlError ? error.retryAfterMs : undefined;
    this.notBefore = this.clock.now() + (asked ?? 0);
    return Math.max(own, asked ?? this.askedMs ?? 0);
  }

  private async look(): Promise<Looked> {
    const headers = { accept: "application/json", ...(this.tag !== undefined && { "if-none-match": this.tag }) };
    const reply = await this.wire.get(this.hitlCase.pollUrl, headers, this.signal);
    const askedMs = retryAfter(reply.headers.get("retry-after"));
    if (reply.status === 304) return { outcome: undefined, isNews: false, askedMs };
    const body = readObject(reply.text);
    const status = body?.["status"];
    if (!body || typeof status !== "string") throw malformed("the response has no status");
    this.check(body);
    this.expiresAt = moment(body["expires_at"]) ?? this.expiresAt;
    const outcome = hitlOutcome(status, body, this.terms);
    this.engaged = status === "in_progress";
    const isNews = reply.text !== this.said;
    this.said = reply.text;
    this.tag = reply.headers.get("etag") ?? undefined;
    return { outcome, isNews, askedMs };
  }

  private get terms(): { defaultAction: string; expiresAt: Date } {
    return { defaultAction: this.hitlCase.defaultAction, expiresAt: this.expiresAt };
  }

  private check(body: JsonObject): void {
    const told = body["case_id"] ?? this.hitlCase.caseId;
    if (told !== this.hitlCase.caseId) throw malformed(`the status is of case ${String(told)}, not ${this.hitlCase.caseId}`);
  }

  /** One event; the outcome if it ends the case. */
  private async heard({ event, data }: SseEvent): Promise<HitlOutcome | undefined> {
    const body = readObject(data);
    // What cannot be read, or is about something else, is left to the polls.
    if (!event.startsWith("review.") || !body || (body["case_id"] ?? this.hitlCase.caseId) !== this.hitlCase.caseId) return undefined;
    const status = event.slice("review.".length);
    if (status === "reminder") {
      const at = moment(body["reminder_at"])?.getTime() ?? this.clock.now();
      if (this.reminders.takeTold(at) && !this.engaged) await this.tell(true);
      return undefined;
    }
    this.engaged = status === "in_progress";
    try {
      return hitlOutcome(status, body, this.terms);
    } catch {
      this.hurry();
      return undefined;
    }
  }

  /** An event says less than a poll, such as who answered: one look more, if it may be had. */
  private async whole(heard: HitlOutcome): Promise<HitlOutcome> {
    if (this.clock.now() < this.notBefore) return heard;
    try {
      return (await this.look()).outcome ?? heard;
    } catch {
      this.signal?.throwIfAborted();
      return heard;
    }
  }
}

/** When to remind: at the times the case names and when the service says so, once each (HITL-160). */
class Reminders {
  private readonly given: Map<number, boolean>;

  /** What lay in the past when following began is covered by the first notice. */
  constructor(
    times: readonly number[],
    private readonly started: number,
  ) {
    this.given = new Map(times.map((at) => [at, at <= started]));
  }

  /** The next one the clock has to give. */
  get next(): number {
    return Math.min(...[...this.given].filter(([, given]) => !given).map(([at]) => at));
  }

  /** Whether one is due; several that are due together are one. */
  takeDue(now: number): boolean {
    const due = [...this.given].filter(([at, given]) => !given && at <= now);
    for (const [at] of due) this.given.set(at, true);
    return due.length > 0;
  }

  /** Whether what the service tells now is news. */
  takeTold(at: number): boolean {
    if (at <= this.started) return false;
    const same = [...this.given.keys()].find((known) => Math.abs(known - at) <= SAME) ?? at;
    const isNews = this.given.get(same) !== true;
    this.given.set(same, true);
    return isNews;
  }
}
