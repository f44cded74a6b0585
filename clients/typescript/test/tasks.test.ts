/** Tasks over HACP: what goes over the wire, and what comes back. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { ConnectionFailed, CountersignError, type Duty, leave, type Leave, type PermissionGrant, TaskError, type Tasks } from "@countersign/client";

import { eventually, json, Local, stream } from "./support/local.js";
import { vectors } from "./support/vectors.js";

const TASK = { id: "task_1", state: "created", revision: 0 };

/** A server that says these things in turn. */
async function says(...answers: ((response: Parameters<typeof json>[0]) => void)[]): Promise<Local> {
  return Local.start((_, response) => {
    const next = answers.shift();
    if (next) next(response);
    else json(response, 500, { error: { code: "INTERNAL", message: "nobody expected this" } });
  });
}

const ok =
  (body: unknown, headers: Record<string, string> = {}) =>
  (response: Parameters<typeof json>[0]): void =>
    json(response, 200, body, headers);

const no =
  (status: number, code: string, more: object = {}) =>
  (response: Parameters<typeof json>[0]): void =>
    json(response, status, { error: { code, message: "no", details: {}, retryable: false, ...more } });

function sent(local: Local, n = -1): { params: Record<string, unknown>; expected_task_revision?: number; idempotency_key?: string } {
  return JSON.parse(local.seen.at(n)?.body ?? "{}");
}

function duty(n: number, operation = "delegate"): object {
  const names = { operation_id: `op_${n}`, task_id: "task_1", correlation_id: "task_1", run_id: "run_1", agent_id: "agent_dev" };
  return { cursor: String(n), event: { ...names, operation, input: { n } } };
}

test("a call is its operation, what was given and a key of its own", async () => {
  const local = await says(ok(TASK), ok(TASK));
  const { tasks } = local.client();
  const deadline = new Date("2026-12-01T12:00:00Z");
  const made = await tasks.create({ type: "task", goal: "Write it", deadline }, { idempotencyKey: "k" });
  assert.equal(made.id, "task_1");
  assert.equal(local.seen[0]?.path, "/hacp/v1/ops/task.create");
  assert.deepEqual(sent(local), {
    params: { type: "task", goal: "Write it", deadline: "2026-12-01T12:00:00.000Z" },
    idempotency_key: "k",
  });
  await tasks.amend("task_1", "shorter", "constrain", { expectedTaskRevision: 0 });
  const { params, expected_task_revision: revision, idempotency_key: key } = sent(local);
  assert.deepEqual([params, revision], [{ task_id: "task_1", text: "shorter", intent: "constrain" }, 0]);
  assert.match(key ?? "", /^[0-9a-f]{32}$/);
  await local.close();
});

const CALLS: [string, (tasks: Tasks) => Promise<unknown>, object][] = [
  ["task.assign", (t) => t.assign("t", "agent_dev", { input: [1] }), { agent_id: "agent_dev", input: [1] }],
  ["task.start", (t) => t.start("t"), { task_id: "t" }],
  ["task.cancel", (t) => t.cancel("t", "late"), { reason: "late" }],
  ["task.interrupt", (t) => t.interrupt("t", "stop"), { prompt: "stop" }],
  ["task.grant", (t) => t.grant("t", { scope: "fs:*", decision: "deny" }), { scope: "fs:*", decision: "deny" }],
  ["task.get", (t) => t.get("t"), { task_id: "t" }],
  ["checkpoint.raise", (t) => t.raise({ task_id: "t", kind: "approval", prompt: "ok?" }), { kind: "approval" }],
  ["checkpoint.resolve", (t) => t.resolve("c", { action: "choose", choice: "a" }), { ckpt_id: "c", resolution: { action: "choose", choice: "a" } }],
  ["checkpoint.expire", (t) => t.expire("c"), { ckpt_id: "c" }],
  ["ownership.transfer", (t) => t.transfer("t", "user_dev"), { to: "user_dev" }],
  ["ownership.delegate", (t) => t.delegate("t", "agent_2"), { to_agent: "agent_2" }],
  ["review.submit", (t) => t.review({ task_id: "t", verdict: "approved" }), { verdict: "approved" }],
  ["review.comment", (t) => t.comment("r", "hm"), { review_id: "r", comment: "hm" }],
  ["artifact.commit", (t) => t.commit({ task_id: "t", type: "x", payload: { kind: "inline", content: "a" } }), { payload: { kind: "inline", content: "a" } }],
  ["artifact.get", (t) => t.artifact("a", "v1"), { art_id: "a", version: "v1" }],
  ["artifact.reference", (t) => t.reference("a", "v1", "t"), { by_task: "t", as_: "input" }],
  ["artifact.share", (t) => t.share("a", "dev2"), { project: "dev2" }],
  ["ledger.read", (t) => t.ledger.read("project:dev", "k"), { key: "k" }],
  ["ledger.write", (t) => t.ledger.write({ scope: "project:dev", key: "k", value: null, by: "t" }), { value: null }],
  ["ledger.history", (t) => t.ledger.history("project:dev", "k"), { scope: "project:dev" }],
  ["audit.query", (t) => t.audit({ action: "task.created" }), { action: "task.created" }],
  ["audit.replay", (t) => t.replayAt("t", "2026-01-01T00:00:00Z"), { at: "2026-01-01T00:00:00Z" }],
  ["audit.replay", (t) => t.replay("t"), { task_id: "t" }],
  ["human.inbox", (t) => t.inbox(), {}],
  ["pending.outbox", (t) => t.outbox({ task_id: "t" }), { task_id: "t" }],
  ["runtime.peek", (t) => t.peek({ limit: 1 }), { limit: 1 }],
  ["runtime.ack", (t) => t.ack("7"), { through: "7" }],
];

