// Messages as agents send them: of every level, short and long, one in ten wrong in one place. The same
// ones every time.

const WORDS = "the ferry leaves at nine unless wind is strong so check first and keep your ticket".split(" ");

// Each makes a valid message wrong, and the schema says so.
const MISTAKES = [
  (hxp) => (hxp.delivery.verbosity = "loud"),
  (hxp) => (hxp.transparency.confidence = 1.5),
  (hxp) => (hxp.version = "1.0"),
  (hxp) => (hxp.intent = ""),
  (hxp) => delete hxp.actions,
  (hxp) => hxp.actions.push({ label: "no type" }),
];

export function corpus(count) {
  let state = 1;
  const next = (n) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % n;
  };
  const pick = (list) => list[next(list.length)];
  const text = (n) => Array.from({ length: n }, () => pick(WORDS)).join(" ");
  const lines = [];
  for (let i = 0; i < count; i++) {
    const hxp = {
      version: "1.0.0",
      intent: pick(["explain", "plan", "debug", "brainstorm", "draft", "summarize", "decide", "teach", "refuse"]),
      delivery: { verbosity: pick(["low", "medium", "high"]) },
      transparency: { confidence: next(101) / 100 },
      actions: Array.from({ length: next(4) }, () => ({ type: pick(["ask_followup", "expand", "verify_sources"]), label: text(3) })),
    };
    if (i % 3 > 0) {
      Object.assign(hxp.delivery, { format: pick(["steps", "bullets", "narrative"]), tone: pick(["direct", "warm"]), language: pick(["en", "tr", "de-CH"]) });
      hxp.cognition = { load: 1 + next(10), estimated_read_seconds: next(300), chunking: pick(["none", "light", "structured"]) };
      Object.assign(hxp.transparency, { verification_needed: next(2) === 0, assumptions: [text(6), text(5)], limits: [text(4)] });
      hxp.negotiation = { intent_confirmed: true, clarifying_questions: [text(7)] };
    }
    if (i % 3 > 1) {
      hxp.refusal = { type: "policy", severity: "soft", redirect_available: true };
      hxp.safety = { alignment_source: "policy", harm_risk: "low", safety_flag: false };
      hxp.extensions = { education: { grade: next(13) }, "vendor.acme": { trace: text(2) } };
    }
    if (i % 10 === 0) pick(MISTAKES)(hxp);
    lines.push(JSON.stringify({ hxp, content: text(20 + next(80)) }));
  }
  return lines;
}
