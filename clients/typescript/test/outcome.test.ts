import assert from "node:assert/strict";
import { test } from "node:test";

import { type Answer, type Assurance, type By, CountersignError, outcomeOf, type Result } from "@countersign/client";
import { reasonOf } from "#dist/outcome.js";

import { answered, open, PERSON, result } from "./support/local.js";

const ended = (more: Partial<Result>): ReturnType<typeof outcomeOf> => outcomeOf(open({ state: "completed", result: result(more) }));

test("every answer of a person has its verdict and its words", () => {
  for (const [answer, expected] of [
    [{ verdict: "approved" }, { verdict: "approved" }],
    [{ verdict: "approved", edits: { amount: 90 } }, { verdict: "approved", edits: { amount: 90 } }],
    [{ verdict: "rejected" }, { verdict: "rejected" }],
    [{ verdict: "changes_requested" }, { verdict: "changes_requested" }],
    [{ verdict: "chosen", options: ["eu"] }, { verdict: "chosen", option: "eu", options: ["eu"] }],
    [{ verdict: "provided", values: { a: 1 } }, { verdict: "provided", values: { a: 1 } }],
    [{ verdict: "confirmed", items: ["a"] }, { verdict: "confirmed", items: ["a"] }],
    [{ verdict: "declined" }, { verdict: "declined" }],
    [{ verdict: "retry", params: { n: 2 } }, { verdict: "retry", params: { n: 2 } }],
    [{ verdict: "retry" }, { verdict: "retry", params: {} }],
    [{ verdict: "skip" }, { verdict: "skip" }],
    [{ verdict: "abort" }, { verdict: "abort" }],
    [{ verdict: "replied", text: "hi" }, { verdict: "replied", text: "hi" }],
  ] as readonly (readonly [Answer, object])[]) {
    const ask = answered(answer, { comment: "because" });
    assert.deepEqual(outcomeOf(ask), {
      ...expected,
      by: PERSON,
      via: "web",
      assurance: "session",
      comment: "because",
      at: "2026-01-31T12:01:00.000Z",
      receipt: "head.body.signature",
      ask,
    });
  }
});

test("nothing but a person's approval reads as approval", () => {
  const bys: By[] = [PERSON, { kind: "agent", id: "agent_dev" }, { kind: "system" }];
  const assurances = ["none", "agent-attested", "link", "channel", "session", "passkey", "unheard-of", null, undefined];
  const answers: (Answer | null)[] = [{ verdict: "approved" }, { verdict: "rejected" }, null];
  const reports = ["approve", null] as const;
  let approvals = 0;
  for (const outcome of ["completed", "expired", "failed", "cancelled"] as const) {
    for (const by of bys) {
      for (const assurance of assurances) {
        for (const answer of answers) {
          for (const report of reports) {
            const { verdict } = ended({ outcome, by, assurance: assurance as Assurance | null, answer, report });
            const person = by.kind === "human" && ["link", "channel", "session", "passkey"].includes(String(assurance));
            const expected = outcome === "completed" && person && answer?.verdict === "approved";
            assert.equal(verdict === "approved", expected, `${outcome} ${by.kind} ${assurance} ${answer?.verdict} ${report}`);
            if (expected) approvals += 1;
          }
        }
      }
    }
  }
  assert.equal(approvals, 8);
});

test("what was revoked is no approval, and says why", () => {
  const revoked = { at: "2026-02-01T12:00:00.000Z", reason: "the session was stolen" };
  for (const by of [PERSON, { kind: "system" }] as const) {
    const ask = { ...answered({ verdict: "approved" }, { by }), revoked };
    const outcome = outcomeOf(ask);
    assert.ok(outcome.verdict === "revoked");
    assert.deepEqual([outcome.answer, outcome.by, outcome.reason], [{ verdict: "approved" }, by, "the session was stolen"]);
    assert.equal(outcome.ask.revoked?.at, "2026-02-01T12:00:00.000Z");
    assert.equal(reasonOf(outcome), "the answer was revoked: the session was stolen");
    assert.equal(reasonOf(outcomeOf({ ...ask, revoked: { ...revoked, reason: null } })), "the answer was revoked");
  }
  for (const none of [{}, { revoked: null }]) assert.equal(outcomeOf({ ...answered({ verdict: "approved" }), ...none }).verdict, "approved");
});

test("scripted people count as people", () => {
  assert.equal(outcomeOf(answered({ verdict: "approved" }, { via: "script" })).verdict, "approved");
});

test("endings without an answer say why", () => {
  for (const [more, verdict, reason] of [
    [{ outcome: "expired", report: "approve", by: { kind: "system" } }, "expired", "there was no answer in time"],
    [{ outcome: "failed", by: { kind: "system" } }, "failed", "there was no answer in time"],
    [{ outcome: "cancelled", reason: "not needed" }, "cancelled", "the request was cancelled: not needed"],
    [{ outcome: "cancelled" }, "cancelled", "the request was cancelled"],
    [
      { answer: { verdict: "approved" }, by: { kind: "system" }, assurance: "none" },
      "defaulted",
      "there was no answer in time; the default was taken, which is not a person's approval",
    ],
    [{ answer: null }, "erased", "the answer was erased"],
    [{ answer: { verdict: "rejected" }, comment: "too much" }, "rejected", "too much"],
    [{ answer: { verdict: "rejected" } }, "rejected", "rejected without a reason"],
    [{ answer: { verdict: "changes_requested" }, comment: "less" }, "changes_requested", "changes requested: less"],
  ] as readonly (readonly [Partial<Result>, string, string])[]) {
    const outcome = ended(more);
    assert.deepEqual([outcome.verdict, reasonOf(outcome)], [verdict, reason]);
  }
});

test("what is unknown or still open is not guessed at", () => {
  assert.throws(() => outcomeOf(open()), (error) => error instanceof CountersignError && error.code === "not-over");
  assert.throws(() => ended({ answer: { verdict: "waved" } as unknown as Answer }), /update @countersign\/client/);
  assert.throws(() => ended({ outcome: "paused" as unknown as "failed" }), /update @countersign\/client/);
  assert.throws(() => ended({ answer: { verdict: "chosen", options: [] } }), CountersignError);
});
