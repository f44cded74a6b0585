/**
 * Waiting for one ask: over its event stream, and by long polling where streams do not get through.
 * Interruptions are slept through; only time, the caller or a definite no of the server end a wait.
 */

import { limit, sleep } from "./abort.js";
import { CountersignError, WaitTimeout } from "./errors.js";
import { parseJson } from "./json.js";
import { type Names, only } from "./options.js";
import { isOver } from "./outcome.js";
import { Connection, NoStream, PATIENCE, type Patience } from "./stream.js";
import { isPassing, type Transport } from "./transport.js";
import type { Ask } from "./types.js";

/** How long to wait, and who may break it off. */
export interface WaitOptions {
  /** After this, `WaitTimeout` is thrown and the ask stays open. For ever unless told. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const WAIT: Names<WaitOptions> = { timeoutMs: true, signal: true };

/** Below what most proxies let a request take; the server holds up to 60 s. */
const HOLD_SECONDS = 25;
/** So often in a row a stream may break off before polling takes over. */
const MOST_BREAKS = 3;
/** Polls that come back at once with nothing new are spaced by this. */
const LEAST_POLL_MS = 1000;
/** The longest pause, whatever the server asks for: a finished ask must not go unnoticed. */
const LONGEST_PAUSE_MS = 60_000;

/** The path of an ask. */
export function askPath(id: string): string {
  if (!/^[A-Za-z0-9_-]+$/.test(id)) throw new TypeError(`not the ID of an ask: ${JSON.stringify(id)}`);
  return `/api/v1/asks/${id}`;
}

/** Waits until the ask is over and gives it with its receipt. */
export async function waitFor(
  transport: Transport,
  id: string,
  options: WaitOptions,
  patience: Patience = PATIENCE,
): Promise<Ask> {
  const time = limit(only(options, WAIT).signal, options.timeoutMs);
  try {
    return await new Waiting(transport, askPath(id), time.signal, patience).end();
  } catch (error) {
    if (time.timedOut) throw new WaitTimeout(id, options.timeoutMs ?? 0);
    throw error;
  } finally {
    time.done();
  }
}

class Waiting {
  private streaming = true;
  /** Interruptions in a row. */
  private breaks = 0;
  private tag: string | undefined;

  constructor(
    private readonly transport: Transport,
    private readonly path: string,
    private readonly signal: AbortSignal,
    private readonly patience: Patience,
  ) {}

  async end(): Promise<Ask> {
    for (;;) {
      const ask = await (this.streaming ? this.follow() : this.poll());
      if (ask?.receipt) return ask;
      // The stream may leave out the receipt; the ask itself has it.
      if (ask) return this.transport.json<Ask>(this.path, { signal: this.signal });
    }
  }

  /** One connection to the stream: the ask if it is over, `undefined` if we have to go on. */
  private async follow(): Promise<Ask | undefined> {
    const connection = new Connection(this.transport, `${this.path}/events`, this.signal, this.patience);
    let error: unknown;
    try {
      for await (const { data } of connection.events()) {
        const ask = (parseJson(data) as { ask?: Ask } | null)?.ask;
        if (ask && isOver(ask)) return ask;
        if (ask) this.breaks = 0;
      }
    } catch (caught) {
      error = caught;
    }
    this.signal.throwIfAborted();
    this.breaks += 1;
    if (error instanceof NoStream || isNoStream(error) || this.breaks >= MOST_BREAKS) {
      // Whether it is the stream or the ask that is missing, polling finds out.
      this.streaming = false;
    } else if (error instanceof CountersignError && !isPassing(error)) {
      throw error;
    } else {
      await this.pause(error, connection.retryMs);
    }
    return undefined;
  }

  /** One poll: the ask if it is over, `undefined` if we have to go on. */
  private async poll(): Promise<Ask | undefined> {
    const started = performance.now();
    try {
      const reply = await this.transport.send(this.path, {
        headers: { prefer: `wait=${HOLD_SECONDS}`, ...(this.tag !== undefined && { "if-none-match": this.tag }) },
        timeoutMs: (HOLD_SECONDS + 10) * 1000,
        retries: 0,
        signal: this.signal,
      });
      this.breaks = 0;
      const ask = reply.status === 304 ? undefined : this.transport.read<Ask>(reply);
      if (ask && isOver(ask)) return ask;
      const tag = reply.headers.get("etag") ?? undefined;
      const isNews = reply.status !== 304 && tag !== this.tag;
      this.tag = tag ?? this.tag;
      const left = LEAST_POLL_MS - (performance.now() - started);
      if (!isNews && left > 0) await sleep(left, this.signal);
    } catch (error) {
      this.signal.throwIfAborted();
      if (!isPassing(error)) throw error;
      this.breaks += 1;
      await this.pause(error, 0);
    }
    return undefined;
  }

  private async pause(error: unknown, retryMs: number): Promise<void> {
    const asked = error instanceof CountersignError ? (error.retryAfterMs ?? 0) : retryMs;
    const ms = Math.max(asked, this.transport.delay(Math.min(this.breaks, 10) - 1));
    await sleep(Math.min(ms, LONGEST_PAUSE_MS), this.signal);
  }
}

/** A definite no to the stream that is not about the key. */
function isNoStream(error: unknown): boolean {
  if (!(error instanceof CountersignError) || isPassing(error) || error.status === undefined) return false;
  return error.status !== 401 && error.status !== 403;
}
