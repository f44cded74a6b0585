"""The inbox and the history in a real browser: by keyboard, by two people at once, without JavaScript,
with the network gone, and measured."""

import re
import time

import axe
import pytest
from conftest import DESK, PHONE
from test_journeys import press, told

NAMES = ["Ada", "Bob", "Cleo", "Dora", "Emil", "Fred", "Gina"]
FINAL = {"metadata": {"irreversible": True}}
POOL = {"route": {"to": "pool"}}


def verdict(server, ask):
    result = server.state(ask).get("result")
    return result and result["answer"]["verdict"]


def focused(page):
    return page.evaluate(
        "() => document.activeElement.closest('#rows > li')?.querySelector('h2').innerText"
    )


def row(page, words):
    return page.locator(".row", has_text=words)


def test_ten_are_triaged_with_the_keyboard_only(desk, visit):
    """UX 6, UX 9: j, k, a, r, y, 1–6, s, Enter and nothing else; what can't be undone asks once more."""
    # The newest comes first.
    asks = {name: desk.ask(f"Refund {name}?") for name in reversed(NAMES)}
    pick = desk.ask(
        "Which colour?",
        "choose",
        {"options": [{"id": c, "label": c} for c in ("red", "green", "blue")], "pick": "one"},
        priority="high",
    )
    final = desk.ask("Delete the archive?", priority="critical", **FINAL)
    later = desk.ask("Rename the branch?", priority="low")
    page = desk.sign_in(visit, size=DESK)
    key = page.keyboard.press

    key("?")
    told(page, "Next and previous request")
    key("a")
    key("Escape")
    assert verdict(desk, final) is None, "nothing fires behind the list of keys"

    key("j")
    assert focused(page) == "Delete the archive?"
    assert page.evaluate("getComputedStyle(document.activeElement, '::after').outlineWidth") == "3px"
    key("a")
    told(page, "This can't be undone")
    key("a")
    key("1")
    told(page, "This can't be undone")
    assert verdict(desk, final) is None, "the same key twice confirms nothing"
    # Only a step that could be read counts.
    page.wait_for_timeout(1200)
    send = page.locator("form.sure .acts button").first
    send.evaluate("button => { button.disabled = true; }")
    key("y")
    assert page.locator("#unsent").count() == 0, "a key that comes too soon is no lost connection"
    send.evaluate("button => { button.disabled = false; }")
    key("y")
    told(page, "Sent to agent_dev")
    assert verdict(desk, final) == "approved"

    key("j")
    assert focused(page) == "Which colour?"
    with page.expect_navigation():
        key("2")
    assert desk.state(pick)["result"]["answer"]["options"] == ["green"]
    told(page, "8 waiting")
    for name, letter in zip(NAMES, "arararx"):
        if focused(page) is None:
            key("j")
        assert focused(page) == f"Refund {name}?"
        if letter == "x":
            key("x")
            told(page, "Review 1 request…")
            key("x")
            letter = "a"
        with page.expect_navigation():
            key(letter)
        expected = "approved" if letter == "a" else "rejected"
        assert verdict(desk, asks[name]) == expected
    if focused(page) is None:
        key("j")
    assert focused(page) == "Rename the branch?"
    key("s")
    told(page, "In one hour")
    with page.expect_navigation():
        key("Enter")
    told(page, "Snoozed, back in ")
    assert verdict(desk, later) is None
    told(page, "All caught up")
    key("/")
    page.keyboard.type("jar")
    assert page.locator("#q").input_value() == "jar", "keys are letters while one types"
    key("Escape")
    with page.expect_navigation():
        key("g")
        key("h")
    told(page, "Sealed up to block")
    key("j")
    assert page.evaluate("document.activeElement.innerText") == "Delete the archive?"
    with page.expect_navigation():
        key("g")
        key("i")
    told(page, "All caught up")


