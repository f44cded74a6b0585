"""What a page says after an answer, and taking it back."""

import re

import pytest


def told(page, words):
    page.get_by_text(words).first.wait_for()


def verdict(desk, ask):
    result = desk.state(ask, "dev-agent-key").get("result")
    return result and result["answer"]["verdict"]


@pytest.mark.parametrize("script", [True, False])
def test_undo_gives_back_what_was_typed(desk, visit, script):
    ask, other = desk.ask("Refund €120.00 to Ada?"), desk.ask("Deploy?", priority="low")
    page = desk.sign_in(visit, undo=60, java_script_enabled=script)
    page.goto(f"{desk.url}/asks/{ask['id']}")
    page.get_by_label("Comment", exact=True).fill("as discussed")
    page.locator("button[value=approve]").click()
    page.get_by_role("heading", name="Approved: Refund €120.00 to Ada").wait_for()
    assert page.get_by_role("link", name="Next: Deploy?").get_attribute("href") == f"/asks/{other['id']}"
    assert page.get_by_role("link", name="Back to the inbox").is_visible()
    assert not page.get_by_role("link", name="Receipt", exact=True).is_visible()
    assert page.locator("button[value=approve]").count() == 0
    assert verdict(desk, ask) is None, "the agent sees an open request"
    page.get_by_role("button", name="Undo").click()
    told(page, "Your answer was undone")
    assert page.get_by_label("Comment", exact=True).input_value() == "as discussed"
    assert verdict(desk, ask) is None


def test_time_runs_down_and_the_answer_is_sent(desk, visit):
    ask = desk.ask("Refund €120.00 to Ada?")
    page = desk.sign_in(visit, undo=3)
    page.get_by_role("button", name="Approve").click()
    page.get_by_role("heading", name="Approved: Refund €120.00 to Ada").wait_for()
    told(page, "Nothing waits for you")
    page.locator("[data-left]").filter(has_text=re.compile("^1$")).wait_for()
    told(page, "Sent to agent_dev.")
    assert page.get_by_role("button", name="Undo").count() == 0
    assert page.get_by_role("link", name="Receipt", exact=True).is_visible()
    assert verdict(desk, ask) == "approved"


def test_a_closed_page_loses_nothing(desk, visit):
    ask = desk.ask("Refund €120.00 to Ada?")
    page = desk.sign_in(visit, undo=1)
    page.get_by_role("button", name="Reject").click()
    page.get_by_role("heading", name="Rejected: Refund €120.00 to Ada").wait_for()
    page.close()
    other = desk.sign_in(visit, undo=1)
    for _ in range(100):
        if verdict(desk, ask):
            break
        other.wait_for_timeout(100)
    assert verdict(desk, ask) == "rejected"


@pytest.mark.parametrize("script", [True, False])
def test_many_are_undone_together(desk, visit, script):
    asks = [desk.ask(prompt) for prompt in ("Hire Ada?", "Ship the release?")]
    page = desk.sign_in(visit, undo=60, java_script_enabled=script)
    for tick in page.locator(".tick input").all():
        tick.check()
    page.get_by_role("button", name="selected").click()
    page.get_by_role("button", name="Approve").click()
    told(page, "2 requests are answered")
    assert [verdict(desk, ask) for ask in asks] == [None, None]
    page.get_by_role("button", name="Undo").click()
    told(page, "2 answers were undone")
    assert page.locator(".row").count() == 2
