import assert from "node:assert/strict";
import { test } from "node:test";

import { Countersign, field } from "@countersign/client";

import { open } from "./support/local.js";

/** What a call sends. */
async function sent(ask: (client: Countersign) => PromiseLike<unknown>): Promise<unknown> {
  let body = "";
  const fetch = async (_: unknown, init: RequestInit = {}): Promise<Response> => {
    body = String(init.body);
    return new Response(JSON.stringify(open()), { status: 201 });
  };
  await ask(new Countersign({ apiKey: "key", fetch }));
  return JSON.parse(body);
}

test("each kind, at its shortest", async () => {
  for (const [ask, question] of [
    [(c) => c.approve("A?"), { kind: "approve", prompt: "A?", editable: false, reject_requires_reason: false }],
    [
      (c) => c.choose("A?", { options: ["eu", { id: "as", label: "Asia", description: "slow" }] }),
      { kind: "choose", prompt: "A?", options: [{ id: "eu", label: "eu" }, { id: "as", label: "Asia", description: "slow" }], pick: "one" },
    ],
    [
      (c) => c.provide("A?", { form: { name: field.text() } }),
      { kind: "provide", prompt: "A?", form: { fields: [{ key: "name", type: "text", label: "Name" }] } },
    ],
    [
      (c) => c.confirm("A?", { items: ["a"] }),
      { kind: "confirm", prompt: "A?", items: [{ id: "a", label: "a" }], yes: "Go ahead", no: "Do not" },
    ],
    [(c) => c.escalate("A?"), { kind: "escalate", prompt: "A?" }],
    [
      (c) => c.escalate("A?", { error: new RangeError("too far"), params: { n: 1 } }),
      { kind: "escalate", prompt: "A?", error: { name: "RangeError", message: "too far" }, params: { n: 1 } },
    ],
    [(c) => c.converse("A?", { context: "B" }), { kind: "converse", prompt: "A?", context: "B" }],
    [(c) => c.approve("A?", { details: {} }), { kind: "approve", prompt: "A?", editable: false, reject_requires_reason: false }],
  ] as readonly (readonly [(client: Countersign) => PromiseLike<unknown>, object])[]) {
    assert.deepEqual(await sent(ask), { question });
  }
});

test("everything an ask takes", async () => {
  const body = await sent((client) =>
    client.ask({
      question: { kind: "converse", prompt: "A?" },
      priority: "high",
      route: { to: "pool", group: "finance" },
      timeoutSeconds: 60,
      onExpiry: { report: "skip" },
      reminders: [new Date(0)],
      tags: ["refund"],
      metadata: { run: 7 },
      follows: "ask_1",
      callbackUrl: "https://agent.example/hook",
    }),
  );
  assert.deepEqual(body, {
    question: { kind: "converse", prompt: "A?" },
    priority: "high",
    route: { to: "pool", group: "finance" },
    timeout_seconds: 60,
    on_expiry: { report: "skip" },
    reminders: ["1970-01-01T00:00:00.000Z"],
    tags: ["refund"],
    metadata: { run: 7 },
    follows: "ask_1",
    callback_url: "https://agent.example/hook",
  });
});

test("fields on the wire: what is false or empty is left out", async () => {
  const body = await sent((client) =>
    client.provide("A?", {
      form: {
        billing_address: field.textarea({ required: false, sensitive: false, maxLength: 500, hint: "Street and city" }),
        refundReason: field.select({ required: true, options: ["late", { value: "bad", label: "Broken" }], default: "late" }),
        amount: field.range({ label: "€", min: 0, max: 120 }),
        secret: field.text({ sensitive: true, showIf: { field: "amount", operator: "gt", value: 100 } }),
        from: field.date({ min: "2026-01-31" }),
      },
    }),
  );
  assert.deepEqual((body as { question: { form: unknown } }).question.form, {
    fields: [
      { key: "billing_address", label: "Billing address", type: "textarea", hint: "Street and city", validation: { maxLength: 500 } },
      {
        key: "refundReason",
        label: "Refund reason",
        type: "select",
        required: true,
        default: "late",
        options: [{ value: "late", label: "late" }, { value: "bad", label: "Broken" }],
      },
      { key: "amount", label: "€", type: "range", validation: { min: 0, max: 120 } },
      { key: "secret", label: "Secret", type: "text", sensitive: true, conditional: { field: "amount", operator: "gt", value: 100 } },
      { key: "from", label: "From", type: "date", validation: { min: "2026-01-31" } },
    ],
  });
});
