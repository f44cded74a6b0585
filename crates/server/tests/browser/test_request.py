"""The page of a request, for somebody who is signed in: on a phone and without JavaScript."""

import os
import re

import pytest
from conftest import DESK, start
from playwright.sync_api import expect

REFUND = {
    "details": {"amount": 120, "to": "Ada", "body": "Hi Ada,\nsorry.\nBye"},
    "editable": True,
}
TOKEN = {
    "form": {
        "fields": [
            {"key": "token", "label": "Token", "type": "text", "sensitive": True, "required": True}
        ]
    },
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    with start(tmp_path_factory.mktemp("desk"), "127.0.0.1") as server:
        yield server


@pytest.fixture
def at(desk, visit):
    """Opens the page of a request."""

    def open_(ask, **options):
        page = desk.sign_in(visit, **options)
        page.goto(f"{desk.url}/asks/{ask['id']}")
        return page

    return open_


def test_the_second_step_of_a_long_request_is_in_sight(desk, at):
    """On a phone it is below the request. A page that begins with the request again would look as if the
    answer was sent."""
    details = {f"step {n}": f"ALTER TABLE t{n} DROP COLUMN c" for n in range(40)}
    ask = desk.ask("Run the migration?", question={"details": details}, irreversible=True)
    for scripted in (True, False):
        page = at(ask, java_script_enabled=scripted)
        page.locator("button[value=approve]").click()
        expect(page.get_by_text("Nothing was sent yet.")).to_be_in_viewport()
        expect(page.locator("form.sure .acts")).to_be_in_viewport(ratio=1)
        assert not desk.state(ask).get("result"), "nothing was sent yet"


ITEMS = [{"id": str(n), "label": f"Delete snapshot {n}", "description": "12 GB"} for n in range(14)]


def test_a_list_is_confirmed_after_its_end_was_seen(desk, at):
    """On a phone its beginning fills the screen: going ahead waits for its end."""
    question = {"items": ITEMS, "yes": "Delete them", "no": "Keep them"}
    ask = desk.ask("Delete 14 snapshots?", "confirm", question)
    page = at(ask)
    go = page.locator("button[value=confirm]")
    assert go.is_disabled() and "Scroll to the end to continue" in go.inner_text()
    page.locator(".items li").nth(8).scroll_into_view_if_needed()
    assert go.is_disabled()
    # The bar with the buttons covers the bottom of the screen: the end must be seen above it.
    page.locator(".items li").last.evaluate("(item) => item.scrollIntoView({ block: 'center' })")
    page.locator("button[value=confirm]:enabled").wait_for()
    assert "Delete them" in go.inner_text()
    # Without JavaScript the buttons come after the list, and do not float over it.
    plain = at(ask, java_script_enabled=False)
    last, button = plain.locator(".items li").last, plain.locator("button[value=confirm]")
    assert button.bounding_box()["y"] > last.bounding_box()["y"]
    # A list that is seen whole needs no scrolling.
    short = desk.ask("Delete 1 snapshot?", "confirm", {**question, "items": ITEMS[:1]})
    at(short, size=DESK).locator("button[value=confirm]:enabled").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_printed_receipt_is_one_page(desk, at, scheme):
    """The question, the answer, who gave it and the code it is verified with; nothing to press."""
    question = {**REFUND, "context": "The parcel was lost."}
    ask = desk.ask("Refund 120 to Ada?", question=question)
    reply = {"answer": {"verdict": "approved"}, "comment": "Within the limit"}
    desk.call("POST", f"/api/v1/asks/{ask['id']}/answer", reply)
    page = at(ask, size=DESK, color_scheme=scheme)
    page.get_by_text("Verification code").wait_for()
    folder = os.environ.get("SHOTS")
    printed = page.pdf(format="A4", path=folder and f"{folder}/receipt-{scheme}.pdf")
    assert len(re.findall(rb"/Type\s*/Page[^s]", printed)) == 1
    page.emulate_media(media="print")
    tops = [
        page.get_by_text(words).locator("visible=true").first.bounding_box()["y"]
        for words in ("Refund 120 to Ada?", "The parcel was lost.", "Approved", "Within the limit", "Verification code")
    ]
    assert tops == sorted(tops), tops
    assert "user_dev" in page.locator(".outcome").inner_text()
    assert page.locator("button:visible, form:visible, nav:visible, .act:visible").count() == 0
    # Ink on paper, whatever the screen's colours are.
    assert page.evaluate("() => getComputedStyle(document.body).color") == "rgb(0, 0, 0)"


PAGE = 1016
"""The height of an A4 page within its margins, in CSS pixels; its width is 688."""


@pytest.mark.parametrize("script", [True, False])
def test_the_first_page_of_a_long_receipt_says_what_was_decided(desk, at, script):
    """A long question and a long comment follow; what is folded on the screen is on the paper."""
    long = "\n".join(f"Line {n} of the reasons" for n in range(300))
    details = {f"Item {n}": f"Value {n}" for n in range(60)}
    more = {"kind": "approve", "context": long, "details": details}
    body = {"question": {"prompt": "Refund 120 to Ada? " * 40, **more}, "metadata": {"ticket": "T-4711"}}
    ask = desk.call("POST", "/api/v1/asks", body, key="dev-agent-key")
    reply = {"answer": {"verdict": "approved"}, "comment": "Within the limit\n" + long}
    desk.call("POST", f"/api/v1/asks/{ask['id']}/answer", reply)
    page = at(ask, size={"width": 688, "height": PAGE}, java_script_enabled=script)
    page.get_by_text("Verification code").wait_for()
    assert not page.get_by_text("T-4711").is_visible(), "folded on the screen"
    assert not page.locator(".on-paper").is_visible()
    folder = os.environ.get("SHOTS")
    printed = page.pdf(format="A4", path=folder and f"{folder}/receipt-long.pdf")
    assert len(re.findall(rb"/Type\s*/Page[^s]", printed)) > 3
    assert not page.get_by_text("T-4711").is_visible(), "folded again"
    page.emulate_media(media="print")
    assert page.get_by_text("T-4711").is_visible()
    page.get_by_text("Line 299 of the reasons").last.wait_for()

    def bottom(found):
        box = found.bounding_box()
        return box["y"] + box["height"]

    for found in (
        page.locator(".on-paper .asked-for"),
        page.locator("#receipt .hash"),
        page.locator(".outcome h2").first,
        page.locator(".outcome").get_by_text("user_dev").first,
    ):
        assert bottom(found) < PAGE - 60, found


def press(page, name):
    page.get_by_role("button", name=name).click()


def told(page, words):
    page.get_by_text(words).first.wait_for()


@pytest.mark.parametrize("script", [True, False])
def test_edit_then_approve(desk, at, script):
    """What was changed is seen against the proposal, and only then sent."""
    ask = desk.ask("Refund 120 to Ada?", question=REFUND)
    page = at(ask, java_script_enabled=script)
    told(page, "dev (key_")
    page.get_by_text("Edit the details before you approve").click()
    page.get_by_label("Amount").fill("99" if script else "")
    if not script:
        press(page, "Approve with changes")
        told(page, "Enter a number")
        page.get_by_label("Amount").fill("99")
    page.get_by_label("Body").fill("Hi Ada,\nso sorry.\nBye")
    press(page, "Approve with 2 changes" if script else "Approve with changes")
    told(page, "You changed what the agent proposed")
    assert "so sorry." in page.locator(".diff ins").last.inner_text()
    assert not desk.state(ask, "dev-agent-key").get("result"), "nothing was sent yet"
    press(page, "Go back, send nothing")
    assert page.get_by_label("Amount").input_value() == "99"
    page.locator("button[value=approve]").click()
    # Only a step that could be read counts.
    page.wait_for_timeout(1100)
    press(page, "Approve with changes")
    told(page, "Sent to agent_dev")
    answer = desk.state(ask, "dev-agent-key")["result"]["answer"]
    assert answer["edits"] == {"amount": 99, "to": "Ada", "body": "Hi Ada,\nso sorry.\nBye"}


def test_changes_are_requested_and_the_next_round_is_in_one_thread(desk, at):
    first = desk.ask("Refund 120 to Ada?", question=REFUND)
    page = at(first)
    page.get_by_label("Comment", exact=True).fill("Half of it")
    press(page, "Request changes")
    told(page, "Sent to agent_dev")
    second = desk.ask("Refund 60 to Ada?", question=REFUND, follows=first["id"])
    page = at(second, size=DESK)
    told(page, "2 revisions")
    told(page, "Half of it")
    page.get_by_role("link", name="Refund 120 to Ada?").click()
    told(page, "Changes requested")
    page.get_by_role("link", name="Refund 60 to Ada?").click()
    page.locator("button[value=approve]").wait_for()


def test_a_comment_an_extension_and_a_receipt(desk, at):
    ask = desk.ask("Refund 120 to Ada?", question=REFUND, timeout_seconds=1800)
    page = at(ask)
    page.get_by_label("Add to the discussion").fill("Which order?")
    page.reload()
    assert page.get_by_label("Add to the discussion").input_value() == "Which order?"
    press(page, "Add comment")
    told(page, "Your comment was added")
    assert page.get_by_label("Add to the discussion").input_value() == ""
    assert desk.call("GET", f"/api/v1/asks/{ask['id']}/comments")["comments"][0]["text"] == "Which order?"
    before = desk.state(ask, "dev-agent-key")["expires_at"]
    page.get_by_text("Extend deadline").click()
    press(page, "Add one day")
    told(page, "It now expires in")
    assert desk.state(ask, "dev-agent-key")["expires_at"] > before
    page.locator("button[value=approve]").click()
    told(page, "Sent to agent_dev")
    page.goto(f"{desk.url}/asks/{ask['id']}")
    page.get_by_role("link", name="Verify this receipt").click()
    told(page, "Receipt verified")


def test_an_open_page_says_who_looks_and_locks(desk, at):
    ask = desk.ask("Refund 120 to Ada?", question=REFUND, route={"to": "pool"})
    path = f"/api/v1/asks/{ask['id']}"
    desk.call("PUT", f"{path}/looking", {}, "dev-human-token-2")
    page = at(ask)
    told(page, "is looking at this too")
    page.get_by_label("Comment", exact=True).fill("I was about to say")
    answer = {"answer": {"verdict": "rejected"}}
    desk.call("POST", f"{path}/answer", answer, "dev-human-token-2")
    told(page, "Already rejected")
    assert not page.locator("button[value=approve]").is_visible()
    assert page.get_by_label("Comment", exact=True).input_value() == "I was about to say"
    assert page.get_by_label("Add to the discussion").is_editable()


def test_a_secret_is_typed_and_fetched_once(desk, at):
    ask = desk.ask("Which token?", "provide", TOKEN)
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
    told(page, "Sent to agent_dev")
    values = desk.state(ask, "dev-agent-key")["result"]["answer"]["values"]
    assert values == {"token": "hunter2"}
    desk.call("POST", f"/api/v1/asks/{ask['id']}/acknowledge", {}, "dev-agent-key")
    assert desk.state(ask, "dev-agent-key")["result"]["answer"]["values"]["token"].startswith("[redacted:")
    page.goto(f"{desk.url}/asks/{ask['id']}")
    told(page, "secret, not shown again")
    assert "hunter2" not in page.content()
