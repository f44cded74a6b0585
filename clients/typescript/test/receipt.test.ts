import assert from "node:assert/strict";
import { test } from "node:test";

import {
  canonicalJson,
  InvalidReceipt,
  isApproval,
  type JsonObject,
  type Jwks,
  questionHash,
  type ReceiptClaims,
  verifyReceipt,
  type VerifyOptions,
} from "@countersign/client";
import { fromBase64url, toBase64url } from "#dist/base64url.js";
import { verifyEd25519 } from "#dist/ed25519.js";

import { CLAIMS, QUESTION, Signer, thumbprint } from "./support/signer.js";
import { vectors } from "./support/vectors.js";

const signer = new Signer(7);
const other = new Signer(8);
const jwks: Jwks = { keys: [other.jwk, signer.jwk] };
const good = signer.sign(CLAIMS);

async function refused(jws: string, code: string, options: VerifyOptions = {}, keys = jwks): Promise<void> {
  await assert.rejects(verifyReceipt(jws, keys, options), (error) => {
    assert.ok(error instanceof InvalidReceipt, String(error));
    assert.equal(error.code, code, error.message);
    return true;
  });
}

test("a genuine receipt gives its claims", async () => {
  assert.deepEqual(await verifyReceipt(good, jwks), CLAIMS);
  const options = { issuer: "https://asks.example.com/", question: QUESTION };
  const claims = await verifyReceipt(good, jwks, options);
  assert.equal(isApproval(claims), true);
  assert.deepEqual(await verifyReceipt(good, jwks, { question: canonicalJson(QUESTION) }), CLAIMS);
});

test("only a person's approval counts as one", async () => {
  for (const change of [
    { by: { kind: "system" }, assurance: "none" },
    { by: { kind: "agent", id: "a" }, assurance: "agent-attested" },
    { assurance: "agent-attested" },
    { assurance: "unheard-of" },
    { outcome: "expired", report: "approve" },
    { answer: { verdict: "rejected" } },
    { answer: undefined },
  ]) {
    const claims = await verifyReceipt(signer.sign({ ...CLAIMS, ...change }), jwks);
    assert.equal(isApproval(claims), false, JSON.stringify(change));
  }
  // Or nobody could test what acts on a receipt.
  assert.equal(isApproval(await verifyReceipt(signer.sign({ ...CLAIMS, via: "script" }), jwks)), true);
});

test("what is not a compact JWS in its one spelling is refused", async () => {
  const [head = "", body = "", tail = ""] = good.split(".");
  // 64 bytes leave four bits over in the last letter; any but zero would be a second spelling.
  const leftOver = `${tail.slice(0, -1)}${String.fromCharCode(tail.charCodeAt(tail.length - 1) + 1)}`;
  for (const [jws, code] of [
    ["", "shape"],
    ["a", "shape"],
    [`${head}.${body}`, "shape"],
    [`${good}.`, "shape"],
    [`.${good}`, "shape"],
    [` ${good}`, "encoding"],
    [`${good}\n`, "encoding"],
    [`${good}=`, "encoding"],
    [`${head}=.${body}.${tail}`, "encoding"],
    [`${head}.${body}.${leftOver}`, "encoding"],
    [`${head}.${body}\n.${tail}`, "signature"],
    [`${toBase64url(Buffer.from("[]"))}.${body}.${tail}`, "header"],
    [`${toBase64url(Buffer.from([0xff]))}.${body}.${tail}`, "header"],
    [`${"A".repeat(1025)}.${body}.${tail}`, "header"],
    ["A".repeat(16 * 1024 * 1024 + 1), "too-large"],
    [signer.sign('{"v":1,"v":1}'), "claims"],
    [signer.sign(JSON.stringify(CLAIMS)), "claims"],
    [signer.sign("[]"), "claims"],
    [undefined as unknown as string, "shape"],
  ] as const) {
    await refused(jws, code);
  }
});

