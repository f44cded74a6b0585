/** What the compiler must accept and refuse. Nothing here runs; a line that compiles although it must not is an error. */

import { type ApproveOutcome, type Asked, type Ask, Countersign, field, type FileRef, type Outcome, type Values } from "@countersign/client";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const yes = <T extends true>(): T | undefined => undefined;

declare const client: Countersign;

export async function approvals(): Promise<void> {
  const asked = client.approve("Refund?", { details: { amount: 120, lines: [{ id: 1n }] }, editable: true });
  yes<Same<typeof asked, Asked<ApproveOutcome>>>();
  const ask = await asked;
  yes<Same<typeof ask, Ask>>();
  const answer = await asked.wait({ timeoutMs: 1000, signal: new AbortController().signal });
  if (answer.verdict === "approved") {
    yes<Same<typeof answer.by.kind, "human">>();
    answer.edits?.["amount"];
  } else {
    // @ts-expect-error: only an approval can be edited
    answer.edits;
  }
  // @ts-expect-error: an approval is never chosen
  if (answer.verdict === "chosen") return;
  // @ts-expect-error: there is no boolean that could be read the wrong way
  answer.approved;
  // @ts-expect-error: a comment is only there when a person answered
  answer.comment;
  if (answer.verdict === "defaulted") yes<Same<typeof answer.assurance, "none" | "agent-attested" | "link" | "channel" | "session" | "passkey" | null>>();
  // @ts-expect-error: details are an object
  client.approve("Refund?", { details: "all" });
  // @ts-expect-error: functions are not JSON
  client.approve("Refund?", { details: { run: () => 1 } });
  // @ts-expect-error: no such priority
  client.approve("Refund?", { priority: "urgent" });
  // @ts-expect-error: a person's route names them
  client.approve("Refund?", { route: { to: "person" } });
  // @ts-expect-error: no such option
  client.approve("Refund?", { detials: {} });
}

export async function choices(): Promise<void> {
  const answer = await client.choose("Where?", { options: ["eu", { id: "asia", label: "Asia" }], suggested: "eu" }).wait();
  if (answer.verdict === "chosen") {
    yes<Same<typeof answer.option, "eu" | "asia">>();
    yes<Same<typeof answer.options, readonly ("eu" | "asia")[]>>();
    // @ts-expect-error: not among the options
    if (answer.option === "mars") return;
  }
  // @ts-expect-error: not among the options
  client.choose("Where?", { options: ["eu", "asia"], suggested: "mars" });
  // @ts-expect-error: nothing to choose from
  client.choose("Where?", {});
  const names: string[] = [];
  const free = await client.choose("Where?", { options: names }).wait();
  if (free.verdict === "chosen") yes<Same<typeof free.option, string>>();

  const confirmed = await client.confirm("Delete?", { items: [{ id: "a", label: "A" }, "b"], yes: "Delete", no: "Keep" }).wait();
  if (confirmed.verdict === "confirmed") yes<Same<typeof confirmed.items, readonly ("a" | "b")[]>>();
}

export async function forms(): Promise<void> {
  const form = {
    name: field.text({ required: true }),
    age: field.number({ min: 0 }),
    size: field.select({ options: ["s", { value: "m", label: "Medium" }], required: true }),
    extras: field.multiselect({ options: ["a", "b"], default: ["a"] }),
    agreed: field.boolean({ required: true }),
    why: field.textarea({ required: true, showIf: { field: "agreed", operator: "eq", value: false } }),
    proof: field.file(),
    level: field.range({ min: 1, max: 5, required: true }),
  };
  const answer = await client.provide("Who?", { form }).wait();
  if (answer.verdict === "provided") {
    yes<Same<typeof answer.values, Values<typeof form>>>();
    yes<Same<typeof answer.values.name, string>>();
    yes<Same<typeof answer.values.age, number | undefined>>();
    yes<Same<typeof answer.values.size, "s" | "m">>();
    yes<Same<typeof answer.values.extras, readonly ("a" | "b")[] | undefined>>();
    yes<Same<typeof answer.values.agreed, boolean>>();
    yes<Same<typeof answer.values.why, string | undefined>>();
    yes<Same<typeof answer.values.proof, FileRef | string | undefined>>();
    yes<Same<typeof answer.values.level, number>>();
    // @ts-expect-error: no such field
    answer.values.nickname;
  }
  // @ts-expect-error: a range has two ends
  field.range({ min: 1 });
  // @ts-expect-error: not among the options
  field.select({ options: ["s", "m"], default: "xl" });
  // @ts-expect-error: a number has no pattern
  field.number({ pattern: "x" });
  // @ts-expect-error: fields are made with `field`
  client.provide("Who?", { form: { name: "text" } });
}

export async function others(): Promise<void> {
  const escalated = await client.escalate("It broke", { error: new Error("x"), params: { tries: 1 } }).wait();
  if (escalated.verdict === "retry") escalated.params["tries"];
  const said = await client.converse("Hello?").wait();
  if (said.verdict === "replied") yes<Same<typeof said.text, string>>();

  const raw = await client
    .ask({ question: { kind: "choose", prompt: "Where?", options: [{ id: "x", label: "X" }, { id: "y", label: "Y" }], pick: "many" } })
    .wait();
  if (raw.verdict === "chosen") yes<Same<typeof raw.option, "x" | "y">>();
  const plain = await client.ask({ question: { kind: "approve", prompt: "A?" }, onExpiry: { report: "reject" }, timeoutSeconds: 5 }).wait();
  yes<Same<typeof plain, ApproveOutcome>>();
  // @ts-expect-error: choices are needed
  client.ask({ question: { kind: "choose", prompt: "Where?" } });
  // @ts-expect-error: not a verdict
  client.ask({ question: { kind: "converse", prompt: "A?" }, onExpiry: { answer: { answer: { verdict: "sure" } } } });
  const any = await client.wait("ask_1");
  yes<Same<typeof any, Outcome>>();

  for await (const event of client.events({ after: 7 })) {
    // @ts-expect-error: a reset has no ask
    event.ask;
    if (event.event !== "reset") yes<Same<typeof event.ask, Ask>>();
  }
}

export async function guards(): Promise<void> {
  const add = async (a: number, b: number): Promise<number> => a + b;
  const guarded = client.requireApproval(add);
  yes<Same<typeof guarded, (...args: [a: number, b: number]) => Promise<number>>>();
  // @ts-expect-error: the arguments are those of the function
  await guarded("1", 2);
  const told = client.requireApproval(add, { onDenied: "return", editable: true });
  const answer = await told(1, 2);
  yes<Same<typeof answer, string | number>>();
  client.requireApproval(add, { prompt: (a, b) => `Add ${a} and ${b}?` });
  client.requireApproval(add, { key: (a, b) => `${a.toFixed()}/${b.toFixed()}`, namespace: "sums", parameters: ["a", "b"] });
  // @ts-expect-error a key is a text
  client.requireApproval(add, { key: (a) => a });
}
