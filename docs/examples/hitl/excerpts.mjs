// What the page shows of the examples stands in them, line for line: node excerpts.mjs PAGE
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const page = readFileSync(process.argv[2], "utf8").split("### In Express and FastAPI")[1];
for (const [language, file] of [["js", "express.mjs"], ["python", "fastapi_service.py"]]) {
  const excerpt = new RegExp("```" + language + "\\n(.*?)```", "s").exec(page)?.[1] ?? "";
  const lines = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean).join("\n");
  assert.ok(excerpt !== "" && lines(readFileSync(file, "utf8")).includes(lines(excerpt)), `${file} has no such lines:\n${excerpt}`);
}