test("the header must be exactly right", async () => {
  for (const [header, code] of [
    [{ alg: "none" }, "algorithm"],
    [{ alg: "HS256" }, "algorithm"],
    [{ alg: "eddsa" }, "algorithm"],
    [{ alg: undefined }, "algorithm"],
    [{ crit: ["exp"] }, "critical"],
    [{ crit: [] }, "critical"],
    [{ typ: "JWT" }, "typ"],
    [{ typ: "block+jwt" }, "typ"],
    [{ typ: undefined }, "typ"],
    [{ kid: undefined }, "header"],
    [{ kid: 7 }, "header"],
    [{ jwk: signer.jwk }, "header"],
  ] as const) {
    await refused(signer.sign(CLAIMS, header), code);
  }
  await refused(new Signer(9).sign(CLAIMS), "unknown-key");
  await refused(good, "unknown-key", {}, { keys: [] });
});

test("the signature must be right, and of the named key", async () => {
  const [head = "", body = "", tail = ""] = good.split(".");
  await refused(other.sign(CLAIMS, { kid: signer.jwk.kid }), "signature");
  const [, changed = ""] = signer.sign({ ...CLAIMS, agent: "agent_evil" }).split(".");
  await refused(`${head}.${changed}.${tail}`, "signature");
  await refused(`${head}.${body}.`, "signature");
  for (const at of [0, 31, 32, 63]) {
    const bytes = Buffer.from(tail, "base64url");
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    await refused(`${head}.${body}.${bytes.toString("base64url")}`, "signature");
  }
});

test("a second spelling of the same signature is refused", async () => {
  const [head = "", body = "", tail = ""] = good.split(".");
  const bytes = Buffer.from(tail, "base64url");
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  const s = BigInt(`0x${Buffer.from(bytes.subarray(32)).reverse().toString("hex")}`) + order;
  Buffer.from(s.toString(16).padStart(64, "0"), "hex").reverse().copy(bytes, 32);
  await refused(`${head}.${body}.${bytes.toString("base64url")}`, "signature");
});

test("keys that would sign anything are refused", async () => {
  const zero = new Uint8Array(64);
  for (const point of [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  ]) {
    const key = Buffer.from(point, "hex");
    const signature = Buffer.concat([key, zero.subarray(32)]);
    assert.equal(await verifyEd25519(key, signature, new Uint8Array(1)), false, point);
    const x = key.toString("base64url");
    const forged = { kty: "OKP", crv: "Ed25519", x, kid: thumbprint(x) };
    const [head, body] = signer.sign(CLAIMS, { kid: forged.kid }).split(".");
    await refused(`${head}.${body}.${signature.toString("base64url")}`, "signature", {}, { keys: [forged] });
  }
});

test("a key must be what it says", async () => {
  for (const change of [
    { kty: "EC" },
    { crv: "X25519" },
    { alg: "ES256" },
    { use: "enc" },
    { x: "AAAA" },
    { x: `${signer.jwk.x}=` },
    { x: other.jwk.x },
  ]) {
    await refused(good, "unknown-key", {}, { keys: [{ ...signer.jwk, ...change }] });
  }
});

test("the claims must be those of a receipt", async () => {
  for (const v of [2, "1", undefined]) await refused(signer.sign({ ...CLAIMS, v }), "version");
  for (const change of [
    { jti: "rcpt_01J0000000000000000000000B" },
    { sub: "ask_1", jti: "rcpt_1" },
    { iss: undefined },
    { iat: "now" },
    { outcome: "approved" },
    { question_sha256: "ABC" },
    { by: "user_dev" },
    { by: { kind: "ghost" } },
    { audit: undefined },
    { prompt: 1 },
  ]) {
    await refused(signer.sign({ ...CLAIMS, ...change }), "claims");
  }
});

test("issuer and question are held against it", async () => {
  await refused(good, "issuer", { issuer: "https://asks.example.com.evil.io" });
  await refused(good, "question", { question: { ...QUESTION, prompt: "Refund €121?" } });
  // One apart, and the same to whoever rounds to a double.
  const rounded = { ...QUESTION, details: { ...QUESTION.details, order: 9007199254740992n } };
  await refused(good, "question", { question: rounded });
});

