/** An event stream that goes on where it broke off. */

import { sleep } from "./abort.js";
import { CountersignError } from "./errors.js";
import type { EventsOptions } from "./events.js";
import type { SseEvent } from "./sse.js";
import { Connection, NoStream, PATIENCE, type Patience } from "./stream.js";
import { isPassing, type Transport, unreachable } from "./transport.js";

/** One event as it came. */
export type Named = SseEvent;

/**
 * The events, for ever. Until it was connected once, it gives up like any request; afterwards it
 * comes back after every interruption, with nothing left out: a gap shows as `reset`.
 */
export async function* resumed(
  transport: Transport,
  path: string,
  options: EventsOptions,
  retries: number,
  patience: Patience = PATIENCE,
): AsyncGenerator<Named, void, undefined> {
  let last = options.after === undefined ? undefined : String(options.after);
  let connected = false;
  for (let breaks = 0; ; breaks += 1) {
    const connection = new Connection(transport, path, options.signal, patience);
    let error: unknown;
    try {
      for await (const frame of connection.events(last)) {
        connected = true;
        breaks = -1;
        const { event, id } = frame;
        if (event === "reset") last = id === "" ? undefined : id;
        else if (id !== "") last = id;
        if (event === "ready") options.onReady?.();
        else yield frame;
      }
    } catch (caught) {
      options.signal?.throwIfAborted();
      if (caught instanceof CountersignError && !isPassing(caught)) throw caught;
      error = caught;
    }
    if (!connected && breaks >= retries) {
      if (error instanceof CountersignError) throw error;
      const why = error instanceof NoStream ? `its event stream does not get through (${error.message})` : String(error);
      throw unreachable(transport.url, why, error);
    }
    const asked = error instanceof CountersignError ? (error.retryAfterMs ?? 0) : connection.retryMs;
    await sleep(Math.max(asked, transport.delay(Math.min(Math.max(breaks, 0), 10))), options.signal);
  }
}
