/** Receipts: what came back, provable offline with nothing but the server's public keys. */

import { fromBase64url, toBase64url } from "./base64url.js";
import { verifyEd25519 } from "./ed25519.js";
import { InvalidReceipt } from "./errors.js";
import { canonicalJson, type JsonObject, type JsonValue, parseStrictJson } from "./json.js";
import { isPersonal } from "./outcome.js";
import type { Answer, Assurance, By, Kind, Question, Report } from "./types.js";
import { hex, sha256 } from "./webcrypto.js";

/** A public key of the server. */
export interface Jwk {
  readonly kty: string;
  readonly crv?: string;
  readonly x?: string;
  readonly kid?: string;
  readonly alg?: string;
  readonly use?: string;
}

/** The server's public keys, as `/.well-known/jwks.json` gives them. */
export interface Jwks {
  readonly keys: readonly Jwk[];
}

/** What a receipt says. */
export interface ReceiptClaims {
  readonly v: 1;
  readonly iss: string;
  readonly jti: string;
  readonly sub: string;
  readonly iat: number;
  readonly project: string;
  readonly agent: string;
  readonly kind: Kind;
  readonly prompt: string;
  readonly question_sha256: string;
  readonly shown_sha256: string;
  readonly outcome: "completed" | "expired" | "failed" | "cancelled";
  readonly answer?: Answer;
  readonly comment?: string;
  readonly report?: Report;
  readonly reason?: string;
  readonly by: By;
  readonly via?: string;
  readonly assurance?: Assurance;
  readonly asked_at: string;
  readonly taken_up_at: string;
  readonly ended_at: string;
  readonly redacted?: readonly string[];
  readonly audit: { readonly seq: number; readonly hash: string };
}

/** What else a receipt must fit. */
export interface VerifyOptions {
  /** The server that must have issued it: its public address. */
  readonly issuer?: string | undefined;
  /** What must have been asked: a question, or its JSON text. */
  readonly question?: Question | JsonObject | string | undefined;
  /** The server's signed list of revocations, as `revocations()` gives it; several if it has pages. */
  readonly revocations?: string | readonly string[] | undefined;
}

/**
 * The claims of a receipt, if it is genuine; throws `InvalidReceipt` otherwise. What it says may
 * still be a no: see `isApproval`.
 */
export async function verifyReceipt(jws: string, jwks: Jwks, options: VerifyOptions = {}): Promise<ReceiptClaims> {
  const { claims, kid } = await verifyJws(jws, jwks, "receipt+jwt");
  if (!isReceipt(claims)) return refuse("claims", "its claims are not those of a receipt");
  if (options.issuer !== undefined && claims.iss !== options.issuer.replace(/\/+$/, "")) {
    refuse("issuer", `it was issued by ${claims.iss}, not by ${options.issuer}`);
  }
  if (options.question !== undefined && claims.question_sha256 !== (await questionHash(options.question))) {
    refuse("question", "it answers another question");
  }
  for (const list of [options.revocations ?? []].flat()) await checkRevocation(list, jwks, claims, kid);
  return claims;
}

/**
 * Whether this says that a person approved. A default on silence, an agent's own word and the
 * scripted people of `serve --dev --scripted` do not count.
 */
export function isApproval(claims: ReceiptClaims): boolean {
  const { outcome, answer, by, via, assurance } = claims;
  return outcome === "completed" && answer?.verdict === "approved" && isPersonal(by, assurance) && via !== "script";
}

/** The hash of a question as receipts have it: SHA-256 of its canonical JSON, in hex. */
export async function questionHash(question: Question | JsonObject | string): Promise<string> {
  const value = typeof question === "string" ? parseStrictJson(question) : question;
  return hex(await sha256(canonicalJson(value)));
}

