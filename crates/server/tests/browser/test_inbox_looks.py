"""The inbox, what is done from it, and the history, measured as every page is: sideways scrolling,
contrast, targets; empty, full, and with words that mean harm."""

import os
import pathlib

import cases
import pytest
from conftest import DESK, PHONE
from test_inbox import FINAL, NAMES, POOL, row, until
from looks import CONTRAST, SMALL, reflows

SIZES = {"phone": PHONE, "desk": DESK}


def shot(page, name, size, scheme):
    """For looking at them: SHOTS=folder."""
    if folder := os.environ.get("SHOTS"):
        path = pathlib.Path(folder) / f"{name}-{size['width']}-{scheme}.png"
        page.screenshot(path=str(path), full_page=True)


def measure(page, name, size, scheme):
    shot(page, name, size, scheme)
    reflows(page, name, size)
    assert page.evaluate(CONTRAST) == [], name
    assert page.evaluate(SMALL) == [], name
    assert page.locator("h1").count() == 1, name


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_lists_look_right(desk, visit, size, scheme):
    """UX 2, UX 4, UX 8, UX 9."""
    page = desk.sign_in(visit, size=size, color_scheme=scheme)
    measure(page, "inbox-empty", size, scheme)
    page.goto(f"{desk.url}/history")
    measure(page, "history-empty", size, scheme)
    desk.ask("Ship the release?", timeout_seconds=300, on_expiry="fail", priority="critical",
             question={"details": {"amount": "1,250.50 EUR", "recipient": "ann@example.com"}})
    desk.ask("Delete the archive?", priority="high", **FINAL)
    watched = desk.ask("Who should go?", "choose", {
        "options": [{"id": n, "label": n} for n in NAMES[:4]], "pick": "one"}, **POOL)
    desk.call("PUT", f"/api/v1/asks/{watched['id']}/looking", {}, "dev-human-token-2")
    harm = {"details": {"note": "x" * 2000, cases.HOSTILE: cases.HOSTILE}}
    desk.ask((cases.HOSTILE * 9)[:900], question=harm)
    desk.ask("W" * 300)
    for n in range(12):
        desk.ask(f"Refund order {n} of Ada?")
    for name in NAMES:
        done = desk.ask(f"Pay {name}?")
        said = {"answer": {"verdict": "approved" if name < "D" else "rejected"}}
        desk.call("POST", f"/api/v1/asks/{done['id']}/answer", said)
    withdrawn = desk.ask((cases.HOSTILE * 9)[:900])
    desk.call("POST", f"/api/v1/asks/{withdrawn['id']}/cancel", {}, "dev-agent-key")
    page.goto(desk.url)
    text = page.locator("main").inner_text()
    assert "⟨U+202E⟩" in text and "\u202e" not in text
    page.locator(".narrow summary").click()
    measure(page, "inbox", size, scheme)
    for words in ("Refund order", "Delete the archive?", "Ship the release?"):
        row(page, words).locator(".tick input").check()
    shot(page, "inbox-selected", size, scheme)
    page.locator("#bulk button").click()
    measure(page, "bulk", size, scheme)
    page.get_by_role("button", name="Reject all 12").click()
    measure(page, "bulk-result", size, scheme)
    page.goto(desk.url)
    page.keyboard.press("?")
    shot(page, "keys", size, scheme)
    page.keyboard.press("Escape")
    row(page, "Who should go?").get_by_text("Snooze").click()
    shot(page, "later", size, scheme)
    page.get_by_role("link", name="Reassign").click()
    measure(page, "aside", size, scheme)
    page.goto(desk.url)
    row(page, "Delete the archive?").get_by_role("button", name="Approve").click()
    page.get_by_text("The agent says that this can't be undone").wait_for()
    measure(page, "sure", size, scheme)
    page.goto(f"{desk.url}/?q=zebra&project=dev")
    measure(page, "no-match", size, scheme)
    page.goto(f"{desk.url}/history?view=all")
    page.locator(".narrow summary").click()
    measure(page, "history", size, scheme)


def test_a_locked_row_and_a_lost_connection_can_be_read(desk, visit):
    """UX 5, UX 9: what is over is not made faint."""
    ask = desk.ask("Ship the release?")
    desk.ask("Hire Ada?")
    page = desk.sign_in(visit)
    desk.call("POST", f"/api/v1/asks/{ask['id']}/answer", {"answer": {"verdict": "approved"}})
    row(page, "Ship the release?").locator(".verdict").wait_for()
    page.context.set_offline(True)
    until(lambda: page.locator("#lost").is_visible())
    measure(page, "locked", PHONE, "light")
