import assert from "node:assert/strict";
import { test } from "node:test";

import { Countersign, NotFound, Unauthorized, WaitTimeout } from "@countersign/client";
import { Transport } from "#dist/transport.js";
import { waitFor } from "#dist/wait.js";

import { answered, eventually, frame, type Handler, ID, json, Local, open, problem, stream } from "./support/local.js";

const APPROVED = answered({ verdict: "approved" });
const isStream = (path: string | undefined): boolean => path === `/api/v1/asks/${ID}/events`;

/** Answers the stream with one handler and everything else with another. */
function routed(events: Handler, poll: Handler): Handler {
  return (request, response, body) => (isStream(request.url) ? events : poll)(request, response, body);
}

const unexpected: Handler = (_, response) => problem(response, 500, "internal");

test("waits on the stream", async () => {
  let answer: (() => void) | undefined;
  const local = await Local.start(
    routed((_, response) => {
      stream(response, `retry: 2000\n\n${frame("asked", open())}: still here\n\n`);
      answer = () => response.end(frame("answered", APPROVED));
    }, unexpected),
  );
  const waiting = local.client().wait(ID);
  await eventually("the client listens", () => answer !== undefined);
  answer?.();
  const outcome = await waiting;
  assert.equal(outcome.verdict, "approved");
  assert.equal(outcome.receipt, "head.body.signature");
  assert.equal(local.seen.length, 1);
  assert.equal(local.seen[0]?.headers.accept, "text/event-stream");
  await local.close();
});

test("fetches the ask when the stream left out the receipt", async () => {
  const local = await Local.start(
    routed(
      (_, response) => {
        stream(response);
        response.end(frame("answered", { ...APPROVED, receipt: null }));
      },
      (_, response) => json(response, 200, APPROVED),
    ),
  );
  assert.equal((await local.client().wait(ID)).receipt, "head.body.signature");
  await local.close();
});

test("polls where there is no stream", async () => {
  const refusals: Record<string, Handler> = {
    "not found": (_, response) => problem(response, 404, "not-found"),
    "not allowed by a proxy": (_, response) => void response.writeHead(405).end(),
    "another content type": (_, response) => json(response, 200, open()),
    "held back by a proxy": (_, response) => stream(response),
    "no answer at all": () => undefined,
    "always cut off": (_, response) => {
      stream(response);
      response.end();
    },
    "not JSON": (_, response) => {
      stream(response);
      response.end("data: {\n\n");
    },
  };
  for (const [name, refuse] of Object.entries(refusals)) {
    const versions = [open(), open({ version: 2 }), APPROVED];
    const tags: unknown[] = [];
    const local = await Local.start(
      routed(refuse, (request, response) => {
        tags.push(request.headers["if-none-match"]);
        assert.match(String(request.headers["prefer"]), /^wait=\d+$/);
        json(response, 200, versions[tags.length - 1], { etag: `"v${tags.length}"` });
      }),
    );
    const transport = new Transport(local.url, "key", fetch, { retries: 0, firstDelayMs: 1, longestDelayMs: 5 }, 5000);
    const ask = await waitFor(transport, ID, {}, { firstMs: 100, idleMs: 100 });
    assert.equal(ask.state, "completed", name);
    assert.deepEqual(tags, [undefined, '"v1"', '"v2"'], name);
    await local.close();
  }
});

test("a server that does not hold polls is not stormed", async () => {
  const polls: number[] = [];
  const local = await Local.start(
    routed(
      (_, response) => problem(response, 404, "not-found"),
      (_, response) => {
        polls.push(performance.now());
        if (polls.length === 1) json(response, 200, open(), { etag: '"1"' });
        else if (polls.length === 2) response.writeHead(304, { etag: '"1"' }).end();
        else json(response, 200, APPROVED);
      },
    ),
  );
  await local.client().wait(ID);
  const [, second = 0, third = 0] = polls;
  assert.ok(third - second > 900, `${third - second} ms`);
  await local.close();
});

