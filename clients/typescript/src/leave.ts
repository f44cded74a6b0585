/** What a runtime may do without asking. */

import type { PermissionGrant, Task } from "./task-types.js";

/** Do it; do not, whatever else was allowed; or ask first, with a checkpoint. */
export type Leave = "allow" | "deny" | "ask";

/** As what, and when, unless it is the run of the task, now. */
export interface LeaveOptions {
  /** The run of the duty. */
  readonly runId?: string | undefined;
  readonly at?: Date | undefined;
}

/**
 * Whether a run of an agent may do something, such as `bash:ls` or `fs:/repo/a.py`. Look again before
 * each step, with the task as it is then: a grant may be taken back meanwhile.
 */
export function leave(task: Pick<Task, "grants" | "run_id">, scope: string, options: LeaveOptions = {}): Leave {
  const run = options.runId ?? task.run_id;
  const now = (options.at ?? new Date()).getTime();
  const said = task.grants.filter((grant) => counts(grant, run, now) && covers(grant.scope, scope)).map((grant) => grant.decision);
  return said.includes("deny") ? "deny" : said.includes("allow") ? "allow" : "ask";
}

function counts(grant: PermissionGrant, run: string | null, now: number): boolean {
  // One that names no run is for the next, which is whoever looks.
  if (grant.until === "session") return grant.run_id === undefined || grant.run_id === run;
  return grant.until === "task" || now <= Date.parse(grant.until);
}

function covers(granted: string, wanted: string): boolean {
  if (granted === wanted) return true;
  if (!granted.endsWith("*")) return false;
  const stem = granted.slice(0, -1);
  // What lies below a folder is written with a slash.
  return wanted.startsWith(stem) || (stem.endsWith(":") && wanted.startsWith(`${stem.slice(0, -1)}/`));
}
