import assert from "node:assert/strict";
import { test } from "node:test";

import {
  ConnectionFailed,
  Countersign,
  CountersignError,
  InvalidRequest,
  Misconfigured,
  NotFound,
  RateLimited,
  ServerFailed,
  Unauthorized,
  NotAllowed,
  Conflict,
  verifyReceipt,
} from "@countersign/client";
import { startCountersign } from "@countersign/client/testing";
import { retryAfter } from "#dist/errors.js";

import { ID, json, Local, open, problem } from "./support/local.js";
import { Signer } from "./support/signer.js";

type Step = Response | Error | ((init: RequestInit) => Promise<Response>);

/** A client whose requests get these answers, one after the other. */
function scripted(...steps: Step[]): { client: Countersign; sent: (RequestInit & { url: string })[] } {
  const sent: (RequestInit & { url: string })[] = [];
  const fetch = async (input: unknown, init: RequestInit = {}): Promise<Response> => {
    sent.push({ url: String(input), ...init });
    const step = steps.shift();
    if (step === undefined) throw new Error("more requests than expected");
    if (step instanceof Error) throw step;
    return typeof step === "function" ? step(init) : step;
  };
  const retry = { retries: 3, firstDelayMs: 1, longestDelayMs: 2 };
  return { client: new Countersign({ url: "http://example.test/", apiKey: "key", fetch, retry }), sent };
}

const ok = (): Response => new Response(JSON.stringify(open()), { status: 201 });
const failed = (status: number, headers: Record<string, string> = {}): Response => new Response("no", { status, headers });
const header = (init: RequestInit, name: string): string | undefined => (init.headers as Record<string, string>)[name];

test("a create is tried again with the same key and the same bytes", async () => {
  const broken = new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code: "ECONNRESET" }) });
  const { client, sent } = scripted(broken, failed(503), failed(502), ok());
  const details = { amount: 120 };
  const asked = client.approve("Refund?", { details });
  details.amount = 1;
  assert.equal((await asked).id, ID);
  assert.equal(sent.length, 4);
  const keys = new Set(sent.map((init) => header(init, "idempotency-key")));
  assert.equal(keys.size, 1);
  assert.match([...keys][0] ?? "", /^[0-9a-f]{32}$/);
  assert.equal(new Set(sent.map((init) => init.body)).size, 1);
  assert.equal(sent[0]?.url, "http://example.test/api/v1/asks");
  assert.equal(header(sent[0] ?? {}, "authorization"), "Bearer key");
});

test("two asks have two keys, and a given key is used", async () => {
  const { client, sent } = scripted(ok(), ok(), ok());
  await client.approve("A?");
  await client.approve("A?");
  await client.approve("A?", { idempotencyKey: "job-7" });
  const [a, b, c] = sent.map((init) => header(init, "idempotency-key"));
  assert.notEqual(a, b);
  assert.equal(c, "job-7");
  await assert.rejects(client.approve("A?", { idempotencyKey: "a b" }), TypeError);
  assert.equal(sent.length, 3);
});

test("what is tried again, and what is not", async () => {
  for (const [status, tries] of [
    [429, 4],
    [502, 4],
    [503, 4],
    [504, 4],
    [400, 1],
    [401, 1],
    [404, 1],
    [409, 1],
    [422, 1],
    [500, 1],
  ] as const) {
    const { client, sent } = scripted(...Array.from({ length: tries }, () => failed(status)));
    await assert.rejects(client.get(ID), CountersignError);
    assert.equal(sent.length, tries, String(status));
  }
  const { client, sent } = scripted(...Array.from({ length: 4 }, () => new TypeError("fetch failed")));
  await assert.rejects(client.get(ID), (error) => error instanceof ConnectionFailed && /COUNTERSIGN_URL/.test(error.message));
  assert.equal(sent.length, 4);
});

