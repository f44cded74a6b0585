// Takes webhooks, verified with the published library: SECRET=whsec_… PORT=8080 node receiver.mjs
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.SECRET);
const seen = new Set();

createServer(async (request, response) => {
  const body = await text(request);
  try {
    webhook.verify(body, request.headers);
  } catch {
    return response.writeHead(401).end();
  }
  // It may come twice, under the same id: once is enough.
  if (!seen.has(request.headers["webhook-id"])) {
    seen.add(request.headers["webhook-id"]);
    console.log(JSON.parse(body).type);
  }
  response.writeHead(204).end();
}).listen(Number(process.env.PORT), "127.0.0.1", () => console.log("ready"));
