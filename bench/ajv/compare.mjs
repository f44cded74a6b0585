// How fast envelopes are judged here, beside Ajv, on the same lines, in one run and in turns:
//   npm install && node compare.mjs [SECONDS] [TURNS]
// Both are given the same bytes, which are in memory before the clock starts, and both work on one thread
// after a warm-up. Like is held against like:
//   a verdict:   Checker::level       Ajv as it comes, which stops at the first error
//   everything:  Checker::check       Ajv with allErrors
// Whatever Ajv is told, it needs JSON.parse first, because bytes are what a server is given. Ajv on objects
// that were parsed before is measured too, and told. The ratio is the median of those of the turns.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import Ajv2020 from "ajv/dist/2020.js";
import { corpus } from "./corpus.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const seconds = Number(process.argv[2] ?? 1);
const turns = Number(process.argv[3] ?? 9);

const folder = mkdtempSync(join(tmpdir(), "envelopes-"));
try {
  const lines = corpus(3000);
  const file = join(folder, "corpus.jsonl");
  writeFileSync(file, lines.join("\n") + "\n");
  const bytes = lines.map((line) => Buffer.from(line));
  const parsed = lines.map((line) => JSON.parse(line));
  const schema = JSON.parse(readFileSync(join(root, "crates/dialects/tests/hxp_experience/published.schema.json"), "utf8"));
  const first = new Ajv2020({ strict: false }).compile(schema);
  const all = new Ajv2020({ allErrors: true, strict: false }).compile(schema);

  const rate = (judge) => {
    const began = process.hrtime.bigint();
    const limit = began + BigInt(Math.round(seconds * 1e9));
    let judged = 0;
    while (process.hrtime.bigint() < limit) {
      for (let i = 0; i < bytes.length; i++) judge(i);
      judged += bytes.length;
    }
    return judged / (Number(process.hrtime.bigint() - began) / 1e9);
  };

  const build = ["build", "-q", "--release", "-p", "countersign-dialects", "--example", "envelope_speed"];
  execFileSync("cargo", build, { cwd: root, stdio: "inherit" });
  const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
  const program = join(target, "release/examples/envelope_speed");
  const valid = parsed.filter((message) => all(message)).length;
  const ours = (what) => {
    const told = JSON.parse(execFileSync(program, [file, String(seconds), what], { encoding: "utf8" }));
    const judges = what === "level" || what === "report";
    if (judges && told.valid !== valid) throw new Error(`verdicts differ: ${told.valid} valid here, ${valid} there`);
    return told.per_second;
  };

  const measures = {
    level: () => ours("level"),
    first: () => rate((i) => first(JSON.parse(bytes[i].toString("utf8")))),
    report: () => ours("report"),
    all: () => rate((i) => all(JSON.parse(bytes[i].toString("utf8")))),
    bare: () => rate((i) => all(parsed[i])),
    parse: () => rate((i) => JSON.parse(bytes[i].toString("utf8"))),
    tree: () => ours("tree"),
    text: () => ours("text"),
  };
  measures.first();
  measures.all();
  const rows = [];
  for (let turn = 0; turn < turns; turn++) {
    rows.push(Object.fromEntries(Object.entries(measures).map(([name, measure]) => [name, measure()])));
  }
  const sorted = (of) => rows.map(of).sort((a, b) => a - b);
  const middle = (of) => sorted(of)[rows.length >> 1];
  const size = bytes.reduce((sum, line) => sum + line.length, 0) / bytes.length;
  const say = (name, words) => console.log(`${words.padEnd(58)} ${Math.round(middle((row) => row[name])).toLocaleString("en").padStart(11)}/s`);
  const ratio = (name, beside, words) => {
    const ratios = sorted((row) => row[name] / row[beside]).map((n) => n.toFixed(2));
    console.log(`${words.padEnd(58)} ${ratios[turns >> 1].padStart(11)}   (${ratios[0]} to ${ratios[turns - 1]})`);
  };
  console.log(`Node ${process.version}, ${lines.length} messages of ${Math.round(size)} bytes on average, ${valid} valid; median of ${turns} turns`);
  say("level", "here, bytes to verdict");
  say("first", "Ajv, bytes to verdict");
  ratio("level", "first", "ratio");
  say("report", "here, bytes to everything that is found");
  say("all", "Ajv with allErrors, bytes to errors");
  ratio("report", "all", "ratio");
  say("bare", "Ajv with allErrors, objects parsed before");
  say("parse", "JSON.parse alone, bytes to objects");
  say("tree", "serde_json alone, bytes to a tree");
  say("text", "UTF-8 alone");
} finally {
  rmSync(folder, { recursive: true });
}
