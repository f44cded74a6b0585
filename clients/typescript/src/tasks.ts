/** Tasks: work a person owns and an agent does, over HACP. */

import { sleep } from "./abort.js";
import { type ArtifactBytes, bytesOf, upload } from "./artifact.js";
import { EVENTS, type EventsOptions } from "./events.js";
import { ABORTABLE, type Abortable } from "./handle.js";
import { type JsonObject, parseJson } from "./json.js";
import { type Names, only } from "./options.js";
import { type Named, resumed } from "./resumed.js";
import {
  LOOKS,
  type NewCheckpoint,
  type NewReview,
  type NewTask,
  type NewVersion,
  type TaskOperation,
  type TaskOperations,
  type TaskQuery,
} from "./task-operations.js";
import type { Artifact, AuditEvent, Checkpoint, Delivery, HarnessEvent, NewPayload, NewResolution, Ownership, Replay, Review, Task } from "./task-types.js";
import { isPassing, type Transport } from "./transport.js";
import { randomId } from "./webcrypto.js";

/** What goes beside the parameters of an operation. */
export interface Terms extends Abortable {
  /** The revision of the task you have seen; with another one the call is refused with `CONFLICT`. */
  readonly expectedTaskRevision?: number | undefined;
  /** What a repeated call is known by; drawn for you unless you name it. */
  readonly idempotencyKey?: string | undefined;
}

/** A list, and the `cursor` of the page after it. */
export type Page<T> = readonly T[] & { readonly next: string | undefined };

/** Something that happened to a task. Keep `position` to go on after it. */
export interface TaskEvent {
  /** `task.assigned`, `artifact.committed` and so on. */
  readonly event: string;
  readonly position: string;
  readonly data: AuditEvent;
}

/** How a runtime works. */
export interface RunOptions extends Abortable {
  /** How long to rest when there is nothing to do; 1 s unless told. */
  readonly idleMs?: number | undefined;
  /** How much to look at in one go; 100 unless told. */
  readonly limit?: number | undefined;
  /** End when there is nothing left to do. */
  readonly once?: boolean | undefined;
}

/** Something a runtime has to do, with its place. */
export interface Duty extends HarnessEvent {
  readonly cursor: string;
  /** An `idempotencyKey` for a step of it: the same however often it is delivered. */
  key(step: string): string;
}

const TERMS: Names<Terms> = { ...ABORTABLE, expectedTaskRevision: true, idempotencyKey: true };
const RUN: Names<RunOptions> = { ...ABORTABLE, idleMs: true, limit: true, once: true };

/** Every operation on tasks. Whoever holds the credential is who acts: a person's token or an agent's key. */
export class Tasks {
  constructor(
    private readonly transport: Transport,
    private readonly retries: number,
  ) {}

  /** Any operation by its name. */
  async call<K extends TaskOperation>(operation: K, params: TaskOperations[K][0], terms: Terms = {}): Promise<TaskOperations[K][1]> {
    const { expectedTaskRevision, idempotencyKey, signal } = only(terms, TERMS);
    const key = idempotencyKey ?? (LOOKS.has(operation) ? undefined : await randomId());
    const body = { params, expected_task_revision: expectedTaskRevision, idempotency_key: key };
    const reply = await this.transport.send(`/hacp/v1/ops/${operation}`, { method: "POST", body, signal });
    const read = this.transport.read<TaskOperations[K][1]>(reply);
    if (Array.isArray(read)) Object.assign(read, { next: reply.headers.get("hacp-next-cursor") ?? undefined });
    return read;
  }

  /** A person writes down work, and answers for it from then on. */
  create(task: NewTask, terms?: Terms): Promise<Task> {
    return this.call("task.create", task, terms);
  }

  /** Gives it to an agent, whose runtime is told to begin. */
  assign(taskId: string, agentId: string, given: { capability?: string; input?: NonNullable<HarnessEvent["input"]> } = {}, terms?: Terms): Promise<Task> {
    return this.call("task.assign", { task_id: taskId, agent_id: agentId, ...given }, terms);
  }

  /** The agent begins. */
  start(taskId: string, terms?: Terms): Promise<Task> {
    return this.call("task.start", { task_id: taskId }, terms);
  }

  /** The principal calls it off. */
  cancel(taskId: string, reason?: string, terms?: Terms): Promise<Task> {
    return this.call("task.cancel", { task_id: taskId, ...(reason !== undefined && { reason }) }, terms);
  }

  /** The principal stops the agent; it waits at the checkpoint that comes back. */
  interrupt(taskId: string, prompt: string, terms?: Terms): Promise<Checkpoint> {
    return this.call("task.interrupt", { task_id: taskId, prompt }, terms);
  }

