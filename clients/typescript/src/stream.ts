/** One connection to an event stream of the server, watched for signs of life. */

import { type SseEvent, SseParser } from "./sse.js";
import type { Transport } from "./transport.js";

/** How long a stream may be silent: until its first bytes, and between two pieces. */
export interface Patience {
  readonly firstMs: number;
  readonly idleMs: number;
}

/** The server sends a sign of life every 15 s; a proxy that holds streams back shows at once. */
export const PATIENCE: Patience = { firstMs: 10_000, idleMs: 40_000 };

/** Nothing came for too long: the connection is dead. */
export class Silent extends Error {}

/** Streams do not get through: something on the way answers in its own words or holds them back. */
export class NoStream extends Error {}

/** A connection that is about to be made. */
export class Connection {
  private readonly parser = new SseParser();

  constructor(
    private readonly transport: Transport,
    private readonly path: string,
    private readonly signal: AbortSignal | undefined,
    private readonly patience: Patience,
  ) {}

  /** How long the server wants us to wait before we come back. */
  get retryMs(): number {
    return this.parser.retryMs ?? 0;
  }

  /** The events until the stream ends. However the loop is left, the connection is closed. */
  async *events(lastEventId?: string): AsyncGenerator<SseEvent, void, undefined> {
    this.signal?.throwIfAborted();
    const closing = new AbortController();
    const close = (): void => closing.abort(this.signal?.reason);
    this.signal?.addEventListener("abort", close, { once: true });
    try {
      const opening = this.transport.open(
        this.path,
        {
          headers: {
            accept: "text/event-stream",
            ...(lastEventId !== undefined && { "last-event-id": lastEventId }),
          },
        },
        closing.signal,
      );
      const { firstMs, idleMs } = this.patience;
      const response = await within(firstMs, opening, () => new NoStream("no answer"));
      const body = response.body;
      if (!response.headers.get("content-type")?.startsWith("text/event-stream") || !body) {
        throw new NoStream("the response is not an event stream");
      }
      const reader = body.getReader();
      for (let alive = false; ; alive = true) {
        const silent = (): Error => (alive ? new Silent("silence") : new NoStream("no data from the start"));
        // Comments count: they are sent for this.
        const { done, value } = await within(alive ? idleMs : firstMs, reader.read(), silent);
        if (done) return;
        yield* this.parser.push(value);
      }
    } finally {
      this.signal?.removeEventListener("abort", close);
      closing.abort();
    }
  }
}

async function within<T>(ms: number, work: Promise<T>, error: () => Error): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(error()), ms);
  });
  // If the time wins, how the work ends is nobody's business.
  work.catch(() => undefined);
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
