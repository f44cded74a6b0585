// How fast envelopes are judged here, beside Ajv, on the same lines, in one run and in turns:
//   npm install && node compare.mjs [SECONDS] [TURNS]
// Both begin with bytes and end with a verdict, because that is what a server is given. Ajv alone, on
// objects that were parsed before, is measured too, and told.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import Ajv2020 from "ajv/dist/2020.js";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const seconds = Number(process.argv[2] ?? 2);
const turns = Number(process.argv[3] ?? 5);

// Messages as agents send them: of every level, short and long, one in ten wrong in one place.
function corpus(count) {
  let seed = 1;
  const next = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
  const pick = (list) => list[next(list.length)];
  const words = "the ferry leaves at nine unless wind is strong so check first and keep your ticket".split(" ");
  const text = (n) => Array.from({ length: n }, () => pick(words)).join(" ");
  const lines = [];
  for (let i = 0; i < count; i++) {
    const hxp = {
      version: "1.0.0",
      intent: pick(["explain", "plan", "debug", "brainstorm", "draft", "summarize", "decide", "teach", "refuse"]),
      delivery: { verbosity: pick(["low", "medium", "high"]) },
      transparency: { confidence: next(101) / 100 },
      actions: Array.from({ length: next(4) }, () => ({ type: pick(["ask_followup", "expand", "verify_sources"]), label: text(3) })),
    };
    if (i % 3 > 0) {
      Object.assign(hxp.delivery, { format: pick(["steps", "bullets", "narrative"]), tone: pick(["direct", "warm"]), language: pick(["en", "tr", "de-CH"]) });
      hxp.cognition = { load: 1 + next(10), estimated_read_seconds: next(300), chunking: pick(["none", "light", "structured"]) };
      Object.assign(hxp.transparency, { verification_needed: next(2) === 0, assumptions: [text(6), text(5)], limits: [text(4)] });
      hxp.negotiation = { intent_confirmed: true, clarifying_questions: [text(7)] };
    }
    if (i % 3 > 1) {
      hxp.refusal = { type: "policy", severity: "soft", redirect_available: true };
      hxp.safety = { alignment_source: "policy", harm_risk: "low", safety_flag: false };
      hxp.extensions = { education: { grade: next(13) }, "vendor.acme": { trace: text(2) } };
    }
    if (i % 10 === 0) hxp.delivery.verbosity = "loud";
    lines.push(JSON.stringify({ hxp, content: text(20 + next(80)) }));
  }
  return lines;
}

const folder = mkdtempSync(join(tmpdir(), "envelopes-"));
try {
  const lines = corpus(3000);
  const file = join(folder, "corpus.jsonl");
  writeFileSync(file, lines.join("\n") + "\n");
  const bytes = lines.map((line) => Buffer.from(line));
  const schema = JSON.parse(readFileSync(join(root, "crates/dialects/tests/hxp_experience/published.schema.json"), "utf8"));
  const validate = new Ajv2020({ allErrors: true, strict: false }).compile(schema);
  const parsed = lines.map((line) => JSON.parse(line));

  const ajv = { judge: (i) => validate(JSON.parse(bytes[i].toString("utf8"))) };
  const bare = { judge: (i) => validate(parsed[i]) };
  const rate = ({ judge }) => {
    const began = process.hrtime.bigint();
    const limit = began + BigInt(Math.round(seconds * 1e9));
    let judged = 0;
    while (process.hrtime.bigint() < limit) {
      for (let i = 0; i < bytes.length; i++) judge(i);
      judged += bytes.length;
    }
    return judged / (Number(process.hrtime.bigint() - began) / 1e9);
  };

  execFileSync("cargo", ["build", "-q", "--release", "-p", "countersign-dialects", "--example", "envelope_speed"], { cwd: root, stdio: "inherit" });
  const ours = () => {
    const args = ["run", "-q", "--release", "-p", "countersign-dialects", "--example", "envelope_speed", "--", file, String(seconds)];
    return JSON.parse(execFileSync("cargo", args, { cwd: root, encoding: "utf8" }));
  };

  const valid = parsed.filter((message) => validate(message)).length;
  rate(ajv);
  const rows = [];
  for (let turn = 0; turn < turns; turn++) {
    const told = ours();
    if (told.valid !== valid || told.messages !== lines.length) throw new Error(`verdicts differ: ${told.valid} of ${told.messages} valid here, ${valid} there`);
    rows.push({ here: told.per_second, ajv: rate(ajv), bare: rate(bare) });
  }
  const middle = (name) => rows.map((row) => row[name]).sort((a, b) => a - b)[rows.length >> 1];
  const size = lines.reduce((sum, line) => sum + line.length, 0) / lines.length;
  const [here_, ajv_, bare_] = ["here", "ajv", "bare"].map(middle);
  const round = (n) => Math.round(n).toLocaleString("en");
  console.log(`Node ${process.version}, ${lines.length} messages of ${Math.round(size)} bytes on average, ${valid} valid; median of ${turns} turns`);
  console.log(`here, bytes to verdict and findings: ${round(here_)}/s`);
  console.log(`Ajv, bytes to verdict:               ${round(ajv_)}/s, ratio ${(here_ / ajv_).toFixed(2)}`);
  console.log(`Ajv, objects parsed before:          ${round(bare_)}/s, ratio ${(here_ / bare_).toFixed(2)}`);
} finally {
  rmSync(folder, { recursive: true });
}
