/** Functions that run only after a person approved the very call. */

import type { Countersign } from "./client.js";
import { CountersignError, Denied } from "./errors.js";
import { copyJson, type JsonObject, type JsonValue } from "./json.js";
import { type Names, only } from "./options.js";
import { type Approved, reasonOf } from "./outcome.js";
import { ASK, type QuestionOptions } from "./questions.js";

/** How to ask before a function runs. */
export interface GuardOptions<A extends readonly unknown[] = readonly unknown[]>
  extends Omit<QuestionOptions, "idempotencyKey" | "follows"> {
  /** What the function is called to the person; its own name, unless told. */
  readonly name?: string | undefined;
  /** The question; "Run <name>?" unless told. */
  readonly prompt?: string | ((...args: A) => string) | undefined;
  /** Whether the person may edit the arguments. Declare it only if any arguments of the right type will do. */
  readonly editable?: boolean | undefined;
  readonly rejectRequiresReason?: boolean | undefined;
  /** Throw `Denied`, or return why as text, for a model to read. */
  readonly onDenied?: "throw" | "return" | undefined;
  /** How long to wait; then the ask is cancelled and `WaitTimeout` thrown. For ever, unless told. */
  readonly waitTimeoutMs?: number | undefined;
}

const { idempotencyKey, follows, ...EACH_CALL } = ASK;
const GUARD: Names<GuardOptions> = {
  ...EACH_CALL,
  context: true,
  name: true,
  prompt: true,
  editable: true,
  rejectRequiresReason: true,
  onDenied: true,
  waitTimeoutMs: true,
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
  const { name: given, prompt, onDenied, waitTimeoutMs, ...rest } = only(options, GUARD);
  const name = given ?? run.name;
  if (name === "") throw new TypeError("a function without a name needs the option `name`, for the person to read");
  return async (...args: A): Promise<Awaited<R> | string> => {
    // Seen and run are the same copy: the caller's objects may change while the person thinks.
    const shown = copy(name, args);
    const details: JsonObject = { function: name, arguments: shown.length === 1 && isObject(shown[0]) ? shown[0] : shown };
    const question = typeof prompt === "function" ? prompt(...args) : (prompt ?? `Run ${name}?`);
    const asked = client.approve(question, { ...rest, details });
    const outcome = await asked.wait({ timeoutMs: waitTimeoutMs, signal: options.signal }).catch(async (error: unknown) => {
      // Nobody must approve what will never run.
      const signal = AbortSignal.timeout(LONGEST_GOODBYE_MS);
      await asked.cancel({ reason: "the agent stopped waiting", signal }).catch(() => undefined);
      throw error;
    });
    if (outcome.verdict === "approved") {
      const used = outcome.edits ? edited(name, outcome, options.editable === true, details) : shown;
      return (await run(...(used as unknown as A))) as Awaited<R>;
    }
    const denied = new Denied(reasonOf(outcome), outcome);
    if (onDenied === "return") return denied.message;
    throw denied;
  };
}

/** The arguments as the person changed them, if they can be used; nothing is run otherwise. */
function edited(name: string, { edits }: Approved, editable: boolean, details: JsonObject): readonly JsonValue[] {
  const unusable = (why: string): never => {
    const detail = `${name} was approved with edits that cannot be used: ${why}`;
    throw new CountersignError(`${detail}; it was not run. Ask again.`, { code: "unusable-edits", detail });
  };
  if (!editable) unusable("edits were not declared with `editable: true`");
  const { function: named, arguments: args, ...others } = edits ?? {};
  if (named !== undefined && named !== name) unusable("they name another function");
  if (Object.keys(others).length > 0) unusable(`they add ${Object.keys(others).join(", ")} beside the arguments`);
  const before = details["arguments"];
  if (isObject(before)) return isObject(args) ? [args] : unusable("the arguments are no longer an object");
  if (!Array.isArray(args) || !Array.isArray(before)) return unusable("the arguments are no longer a list");
  return args.length === before.length ? args : unusable("the number of arguments changed");
}

function copy(name: string, args: readonly unknown[]): readonly JsonValue[] {
  try {
    let given = args.length;
    while (given > 0 && args[given - 1] === undefined) given -= 1;
    return copyJson(args.slice(0, given)) as readonly JsonValue[];
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new TypeError(`${name} cannot be shown to a person: argument ${why}. Take plain JSON as arguments.`, { cause });
  }
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
