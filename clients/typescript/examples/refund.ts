/** An agent that asks before it pays money back, and uses the amount the person settled on. */

import { Countersign } from "@countersign/client";

const countersign = new Countersign();

const asked = countersign.approve("Refund order 4711?", {
  context: "The parcel arrived broken. The customer sent photographs.",
  details: { order: 4711, amount: 120, currency: "EUR" },
  editable: true,
  rejectRequiresReason: true,
  priority: "high",
  timeoutSeconds: 3600,
  onExpiry: "fail",
  tags: ["refund"],
});
console.log(`waiting for an answer at ${(await asked).url}`); //=> waiting for an answer at http

const answer = await asked.wait();
switch (answer.verdict) {
  case "approved": {
    const { amount, currency } = answer.edits ?? { amount: 120, currency: "EUR" };
    console.log(`refunding ${amount} ${currency}`); //=> refunding 120 EUR
    break;
  }
  case "rejected":
  case "changes_requested":
    console.log(`not refunding: ${answer.comment}`);
    break;
  default:
    console.log(`nobody decided: ${answer.verdict}`);
}
