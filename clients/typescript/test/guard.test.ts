import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { type Ask, type Countersign, CountersignError, Denied, type Result, WaitTimeout } from "@countersign/client";

import { answered, eventually, frame, json, Local, open, result, stream } from "./support/local.js";

let local: Local;
let client: Countersign;
let ending: Ask | undefined;
const runs: unknown[][] = [];

beforeEach(async () => {
  runs.length = 0;
  ending = undefined;
  local = await Local.start((request, response) => {
    if (!request.url?.endsWith("/events")) return json(response, 201, open());
    stream(response, frame("asked", open()));
    const answer = (): void => {
      if (ending) response.end(frame("answered", ending));
      else if (!response.destroyed) setTimeout(answer, 5);
    };
    answer();
  });
  client = local.client();
});
afterEach(() => local.close());

function refund(to: { order: number; amount: number }, note?: string): string {
  runs.push(note === undefined ? [to] : [to, note]);
  return `refunded ${to.amount}`;
}

const question = (): unknown => (JSON.parse(local.seen[0]?.body ?? "") as { question: unknown }).question;
const over = (more: Partial<Result>): Ask => open({ result: result(more), receipt: "r" });

test("asks with name and arguments first, and runs what was approved", async () => {
  const guarded = client.requireApproval(refund, { tags: ["money"] });
  const to = { order: 4711, amount: 120 };
  const running = guarded(to);
  await eventually("asked", () => local.seen.length === 2);
  assert.deepEqual(runs, []);
  assert.deepEqual(question(), {
    kind: "approve",
    prompt: "Run refund?",
    details: { order: 4711, amount: 120 },
    editable: false,
    reject_requires_reason: false,
  });
  // The person saw 120; whatever the caller's object says by now, 120 it is.
  to.amount = 9999;
  ending = answered({ verdict: "approved" });
  assert.equal(await running, "refunded 120");
  assert.deepEqual(runs, [[{ order: 4711, amount: 120 }]]);
});

test("several arguments are a list; prompt and name can be given", async () => {
  ending = answered({ verdict: "approved" });
  const prompt = (to: { amount: number }): string => `Refund €${to.amount}?`;
  await client.requireApproval(refund, { name: "pay_back", prompt })({ order: 1, amount: 5 }, "sorry");
  const { prompt: said, details } = question() as { prompt: string; details: unknown };
  assert.equal(said, "Refund €5?");
  assert.deepEqual(details, { args: [{ order: 1, amount: 5 }, "sorry"] });
  assert.deepEqual(runs, [[{ order: 1, amount: 5 }, "sorry"]]);
});

test("every ending but a person's approval runs nothing and throws Denied with the reason", async () => {
  for (const [ask, reason] of [
    [answered({ verdict: "rejected" }, { comment: "not this customer" }), "not this customer"],
    [answered({ verdict: "changes_requested" }, { comment: "only half" }), "changes requested: only half"],
    [over({ outcome: "expired", report: "approve", by: { kind: "system" } }), "there was no answer in time"],
    [over({ outcome: "failed", by: { kind: "system" } }), "there was no answer in time"],
    [over({ outcome: "cancelled", reason: "closed" }), "the request was cancelled: closed"],
    [
      over({ answer: { verdict: "approved" }, by: { kind: "system" }, assurance: "none" }),
      "there was no answer in time; the default was taken, which is not a person's approval",
    ],
    [
      { ...answered({ verdict: "approved" }), revoked: { at: "2026-02-01T12:00:00.000Z", reason: "stolen" } },
      "the answer was revoked: stolen",
    ],
    [answered({ verdict: "chosen", options: ["approve"] }), "the answer was chosen, not an approval"],
  ] as const) {
    ending = ask;
    await assert.rejects(client.requireApproval(refund)({ order: 1, amount: 5 }), (error) => {
      assert.ok(error instanceof Denied && error instanceof CountersignError);
      assert.equal(error.reason, reason);
      assert.equal(error.outcome.ask.id, ask.id);
      return error.code === "denied";
    });
    const text: string = await client.requireApproval(refund, { onDenied: "return" })({ order: 1, amount: 5 });
    assert.equal(text, `not approved: ${reason}`);
  }
  assert.deepEqual(runs, []);
});

