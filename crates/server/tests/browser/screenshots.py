"""The pictures of the documentation: `make screenshots`. Not collected as a test."""

import functools
import os
import pathlib

import cases
from conftest import DESK, PHONE

OUT = pathlib.Path(os.environ.get("OUT", "docs/screenshots"))
REFUND = {
    "context": "Order 4711 arrived broken; the pictures are in the ticket. Ada has been a customer since 2019.",
    "details": {"amount": "€120.00", "recipient": "ada@example.com", "order": "4711"},
    "editable": True,
}


def take(page, name):
    page.evaluate("document.activeElement?.blur()")
    page.screenshot(path=str(OUT / f"{name}.png"))


def test_screenshots(desk, visit):
    """A working day: some of it answered, some of it waiting."""
    OUT.mkdir(parents=True, exist_ok=True)
    desk.call("PUT", "/api/v1/me", {"name": "Olga Petrova"})
    desk.call("PUT", "/api/v1/agents/support-bot", {"project": "dev", "owner": "user_dev"})
    key = desk.call("POST", "/api/v1/keys", {"agent": "support-bot"})["secret"]
    ask = functools.partial(desk.ask, key=key)
    for name, verdict in [("Grace", "approved"), ("Alan", "approved"), ("Edsger", "rejected")]:
        done = ask(f"Refund €80.00 to {name} for a late parcel?")
        desk.call("POST", f"/api/v1/asks/{done['id']}/answer", {"answer": {"verdict": verdict}})
    ask("Publish the summer catalogue?", timeout_seconds=86400)
    ask("Which hosting plan should I book?", "choose", {
        "pick": "one",
        "options": [
            {"id": "s", "label": "Small, €9 a month"},
            {"id": "m", "label": "Medium, €19 a month"},
        ],
    })
    ask("What is the delivery address?", "provide", {
        "form": {"fields": [cases.field("address", "Address", "textarea", required=True)]},
    })
    for n in range(1041, 1046):
        ask(f"Send the reminder for invoice {n}?", priority="low")
    ask("Delete 1,204 inactive accounts?", priority="high", timeout_seconds=7200,
             metadata={"irreversible": True})
    refund = ask("Refund Ada for the broken lamp?", question=REFUND, priority="critical",
                      timeout_seconds=1800, on_expiry="fail")
    case = desk.case(**cases.APPROVAL)

    phone = desk.sign_in(visit, size=PHONE, device_scale_factor=2)
    take(phone, "inbox-phone")
    phone.goto(f"{desk.url}/asks/{refund['id']}")
    take(phone, "request-phone")
    review = visit(case["review_url"], size=PHONE, device_scale_factor=2)
    take(review, "review-phone")

    wide = desk.sign_in(visit, size=DESK)
    take(wide, "inbox")
    wide.goto(f"{desk.url}/asks/{refund['id']}")
    take(wide, "request")
    wide.get_by_text("Edit the details before you approve").click()
    wide.get_by_label("Amount").fill("€100.00")
    wide.locator("button[value=approve]").click()
    wide.get_by_text("to what the agent proposed").wait_for()
    take(wide, "changes")
    wide.locator("button[value=approve]").click()
    wide.get_by_role("heading", name="Approved").first.wait_for()
    wide.goto(f"{desk.url}/asks/{refund['id']}?verify=1")
    wide.get_by_text("Receipt verified").wait_for()
    take(wide, "receipt")
    wide.goto(f"{desk.url}/history?view=all")
    take(wide, "history")
    dark = desk.sign_in(visit, size=DESK, color_scheme="dark")
    dark.goto(f"{desk.url}/settings")
    take(dark, "settings-dark")
