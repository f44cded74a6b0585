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
    told(page, "All caught up")
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
    page.get_by_role("button", name=re.compile("^Review (2|the selected) requests")).click()
    page.get_by_role("button", name="Approve").click()
    told(page, "2 requests are answered")
    assert [verdict(desk, ask) for ask in asks] == [None, None]
    page.get_by_role("button", name="Undo").click()
    told(page, "2 answers were undone")
    assert page.locator(".row").count() == 2


def test_the_page_says_when_the_agent_cancelled_meanwhile(desk, visit):
    ask = desk.ask("Refund €120.00 to Ada?")
    page = desk.sign_in(visit, undo=2)
    page.get_by_role("button", name="Approve").click()
    page.get_by_role("heading", name="Approved: Refund €120.00 to Ada").wait_for()
    desk.call("POST", f"/api/v1/asks/{ask['id']}/cancel", {}, key="dev-agent-key")
    page.get_by_role("heading", name="Your answer was not sent").wait_for()
    told(page, re.compile("by the agent agent_dev before your answer took effect"))
    assert page.get_by_text("Sent to").count() == 0


def test_the_page_does_not_say_sent_when_it_cannot_check(desk, visit):
    ask = desk.ask("Refund €120.00 to Ada?")
    page = desk.sign_in(visit, undo=2)
    page.get_by_role("button", name="Approve").click()
    page.get_by_role("heading", name="Approved: Refund €120.00 to Ada").wait_for()
    page.context.set_offline(True)
    told(page, re.compile("cannot check whether your answer was sent: you are offline"))
    assert page.get_by_text("Sent to").count() == 0
    page.context.set_offline(False)
    told(page, "Sent to agent_dev.")
    assert verdict(desk, ask) == "approved"


def many(desk, n=14):
    """A list that is longer than the screen."""
    return [desk.ask(f"Call {chr(97 + i) * 2}?") for i in range(n)]


@pytest.mark.parametrize("key", [True, False])
def test_undo_is_in_sight_in_a_scrolled_list(desk, visit, key):
    many(desk)
    page = desk.sign_in(visit, undo=30)
    row = page.locator(".row").nth(9)
    prompt = row.locator("h2").inner_text()
    row.get_by_role("button", name="Approve").click()
    page.locator(".notes .answered h2").wait_for()
    assert page.evaluate("scrollY") > 200
    undo = page.get_by_role("button", name="Undo")
    box = undo.bounding_box()
    assert 0 <= box["y"] and box["y"] + box["height"] <= 844
    assert "Press U to undo" in page.locator("#say").inner_text()
    if key:
        page.keyboard.press("u")
    else:
        undo.click()
    told(page, "Your answer was undone")
    assert page.evaluate("scrollY") > 200
    assert page.locator(".toast").first.is_visible()
    assert page.get_by_role("link", name=prompt, exact=True).count() == 1


def test_a_slow_second_tap_answers_nothing_else(desk, visit):
    asks = many(desk)
    page = desk.sign_in(visit, undo=30, has_touch=True)
    row = page.locator(".row").nth(9)
    button = row.get_by_role("button", name="Approve")
    button.scroll_into_view_if_needed()
    box = button.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.touchscreen.tap(x, y)
    page.locator(".answered h2").wait_for()
    page.touchscreen.tap(x, y)
    page.wait_for_timeout(1200)
    assert page.locator(".row").count() == len(asks) - 1, "one answer"
    # Afterwards the buttons work.
    page.locator(".row").nth(3).get_by_role("button", name="Reject").tap()
    page.get_by_role("heading", name=re.compile("^Rejected:")).wait_for()
    assert page.locator(".row").count() == len(asks) - 2


def test_back_after_an_answer_does_not_say_that_nothing_arrived(desk, visit):
    ask = desk.ask("Drop the table?", irreversible=True)
    page = desk.sign_in(visit, undo=0)
    page.evaluate("navigator.serviceWorker.ready")
    page.reload()
    page.wait_for_function("navigator.serviceWorker.controller !== null")
    page.goto(f"{desk.url}/asks/{ask['id']}")
    page.locator("button[value=approve]").click()
    page.locator(".sure .acts button").first.click()
    told(page, "Sent to agent_dev.")
    page.go_back()
    page.get_by_role("heading", name="Drop the table?").first.wait_for()
    assert page.url == f"{desk.url}/asks/{ask['id']}"
    assert page.get_by_text("No response").count() == 0


def test_open_pages_show_that_somebody_has_just_answered(desk, visit):
    ask = desk.ask("Hire Ada?", route={"to": "pool"})
    owner = desk.sign_in(visit, undo=30)
    second = owner.context.new_page()
    other = desk.sign_in(visit, "user_dev_2")
    for page in (owner, second, other):
        page.goto(f"{desk.url}/asks/{ask['id']}")
    other.get_by_role("button", name="Claim").click()
    told(other, "Only you are expected to answer it now.")
    for page in (owner, second):
        page.get_by_role("heading", name="Claimed by user_dev_2").wait_for()
    owner.get_by_label("Answer anyway").check()
    owner.locator("button[value=approve]").click()
    owner.get_by_role("heading", name="Approved: Hire Ada").wait_for()
    other.get_by_role("heading", name="user_dev has just answered this request").wait_for()
    second.get_by_role("heading", name="You have just answered this request").wait_for()
    for page in (second, other):
        assert not page.locator("#answer .acts").first.is_visible()
    assert other.get_by_text("Only you are expected").count() == 0
    owner.get_by_role("button", name="Undo").click()
    other.get_by_role("heading", name="The answer was undone").wait_for()
    assert other.locator("#answer .acts").first.is_visible()
