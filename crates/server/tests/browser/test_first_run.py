"""From an empty inbox to the first answer, and every page of the settings at both sizes."""

import json
import os
import pathlib
import urllib.request

import pytest

from conftest import DESK, PHONE

PAGES = ["", "profile", "away", "devices", "rules", "agents", "agents/agent_dev", "webhooks", "people", "people/user_dev",
         "groups", "projects", "projects/dev", "signing"]


def call(server, path, body, credential):
    headers = {"Authorization": f"Bearer {credential}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{server.url}{path}", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def sign_in(server, visit, human="user_dev", **options):
    """A browser in which somebody is signed in, by a link an administrator made."""
    link = call(server, f"/api/v1/people/{human}/link", {}, "dev-human-token")["url"]
    page = visit(f"{server.url}/sign-in?{link.split('?')[1]}", **options)
    page.get_by_role("button", name="Sign in on this device").click()
    page.wait_for_url(f"{server.url}/")
    return page


def shot(page, name):
    if "SHOTS" in os.environ:
        folder = pathlib.Path(os.environ["SHOTS"])
        page.screenshot(path=folder / f"{name}.png", full_page=True)


def test_from_an_empty_inbox_to_the_first_answer(server, visit):
    headers = {"Authorization": "Bearer dev-human-token", "Content-Type": "application/json"}
    body = json.dumps({"name": "New", "admin": True, "projects": ["dev"]}).encode()
    put = urllib.request.Request(f"{server.url}/api/v1/people/newcomer", body, headers, method="PUT")
    urllib.request.urlopen(put).close()
    page = sign_in(server, visit, "newcomer")
    shot(page, "first-run-empty")
    page.get_by_role("button", name="Create a key").click()
    key = page.get_by_label("Agent key").input_value()
    assert key.startswith("cs_agent_")
    assert page.locator("pre").count() == 3
    assert all(key in text for text in page.locator("pre").all_inner_texts())
    shot(page, "first-run-key")
    asked = call(server, "/api/v1/asks",
                 {"question": {"kind": "approve", "prompt": "Deploy the first thing?"}}, key)
    page.get_by_role("link", name="Go to your inbox").click()
    page.get_by_role("link", name="Deploy the first thing?").first.click()
    page.get_by_role("button", name="Approve").first.click()
    page.get_by_role("button", name="Undo").wait_for(state="visible")
    page.get_by_role("button", name="Undo").wait_for(state="hidden")
    request = urllib.request.Request(f"{server.url}/api/v1/asks/{asked['id']}",
                                     headers={"Authorization": f"Bearer {key}"})
    with urllib.request.urlopen(request) as answer:
        assert json.load(answer)["state"] == "completed"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_settings_fit(server, visit, size, scheme):
    page = sign_in(server, visit, size=size, color_scheme=scheme)
    for path in PAGES:
        page.goto(f"{server.url}/settings/{path}".rstrip("/"))
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= size["width"], f"{path} is {width} wide"
        small = page.evaluate("""[...document.querySelectorAll('main a, main button, main input, main select')]
            .filter((e) => e.type !== 'hidden' && e.type !== 'checkbox' && e.type !== 'radio')
            .filter((e) => e.getBoundingClientRect().height < 24).map((e) => e.outerHTML)""")
        assert not small, f"{path}: too small to hit: {small}"
        shot(page, f"{path.replace('/', '-') or 'overview'}-{size['width']}-{scheme}")


def test_away_and_back_from_a_phone(server, visit):
    page = sign_in(server, visit)
    page.goto(f"{server.url}/settings/away")
    page.get_by_role("button", name="I\u2019m away").click()
    assert page.get_by_text("You are away").is_visible()
    page.get_by_role("button", name="I\u2019m back").click()
    assert page.get_by_role("button", name="I\u2019m away").is_visible()
