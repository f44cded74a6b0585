"""What is not offered, and what is not taken: a link that may not approve, and a file that is too large."""

import pytest
from conftest import DESK, PHONE, start
from looks import looks_right

FORM = {
    "fields": [
        {"key": "name", "label": "Name", "type": "text", "required": True},
        {"key": "scan", "label": "Scan", "type": "file", "required": True},
        {"key": "notes", "label": "Notes", "type": "textarea"},
    ]
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    limit = {"COUNTERSIGN_UPLOAD_LIMIT": "100000"}
    with start(tmp_path_factory.mktemp("desk"), "127.0.0.1", env=limit) as server:
        yield server


LOOKS = [
    (size, scheme, script)
    for size in (PHONE, DESK)
    for scheme in ("light", "dark")
    for script in (True, False)
]


@pytest.mark.parametrize("size, scheme, script", LOOKS)
def test_a_link_that_may_not_approve_offers_to_sign_in(desk, visit, size, scheme, script):
    """In the place of the button that would be refused; rejecting works."""
    desk.call("PUT", "/api/v1/projects/dev", {"irreversible_assurance": "session"})
    case = desk.case(
        type="approval", prompt="Drop the production database?", context={"irreversible": True}
    )
    options = {"size": size, "color_scheme": scheme, "java_script_enabled": script}
    page = visit(case["review_url"], **options)
    answer = page.locator("#answer")
    assert answer.locator("button[value=approve]").count() == 0
    offer = answer.get_by_role("link", name="Sign in to approve")
    assert "/asks/" in offer.get_attribute("href")
    assert answer.get_by_text("Only people who are signed in can approve it").is_visible()
    if script:
        looks_right(page, f"sign-in-to-approve-{scheme}", size)
    answer.get_by_role("button", name="Reject").first.click()
    page.get_by_text("Rejected").first.wait_for()
    assert desk.poll(case)["status"] == "completed"


@pytest.mark.parametrize("size, scheme, script", LOOKS)
def test_a_file_that_is_too_large_is_named_and_nothing_is_lost(desk, visit, size, scheme, script):
    """On the page of a request, and behind a link."""
    large = {"name": "scan.txt", "mimeType": "text/plain", "buffer": b"x" * 300_000}
    options = {"size": size, "color_scheme": scheme, "java_script_enabled": script}
    ask = desk.ask("Send the scan", "provide", {"form": FORM})
    signed_in = desk.sign_in(visit, **options)
    signed_in.goto(f"{desk.url}/asks/{ask['id']}")
    case = desk.case(type="input", prompt="Send the scan", context={"form": FORM})
    for page, name in ((signed_in, "request"), (visit(case["review_url"], **options), "review")):
        page.get_by_label("Name").fill("Ada")
        page.get_by_label("Notes").fill("all of my notes")
        page.locator("input[type=file]").set_input_files(large)
        page.get_by_role("button", name="Send to the agent").click()
        said = page.get_by_text("files can be at most 97.6 KiB together. Choose a smaller file.")
        said.first.wait_for()
        assert page.get_by_label("Name").input_value() == "Ada"
        assert page.get_by_label("Notes").input_value() == "all of my notes"
        assert page.locator("input[type=file]").get_attribute("aria-invalid") == "true"
        if script:
            looks_right(page, f"file-too-large-{name}-{scheme}", size)
    small = {**large, "buffer": b"x" * 10}
    page.locator("input[type=file]").set_input_files(small)
    page.get_by_role("button", name="Send to the agent").click()
    page.get_by_text("Sent").first.wait_for()
    assert desk.poll(case)["status"] == "completed"
