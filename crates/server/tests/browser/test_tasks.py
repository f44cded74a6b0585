"""A task from its first word to its last, in a browser: on a phone, at a desk, and without JavaScript."""

import pytest
from conftest import DESK, PHONE, start
from looks import looks_right

OLD = "# Release notes\n\nThe sum is 40.\nThe date is open.\n\nBye\n"
NEW = "# Release notes\n\nThe sum is 42.\nThe date is Monday.\n\n- one\n- two\n\nBye\n"
HOSTILE = "Pay </script><script>alert(1)</script> <img src=x onerror=alert(1)> \u202egpj.exe\u200b"


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    with start(tmp_path_factory.mktemp("desk"), "127.0.0.1") as server:
        yield server


def op(desk, operation, token="dev-human-token", /, **params):
    return desk.call("POST", f"/hacp/v1/ops/{operation}", {"params": params}, token)


def agent(desk, operation, **params):
    return op(desk, operation, "dev-agent-key", **params)


def deliver(desk, task, content, media_type="text/markdown"):
    payload = {"kind": "inline", "content": content, "media_type": media_type}
    return agent(desk, "artifact.commit", task_id=task, type="notes", payload=payload)


def begun(desk, goal="Write the release notes", **more):
    spec = {"goal": goal, "acceptance_criteria": ["The sum is right", "There is a date"]}
    task = op(desk, "task.create", type="notes", spec=spec, **more)["id"]
    op(desk, "task.assign", task_id=task, agent_id="agent_dev")
    agent(desk, "task.start", task_id=task)
    return task


def press(page, name):
    page.get_by_role("button", name=name).click()


def told(page, words):
    page.get_by_text(words).first.wait_for()


@pytest.mark.parametrize("script", [True, False])
def test_a_task_from_its_first_word_to_its_last(desk, visit, script):
    page = desk.sign_in(visit, java_script_enabled=script)
    page.get_by_role("link", name="Tasks", exact=True).click()
    page.get_by_role("link", name="New task").first.click()
    page.get_by_label("Goal").fill("Write the release notes")
    page.get_by_label("Acceptance criteria").fill("The sum is right\nThere is a date")
    page.get_by_label("Assign to", exact=True).select_option("agent_dev")
    press(page, "Create task")
    told(page, "Not started")
    task = page.url.rsplit("/", 1)[1]
    agent(desk, "task.start", task_id=task)
    agent(desk, "checkpoint.raise", task_id=task, kind="approval", prompt="May I read the tickets?")
    page.reload()
    page.get_by_role("link", name="Answer what it waits for").click()
    told(page, "Write the release notes")
    page.locator("button[value=approve]").click()
    told(page, "Sent to agent_dev")
    deliver(desk, task, OLD)
    page.goto(f"{desk.url}/tasks/{task}")
    told(page, "Ready for review")
    page.get_by_label("The sum is right").check()
    if script:
        page.reload()
        assert page.get_by_label("The sum is right").is_checked(), "ticks stay in this browser"
        page.locator("#L3").click()
        assert page.get_by_label("Line, Comment 1").input_value() == "3"
    else:
        page.get_by_label("Line, Comment 1").fill("3")
    page.get_by_label("Comment 1", exact=True).fill("It is 42")
    page.get_by_label("Severity, Comment 1").select_option("blocker")
    press(page, "Request changes")
    told(page, "Enter what has to change; the agent needs it")
    assert page.get_by_label("Comment 1", exact=True).input_value() == "It is 42"
    page.get_by_label("Required changes").fill("The sum\nThe date")
    press(page, "Request changes")
    told(page, "Your review was recorded")
    said = agent(desk, "task.get", task_id=task)
    assert said["state"] == "in_progress"
    if script:
        deliver(desk, task, NEW)
    else:
        deliver(desk, task, NEW)
        page.goto(f"{desk.url}/tasks/{task}")
    told(page, "v1 beside v2")
    assert page.locator(".ln.both .is").first.inner_text().endswith("The sum is 42.")
    page.get_by_label("Older version").select_option("none")
    press(page, "Show these side by side")
    assert page.locator(".leaf .was").count() == 0
    press(page, "Accept v2")
    told(page, "Your review was recorded")
    assert agent(desk, "task.get", task_id=task)["state"] == "completed"
    page.locator("#trail summary").last.click()
    page.locator("#trail a.tall").last.click()
    told(page, "This is the task as it was")
    assert page.locator("main form[method=post]").count() == 0


