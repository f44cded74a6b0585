/** The client against the real server: every kind, every ending, restarts, streams, receipts. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import {
  type Answer,
  type Ask,
  type AskEvent,
  type Asked,
  canonicalJson,
  Conflict,
  type Countersign,
  CountersignError,
  Denied,
  field,
  InvalidReceipt,
  InvalidRequest,
  isApproval,
  NotFound,
  type Outcome,
  Unauthorized,
  verifyReceipt,
} from "@countersign/client";
import { startCountersign, type TestServer } from "@countersign/client/testing";
import { Transport } from "#dist/transport.js";
import { waitFor } from "#dist/wait.js";

import { eventually } from "./support/local.js";

let server: TestServer;
let client: Countersign;

before(async () => {
  server = await startCountersign();
  client = server.client();
});
after(() => server.stop());

async function answered<O extends Outcome>(asked: Asked<O>, answer: Answer, comment?: string): Promise<O> {
  const waiting = asked.wait({ timeoutMs: 20_000 });
  await server.answer((await asked).id, answer, comment);
  return waiting;
}

test("an approval comes back with who, how and a receipt that verifies offline", async () => {
  const asked = client.approve("Refund €120?", { details: { order: 9007199254740993n, amount: 120.5 }, tags: ["refund"] });
  const outcome = await answered(asked, { verdict: "approved" }, "fine");
  assert.ok(outcome.verdict === "approved");
  const { by, via, assurance, comment, edits } = outcome;
  assert.deepEqual({ by, via, assurance, comment, edits }, {
    by: { kind: "human", id: "user_dev" },
    via: "api",
    assurance: "session",
    comment: "fine",
    edits: undefined,
  });
  const jwks = await client.jwks();
  const receipt = outcome.receipt ?? assert.fail("no receipt");
  assert.equal(await client.receipt(outcome.ask.id), receipt);
  const revocations = await client.revocations();
  const claims = await verifyReceipt(receipt, jwks, { question: asked.question, revocations });
  assert.equal(isApproval(claims), true);
  assert.equal(claims.sub, outcome.ask.id);
  await verifyReceipt(receipt, jwks, { issuer: claims.iss });
  await assert.rejects(verifyReceipt(receipt, jwks, { question: { ...asked.question, prompt: "Refund €121?" } }), InvalidReceipt);
});

test("every kind: the question is spelled as the server spells it, the answer as typed", async () => {
  const form = {
    name: field.text({ required: true, maxLength: 50, hint: "As on the invoice" }),
    size: field.select({ options: ["s", { value: "m", label: "Medium" }], required: true }),
    extras: field.multiselect({ options: ["a", "b"] }),
    amount: field.number({ min: 0, max: 500, default: 5 }),
    big: field.boolean(),
    why: field.textarea({ required: true, showIf: { field: "big", operator: "eq", value: true } }),
    secret: field.text({ sensitive: true }),
    level: field.range({ min: 1, max: 5 }),
    day: field.date({ min: "2026-01-31" }),
    mail: field.email(),
    page: field.url(),
  };
  const values = { name: "Ada", size: "m", extras: ["b"], amount: 7, big: false, secret: "s3cret", level: 2, day: "2026-02-01" };
  const cases: readonly (readonly [Asked<Outcome>, Answer, object])[] = [
    [client.approve("A?", { details: { a: [1, { b: null }] }, editable: true, rejectRequiresReason: true }), { verdict: "approved", edits: { a: [2] } }, { verdict: "approved", edits: { a: [2] } }],
    [client.approve("A?", { context: "B" }), { verdict: "rejected" }, { verdict: "rejected" }],
    [client.choose("A?", { options: ["x", { id: "y", label: "Y", description: "why" }], suggested: "y" }), { verdict: "chosen", options: ["y"] }, { verdict: "chosen", option: "y" }],
    [client.choose("A?", { options: ["x", "y", "z"], pick: "many" }), { verdict: "chosen", options: ["z", "x"] }, { verdict: "chosen", options: ["x", "z"] }],
    [client.provide("A?", { form }), { verdict: "provided", values }, { verdict: "provided", values }],
    [client.confirm("A?", { items: ["a", "b"], yes: "Delete", no: "Keep" }), { verdict: "confirmed", items: ["b"] }, { verdict: "confirmed", items: ["b"] }],
    [client.confirm("A?", { items: [] }), { verdict: "declined" }, { verdict: "declined" }],
    [client.escalate("A?", { error: new Error("x"), params: { n: 1 } }), { verdict: "retry", params: { n: 2 } }, { verdict: "retry", params: { n: 2 } }],
    [client.escalate("A?"), { verdict: "skip" }, { verdict: "skip" }],
    [client.escalate("A?"), { verdict: "abort" }, { verdict: "abort" }],
    [client.converse("A?"), { verdict: "replied", text: "hello" }, { verdict: "replied", text: "hello" }],
  ];
  await Promise.all(
    cases.map(async ([asked, answer, expected]) => {
      const ask = await asked;
      assert.equal(canonicalJson(ask.question), canonicalJson(asked.question));
      const outcome = await answered(asked, answer);
      for (const [key, value] of Object.entries(expected)) assert.deepEqual((outcome as never)[key], value, key);
    }),
  );
});

test("a secret is gone once it arrived", async () => {
  const asked = client.provide("A?", { form: { token: field.text({ sensitive: true }) } });
  await assert.rejects(asked.acknowledge(), Conflict);
  const outcome = await answered(asked, { verdict: "provided", values: { token: "s3cret" } });
  assert.deepEqual(outcome.verdict === "provided" && outcome.values, { token: "s3cret" });
  await asked.acknowledge();
  await client.acknowledge((await asked).id);
  const later = await asked.wait();
  assert.match(String(later.verdict === "provided" && later.values.token), /^\[redacted:/);
});

test("changes can be requested of an approval", async () => {
  const outcome = await answered(client.approve("A?"), { verdict: "changes_requested" }, "ask more clearly");
  assert.ok(outcome.verdict === "changes_requested");
  assert.equal(outcome.comment, "ask more clearly");
});

test("silence is never approval", async () => {
  const [defaulted, reported, failed, plain] = await Promise.all([
    client.approve("A?", { timeoutSeconds: 1, onExpiry: { answer: { answer: { verdict: "approved" } } } }).wait({ timeoutMs: 20_000 }),
    client.approve("A?", { timeoutSeconds: 1, onExpiry: { report: "approve" } }).wait({ timeoutMs: 20_000 }),
    client.approve("A?", { timeoutSeconds: 1, onExpiry: "fail" }).wait({ timeoutMs: 20_000 }),
    client.approve("A?", { timeoutSeconds: 1 }).wait({ timeoutMs: 20_000 }),
  ]);
  assert.ok(defaulted.verdict === "defaulted");
  assert.deepEqual([defaulted.answer, defaulted.by.kind, defaulted.assurance], [{ verdict: "approved" }, "system", "none"]);
  assert.equal(isApproval(await verifyReceipt(defaulted.receipt ?? "", await client.jwks())), false);
  assert.ok(reported.verdict === "expired");
  assert.equal(reported.report, "approve");
  assert.equal(failed.verdict, "failed");
  assert.equal(plain.verdict, "expired");
});

test("scripted people approve like people, in outcomes and in receipts", async () => {
  const own = await startCountersign();
  try {
    const headers = { authorization: `Bearer ${own.agentKey}`, "content-type": "application/json" };
    const body = JSON.stringify({ rule: [{ answer: "yes" }] });
    assert.equal((await fetch(`${own.url}/api/v1/dev/script`, { method: "PUT", headers, body })).status, 200);
    const outcome = await own.client().approve("A?").wait({ timeoutMs: 20_000 });
    assert.ok(outcome.verdict === "approved");
    assert.equal(outcome.via, "script");
    assert.equal(isApproval(await verifyReceipt(outcome.receipt ?? "", await own.client().jwks())), true);
    assert.equal(await own.client().requireApproval(function pay() { return "paid"; })(), "paid");
  } finally {
    await own.stop();
  }
});

test("a cancelled ask says by whom and why", async () => {
  const asked = client.approve("A?");
  const waiting = asked.wait({ timeoutMs: 20_000 });
  await asked.cancel({ reason: "no longer needed" });
  const outcome = await waiting;
  assert.ok(outcome.verdict === "cancelled");
  assert.deepEqual([outcome.by, outcome.reason], [{ kind: "agent", id: "agent_dev" }, "no longer needed"]);
  assert.equal((await asked.cancel()).state, "cancelled");
});

test("the same key asks once; another question under it is refused", async () => {
  const idempotencyKey = `job-${process.pid}`;
  const first = await client.approve("A?", { idempotencyKey });
  assert.equal((await client.approve("A?", { idempotencyKey })).id, first.id);
  await assert.rejects(client.approve("B?", { idempotencyKey }), (error) => {
    return error instanceof Conflict && error.code === "idempotency-mismatch";
  });
});

test("follow-ups, priority, metadata and deadlines arrive", async () => {
  const first = await client.approve("A?");
  await client.cancel(first.id);
  const ask = await client.approve("A, again?", {
    follows: first.id,
    priority: "critical",
    metadata: { run: 7 },
    tags: ["finance", "eu"],
    timeoutSeconds: 60,
    route: { to: "person", human: "user_dev" },
  });
  const { follows, priority, metadata, tags, kind, comments } = ask;
  const sent = { follows: first.id, priority: "critical", metadata: { run: 7 }, tags: ["eu", "finance"] };
  assert.deepEqual({ follows, priority, metadata, tags, kind, comments }, { ...sent, kind: "approve", comments: 0 });
  const until = new Date(Date.now() + 3_600_000);
  const extended = await client.extend(ask.id, until);
  assert.equal(extended.expires_at, until.toISOString());
  assert.deepEqual(await client.comments(ask.id), []);
});

test("a guarded function runs what the person approved, or not at all", async () => {
  const runs: unknown[] = [];
  const guarded = client.requireApproval(function pay(what: { amount: number }) {
    runs.push(what);
    return what.amount;
  }, { editable: true, tags: ["guarded"] });
  const pending = async (): Promise<Ask> => {
    let found: Ask | undefined;
    await eventually("asked", async () => {
      for await (const ask of client.list({ state: "open" })) if (ask.tags.includes("guarded")) found = ask;
      return found !== undefined;
    });
    return found ?? assert.fail();
  };
  const paying = guarded({ amount: 120 });
  await server.answer((await pending()).id, { verdict: "approved", edits: { amount: 60 } });
  assert.equal(await paying, 60);
  const refused = guarded({ amount: 120 });
  refused.catch(() => undefined);
  await server.answer((await pending()).id, { verdict: "rejected" }, "too much");
  await assert.rejects(refused, (error) => error instanceof Denied && error.reason === "too much");
  assert.deepEqual(runs, [{ amount: 60 }]);
});

test("long polling waits as well as the stream does", async () => {
  const noStreams: typeof fetch = async (input, init) =>
    String(input).endsWith("/events") ? new Response("", { status: 404 }) : fetch(input, init);
  const transport = new Transport(server.url, server.agentKey, noStreams, { retries: 0, firstDelayMs: 1, longestDelayMs: 5 }, 5000);
  const { id } = await client.approve("A?");
  const waiting = waitFor(transport, id, { timeoutMs: 20_000 });
  await server.answer(id, { verdict: "approved" });
  const ask = await waiting;
  assert.equal(ask.state, "completed");
  assert.ok(ask.receipt);
});

test("events tell what happens, and go on from a position", async () => {
  let asked: Asked<Outcome> | undefined;
  const take = async (after: number | string | undefined): Promise<AskEvent[]> => {
    const seen: AskEvent[] = [];
    const onReady = (): void => void (asked ??= client.approve("Watched?"));
    for await (const event of client.events({ after, onReady })) {
      if (event.event === "reset" || event.ask.id !== (await asked)?.id) continue;
      seen.push(event);
      if (event.event === "asked") await server.answer(event.ask.id, { verdict: "approved" });
      if (event.event === "answered") break;
    }
    return seen;
  };
  const seen = await take(undefined);
  assert.deepEqual(seen.map(({ event }) => event), ["asked", "answered"]);
  assert.equal(seen[1]?.ask.result?.answer?.verdict, "approved");
  const again = await take(seen[0]?.position);
  assert.deepEqual(again.map(({ event }) => event), ["answered"]);
});

test("insights count what was asked and what came of it", async () => {
  const outcome = await answered(client.approve("Count me?"), { verdict: "rejected" }, "no");
  const today = new Date().toISOString().slice(0, 10);
  // The numbers are a moment behind.
  const wanted = { agent: outcome.ask.agent, from: today };
  await eventually("the answer is counted", async () => (await client.insights(wanted)).verdicts.overruled > 0);
  const found = await client.insights(wanted);
  assert.equal(found.from, today);
  assert.equal(found.agent, outcome.ask.agent);
  assert.ok(found.asks > 0 && (found.dialects["native"] ?? 0) > 0);
  assert.equal(found.confidence.length, 10);
  assert.deepEqual(found.agents.map((one) => one.agent), [outcome.ask.agent]);
  await assert.rejects(client.insights({ from: "tomorrow" }), InvalidRequest);
  await assert.rejects(client.insights({ agent: "nobody" }), NotFound);
  await assert.rejects(client.insights({ form: today } as object), TypeError);
});

test("lists find asks by state and kind", async () => {
  const { id } = await client.converse("Listed?");
  const ids: string[] = [];
  for await (const ask of client.list({ kind: "converse", pageSize: 1 })) ids.push(ask.id);
  assert.ok(ids.includes(id));
  await client.cancel(id);
  for await (const ask of client.list({ state: "open", kind: "converse" })) assert.notEqual(ask.id, id);
});

test("the server's refusals are errors with its words", async () => {
  await assert.rejects(client.approve(" "), (error) => {
    assert.ok(error instanceof InvalidRequest && error.code === "invalid-field" && error.status === 422);
    assert.match(error.requestId ?? "", /^[0-9a-f]{16}$/);
    return error.errors.length === 1;
  });
  await assert.rejects(client.get("ask_01J0000000000000000000000A"), NotFound);
  await assert.rejects(client.wait("ask_01J0000000000000000000000A"), NotFound);
  await assert.rejects(server.client({ apiKey: "wrong" }).get("ask_01J0000000000000000000000A"), Unauthorized);
  const page = await fetch(`${server.url}/errors/not-found`);
  assert.equal(page.status, 200);
  const { id } = await client.approve("A?");
  await assert.rejects(client.receipt(id), (error) => error instanceof CountersignError && error.code === "not-over");
});

test("a wait survives a restart of the server", async () => {
  const data = mkdtempSync(join(tmpdir(), "countersign-client-"));
  try {
    const before = await startCountersign({ data });
    const retry = { firstDelayMs: 20, longestDelayMs: 100 };
    const asked = before.client({ retry }).approve("Still there?");
    const { id } = await asked;
    const waiting = asked.wait({ timeoutMs: 60_000 });
    await before.stop();
    const again = await startCountersign({ data, port: before.port });
    try {
      await again.answer(id, { verdict: "approved" });
      assert.equal((await waiting).verdict, "approved");
    } finally {
      await again.stop();
    }
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
});

test("the testing helper says what is wrong with a binary", async () => {
  await assert.rejects(startCountersign({ bin: "/nowhere/countersign" }), /cannot be started.*COUNTERSIGN_BIN/s);
  await assert.rejects(startCountersign({ bin: "false" }), /before it was ready/);
});
