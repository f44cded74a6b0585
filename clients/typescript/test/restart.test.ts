/** Against the real server: an agent that is killed while a person thinks, and started again. */

import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import type { Ask } from "@countersign/client";
import { startCountersign, type TestServer } from "@countersign/client/testing";

const script = new URL("./support/agent.js", import.meta.url).pathname;
let server: TestServer;
let env: NodeJS.ProcessEnv;

before(async () => {
  server = await startCountersign();
  env = { ...process.env, COUNTERSIGN_URL: server.url, COUNTERSIGN_API_KEY: server.agentKey };
});
after(() => server.stop());

/** Starts the agent; gives its lines once it waits for the person. */
async function waiting(thread: string, amount: number): Promise<{ child: ChildProcess; lines: string[]; closed: Promise<unknown> }> {
  const child = spawn(process.execPath, [script, thread, String(amount)], { env, stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(child, "close");
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on("line", (line) => lines.push(line));
  await Promise.race([once(reader, "line"), closed]);
  assert.deepEqual(lines, ["waiting"]);
  return { child, lines, closed };
}

async function killedWhileWaiting(thread: string): Promise<Ask> {
  const { child, closed } = await waiting(thread, 120);
  child.kill("SIGKILL");
  await closed;
  const [ask, ...more] = await asks(thread);
  assert.deepEqual([ask?.state, more], ["pending", []]);
  return ask ?? assert.fail();
}

async function asks(thread: string): Promise<Ask[]> {
  const found: Ask[] = [];
  for await (const ask of server.client().list({ state: "all" })) if (ask.tags.includes(thread)) found.push(ask);
  return found;
}

const run = async (thread: string, amount: number): Promise<string> => {
  const { stdout } = await promisify(execFile)(process.execPath, [script, thread, String(amount)], { env, timeout: 30_000 });
  return stdout;
};

test("a restarted agent waits for the question that is open", async () => {
  const first = await killedWhileWaiting("thread-1");
  const second = await waiting("thread-1", 120);
  await server.answer(first.id, { verdict: "approved" });
  await second.closed;
  assert.deepEqual(second.lines, ["waiting", "refunded 120"]);
  assert.deepEqual((await asks("thread-1")).map(({ id }) => id), [first.id]);
});

test("what was answered while the agent was away is found, however often the call is made", async () => {
  const first = await killedWhileWaiting("thread-2");
  await server.answer(first.id, { verdict: "rejected" }, "not this customer");
  for (const _ of [1, 2]) assert.match(await run("thread-2", 120), /^(waiting\n)?denied: not this customer\n$/);
  assert.equal((await asks("thread-2")).length, 1);
});

test("the same key for another call is refused", async () => {
  const first = await killedWhileWaiting("thread-3");
  await assert.rejects(run("thread-3", 999), /refund was not run: the key "approval::refund:thread-3%2Fcall_1" was used before/);
  await server.answer(first.id, { verdict: "approved" });
  assert.match(await run("thread-3", 120), /refunded 120/);
  assert.equal((await asks("thread-3")).length, 1);
});
