/** Calls that keep their name over a restart, and what of a call a person sees. */

import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import {
  type Ask,
  Conflict,
  type Countersign,
  CountersignError,
  type GuardOptions,
  type JsonObject,
  type JsonValue,
  KeyReused,
  parseJson,
  WaitTimeout,
} from "@countersign/client";
import { explicitKey, onlyCounts, toolCallKey } from "#dist/approval-key.js";

import { answered, eventually, frame, json, Local, open, problem, stream } from "./support/local.js";
import { vectors } from "./support/vectors.js";

const CALL_ID = "call_Zx81kQwPq0";
const VECTORS = vectors("approvals") as unknown as {
  details: readonly Case[];
  edits: readonly (Case & { edits: JsonObject; run?: JsonValue; run_arguments?: JsonValue; refused?: string })[];
  keys: readonly Record<"tool" | "namespace" | "key" | "thread" | "call_id" | "idempotency_key" | "what", string>[];
  counting_ids: { counting: readonly string[]; unique: readonly string[] };
};

interface Case {
  readonly what: string;
  readonly input?: JsonObject;
  readonly arguments?: readonly JsonValue[];
  readonly parameters?: readonly string[];
  readonly hide?: readonly string[];
  readonly details: JsonObject;
}

let local: Local;
let client: Countersign;
let ending: Ask | undefined;

beforeEach(async () => {
  ending = answered({ verdict: "approved" });
  local = await Local.start((request, response) => {
    if (!request.url?.endsWith("/events")) return json(response, 201, open());
    stream(response, frame("asked", open()));
    if (ending) response.end(frame("answered", ending));
  });
  client = local.client();
});
afterEach(() => local.close());

const creates = (): { key: string; body: string; details: unknown; prompt: string }[] =>
  local.seen
    .filter(({ method, path }) => method === "POST" && path === "/api/v1/asks")
    .map(({ headers, body }) => {
      const { details = {}, prompt } = (JSON.parse(body) as { question: { details?: unknown; prompt: string } }).question;
      return { key: String(headers["idempotency-key"]), body, details, prompt };
    });

/** A value of the vectors as JavaScript has it. */
function decoded(value: JsonValue | undefined): unknown {
  if (Array.isArray(value)) return value.map(decoded);
  if (typeof value !== "object" || value === null) return value;
  const { $type: type, of } = value as { $type?: string; of?: JsonValue };
  switch (type) {
    case undefined:
      return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, decoded(member as JsonValue)]));
    case "moment":
      return new Date(String(of));
    case "number":
      return Number(of);
    case "integer":
      return BigInt(String(of));
    case "bytes":
      return new Uint8Array(of as number[]);
    case "set":
      return new Set(of as string[]);
    case "map":
      return new Map(of as [unknown, unknown][]);
    case "function":
      return Object.defineProperty(() => undefined, "name", { value: of });
    case "object":
      return new (Object.defineProperty(class {}, "name", { value: of }))();
    case "printed":
      return new (class {
        toString(): string {
          return String(of);
        }
      })();
    default:
      throw new Error(`an unknown type of the vectors: ${type}`);
  }
}

/** Makes the call of a case; gives what the function got. */
async function called(one: Case, options: GuardOptions = {}): Promise<unknown[]> {
  const got = client.requireApproval((...args: unknown[]) => args, {
    name: "tool",
    parameters: one.parameters,
    hide: one.hide,
    ...options,
  });
  return one.input ? got(decoded(one.input)) : got(...(decoded(one.arguments) as unknown[]));
}

test("a person sees the same in every language", async () => {
  assert.ok(VECTORS.details.length > 20);
  for (const [n, one] of VECTORS.details.entries()) {
    await called(one);
    const { body } = creates()[n] ?? assert.fail();
    // Read with the client's own reader: JSON.parse rounds numbers of 64 bits.
    const { question } = parseJson(body) as { question: { details?: JsonObject } };
    assert.deepEqual(question.details ?? {}, one.details, one.what);
  }
});

test("edits are taken the same in every language", async () => {
  assert.ok(VECTORS.edits.length > 15);
  for (const one of VECTORS.edits) {
    ending = answered({ verdict: "approved", edits: one.edits });
    const calling = called(one, { editable: true });
    if (one.refused !== undefined) {
      await assert.rejects(calling, (error) => {
        assert.ok(error instanceof CountersignError && error.code === "unusable-edits", one.what);
        assert.ok(error.message.includes(one.refused ?? ""), `${one.what}: ${error.message}`);
        return true;
      });
    } else {
      assert.deepEqual(await calling, one.run === undefined ? one.run_arguments : [decoded(one.run)], one.what);
    }
  }
});

