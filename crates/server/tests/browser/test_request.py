"""The page of a request, for somebody who is signed in: on a phone and without JavaScript."""

import json
import re
import urllib.request

import pytest
from conftest import DESK, PHONE, running

REFUND = {
    "kind": "approve",
    "prompt": "Refund 120 to Ada?",
    "details": {"amount": 120, "to": "Ada", "body": "Hi Ada,\nsorry.\nBye"},
    "editable": True,
}
TOKEN = {
    "kind": "provide",
    "prompt": "Which token?",
    "form": {
        "fields": [
            {"key": "token", "label": "Token", "type": "text", "sensitive": True, "required": True}
        ]
    },
}


class Desk:
    """A server, and somebody signed in to it."""

    def __init__(self, url, cookies):
        self.url = url
        self.cookies = cookies

    def call(self, path, body=None, key="dev-agent-key", method=None):
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        with urllib.request.urlopen(request) as answer:
            text = answer.read()
            return json.loads(text) if text else None

    def ask(self, question, **more):
        return self.call("/api/v1/asks", {"question": question, **more})["id"]

    def seen(self, ask):
        return self.call(f"/api/v1/asks/{ask}")


@pytest.fixture(scope="module")
def desk(tmp_path_factory, chromium):
    folder = tmp_path_factory.mktemp("desk")
    with running(folder) as server:
        token = re.search(r"sign-in\?token=(\S+)", (folder / "out").read_text())[1]
        context = chromium.new_context(viewport=PHONE)
        page = context.new_page()
        page.goto(f"{server.url}/sign-in?token={token}")
        page.get_by_role("button").click()
        page.get_by_role("heading").first.wait_for()
        cookies = context.storage_state()
        context.close()
        yield Desk(server.url, cookies)


@pytest.fixture
def at(desk, visit):
    """Opens the page of a request."""

    def open_(ask, **options):
        return visit(f"{desk.url}/asks/{ask}", storage_state=desk.cookies, **options)

    return open_


def press(page, name):
    page.get_by_role("button", name=name).click()


def told(page, words):
    page.get_by_text(words).first.wait_for()


@pytest.mark.parametrize("script", [True, False])
def test_edit_then_approve(desk, at, script):
    """What was changed is seen against the proposal, and only then sent."""
    ask = desk.ask(REFUND)
    page = at(ask, java_script_enabled=script)
    page.get_by_text("Edit the details before you approve").click()
    page.get_by_label("Amount").fill("a lot" if not script else "99")
    if not script:
        press(page, "Approve")
        told(page, "Enter a number")
        page.get_by_label("Amount").fill("99")
    page.get_by_label("Body").fill("Hi Ada,\nso sorry.\nBye")
    press(page, "Approve with 2 changes" if script else "Approve")
    told(page, "You changed what the agent proposed")
    assert "so sorry." in page.locator(".diff ins").last.inner_text()
    assert not desk.seen(ask).get("result"), "nothing was sent yet"
    press(page, "Go back and edit again")
    assert page.get_by_label("Amount").input_value() == "99"
    page.locator("button[value=approve]").click()
    press(page, "Approve with 2 changes")
    told(page, "Your answer was sent")
    answer = desk.seen(ask)["result"]["answer"]
    assert answer["edits"] == {"amount": 99, "to": "Ada", "body": "Hi Ada,\nso sorry.\nBye"}


def test_changes_are_requested_and_the_next_round_is_in_one_thread(desk, at):
    first = desk.ask(REFUND)
    page = at(first)
    page.get_by_label("Comment", exact=True).fill("Half of it")
    press(page, "Request changes")
    told(page, "Your answer was sent")
    second = desk.ask({**REFUND, "prompt": "Refund 60 to Ada?"}, follows=first)
    page = at(second, size=DESK)
    told(page, "2 rounds of this matter")
    told(page, "Half of it")
    page.get_by_role("link", name="Refund 120 to Ada?").click()
    told(page, "Changes requested")
    page.get_by_role("link", name="Refund 60 to Ada?").click()
    page.locator("button[value=approve]").wait_for()


def test_a_comment_an_extension_and_a_receipt(desk, at):
    ask = desk.ask(REFUND, timeout_seconds=1800)
    page = at(ask)
    page.get_by_label("Add to the discussion").fill("Which order?")
    page.reload()
    assert page.get_by_label("Add to the discussion").input_value() == "Which order?"
    press(page, "Add this comment")
    told(page, "Your comment was added")
    assert page.get_by_label("Add to the discussion").input_value() == ""
    assert desk.call(f"/api/v1/asks/{ask}/comments")["comments"][0]["text"] == "Which order?"
    before = desk.seen(ask)["expires_at"]
    page.get_by_text("Give it more time").click()
    press(page, "Add one day")
    told(page, "It now expires in")
    assert desk.seen(ask)["expires_at"] > before
    page.locator("button[value=approve]").click()
    told(page, "Your answer was sent")
    page.goto(f"{desk.url}/asks/{ask}")
    page.get_by_role("link", name="Verify this receipt").click()
    told(page, "The receipt holds")


def test_an_open_page_says_who_looks_and_locks(desk, at):
    ask = desk.ask(REFUND, route={"to": "pool"})
    path = f"/api/v1/asks/{ask}"
    desk.call(f"{path}/looking", {}, key="dev-human-token-2", method="PUT")
    page = at(ask)
    told(page, "is looking at this too")
    page.get_by_label("Comment", exact=True).fill("I was about to say")
    answer = {"answer": {"verdict": "rejected"}}
    desk.call(f"{path}/answer", answer, key="dev-human-token-2")
    told(page, "Rejected: this request is over")
    assert not page.locator("button[value=approve]").is_visible()
    assert page.get_by_label("Comment", exact=True).input_value() == "I was about to say"
    assert page.get_by_label("Add to the discussion").is_editable()


def test_a_secret_is_typed_and_fetched_once(desk, at):
    ask = desk.ask(TOKEN)
    page = at(ask)
    field = page.get_by_label("Token")
    field.fill("hunter2")
    assert field.get_attribute("type") == "password"
    press(page, "Show what I typed")
    assert field.get_attribute("type") == "text"
    page.reload()
    assert field.input_value() == "", "a secret is not kept in the browser"
    field.fill("hunter2")
    press(page, "Send to the agent")
    told(page, "Your answer was sent")
    values = desk.seen(ask)["result"]["answer"]["values"]
    assert values == {"token": "hunter2"}
    desk.call(f"/api/v1/asks/{ask}/acknowledge", {})
    assert desk.seen(ask)["result"]["answer"]["values"]["token"].startswith("[redacted:")
    page.goto(f"{desk.url}/asks/{ask}")
    told(page, "secret, not shown again")
    assert "hunter2" not in page.content()
