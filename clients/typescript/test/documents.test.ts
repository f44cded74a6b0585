/** The code of README.md and the examples, run as they stand against the real server. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import { startCountersign, type TestServer } from "@countersign/client/testing";

import { sayYes } from "./support/person.js";

const run = promisify(execFile);
const build = new URL("../", import.meta.url);
const controller = new AbortController();
let server: TestServer;
let person: Promise<void>;

before(async () => {
  server = await startCountersign();
  person = sayYes(server, controller.signal);
  // Told at the end.
  person.catch(() => undefined);
});
after(async () => {
  controller.abort();
  await server.stop();
  await person;
});

const root = new URL("../", build);

for (const folder of ["readme/", "examples/"]) {
  for (const name of readdirSync(new URL(folder, root))) {
    test(`${folder}${name} runs and prints what it says`, () => prints(folder, name));
  }
}

async function prints(folder: string, name: string): Promise<void> {
  const source = readFileSync(new URL(folder + name, root), "utf8");
  const said = [...source.matchAll(/\/\/=> (.*)/g)].map(([, text]) => text ?? "");
  assert.ok(said.length > 0, "a document says what it prints with //=>");
  const script = new URL(folder + name.replace(/ts$/, "js"), build).pathname;
  const env = { ...process.env, COUNTERSIGN_URL: server.url, COUNTERSIGN_API_KEY: server.agentKey };
  const { stdout } = await run(process.execPath, [script], { env, timeout: 30_000 });
  let at = 0;
  for (const text of said) {
    at = stdout.indexOf(text, at);
    assert.ok(at >= 0, `${JSON.stringify(text)} is not in ${JSON.stringify(stdout)}`);
    at += text.length;
  }
}
