/** What asking gives back: await it for the ask, `wait` for the outcome. */

import { unlessAborted } from "./abort.js";
import { Conflict } from "./errors.js";
import { type Names, only } from "./options.js";
import { type Outcome, outcomeOf } from "./outcome.js";
import type { Transport } from "./transport.js";
import type { Ask, Question } from "./types.js";
import { askPath, waitFor, type WaitOptions } from "./wait.js";

/** A way to break off. */
export interface Abortable {
  readonly signal?: AbortSignal | undefined;
}

/** How the caller gives up. */
export interface CancelOptions extends Abortable {
  readonly reason?: string | undefined;
}

export const ABORTABLE: Names<Abortable> = { signal: true };
const CANCEL: Names<CancelOptions> = { ...ABORTABLE, reason: true };

/**
 * An ask on its way. The request is sent at once. Awaiting gives the created `Ask`; `wait` gives how
 * it ended.
 */
export class Asked<O extends Outcome = Outcome> implements Promise<Ask> {
  readonly [Symbol.toStringTag] = "Asked";

  constructor(
    private readonly transport: Transport,
    /** What is asked, to hold against the receipt: `verifyReceipt(jws, jwks, { question })`. */
    readonly question: Question,
    private readonly created: Promise<Ask>,
  ) {}

  /** How the ask ended. Waits through restarts of the server and broken connections. */
  async wait(options: WaitOptions = {}): Promise<O> {
    const ask = await unlessAborted(this.created, options.signal);
    return outcomeOf(await waitFor(this.transport, ask.id, options)) as O;
  }

  /** Withdraws the ask. */
  async cancel(options: CancelOptions = {}): Promise<Ask> {
    return cancel(this.transport, (await this.created).id, options);
  }

  /** Says that the secret values of the answer have arrived: the server forgets them. */
  async acknowledge(options: Abortable = {}): Promise<void> {
    return acknowledge(this.transport, (await this.created).id, options);
  }

  then<A = Ask, B = never>(
    fulfilled?: ((ask: Ask) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.created.then(fulfilled, rejected);
  }

  catch<B = never>(rejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<Ask | B> {
    return this.created.catch(rejected);
  }

  finally(run?: (() => void) | null): Promise<Ask> {
    return this.created.finally(run);
  }
}

/** Withdraws an ask; one that was withdrawn before is fine too. */
export async function cancel(transport: Transport, id: string, options: CancelOptions): Promise<Ask> {
  const { reason, signal } = only(options, CANCEL);
  try {
    return await transport.json<Ask>(`${askPath(id)}/cancel`, { method: "POST", body: { reason }, signal });
  } catch (error) {
    // Perhaps by ourselves, by a try whose answer was lost.
    if (!(error instanceof Conflict) || error.code !== "already-cancelled") throw error;
    return transport.json<Ask>(askPath(id), { signal });
  }
}

/** Says that the secret values of an answer have arrived. To say it twice does no harm. */
export async function acknowledge(transport: Transport, id: string, options: Abortable): Promise<void> {
  await transport.send(`${askPath(id)}/acknowledge`, { method: "POST", ...only(options, ABORTABLE) });
}
