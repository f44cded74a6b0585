/** What agent frameworks pass to a tool after its input, found by shape and without importing them. */

/** What is known of a call from the arguments that a framework added. */
export interface ToolCall {
  /** How many of the arguments are the tool's own. */
  readonly inputs: number;
  /** The model's id of this call. */
  readonly toolCallId?: string | undefined;
  /** The conversation's id. */
  readonly threadId?: string | undefined;
  /** Aborts when the framework no longer wants the result. */
  readonly signal?: AbortSignal | undefined;
}

/** Looks behind the first argument for what the Vercel AI SDK, LangChain and OpenAI Agents pass to tools. */
export function toolCallOf(args: readonly unknown[]): ToolCall {
  for (const [at, argument] of args.entries()) {
    if (at === 0 || !isRecord(argument)) continue;
    const found = vercel(argument) ?? langChain(argument) ?? openAi(argument, args[at + 1]);
    if (found) return { inputs: at, ...found };
  }
  return { inputs: args.length };
}

type Found = Omit<ToolCall, "inputs">;

/** Vercel AI SDK: `execute(input, { toolCallId, messages, abortSignal })`. */
function vercel(options: Record<string, unknown>): Found | undefined {
  const { toolCallId, messages, abortSignal } = options;
  if (typeof toolCallId !== "string" || !Array.isArray(messages)) return undefined;
  return { toolCallId, signal: signalOf(abortSignal) };
}

/** LangChain: `tool((input, config) => …)` with `{ toolCall, configurable, recursionLimit, tags, signal, … }`. */
function langChain(config: Record<string, unknown>): Found | undefined {
  const { toolCall, configurable, recursionLimit, tags, signal } = config;
  const call = isRecord(toolCall) && typeof toolCall["id"] === "string" && "args" in toolCall ? toolCall["id"] : undefined;
  // A tool that is invoked directly gets a config without a tool call.
  const isConfig = typeof recursionLimit === "number" && Array.isArray(tags);
  if (call === undefined && !isConfig) return undefined;
  const thread = isRecord(configurable) ? configurable["thread_id"] : undefined;
  return {
    toolCallId: call,
    threadId: typeof thread === "string" || typeof thread === "number" ? String(thread) : undefined,
    signal: signalOf(signal),
  };
}

/** OpenAI Agents: `execute(input, runContext, { toolCall: { callId }, signal })`. */
function openAi(context: Record<string, unknown>, details: unknown): Found | undefined {
  if (typeof context["approveTool"] !== "function" || typeof context["rejectTool"] !== "function") return undefined;
  const { toolCall, signal } = isRecord(details) ? details : {};
  const call = isRecord(toolCall) ? toolCall["callId"] : undefined;
  return { toolCallId: typeof call === "string" ? call : undefined, signal: signalOf(signal) };
}

function signalOf(value: unknown): AbortSignal | undefined {
  return isRecord(value) && typeof value["aborted"] === "boolean" && typeof value["addEventListener"] === "function"
    ? (value as unknown as AbortSignal)
    : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
