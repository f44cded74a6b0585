// A service that gives money back, large sums only by leave of a person. Express 5, Node 20.
import { createHmac, timingSafeEqual } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import express from "express";

const { COUNTERSIGN_URL, COUNTERSIGN_API_KEY, SERVICE_URL, FOLDER = "pending" } = process.env;
const authorization = `Bearer ${COUNTERSIGN_API_KEY}`;
const countersign = (path, body) =>
  fetch(COUNTERSIGN_URL + path, {
    method: body ? "POST" : "GET",
    headers: { authorization, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
const { secret } = await (await countersign("/hitl/v1/callback-secret")).json();

const app = express();

app.post("/refunds", express.json(), async (request, response) => {
  const { amount, prefer_hitl, skip_hitl, previous_case_id } = request.body;
  if (amount <= 50) return response.json({ refunded: amount });
  // The agent chooses whether a person decides; a request that continues a case has chosen already.
  const human = prefer_hitl || previous_case_id;
  const refuse = (error, message) => response.status(400).json({ error, message });
  if (human && skip_hitl) return refuse("VALIDATION_ERROR", "prefer_hitl and skip_hitl exclude each other");
  if (skip_hitl) return response.status(201).json({ refunded: 0, hitl_skipped: true, improvement_suggestions: [] });
  if (!human) return refuse("HITL_CHOICE_REQUIRED", "send prefer_hitl: true or skip_hitl: true");

  const made = await countersign("/hitl/v1/cases", {
    type: "approval",
    prompt: `Refund €${amount}?`,
    default_action: "reject",
    hitl_callback_url: `${SERVICE_URL}/hitl/callback`,
    ...(previous_case_id && { previous_case_id }),
  });
  const body = await made.text();
  if (made.status === 202) {
    const { case_id, poll_url } = JSON.parse(body).hitl;
    write("waiting", case_id, { amount, poll_url });
    response.set("Retry-After", made.headers.get("retry-after"));
  }
  // The 202 is passed on as it is.
  response.status(made.status).type("json").send(body);
});

// Countersign calls back; the signature is over the raw body.
app.post("/hitl/callback", express.raw({ type: () => true }), (request, response) => {
  const wanted = Buffer.from(`sha256=${createHmac("sha256", secret).update(request.body).digest("hex")}`);
  const given = Buffer.from(request.get("x-hitl-signature") ?? "");
  if (wanted.length !== given.length || !timingSafeEqual(wanted, given)) return response.sendStatus(401);
  const { event, case_id, result } = JSON.parse(request.body);
  goOn(case_id, event === "review.completed" ? result : undefined);
  response.sendStatus(200);
});

app.get("/refunds/:caseId", (request, response) => {
  const path = file("done", request.params.caseId);
  return existsSync(path) ? response.json(JSON.parse(readFileSync(path, "utf8"))) : response.sendStatus(404);
});

// A call waits in a file. Whoever moves it goes on with it, so nobody does twice; the case id is the
// key under which the bank pays once, should we be killed in between.
const file = (state, caseId) => `${FOLDER}/${state}/${caseId.replace(/\W/g, "")}.json`;
for (const state of ["waiting", "running", "done"]) mkdirSync(`${FOLDER}/${state}`, { recursive: true });

function write(state, caseId, call) {
  writeFileSync(`${file(state, caseId)}.new`, JSON.stringify(call), { flush: true });
  renameSync(`${file(state, caseId)}.new`, file(state, caseId));
}

function goOn(caseId, result) {
  if (!existsSync(file("waiting", caseId))) return;
  renameSync(file("waiting", caseId), file("running", caseId));
  const { amount } = JSON.parse(readFileSync(file("running", caseId), "utf8"));
  write("done", caseId, { refunded: result?.action === "approve" ? amount : 0 });
}

// What was decided while nobody could call us: the poll is the truth.
async function lookAgain() {
  for (const name of readdirSync(`${FOLDER}/running`)) {
    if (!existsSync(`${FOLDER}/done/${name}`)) renameSync(`${FOLDER}/running/${name}`, `${FOLDER}/waiting/${name}`);
  }
  for (const name of readdirSync(`${FOLDER}/waiting`).filter((one) => one.endsWith(".json"))) {
    const { poll_url } = JSON.parse(readFileSync(`${FOLDER}/waiting/${name}`, "utf8"));
    const poll = await fetch(poll_url).then((answer) => answer.json()).catch(() => ({}));
    if (poll.status === "completed") goOn(poll.case_id, poll.result);
    if (poll.status === "expired" || poll.status === "cancelled") goOn(poll.case_id, undefined);
  }
}
await lookAgain();
setInterval(lookAgain, 60_000);
app.listen(new URL(SERVICE_URL).port, "127.0.0.1", () => console.log("ready"));
