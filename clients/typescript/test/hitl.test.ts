/** An agent before another service: polls, events, silence, nonsense. */

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { inspect } from "node:util";

import { HitlCase, HitlError, type HitlSubmission, HitlVerificationError, verifyHitlCallback } from "@countersign/client";

import { completed, event, Other, PENDING, says, streams, text, type Word } from "./support/other.js";

async function before(script: Record<string, readonly Word[]>, story: (other: Other) => Promise<void>): Promise<void> {
  const other = await Other.start(script);
  try {
    await story(other);
  } finally {
    await other.close();
  }
}

const coded = (code: string) => (error: unknown): boolean => error instanceof HitlError && error.code === code;
const events = (other: Other): Record<string, unknown> => ({ events_url: `${other.url}/events?token=poll` });

test("only a 202 that says so is a case, and nonsense is refused", async () => {
  await before({}, async (other) => {
    assert.equal(HitlCase.recognise(200, other.accepted()), undefined);
    for (const body of [{ status: "queued" }, { status: "human_input_required" }, null, [], "x"]) {
      assert.equal(HitlCase.recognise(202, body), undefined);
    }
    const response = new Response(JSON.stringify(other.accepted()), { status: 202, headers: { "retry-after": "15" } });
    const found = await HitlCase.of(response);
    assert.deepEqual([found?.retryAfterMs, found?.text], [15_000, "Somebody has to look at this."]);
    assert.equal(((await response.json()) as { status: string }).status, "human_input_required", "the body is still there");
    assert.equal(other.case({ type: "x-acme-compare" }).treatedAs, "input");
    for (const wrong of [
      { type: "guess" },
      { poll_url: "http://jobs.example/status" },
      { review_url: "javascript:alert(1)" },
      { expires_at: "tomorrow" },
      { case_id: 7 },
      { events_url: "ftp://jobs.example" },
      { submit_url: `${other.url}/submit` },
      { reminder_at: [1] },
    ]) {
      assert.throws(() => other.case(wrong), coded("malformed"), JSON.stringify(wrong));
    }
  });
});

test("tokens are neither printed nor written", async () => {
  await before({}, async (other) => {
    const secret = other.case({ submit_url: `${other.url}/submit`, submit_token: "s".repeat(43) });
    for (const shown of [JSON.stringify(secret), inspect(secret, { depth: 9, showHidden: true })]) {
      assert.doesNotMatch(shown, /sss|token/);
    }
  });
});

test("a service that only polls and has no tags", async () => {
  await before({ status: [says(PENDING), says(PENDING), says(completed())] }, async (other) => {
    const outcome = await other.follower().follow(other.case(), other.notify);
    assert.ok(outcome.status === "completed");
    assert.deepEqual([outcome.action, outcome.data, outcome.respondedBy], ["approve", { feedback: "fine" }, { name: "Ada" }]);
    assert.deepEqual(other.times("status"), [30, 60, 105]);
    assert.deepEqual(other.notices, [[0, false]]);
    assert.equal(other.told[0]?.notice.reviewUrl, `${other.url}/review/1?token=review`);
  });
});

test("tags are sent back and pauses are kept", async () => {
  const etag = '"v1"';
  const script = {
    status: [
      says(PENDING, 200, { etag, "retry-after": "15" }),
      says(null, 304, { etag, "retry-after": "60" }),
      says(null, 304, { etag }),
      says(null, 304, { etag }),
      says(completed()),
    ],
  };
  await before(script, async (other) => {
    await other.follower().follow(other.case({}, 20_000));
    assert.deepEqual(other.header("status", "if-none-match"), [undefined, etag, etag, etag, etag]);
    assert.deepEqual(other.times("status"), [20, 35, 95, 162, 263]);
  });
});

test("whoever says too many is left alone", async () => {
  const script = { status: [says({ error: "rate_limited" }, 429, { "retry-after": "600" }), text(503), text(502), says(completed())] };
  await before(script, async (other) => {
    assert.equal((await other.follower().follow(other.case())).status, "completed");
    assert.deepEqual(other.times("status"), [30, 630, 640, 660]);
  });
});

