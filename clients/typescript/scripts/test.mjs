// Runs the compiled tests with Node's own runner, the same way on every version.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";

const folder = new URL("../build/test/", import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith(".test.js"));
const paths = files.sort().map((name) => new URL(name, folder).pathname);
const { status } = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...paths], { stdio: "inherit" });
process.exit(status ?? 1);