test("edited arguments are used where they were declared", async () => {
  ending = answered({ verdict: "approved", edits: { order: 4711, amount: 60 } });
  assert.equal(await client.requireApproval(refund, { editable: true })({ order: 4711, amount: 120 }), "refunded 60");
  ending = answered({ verdict: "approved", edits: { args: [{ order: 1, amount: 2 }, "b"] } });
  assert.equal(await client.requireApproval(refund, { editable: true })({ order: 1, amount: 5 }, "a"), "refunded 2");
  assert.deepEqual(runs, [[{ order: 4711, amount: 60 }], [{ order: 1, amount: 2 }, "b"]]);
});

test("edits that cannot be used run nothing, neither the old arguments nor the new", async () => {
  for (const [editable, edits] of [
    [false, { order: 1, amount: 1 }],
    [true, { function: "delete_all", arguments: { order: 1, amount: 1 } }],
    [true, { order: 1 }],
    [true, { order: 1, amount: "all" }],
    [true, {}],
    [true, { order: 1, amount: 1, also: 1 }],
  ] as const) {
    ending = answered({ verdict: "approved", edits });
    await assert.rejects(client.requireApproval(refund, { editable })({ order: 1, amount: 5 }), (error) => {
      return error instanceof CountersignError && error.code === "unusable-edits" && /was not run/.test(error.message);
    });
  }
  ending = answered({ verdict: "approved", edits: { args: [{ order: 1, amount: 1 }] } });
  await assert.rejects(client.requireApproval(refund, { editable: true })({ order: 1, amount: 5 }, "a"), /number of args/);
  assert.deepEqual(runs, []);
});

test("who stops waiting withdraws the ask", async () => {
  const guarded = client.requireApproval(refund, { waitTimeoutMs: 50 });
  await assert.rejects(guarded({ order: 1, amount: 5 }), WaitTimeout);
  const cancel = local.seen.at(-1);
  assert.ok(cancel && cancel.path.endsWith("/cancel"));
  assert.deepEqual(JSON.parse(cancel.body), { reason: "the agent stopped waiting" });

  const controller = new AbortController();
  const reason = new Error("enough");
  const running = client.requireApproval(refund, { signal: controller.signal })({ order: 1, amount: 5 });
  const before = local.seen.length;
  await eventually("listening", () => local.seen.length === before + 2);
  controller.abort(reason);
  await assert.rejects(running, reason);
  assert.ok(local.seen.at(-1)?.path.endsWith("/cancel"));
  assert.deepEqual(runs, []);
});

test("what a person cannot be shown is not asked", async () => {
  const say = client.requireApproval(function say(text: string) {
    runs.push([text]);
  });
  await assert.rejects(say("\ud800"), /say cannot be shown to a person: args\[0\]: a string with half of a surrogate pair/);
  assert.throws(() => client.requireApproval(() => 1), /requires the option `name`/);
  assert.equal(local.seen.length, 0);
  ending = answered({ verdict: "approved" });
  await client.requireApproval(refund)({ order: 1, amount: 5 }, undefined);
  assert.equal(runs.length, 1);
});

test("what is no JSON is shown as text and reaches the function as it is", async () => {
  ending = answered({ verdict: "approved" });
  const when = new Date(0);
  await client.requireApproval(function at(what: { when: Date }) {
    runs.push([what]);
  })({ when });
  assert.deepEqual((question() as { details: unknown }).details, { when: "1970-01-01T00:00:00.000Z" });
  assert.equal((runs[0]?.[0] as { when: Date }).when, when);
});

test("what the function throws comes through", async () => {
  ending = answered({ verdict: "approved" });
  const fails = client.requireApproval(async function fails() {
    throw new RangeError("inside");
  });
  await assert.rejects(fails(), RangeError);
});