for (const [operation, call, params] of CALLS) {
  test(`${operation} sends ${JSON.stringify(params)}`, async () => {
    const local = await says(ok({}));
    await call(local.client().tasks);
    assert.equal(local.seen[0]?.path, `/hacp/v1/ops/${operation}`);
    const body = sent(local);
    for (const [name, value] of Object.entries(params)) assert.deepEqual(body.params[name], value);
    const looks = /\.(get|read|history|query|replay|inbox|outbox|peek|ack)$/.test(operation);
    assert.equal(body.idempotency_key === undefined, looks);
    await local.close();
  });
}

test("a list is fetched page by page", async () => {
  const local = await says(ok([TASK], { "hacp-next-cursor": "task_1" }), ok([{ ...TASK, id: "task_0" }]));
  const seen: string[] = [];
  for await (const task of local.client().tasks.list({ state: "created" })) seen.push(task.id);
  assert.deepEqual(seen, ["task_1", "task_0"]);
  assert.deepEqual(sent(local).params, { state: "created", cursor: "task_1" });
  await local.close();
});

test("a refusal keeps its code, its details and whether to retry", async () => {
  const more = { retryable: true, details: { task_revision: 4 }, correlation_id: "task_1" };
  const local = await says(no(409, "CONFLICT", more));
  await assert.rejects(local.client().tasks.start("task_1"), (error) => {
    assert.ok(error instanceof TaskError);
    const { code, status, retryable, details, correlationId } = error;
    assert.deepEqual({ code, status, retryable, details, correlationId }, {
      code: "CONFLICT",
      status: 409,
      retryable: true,
      details: { task_revision: 4 },
      correlationId: "task_1",
    });
    return true;
  });
  await local.close();
});

test("an answer that was lost is asked for again under the same key", async () => {
  const local = await says((response) => response.socket?.destroy(), no(503, "UNAVAILABLE"), ok(TASK));
  await local.client().tasks.start("task_1");
  assert.equal(new Set(local.seen.map(({ body }) => body)).size, 1);
  await local.close();
  await assert.rejects(local.client({ retries: 0 }).tasks.start("task_1"), ConnectionFailed);
});

test("bytes that are not what was committed are refused", async () => {
  const checksum = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  const artifact = { id: "art_1", version: "v1", payload: { checksum } };
  const bytes = (text: string) => (response: Parameters<typeof json>[0]) => void response.writeHead(200).end(text);
  const local = await says(ok(artifact), bytes("abc"), ok(artifact), bytes("abd"));
  const { tasks } = local.client();
  assert.equal(new TextDecoder().decode(await tasks.content("art_1")), "abc");
  assert.equal(local.seen[1]?.path, "/hacp/v1/artifacts/art_1/versions/v1/content");
  await assert.rejects(tasks.content("art_1"), (error) => error instanceof CountersignError && error.code === "bad-checksum");
  await local.close();
});