  /** The principal says something the agent takes into account as it works. */
  amend(taskId: string, text: string, intent: TaskOperations["task.amend"][0]["intent"] = "clarify", terms?: Terms): Promise<Task> {
    return this.call("task.amend", { task_id: taskId, text, intent }, terms);
  }

  /** Allows or forbids something, such as `fs:/repo:*`, on the way. */
  grant(taskId: string, grant: Omit<TaskOperations["task.grant"][0], "task_id">, terms?: Terms): Promise<Task> {
    return this.call("task.grant", { task_id: taskId, ...grant }, terms);
  }

  /** One task as it is now. */
  get(taskId: string, options?: Abortable): Promise<Task> {
    return this.call("task.get", { task_id: taskId }, options);
  }

  /** The tasks, newest first, pages fetched as they are needed. */
  async *list(query: TaskQuery = {}, options: Abortable = {}): AsyncGenerator<Task, void, undefined> {
    for (let cursor = query.cursor; ; ) {
      const asked = { ...query, ...(cursor !== undefined && { cursor }) };
      const page = (await this.call("task.list", asked, options)) as unknown as Page<Task>;
      yield* page;
      if (page.next === undefined) return;
      cursor = page.next;
    }
  }

  /** A person has to decide before the agent goes on. */
  raise(checkpoint: NewCheckpoint, terms?: Terms): Promise<Checkpoint> {
    return this.call("checkpoint.raise", checkpoint, terms);
  }

  /** A person decides, and the agent goes on; `reject` ends the task. */
  resolve(checkpointId: string, resolution: NewResolution, terms?: Terms): Promise<Checkpoint> {
    return this.call("checkpoint.resolve", { ckpt_id: checkpointId, resolution }, terms);
  }

  /** Nobody will decide. */
  expire(checkpointId: string, terms?: Terms): Promise<Checkpoint> {
    return this.call("checkpoint.expire", { ckpt_id: checkpointId }, terms);
  }

  /** It goes to another person or agent, `user_…` or `agent_…`. */
  transfer(taskId: string, to: string, terms?: Terms): Promise<Ownership> {
    return this.call("ownership.transfer", { task_id: taskId, to }, terms);
  }

  /** Its agent hands it down, if the task is delegable. */
  delegate(taskId: string, toAgent: string, given: { capability?: string; input?: NonNullable<HarnessEvent["input"]> } = {}, terms?: Terms): Promise<Ownership> {
    return this.call("ownership.delegate", { task_id: taskId, to_agent: toAgent, ...given }, terms);
  }

  /** A person judges what was delivered, the newest version unless told. */
  review(review: NewReview, terms?: Terms): Promise<Review> {
    return this.call("review.submit", review, terms);
  }

  /** Adds something to a review that stands. */
  comment(
    reviewId: string,
    comment: TaskOperations["review.comment"][0]["comment"],
    terms?: Terms,
  ): Promise<TaskOperations["review.comment"][1]> {
    return this.call("review.comment", { review_id: reviewId, comment }, terms);
  }

  /** The agent delivers, and the task is ready to be judged. */
  commit(version: NewVersion, terms?: Terms): Promise<Artifact> {
    return this.call("artifact.commit", version, terms);
  }

  /** Sends bytes of any size, in parts; the payload to `commit` them by. */
  upload(bytes: Uint8Array<ArrayBuffer>, options: Abortable & { readonly mediaType?: string | undefined } = {}): Promise<NewPayload> {
    const { mediaType, signal } = only(options, { ...ABORTABLE, mediaType: true });
    return upload(this.transport, bytes, mediaType, signal);
  }

  /** What was delivered, the newest version unless told. */
  artifact(artifactId: string, version?: string, options?: Abortable): Promise<Artifact> {
    return this.call("artifact.get", { art_id: artifactId, ...(version !== undefined && { version }) }, options);
  }

  /** The bytes of a version the server holds, checked against their checksum. */
  async content(artifactId: string, version?: string, options: Abortable = {}): Promise<ArtifactBytes> {
    return bytesOf(this.transport, await this.artifact(artifactId, version, options), options.signal);
  }

  /** A task uses a version. */
  reference(artifactId: string, version: string, byTask: string, role: "input" | "output" = "input", terms?: Terms): Promise<Artifact> {
    return this.call("artifact.reference", { art_id: artifactId, version, by_task: byTask, as_: role }, terms);
  }

