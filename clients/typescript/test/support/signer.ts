/** Signs like the server does, so that receipts can be made wrong in every way. */

import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";

import { canonicalJson, type Jwk } from "@countersign/client";

const base64url = (value: string | Buffer): string => Buffer.from(value).toString("base64url");

/** A key pair from a seed of 32 equal bytes: the same in every run. */
export class Signer {
  readonly jwk: Jwk & { readonly x: string; readonly kid: string };
  private readonly key;

  constructor(seed: number) {
    const pkcs8 = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.alloc(32, seed)]);
    this.key = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" });
    const { x = "" } = createPublicKey(this.key).export({ format: "jwk" });
    this.jwk = { kty: "OKP", crv: "Ed25519", x, kid: thumbprint(x), alg: "EdDSA", use: "sig" };
  }

  sign(claims: object | string, header: object = {}): string {
    const head = { alg: "EdDSA", kid: this.jwk.kid, typ: "receipt+jwt", ...header };
    const text = `${base64url(canonicalJson(head))}.${base64url(typeof claims === "string" ? claims : canonicalJson(claims))}`;
    return `${text}.${base64url(sign(null, Buffer.from(text), this.key))}`;
  }
}

export function thumbprint(x: string): string {
  return createHash("sha256").update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest("base64url");
}

export const QUESTION = {
  kind: "approve",
  prompt: "Refund €120?",
  details: { order: 9007199254740993n, amount: 120.5 },
  editable: false,
  reject_requires_reason: false,
} as const;

/** The claims of an approval of `QUESTION`. */
export const CLAIMS = {
  v: 1,
  iss: "https://asks.example.com",
  jti: "rcpt_01J0000000000000000000000A",
  sub: "ask_01J0000000000000000000000A",
  iat: 1769860860,
  project: "dev",
  agent: "agent_dev",
  kind: "approve",
  prompt: QUESTION.prompt,
  question_sha256: createHash("sha256").update(canonicalJson(QUESTION)).digest("hex"),
  shown_sha256: "00".repeat(32),
  outcome: "completed",
  answer: { verdict: "approved" },
  by: { kind: "human", id: "user_dev" },
  via: "web",
  assurance: "session",
  asked_at: "2026-01-31T12:00:00.000Z",
  taken_up_at: "2026-01-31T12:00:30.000Z",
  ended_at: "2026-01-31T12:01:00.000Z",
  audit: { seq: 2, hash: "ab".repeat(32) },
} as const;
