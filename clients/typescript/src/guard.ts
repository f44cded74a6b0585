/** Functions that run only after a person approved the very call. */

import { firstOf } from "./abort.js";
import { explicitKey, onlyCounts, toolCallKey } from "./approval-key.js";
import type { Countersign } from "./client.js";
import { Details, UnusableEdits } from "./details.js";
import { Conflict, CountersignError, Denied, KeyReused } from "./errors.js";
import { type Names, only } from "./options.js";
import { type ApproveOutcome, reasonOf } from "./outcome.js";
import { ASK, type QuestionOptions } from "./questions.js";
import { type ToolCall, toolCallOf } from "./tool-call.js";

/** How to ask before a function runs. */
export interface GuardOptions<A extends readonly unknown[] = readonly unknown[]>
  extends Omit<QuestionOptions, "idempotencyKey" | "follows"> {
  /** What the function is called to the person; its own name, unless told. */
  readonly name?: string | undefined;
  /**
   * Identifies the call across restarts, such as an order's id, or thread and tool-call id. A restarted agent that
   * repeats the call with the same key waits for the open question, or gets the answer that was given meanwhile. A
   * function may return `undefined` for a new question each time. Without this option, the tool-call id is used where
   * the framework passes it on (Vercel AI SDK, LangChain, OpenAI Agents). The same key with other arguments throws
   * `KeyReused`.
   */
  readonly key?: string | ((...args: A) => string | undefined) | undefined;
  /** Separates equal keys of different conversations or deployments, such as the id of a chat. */
  readonly namespace?: string | ((...args: A) => string | undefined) | undefined;
  /** The question; "Run <name>?" unless told. */
  readonly prompt?: string | ((...args: A) => string) | undefined;
  /**
   * The names under which positional arguments are shown, as Python shows them. Arguments beyond these are not shown
   * and reach the function as they are. A function that takes one object needs no names: its members have them.
   */
  readonly parameters?: readonly string[] | undefined;
  /** Parameters, or members of a single object, that the person does not see. The function gets them all the same. */
  readonly hide?: readonly string[] | undefined;
  /** Whether the person may edit the arguments. Declare it only if any arguments of the right type will do. */
  readonly editable?: boolean | undefined;
  readonly rejectRequiresReason?: boolean | undefined;
  /** Throw `Denied`, or return why as text, for a model to read. */
  readonly onDenied?: "throw" | "return" | undefined;
  /** How long to wait; then `WaitTimeout` is thrown. For ever, unless told. */
  readonly waitTimeoutMs?: number | undefined;
  /**
   * What happens to the question when the call stops waiting before there is an answer, because of `waitTimeoutMs` or
   * a signal: `"cancel"` withdraws it, so that nobody approves what will never run; `"keep"` leaves it open, for a
   * call with the same key to come back to. `"keep"` with a `key` of your own, `"cancel"` otherwise.
   */
  readonly onStop?: "cancel" | "keep" | undefined;
}

const { idempotencyKey, follows, ...EACH_CALL } = ASK;
const GUARD: Names<GuardOptions> = {
  ...EACH_CALL,
  context: true,
  name: true,
  key: true,
  namespace: true,
  prompt: true,
  parameters: true,
  hide: true,
  editable: true,
  rejectRequiresReason: true,
  onDenied: true,
  waitTimeoutMs: true,
  onStop: true,
};

/** A function that asks first. */
export type Guarded<A extends readonly unknown[], R> = (...args: A) => Promise<R>;

/** How long giving up may take. */
const LONGEST_GOODBYE_MS = 5000;