def test_two_people_race_and_one_row_locks(desk, visit):
    """UX 5, UX 7: rows appear and lock without a reload, and the count follows."""
    first = desk.ask("Ship the release?", **POOL)
    slow, fast = desk.sign_in(visit), desk.sign_in(visit, "user_dev_2")
    assert re.match(r"\(1\) ", slow.title())
    row(fast, "Ship the release?").get_by_role("button", name="Approve").click()
    told(fast, "Sent to agent_dev")
    locked = row(slow, "Ship the release?")
    locked.locator(".verdict").wait_for()
    assert locked.locator(".verdict").inner_text() == "Approved by user_dev_2"
    assert locked.get_by_role("button").count() == 0 and locked.locator(".tick").count() == 0
    slow.wait_for_function("document.title.startsWith('Inbox')")
    assert verdict(desk, first) == "approved"
    # The one who only looks is seen to look.
    second = desk.ask("Hire Ada?", **POOL)
    row(slow, "Hire Ada?").wait_for()
    slow.wait_for_function("document.title.startsWith('(1) ')")
    assert slow.locator("link[rel=icon]").get_attribute("href") == "/icon/1.svg"
    desk.call("PUT", f"/api/v1/asks/{second['id']}/looking", {}, "dev-human-token-2")
    # A look wakes nobody; it is told with the next thing that happens, or within seconds.
    desk.ask("Hire Bob?", **POOL)
    told(slow, "user_dev_2 is looking at it")
    # Who is too late is told so, and by whom.
    page = desk.sign_in(visit, java_script_enabled=False)
    answer = {"answer": {"verdict": "rejected"}}
    desk.call("POST", f"/api/v1/asks/{second['id']}/answer", answer, "dev-human-token-2")
    row(page, "Hire Ada?").get_by_role("button", name="Approve").click()
    told(page, "Already answered by user_dev_2")


def place(page):
    """Where the row with the focus is on the screen, and how much of the screen is free."""
    return page.evaluate("""() => {
      const box = document.activeElement.closest("#rows > li").getBoundingClientRect();
      return { middle: (box.top + box.bottom) / 2, top: box.top, bottom: box.bottom, height: innerHeight };
    }""")


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_keys_act_only_on_a_row_that_is_seen_whole(desk, visit, motion):
    """A key that would act on a row out of sight brings it into sight, and does nothing else."""
    words = [f"{a}{b}" for a in "bcdfgh" for b in "aeiou"]
    asks = {word: desk.ask(f"Call {word}?") for word in words[:20]}
    page = desk.sign_in(visit, size=DESK, reduced_motion=motion)
    key = page.keyboard.press
    for _ in range(8):
        key("j")
    at = place(page)
    assert abs(at["middle"] - at["height"] / 2) < 2, "moving puts the row in the middle"
    word = focused(page).removeprefix("Call ").removesuffix("?")
    for letter in "arxs":
        page.evaluate("() => scrollTo({ top: 0, behavior: 'instant' })")
        assert place(page)["bottom"] > DESK["height"]
        key(letter)
        at = place(page)
        assert abs(at["middle"] - at["height"] / 2) < 2, letter
        told(page, "Scrolled to this request. Press the key again.")
        assert page.locator("dialog[open], .tick input:checked").count() == 0
    assert verdict(desk, asks[word]) is None
    # What lies over the foot of the screen counts as well: half a row behind it is not seen.
    key("x")
    page.evaluate("""() => {
      const row = document.activeElement.closest("li").getBoundingClientRect();
      const bar = document.getElementById("bulk").getBoundingClientRect();
      scrollBy({ top: row.bottom - bar.top - 20, behavior: "instant" });
    }""")
    assert place(page)["bottom"] < DESK["height"]
    key("a")
    assert verdict(desk, asks[word]) is None
    with page.expect_navigation():
        key("a")
    assert verdict(desk, asks[word]) == "approved"
    at = place(page)
    assert 0 <= at["top"] and at["bottom"] <= at["height"], "the next one is in sight"


