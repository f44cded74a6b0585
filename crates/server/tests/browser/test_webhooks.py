"""An endpoint from its address to a call that is taken: its secret, a test, what came of each, once more."""

import base64
import hashlib
import hmac
import http.server
import json
import threading

import pytest

import axe
from conftest import DESK, PHONE


class Receiver(http.server.ThreadingHTTPServer):
    """An endpoint that keeps what it heard and answers with this status."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Call)
        self.heard, self.status = [], 204
        self.url = f"http://127.0.0.1:{self.server_port}/hook"


class Call(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.heard.append((dict(self.headers.items()), body))
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def receiver():
    with Receiver() as receiver:
        thread = threading.Thread(target=receiver.serve_forever)
        thread.start()
        yield receiver
        receiver.shutdown()
        thread.join()


def signed(secret, call):
    """Whether the secret signed this call, as Standard Webhooks has it."""
    headers, body = call
    key = base64.b64decode(secret.removeprefix("whsec_"))
    said = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    made = base64.b64encode(hmac.new(key, said, hashlib.sha256).digest()).decode()
    return f"v1,{made}" in headers["webhook-signature"].split()


def told(page, what, so):
    """The newest row of the log with this name, once it says so: the log is a page to be looked at
    again."""
    row = page.get_by_role("listitem").filter(has_text=what).first
    for _ in range(100):
        if row.count() and so in row.inner_text():
            return row
        page.wait_for_timeout(100)
        page.reload()
    raise AssertionError(f"{what} was never {so}: {page.locator('main').inner_text()}")


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("script", [True, False], ids=["script", "plain"])
def test_what_was_refused_is_sent_again(desk, visit, receiver, size, script):
    page = desk.sign_in(visit, size=size, java_script_enabled=script)
    page.goto(f"{desk.url}/settings/webhooks")
    page.get_by_label("Whose requests").select_option(label="the agent agent_dev")
    page.get_by_label("Address").fill(receiver.url)
    page.get_by_role("button", name="Add it and show its secret once").click()
    secret = page.get_by_label("Signing secret").input_value()
    assert secret.startswith("whsec_")
    page.get_by_role("link", name="Go to the endpoint").click()

    page.get_by_role("button", name="Send a test").click()
    told(page, "webhook.test", "delivered")
    assert json.loads(receiver.heard[0][1])["type"] == "webhook.test"

    receiver.status = 500
    ask = desk.ask("Refund order 7?")
    answer = {"answer": {"verdict": "approved"}}
    desk.call("POST", f"/api/v1/asks/{ask['id']}/answer", answer)
    row = told(page, "ask.answered", "answered 500")
    assert "waiting" in row.inner_text()

    receiver.status = 204
    row.get_by_role("button", name="Send again").click()
    assert page.get_by_text("It is sent again").is_visible()
    told(page, "ask.answered", "accepted with 204")
    ids = {headers["webhook-id"] for headers, body in receiver.heard if b"ask.answered" in body}
    assert len(receiver.heard) > 2 and len(ids) == 1, "the same thing is told, under the same name"
    assert all(signed(secret, call) for call in receiver.heard)

    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    if script:
        axe.check(page)
    page.get_by_role("link", name="Remove this endpoint").click()
    page.get_by_role("button", name="Remove it now").click()
    assert page.get_by_text("No endpoint yet").is_visible()
