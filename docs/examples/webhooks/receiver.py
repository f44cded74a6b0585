"""Takes webhooks, verified with the published library: SECRET=whsec_… PORT=8080 python receiver.py"""

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["SECRET"])
seen: set[str] = set()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            webhook.verify(body.decode(), headers)
        except WebhookVerificationError:
            return self.answer(401)
        # It may come twice, under the same id: once is enough.
        if headers["webhook-id"] not in seen:
            seen.add(headers["webhook-id"])
            print(json.loads(body)["type"], flush=True)
        self.answer(204)

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver)
print("ready", flush=True)
server.serve_forever()