def test_a_row_too_tall_for_the_screen_is_opened_first(desk, visit):
    """It can never be seen whole, so no key answers it from the list."""
    ask = desk.ask("Ship the release?", question={"details": {f"k{n}": "x" * 40 for n in range(4)}})
    page = desk.sign_in(visit, size={"width": 700, "height": 180})
    page.keyboard.press("j")
    for _ in range(3):
        page.keyboard.press("a")
    told(page, "Press Enter to open it.")
    assert verdict(desk, ask) is None


def test_a_request_that_expires_soon_comes_first_and_moves_up(desk, visit):
    """Rows are in the order of the server, also when a deadline comes close while the page is open."""
    late = desk.ask("Sixteen minutes?", timeout_seconds=960, on_expiry="fail")
    desk.ask("Urgent?", priority="critical")
    desk.ask("Four minutes?", timeout_seconds=240, on_expiry="fail", **POOL)
    page = desk.sign_in(visit, size=DESK)
    page.mouse.move(5, 5)
    heads = page.locator(".row h2")
    assert heads.all_inner_texts() == ["Four minutes?", "Urgent?", "Sixteen minutes?"]
    first = row(page, "Four minutes?")
    assert "expiring" in first.get_attribute("class")
    assert re.search(r"Expires in [34] min", first.inner_text())
    desk.call("POST", "/api/v1/dev/clock", {"advance": "2m"})
    # The list is told with the next thing that happens, or within seconds.
    desk.ask("Plain?")
    expected = ["Four minutes?", "Sixteen minutes?", "Urgent?", "Plain?"]
    until(lambda: heads.all_inner_texts() == expected)
    assert "expiring" in row(page, "Sixteen minutes?").get_attribute("class")
    # While somebody is at a row, nothing moves; the move is offered.
    other = desk.ask("Later?", timeout_seconds=960, on_expiry="fail")
    row(page, "Later?").wait_for()
    page.keyboard.press("j")
    desk.call("POST", "/api/v1/dev/clock", {"advance": "90s"})
    desk.call("POST", f"/api/v1/asks/{late['id']}/answer", {"answer": {"verdict": "approved"}})
    offer = page.get_by_role("button", name="Move up 1 request that is due soon")
    offer.click()
    assert focused(page) == "Later?"
    assert verdict(desk, other) is None


def test_claims_are_live(desk, visit):
    """ADR 0013: who has it is said at once, on the list and on the page; its owner is warned first."""
    ask = desk.ask("Hire Ada?", **POOL)
    owner = desk.sign_in(visit, size=DESK)
    listed = desk.sign_in(visit)
    owner.goto(f"{desk.url}/asks/{ask['id']}")
    owner.get_by_label("Comment").fill("Only this once")
    assert owner.locator("#claimed").count() == 0
    desk.call("POST", f"/api/v1/asks/{ask['id']}/claim", {}, "dev-human-token-2")
    owner.get_by_role("heading", name="Claimed by user_dev_2").wait_for()
    axe.check(owner)
    told(listed, "Claimed by user_dev_2")
    assert row(listed, "Hire Ada?").get_by_role("button").count() == 0
    press(owner, "Approve")
    assert owner.get_by_label("Answer anyway").evaluate("(box) => box.matches(':invalid')")
    assert verdict(desk, ask) is None
    owner.get_by_label("Answer anyway").check()
    press(owner, "Approve")
    told(owner, "Sent to agent_dev")
    assert verdict(desk, ask) == "approved"


def test_who_cannot_answer_any_more_is_told_so(desk, visit):
    """The buttons go, what was entered stays."""
    ask = desk.ask("Hire Ada?", **POOL)
    page = desk.sign_in(visit, "user_dev_2")
    page.goto(f"{desk.url}/asks/{ask['id']}")
    page.get_by_label("Comment").fill("Only this once")
    desk.call("POST", f"/api/v1/asks/{ask['id']}/claim", {})
    page.get_by_role("heading", name="Claimed by user_dev").wait_for()
    until(lambda: page.get_by_role("button", name="Approve").count() == 0)
    assert page.get_by_label("Comment").input_value() == "Only this once"
    assert page.get_by_role("button", name="Claim").count() == 0


