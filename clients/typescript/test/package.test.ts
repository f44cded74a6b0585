/** What is published, and that it needs nothing. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const root = new URL("../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), "utf8");
const modules = readdirSync(new URL("src/", root)).map((name) => name.replace(/\.ts$/, ""));

test("the package holds the compiled modules, their sources and types, and no more", () => {
  // Building again while other tests load the result would be a race.
  const json = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const [pack] = JSON.parse(json) as [{ files: { path: string }[] }];
  const expected = [
    "LICENSE",
    "README.md",
    "package.json",
    ...modules.flatMap((name) => [`src/${name}.ts`, ...["js", "js.map", "d.ts", "d.ts.map"].map((end) => `dist/${name}.${end}`)]),
  ];
  assert.deepEqual(pack.files.map(({ path }) => path).sort(), expected.sort());
});

test("no dependencies, and exports that exist", () => {
  const manifest = JSON.parse(read("package.json")) as Record<string, unknown> & { exports: Record<string, string | Record<string, string>> };
  assert.equal(manifest["dependencies"], undefined);
  assert.equal(manifest["peerDependencies"], undefined);
  assert.deepEqual(Object.keys(manifest["devDependencies"] as object).sort(), ["@types/node", "typescript"]);
  for (const target of Object.values(manifest.exports).flatMap((one) => (typeof one === "string" ? one : Object.values(one)))) {
    assert.ok(existsSync(new URL(target, root)), target);
  }
});

test("nothing of Node outside the testing helper", () => {
  for (const name of modules.filter((one) => one !== "testing")) {
    const source = read(`src/${name}.ts`);
    assert.doesNotMatch(source, /from "(?!\.\/)/, `${name} imports a package`);
    assert.doesNotMatch(source, /\b(Buffer|require)\b\(?/, name);
    assert.doesNotMatch(source, /from "\.\/testing\.js"/, name);
  }
});

test("the lock file names no registry but the public one", () => {
  for (const [, address] of read("package-lock.json").matchAll(/"resolved": "([^"]*)"/g)) {
    assert.match(address ?? "", /^https:\/\/registry\.npmjs\.org\//);
  }
});