test("the same call has the same key in every language", async () => {
  for (const { what, tool, namespace = "", key, thread = "", call_id, idempotency_key } of VECTORS.keys) {
    const found = key === undefined ? toolCallKey(namespace, tool, thread, call_id) : explicitKey(namespace, tool, key);
    assert.equal(await found, idempotency_key, what);
  }
  assert.deepEqual(VECTORS.counting_ids.counting.filter((id) => !onlyCounts(id)), []);
  assert.deepEqual(VECTORS.counting_ids.unique.filter(onlyCounts), []);
});

function refund(input: { order: number; password?: string }): number {
  return input.order;
}

test("a key is a text or made of the call", async () => {
  await client.requireApproval(refund, { key: "nightly", namespace: "eu" })({ order: 7 });
  const key = ({ order }: { order: number }): string | undefined => (order === 0 ? undefined : `order-${order}`);
  const guarded = client.requireApproval(refund, { key, hide: ["password"] });
  assert.equal(await guarded({ order: 7, password: "s3cret" }), 7);
  await guarded({ order: 0 });
  await guarded({ order: 0 });
  const [first, second, third, fourth] = creates();
  assert.equal(first?.key, "approval:eu:refund:nightly");
  assert.equal(second?.key, "approval::refund:order-7");
  assert.ok(!second.body.includes("s3cret"));
  // Without a name every call is a question of its own, as before.
  assert.notEqual(third?.key, fourth?.key);
  assert.doesNotMatch(third?.key ?? "", /^approval:/);
});

test("the same call is the same request, whatever the order of members", async () => {
  const save = client.requireApproval((input: JsonObject) => input, { name: "save", key: "k" });
  await save({ b: 1, a: { d: [{ y: 1, x: 2 }] } });
  await save({ a: { d: [{ x: 2, y: 1 }] }, b: 1 });
  const [first, second] = creates();
  assert.equal(first?.body, second?.body);
});

test("named arguments keep their declared order, and their own members are sorted", async () => {
  const options = { name: "pay", parameters: ["to", "amount", "note"], key: "k" };
  const pay = client.requireApproval((_to: string, amount: number, _note: JsonObject) => amount, options);
  await pay("zoe", 7, { b: 1, a: 2 });
  const [asked] = creates();
  assert.ok(asked?.body.includes('"details":{"to":"zoe","amount":7,"note":{"a":2,"b":1}}'), asked?.body);
});

test("a key that is no text is refused", async () => {
  for (const bad of ["", 7, () => "", () => 7] as (string | undefined)[]) {
    for (const options of [{ key: bad }, { key: "k", namespace: bad }]) {
      await assert.rejects(client.requireApproval(refund, options)({ order: 1 }), /of refund must be a non-empty string/);
    }
  }
  assert.equal(local.seen.length, 0);
});

test("a key that stands for another call says which and what to do", async () => {
  local.handler = (_, response) => problem(response, 409, "idempotency-mismatch");
  const guarded = client.requireApproval(refund, { key: "order-7", onDenied: "return" });
  await assert.rejects(guarded({ order: 2 }), (error) => {
    assert.ok(error instanceof KeyReused && error instanceof Conflict);
    assert.deepEqual([error.tool, error.key, error.status], ["refund", "approval::refund:order-7", 409]);
    assert.match(error.message, /the key "approval::refund:order-7" was used before for a call with other arguments/);
    assert.match(error.message, /another key \(or namespace\) for another call/);
    return error.code === "idempotency-mismatch";
  });
  assert.equal(local.seen.length, 1);
  local.handler = (_, response) => problem(response, 409, "exists");
  await assert.rejects(guarded({ order: 2 }), (error) => error instanceof Conflict && !(error instanceof KeyReused));
});

const MESSAGES = [{ role: "user", content: "s3cret" }];

test("as `execute` of the Vercel AI SDK: the input alone is shown, and the tool-call id names the call", async () => {
  const seen: unknown[][] = [];
  const execute = client.requireApproval(
    (...args: [{ order: number }, object?]) => {
      seen.push(args);
      return args[0].order;
    },
    { name: "refund", editable: true },
  );
  const options = { toolCallId: CALL_ID, messages: MESSAGES, abortSignal: undefined };
  ending = answered({ verdict: "approved", edits: { order: 8 } });
  assert.equal(await execute({ order: 7 }, options), 8);
  const [asked] = creates();
  assert.deepEqual(asked?.details, { order: 7 });
  assert.ok(!asked.body.includes("s3cret"));
  assert.equal(asked.key, `approval::refund::${CALL_ID}`);
  assert.equal(seen[0]?.[1], options);
});

