/**
 * Passkey evidence: that a person's own passkey signed the answer of a receipt, checked without trusting
 * the server that issued the receipt.
 */

import { fromBase64url } from "./base64url.js";
import { verifyCose } from "./cose.js";
import { InvalidEvidence, InvalidReceipt } from "./errors.js";
import { canonicalJson, type JsonObject, type JsonValue, parseStrictJson } from "./json.js";
import { type Names, only } from "./options.js";
import { type Jwks, type ReceiptClaims, verifyJws } from "./receipt.js";
import { digest, hex, sha256 } from "./webcrypto.js";

/** What a person confirmed with a passkey. */
export interface AnswerStatement {
  readonly v: 1;
  readonly ask: string;
  readonly human: string;
  readonly question_sha256: string;
  readonly shown_sha256: string;
  readonly answer_sha256: string;
  readonly nonce: string;
}

/** The evidence that a passkey signed it, as the server sends it beside a receipt. */
export interface PasskeyEvidence {
  readonly key: string;
  readonly credential_id: string;
  readonly public_key: string;
  readonly authenticator_data: string;
  readonly client_data_json: string;
  readonly signature: string;
  readonly rp_id: string;
  readonly origin: string;
  readonly statement: AnswerStatement;
}

/** What else the evidence must fit. */
export interface EvidenceOptions {
  /** Where answers were confirmed, if that is not the issuer's own address. */
  readonly origin?: string | undefined;
  /** The proof that the passkey was enrolled before: `GET /api/v1/asks/{id}/receipt/enrolment`. */
  readonly enrolment?: JsonObject | undefined;
  /** The keys of the issuer, which the enrolment is checked with. */
  readonly jwks?: Jwks | undefined;
}

const OPTIONS: Names<EvidenceOptions> = { origin: true, enrolment: true, jwks: true };
const DOMAIN = "countersign passkey answer v1\0";
const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;

/** Checks that a passkey signed the answer of a verified receipt; throws `InvalidEvidence` otherwise. */
export async function verifyEvidence(
  claims: ReceiptClaims,
  evidence: PasskeyEvidence | JsonObject,
  options: EvidenceOptions = {},
): Promise<void> {
  only(options, OPTIONS);
  const given = evidence as JsonObject;
  const statement = readStatement(claims, given);
  const publicKey = bytes(given, "public_key");
  const data = bytes(given, "authenticator_data");
  const clientData = bytes(given, "client_data_json");
  const signature = bytes(given, "signature");
  bytes(given, "credential_id");
  await isAbout(claims, statement);
  const origin = originOf(options.origin ?? claims.iss);
  await checkClientData(clientData, statement, given, origin);
  await checkAuthenticatorData(data, given, origin);
  const signed = concat(data, await digest("SHA-256", clientData));
  const good = await verifyCose(publicKey, signature, signed);
  if (good === undefined) refuse("public-key", "the public key is not a COSE key for ES256, ES384, EdDSA or RS256");
  if (!good) refuse("signature", "the signature is not valid: the data was changed, or another key signed it");
  if (options.enrolment !== undefined) {
    if (!options.jwks) throw new TypeError("checking an enrolment needs jwks, the keys of the issuer");
    await checkEnrolment(claims, given, statement, options.enrolment, options.jwks);
  }
}

function readStatement(claims: ReceiptClaims, evidence: JsonObject): JsonObject {
  const { outcome, assurance, answer, by } = claims;
  if (outcome !== "completed" || assurance !== "passkey" || answer === undefined || by.kind !== "human") {
    refuse("assurance", "the receipt does not claim an answer confirmed with a passkey");
  }
  const statement = isObject(evidence) ? evidence["statement"] : undefined;
  if (!isObject(statement)) return refuse("encoding", "the evidence has no statement");
  if (statement["v"] !== 1) refuse("version", "the statement is not of version 1");
  return statement;
}

async function isAbout(claims: ReceiptClaims, statement: JsonObject): Promise<void> {
  const { answer, comment, redacted } = claims;
  const answered = {
    answer,
    ...(comment === undefined ? {} : { comment }),
    ...(redacted === undefined || redacted.length === 0 ? {} : { redacted }),
  };
  const human = claims.by.kind === "human" ? claims.by.id : undefined;
  const parts = [
    ["ask", claims.sub, "ask"],
    ["human", human, "person"],
    ["question_sha256", claims.question_sha256, "question"],
    ["shown_sha256", claims.shown_sha256, "shown"],
    ["answer_sha256", hex(await sha256(canonicalJson(answered))), "answer"],
  ] as const;
  for (const [name, expected, code] of parts) {
    if (statement[name] !== expected) refuse(code, `the passkey signed another ${name}`);
  }
}

async function checkClientData(raw: Uint8Array, statement: JsonObject, evidence: JsonObject, origin: string): Promise<void> {
  const client = readObject(raw);
  const { type, challenge, origin: from, crossOrigin } = client ?? {};
  if (typeof type !== "string" || typeof challenge !== "string" || typeof from !== "string") {
    return refuse("client-data", "the client data is not the JSON of a WebAuthn client");
  }
  if (type !== "webauthn.get") refuse("type", "the client data is not of the type webauthn.get");
  const signed = fromBase64url(challenge);
  if (!signed || hex(signed) !== hex(await sha256(DOMAIN + canonicalJson(statement)))) {
    refuse("challenge", "the challenge in the client data is not the hash of the statement");
  }
  if (from !== origin || evidence["origin"] !== origin || (crossOrigin ?? false) !== false) {
    refuse("origin", "the answer was confirmed on a website other than the issuer's");
  }
}

