/** Everything that happens to the caller's asks, as one stream that goes on where it broke off. */

import { sleep } from "./abort.js";
import { CountersignError } from "./errors.js";
import { parseJson } from "./json.js";
import { type Names, only } from "./options.js";
import { Connection, NoStream, PATIENCE, type Patience } from "./stream.js";
import { isPassing, type Transport, unreachable } from "./transport.js";
import type { AskEvent, StreamReset } from "./types.js";

/** Where to begin, and who may break it off. */
export interface EventsOptions {
  /** The position of the last event that was seen; from now on, unless told. */
  readonly after?: number | string | undefined;
  /** Called each time the stream is connected: what happens from then on is not missed. */
  readonly onReady?: (() => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

const EVENTS: Names<EventsOptions> = { after: true, onReady: true, signal: true };

/**
 * The events, for ever. Until it was connected once, it gives up like any request; afterwards it
 * comes back after every interruption, with nothing left out: a gap shows as `reset`.
 */
export async function* eventsFrom(
  transport: Transport,
  options: EventsOptions,
  retries: number,
  patience: Patience = PATIENCE,
): AsyncGenerator<AskEvent | StreamReset, void, undefined> {
  only(options, EVENTS);
  let last = options.after === undefined ? undefined : String(options.after);
  let connected = false;
  for (let breaks = 0; ; breaks += 1) {
    const connection = new Connection(transport, "/api/v1/events", options.signal, patience);
    let error: unknown;
    try {
      for await (const { event, data, id } of connection.events(last)) {
        connected = true;
        breaks = -1;
        if (event === "reset") {
          last = id === "" ? undefined : id;
          yield { event };
          continue;
        }
        if (id !== "") last = id;
        if (event === "ready") options.onReady?.();
        else yield parseJson(data) as unknown as AskEvent;
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