test("what is large goes in parts, and goes on where it broke off", async () => {
  const part = (response: Parameters<typeof json>[0]): void => void response.writeHead(204).end();
  const local = await says(
    (response) => json(response, 201, { upload: "upl_1", offset: 0 }),
    (response) => response.socket?.destroy(),
    ok({ upload: "upl_1", offset: 1024 }),
    part,
    part,
  );
  const payload = await local.client().tasks.upload(new Uint8Array(5 * 1024 * 1024), { mediaType: "image/png" });
  assert.deepEqual(payload, { kind: "blob", uri: "upload:upl_1", media_type: "image/png" });
  assert.equal(local.seen[0]?.headers["upload-length"], String(5 * 1024 * 1024));
  const parts = local.seen.filter(({ method }) => method === "PATCH").map(({ headers }) => headers);
  assert.deepEqual(parts.map((headers) => headers["upload-offset"]).slice(-2), ["1024", String(1024 + 4 * 1024 * 1024)]);
  assert.deepEqual(parts.map((headers) => headers["upload-complete"]).slice(-2), ["?0", "?1"]);
  await local.close();
});

test("events go on where they broke off", async () => {
  let connections = 0;
  const local = await Local.start((_, response) => {
    connections += 1;
    const name = connections === 1 ? "assigned" : "started";
    stream(response, `id: ${7 + connections}\nevent: task.${name}\ndata: {"action":"task.${name}"}\n\n`);
    if (connections === 1) response.end();
  });
  const seen: unknown[] = [];
  for await (const { event, position, data } of local.client().tasks.events({ after: 3 })) {
    seen.push([event, position, data.action]);
    if (event === "task.started") break;
  }
  assert.deepEqual(seen, [["task.assigned", "8", "task.assigned"], ["task.started", "9", "task.started"]]);
  assert.deepEqual(local.seen.map(({ headers }) => headers["last-event-id"]), ["3", "8"]);
  await local.close();
});

test("a runtime acknowledges what was handled and nothing else", async () => {
  const local = await says(ok([duty(1), duty(2)]), ok({}), ok([duty(2)]), ok({}), ok([]));
  const { tasks } = local.client();
  const handled: string[] = [];
  const handler = (given: Duty): void => {
    handled.push(given.key("step"));
    if (handled.length === 2) throw new Error("killed");
  };
  await assert.rejects(tasks.run(handler, { once: true }), /killed/);
  await tasks.run(handler, { once: true });
  assert.deepEqual(handled, ["op_1:step", "op_2:step", "op_2:step"]);
  assert.deepEqual([sent(local, 1).params, sent(local, 3).params], [{ through: "1" }, { through: "2" }]);
  await local.close();
});

test("a runtime outlasts the server, and ends when it is told to", async () => {
  const local = await says(ok([]), no(503, "UNAVAILABLE"), ok([duty(1, "cancel")]), ok({}), ...Array<ReturnType<typeof ok>>(1000).fill(ok([])));
  const controller = new AbortController();
  const seen: string[] = [];
  const running = local.client({ retries: 0 }).tasks.run(({ operation }) => seen.push(operation), { idleMs: 1, signal: controller.signal });
  await eventually("it was handled", () => seen.length === 1);
  const reason = new Error("enough");
  controller.abort(reason);
  await assert.rejects(running, reason);
  assert.deepEqual(seen, ["cancel"]);
  await local.close();
});

test("a runtime that may not is told, and an unknown option too", async () => {
  const local = await says(no(401, "UNAUTHORIZED"));
  const { tasks } = local.client();
  await assert.rejects(tasks.run(() => undefined), (error) => error instanceof TaskError && error.code === "UNAUTHORIZED");
  await assert.rejects(tasks.start("t", { idempotencykey: "k" } as never), TypeError);
  await local.close();
});

interface Grants {
  readonly at: string;
  readonly run_id: string;
  readonly cases: readonly { readonly what: string; readonly grants: readonly PermissionGrant[]; readonly scope: string; readonly leave: Leave }[];
}

/** HACP-073: what is allowed may be done without asking, what is denied must not be done. */
test("a runtime asks before it acts", () => {
  const { at, run_id, cases } = vectors("grants") as unknown as Grants;
  const moment = new Date(at);
  for (const { what, grants, scope, leave: expected } of cases) {
    assert.equal(leave({ grants, run_id }, scope, { at: moment }), expected, what);
    assert.equal(leave({ grants, run_id: "run_of_somebody_else" }, scope, { at: moment, runId: run_id }), expected, what);
  }
  const over = { scope: "*", decision: "allow", until: "2026-01-01T00:00:00Z", granted_by: "user_olga", granted_at: "2025-01-01T00:00:00Z" } as const;
  assert.equal(leave({ grants: [over], run_id: null }, "bash:ls"), "ask", "as of now");
});
