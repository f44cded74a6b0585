/** Base64url without padding, as JOSE has it. */

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const VALUES: ReadonlyMap<string, number> = new Map(Array.from(ALPHABET, (letter, n) => [letter, n]));

/** The bytes; `undefined` for any spelling but the one and only. */
export function fromBase64url(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let bits = 0;
  let held = 0;
  let at = 0;
  for (const letter of text) {
    const value = VALUES.get(letter);
    if (value === undefined) return undefined;
    bits = ((bits & 0x3f) << 6) | value;
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes[at] = (bits >> held) & 0xff;
      at += 1;
    }
  }
  // Left over may be two or four zero bits, nothing else: otherwise two texts would mean the same.
  const rest = bits & ((1 << held) - 1);
  return held >= 6 || rest !== 0 ? undefined : bytes;
}

/** The text of some bytes. */
export function toBase64url(bytes: Uint8Array): string {
  let text = "";
  for (let n = 0; n < bytes.length; n += 3) {
    const [a = 0, b = 0, c = 0] = bytes.subarray(n, n + 3);
    const group = (a << 16) | (b << 8) | c;
    const letters = [18, 12, 6, 0].map((shift) => ALPHABET.charAt((group >> shift) & 0x3f)).join("");
    text += letters.slice(0, Math.min(3, bytes.length - n) + 1);
  }
  return text;
}
