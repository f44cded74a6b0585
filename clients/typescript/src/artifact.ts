/** The bytes of what was delivered. */

import { CountersignError } from "./errors.js";
import { sleep } from "./abort.js";
import type { Artifact, NewPayload } from "./task-types.js";
import { isPassing, type Transport } from "./transport.js";
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
    const detail = `the content of ${id} ${version} does not match its checksum`;
    throw new CountersignError(`${detail}; fetch it again, or ask the operator`, { code: "bad-checksum", detail });
  }
  return bytes;
}

/** What an upload is sent in. */
const PART = 4 * 1024 * 1024;
/** So often in a row a part may fail before it is given up. */
const MOST_BREAKS = 10;

/** How an upload stands. */
interface Upload {
  readonly upload: string;
  readonly offset: number;
}

/** Sends bytes in parts, going on where it broke off; what to commit. */
export async function upload(
  transport: Transport,
  bytes: Uint8Array<ArrayBuffer>,
  mediaType: string | undefined,
  signal: AbortSignal | undefined,
): Promise<NewPayload> {
  const headers = { "upload-length": String(bytes.length), ...(mediaType !== undefined && { "content-type": mediaType }) };
  const { upload: name } = await transport.json<Upload>("/hacp/v1/uploads", { method: "POST", headers, signal });
  const path = `/hacp/v1/uploads/${encodeURIComponent(name)}`;
  for (let offset = 0, breaks = 0; offset < bytes.length; ) {
    const part = bytes.subarray(offset, offset + PART);
    const last = offset + part.length === bytes.length;
    const place = { "upload-offset": String(offset), "upload-complete": last ? "?1" : "?0", "content-type": "application/octet-stream" };
    try {
      await transport.send(path, { method: "PATCH", bytes: part, headers: place, signal, retries: 0 });
      offset += part.length;
      breaks = 0;
    } catch (error) {
      breaks += 1;
      if (!isPassing(error) || breaks > MOST_BREAKS) throw error;
      await sleep(transport.delay(breaks), signal);
      offset = (await transport.json<Upload>(path, { signal })).offset;
    }
  }
  return { kind: "blob", uri: `upload:${name}`, ...(mediaType !== undefined && { media_type: mediaType }) };
}
