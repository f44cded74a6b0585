/** The runtime's WebCrypto. Node 18 has it, but not as a global. */
export async function webCrypto(): Promise<Crypto> {
  const global = (globalThis as { crypto?: Crypto }).crypto;
  if (global?.subtle) return global;
  // Not a literal, so that bundlers for the web do not look for a module that is never loaded there.
  const name = "node:crypto";
  const loaded = (await import(/* webpackIgnore: true */ /* @vite-ignore */ name).catch(() => ({}))) as {
    webcrypto?: Crypto;
  };
  if (!loaded.webcrypto) {
    throw new Error("this runtime has no WebCrypto; pages need https or localhost, Node needs version 18 or newer");
  }
  return loaded.webcrypto;
}

/** 128 random bits as hex. */
export async function randomId(): Promise<string> {
  return hex((await webCrypto()).getRandomValues(new Uint8Array(16)));
}

/** SHA-256 of a text's UTF-8. */
export async function sha256(text: string): Promise<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  return new Uint8Array(await (await webCrypto()).subtle.digest("SHA-256", bytes));
}

/** The digest of some bytes. */
export async function digest(algorithm: "SHA-256", bytes: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await (await webCrypto()).subtle.digest(algorithm, bytes as BufferSource));
}

/** Lower-case hex. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