@pytest.mark.parametrize("script", [True, False])
def test_what_few_say_of_a_task_is_said_with_the_keyboard_on_a_phone(desk, visit, script):
    whole = begun(desk, "The whole of it")
    page = desk.sign_in(visit, size=PHONE, java_script_enabled=script)
    page.goto(f"{desk.url}/tasks/{whole}")
    page.get_by_role("link", name="Create a task that is part of this one").click()
    more = page.locator("details.extra")
    assert more.get_attribute("open") is not None, "what the address says is in sight"
    assert page.get_by_label("Part of which task").input_value() == whole
    page.goto(f"{desk.url}/tasks/new")
    assert not page.get_by_label("Time limit").is_visible()
    page.get_by_label("Goal").fill("A part of it")
    page.locator("summary").filter(has_text="More").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert page.locator("input[name=reviewers]").first.is_checked(), "the first thing behind More is ticked"
    page.get_by_label("Part of which task").fill(f"{desk.url}/tasks/{whole}")
    page.get_by_label("Time limit").fill("soon")
    page.get_by_label("Allowed without asking").fill("bash:*")
    looks_right(page, f"task-new-more-{script}", PHONE)
    press(page, "Create task")
    told(page, "One thing needs to be corrected")
    looks_right(page, f"task-new-wrong-{script}", PHONE)
    assert page.get_by_label("Goal").input_value() == "A part of it"
    assert page.locator("input[name=reviewers]").first.is_checked()
    page.locator("#problems a").click()
    wrong = page.get_by_label("Time limit")
    assert wrong.evaluate("e => e === document.activeElement") or not script
    assert wrong.is_visible() and wrong.input_value() == "soon"
    wrong.fill("2h")
    page.keyboard.press("Enter")
    told(page, "The whole of it")
    task = op(desk, "task.get", task_id=page.url.rsplit("/", 1)[1])
    assert task["parent_task"] == whole and task["spec"]["constraints"]["max_duration"] == "2h"
    assert [grant["scope"] for grant in task["grants"]] == ["bash:*"]


def test_a_task_is_steered(desk, visit):
    page = desk.sign_in(visit, size=DESK)
    task = begun(desk)
    page.goto(f"{desk.url}/tasks/{task}")
    page.get_by_text("Message the agent").click()
    page.get_by_label("Message", exact=True).fill("Only this week")
    page.get_by_label("Purpose").select_option("constrain")
    press(page, "Send to the agent")
    told(page, "The message was sent")
    page.get_by_text("Allow or forbid something").click()
    page.get_by_label("Scope").fill("bash:*")
    press(page, "Set this permission")
    told(page, "The permission was set")
    page.locator("summary").filter(has_text="Cancel the task").click()
    page.get_by_label("Reason optional").fill("No longer needed")
    press(page, "Cancel the task")
    told(page, "The task was cancelled")
    assert agent(desk, "task.get", task_id=task)["state"] == "completed"


def column(page, name, goal):
    return page.locator(f"#in-{name} .row").filter(has_text=goal)


def waiting(page):
    return int(page.locator("[data-count=inbox]").first.inner_text())