test("a stream that falls silent is opened again", async () => {
  let streams = 0;
  const local = await Local.start(
    routed((_, response) => {
      streams += 1;
      stream(response, frame("asked", open()));
      if (streams === 2) response.end(frame("answered", APPROVED));
    }, unexpected),
  );
  const transport = new Transport(local.url, "key", fetch, { retries: 0, firstDelayMs: 1, longestDelayMs: 5 }, 5000);
  const ask = await waitFor(transport, ID, {}, { firstMs: 1000, idleMs: 100 });
  assert.deepEqual([ask.state, streams], ["completed", 2]);
  await local.close();
});

for (const streams of [true, false]) {
  test(`survives a restart of the server, ${streams ? "streaming" : "polling"}`, async () => {
    let current = open();
    let waiting = 0;
    const local = await Local.start(
      routed(
        (_, response) => {
          if (!streams) return problem(response, 404, "not-found");
          waiting += 1;
          stream(response, frame("asked", current));
          if (current.result) response.end();
        },
        (_, response) => {
          waiting += 1;
          if (current.result) json(response, 200, current);
        },
      ),
    );
    let inVain = 0;
    const counting: typeof fetch = (input, init) =>
      fetch(input, init).catch((error: unknown) => {
        inVain += 1;
        throw error;
      });
    const retry = { firstDelayMs: 5, longestDelayMs: 20 };
    const outcome = new Countersign({ url: local.url, apiKey: "key", fetch: counting, retry }).wait(ID);
    await eventually("the client waits", () => waiting === 1);
    await local.close();
    await eventually("it came back in vain", () => inVain >= 5);
    current = APPROVED;
    await local.listen();
    assert.equal((await outcome).verdict, "approved");
    await local.close();
  });
}

test("busy and failing servers are waited for", async () => {
  let tries = 0;
  const local = await Local.start(
    routed(
      (_, response) => {
        tries += 1;
        if (tries === 1) return problem(response, 429, "rate-limited");
        if (tries === 2) return problem(response, 503, "unavailable");
        stream(response);
        response.end(frame("answered", APPROVED));
      },
      (_, response) => json(response, 200, APPROVED),
    ),
  );
  assert.equal((await local.client().wait(ID)).verdict, "approved");
  await local.close();
});

test("a definite no ends the wait", async () => {
  const local = await Local.start((_, response) => problem(response, 401, "unauthorized"));
  await assert.rejects(local.client().wait(ID), Unauthorized);
  local.handler = (_, response) => problem(response, 404, "not-found");
  await assert.rejects(local.client().wait(ID), NotFound);
  await local.close();
});

test("time and the caller end the wait, and the connection with it", async () => {
  let closed = 0;
  const local = await Local.start((request, response) => {
    if (!isStream(request.url)) return json(response, 201, open());
    stream(response, frame("asked", open()));
    response.on("close", () => (closed += 1));
  });
  const asked = local.client().approve("A?");
  await assert.rejects(asked.wait({ timeoutMs: 100 }), (error) => {
    return error instanceof WaitTimeout && error.askId === ID && /still open/.test(error.message);
  });
  await eventually("the first connection is closed", () => closed === 1);

  const controller = new AbortController();
  const reason = new Error("enough");
  const waiting = asked.wait({ signal: controller.signal });
  await eventually("the client listens again", () => local.seen.length === 3);
  controller.abort(reason);
  await assert.rejects(waiting, reason);
  await eventually("the second connection is closed", () => closed === 2);
  await assert.rejects(asked.wait({ signal: AbortSignal.abort(reason) }), reason);

  local.handler = () => undefined;
  const early = new AbortController();
  const creating = local.client().approve("B?");
  const stuck = creating.wait({ signal: early.signal });
  early.abort(reason);
  await assert.rejects(stuck, reason);
  creating.catch(() => undefined);
  await local.close();
});
