/** Receipts: what came back, provable offline with nothing but the server's public keys. */

import { fromBase64url, toBase64url } from "./base64url.js";
import { verifyEd25519 } from "./ed25519.js";
import { InvalidReceipt } from "./errors.js";
import { canonicalJson, type JsonObject, type JsonValue, parseStrictJson } from "./json.js";
import { type Names, only } from "./options.js";
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
  /** When it was retired, in seconds since 1970: nothing dated then or later counts. */
  readonly exp?: number;
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
  /** Claims what was displayed only where `shown` is `question` or absent. */
  readonly shown_sha256: string;
  /** How much of the question the server displayed where it was answered; absent in older receipts. */
  readonly shown?: "question" | "summary" | "nothing";
  readonly outcome: "completed" | "expired" | "failed" | "cancelled";
  readonly answer?: Answer;
  readonly comment?: string;
  readonly report?: Report;
  readonly reason?: string;
  readonly by: By;
  readonly via?: string;
  readonly assurance?: Assurance;
  /** How the sender was verified, if the answer came by email and they were. */
  readonly sender?:
    | { readonly method: "dkim"; readonly domain: string }
    | { readonly method: "arc"; readonly domain: string; readonly sealer: string };
  readonly asked_at: string;
  readonly taken_up_at: string;
  readonly ended_at: string;
  /** The proofs that a person was there, where the agent wanted them and they held. */
  readonly proofs?: readonly {
    readonly proof_type: string;
    readonly provider: string;
    readonly assurance?: "low" | "medium" | "high";
    readonly verified_at: string;
  }[];
  readonly redacted?: readonly string[];
  /** Whether the evidence that a passkey confirmed the answer was erased with the person. */
  readonly evidence_erased?: boolean;
  readonly audit: { readonly seq: number; readonly hash: string };
}

/** What else a receipt must fit. */
export interface VerifyOptions {
  /** The server that must have issued it: its public address. */
  readonly issuer?: string | undefined;
  /** What must have been asked: a question, or its JSON text. */
  readonly question?: Question | JsonObject | string | undefined;
  /** The server's signed list of revocations, all its pages, as `revocations()` gives it. */
  readonly revocations?: string | readonly string[] | undefined;
}

const VERIFY: Names<VerifyOptions> = { issuer: true, question: true, revocations: true };

/**
 * The claims of a receipt, if it is genuine; throws `InvalidReceipt` otherwise. What it says may
 * still be a no: see `isApproval`.
 */
export async function verifyReceipt(jws: string, jwks: Jwks, options: VerifyOptions = {}): Promise<ReceiptClaims> {
  only(options, VERIFY);
  const { claims, kid } = await verifyJws(jws, jwks, "receipt+jwt");
  if (claims["v"] !== 1) refuse("version", "it is not of version 1");
  if (!isReceipt(claims)) return refuse("claims", "its claims are not those of a receipt");
  if (options.issuer !== undefined && claims.iss !== options.issuer.replace(/\/+$/, "")) {
    refuse("issuer", `it was issued by ${claims.iss}, not by ${options.issuer}`);
  }
  if (options.question !== undefined && claims.question_sha256 !== (await questionHash(options.question))) {
    refuse("question", "it answers another question");
  }
  if (options.revocations !== undefined) await checkRevocations([options.revocations].flat(), jwks, claims, kid);
  return claims;
}

/**
 * Whether this says that a person approved. A default taken on silence and an agent's own word do
 * not count; the scripted people of a test server do, and `via` says `script`.
 */
export function isApproval(claims: ReceiptClaims): boolean {
  const { outcome, answer, by, assurance } = claims;
  return outcome === "completed" && answer?.verdict === "approved" && isPersonal(by, assurance);
}

/** The hash of a question as receipts have it: SHA-256 of its canonical JSON, in hex. */
export async function questionHash(question: Question | JsonObject | string): Promise<string> {
  const value = typeof question === "string" ? parseStrictJson(question) : question;
  return hex(await sha256(canonicalJson(value)));
}

/** Where the page after this one of a list of revocations begins; `undefined` if it is the last. */
export function nextPage(list: string): string | undefined {
  const bytes = fromBase64url(list.split(".")[1] ?? "");
  const { next } = (bytes && readObject(bytes)) ?? {};
  return typeof next === "string" ? next : undefined;
}

async function checkRevocations(lists: readonly string[], jwks: Jwks, claims: ReceiptClaims, kid: string): Promise<void> {
  if (!lists.some((list) => nextPage(list) === undefined)) {
    refuse("revocations", "the list of revocations is incomplete; pass all its pages");
  }
  for (const list of lists) {
    const { claims: said } = await verifyJws(list, jwks, "revocations+jwt", "the list of revocations");
    const { iss, revoked, keys } = said;
    if (iss !== claims.iss || !isList(revoked) || !isList(keys)) {
      return refuse("revocations", "the list of revocations is from another issuer");
    }
    const found = (key: string, value: string): JsonObject | undefined =>
      [...revoked, ...keys].filter(isObject).find((one) => one[key] === value);
    for (const [what, one] of [["it", found("jti", claims.jti)], ["its key", found("kid", kid)]] as const) {
      if (one) refuse("revoked", `${what} was revoked at ${String(one["at"])}: ${String(one["reason"] ?? "no reason given")}`);
    }
  }
}