def test_cards_move_while_the_board_is_open(desk, visit):
    stays, moves = begun(desk, "The one that stays"), begun(desk, "The one that moves")
    page = desk.sign_in(visit, size=DESK)
    page.goto(f"{desk.url}/tasks")
    column(page, "working", "The one that moves").wait_for()
    page.mouse.move(0, 0)
    waits = waiting(page)
    agent(desk, "checkpoint.raise", task_id=moves, kind="approval", prompt="May I?")
    column(page, "deciding", "The one that moves").wait_for()
    assert column(page, "working", "The one that moves").count() == 0
    assert column(page, "working", "The one that stays").count() == 1
    assert waiting(page) == waits + 1, "what it waits for is in the inbox"
    assert "blocked" in page.locator("#say").inner_text().lower()
    # What has the focus stays, until somebody asks for what has changed; the focus stays with it.
    page.locator(f"a[href='/tasks/{stays}']").focus()
    agent(desk, "checkpoint.raise", task_id=stays, kind="approval", prompt="May I?")
    fresh = page.get_by_role("button", name="Show what has changed")
    fresh.wait_for()
    assert column(page, "working", "The one that stays").count() == 1
    assert page.evaluate("document.activeElement.getAttribute('href')") == f"/tasks/{stays}"
    fresh.press("Enter")
    column(page, "deciding", "The one that stays").wait_for()
    assert page.evaluate("document.activeElement.getAttribute('href')") == f"/tasks/{stays}"
    # A phone that has scrolled down looks at the same card as before.
    phone = desk.sign_in(visit, size=PHONE)
    phone.goto(f"{desk.url}/tasks")
    mark = column(phone, "deciding", "The one that stays")
    mark.evaluate("e => scrollTo({ top: e.getBoundingClientRect().top + scrollY - 60, behavior: 'instant' })")
    before = mark.bounding_box()["y"]
    goal = "One more, and a long one: " + "x " * 60
    op(desk, "task.create", type="t", spec={"goal": goal})
    phone.locator("#in-waiting .row.fresh").filter(has_text="One more").wait_for(state="attached")
    assert abs(mark.bounding_box()["y"] - before) < 2
    # Without a script a reload shows the same.
    plain = desk.sign_in(visit, java_script_enabled=False)
    plain.goto(f"{desk.url}/tasks")
    assert column(plain, "deciding", "The one that moves").count() == 1


def test_a_room_follows_its_task_and_leaves_alone_what_is_written(desk, visit):
    task = begun(desk, "Follow me")
    page = desk.sign_in(visit, size=DESK)
    page.goto(f"{desk.url}/tasks/{task}")
    told(page, "In progress")
    waits = waiting(page)
    deliver(desk, task, OLD)
    told(page, "Ready for review")
    page.get_by_label("Comment 1", exact=True).wait_for()
    assert waiting(page) == waits + 1, "so is what was delivered"
    assert not page.locator("#fresh").is_visible()
    page.locator("#L3").click()
    assert page.get_by_label("Line, Comment 1").input_value() == "3", "lines that came later can be clicked"
    page.get_by_label("Comment 1", exact=True).fill("Half a thou")
    before = page.evaluate("scrollY")
    op(desk, "review.submit", task_id=task, verdict="changes_requested", requested_changes=["Another sum"])
    told(page, "Another sum")
    assert page.get_by_label("Comment 1", exact=True).input_value() == "Half a thou"
    assert page.evaluate("document.activeElement.name.startsWith('body')"), "the focus stays"
    assert page.locator("#stands").inner_text() == "In progress", "everything else is up to date"
    assert abs(page.evaluate("scrollY") - before) < 400
    page.get_by_role("link", name="The task has changed").wait_for()


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("size", [PHONE, {"width": 360, "height": 740}, DESK], ids=["phone", "small", "desk"])
def test_every_page_can_be_read_and_hit(desk, visit, size, dark):
    page = desk.sign_in(visit, size=size, color_scheme="dark" if dark else "light")
    task = begun(desk)
    deliver(desk, task, OLD)
    comments = [{"anchor": "L3", "severity": "blocker", "body": "Wrong sum"}]
    op(desk, "review.submit", task_id=task, verdict="changes_requested", requested_changes=["The sum"], comments=comments)
    deliver(desk, task, NEW)
    hostile = begun(desk, (HOSTILE + " ") * 3)
    agent(desk, "checkpoint.raise", task_id=hostile, kind="approval", prompt=HOSTILE * 5)
    long = begun(desk)
    deliver(desk, long, "\n".join(f"{n} {HOSTILE} {'x' * (n % 200)}" for n in range(900)), "text/plain")
    agent(desk, "ledger.write", scope="project:dev", key="notes.sum", value={"sum": 42, "why": HOSTILE}, by=task)
    tone = "dark" if dark else "light"
    for name, path in [
        ("board", "/tasks"),
        ("new", "/tasks/new"),
        ("room", f"/tasks/{task}"),
        ("room-hostile", f"/tasks/{hostile}"),
        ("room-long", f"/tasks/{long}"),
        ("room-then", f"/tasks/{task}?at=3"),
        ("ledgers", "/ledger"),
        ("ledger", "/ledger/project:dev"),
        ("ledger-key", "/ledger/project:dev?key=notes.sum"),
    ]:
        page.goto(desk.url + path)
        looks_right(page, f"task-{name}-{tone}", size)
