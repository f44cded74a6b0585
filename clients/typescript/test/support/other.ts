/** Another service: says what it is told to, and notes what it was asked and when. */

import type { ServerResponse } from "node:http";

import { HitlCase, type HitlClock, HitlFollower, type HitlFollowerOptions, type HitlNotice } from "@countersign/client";

import { json, Local } from "./local.js";

export const START = "2026-02-06T10:00:00Z";

/** Moves when somebody sleeps. A real moment passes too, so that what is on its way arrives. */
export class TestClock implements HitlClock {
  private time = Date.parse(START);

  now(): number {
    return this.time;
  }

  async sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 20));
    signal?.throwIfAborted();
    this.time += ms;
  }

  /** Whole seconds since the beginning. */
  get seconds(): number {
    return Math.floor((this.time - Date.parse(START)) / 1000);
  }
}

/** What it says to the `n`th call of a path. */
export type Word = (response: ServerResponse) => void;

export class Other {
  readonly clock = new TestClock();
  readonly calls: { path: string; at: number; headers: Record<string, unknown>; body: string }[] = [];
  readonly told: { at: number; notice: HitlNotice }[] = [];
  private local!: Local;

  /** Answers by path, the last word again and again. */
  static async start(script: Record<string, readonly Word[]>): Promise<Other> {
    const other = new Other();
    other.local = await Local.start((request, response, body) => {
      const path = (request.url ?? "").replace(/^\/|\?.*$/g, "");
      const before = other.calls.filter((call) => call.path === path).length;
      other.calls.push({ path, at: other.clock.seconds, headers: request.headers, body });
      const words = script[path] ?? [];
      const word = words[Math.min(before, words.length - 1)];
      if (word) word(response);
      else json(response, 500, {});
    });
    return other;
  }

  get url(): string {
    return this.local.url;
  }

  close(): Promise<void> {
    return this.local.close();
  }

  /** The 202 of a case that lasts an hour. */
  accepted(more: Record<string, unknown> = {}): { status: string; message: string; hitl: Record<string, unknown> } {
    return {
      status: "human_input_required",
      message: "Somebody has to look at this.",
      hitl: {
        spec_version: "0.7",
        case_id: "review_1",
        type: "approval",
        prompt: "Well?",
        review_url: `${this.url}/review/1?token=review`,
        poll_url: `${this.url}/status?token=poll`,
        created_at: START,
        expires_at: "2026-02-06T11:00:00Z",
        default_action: "reject",
        ...more,
      },
    };
  }

  case(more: Record<string, unknown> = {}, retryAfterMs?: number): HitlCase {
    const found = HitlCase.recognise(202, this.accepted(more), retryAfterMs);
    if (!found) throw new Error("no case");
    return found;
  }

  follower(options: HitlFollowerOptions = {}): HitlFollower {
    return new HitlFollower({ clock: this.clock, ...options });
  }

  readonly notify = (notice: HitlNotice): void => void this.told.push({ at: this.clock.seconds, notice });

  get notices(): [number, boolean][] {
    return this.told.map(({ at, notice }) => [at, notice.isReminder]);
  }

  times(path: string): number[] {
    return this.calls.filter((call) => call.path === path).map(({ at }) => at);
  }

  header(path: string, name: string): unknown[] {
    return this.calls.filter((call) => call.path === path).map(({ headers }) => headers[name]);
  }
}

export const PENDING = { status: "pending", case_id: "review_1" };

export function completed(action = "approve", more: object = {}): object {
  return {
    status: "completed",
    case_id: "review_1",
    completed_at: "2026-02-06T10:05:00Z",
    result: { action, data: { feedback: "fine" } },
    responded_by: { name: "Ada" },
    ...more,
  };
}

/** A word in JSON. */
export function says(body: unknown, status = 200, headers: Record<string, string> = {}): Word {
  return (response) => (status === 304 ? void response.writeHead(304, headers).end() : json(response, status, body, headers));
}

/** A word in plain text. */
export function text(status: number, body = ""): Word {
  return (response) => void response.writeHead(status, { "content-type": "text/html" }).end(body);
}

/** A stream that says this and then stays open, or ends. */
export function streams(said: string, ends = false): Word {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    response.flushHeaders();
    response.write(said === "" ? ": hi\n\n" : said);
    if (ends) response.end();
  };
}

export function event(name: string, id: string, data: object = {}): string {
  return `id: ${id}\nevent: review.${name}\ndata: ${JSON.stringify({ case_id: "review_1", ...data })}\n\n`;
}
