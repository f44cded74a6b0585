/** An agent before the real server, which is just another service to it. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { HitlCase, HitlFollower, type HitlSubmission, verifyHitlCallback } from "@countersign/client";
import { startCountersign, type TestServer } from "@countersign/client/testing";

import { eventually, Local } from "./support/local.js";

let server: TestServer;
const follower = new HitlFollower();
const APPROVAL = { type: "approval", prompt: "Refund €120?", inline_actions: ["approve"] };

before(async () => {
  server = await startCountersign();
});
after(() => server.stop());

function call(path: string, body: object): Promise<Response> {
  const headers = { authorization: `Bearer ${server.agentKey}`, "content-type": "application/json" };
  return fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
}

async function made(body: object): Promise<HitlCase> {
  const found = await HitlCase.of(await call("/hitl/v1/cases", body));
  assert.ok(found);
  return found;
}

/** What somebody does on the page, by its link. */
async function respond(reviewUrl: string, action: string, data: object = {}): Promise<void> {
  const url = reviewUrl.replace("/review/", "/hitl/v1/reviews/").replace("?", "/respond?");
  const headers = { "content-type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify({ action, data }) });
  assert.equal(answer.status, 200, await answer.text());
}

test("an answer comes while the agent waits", async () => {
  const outcome = await follower.follow(await made(APPROVAL), ({ reviewUrl }) => respond(reviewUrl, "approve", { feedback: "ok" }));
  assert.ok(outcome.status === "completed");
  assert.deepEqual([outcome.action, outcome.data], ["approve", { feedback: "ok" }]);
  assert.ok(outcome.signature, "from the poll: the event has none");
});

test("withdrawn, and run out", async () => {
  const withdrawn = await follower.follow(await made(APPROVAL), ({ caseId }) =>
    call(`/hitl/v1/reviews/${caseId}/cancel`, { reason: "no need" }),
  );
  assert.ok(withdrawn.status === "cancelled");
  assert.equal(withdrawn.reason, "no need");
  const short = await made({ type: "x-acme-pick", prompt: "?", timeout: "1s", default_action: "abort" });
  assert.equal(short.treatedAs, "input");
  const expired = await follower.follow(short);
  assert.ok(expired.status === "expired");
  assert.deepEqual([expired.defaultAction, expired.judgedBy], ["abort", "service"]);
});

test("an edit is continued", async () => {
  const rounds: string[] = [];
  const end = await follower.rounds({
    request: APPROVAL,
    send: (body) => call("/hitl/v1/cases", body),
    revise: (body) => ({ ...body, prompt: "Refund €100?" }),
    notify: ({ caseId, reviewUrl }) => {
      rounds.push(caseId);
      return respond(reviewUrl, rounds.length === 1 ? "edit" : "approve", { feedback: "less" });
    },
  });
  assert.ok(end.outcome?.status === "completed");
  assert.deepEqual([end.outcome.action, end.caseId, rounds.length], ["approve", rounds[1], 2]);
});

test("what was pressed counts once", async () => {
  const inline = await made(APPROVAL);
  const pressed: HitlSubmission = {
    action: "approve",
    submittedVia: "slack_block_action",
    submittedBy: { platform: "slack", platformUserId: "U7", displayName: "Ada" },
  };
  assert.equal((await follower.submit(inline, pressed)).caseId, inline.caseId);
  await assert.rejects(follower.submit(inline, pressed), { code: "duplicate_submission", status: 409 });
  assert.equal((await follower.follow(inline)).status, "completed");
});

test("the callback is signed", async () => {
  const hook = await Local.start((_, response) => void response.writeHead(200).end());
  const called = await made({ ...APPROVAL, hitl_callback_url: `${hook.url}/hook` });
  await respond(called.reviewUrl, "reject");
  await eventually("the callback came", () => hook.seen.length > 0);
  const headers = { authorization: `Bearer ${server.agentKey}` };
  const { secret } = (await (await fetch(`${server.url}/hitl/v1/callback-secret`, { headers })).json()) as { secret: string };
  const [came] = hook.seen;
  const told = await verifyHitlCallback(secret, came?.body ?? "", String(came?.headers["x-hitl-signature"]));
  assert.equal(told.caseId, called.caseId);
  assert.ok(told.outcome.status === "completed" && told.outcome.action === "reject");
  await hook.close();
});
