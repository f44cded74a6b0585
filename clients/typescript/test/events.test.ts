import assert from "node:assert/strict";
import { test } from "node:test";

import { ConnectionFailed, Unauthorized } from "@countersign/client";

import { answered, eventually, frame, Local, open, problem, stream } from "./support/local.js";

test("events go on where they broke off", async () => {
  let connections = 0;
  const local = await Local.start((_, response) => {
    connections += 1;
    if (connections === 1) {
      stream(response, `event: ready\ndata: {}\n\n${frame("asked", open(), 7)}`);
      response.write("id: 8\nevent: answered\ndata: {\"cut");
      response.socket?.destroySoon();
    } else if (connections === 2) {
      problem(response, 503, "unavailable");
    } else {
      stream(response, `event: ready\ndata: {}\n\n${frame("answered", answered({ verdict: "approved" }), 8)}`);
    }
  });
  const seen: unknown[] = [];
  const onReady = (): void => void seen.push("ready");
  for await (const event of local.client().events({ after: 6, onReady })) {
    if (event.event === "reset") continue;
    seen.push([event.event, event.position, event.ask.state]);
    if (event.event === "answered") break;
  }
  assert.deepEqual(seen, ["ready", ["asked", 7, "pending"], "ready", ["answered", 8, "completed"]]);
  assert.deepEqual(local.seen.map(({ headers }) => headers["last-event-id"]), ["6", "7", "7"]);
  await local.close();
});

test("leaving the loop closes the connection", async () => {
  let closed = false;
  const local = await Local.start((_, response) => {
    stream(response, `event: ready\ndata: {}\n\n${frame("asked", open())}`);
    response.on("close", () => (closed = true));
  });
  for await (const event of local.client().events()) {
    assert.equal(event.event, "asked");
    break;
  }
  await eventually("the connection is closed", () => closed);
  assert.equal(local.seen[0]?.headers["last-event-id"], undefined);
  await local.close();
});

test("a reset is told, and the old position forgotten", async () => {
  let connections = 0;
  const local = await Local.start((_, response) => {
    connections += 1;
    stream(response, connections === 1 ? "event: reset\ndata: {}\n\n" : frame("asked", open(), 90));
    if (connections === 1) response.end();
  });
  const seen: string[] = [];
  for await (const event of local.client().events({ after: "3" })) {
    seen.push(event.event);
    if (event.event === "asked") break;
  }
  assert.deepEqual(seen, ["reset", "asked"]);
  assert.deepEqual(local.seen.map(({ headers }) => headers["last-event-id"]), ["3", undefined]);
  await local.close();
});

test("what never worked is given up; what the server refuses, at once", async () => {
  const local = await Local.start((_, response) => problem(response, 401, "unauthorized"));
  await assert.rejects(local.client().events().next(), Unauthorized);
  const client = local.client({ retries: 2 });
  await local.close();
  await assert.rejects(client.events().next(), ConnectionFailed);
});

test("the caller's signal ends the stream with its reason", async () => {
  const local = await Local.start((_, response) => stream(response, "event: ready\ndata: {}\n\n"));
  const controller = new AbortController();
  const reason = new Error("enough");
  const next = local.client().events({ signal: controller.signal }).next();
  await eventually("connected", () => local.seen.length === 1);
  controller.abort(reason);
  await assert.rejects(next, reason);
  await local.close();
});