def test_a_summary_adds_up_what_is_ticked(desk, visit):
    """Exact decimals; the buttons say how many; what is unticked is not answered."""
    money = [{"details": {"amount": text, "currency": "EUR"}} for text in ("0.10", "0.20", "120.00")]
    asks = [desk.ask(f"Refund order {n} of Ada?", question=one) for n, one in enumerate(money)]
    page = desk.sign_in(visit)
    told(page, "3 similar requests, 120.30 EUR in total")
    press_link(page, "Review together")
    total = page.locator(".total")
    assert total.inner_text() == "3 requests · total 120.30 EUR"
    page.get_by_role("button", name="Approve all 3 requests").wait_for()
    # The newest is first.
    page.locator("#answers [name=ask]").first.uncheck()
    assert total.inner_text() == "2 requests · total 0.30 EUR"
    for box in page.locator("#answers [name=ask]").all()[1:]:
        box.uncheck()
    assert page.get_by_role("button", name="Approve 0 requests").is_disabled()
    for box in page.locator("#answers [name=ask]").all()[1:]:
        box.check()
    press(page, "Approve all 2 requests")
    told(page, "2 requests are answered")
    assert [verdict(desk, ask) for ask in asks] == ["approved", "approved", None]


def test_nothing_moves_under_the_finger(desk, visit):
    """UX 7: while somebody is at a row, new ones are offered and not put before it."""
    desk.ask("Ship the release?")
    page = desk.sign_in(visit, size=DESK)
    page.mouse.move(5, 5)
    desk.ask("Pay Ada?")
    row(page, "Pay Ada?").wait_for()
    page.keyboard.press("j")
    before = row(page, "Ship the release?").bounding_box()["y"]
    desk.ask("Pay Bob?", priority="critical")
    offer = page.get_by_role("button", name="Show 1 new request")
    offer.wait_for()
    assert row(page, "Pay Bob?").count() == 0
    height = offer.bounding_box()["height"]
    moved = row(page, "Ship the release?").bounding_box()["y"] - before
    assert moved == 0, f"{moved} of {height}"
    offer.click()
    assert focused(page) == "Pay Bob?"
    assert page.locator(".row h2").all_inner_texts() == ["Pay Bob?", "Pay Ada?", "Ship the release?"]


def test_many_are_answered_after_a_summary(desk, visit):
    """One decision, one receipt each; what must be looked at by itself is left out, with the reason."""
    alike = [desk.ask(f"Refund order {n} of Ada?") for n in range(1, 8)]
    other = desk.ask("Pay the invoice?")
    final = desk.ask("Delete the archive?", **FINAL)
    page = desk.sign_in(visit)
    assert page.locator(".row").count() == 3
    told(page, "7 similar requests")
    row(page, "Refund order").get_by_role("link", name="Show all").click()
    told(page, "7 similar requests")
    assert page.locator(".row").count() == 7
    page.go_back()
    for words in ("Refund order", "Pay the invoice?", "Delete the archive?"):
        row(page, words).locator(".tick input").check()
    press(page, "Review 3 requests")
    told(page, "Answer 8 requests together")
    told(page, "It is irreversible")
    axe.check(page)
    assert verdict(desk, other) is None, "a summary decides nothing"
    page.get_by_label("Comment for all of them").fill("Within the limit")
    press(page, "Approve all 8 requests")
    told(page, "8 requests are answered")
    axe.check(page)
    receipts = set()
    for ask in [*alike, other]:
        seen = desk.state(ask)
        assert seen["result"]["comment"] == "Within the limit"
        receipts.add(seen["receipt"])
    assert len(receipts) == 8 and verdict(desk, final) is None
    press_link(page, "Back to the list")
    told(page, "1 waiting")


def press_link(page, name):
    page.get_by_role("link", name=name).click()