test("revoked receipts and keys are refused, and so are lists of somebody else", async () => {
  const list = (claims: object, by = signer, header = {}): string =>
    by.sign({ iss: CLAIMS.iss, iat: 1, revoked: [], keys: [], ...claims }, { typ: "revocations+jwt", ...header });
  const at = "2026-02-01T00:00:00.000Z";
  const empty = list({ revoked: [{ jti: "rcpt_01J0000000000000000000000B", at, reason: "other" }] });
  assert.deepEqual(await verifyReceipt(good, jwks, { revocations: empty }), CLAIMS);
  const revoked = list({ revoked: [{ jti: CLAIMS.jti, at, reason: "wrong person" }] });
  await refused(good, "revoked", { revocations: revoked });
  await refused(good, "revoked", { revocations: [empty, revoked] });
  await refused(good, "revoked", { revocations: list({ keys: [{ kid: signer.jwk.kid, at, reason: "stolen" }] }, other) });
  await refused(good, "revocations", { revocations: list({ iss: "https://elsewhere.example.com" }) });
  await refused(good, "revocations", { revocations: list({ revoked: undefined }) });
  await refused(good, "typ", { revocations: good });
  await refused(good, "unknown-key", { revocations: list({}, new Signer(9)) });
  await refused(good, "shape", { revocations: "" });
  // Half a list would let a revoked receipt through.
  const first = list({ next: "rcpt_01J0000000000000000000000B" });
  await refused(good, "revocations", { revocations: first });
  await refused(good, "revocations", { revocations: [] });
  assert.deepEqual(await verifyReceipt(good, jwks, { revocations: [first, empty] }), CLAIMS);
});

test("base64url has one spelling", () => {
  for (let length = 0; length < 70; length += 1) {
    const bytes = Uint8Array.from({ length }, (_, n) => (n * 97 + length) % 256);
    const text = Buffer.from(bytes).toString("base64url");
    assert.equal(toBase64url(bytes), text);
    assert.deepEqual(fromBase64url(text), bytes);
  }
  for (const text of ["A", "AAAAA", "AB", "AAB", "AA==", "A A", "AA\n", "é"]) assert.equal(fromBase64url(text), undefined, text);
});

test("a runtime without Ed25519 says so", async () => {
  const webcrypto = Object.getOwnPropertyDescriptor(globalThis, "crypto");
  const { webcrypto: real } = await import("node:crypto");
  const subtle = {
    digest: real.subtle.digest.bind(real.subtle),
    importKey: () => Promise.reject(new DOMException("Unrecognized name", "NotSupportedError")),
  };
  Object.defineProperty(globalThis, "crypto", { value: { subtle }, configurable: true });
  try {
    await assert.rejects(verifyReceipt(good, jwks), /has no Ed25519\. Use Node 18\.4/);
  } finally {
    if (webcrypto) Object.defineProperty(globalThis, "crypto", webcrypto);
    else Reflect.deleteProperty(globalThis, "crypto");
  }
});

interface Vectors {
  readonly jwks: Jwks;
  readonly cases: readonly {
    readonly name: string;
    readonly jws: string;
    readonly valid: boolean;
    readonly why?: string;
    readonly claims?: ReceiptClaims;
    readonly question?: JsonObject;
    readonly canonical?: string;
    readonly question_sha256?: string;
  }[];
}

test("the vectors all clients share", async () => {
  const known = vectors("receipts") as unknown as Vectors;
  assert.ok(known.cases.some(({ valid }) => valid) && known.cases.some(({ valid }) => !valid));
  for (const { name, jws, valid, why, claims, question, canonical, question_sha256: hash } of known.cases) {
    const verified = verifyReceipt(jws, known.jwks, { question });
    if (valid) {
      const found = await verified.catch((error: unknown) => assert.fail(`${name}: ${String(error)}`));
      if (claims !== undefined) assert.deepEqual(found, claims, name);
    } else {
      await assert.rejects(verified, (error) => {
        assert.ok(error instanceof InvalidReceipt, `${name}: ${String(error)}`);
        assert.equal(error.code, why ?? error.code, name);
        return true;
      });
    }
    if (question !== undefined && canonical !== undefined) assert.equal(canonicalJson(question), canonical, name);
    if (question !== undefined && hash !== undefined) assert.equal(await questionHash(question), hash, name);
  }
});
