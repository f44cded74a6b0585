import assert from "node:assert/strict";
import { test } from "node:test";

import { InvalidEvidence, type JsonObject, type Jwks, verifyEvidence, verifyReceipt } from "@countersign/client";

import { vectors } from "./support/vectors.js";

const file = vectors("passkeys");
const jwks = file["jwks"] as unknown as Jwks;
const cases = file["cases"] as unknown as readonly JsonObject[];

async function judge(one: JsonObject): Promise<void> {
  const claims = await verifyReceipt(String(one["jws"]), jwks);
  await verifyEvidence(claims, one["evidence"] as JsonObject, {
    origin: one["origin"] as string | undefined,
    enrolment: one["enrolment"] as JsonObject | undefined,
    jwks,
  });
}

test("there are vectors", () => {
  assert.ok(cases.length > 60);
});

for (const one of cases) {
  test(`passkey evidence: ${String(one["name"])}`, async () => {
    if (one["valid"] === true) return judge(one);
    await assert.rejects(judge(one), (error) => {
      assert.ok(error instanceof InvalidEvidence, String(error));
      assert.equal(error.code, one["why"]);
      return true;
    });
  });
}

test("an enrolment needs the keys of the issuer", async () => {
  const one = cases.find((each) => each["name"] === "enrolled") as JsonObject;
  const claims = await verifyReceipt(String(one["jws"]), jwks);
  const enrolment = one["enrolment"] as JsonObject;
  await assert.rejects(verifyEvidence(claims, one["evidence"] as JsonObject, { enrolment }), TypeError);
});

test("what is no evidence is refused", async () => {
  const claims = await verifyReceipt(String(cases[0]?.["jws"]), jwks);
  for (const evidence of [{}, { statement: 1 }, { statement: { v: "1" } }]) {
    await assert.rejects(verifyEvidence(claims, evidence as JsonObject), InvalidEvidence);
  }
});
