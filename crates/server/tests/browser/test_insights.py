"""The page of numbers: from nothing to what was asked and answered, narrowed, and read without seeing it."""

import time

import pytest

import axe
from conftest import DESK, PHONE
from looks import looks_right

SIZES = {"phone": PHONE, "desk": DESK}


def envelope(intent, confidence):
    return {
        "version": "1.0.0",
        "intent": intent,
        "delivery": {"verbosity": "low"},
        "cognition": {"load": 4},
        "transparency": {"confidence": confidence},
        "actions": [{"type": "expand"}, {"type": "simplify"}],
    }


def counted(server, so):
    """Looks again until the numbers are so: they are a moment behind."""
    end = time.monotonic() + 20
    while not so(seen := server.call("GET", "/api/v1/insights")):
        assert time.monotonic() < end, f"waited in vain: {seen}"
        time.sleep(0.1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_numbers_can_be_seen_and_read(desk, visit, size, scheme):
    """UX 8, UX 9: on a phone and a desk, light and dark; every chart has words and a table."""
    page = desk.sign_in(visit, size=size, color_scheme=scheme)
    page.get_by_text("user_dev").first.click()
    page.get_by_role("link", name="Insights").click()
    page.get_by_role("heading", name="No data for this period").wait_for()
    looks_right(page, f"insights-empty-{scheme}", size)

    for n in range(21):
        ask = desk.ask(f"Refund order {n}?", hxp=envelope("decide" if n % 3 else "haggle", 0.95))
        if n == 0:
            page.goto(f"{desk.url}/asks/{ask['id']}")
            page.locator("h1").wait_for()
        verdict = {"verdict": "approved"} if n % 4 else {"verdict": "rejected"}
        answer = {"answer": verdict, "comment": "So be it."}
        desk.call("POST", f"/api/v1/asks/{ask['id']}/answer", answer)
    desk.ask("Ship it?", key="dev-agent-key-2")
    counted(desk, lambda seen: seen["asks"] == 22 and seen["ended"]["answered"] == 21)
    seen = desk.call("GET", "/api/v1/insights")
    assert seen["first_view"]["n"] == 1 and seen["reading"]["unopened"] == 20, "the one that was opened"

    page.goto(f"{desk.url}/insights")
    charts = page.locator("svg[role=img]")
    assert charts.count() > 8
    chart = page.get_by_role("img", name="Intents that agents state")
    assert chart.count() == 1, "a chart is found by its title"
    for summary in page.locator(".chart details summary").all():
        summary.click()
    table = page.get_by_role("region", name="Intents that agents state, table")
    assert table.get_by_role("row").count() == 3
    assert table.get_by_role("row", name="Decide 14").is_visible()
    assert page.get_by_role("row", name="agent_dev dev 21").is_visible()
    looks_right(page, f"insights-{scheme}", size)
    axe.check(page)

    page.locator("summary", has_text="Filter").click()
    page.get_by_label("Project").select_option("dev2")
    page.get_by_role("button", name="Apply").click()
    page.get_by_text("1 request; most on").first.wait_for()
    assert "project=dev2" in page.url
    page.get_by_role("link", name="7 days").click()
    assert "project=dev2" in page.url and "days=7" in page.url
    looks_right(page, f"insights-narrowed-{scheme}", size)


def test_numbers_need_no_script(desk, visit):
    """UX 7: drawn by the server."""
    ask = desk.ask("Ship it?", hxp=envelope("plan", 0.4))
    desk.call("POST", f"/api/v1/asks/{ask['id']}/answer", {"answer": {"verdict": "approved"}})
    counted(desk, lambda seen: seen["ended"]["answered"] == 1)
    page = desk.sign_in(visit, java_script_enabled=False)
    page.goto(f"{desk.url}/insights")
    assert page.get_by_role("img", name="How requests ended").is_visible()
