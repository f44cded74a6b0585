/** Signatures of passkeys: COSE keys (RFC 9052) in the one encoding CTAP2 allows. */

import { toBase64url } from "./base64url.js";
import { verifyEd25519 } from "./ed25519.js";
import { hex, webCrypto } from "./webcrypto.js";

interface Curve {
  readonly name: "P-256" | "P-384";
  readonly hash: "SHA-256" | "SHA-384";
  readonly size: number;
  readonly before: string;
  readonly between: string;
}

const CURVES: readonly Curve[] = [
  { name: "P-256", hash: "SHA-256", size: 32, before: "a5010203262001215820", between: "225820" },
  { name: "P-384", hash: "SHA-384", size: 48, before: "a501020338222002215830", between: "225830" },
];
const EDDSA = "a4010103272006215820";
const RS256 = { before: "a40103033901002059", after: "2143010001" };

/** Whether the key signed these bytes; `undefined` if it is no key of the four kinds. */
export async function verifyCose(key: Uint8Array, signature: Uint8Array, signed: Uint8Array): Promise<boolean | undefined> {
  const text = hex(key);
  for (const curve of CURVES) {
    const x = curve.before.length / 2;
    const y = x + curve.size + curve.between.length / 2;
    if (key.length !== y + curve.size || !text.startsWith(curve.before)) continue;
    if (hex(key.subarray(x + curve.size, y)) !== curve.between) continue;
    const point = Uint8Array.from([4, ...key.subarray(x, x + curve.size), ...key.subarray(y)]);
    return verifyEcdsa(curve, point, signature, signed);
  }
  if (text.startsWith(EDDSA) && key.length === EDDSA.length / 2 + 32) {
    return verifyEd25519(key.subarray(EDDSA.length / 2), signature, signed);
  }
  const modulus = readModulus(key, text);
  return modulus && verifyRsa(modulus, signature, signed);
}

async function verifyEcdsa(curve: Curve, point: Uint8Array, signature: Uint8Array, signed: Uint8Array): Promise<boolean | undefined> {
  const { subtle } = await webCrypto();
  const algorithm = { name: "ECDSA", namedCurve: curve.name };
  let imported: CryptoKey;
  try {
    imported = await subtle.importKey("raw", point as BufferSource, algorithm, false, ["verify"]);
  } catch {
    return undefined;
  }
  const raw = fromDer(signature, curve.size);
  if (!raw) return false;
  return subtle.verify({ name: "ECDSA", hash: curve.hash }, imported, raw as BufferSource, signed as BufferSource);
}

/** The two numbers of an ECDSA signature, side by side: WebCrypto takes no DER. */
function fromDer(der: Uint8Array, size: number): Uint8Array | undefined {
  if (der.length < 8 || der[0] !== 0x30 || der[1] !== der.length - 2) return undefined;
  const raw = new Uint8Array(2 * size);
  let at = 2;
  for (const end of [size, 2 * size]) {
    const length = der[at + 1] ?? 0;
    const number = der.subarray(at + 2, at + 2 + length);
    if (der[at] !== 0x02 || length === 0 || number.length !== length) return undefined;
    // One spelling: not negative, and no zero in front that is not needed.
    if ((number[0] ?? 0) >= 0x80 || (number[0] === 0 && (number[1] ?? 0) < 0x80)) return undefined;
    const digits = number[0] === 0 ? number.subarray(1) : number;
    if (digits.length > size) return undefined;
    raw.set(digits, end - digits.length);
    at += 2 + length;
  }
  return at === der.length ? raw : undefined;
}

function readModulus(key: Uint8Array, text: string): Uint8Array | undefined {
  if (!text.startsWith(RS256.before) || !text.endsWith(RS256.after)) return undefined;
  const rest = key.subarray(RS256.before.length / 2, key.length - RS256.after.length / 2);
  const size = ((rest[0] ?? 0) << 8) | (rest[1] ?? 0);
  const modulus = rest.subarray(2);
  return size === modulus.length && size >= 256 && size <= 512 && modulus[0] !== 0 ? modulus : undefined;
}

async function verifyRsa(modulus: Uint8Array, signature: Uint8Array, signed: Uint8Array): Promise<boolean | undefined> {
  const { subtle } = await webCrypto();
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  const jwk = { kty: "RSA", n: toBase64url(modulus), e: "AQAB" };
  let imported: CryptoKey;
  try {
    imported = await subtle.importKey("jwk", jwk, algorithm, false, ["verify"]);
  } catch {
    return undefined;
  }
  return subtle.verify(algorithm, imported, signature as BufferSource, signed as BufferSource);
}