test("nonsense is put up with for a while", async () => {
  const script = {
    status: [
      text(200, "<html>"),
      says({ case_id: "review_1" }),
      says(PENDING),
      says({ status: "completed", case_id: "review_1" }),
      says(completed("approve", { case_id: "review_2" })),
      says([]),
    ],
  };
  await before(script, async (other) => {
    await assert.rejects(other.follower().follow(other.case()), coded("malformed"));
    assert.equal(other.calls.length, 6);
  });
});

test("what stays pending for ever expires by the clock", async () => {
  await before({ status: [says(PENDING)] }, async (other) => {
    const reminder_at = ["2026-02-06T10:30:00Z", "2026-02-06T10:45:00Z"];
    const outcome = await other.follower().follow(other.case({ reminder_at }), other.notify);
    assert.ok(outcome.status === "expired");
    assert.deepEqual([outcome.defaultAction, outcome.judgedBy], ["reject", "clock"]);
    assert.deepEqual(other.notices, [[0, false], [1800, true], [2700, true]]);
    assert.ok(other.times("status").includes(3600));
    assert.ok(other.clock.seconds >= 3660 && other.clock.seconds < 3670);
  });
});

test("a service that is gone expires too, however long it wants to be left alone", async () => {
  const other = await Other.start({});
  const lost = other.case();
  await other.close();
  const outcome = await other.follower().follow(lost);
  assert.ok(outcome.status === "expired" && outcome.judgedBy === "clock");
  await before({ status: [says({}, 429, { "retry-after": "999999999" })] }, async (later) => {
    assert.equal((await later.follower().follow(later.case())).status, "expired");
    assert.deepEqual([later.times("status"), later.clock.seconds], [[30], 3900]);
  });
});

test("the service judges first and may give more time", async () => {
  const script = {
    status: [
      says({ status: "opened", case_id: "review_1", expires_at: "2026-02-06T12:00:00Z" }, 200, { "retry-after": "3590" }),
      says(PENDING, 200, { "retry-after": "30" }),
      says({ status: "expired", case_id: "review_1", default_action: "abort" }),
    ],
  };
  await before(script, async (other) => {
    const outcome = await other.follower().follow(other.case());
    assert.ok(outcome.status === "expired");
    assert.deepEqual([outcome.defaultAction, outcome.judgedBy], ["abort", "service"]);
    assert.deepEqual(other.times("status"), [30, 3620, 3650]);
  });
});

test("withdrawn, refused, and given up by the agent", async () => {
  await before({ status: [says({ status: "cancelled", case_id: "review_1", reason: "no need" })] }, async (other) => {
    const outcome = await other.follower().follow(other.case());
    assert.ok(outcome.status === "cancelled");
    assert.equal(outcome.reason, "no need");
  });
  await before({ status: [says({ detail: { error: "not_found", message: "no such case" } }, 404)] }, async (other) => {
    await assert.rejects(other.follower().follow(other.case()), { message: "no such case (HTTP 404 not_found)", code: "not_found" });
  });
  await before({ status: [says(PENDING)], events: [streams("")] }, async (other) => {
    const controller = new AbortController();
    const waiting = other.follower().follow(other.case(events(other)), () => controller.abort(new Error("enough")), { signal: controller.signal });
    await assert.rejects(waiting, { message: "enough" });
  });
});

test("a credential stays at home", async () => {
  await before({ status: [says(completed())] }, async (other) => {
    for (const url of [`${other.url}/api`, "https://jobs.example", "http://127.0.0.1:9"]) {
      await other.follower({ authorization: { url, value: "Bearer key" } }).follow(other.case());
    }
    assert.deepEqual(other.header("status", "authorization"), ["Bearer key", undefined, undefined]);
  });
});

const DONE = event("completed", "e2", { result: { action: "approve", data: {} } });

