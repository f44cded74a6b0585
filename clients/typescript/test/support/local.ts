/** Small pieces for tests that need a server to misbehave. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { Countersign, type Answer, type Ask, type By, type Result } from "@countersign/client";

export type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** A local server that notes what it was asked. */
export class Local {
  readonly seen: { method: string; path: string; headers: IncomingMessage["headers"]; body: string }[] = [];
  private server: Server | undefined;
  private port = 0;

  constructor(public handler: Handler) {}

  static async start(handler: Handler): Promise<Local> {
    const local = new Local(handler);
    await local.listen();
    return local;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Begins to listen; after `close` at the same address again. */
  async listen(): Promise<void> {
    const server = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on("data", (piece: Buffer) => pieces.push(piece));
      request.on("end", () => {
        const body = Buffer.concat(pieces).toString();
        this.seen.push({ method: request.method ?? "", path: request.url ?? "", headers: request.headers, body });
        this.handler(request, response, body);
      });
    });
    this.server = server;
    await new Promise<void>((resolve) => server.listen(this.port, "127.0.0.1", resolve));
    this.port = (server.address() as AddressInfo).port;
  }

  /** Breaks every connection and stops listening, like a killed server. */
  async close(): Promise<void> {
    const { server } = this;
    if (!server) return;
    this.server = undefined;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  client(options: { timeoutMs?: number; retries?: number } = {}): Countersign {
    return new Countersign({
      url: this.url,
      apiKey: "key",
      timeoutMs: options.timeoutMs ?? 5000,
      retry: { retries: options.retries ?? 5, firstDelayMs: 5, longestDelayMs: 20 },
    });
  }
}

export function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

export function problem(response: ServerResponse, status: number, code: string, headers: Record<string, string> = {}): void {
  const body = { type: `/errors/${code}`, title: code, status, detail: `this is ${code}` };
  json(response, status, body, { "content-type": "application/problem+json", "x-request-id": "req-1", ...headers });
}

export function stream(response: ServerResponse, text = ""): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  if (text !== "") response.write(text);
}

export function frame(event: string, ask: Ask, position = ask.version): string {
  const data = { position, event, at: "2026-01-31T12:00:00.000Z", version: ask.version, ask };
  return `id: ${position}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

export const ID = "ask_01J0000000000000000000000A";

/** An open ask. */
export function open(more: Partial<Ask> = {}): Ask {
  return {
    id: ID,
    version: 1,
    state: "pending",
    project: "dev",
    agent: "agent_dev",
    owner: "user_dev",
    kind: "approve",
    question: { kind: "approve", prompt: "Refund?", editable: false, reject_requires_reason: false },
    metadata: {},
    tags: [],
    priority: "normal",
    seats: [],
    assigned_to: null,
    created_at: "2026-01-31T12:00:00.000Z",
    expires_at: null,
    follows: null,
    followed_by: null,
    comments: 0,
    url: `http://localhost:3402/asks/${ID}`,
    result: null,
    receipt: null,
    ...more,
  };
}

/** How an ask ended. */
export function result(more: Partial<Result> = {}): Result {
  return {
    outcome: "completed",
    answer: null,
    comment: null,
    by: { kind: "human", id: "user_dev" },
    via: "web",
    assurance: "session",
    report: null,
    reason: null,
    at: "2026-01-31T12:01:00.000Z",
    ...more,
  };
}

/** An ask that a person answered. */
export function answered(answer: Answer, more: Partial<Result> = {}): Ask {
  return open({ version: 2, state: "completed", result: result({ answer, ...more }), receipt: "head.body.signature" });
}

export const PERSON: By = { kind: "human", id: "user_dev" };

/** Looks until it is so; the bound is generous because machines are slow, not because it is needed. */
export async function eventually(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 20_000;
  while (!(await check())) {
    if (Date.now() > end) throw new Error(`never so: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
