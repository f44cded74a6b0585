"""People answer every type of case in a real browser: on a phone, without JavaScript, with the
keyboard only, with the browser closed in between."""

import cases
from conftest import DESK


def press(page, name):
    page.get_by_role("button", name=name).click()


def told(page, words):
    page.get_by_text(words).first.wait_for()


def test_approval_with_changes_on_a_phone(server, visit):
    """HITL-040, HITL-140: the token leaves the address bar, a reload works, edits keep their type."""
    case = server.case(**cases.APPROVAL)
    page = visit(case["review_url"])
    assert "token" not in page.url and page.url.endswith(case["case_id"])
    assert server.poll(case)["status"] == "opened"
    page.reload()
    page.get_by_text("Propose changes").click()
    page.get_by_label("Amount").fill("900")
    press(page, "Approve")
    told(page, "this agent cannot go ahead with changed ones")
    assert page.get_by_label("Amount").input_value() == "900"
    page.get_by_label("Comment").fill("Too much")
    press(page, "Request changes")
    told(page, "Your answer was sent")
    result = server.poll(case)["result"]
    assert result["action"] == "edit"
    assert result["data"] == {"feedback": "Too much", "edits": {"amount": 900}}


def test_selection_among_many(server, visit):
    """HITL-041: thirty options, the button under the thumb all the time."""
    case = server.case(**cases.SELECTION)
    page = visit(case["review_url"])
    page.get_by_label("Engineer 2,").check()
    page.get_by_label("Engineer 30,").check()
    send = page.get_by_role("button", name="Submit")
    page.evaluate("scrollTo(0, 600)")
    box = send.bounding_box()
    assert 0 <= box["y"] and box["y"] + box["height"] <= 844
    send.click()
    told(page, "Your answer was sent")
    assert server.poll(case)["result"]["data"] == {"selected": ["job-2", "job-30"]}


def test_input_survives_a_closed_browser(server, visit):
    """HITL-135, HITL-137, HITL-138: live conditions, a draft without pressing anything, another
    device, secrets kept and never shown."""
    case = server.case(**cases.INPUT)
    page = visit(case["review_url"])
    country = page.get_by_label("Country")
    assert not country.is_visible()
    page.get_by_label("Full name").fill("Ann Example")
    page.get_by_label("Yes").check()
    country.fill("Norway")
    seen = server.until(case, lambda seen: seen.get("progress", {}).get("completed_fields") == 3)
    assert seen["status"] == "in_progress" and seen["progress"]["total_steps"] == 4
    page.context.close()

    page = visit(case["review_url"], DESK, color_scheme="dark")
    assert page.get_by_label("Full name").input_value() == "Ann Example"
    assert page.get_by_label("Country").input_value() == "Norway"
    page.get_by_label("Passport number").fill("X1234567")
    press(page, "Continue to the next step")
    told(page, "Step 2 of 4")
    press(page, "Go back: You")
    assert page.get_by_label("Passport number").input_value() == ""
    told(page, "You entered this already")
    page.get_by_label("No", exact=True).check()
    assert not page.get_by_label("Country").is_visible()
    press(page, "Continue to the next step")
    told(page, "Step 3 of 4")
    page.get_by_label("First day").fill("2026-12-24")
    page.get_by_label("Email").fill("ann@example.com")
    page.get_by_label("Budget").fill("800")
    page.get_by_label("Breakfast").check()
    page.get_by_label("Booking").set_input_files(
        {"name": "booking.txt", "mimeType": "text/plain", "buffer": b"AB12"}
    )
    press(page, "Continue to the next step")
    told(page, "booking.txt (4 bytes)")
    press(page, "Send to the agent")
    told(page, "Your answer was sent")
    data = server.poll(case)["result"]["data"]
    assert data["passport"] == "X1234567" and data["budget"] == 800 and data["extras"] == ["b"]
    assert "country" not in data and "visa" not in data
    assert "X1234567" not in page.content()


def test_without_javascript(server, visit):
    """HITL-040, UX 7: a form of several steps and a confirmation, by form and link alone."""
    case = server.case(**cases.INPUT)
    page = visit(case["review_url"], java_script_enabled=False)
    page.get_by_label("Full name").fill("Ann")
    press(page, "Save and finish later")
    told(page, "Saved. Nothing was sent yet")
    assert page.get_by_label("Full name").input_value() == "Ann"
    page.get_by_label("Passport number").fill("X1")
    page.get_by_label("Yes").check()
    press(page, "Continue to the next step")
    told(page, "One thing needs to be corrected")
    page.get_by_label("Country").fill("Norway")
    press(page, "Continue to the next step")
    page.get_by_label("Visa number").fill("V9")
    press(page, "Continue to the next step")
    page.get_by_label("First day").fill("2026-12-24")
    page.get_by_label("Email").fill("ann@example.com")
    press(page, "Continue to the next step")
    told(page, "Step 4 of 4")
    press(page, "Send to the agent")
    told(page, "Your answer was sent")
    data = server.poll(case)["result"]["data"]
    assert (data["country"], data["visa"], data["passport"]) == ("Norway", "V9", "X1")

    case = server.case(**cases.CONFIRMATION)
    page = visit(case["review_url"], java_script_enabled=False)
    press(page, "Do not go ahead")
    told(page, "Your answer was sent")
    assert server.poll(case)["result"]["action"] == "cancel"