async function checkRevocation(list: string, jwks: Jwks, claims: ReceiptClaims, kid: string): Promise<void> {
  const { claims: said } = await verifyJws(list, jwks, "revocations+jwt", "the list of revocations");
  const { iss, revoked, keys } = said;
  if (iss !== claims.iss || !isList(revoked) || !isList(keys)) {
    return refuse("revocations", "the list of revocations is not its issuer's");
  }
  const receipt = revoked.find((one) => isObject(one) && one["jti"] === claims.jti);
  if (isObject(receipt)) refuse("revoked", `it was revoked at ${String(receipt["at"])}: ${String(receipt["reason"])}`);
  const key = keys.find((one) => isObject(one) && one["kid"] === kid);
  if (isObject(key)) refuse("revoked", `its key was revoked at ${String(key["at"])}: ${String(key["reason"])}`);
}

interface Verified {
  readonly claims: JsonObject;
  readonly kid: string;
}

/** The claims of a compact JWS of this type, signed by one of the keys. */
async function verifyJws(jws: string, jwks: Jwks, typ: string, what = "it"): Promise<Verified> {
  const parts = typeof jws === "string" ? jws.split(".") : [];
  const [head, body, tail] = parts.map(fromBase64url);
  if (parts.length !== 3 || !head || !body || !tail) return refuse("format", `${what} is not a compact JWS`);
  const header = object(head, `the header of ${what}`);
  if ("crit" in header) refuse("header", "`crit` is not understood");
  if (header["alg"] !== "EdDSA") refuse("algorithm", "only EdDSA is accepted");
  if (header["typ"] !== typ) refuse("type", `${what} is not of type ${typ}`);
  const { kid } = header;
  const jwk = typeof kid === "string" ? jwks.keys.find((key) => key.kid === kid) : undefined;
  if (!jwk || typeof kid !== "string") return refuse("unknown-key", `${what} is signed with a key that is not among those given`);
  const key = await publicKey(jwk, kid);
  const signed = new TextEncoder().encode(jws.slice(0, jws.lastIndexOf(".")));
  if (!(await verifyEd25519(key, tail, signed))) refuse("signature", `the signature of ${what} is wrong`);
  return { claims: object(body, `the content of ${what}`), kid };
}

async function publicKey(jwk: Jwk, kid: string): Promise<Uint8Array> {
  const bad = (why: string): never => refuse("bad-key", `the key ${kid} ${why}`);
  if (jwk.kty !== "OKP" || jwk.crv !== "Ed25519") return bad("is not an Ed25519 key");
  if (jwk.alg !== undefined && jwk.alg !== "EdDSA") return bad("is for another algorithm");
  if (jwk.use !== undefined && jwk.use !== "sig") return bad("is not for signatures");
  const key = typeof jwk.x === "string" ? fromBase64url(jwk.x) : undefined;
  if (!key || key.length !== 32) return bad("is damaged");
  const thumbprint = await sha256(canonicalJson({ crv: "Ed25519", kty: "OKP", x: jwk.x }));
  return toBase64url(thumbprint) === kid ? key : bad("is not the one its id names");
}

function object(bytes: Uint8Array, what: string): JsonObject {
  try {
    const value = parseStrictJson(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
    if (isObject(value)) return value;
  } catch {
    // Said below.
  }
  return refuse("format", `${what} is not a JSON object`);
}

const OUTCOMES: ReadonlySet<unknown> = new Set(["completed", "expired", "failed", "cancelled"]);

function isReceipt(claims: JsonObject): claims is JsonObject & ReceiptClaims {
  const { v, jti, sub, iat, by, audit, outcome, question_sha256: question, shown_sha256: shown } = claims;
  const texts = ["iss", "project", "agent", "kind", "prompt", "asked_at", "taken_up_at", "ended_at"];
  const isHash = (value: unknown): boolean => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
  return (
    v === 1 &&
    texts.every((key) => typeof claims[key] === "string") &&
    typeof jti === "string" &&
    typeof sub === "string" &&
    /^ask_[0-9A-Z]{26}$/.test(sub) &&
    jti === `rcpt_${sub.slice(4)}` &&
    Number.isSafeInteger(iat) &&
    OUTCOMES.has(outcome) &&
    isHash(question) &&
    isHash(shown) &&
    isObject(by) &&
    ["human", "agent", "system"].includes(String(by["kind"])) &&
    isObject(audit)
  );
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function refuse(code: string, detail: string): never {
  throw new InvalidReceipt(code, detail);
}
