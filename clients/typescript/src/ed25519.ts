/** Ed25519 with the strict rules: one signature, one spelling, and no key that signs everything. */

import { CountersignError } from "./errors.js";
import { hex, webCrypto } from "./webcrypto.js";

/** The order of the group: a signature's second half is below it. */
const L = 2n ** 252n + 27742317777372353535851937790883648493n;
/** The prime of the field: a point's coordinate is below it. */
const P = 2n ** 255n - 19n;

/** The coordinates of the points of small order, whose signatures would fit any text. */
const SMALL: ReadonlySet<bigint> = new Set([
  0n,
  1n,
  P - 1n,
  0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n,
  0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n,
]);

/** Whether the signature of these bytes is right. Throws where the runtime has no Ed25519. */
export async function verifyEd25519(key: Uint8Array, signature: Uint8Array, signed: Uint8Array): Promise<boolean> {
  if (key.length !== 32 || signature.length !== 64) return false;
  if (!isSound(key) || !isSound(signature.subarray(0, 32)) || littleEndian(signature.subarray(32)) >= L) return false;
  const { subtle } = await webCrypto();
  let imported: CryptoKey;
  try {
    imported = await subtle.importKey("raw", key as BufferSource, { name: "Ed25519" }, false, ["verify"]);
  } catch (cause) {
    if (cause instanceof Error && cause.name === "DataError") return false;
    const detail = "this runtime's WebCrypto has no Ed25519";
    const advice =
      "Use Node 18.4, Deno 1.26, Bun 1.0, Chrome 137, Firefox 129, Safari 17 or newer, or let the server verify (POST /api/v1/receipts/verify).";
    throw new CountersignError(`${detail}. ${advice}`, { code: "no-ed25519", detail, cause });
  }
  return subtle.verify({ name: "Ed25519" }, imported, signature as BufferSource, signed as BufferSource);
}

/** A point in its one spelling, and not of small order. */
function isSound(point: Uint8Array): boolean {
  // The highest bit is the sign of the other coordinate.
  const y = littleEndian(point) & (2n ** 255n - 1n);
  return y < P && !SMALL.has(y);
}

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${hex(Uint8Array.from(bytes).reverse())}`);
}