def test_words_find_what_waits_and_what_is_over(desk, visit):
    """The index is a moment behind, so it is asked again until it knows."""
    for name in NAMES:
        desk.ask(f"Refund {name} for the lamp?")
    over = desk.ask("Refund the lamp of Zoe?")
    desk.call("POST", f"/api/v1/asks/{over['id']}/answer", {"answer": {"verdict": "rejected"}})
    page = desk.sign_in(visit)

    def look(words, expected):
        page.get_by_label("Words in requests").first.fill(words)
        with page.expect_navigation():
            page.keyboard.press("Enter")
        return page.locator("h1").inner_text() == expected

    until(lambda: look("lamp refund", "7 requests match"))
    assert look("lamp cle", "1 request matches")
    assert row(page, "Refund Cleo for the lamp?").count() == 1
    assert look("unicorn", "No open requests match")
    page.goto(f"{desk.url}/?q=zoe")
    press_link(page, "Search history")
    told(page, "Refund the lamp of Zoe?")
    assert page.locator(".ended").count() == 1


def until(so):
    end = time.monotonic() + 20
    while not so():
        assert time.monotonic() < end, "waited in vain"


def test_without_javascript(desk, visit):
    """UX 7: tabs, narrowing, answers, putting aside, handing over and many at once, by form and link."""
    mine = desk.ask("Ship the release?", timeout_seconds=600, on_expiry="fail")
    pooled = desk.ask("Hire Ada?", **POOL)
    final = desk.ask("Delete the archive?", **FINAL)
    page = desk.sign_in(visit, java_script_enabled=False)
    press_link(page, re.compile("^My groups"))
    assert page.locator(".row h2").all_inner_texts() == ["Hire Ada?"]
    page.locator("summary", has_text="Filter").click()
    page.get_by_label("Expires").select_option("3600")
    press(page, "Apply")
    told(page, "No open requests match")
    press_link(page, re.compile("^All "))
    assert page.locator(".row h2").all_inner_texts() == ["Ship the release?"]
    row(page, "Ship the release?").get_by_role("link", name="Snooze").click()
    page.get_by_label("Or pick a time in UTC").fill("2020-01-01T09:00")
    press(page, "Snooze until then")
    told(page, "Choose a time in the future")
    press(page, "Tomorrow morning")
    told(page, "Snoozed, back in ")
    press_link(page, re.compile("^Snoozed"))
    press(page, "Move back to the inbox")
    told(page, "Back in your inbox")
    page.goto(desk.url)
    row(page, "Hire Ada?").get_by_role("link", name="Snooze").click()
    page.get_by_label("Who should answer").select_option("user_dev_2")
    page.get_by_label("Note").fill("You know her")
    press(page, "Reassign this request")
    told(page, "Reassigned to user_dev_2")
    seen = desk.state(pooled)
    assert (seen["assigned_to"], seen["comments"]) == ("user_dev_2", 1)
    row(page, "Delete the archive?").get_by_role("button", name="Approve").click()
    told(page, "This can't be undone")
    assert verdict(desk, final) is None
    press_link(page, "Go back, send nothing")
    row(page, "Delete the archive?").get_by_role("button", name="Reject").click()
    told(page, "Sent to agent_dev")
    assert verdict(desk, final) == "rejected"
    row(page, "Ship the release?").locator(".tick input").check()
    press(page, "Review the selected requests")
    press(page, "Approve the selected requests")
    told(page, "1 request is answered")
    assert verdict(desk, mine) == "approved"


def test_offline_and_back(desk, visit):
    """UX 5: it is said when what is shown is old, and what was missed comes by itself."""
    gone = desk.ask("Ship the release?")
    page = desk.sign_in(visit)
    page.wait_for_function("document.getElementById('lost').hidden")
    page.context.set_offline(True)
    told(page, re.compile(r"Offline: showing the list as of \d\d:\d\d\."))
    desk.ask("Pay Ada?")
    desk.call("POST", f"/api/v1/asks/{gone['id']}/answer", {"answer": {"verdict": "approved"}})
    assert row(page, "Pay Ada?").count() == 0
    page.context.set_offline(False)
    row(page, "Pay Ada?").wait_for()
    page.wait_for_function("document.getElementById('lost').hidden")
    told(page, "Approved by user_dev")


