"""A person writes first: the agent's endpoint is told, the agent replies over A2H, the person answers
in the inbox, and the agent reads the answer. On a phone, with and without JavaScript. A2H-132, A2H-133."""

import json
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import axe
import pytest
from conftest import start


@pytest.fixture
def receiver():
    """An agent's endpoint, and what it was told."""
    heard = queue.Queue()

    class Ear(BaseHTTPRequestHandler):
        def do_POST(self):
            heard.put(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"status":"ok"}')

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Ear)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/hook", heard
    server.shutdown()


def told(page, words):
    page.get_by_text(words).first.wait_for()


@pytest.mark.parametrize("script", [True, False])
def test_a_person_writes_first(tmp_path, visit, receiver, script):
    address, heard = receiver
    with start(tmp_path, "127.0.0.1") as server:
        body = {"project": "dev", "owner": "user_dev", "conversations": True}
        server.call("PUT", "/api/v1/agents/agent_dev", body)
        body = {"agent": "agent_dev", "url": address, "format": "humanlayer"}
        server.call("POST", "/api/v1/webhooks", body)

        page = server.sign_in(visit, who="user_dev_2", java_script_enabled=script)
        page.get_by_role("link", name="Write to an agent").click()
        page.get_by_label("Message").fill("Please refund order 7")
        if script:
            axe.check(page)
        page.get_by_role("button", name="Send this message").click()
        told(page, "agent_dev will answer here")
        told(page, "Please refund order 7")
        if script:
            axe.check(page)

        event = heard.get(timeout=20)
        assert event["type"] == "conversation.created"
        assert event["event"]["kind"] == "NewConversation"
        spec = event["event"]["spec"]
        assert spec["user_message"] == spec["message"] == "Please refund order 7"

        message = {
            "apiVersion": "proto.a2h.dev/v1alpha1",
            "kind": "Message",
            "metadata": {"uid": "m1"},
            "spec": {"message": "All of it, or only the lamp?", "channel_id": spec["channel_id"]},
        }
        server.call("POST", "/a2h/v1/messages", message, key="dev-agent-key")

        page.goto(server.url)
        page.get_by_role("link", name="All of it, or only the lamp?").first.click()
        talk = page.locator("#conversation .said")
        assert talk.count() == 2
        assert "Please refund order 7" in talk.first.inner_text()
        page.get_by_label("Write to the agent").fill("Only the lamp")
        page.get_by_role("button", name="Send").first.click()
        page.get_by_role("link", name="Back to the inbox").first.wait_for()

        answered = server.call("GET", "/a2h/v1/messages/m1", key="dev-agent-key")
        assert answered["status"]["humanMessage"] == "Only the lamp"
        assert heard.get(timeout=20)["type"] == "human_contact.completed"

        page.goto(f"{server.url}/asks/{spec['channel_id']}")
        assert page.locator("#conversation .said").count() == 3
        told(page, "has not answered yet")
        if script:
            axe.check(page)
