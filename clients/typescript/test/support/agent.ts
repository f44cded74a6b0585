/** An agent as a process of its own: `agent.js THREAD AMOUNT`. */

import { Countersign, Denied } from "@countersign/client";

const [thread = "", amount = ""] = process.argv.slice(2);
const tell: typeof fetch = async (input, init) => {
  if (String(input).endsWith("/events")) console.log("waiting");
  return fetch(input, init);
};
const refund = new Countersign({ fetch: tell }).requireApproval(
  ({ amount }: { order: number; amount: number }) => `refunded ${amount}`,
  { name: "refund", key: `${thread}/call_1`, tags: [thread] },
);
try {
  console.log(await refund({ order: 4711, amount: Number(amount) }));
} catch (error) {
  if (!(error instanceof Denied)) throw error;
  console.log("denied:", error.reason);
}
