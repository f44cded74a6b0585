// A case, and the press of a button under the message of a chat.
import { HitlCase, HitlFollower } from "@countersign/client";

const service = process.env["COUNTERSIGN_URL"] ?? "";
const created = await fetch(`${service}/hitl/v1/cases`, {
  method: "POST",
  headers: { authorization: `Bearer ${process.env["COUNTERSIGN_API_KEY"]}`, "content-type": "application/json" },
  body: JSON.stringify({ type: "approval", prompt: "Publish the silent post?" }),
});
const hitlCase = await HitlCase.of(created);
if (!hitlCase) throw new Error("no case");
const cases = { get: (_id: string) => hitlCase };
const update = { callback_query: { data: hitlCase.button("approve"), from: { id: 1 } } };
const bot = { sendButton: (_label: string, _data: string): void => {} };
const follower = new HitlFollower();