test("Retry-After is waited for, but not for ever", async () => {
  const { client } = scripted(failed(429, { "retry-after": "1" }), ok());
  const started = performance.now();
  await client.get(ID);
  assert.ok(performance.now() - started >= 990);

  const long = scripted(failed(429, { "retry-after": "3600" }));
  await assert.rejects(long.client.get(ID), (error) => error instanceof RateLimited && error.retryAfterMs === 3_600_000);

  assert.equal(retryAfter("7"), 7000);
  assert.equal(retryAfter("soon"), undefined);
  assert.equal(retryAfter(new Date(0).toUTCString()), 0);
  assert.ok((retryAfter(new Date(Date.now() + 60_000).toUTCString()) ?? 0) > 50_000);
});

test("pauses grow, vary and are bounded", async () => {
  const { Transport } = await import("#dist/transport.js");
  const transport = new Transport("", "", fetch, { retries: 9, firstDelayMs: 100, longestDelayMs: 800 }, 1);
  for (const [n, most] of [[0, 100], [1, 200], [2, 400], [3, 800], [4, 800], [50, 800]] as const) {
    const delays = Array.from({ length: 50 }, () => transport.delay(n));
    assert.ok(delays.every((ms) => ms >= most / 2 && ms <= most), `${n}: ${Math.max(...delays)}`);
    assert.ok(new Set(delays).size > 1);
  }
});

test("an aborted signal ends requests and pauses with its reason", async () => {
  const reason = new Error("enough");
  const before = scripted();
  await assert.rejects(before.client.get(ID, { signal: AbortSignal.abort(reason) }), reason);
  assert.equal(before.sent.length, 0);

  const controller = new AbortController();
  const { client } = scripted(failed(503, { "retry-after": "30" }));
  const asked = client.approve("A?", { signal: controller.signal });
  setImmediate(() => controller.abort(reason));
  await assert.rejects(asked, reason);

  const hanging = new AbortController();
  const slow = scripted((init) => new Promise((_, reject) => init.signal?.addEventListener("abort", () => reject(init.signal?.reason))));
  const waiting = slow.client.get(ID, { signal: hanging.signal });
  hanging.abort(reason);
  await assert.rejects(waiting, reason);
});

test("a try that takes too long is given up and tried again", async () => {
  let requests = 0;
  const local = await Local.start((_, response) => {
    requests += 1;
    if (requests > 1) json(response, 200, open());
  });
  const client = local.client({ timeoutMs: 100 });
  assert.equal((await client.get(ID)).id, ID);
  assert.equal(requests, 2);
  local.handler = () => undefined;
  await assert.rejects(local.client({ timeoutMs: 50, retries: 1 }).get(ID), /no answer within 50 ms/);
  await local.close();
});