def test_escalation_with_the_keyboard_only(server, visit):
    """UX 9: every control is reached by Tab with its focus in sight, and worked without a mouse."""
    case = server.case(**cases.ESCALATION)
    page = visit(case["review_url"], DESK)

    def to(name):
        for _ in range(40):
            page.keyboard.press("Tab")
            focused = page.evaluate(
                """() => { const e = document.activeElement, s = getComputedStyle(e);
                   const box = e.closest(".pick") ? getComputedStyle(e.closest(".pick")) : s;
                   const name = e === document.body ? "" : (e.labels?.[0] ?? e).innerText;
                   return [name, box.outlineStyle, box.outlineWidth]; }"""
            )
            if not focused[0]:
                continue
            assert focused[1] != "none" and focused[2] != "0px", focused
            if name in focused[0]:
                return
        raise AssertionError(f"{name} is not reached")

    to("Change the parameters")
    page.keyboard.press("Enter")
    to("Timeout")
    page.keyboard.press("Control+A")
    page.keyboard.type("90")
    # In a field, Enter is no verdict.
    page.keyboard.press("Enter")
    to("No")
    page.keyboard.press("ArrowLeft")
    to("Comment")
    page.keyboard.type("The database was restarted")
    to("Retry")
    page.keyboard.press("Enter")
    told(page, "Your answer was sent")
    result = server.poll(case)["result"]
    assert result["action"] == "retry"
    assert result["data"]["modified_params"] == {"timeout": 90, "verbose": True}
    assert result["data"]["reason"] == "The database was restarted"


def test_confirmation_lost_to_somebody_faster(server, visit):
    """HITL-043, HITL-062: the second answer learns of the first, and loses nothing it wrote. Without
    JavaScript: with it the page would have locked."""
    case = server.case(**cases.CONFIRMATION)
    slow = visit(case["review_url"], java_script_enabled=False)
    fast = visit(case["review_url"])
    slow.get_by_label("Comment").fill("Please wait")
    press(fast, "Confirm and go ahead")
    told(fast, "Your answer was sent")
    press(slow, "Do not go ahead")
    told(slow, "Already answered by someone with the link")
    assert slow.locator("#written").input_value() == "Please wait"
    assert server.poll(case)["result"]["data"] == {"confirmed_items": ["s", "k"]}


def test_this_is_not_for_me(server, visit):
    """HITL-113: closed without an answer, and the agent learns why."""
    case = server.case(**cases.SELECTION)
    page = visit(case["review_url"])
    page.get_by_text("Decline to answer").click()
    page.get_by_label("Why").fill("Wrong person")
    press(page, "Close this request without an answer")
    told(page, "The agent was notified that nobody will answer it")
    seen = server.poll(case)
    assert (seen["status"], seen["reason"]) == ("cancelled", "Wrong person")


def test_answered_elsewhere_while_it_is_open(server, visit):
    """HITL-047, UX 6 and 7: the other page locks, says who and what, and keeps what was typed."""
    case = server.case(**cases.APPROVAL)
    open_page, other = visit(case["review_url"]), visit(case["review_url"], DESK)
    comment = open_page.get_by_label("Comment")
    comment.fill("I was just about to say")
    press(other, "Approve")
    told(other, "Your answer was sent")
    alert = open_page.get_by_role("alert")
    alert.wait_for()
    assert "Already approved" in alert.inner_text() and "someone with the link" in alert.inner_text()
    assert comment.input_value() == "I was just about to say" and not comment.is_editable()
    assert open_page.get_by_role("button", name="Approve").count() == 0
    assert not open_page.get_by_text("Decline to answer").is_visible()
    comment.press("Enter")
    assert server.poll(case)["result"]["data"] == {}


def test_a_page_that_answers_itself_is_not_locked(server, visit):
    """What a page sends is answered with a page, not with a note that somebody was faster."""
    case = server.case(**cases.APPROVAL)
    page = visit(case["review_url"])
    press(page, "Approve")
    told(page, "Your answer was sent")
    assert page.get_by_text("Nothing was sent from this page").count() == 0
