/** Waiting that can be broken off. */

/** A signal that also aborts after `ms`. Call `done` when the work is over, or a timer is left. */
export interface Limit {
  readonly signal: AbortSignal;
  /** Whether it was the time that ran out, and not the caller who gave up. */
  readonly timedOut: boolean;
  done(): void;
}

/** Limits some work by the caller's signal and by time; either may be missing. */
export function limit(signal: AbortSignal | undefined, ms: number | undefined): Limit {
  signal?.throwIfAborted();
  const controller = new AbortController();
  let timedOut = false;
  const abort = (): void => controller.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  const stop = after(ms ?? Infinity, () => {
    timedOut = true;
    controller.abort(new DOMException("the timeout was reached", "TimeoutError"));
  });
  return {
    signal: controller.signal,
    get timedOut() {
      return timedOut;
    },
    done() {
      stop();
      signal?.removeEventListener("abort", abort);
    },
  };
}

/** Waits; rejects with the signal's reason as soon as it aborts. */
export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const stop = after(ms, () => {
      signal?.removeEventListener("abort", abort);
      resolve();
    });
    const abort = (): void => {
      stop();
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", abort, { once: true });
  });
}

/** What `setTimeout` can hold; a longer delay would fire at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

function after(ms: number, run: () => void): () => void {
  if (ms === Infinity) return () => undefined;
  let timer: ReturnType<typeof setTimeout>;
  const arm = (left: number): void => {
    const step = Math.min(left, LONGEST_TIMER);
    timer = setTimeout(() => (left > step ? arm(left - step) : run()), step);
  };
  arm(ms);
  return () => clearTimeout(timer);
}

/** The work's result, unless the signal aborts first. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  signal.throwIfAborted();
  let abort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
  });
  return Promise.race([work, aborted]).finally(() => abort && signal.removeEventListener("abort", abort));
}

/** A signal that aborts with the first of several. Call `done` when the work is over, or listeners are left. */
export function firstOf(signals: readonly (AbortSignal | undefined)[]): { signal: AbortSignal | undefined; done(): void } {
  const given = signals.filter((signal) => signal !== undefined);
  if (given.length < 2) return { signal: given[0], done: () => undefined };
  const controller = new AbortController();
  const listeners = given.map((signal) => {
    const abort = (): void => controller.abort(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    return () => signal.removeEventListener("abort", abort);
  });
  return { signal: controller.signal, done: () => listeners.forEach((remove) => remove()) };
}