interface Verified {
  readonly claims: JsonObject;
  readonly kid: string;
}

/** More than this is not looked at. */
const LARGEST = 16 * 1024 * 1024;
const LONGEST_HEADER = 1024;

/**
 * The claims of a compact JWS of this type, signed by one of the keys. Narrowed to what the server
 * writes: a header of three members and one spelling for everything.
 */
export async function verifyJws(jws: string, jwks: Jwks, typ: string, what = "it"): Promise<Verified> {
  if (typeof jws !== "string") return refuse("shape", `${what} is not a string`);
  if (jws.length > LARGEST) refuse("too-large", `${what} is larger than 16 MiB`);
  const [head, body, tail, more] = jws.split(".", 4);
  if (head === undefined || body === undefined || tail === undefined || more !== undefined) {
    return refuse("shape", `${what} does not consist of three parts separated by dots`);
  }
  const kid = readHeader(head, typ, what);
  const signature = decode(tail, `the signature of ${what}`);
  const { key, exp } = await publicKey(jwks, kid, what);
  const signed = new TextEncoder().encode(`${head}.${body}`);
  if (!(await verifyEd25519(key, signature, signed))) {
    refuse("signature", `the signature of ${what} is not valid: it was changed, or signed with another key`);
  }
  const bytes = decode(body, `the content of ${what}`);
  const claims = readObject(bytes);
  if (!claims || !isSame(bytes, canonicalJson(claims))) return refuse("claims", `the claims of ${what} are not canonical JSON`);
  if (exp !== undefined && dated(claims) >= exp) {
    refuse("retired-key", `${what} is dated after its signing key was retired`);
  }
  return { claims, kid };
}

function readHeader(encoded: string, typ: string, what: string): string {
  const wrong = (): never => refuse("header", `the header of ${what} is not \`alg\`, \`kid\` and \`typ\` in canonical JSON`);
  if (encoded.length > LONGEST_HEADER) wrong();
  const bytes = decode(encoded, `the header of ${what}`);
  const header = readObject(bytes) ?? wrong();
  if (Object.hasOwn(header, "crit")) refuse("critical", `the header of ${what} has \`crit\`, which Countersign never uses`);
  const { alg, kid } = header;
  if (alg !== "EdDSA") refuse("algorithm", `the algorithm of ${what} is not EdDSA`);
  if (header["typ"] !== typ) refuse("typ", `${what} is not a ${typ}`);
  if (typeof kid !== "string" || !isSame(bytes, canonicalJson({ alg, kid, typ }))) return wrong();
  return kid;
}

/** When claims say they were issued, or when the request ended, whichever is later; in seconds since 1970. */
function dated({ iat, ended_at: ended }: JsonObject): number {
  const issued = typeof iat === "number" ? iat : -Infinity;
  const over = typeof ended === "string" ? Date.parse(ended) / 1000 : NaN;
  return Number.isNaN(over) ? issued : Math.max(issued, over);
}

async function publicKey(jwks: Jwks, kid: string, what: string): Promise<{ key: Uint8Array; exp: number | undefined }> {
  const unknown = (why: string): never => refuse("unknown-key", `the signing key ${kid} of ${what} ${why}`);
  const jwk = jwks.keys.find((one) => one.kid === kid) ?? unknown("is not trusted");
  if (jwk.kty !== "OKP" || jwk.crv !== "Ed25519") return unknown("is not an Ed25519 key");
  if (jwk.alg !== undefined && jwk.alg !== "EdDSA") return unknown("is for another algorithm");
  if (jwk.use !== undefined && jwk.use !== "sig") return unknown("is not for signatures");
  const key = typeof jwk.x === "string" ? fromBase64url(jwk.x) : undefined;
  if (!key || key.length !== 32) return unknown("is damaged");
  const { exp } = jwk;
  if (exp !== undefined && !Number.isSafeInteger(exp)) return unknown("has an `exp` that is not a whole number");
  const thumbprint = await sha256(canonicalJson({ crv: "Ed25519", kty: "OKP", x: jwk.x }));
  return toBase64url(thumbprint) === kid ? { key, exp } : unknown("does not match its key ID");
}

function decode(text: string, what: string): Uint8Array {
  return fromBase64url(text) ?? refuse("encoding", `${what} is not base64url without padding`);
}

function readObject(bytes: Uint8Array): JsonObject | undefined {
  try {
    const value = parseStrictJson(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), { duplicates: true });
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A text that names a duplicate member, or has a space, is not spelled like its canonical JSON. */
function isSame(bytes: Uint8Array, canonical: string): boolean {
  return new TextDecoder().decode(bytes) === canonical;
}

const OUTCOMES: ReadonlySet<unknown> = new Set(["completed", "expired", "failed", "cancelled"]);

function isReceipt(claims: JsonObject): claims is JsonObject & ReceiptClaims {
  const { jti, sub, iat, by, audit, outcome, question_sha256: question, shown_sha256: shown } = claims;
  const texts = ["iss", "project", "agent", "kind", "prompt", "asked_at", "taken_up_at", "ended_at"];
  const isHash = (value: unknown): boolean => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
  return (
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
    ["human", "agent", "link_holder", "relay", "guest", "system"].includes(String(by["kind"])) &&
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
