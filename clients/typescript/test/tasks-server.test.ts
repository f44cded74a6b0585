/** Tasks against the real server: HACP's reference flow, and a runtime that is cut off. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Countersign, type Duty, TaskError, type Tasks } from "@countersign/client";
import { startCountersign, type TestServer } from "@countersign/client/testing";

let server: TestServer;
let person: Tasks;
let agent: Tasks;

before(async () => {
  server = await startCountersign();
  person = new Countersign({ url: server.url, apiKey: server.humanToken }).tasks;
  agent = new Countersign({ url: server.url, apiKey: server.agentKey }).tasks;
});
after(() => server.stop());

test("the reference flow", async () => {
  const task = await person.create({ type: "text", goal: "Write it", acceptance_criteria: ["short"] });
  await person.assign(task.id, "agent_dev", { input: { n: 1 } }, { expectedTaskRevision: 0 });
  await assert.rejects(person.amend(task.id, "x", "clarify", { expectedTaskRevision: 0 }), (error) => {
    assert.ok(error instanceof TaskError);
    assert.deepEqual([error.code, error.retryable, error.details["task_revision"]], ["CONFLICT", true, 1]);
    return true;
  });
  const seen: string[] = [];
  const handle = async (duty: Duty): Promise<void> => {
    seen.push(duty.operation);
    const idempotencyKey = duty.key("step");
    if (duty.operation === "delegate") {
      await agent.start(duty.task_id);
      await agent.raise({ task_id: duty.task_id, kind: "approval", prompt: "May I?" }, { idempotencyKey });
    } else if (duty.operation === "resume") {
      const payload = { kind: "inline", content: `draft ${seen.length}` } as const;
      const art = duty.review && { art_id: duty.review.artifact_id };
      await agent.commit({ task_id: duty.task_id, type: "text", payload, ...art }, { idempotencyKey });
    }
  };
  await agent.run(handle, { once: true });
  const [item] = await person.inbox();
  await person.resolve(item?.checkpoint_id ?? "", { action: "approve", comment: "go" });
  await agent.run(handle, { once: true });
  const review = await person.review({ task_id: task.id, verdict: "changes_requested", requested_changes: ["less"] });
  await person.comment(review.id, "please");
  await agent.run(handle, { once: true });
  await person.review({ task_id: task.id, verdict: "approved" });
  assert.deepEqual(seen, ["delegate", "block", "resume", "resume"]);
  const done = await person.get(task.id);
  assert.deepEqual([done.state, done.deliveries.map(({ version }) => version)], ["completed", ["v1", "v2"]]);
  await agent.ledger.write({ scope: "project:dev", key: "ts/last", value: { v: 2 }, by: task.id });
  assert.deepEqual((await person.ledger.read("project:dev", "ts/last"))?.value, { v: 2 });
  assert.equal(await person.ledger.read("project:dev", "ts/nothing"), null);
  const [first] = await person.replay(task.id);
  assert.equal(first?.action, "task.created");
  assert.equal((await person.replayAt(task.id, first?.at ?? "")).task?.state, "created");
});

test("lists go on from page to page, and events from where they were", async () => {
  const made: string[] = [];
  for (const n of [0, 1, 2]) made.push((await person.create({ type: "text", goal: `Page ${n}` })).id);
  const listed: string[] = [];
  for await (const { id } of person.list({ limit: 2 })) listed.push(id);
  assert.deepEqual(listed.slice(0, 3), [...made].reverse());
  for await (const { event, data } of person.events({ after: 0 })) {
    if (data.task_id !== made[2]) continue;
    assert.equal(event, "task.created");
    break;
  }
});

test("a key makes a repeated call the same call", async () => {
  const once = { idempotencyKey: "ts-once" };
  const first = await person.create({ type: "text", goal: "Once" }, once);
  assert.equal((await person.create({ type: "text", goal: "Once" }, once)).id, first.id);
  await assert.rejects(person.create({ type: "text", goal: "Another" }, once), (error) => error instanceof TaskError && error.code === "CONFLICT" && !error.retryable);
});
