import assert from "node:assert/strict";
import { test } from "node:test";

import { type SseEvent, SseParser } from "#dist/sse.js";

const event = (data: string, more: Partial<SseEvent> = {}): SseEvent => ({ event: "message", data, id: "", ...more });

const TABLE: readonly (readonly [name: string, stream: string, events: readonly SseEvent[], retry?: number])[] = [
  ["one event", "data: a\n\n", [event("a")]],
  ["all fields", "id: 7\nevent: answered\ndata: {}\n\n", [event("{}", { event: "answered", id: "7" })]],
  ["several lines of data", "data: a\ndata:\ndata: b\n\n", [event("a\n\nb")]],
  ["CRLF", "id: 1\r\ndata: a\r\n\r\ndata: b\r\n\r\n", [event("a", { id: "1" }), event("b", { id: "1" })]],
  ["CR alone", "data: a\r\rdata: b\r\r", [event("a"), event("b")]],
  ["mixed ends", "data: a\r\n\ndata: b\n\r\ndata: c\r\n\r", [event("a"), event("b"), event("c")]],
  ["byte order mark", "\uFEFFdata: a\n\n", [event("a")]],
  ["a second mark is part of a name", "data: a\n\n\uFEFFdata: b\n\n", [event("a")]],
  ["comments", ": hello\n\n:\n\ndata: a\n: between\ndata: b\n\n", [event("a\nb")]],
  ["only one space is dropped", "data:  a\n\ndata:b\n\n", [event(" a"), event("b")]],
  ["a colon in the data", "data: a: b\n\n", [event("a: b")]],
  ["a field without a colon", "data\n\n", [event("")]],
  ["unknown fields", "data: a\nfoo: b\nDATA: c\n\n", [event("a")]],
  ["no data, no event; the id stays", "id: 3\nevent: x\n\ndata: a\n\n", [event("a", { id: "3" })]],
  ["an empty id resets", "id: 3\ndata: a\n\nid\ndata: b\n\n", [event("a", { id: "3" }), event("b")]],
  ["an id with NUL is ignored", "id: 3\ndata: a\n\nid: 4\0\ndata: b\n\n", [event("a", { id: "3" }), event("b", { id: "3" })]],
  ["retry", "retry: 2000\ndata: a\n\n", [event("a")], 2000],
  ["retry of rubbish", "retry: 2s\ndata: a\n\n", [event("a")]],
  ["a stream that breaks off", "data: a\n\ndata: b\n", [event("a")]],
  ["more than ASCII", "data: €120 😀\n\n", [event("€120 😀")]],
  ["nothing", "", []],
];

for (const [name, stream, expected, retry] of TABLE) {
  test(`events: ${name}, cut anywhere`, () => {
    const bytes = new TextEncoder().encode(stream);
    const read = (...pieces: Uint8Array[]): void => {
      const parser = new SseParser();
      const events = pieces.flatMap((piece) => parser.push(piece));
      assert.deepEqual(events, expected, pieces.map((piece) => JSON.stringify(new TextDecoder().decode(piece))).join(" + "));
      assert.equal(parser.retryMs, retry);
    };
    read(bytes);
    for (let a = 0; a <= bytes.length; a += 1) {
      read(bytes.subarray(0, a), bytes.subarray(a));
      for (let b = a; b <= bytes.length; b += 1) read(bytes.subarray(0, a), bytes.subarray(a, b), bytes.subarray(b));
    }
    read(...Array.from(bytes, (byte) => Uint8Array.of(byte)));
  });
}

test("a line without an end does not fill the memory", () => {
  const parser = new SseParser();
  const piece = new Uint8Array(1024 * 1024).fill(97);
  assert.throws(() => {
    for (let n = 0; n < 20; n += 1) parser.push(piece);
  }, /16 MiB/);
});
