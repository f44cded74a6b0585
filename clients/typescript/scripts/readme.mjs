// Takes the TypeScript blocks out of README.md, so that they are compiled and run like any test.
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";

const out = new URL("../readme/", import.meta.url);
await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
const text = await readFile(new URL("../README.md", import.meta.url), "utf8");
let n = 0;
for (const [, code] of text.matchAll(/^```ts\n(.*?)^```$/gms)) {
  n += 1;
  await writeFile(new URL(`${n}.ts`, out), `${code}\nexport {};\n`);
}
if (n === 0) throw new Error("README.md has no TypeScript");
