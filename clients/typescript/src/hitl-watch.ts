/** The stream of one case. Section 12 of the HITL protocol. */

import { HitlError } from "./hitl-case.js";
import type { HitlClock } from "./hitl-follow.js";
import { isPassing, type Wire } from "./hitl-wire.js";
import { type SseEvent, SseParser } from "./sse.js";

/** A stream that says nothing for this long may be dead; opening it again costs little. */
const SILENCE_MS = 90_000;
/** So often in a row a stream may fail before polls alone have to do. */
const MOST_FAILURES = 5;
/** The pause before a stream is opened again, unless the service names one; it doubles. */
const PAUSE_MS = 2000;
const LONGEST_PAUSE_MS = 60_000;

/** What came of listening: events, the word that it is over, or that there is no stream to be had. */
export type News = readonly SseEvent[] | "over" | "no-stream";

type Piece = Awaited<ReturnType<ReadableStreamDefaultReader<Uint8Array>["read"]>>;

/** The stream, open or about to be opened again. */
export class Watch {
  private open: { reader: ReadableStreamDefaultReader<Uint8Array>; parser: SseParser; next: Promise<Piece | "broken"> } | undefined;
  private connection: AbortController | undefined;
  private last = "";
  private heardAt: number;
  private reopenAt: number;
  private pauseMs = PAUSE_MS;
  private failures = 0;

  constructor(
    private readonly wire: Wire,
    private readonly url: string,
    private readonly clock: HitlClock,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.heardAt = this.reopenAt = clock.now();
  }

  /** Whether something would be heard if it happened. */
  get isOpen(): boolean {
    return this.open !== undefined;
  }

  /** Listens, for `ms` at the longest. */
  async listen(ms: number): Promise<News> {
    const now = this.clock.now();
    const { open } = this;
    if (!open) {
      if (now >= this.reopenAt) return this.connect();
      await this.clock.sleep(Math.min(this.reopenAt - now, ms), this.signal);
      return [];
    }
    const timer = new AbortController();
    const stop = (): void => timer.abort(this.signal?.reason);
    this.signal?.addEventListener("abort", stop, { once: true });
    const length = Math.max(0, Math.min(ms, this.heardAt + SILENCE_MS - now));
    const silence = this.clock.sleep(length, timer.signal).then(() => "silence" as const, () => "silence" as const);
    // The read that loses goes on; it is asked again next time.
    const piece = await Promise.race([open.next, silence]);
    this.signal?.removeEventListener("abort", stop);
    timer.abort();
    this.signal?.throwIfAborted();
    if (piece === "silence") {
      if (this.clock.now() >= this.heardAt + SILENCE_MS) this.close();
      return [];
    }
    if (piece === "broken" || piece.done) return this.broken(undefined);
    this.heardAt = this.clock.now();
    open.next = pieces(open.reader);
    const events = open.parser.push(piece.value);
    this.pauseMs = Math.min(open.parser.retryMs ?? this.pauseMs, LONGEST_PAUSE_MS);
    if (events.length > 0) this.failures = 0;
    this.last = events.at(-1)?.id || this.last;
    return events;
  }

  /** Ends the connection. */
  close(): void {
    this.connection?.abort();
    this.connection = this.open = undefined;
    this.heardAt = this.clock.now();
  }

  private async connect(): Promise<News> {
    const connection = new AbortController();
    this.connection = connection;
    const abort = (): void => connection.abort(this.signal?.reason);
    this.signal?.addEventListener("abort", abort, { once: true });
    try {
      const headers = { accept: "text/event-stream", ...(this.last !== "" && { "last-event-id": this.last }) };
      const response = await this.wire.open(this.url, headers, connection.signal);
      if (response.status === 204) return "over";
      if (response.status !== 200 || !response.headers.get("content-type")?.startsWith("text/event-stream") || !response.body) {
        // Somebody else's page: polls find out.
        this.close();
        return "no-stream";
      }
      const reader = response.body.getReader();
      this.open = { reader, parser: new SseParser(), next: pieces(reader) };
      this.heardAt = this.clock.now();
      return [];
    } catch (error) {
      this.signal?.throwIfAborted();
      if (error instanceof HitlError && !isPassing(error)) return "no-stream";
      return this.broken(error);
    } finally {
      this.signal?.removeEventListener("abort", abort);
    }
  }

  /** It ended or did not begin; it is opened again later, each time a little later. */
  private broken(error: unknown): News {
    this.close();
    this.failures += 1;
    if (this.failures > MOST_FAILURES) return "no-stream";
    const asked = error instanceof HitlError ? (error.retryAfterMs ?? 0) : 0;
    const pause = Math.min(this.pauseMs * 2 ** (this.failures - 1), LONGEST_PAUSE_MS);
    this.reopenAt = this.clock.now() + Math.max(pause, asked);
    return [];
  }
}

async function pieces(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Piece | "broken"> {
  try {
    return await reader.read();
  } catch {
    return "broken";
  }
}