test("a stream that breaks off goes on where it was", async () => {
  const first = `: hi\nretry: 1000\n\n${event("opened", "e1")}`;
  await before({ status: [text(500)], events: [streams(first, true), text(503), streams(DONE)] }, async (other) => {
    const outcome = await other.follower().follow(other.case(events(other)));
    assert.ok(outcome.status === "completed" && outcome.action === "approve");
    assert.deepEqual(other.header("events", "last-event-id"), [undefined, "e1", "e1"]);
    assert.deepEqual(other.header("events", "accept"), Array(3).fill("text/event-stream"));
    assert.ok(other.clock.seconds < 30, "nobody waited for a poll");
  });
});

test("an event is followed by one look that says who", async () => {
  await before({ status: [says(completed())], events: [streams(DONE, true)] }, async (other) => {
    const outcome = await other.follower().follow(other.case(events(other)));
    assert.ok(outcome.status === "completed");
    assert.deepEqual(outcome.respondedBy, { name: "Ada" });
    assert.equal(other.times("status").length, 1);
  });
});

test("where there is no stream polls do", async () => {
  const none: Word = (response) => void response.writeHead(204).end();
  const garbled = "data: {\n\nevent: review.completed\ndata: {}\n\n";
  for (const refuse of [text(404), text(200, "<html>"), text(401), none, streams(garbled), streams("", true), text(500)]) {
    await before({ status: [says(completed())], events: [refuse] }, async (other) => {
      assert.equal((await other.follower().follow(other.case(events(other)))).status, "completed");
      assert.ok(other.clock.seconds <= 30, String(other.clock.seconds));
      assert.ok(other.times("events").length <= 6);
    });
  }
});

test("a stream that forgets to tell is caught by a poll", async () => {
  const asked = says(PENDING, 200, { "retry-after": "10" });
  await before({ status: [asked, asked, says(completed())], events: [streams("")] }, async (other) => {
    assert.equal((await other.follower().follow(other.case(events(other)))).status, "completed");
    assert.deepEqual(other.times("status"), [30, 330, 630]);
  });
});

test("reminders are given once, whoever tells first", async () => {
  const said = event("reminder", "r1", { reminder_at: "2026-02-06T10:10:02Z", message: "Still there?" });
  const pending = Array<Word>(4).fill(says(PENDING));
  await before({ status: [...pending, says(completed())], events: [streams(said), streams("")] }, async (other) => {
    const reminded = other.case({ ...events(other), reminder_at: "2026-02-06T10:10:00Z" });
    await other.follower().follow(reminded, other.notify);
    assert.deepEqual(other.notices.map(([, isReminder]) => isReminder), [false, true]);
  });
});

test("rounds go on until nobody wants an edit", async () => {
  const script: Record<string, Word[]> = { status: [says(completed("edit")), says(completed())], drafts: [], small: [says({ id: 7 })] };
  await before(script, async (other) => {
    script["drafts"]?.push(says(other.accepted(), 202, { "retry-after": "5" }));
    const to = (path: string) => (body: object) => fetch(`${other.url}/${path}`, { method: "POST", body: JSON.stringify(body) });
    const round = { request: { draft: "first" }, revise: (body: object) => ({ ...body, draft: "better" }), notify: other.notify };
    const end = await other.follower().rounds({ ...round, send: to("drafts") });
    assert.ok(end.outcome?.status === "completed");
    assert.deepEqual([end.caseId, end.outcome.action], ["review_1", "approve"]);
    const sent = other.calls.filter(({ path }) => path === "drafts").map(({ body }) => JSON.parse(body) as unknown);
    assert.deepEqual(sent, [{ draft: "first" }, { draft: "better", previous_case_id: "review_1" }]);
    assert.deepEqual(other.times("status"), [5, 10]);
    const plain = await other.follower().rounds({ ...round, send: to("small") });
    assert.deepEqual(await plain.response?.json(), { id: 7 });
  });
});