test("errors carry what the server said, and advice", async () => {
  const local = await Local.start((_, response) => {
    const errors = [{ field: "question.prompt", expected: "a non-empty string" }];
    const body = { type: "/errors/invalid-field", title: "invalid field", status: 422, detail: "question.prompt: empty", errors };
    json(response, 422, body, { "content-type": "application/problem+json", "x-request-id": "abc" });
  });
  const error: unknown = await local.client().approve("").catch((caught: unknown) => caught);
  assert.ok(error instanceof InvalidRequest && error instanceof CountersignError && error instanceof Error);
  const { name, code, status, detail, errors, requestId } = error;
  assert.deepEqual(
    { name, code, status, detail, errors, requestId },
    {
      name: "InvalidRequest",
      code: "invalid-field",
      status: 422,
      detail: "question.prompt: empty",
      errors: [{ field: "question.prompt", expected: "a non-empty string" }],
      requestId: "abc",
    },
  );
  assert.match(error.message, /question\.prompt: empty.*See http:\/\/127\.0\.0\.1:\d+\/errors\/invalid-field/);

  for (const [status, code, Kind, advice] of [
    [401, "unauthorized", Unauthorized, /COUNTERSIGN_API_KEY/],
    [403, "not-allowed", NotAllowed, /./],
    [404, "not-found", NotFound, /Check the ID/],
    [409, "idempotency-mismatch", Conflict, /another idempotencyKey/],
    [410, "timed-out", Conflict, /./],
    [500, "internal", ServerFailed, /./],
  ] as const) {
    local.handler = (_, response) => problem(response, status, code);
    await assert.rejects(local.client().get(ID), (caught) => {
      assert.ok(caught instanceof Kind && caught.code === code && caught.requestId === "req-1", code);
      return advice.test(caught.message);
    });
  }

  for (const body of ["<html>", '{"detail":"Not Found"}', '{"type":"https://elsewhere.test/not-found"}']) {
    local.handler = (_, response) => response.writeHead(404).end(body);
    await assert.rejects(local.client().get(ID), (caught) => {
      assert.ok(caught instanceof NotFound && caught.code === "http-404", body);
      return caught.message === `no Countersign API at ${local.url}; check COUNTERSIGN_URL. (http-404, 404)`;
    });
  }
  local.handler = (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>");
  await assert.rejects(local.client().get(ID), /not JSON; check COUNTERSIGN_URL/);
  await local.close();
});

test("a redirect is not followed: it could carry the key away", async () => {
  const elsewhere = await Local.start((_, response) => json(response, 200, open()));
  const local = await Local.start((_, response) => response.writeHead(308, { location: `${elsewhere.url}/x` }).end());
  await assert.rejects(local.client().get(ID), (error) => error instanceof Misconfigured && /redirects to http/.test(error.message));
  assert.equal(elsewhere.seen.length, 0);
  await local.close();
  await elsewhere.close();
});

test("configuration: environment, defaults, and what to do without a key", async () => {
  const names = ["COUNTERSIGN_URL", "COUNTERSIGN_API_KEY", "A2H_BASE_URL", "A2H_API_KEY", "HUMANLAYER_API_BASE", "HUMANLAYER_API_KEY"];
  const before = names.map((name) => [name, process.env[name]] as const);
  try {
    for (const name of names) delete process.env[name];
    assert.throws(() => new Countersign(), (error) => {
      assert.ok(error instanceof Misconfigured && error.code === "missing-api-key");
      return /Set COUNTERSIGN_API_KEY/.test(error.message);
    });
    const urls: string[] = [];
    const fetch = async (input: unknown): Promise<Response> => {
      urls.push(String(input));
      return ok();
    };
    await new Countersign({ apiKey: "key", fetch }).get(ID);
    // The names of A2H are read after our own.
    process.env["A2H_BASE_URL"] = "https://a2h.example.com/a2h/v1/";
    process.env["A2H_API_KEY"] = "key";
    await new Countersign({ fetch }).get(ID);
    process.env["COUNTERSIGN_URL"] = "https://asks.example.com/base/";
    process.env["COUNTERSIGN_API_KEY"] = "key";
    await new Countersign({ fetch }).get(ID);
    await new Countersign({ fetch, url: "http://other.test" }).get(ID);
    assert.deepEqual(urls, [
      `http://localhost:3402/api/v1/asks/${ID}`,
      `https://a2h.example.com/api/v1/asks/${ID}`,
      `https://asks.example.com/base/api/v1/asks/${ID}`,
      `http://other.test/api/v1/asks/${ID}`,
    ]);
  } finally {
    for (const [key, value] of before) {
      if (value === undefined) delete process.env[key];
      else process.env[key] = value;
    }
  }
  for (const url of ["localhost", "ftp://x", "http://user:pass@x", "http://x/?key=1", ""]) {
    assert.throws(() => new Countersign({ url, apiKey: "key" }), Misconfigured, url);
  }
});

test("options that do not exist are refused, and those that do are told", async () => {
  const { client, sent } = scripted();
  const wrong = { timeout: 5 } as object;
  const refusal = (...known: string[]) => (error: unknown): boolean => {
    assert.ok(error instanceof TypeError);
    assert.match(error.message, /^unknown option timeout; allowed options: /);
    for (const name of known) assert.match(error.message, new RegExp(`\\b${name}\\b`));
    return true;
  };
  for (const call of [
    () => client.approve("A?", wrong),
    () => client.choose("A?", { options: ["a", "b"], ...wrong }),
    () => client.provide("A?", { form: {}, ...wrong }),
    () => client.confirm("A?", { items: [], ...wrong }),
    () => client.escalate("A?", wrong),
    () => client.converse("A?", wrong),
    () => client.ask({ question: { kind: "converse", prompt: "A?" }, ...wrong }),
    () => client.requireApproval(function f() {}, wrong),
  ]) {
    assert.throws(call, refusal("timeoutSeconds", "signal"));
  }
  for (const [call, known] of [
    [() => client.wait(ID, wrong), "timeoutMs"],
    [() => client.cancel(ID, wrong), "reason"],
    [() => client.list(wrong).next(), "pageSize"],
    [() => client.events(wrong).next(), "after"],
    [() => client.get(ID, wrong), "signal"],
    [() => client.extend(ID, new Date(), wrong), "signal"],
    [() => client.comments(ID, wrong), "signal"],
    [() => client.file(ID, "0", wrong), "signal"],
    [() => client.receipt(ID, wrong), "signal"],
    [() => client.jwks(wrong), "signal"],
    [() => client.revocations(wrong), "signal"],
    [() => verifyReceipt("", { keys: [] }, wrong), "revocations"],
    [() => startCountersign(wrong), "startTimeoutMs"],
  ] as const) {
    await assert.rejects(call, refusal(known));
  }
  assert.throws(() => new Countersign({ apiKey: "key", ...wrong }), refusal("timeoutMs"));
  assert.throws(() => new Countersign({ apiKey: "key", retry: wrong }), refusal("retries"));
  assert.equal(sent.length, 0);
});

test("an id cannot lead to another address", async () => {
  const { client, sent } = scripted();
  for (const id of ["../keys", "a/b", "a?b", "", "a b"]) await assert.rejects(client.get(id), TypeError, id);
  assert.equal(sent.length, 0);
});

test("a cancellation whose answer was lost is still a cancellation", async () => {
  const body = JSON.stringify({ type: "/errors/already-cancelled", status: 409, detail: "already cancelled" });
  const cancelled = JSON.stringify(open({ state: "cancelled" }));
  const { client, sent } = scripted(new TypeError("fetch failed"), new Response(body, { status: 409 }), new Response(cancelled));
  assert.equal((await client.cancel(ID, { reason: "not needed" })).state, "cancelled");
  assert.deepEqual(sent.map((init) => init.method), ["POST", "POST", "GET"]);
});

test("lists fetch page after page", async () => {
  const local = await Local.start((request, response) => {
    const cursor = new URL(request.url ?? "", "http://x").searchParams.get("cursor");
    json(response, 200, cursor === null ? { asks: [open({ version: 1 })], next: "c 2" } : { asks: [open({ version: 2 })], next: null });
  });
  const versions: number[] = [];
  for await (const ask of local.client().list({ state: ["open", "completed"], kind: "approve", pageSize: 1 })) versions.push(ask.version);
  assert.deepEqual(versions, [1, 2]);
  assert.deepEqual(local.seen.map(({ path }) => path), [
    "/api/v1/asks?state=open&state=completed&kind=approve&limit=1",
    "/api/v1/asks?state=open&state=completed&kind=approve&limit=1&cursor=c+2",
  ]);
  await local.close();
});

test("all pages of the list of revocations are fetched", async () => {
  const signer = new Signer(7);
  const page = (next?: string): string => signer.sign({ iss: "x", iat: 1, revoked: [], keys: [], next }, { typ: "revocations+jwt" });
  const local = await Local.start((request, response) => void response.end(request.url?.includes("cursor") ? page() : page("rcpt_1")));
  assert.deepEqual(await local.client().revocations(), [page("rcpt_1"), page()]);
  assert.deepEqual(local.seen.map(({ path }) => path), ["/api/v1/receipts/revocations", "/api/v1/receipts/revocations?cursor=rcpt_1"]);
  await local.close();
});
