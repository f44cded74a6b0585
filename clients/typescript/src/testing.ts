/**
 * A real Countersign for your tests: the binary itself, on a free port, with throw-away data.
 *
 * @packageDocumentation
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

import { Countersign, type CountersignOptions } from "./client.js";
import { apiError } from "./errors.js";
import { parseJson, stringifyJson } from "./json.js";
import { type Names, only } from "./options.js";
import type { Answer, Ask } from "./types.js";

/** How to start it. */
export interface ServerOptions {
  /** The binary: `COUNTERSIGN_BIN`, or `countersign` in the PATH. */
  readonly bin?: string | undefined;
  /** A folder to keep the data in; a temporary one unless told. */
  readonly data?: string | undefined;
  /** The port; a free one unless told. */
  readonly port?: number | undefined;
  /** More flags for `countersign serve`, such as `["--scripted", "people.toml"]`. */
  readonly args?: readonly string[] | undefined;
  /** How long it may take to start; 30 s unless told. */
  readonly startTimeoutMs?: number | undefined;
}

const SERVER: Names<ServerOptions> = { bin: true, data: true, port: true, args: true, startTimeoutMs: true };

/** A running server in `--dev` mode. */
export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly agentKey: "dev-agent-key";
  readonly humanToken: "dev-human-token";
  /** A client with the agent's key. */
  client(options?: CountersignOptions): Countersign;
  /** Answers like the agent's owner would. */
  answer(askId: string, answer: Answer, comment?: string): Promise<Ask>;
  /** Ends the server; a second call does nothing. */
  stop(): Promise<void>;
}

/** Starts a server and waits until it is ready. Stop it when done. */
export async function startCountersign(options: ServerOptions = {}): Promise<TestServer> {
  only(options, SERVER);
  const bin = options.bin ?? process.env["COUNTERSIGN_BIN"] ?? "countersign";
  const args = ["serve", "--dev", "--listen", `127.0.0.1:${options.port ?? 0}`];
  if (options.data !== undefined) args.push("--data", options.data);
  args.push(...(options.args ?? []));
  const child = spawn(bin, args, { stdio: ["ignore", "pipe", "pipe"] });
  const stop = ending(child);
  let port: number;
  try {
    port = await ready(child, bin, options.startTimeoutMs ?? 30_000);
  } catch (error) {
    await stop();
    throw error;
  }
  // A server that nobody stopped must not keep the tests from ending; then it ends with them.
  for (const held of [child, child.stdout, child.stderr] as { unref?: () => void }[]) held.unref?.();
  // The server prints `localhost`, which may be ::1 here; it listens where it was told to.
  const url = `http://127.0.0.1:${port}`;
  const [agentKey, humanToken] = ["dev-agent-key", "dev-human-token"] as const;
  return {
    url,
    port,
    agentKey,
    humanToken,
    client: (more = {}) => new Countersign({ url, apiKey: agentKey, ...more }),
    answer: (askId, answer, comment) => post(url, humanToken, `/api/v1/asks/${askId}/answer`, { answer, comment }),
    stop,
  };
}

async function post(url: string, token: string, path: string, body: unknown): Promise<Ask> {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: stringifyJson(body),
  });
  const text = await response.text();
  if (!response.ok) throw apiError(response.status, response.headers, text, url);
  return parseJson(text) as unknown as Ask;
}

/** The port, once the server has printed its last line. */
async function ready(child: ChildProcess, bin: string, timeoutMs: number): Promise<number> {
  let log = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    log = (log + text).slice(-4000);
  });
  let port: number | undefined;
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => {
      clearTimeout(timer);
      reject(new Error(`${bin} ${why}. Set COUNTERSIGN_BIN to a working binary.${log === "" ? "" : `\n${log}`}`));
    };
    const timer = setTimeout(() => fail(`is not ready after ${timeoutMs} ms`), timeoutMs);
    child.once("error", (error) => fail(`cannot be started: ${error.message}`));
    child.once("exit", (code, signal) => fail(`ended with ${code ?? signal} before it was ready`));
    // Read on after the last line as well: a full pipe would stop the server.
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
      const inbox = /^ {2}Inbox +http:\/\/[^/]+:(\d+)\/$/.exec(line);
      if (inbox) port = Number(inbox[1]);
      if (line.startsWith("  Data") && port !== undefined) {
        clearTimeout(timer);
        resolve(port);
      }
    });
  });
}

/** Ends the process by its id, kindly first; also when the tests end without having done so. */
function ending(child: ChildProcess): () => Promise<void> {
  const isOver = (): boolean => child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  return async () => {
    process.off("exit", kill);
    if (isOver()) return;
    child.ref();
    const exit = once(child, "exit");
    const timer = setTimeout(kill, 10_000);
    child.kill("SIGTERM");
    await exit;
    clearTimeout(timer);
  };
}
