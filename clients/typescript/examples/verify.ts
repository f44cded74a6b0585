/** One service gets an approval; another acts on it, and trusts nothing but the signed receipt. */

import { Countersign, type Jwks, isApproval, verifyReceipt } from "@countersign/client";

const question = { kind: "approve", prompt: "Deploy v2.1?", details: { version: "2.1" }, editable: false, reject_requires_reason: false } as const;

/** The other service: knows the server's keys, and which question it wants a yes to. */
async function deploy(receipt: string, jwks: Jwks, revocations: readonly string[]): Promise<string> {
  const claims = await verifyReceipt(receipt, jwks, { question, revocations });
  if (!isApproval(claims)) throw new Error(`no approval: ${claims.outcome}`);
  return `deploying, approved by ${claims.by.kind} at ${claims.ended_at}`;
}

const countersign = new Countersign();
const { receipt } = await countersign.ask({ question }).wait();
console.log(await deploy(receipt ?? "", await countersign.jwks(), await countersign.revocations())); //=> deploying, approved by human
