// Runs each example against the real server: the gate, a decision by callback, a forged callback, and a
// service that is killed while a person decides.
//   node test.mjs EXAMPLE COMMAND…      with COUNTERSIGN_BIN
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [name, command, ...args] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "hitl-example-"));
const started = [];

/** Starts a process and waits for a line it says, on either stream. */
async function start(program, words, env, ready) {
  const child = spawn(program, words, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  started.push(child);
  const said = [];
  const found = new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        said.push(line);
        const match = ready.exec(line);
        if (match) resolve(match);
      });
    }
    child.once("exit", () => reject(new Error(`${program} ended:\n${said.join("\n")}`)));
    setTimeout(() => reject(new Error(`${program} is not ready:\n${said.join("\n")}`)), 60_000).unref();
  });
  return { child, match: await found };
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

const post = (url, body, headers = {}) =>
  fetch(url, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) });

async function respond(reviewUrl, action) {
  const url = reviewUrl.replace("/review/", "/hitl/v1/reviews/").replace("?", "/respond?");
  assert.equal((await post(url, { action, data: {} })).status, 200);
}

try {
  const data = ["serve", "--dev", "--listen", "127.0.0.1:0", "--data", join(folder, "data")];
  const { match } = await start(process.env.COUNTERSIGN_BIN, data, {}, /^ {2}Inbox +(http:\S+?)\/?(\s|$)/);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const env = {
    COUNTERSIGN_URL: match[1],
    COUNTERSIGN_API_KEY: "dev-agent-key",
    SERVICE_URL: url,
    PORT: String(port),
    FOLDER: join(folder, "calls"),
  };
  const serve = () => start(command, args.map((one) => one.replace("$PORT", port)), env, /^ready$|running on http/);
  const shown = (caseId) => eventually(`the end of ${caseId}`, async () => {
    const answer = await fetch(`${url}/refunds/${caseId}`).catch(() => undefined);
    return answer?.status === 200 ? answer.json() : undefined;
  });
  let { child } = await serve();

  for (const [request, status, member, expected] of [
    [{ amount: 10 }, 200, "refunded", 10],
    [{ amount: 99 }, 400, "error", "HITL_CHOICE_REQUIRED"],
    [{ amount: 99, prefer_hitl: true, skip_hitl: true }, 400, "error", "VALIDATION_ERROR"],
    [{ amount: 99, skip_hitl: true }, 201, "hitl_skipped", true],
  ]) {
    const answer = await post(`${url}/refunds`, request);
    assert.equal(answer.status, status, JSON.stringify(request));
    assert.equal((await answer.json())[member], expected);
  }

  const ask = async () => {
    const answer = await post(`${url}/refunds`, { amount: 120, prefer_hitl: true });
    assert.equal(answer.status, 202);
    assert.match(answer.headers.get("retry-after"), /^\d+$/);
    const body = await answer.json();
    assert.equal(body.status, "human_input_required");
    return body.hitl;
  };
  const first = await ask();
  const forged = { event: "review.completed", case_id: first.case_id, result: { action: "approve", data: {} } };
  const signature = { "x-hitl-signature": `sha256=${"0".repeat(64)}` };
  assert.equal((await post(`${url}/hitl/callback`, forged, signature)).status, 401);
  assert.equal((await fetch(`${url}/refunds/${first.case_id}`)).status, 404);
  await respond(first.review_url, "approve");
  assert.deepEqual(await shown(first.case_id), { refunded: 120 });

  const second = await ask();
  await kill(child);
  await respond(second.review_url, "reject");
  ({ child } = await serve());
  assert.deepEqual(await shown(second.case_id), { refunded: 0 });
  assert.deepEqual(readdirSync(join(folder, "calls", "waiting")), []);
  console.log(`${name}: ok`);
} finally {
  for (const child of started) await kill(child);
  rmSync(folder, { recursive: true, force: true });
}
