/** What all clients must agree on. */

import { readFileSync } from "node:fs";

import { type JsonObject, parseJson } from "@countersign/client";

const folder = process.env["COUNTERSIGN_VECTORS"] ?? new URL("../../../../vectors", import.meta.url).pathname;

export function vectors(name: string): JsonObject {
  return parseJson(readFileSync(`${folder}/${name}.json`, "utf8")) as JsonObject;
}
