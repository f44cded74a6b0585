/** The bytes of what was delivered. */

import { CountersignError } from "./errors.js";
import type { Artifact } from "./task-types.js";
import type { Transport } from "./transport.js";
import { hex, webCrypto } from "./webcrypto.js";

/** What was delivered, whole. */
export type ArtifactBytes = ArrayBuffer;

/** The bytes of a version, refused if they are not what was committed. */
export async function bytesOf(transport: Transport, artifact: Artifact, signal: AbortSignal | undefined): Promise<ArtifactBytes> {
  const { id, version, payload } = artifact;
  const path = `/hacp/v1/artifacts/${encodeURIComponent(id)}/versions/${encodeURIComponent(version)}/content`;
  const { bytes } = await transport.send(path, { headers: { accept: "*/*" }, signal });
  const found = new Uint8Array(await (await webCrypto()).subtle.digest("SHA-256", bytes));
  if (`sha256:${hex(found)}` !== payload.checksum) {
    const detail = `${id} ${version} is not what was committed`;
    throw new CountersignError(`${detail}; fetch it again, or ask the operator`, { code: "bad-checksum", detail });
  }
  return bytes;
}
