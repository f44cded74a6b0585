// Runs each receiver against the real server: a test, an answer, both secrets while one is replaced, and a
// call that somebody forged.
//   node test.mjs FORMAT EXAMPLE COMMAND…      with COUNTERSIGN_BIN
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [format, name, command, ...args] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "webhook-example-"));
const started = [];

/** Starts a process and waits for a line it says; what else it says is kept. */
async function start(program, words, env, ready) {
  const child = spawn(program, words, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "ignore"] });
  started.push(child);
  const said = [];
  const match = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      said.push(line);
      const found = ready.exec(line);
      if (found) resolve(found);
    });
    child.once("exit", () => reject(new Error(`${program} ended:\n${said.join("\n")}`)));
    setTimeout(() => reject(new Error(`${program} is not ready:\n${said.join("\n")}`)), 60_000).unref();
  });
  return { child, match, said };
}

async function kill(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.removeAllListeners("exit");
  child.kill("SIGKILL");
  await once(child, "exit");
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function eventually(what, look) {
  for (const end = Date.now() + 60_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 20))) {
    const found = await look();
    if (found) return found;
  }
  throw new Error(`never: ${what}`);
}

try {
  const data = ["serve", "--dev", "--listen", "127.0.0.1:0", "--data", join(folder, "data")];
  const { match } = await start(process.env.COUNTERSIGN_BIN, data, {}, /^ {2}Inbox +(http:\S+?)\/?(\s|$)/);
  const call = async (path, key, body = {}) => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
    const answer = await fetch(`${match[1]}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    assert.ok(answer.ok, `${path}: ${answer.status}`);
    return answer.json();
  };
  const person = (path, body) => call(path, "dev-human-token", body);
  const answered = async () => {
    const ask = await call("/api/v1/asks", "dev-agent-key", { question: { kind: "approve", prompt: "Refund?" } });
    await person(`/api/v1/asks/${ask.id}/answer`, { answer: { verdict: "approved" } });
  };
  const [test, end] = format === "standard" ? ["webhook.test", "ask.answered"] : ["test", "function_call.completed"];

  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const hook = await person("/api/v1/webhooks", { agent: "agent_dev", url, format });
  const serve = (secret) => start(command, args, { SECRET: secret, PORT: String(port) }, /^ready$/);
  const { child, said } = await serve(hook.secret);
  const heard = (kind, times) => eventually(kind, () => said.filter((line) => line === kind).length === times);
  await person(`/api/v1/webhooks/${hook.id}/test`);
  await heard(test, 1);
  await answered();
  await heard(end, 1);
  const rotated = await person(`/api/v1/webhooks/${hook.id}/rotate`);
  await answered();
  await heard(end, 2);
  const forged = { "svix-id": "msg_1", "svix-timestamp": String(Math.floor(Date.now() / 1000)), "svix-signature": "v1,AAAA" };
  const renamed = Object.fromEntries(Object.entries(forged).map(([key, value]) => [key.replace("svix", "webhook"), value]));
  const refused = await fetch(url, { method: "POST", headers: { ...forged, ...renamed }, body: "{}" });
  assert.ok([400, 401].includes(refused.status));

  await kill(child);
  const next = await serve(rotated.secret);
  await answered();
  await eventually("the new secret verifies", () => next.said.includes(end));
  console.log(`${name}: ok`);
} finally {
  for (const child of started) await kill(child);
  rmSync(folder, { recursive: true, force: true });
}
