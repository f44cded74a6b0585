/** A loop of tool calls in which a person guards the dangerous tool, and the model reads why not. */

import { Countersign } from "@countersign/client";

const countersign = new Countersign();

const tools = {
  read_file: async ({ path }: { path: string }) => `contents of ${path}`,
  delete_file: countersign.requireApproval(async ({ path }: { path: string }) => `deleted ${path}`, {
    name: "delete_file",
    prompt: ({ path }) => `Delete ${path}?`,
    onDenied: "return",
    waitTimeoutMs: 600_000,
  }),
};

// What a model would say, one call after the other.
const calls = [
  { tool: "read_file", input: { path: "notes.txt" } },
  { tool: "delete_file", input: { path: "notes.txt" } },
] as const;

for (const { tool, input } of calls) {
  const output = await tools[tool](input);
  console.log(`${tool}: ${output}`);
}
//=> read_file: contents of notes.txt
//=> delete_file: deleted notes.txt