async function checkAuthenticatorData(data: Uint8Array, evidence: JsonObject, origin: string): Promise<void> {
  if (data.length < 37) refuse("authenticator-data", "the authenticator data is too short");
  const host = (origin.split("://")[1] ?? "").split(":")[0] ?? "";
  if (evidence["rp_id"] !== host || hex(await sha256(host)) !== hex(data.subarray(0, 32))) {
    refuse("rp-id", "the passkey was made for another relying party than the issuer");
  }
  const flags = data[32] ?? 0;
  if ((flags & USER_PRESENT) === 0) refuse("user-presence", "the authenticator did not confirm that a person was present");
  if ((flags & USER_VERIFIED) === 0) refuse("user-verification", "the authenticator did not verify the person");
}

async function checkEnrolment(
  claims: ReceiptClaims,
  evidence: JsonObject,
  statement: JsonObject,
  proof: JsonObject,
  jwks: Jwks,
): Promise<void> {
  const other = (): never => refuse("enrolment", "the record is not the enrolment of the passkey that signed");
  const record = isObject(proof["record"]) ? proof["record"] : other();
  const body = typeof record["body"] === "string" ? record["body"] : other();
  const event = readObject(new TextEncoder().encode(body)) ?? other();
  const what = isObject(event["what"]) ? event["what"] : other();
  const holder = isObject(what["holder"]) ? what["holder"] : other();
  const enrolment = isObject(holder["enrolment"]) ? holder["enrolment"] : other();
  const subject = isObject(event["subject"]) ? event["subject"] : other();
  const named =
    record["subject"] === evidence["key"] &&
    subject["kind"] === "key" &&
    subject["id"] === evidence["key"] &&
    record["seq"] === 1 &&
    event["seq"] === 1 &&
    what["event"] === "key_issued" &&
    holder["kind"] === "passkey";
  if (!named) other();
  const by = isObject(event["by"]) ? event["by"] : {};
  const human = statement["human"];
  if (holder["human"] !== human || by["kind"] !== "human" || by["id"] !== human) {
    refuse("enrolment-person", "the passkey was enrolled by another person");
  }
  const credential = hex(await digest("SHA-256", bytes(evidence, "credential_id")));
  if (
    enrolment["public_key"] !== evidence["public_key"] ||
    enrolment["credential_id"] !== evidence["credential_id"] ||
    what["hash"] !== credential
  ) {
    refuse("enrolment-key", "the enrolled public key or credential is not the one that signed");
  }
  // Times of the server have one spelling, so they compare as texts.
  if (typeof event["at"] !== "string" || event["at"] > claims.ended_at) {
    refuse("enrolment-late", "the passkey was enrolled after the answer");
  }
  const hashed = hex(await digest("SHA-256", concat(new Uint8Array(32), new TextEncoder().encode(body))));
  if (record["prev"] !== "0".repeat(64) || record["hash"] !== hashed) {
    refuse("enrolment-hash", "the record of the enrolment does not have the hash it claims");
  }
  if (!(await isInBlock(proof, hashed, jwks))) {
    refuse("enrolment-block", "the enrolment is not in the named block");
  }
}

/** RFC 9162, section 2.1.3.2. */
async function isInBlock(proof: JsonObject, record: string, jwks: Jwks): Promise<boolean> {
  const { block, index, position, path } = proof;
  if (typeof block !== "string" || typeof index !== "number" || !Array.isArray(path)) return false;
  let sealed: JsonObject;
  try {
    sealed = (await verifyJws(block, jwks, "block+jwt", "the block")).claims;
  } catch (error) {
    if (error instanceof InvalidReceipt) return false;
    throw error;
  }
  const { first, count, root } = sealed;
  if (typeof first !== "number" || typeof count !== "number") return false;
  if (position !== first + index || index < 0 || index >= count) return false;
  let at = index;
  let last = count - 1;
  let node = await digest("SHA-256", concat(Uint8Array.of(0), fromHex(record)));
  for (const one of path) {
    if (last === 0 || typeof one !== "string") return false;
    const sibling = fromHex(one);
    if (at % 2 === 1 || at === last) {
      node = await digest("SHA-256", concat(Uint8Array.of(1), sibling, node));
      while (at % 2 === 0 && at > 0) {
        at = Math.floor(at / 2);
        last = Math.floor(last / 2);
      }
    } else {
      node = await digest("SHA-256", concat(Uint8Array.of(1), node, sibling));
    }
    at = Math.floor(at / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 && hex(node) === root;
}

function bytes(object: JsonObject, name: string): Uint8Array {
  const text = object[name];
  const found = typeof text === "string" ? fromBase64url(text) : undefined;
  return found ?? refuse("encoding", `${name} is not base64url without padding`);
}

/** The scheme, host and port of an address. */
function originOf(address: string): string {
  const [scheme = "", rest] = address.split("://", 2);
  return rest === undefined ? scheme : `${scheme}://${rest.split("/")[0] ?? ""}`;
}

function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

function fromHex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function readObject(raw: Uint8Array): JsonObject | undefined {
  try {
    const value = parseStrictJson(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(raw));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refuse(code: string, detail: string): never {
  throw new InvalidEvidence(code, detail);
}
