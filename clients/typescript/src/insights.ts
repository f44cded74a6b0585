/** Numbers about what agents claim and what people do with it: `GET /api/v1/insights`. */

import { ABORTABLE, type Abortable } from "./handle.js";
import type { Names } from "./options.js";

/** Which numbers: all that the key may see of the last 30 days, unless told. Days are in UTC. */
export interface InsightsOptions extends Abortable {
  /** Only of this project. */
  readonly project?: string | undefined;
  /** Only of this agent. */
  readonly agent?: string | undefined;
  /** The first day, such as `2026-02-01`. */
  readonly from?: string | undefined;
  /** The last day; it counts too. */
  readonly to?: string | undefined;
}

export const INSIGHTS: Names<InsightsOptions> = { ...ABORTABLE, project: true, agent: true, from: true, to: true };

/** How asks ended. */
export interface EndedCounts {
  readonly answered: number;
  readonly defaulted: number;
  readonly expired: number;
  readonly failed: number;
  readonly cancelled: number;
  /** The share nobody answered in time. */
  readonly expiry_rate: number | null;
}

/** What people made of what agents recommended. */
export interface VerdictCounts {
  readonly followed: number;
  readonly edited: number;
  readonly overruled: number;
  /** Answered where nothing was recommended. */
  readonly open: number;
  readonly edit_rate: number | null;
  readonly overrule_rate: number | null;
}

/** Claimed confidence against how often people overruled it. */
export interface Calibration {
  readonly decisions: number;
  /** By claimed confidence; none below 20 decisions. */
  readonly bins: readonly { readonly from: number; readonly to: number; readonly decisions: number; readonly overruled: number }[] | null;
}

/** Whether whoever decided had the time to read. */
export interface ReadingCounts {
  readonly read: number;
  /** Decided sooner after the first look than the text can be read. */
  readonly hasty: number;
  /** Nobody opened it: it was answered from a message or by a program. */
  readonly unopened: number;
  readonly hasty_rate: number | null;
}

/** How long something took; medians are as near as the bins tell. */
export interface WaitCounts {
  readonly n: number;
  readonly median_seconds: number | null;
  readonly p90_seconds: number | null;
  readonly bins: readonly { readonly from: number; readonly to: number | null; readonly n: number }[];
}

/** One agent beside others. */
export interface AgentInsights {
  readonly agent: string;
  readonly project: string;
  readonly ended: EndedCounts;
  readonly verdicts: VerdictCounts;
  readonly calibration: Calibration;
  readonly reading: ReadingCounts;
}

/** The numbers. What each of them means stands in the server's documentation. */
export interface Insights {
  readonly from: string;
  readonly to: string;
  readonly project?: string;
  readonly agent?: string;
  readonly asks: number;
  /** How many, by the protocol they came in. */
  readonly dialects: Readonly<Record<string, number>>;
  /** How many, by what their envelope tells. */
  readonly envelopes: Readonly<Record<string, number>>;
  readonly intents: readonly { readonly intent: string; readonly n: number }[];
  /** Claimed confidence, in tenths. */
  readonly confidence: readonly { readonly from: number; readonly to: number; readonly n: number }[];
  /** Claimed cognitive load, from 1 to 10. */
  readonly load: readonly { readonly load: number; readonly n: number }[];
  readonly days: readonly { readonly day: string; readonly asked: number; readonly ended: number; readonly load: number | null }[];
  readonly refusals: {
    readonly n: number;
    readonly rate: number | null;
    readonly reasons: readonly { readonly type: string; readonly severity: string; readonly n: number }[];
  };
  readonly actions: readonly { readonly type: string; readonly shown: number; readonly picked: number; readonly rate: number | null }[];
  readonly first_view: WaitCounts;
  readonly decision: WaitCounts;
  readonly ended: EndedCounts;
  readonly verdicts: VerdictCounts;
  readonly calibration: Calibration;
  readonly reading: ReadingCounts;
  /** The same by agent, as far as agents are compared; the first hundred by name. */
  readonly agents: readonly AgentInsights[];
}