test("an id that only counts names nothing, a namespace separates what has the same id", async () => {
  const options = { toolCallId: "call_1", messages: MESSAGES };
  const run = (_: { order: number }, options: object): object => options;
  const counting = client.requireApproval(run, { name: "refund" });
  await counting({ order: 1 }, options);
  await counting({ order: 1 }, options);
  await client.requireApproval(run, { name: "refund", namespace: "chat 1" })({ order: 1 }, { ...options, toolCallId: CALL_ID });
  await client.requireApproval(run, { name: "refund", key: (_, { toolCallId }: { toolCallId?: string }) => `chat 1/${toolCallId}` })({ order: 1 }, options);
  const keys = creates().map(({ key }) => key);
  assert.notEqual(keys[0], keys[1]);
  assert.doesNotMatch(keys[0] ?? "", /^approval:/);
  assert.deepEqual(keys.slice(2), [`approval:chat%201:refund::${CALL_ID}`, "approval::refund:chat%201%2Fcall_1"]);
});

test("LangChain and OpenAI Agents name their calls and are not shown", async () => {
  const run = client.requireApproval((...args: unknown[]) => args, { name: "refund" });
  const toolCall = { id: CALL_ID, name: "refund", args: {}, type: "tool_call" };
  const config = { toolCall, tags: [], recursionLimit: 25, configurable: { thread_id: "thread 1", secret: "s3cret" } };
  assert.equal((await run({ order: 1 }, config))[1], config);
  const context = { context: "s3cret", approveTool: () => undefined, rejectTool: () => undefined };
  const call = { toolCall: { callId: CALL_ID } };
  assert.deepEqual(await run({ order: 1 }, context, call), [{ order: 1 }, context, call]);
  await run({ order: 1 }, context, undefined);
  await run({ order: 1 }, { tags: [], metadata: { secret: "s3cret" }, recursionLimit: 25 });
  const [first, second, third, fourth] = creates();
  assert.doesNotMatch(fourth?.key ?? "", /^approval:/);
  assert.equal(first?.key, `approval::refund:thread%201:${CALL_ID}`);
  assert.equal(second?.key, `approval::refund::${CALL_ID}`);
  assert.doesNotMatch(third?.key ?? "", /^approval:/);
  for (const asked of creates()) {
    assert.deepEqual(asked.details, { order: 1 });
    assert.ok(!asked.body.includes("s3cret"));
  }
  // What only looks a little like it is an argument like any other.
  await run({ order: 1 }, { toolCallId: "x" });
  assert.deepEqual(creates()[4]?.details, { args: [{ order: 1 }, { toolCallId: "x" }] });
});

test("arguments beyond the declared parameters are passed on and not shown", async () => {
  const run = client.requireApproval((...args: unknown[]) => args, { name: "pay", parameters: ["to", "amount"], editable: true });
  ending = answered({ verdict: "approved", edits: { to: "Ada", amount: 60 } });
  const context = { secret: "s3cret" };
  assert.deepEqual(await run("Ada", 120, context), ["Ada", 60, context]);
  assert.deepEqual(creates()[0]?.details, { to: "Ada", amount: 120 });
});

test("the framework's signal ends the wait and withdraws the question", async () => {
  ending = undefined;
  const controller = new AbortController();
  const reason = new Error("the user pressed stop");
  const guarded = client.requireApproval((input: { order: number }, _: object) => input, {
    name: "refund",
    signal: new AbortController().signal,
  });
  const running = guarded({ order: 1 }, { toolCallId: CALL_ID, messages: [], abortSignal: controller.signal });
  await eventually("listening", () => local.seen.length === 2);
  controller.abort(reason);
  await assert.rejects(running, reason);
  assert.ok(local.seen.at(-1)?.path.endsWith("/cancel"));
});

test("with a key of one's own the question stays open for the next call", async () => {
  ending = undefined;
  const cancelled = (): boolean => local.seen.some(({ path }) => path.endsWith("/cancel"));
  const waitTimeoutMs = 30;
  await assert.rejects(client.requireApproval(refund, { key: "k", waitTimeoutMs })({ order: 1 }), WaitTimeout);
  await assert.rejects(client.requireApproval(refund, { onStop: "keep", waitTimeoutMs })({ order: 1 }), WaitTimeout);
  assert.ok(!cancelled());
  await assert.rejects(client.requireApproval(refund, { key: "k", onStop: "cancel", waitTimeoutMs })({ order: 1 }), WaitTimeout);
  assert.ok(cancelled());
});
