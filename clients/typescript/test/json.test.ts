import assert from "node:assert/strict";
import { test } from "node:test";

import { canonicalJson, parseJson } from "@countersign/client";
import { copyJson, parseStrictJson, stringifyJson } from "#dist/json.js";

test("whole numbers keep their digits, up to 64 bits", () => {
  for (const [text, value] of [
    ["9007199254740991", 9007199254740991],
    ["9007199254740993", 9007199254740993n],
    ["-9007199254740993", -9007199254740993n],
    ["18446744073709551615", 18446744073709551615n],
    ["-9223372036854775808", -9223372036854775808n],
    ["18446744073709551616", 18446744073709552000],
    ["9007199254740993.0", 9007199254740992],
    ["1e3", 1000],
  ] as const) {
    assert.equal(parseJson(text), value, text);
    assert.equal(parseStrictJson(text), value, text);
  }
});

test("our reader agrees with the built-in one on everything else", () => {
  for (const text of [
    '{"a":[1,-0,0.5,1e-7,true,false,null,"x\\n\\u20ac\\\\\\"/"],"b":{},"c":[],"":{"d":""}}',
    ' \t\r\n[ 1 , { "a" : 2 } ] ',
    '"😀"',
    '{"__proto__":{"x":1}}',
  ]) {
    assert.deepEqual(parseStrictJson(text), JSON.parse(text), text);
  }
  assert.equal(Object.getPrototypeOf(parseStrictJson('{"__proto__":{"x":1}}')), Object.prototype);
  for (const text of ["", "{", "[1,]", "{'a':1}", '{"a":1,}', "01", "1.", "+1", "nul", "truex", '"\n"', '"\\x"', "[1]2", "-", '{"a"}', '"a']) {
    assert.throws(() => JSON.parse(text), text);
    assert.throws(() => parseStrictJson(text), SyntaxError, text);
  }
  assert.throws(() => parseStrictJson('{"a":1,"a":2}'), /duplicate member/);
  assert.throws(() => parseStrictJson("[".repeat(5000)), /500 levels/);
});

test("canonical JSON is RFC 8785, but for the digits of whole numbers", () => {
  for (const [value, text] of [
    [{ b: 1, a: [true, null], "\u20ac": 1, "\ud83d\ude00": 2, "\ufb33": 3 }, '{"a":[true,null],"b":1,"€":1,"😀":2,"\ufb33":3}'],
    [[333333333.33333329, 1e30, 4.5, 2e-3, 1e-27, -0, 1.0], "[333333333.3333333,1e+30,4.5,0.002,1e-27,0,1]"],
    ["€$\u000f\nA'B\"\\\\\"/", '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'],
    [{ order: 9007199254740993n }, '{"order":9007199254740993}'],
    [{ a: undefined, b: {} }, '{"b":{}}'],
  ] as const) {
    assert.equal(canonicalJson(value), text);
  }
});

test("what is not JSON is refused with its place", () => {
  class Money {
    amount = 1;
  }
  for (const [value, message] of [
    [{ a: [1, NaN] }, /^TypeError: a\[1\]: NaN is not JSON/],
    [{ a: { b: () => 1 } }, /^TypeError: a\.b: function is not JSON/],
    [{ a: new Map() }, /^TypeError: a: Map is not plain JSON/],
    [{ a: new Money() }, /Money is not plain JSON/],
    [[undefined], /\[0\]: undefined is not JSON/],
    [{ a: 2n ** 64n }, /64 bits/],
    ["\ud800", /surrogate/],
    [{ "\udc00": 1 }, /surrogate/],
  ] as const) {
    assert.throws(() => stringifyJson(value), (error) => message.test(String(error)));
    assert.throws(() => canonicalJson(value), TypeError);
  }
  assert.equal(stringifyJson({ b: new Date(0), a: Object.create(null) }), '{"b":"1970-01-01T00:00:00.000Z","a":{}}');
  assert.throws(() => copyJson([new Date(0)]), /Date is not plain JSON/);
});