test("what was pressed is passed on and the token is not", async () => {
  const late = { error: "duplicate_submission", message: "too late" };
  await before({ submit: [says({ status: "completed", case_id: "review_1" }), says(late, 409)] }, async (other) => {
    const token = "s".repeat(43);
    const inline = other.case({ submit_url: `${other.url}/submit`, submit_token: token, inline_actions: ["approve"] });
    const button = inline.button("approve");
    assert.deepEqual(HitlCase.pressed(button), { caseId: "review_1", action: "approve" });
    assert.ok(!button.includes(token));
    assert.throws(() => inline.button("approve", 10), TypeError);
    const pressed: HitlSubmission = {
      action: "approve",
      submittedVia: "telegram_inline_button",
      submittedBy: { platform: "telegram", platformUserId: "42" },
    };
    const follower = other.follower();
    assert.equal((await follower.submit(inline, pressed)).caseId, "review_1");
    assert.deepEqual(other.header("submit", "authorization"), [`Bearer ${token}`]);
    assert.deepEqual(JSON.parse(other.calls[0]?.body ?? ""), {
      action: "approve",
      data: {},
      submitted_via: "telegram_inline_button",
      submitted_by: { platform: "telegram", platform_user_id: "42" },
    });
    await assert.rejects(follower.submit(inline, pressed), { code: "duplicate_submission", status: 409 });
    await assert.rejects(follower.submit(inline, { ...pressed, action: "reject" }), coded("not-inline"));
    await assert.rejects(follower.submit(other.case(), pressed), coded("not-inline"));
    assert.equal(other.calls.length, 2);
  });
});

test("proofs are passed on untouched and nothing is tried again", async () => {
  const required = { error: "verification_required", message: "prove it", review_url: "https://jobs.example/review/1" };
  const failed = { error: "verification_failed", message: "stale" };
  const script = { submit: [says(required, 403), says(failed, 403), says({ status: "completed", case_id: "review_1" })] };
  await before(script, async (other) => {
    const inline = other.case({ submit_url: `${other.url}/submit`, submit_token: "s".repeat(43), inline_actions: ["approve"] });
    const pressed: HitlSubmission = {
      action: "approve",
      submittedVia: "x-signal",
      submittedBy: { platform: "x-signal", platformUserId: "42" },
    };
    const proof = {
      proof_type: "proof_of_human",
      provider: "acme",
      format: "jwt",
      presentation: { odd: ["as", { it: "came" }] },
      binding: { case_id: "review_1", more: 1 },
    };
    const follower = other.follower();
    await assert.rejects(follower.submit(inline, pressed), (error: unknown) => {
      assert.ok(error instanceof HitlVerificationError);
      assert.deepEqual([error.code, error.reviewUrl], ["verification_required", required.review_url]);
      return true;
    });
    const proven = { ...pressed, verificationEvidence: [proof] };
    await assert.rejects(follower.submit(inline, proven), (error: unknown) => {
      assert.ok(error instanceof HitlVerificationError);
      assert.deepEqual([error.code, error.reviewUrl], ["verification_failed", undefined]);
      return true;
    });
    await follower.submit(inline, proven);
    const sent = other.calls.map((call) => JSON.parse(call.body ?? "").verification_evidence);
    assert.deepEqual(sent, [undefined, [proof], [proof]]);
  });
});

test("callbacks are read only if they are signed", async () => {
  const sign = (body: string): string => `sha256=${createHmac("sha256", "secret").update(body).digest("hex")}`;
  const body = '{"event":"review.completed","case_id":"review_1","result":{"action":"approve"}}';
  const good = sign(body);
  const { caseId, outcome } = await verifyHitlCallback("secret", new TextEncoder().encode(body), good);
  assert.ok(outcome.status === "completed");
  assert.deepEqual([caseId, outcome.action], ["review_1", "approve"]);
  for (const wrong of [null, undefined, "", "sha256=", good.toUpperCase(), good.slice(0, -1), `${good}0`, good.slice(7)]) {
    await assert.rejects(verifyHitlCallback("secret", body, wrong), coded("bad-signature"));
  }
  await assert.rejects(verifyHitlCallback("other", body, good), coded("bad-signature"));
  await assert.rejects(verifyHitlCallback("secret", `${body} `, good), coded("bad-signature"));
  for (const nothing of ['{"event":"review.opened","case_id":"review_1"}', "[]", ""]) {
    await assert.rejects(verifyHitlCallback("secret", nothing, sign(nothing)), coded("malformed"));
  }
});