export function guard<A extends readonly unknown[], R>(
  client: Pick<Countersign, "approve" | "cancel">,
  run: (...args: A) => R,
  options: GuardOptions<A>,
): Guarded<A, Awaited<R> | string> {
  const { name: given, key, namespace, prompt, parameters, hide, onDenied, waitTimeoutMs, onStop, ...rest } = only(
    options,
    GUARD,
  );
  const name = given ?? run.name;
  if (name === "") throw new TypeError("a function without a name requires the option `name`, which the person sees");
  const isKept = (onStop ?? (key === undefined ? "cancel" : "keep")) === "keep";

  return async (...args: A): Promise<Awaited<R> | string> => {
    const call = parameters ? { ...toolCallOf(args), inputs: parameters.length } : toolCallOf(args);
    const idempotencyKey = await keyOf(name, args, options, call);
    // Arguments after the input are the framework's. They reach the function and are never sent.
    const inputs = args.slice(0, call.inputs);
    const details = detailsOf(name, inputs, { parameters, hide, inOrder: idempotencyKey !== undefined });
    const question = typeof prompt === "function" ? prompt(...args) : (prompt ?? `Run ${name}?`);

    const stop = firstOf([options.signal, call.signal]);
    let outcome: ApproveOutcome;
    try {
      const asked = client.approve(question, { ...rest, signal: stop.signal, idempotencyKey, details: details.shown });
      outcome = await asked.wait({ timeoutMs: waitTimeoutMs, signal: stop.signal }).catch(async (error: unknown) => {
        if (isMismatch(error) && idempotencyKey !== undefined) throw new KeyReused(name, idempotencyKey, error);
        if (!isKept) {
          // Nobody must approve what will never run.
          const signal = AbortSignal.timeout(LONGEST_GOODBYE_MS);
          await asked.cancel({ reason: "the agent stopped waiting", signal }).catch(() => undefined);
        }
        throw error;
      });
    } finally {
      stop.done();
    }

    if (outcome.verdict === "approved") {
      const used = argumentsFor(name, details, outcome.edits, options.editable === true);
      // A trailing `undefined` was cut off; what the framework passed stays where it was.
      const missing = Array.from({ length: inputs.length - used.length }, () => undefined);
      return (await run(...([...used, ...missing, ...args.slice(call.inputs)] as unknown as A))) as Awaited<R>;
    }
    const denied = new Denied(reasonOf(outcome), outcome);
    if (onDenied === "return") return denied.message;
    throw denied;
  };
}

/** The idempotency key of this call; `undefined` for a call that a restart cannot repeat. */
async function keyOf<A extends readonly unknown[]>(
  name: string,
  args: A,
  options: GuardOptions<A>,
  { toolCallId, threadId }: ToolCall,
): Promise<string | undefined> {
  const text = (option: "key" | "namespace"): string | undefined => {
    const given = options[option];
    const found: unknown = typeof given === "function" ? given(...args) : given;
    if (found === undefined || (typeof found === "string" && found !== "")) return found;
    throw new TypeError(`${option} of ${name} must be a non-empty string, not ${JSON.stringify(found)}`);
  };
  const namespace = text("namespace") ?? "";
  if (options.key !== undefined) {
    const key = text("key");
    return key === undefined ? undefined : explicitKey(namespace, name, key);
  }
  if (toolCallId === undefined || toolCallId === "" || onlyCounts(toolCallId)) return undefined;
  return toolCallKey(namespace, name, threadId ?? "", toolCallId);
}

function detailsOf(name: string, inputs: readonly unknown[], options: ConstructorParameters<typeof Details>[1]): Details {
  try {
    return new Details(inputs, options);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new TypeError(`${name} cannot be shown to a person: ${why}`, { cause });
  }
}

/** The arguments as the person changed them, if they can be used; nothing is run otherwise. */
function argumentsFor(
  name: string,
  details: Details,
  edits: Extract<ApproveOutcome, { verdict: "approved" }>["edits"],
  editable: boolean,
): readonly unknown[] {
  try {
    if (edits && !editable) throw new UnusableEdits("edits were not declared with `editable: true`");
    return details.arguments(edits);
  } catch (error) {
    if (!(error instanceof UnusableEdits)) throw error;
    const detail = `${name} was approved with edits that cannot be used: ${error.message}`;
    throw new CountersignError(`${detail}; it was not run. Ask again.`, { code: "unusable-edits", detail });
  }
}

function isMismatch(error: unknown): error is Conflict {
  return error instanceof Conflict && error.code === "idempotency-mismatch";
}
