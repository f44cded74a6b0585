/** Everything that happens to the caller's asks, as one stream. */

import { parseJson } from "./json.js";
import { type Names, only } from "./options.js";
import { resumed } from "./resumed.js";
import type { Patience } from "./stream.js";
import type { Transport } from "./transport.js";
import type { AskEvent, StreamReset } from "./types.js";

/** Where to begin, and who may break it off. */
export interface EventsOptions {
  /** The position of the last event that was seen; from now on, unless told. */
  readonly after?: number | string | undefined;
  /** Called each time the stream is connected: what happens from then on is not missed. */
  readonly onReady?: (() => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export const EVENTS: Names<EventsOptions> = { after: true, onReady: true, signal: true };

/** The events, for ever; see `resumed`. */
export async function* eventsFrom(
  transport: Transport,
  options: EventsOptions,
  retries: number,
  patience?: Patience,
): AsyncGenerator<AskEvent | StreamReset, void, undefined> {
  only(options, EVENTS);
  for await (const { event, data } of resumed(transport, "/api/v1/events", options, retries, patience)) {
    if (event === "reset") yield { event };
    else yield parseJson(data) as unknown as AskEvent;
  }
}