  /** Tasks of another project may use it. */
  share(artifactId: string, project: string, terms?: Terms): Promise<Artifact> {
    return this.call("artifact.share", { art_id: artifactId, project }, terms);
  }

  /** The ledgers: what a project, a team or the organisation remembers. */
  readonly ledger = {
    /** What a key says now, or `null`. */
    read: (scope: string, key: string, options?: Abortable) => this.call("ledger.read", { scope, key }, options),
    /** A key says something else from now on; `by` is the task that writes. */
    write: (entry: TaskOperations["ledger.write"][0], terms?: Terms) => this.call("ledger.write", entry, terms),
    /** Everything a key ever said. */
    history: (scope: string, key: string, options?: Abortable) => this.call("ledger.history", { scope, key }, options),
  };

  /** What happened, by task, actor and action. */
  audit(query: TaskOperations["audit.query"][0] = {}, options?: Abortable): Promise<AuditEvent[]> {
    return this.call("audit.query", query, options);
  }

  /** The whole history of a task. */
  async replay(taskId: string, options?: Abortable): Promise<readonly AuditEvent[]> {
    return (await this.call("audit.replay", { task_id: taskId }, options)) as AuditEvent[];
  }

  /** The task as it was at a moment, and what had happened by then. */
  async replayAt(taskId: string, at: Date | string, options?: Abortable): Promise<Replay> {
    return (await this.call("audit.replay", { task_id: taskId, at }, options)) as Replay;
  }

  /** What waits for the person who calls. */
  inbox(page: TaskOperations["human.inbox"][0] = {}, options?: Abortable): Promise<TaskOperations["human.inbox"][1]> {
    return this.call("human.inbox", page, options);
  }

  /** What runtimes have not confirmed. */
  outbox(query: TaskOperations["pending.outbox"][0] = {}, options?: Abortable): Promise<TaskOperations["pending.outbox"][1]> {
    return this.call("pending.outbox", query, options);
  }

  /** What the runtime of this agent has to do, without taking it. */
  peek(query: TaskOperations["runtime.peek"][0] = {}, options?: Abortable): Promise<Delivery[]> {
    return this.call("runtime.peek", query, options);
  }

  /** Everything up to this cursor was done. */
  async ack(through: string, options?: Abortable): Promise<void> {
    await this.call("runtime.ack", { through }, options);
  }

  /** Which versions of the protocol are spoken. */
  version(options: Abortable = {}): Promise<JsonObject> {
    return this.transport.json("/hacp/v1/version", only(options, ABORTABLE));
  }

  /** The JSON Schema of an object, such as `Task`. */
  schema(name: string, options: Abortable = {}): Promise<JsonObject> {
    return this.transport.json(`/hacp/v1/schemas/${encodeURIComponent(name)}`, only(options, ABORTABLE));
  }

  /** What happens to all tasks this credential may see, from now on or from `after` on. Comes back after interruptions. */
  async *events(options: EventsOptions = {}): AsyncGenerator<TaskEvent, void, undefined> {
    const read = ({ event, data, id }: Named): TaskEvent => ({ event, position: id, data: parseJson(data) as unknown as AuditEvent });
    for await (const frame of resumed(this.transport, "/hacp/v1/events", only(options, EVENTS), this.retries)) {
      if (frame.event !== "reset") yield read(frame);
    }
  }

  /**
   * What the runtime of this agent has to do, one after the other. Each is acknowledged when the next
   * one is asked for, so one that was not finished comes again: after a crash too.
   */
  async *duties(options: RunOptions = {}): AsyncGenerator<Duty, void, undefined> {
    const { idleMs = 1000, limit = 100, once = false, signal } = only(options, RUN);
    for (;;) {
      const waiting = await this.outlast(() => this.peek({ limit }, { signal }), signal);
      for (const { cursor, event } of waiting) {
        yield { ...event, cursor, key: (step) => `${event.operation_id}:${step}` };
        await this.outlast(() => this.ack(cursor, { signal }), signal);
      }
      if (waiting.length > 0) continue;
      if (once) return;
      await sleep(idleMs, signal);
    }
  }

  /** Hands everything the runtime has to do to `handler`: peek, handle, acknowledge. What throws comes first next time. */
  async run(handler: (duty: Duty) => unknown, options: RunOptions = {}): Promise<void> {
    for await (const duty of this.duties(options)) await handler(duty);
  }

  /** A runtime waits for a server that is away; what will not pass is thrown. */
  private async outlast<T>(call: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await call();
      } catch (error) {
        if (!isPassing(error)) throw error;
        await sleep(this.transport.delay(Math.min(tries, 10)), signal);
      }
    }
  }
}
