// HumanLayer's TypeScript SDK 0.7.9, unmodified; people answer over Countersign's own API.
// Requirements: A2H-001 to A2H-005, A2H-009, A2H-020, A2H-022, A2H-042 to A2H-046, A2H-051, A2H-054,
// A2H-057, A2H-066, A2H-069, A2H-070, A2H-100, A2H-133.
import assert from "node:assert/strict";
import { humanlayer } from "@humanlayer/sdk";

const server = process.env.COUNTERSIGN;
const owner = { authorization: "Bearer dev-human-token", "content-type": "application/json" };
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function waiting(prompt) {
  for (let n = 0; n < 600; n++, await pause(20)) {
    const { asks } = await (await fetch(`${server}/api/v1/asks`, { headers: owner })).json();
    const found = asks.find((ask) => ask.question?.prompt === prompt);
    if (found) return found;
  }
  throw new Error(`nobody asked ${prompt}`);
}

async function act(prompt, verb, body) {
  const { id } = await waiting(prompt);
  const said = await fetch(`${server}/api/v1/asks/${id}/${verb}`, {
    method: "POST", headers: owner, body: JSON.stringify(body),
  });
  assert.equal(said.status, 200, await said.text());
}
const answers = (prompt, answer, comment) => act(prompt, "answer", { answer, comment });

async function advance(prompt) {
  await waiting(prompt);
  const moved = await fetch(`${server}/api/v1/dev/clock`, {
    method: "POST", headers: owner, body: JSON.stringify({ advance: "2h" }),
  });
  assert.equal(moved.status, 200);
}

const hl = humanlayer({ agentName: "ts agent", sleep: () => pause(20) });
const both = async (call, person) => (await Promise.all([call, person]))[0];

const multiply = hl.requireApproval()(function multiply({ x, y }) { return x * y; });
assert.equal(await both(multiply({ x: 2, y: 3 }), answers("multiply", { verdict: "approved" })), 6);
assert.equal(
  await both(multiply({ x: 2, y: 3 }), answers("multiply", { verdict: "rejected" }, "no")),
  "User denied function multiply with comment: no",
);
assert.equal(
  await both(multiply({ x: 2, y: 3 }), answers("multiply", { verdict: "rejected" })),
  "User denied function multiply with comment: Denied without a comment.",
);
// Without arguments nothing is sent for them.
const ping = hl.requireApproval({ slack: { channel_or_user_id: "C0123ABC" } })(function ping() { return "pong"; });
assert.equal(await both(ping(), answers("ping", { verdict: "approved" })), "pong");
// The polling ends where nobody answers, and where it is withdrawn.
assert.match(await both(multiply({ x: 1, y: 1 }), advance("multiply")), /expired at .* without an answer/);
assert.match(await both(multiply({ x: 1, y: 1 }), act("multiply", "cancel", { reason: "moot" })), /cancelled .*moot/);

const ask = hl.humanAsTool({ email: { address: "ap@example.com", experimental_subject_line: "Hello" } });
assert.equal(await both(ask({ message: "Which?" }), answers("Which?", { verdict: "replied", text: "that" })), "that");
const options = [{ name: "a", title: "First", prompt_fill: "take the first" }, { name: "b" }];
const spec = { msg: "A or B?", response_options: options };
assert.equal(
  await both(hl.fetchHumanResponse({ spec }), answers("A or B?", { verdict: "chosen", options: ["a"] })),
  "take the first",
);
assert.match(await both(hl.fetchHumanResponse({ spec: { msg: "Late?" } }), advance("Late?")), /expired at .* without an answer/);

const status = await both(
  hl.fetchHumanApproval({ spec: { fn: "ship", kwargs: { to: "prod" }, reject_options: options } }),
  answers("ship", { verdict: "rejected", option: "a" }),
);
assert.equal(status.approved, false);
assert.equal(status.reject_option_name, "a");
assert.equal(status.comment, "take the first");

const state = { n: [1, null, 2.5] };
// A person writes first; what the agent asks then is asked of them, in the same conversation.
async function person(method, path, body) {
  const said = await fetch(`${server}/api/v1/agents/agent_dev${path}`, { method, headers: owner, body: JSON.stringify(body) });
  assert.ok(said.ok, await said.clone().text());
  return said.json();
}
await person("PUT", "", { project: "dev", owner: "user_dev", conversations: true });
const { id: channel_id } = await person("POST", "/conversations", { text: "Please pay" });
const call = await hl.createFunctionCall({ spec: { fn: "pay", kwargs: {}, state, channel: { channel_id } } });
assert.deepEqual(call.spec.state, state);
assert.deepEqual(call.spec.channel, { channel_id });
await assert.rejects(hl.createFunctionCall({ spec: { fn: "pay", kwargs: {}, channel: { channel_id: 42 } } }), /conversation not found/);
const escalated = await hl.escalateEmailFunctionCall(call.call_id, { escalation_msg: "the bank closes at five" });
assert.equal(escalated.status.approved, undefined);
const said = await hl.backend.functions().respond(call.call_id, { approved: true, responded_at: new Date(0) });
assert.equal(said.status.approved, true);
assert.notEqual(said.status.responded_at, new Date(0).toISOString());
await assert.rejects(hl.backend.functions().respond(call.call_id, { approved: false }), /call already has a response/);
const contact = await hl.createHumanContact({ spec: { msg: "Well?" } });
await hl.escalateEmailHumanContact(contact.call_id, { escalation_msg: "please" });
assert.equal((await hl.backend.contacts().respond(contact.call_id, { response: "so" })).status.response, "so");
await assert.rejects(hl.backend.contacts().respond("nothing", { response: "so" }), /404/);
console.log("@humanlayer/sdk 0.7.9: ok");