def test_history_is_narrowed_and_taken_along(desk, visit):
    """Who, how and when; as a table and as lines; with the receipt of each."""
    paid = desk.ask("Pay Ada?")
    desk.call("POST", f"/api/v1/asks/{paid['id']}/answer", {"answer": {"verdict": "approved"}})
    moot = desk.ask("Ship the release?")
    desk.call("POST", f"/api/v1/asks/{moot['id']}/cancel", {"reason": "moot"}, "dev-agent-key")
    page = desk.sign_in(visit)
    page.get_by_role("navigation", name="You").get_by_role("link", name="History").click()
    assert page.locator(".ended").count() == 2
    told(page, "by user_dev through the API")
    axe.check(page)
    page.locator("summary", has_text="Filter").click()
    page.get_by_label("Outcome").select_option("completed")
    page.get_by_label("Closed by").select_option("user_dev")
    press(page, "Apply")
    assert page.locator(".ended h2").all_inner_texts() == ["Pay Ada?"]
    with page.expect_download() as taken:
        press_link(page, "Export as CSV")
    lines = taken.value.path().read_text().splitlines()
    assert len(lines) == 2 and "Pay Ada?" in lines[1]
    with page.expect_download() as taken:
        page.get_by_role("link", name="Receipt").click()
    assert taken.value.path().read_text().count(".") == 2


def test_fifty_rows_are_light_and_sixty_have_a_next_page(desk, visit):
    """UX 8: all that is loaded for a page, and nothing from elsewhere."""
    words = [f"{a}{b}" for a in "bcdfghkl" for b in "aeiouyrs"]
    for word in words[:60]:
        desk.ask(f"Refund the parcel that {word} never got?")
    page = desk.sign_in(visit)
    sizes = []
    page.on("response", lambda got: sizes.append(weight(got)))
    page.goto(desk.url)
    assert page.locator(".row").count() == 50
    told(page, "60 waiting")
    assert sum(sizes) < 100 * 1024, sizes
    press_link(page, "Show more requests")
    assert page.locator(".row").count() == 10
    press_link(page, "Back to the beginning")
    assert page.locator(".row").count() == 50


def weight(response):
    if "/inbox/live" in response.url:
        return 0
    response.finished()
    return response.request.sizes()["responseBodySize"]


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_keep_the_rules_of_axe(desk, visit, size, scheme):
    """UX 9: inbox, request, aside, sure, history, review, sign-in."""
    desk.ask("Ship the release?", timeout_seconds=300, on_expiry="fail", priority="critical")
    desk.ask("Delete the archive?", priority="high", **FINAL)
    for n in range(3):
        desk.ask(f"Refund order {n} of Ada?")
    page = desk.sign_in(visit, size=size, color_scheme=scheme)
    axe.check(page)
    page.keyboard.press("?")
    axe.check(page)
    page.keyboard.press("Escape")
    row(page, "Ship the release?").get_by_text("Snooze").click()
    axe.check(page)
    press_link(page, "Reassign")
    axe.check(page)
    page.goto(f"{desk.url}/?view=all&q=zebra")
    axe.check(page)
    page.goto(desk.url)
    row(page, "Delete the archive?").get_by_role("button", name="Approve").click()
    told(page, "This can't be undone")
    axe.check(page)
    page.goto(f"{desk.url}/history")
    axe.check(page)
    page.goto(desk.url)
    row(page, "Ship the release?").locator("h2 a").click()
    axe.check(page)
    case = desk.case(type="approval", prompt="Send it?")
    axe.check(visit(case["review_url"], size, color_scheme=scheme))
    axe.check(visit(f"{desk.url}/sign-in", size, color_scheme=scheme))
