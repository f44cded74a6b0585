/** A person who says yes to everything, for examples that would wait for one. */

import { type Answer, type Ask, Countersign, type FieldSpec, type JsonValue } from "@countersign/client";
import type { TestServer } from "@countersign/client/testing";

export async function sayYes(server: TestServer, signal: AbortSignal): Promise<void> {
  const inbox = new Countersign({ url: server.url, apiKey: server.humanToken });
  while (!signal.aborted) {
    for await (const ask of inbox.list({ state: "open" })) {
      // Somebody else, perhaps the example itself, may be faster.
      await server.answer(ask.id, yes(ask)).catch(() => undefined);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function yes({ question }: Ask): Answer {
  switch (question?.kind) {
    case "choose":
      return { verdict: "chosen", options: question.options.slice(0, 1).map(({ id }) => id) };
    case "provide": {
      const fields = "fields" in question.form ? question.form.fields : [];
      return { verdict: "provided", values: Object.fromEntries(fields.map((field) => [field.key, filled(field)])) };
    }
    case "confirm":
      return { verdict: "confirmed", items: question.items.map(({ id }) => id) };
    case "escalate":
      return { verdict: "retry", params: question.params ?? {} };
    case "converse":
      return { verdict: "replied", text: "Yes, gladly." };
    default:
      return { verdict: "approved" };
  }
}

function filled(field: FieldSpec): JsonValue {
  switch (field.type) {
    case "number":
    case "range":
      return Number(field.validation?.min ?? 1);
    case "boolean":
      return true;
    case "select":
      return field.options?.[0]?.value ?? "";
    default:
      return "something";
  }
}
