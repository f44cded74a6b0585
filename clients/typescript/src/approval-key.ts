/**
 * The idempotency key of a call that needs an approval. `clients/vectors/approvals.json` holds examples; the Python
 * client derives the same keys.
 */

import { hex, sha256 } from "./webcrypto.js";

/** The longest `Idempotency-Key` that the server takes. */
const LONGEST = 255;

const COUNTING =
  /^(?:\d{1,6}|(?:[A-Za-z]+[-_.: ]+)+\d{1,6}|(?:call|tool|function)\d{1,6}|functions\.[\w.-]+:\d+|pyd_ai_tool_call_id__.*)$/s;

/** The key of a call that the caller named. */
export function explicitKey(namespace: string, tool: string, key: string): Promise<string> {
  return joined([namespace, tool, key]);
}

/** The key of a call that the framework named. */
export function toolCallKey(namespace: string, tool: string, threadId: string, toolCallId: string): Promise<string> {
  return joined([namespace, tool, threadId, toolCallId]);
}

/**
 * Whether an id is likely to be the same in another conversation, such as `call_1`. Such an id must not stand for a
 * call: the person's answer to one call would be taken for the answer to another one.
 */
export function onlyCounts(toolCallId: string): boolean {
  return COUNTING.test(toolCallId);
}

async function joined(parts: readonly string[]): Promise<string> {
  // Encoded parts hold no colon, so two different lists of parts give two different texts.
  const text = ["approval", ...parts.map(encoded)].join(":");
  return text.length <= LONGEST ? text : `approval:sha256:${hex(await sha256(text))}`;
}

function encoded(part: string): string {
  const code = (mark: string): string => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(part).replace(/[!'()*]/g, code);
}
