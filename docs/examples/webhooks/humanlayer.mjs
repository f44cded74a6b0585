// As a receiver that was built for HumanLayer verifies: SECRET=whsec_… PORT=8080 node humanlayer.mjs
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "svix";

const webhook = new Webhook(process.env.SECRET);

createServer(async (request, response) => {
  const body = await text(request);
  try {
    // Only Svix's own headers.
    const names = Object.entries(request.headers).filter(([name]) => name.startsWith("svix-"));
    webhook.verify(body, Object.fromEntries(names));
    const told = JSON.parse(body);
    console.log(told.is_test ? "test" : told.type);
    response.writeHead(200, { "content-type": "application/json" }).end('{"status":"ok"}');
  } catch {
    response.writeHead(400).end();
  }
}).listen(Number(process.env.PORT), "127.0.0.1", () => console.log("ready"));
