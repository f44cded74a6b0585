"""The documentation: pages, search with and without JavaScript, the API reference."""

import re

import pytest

import axe
import looks
from conftest import DESK, PHONE

NARROW = {"width": 320, "height": 700}
SIZES = pytest.mark.parametrize("size", [NARROW, PHONE, DESK], ids=["narrow", "phone", "desk"])
SCHEMES = pytest.mark.parametrize("scheme", ["light", "dark"])


def right(page, name, size):
    """No rule of axe is broken, nothing scrolls sideways, everything can be read."""
    axe.check(page)
    looks.reflows(page, name, size)
    assert page.evaluate(looks.CONTRAST) == []


@SIZES
@SCHEMES
@pytest.mark.parametrize("path", ["/docs", "/docs/webhooks", "/docs/configuration", "/errors/rate-limited", "/docs/no-such-page"])
def test_pages_can_be_read(server, visit, size, scheme, path):
    page = visit(f"{server.url}{path}", size=size, color_scheme=scheme)
    right(page, path, size)
    assert page.locator("h1").count() == 1


@pytest.mark.parametrize("script", [True, False], ids=["script", "plain"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_the_search_finds_a_page(server, visit, size, script):
    page = visit(f"{server.url}/docs", size=size, java_script_enabled=script)
    page.get_by_label("Search the documentation").fill("webhook signature")
    page.get_by_label("Search the documentation").press("Enter")
    page.get_by_role("heading", name="Results for “webhook signature”").wait_for()
    if script:
        right(page, "search", size)
    assert page.locator(".docs-results mark").count() > 0
    page.locator(".docs-results a").first.click()
    assert re.search(r"/docs/webhooks#.*signature", page.url)
    assert page.get_by_role("heading", name=re.compile("signature")).first.is_visible()


@pytest.mark.parametrize("script", [True, False], ids=["script", "plain"])
def test_the_navigation_opens_on_a_phone(server, visit, script):
    page = visit(f"{server.url}/docs/webhooks", size=PHONE, java_script_enabled=script)
    pages = page.get_by_role("navigation", name="Documentation")
    assert not pages.is_visible()
    page.get_by_role("button", name="All pages").click()
    assert pages.get_by_role("link", name="Webhooks", exact=True).get_attribute("aria-current") == "page"
    pages.get_by_role("link", name="Backup and restore").click()
    page.wait_for_url("**/docs/backup")


def test_pages_lead_to_the_next_and_back(server, visit):
    page = visit(f"{server.url}/docs/quickstart", size=DESK)
    turn = page.get_by_role("navigation", name="Previous and next page")
    turn.get_by_role("link", name=re.compile("Next")).click()
    page.wait_for_url(re.compile("/docs/(?!quickstart)"))
    turn.get_by_role("link", name=re.compile("Previous")).click()
    page.wait_for_url("**/docs/quickstart")


def test_code_is_copied(server, visit):
    page = visit(f"{server.url}/docs/quickstart", size=DESK, permissions=["clipboard-read", "clipboard-write"])
    block = page.locator(".docs-code").first
    block.hover()
    block.get_by_role("button", name="Copy").click()
    block.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == block.locator("pre").inner_text().rstrip()


@SCHEMES
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_the_api_reference_is_rendered(server, chromium, size, scheme):
    """From our own script and document alone, and without an error on the console."""
    context = chromium.new_context(viewport=size, color_scheme=scheme)
    page = context.new_page()
    wrong, loaded = [], []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
    page.on("request", lambda sent: loaded.append(sent.url))
    page.goto(f"{server.url}/docs/api")
    page.get_by_role("heading", name=re.compile("Countersign")).first.wait_for()
    page.get_by_text("/api/v1/asks").first.wait_for()
    axe.check(page)
    looks.reflows(page, "api", size)
    assert wrong == []
    assert [url for url in loaded if not url.startswith(f"{server.url}/")] == []
    assert not page.locator(".api-plain").is_visible()
    context.close()


def test_an_operation_of_the_api_reference_has_an_address(server, visit):
    page = visit(f"{server.url}/docs/api", size=DESK)
    page.get_by_text("/api/v1/asks/count").first.click()
    page.wait_for_url(re.compile("/docs/api#/asks/countasks"))
    page.reload()
    page.get_by_role("heading", name="Count asks").first.wait_for()


def test_without_javascript_the_api_reference_leads_elsewhere(server, visit):
    page = visit(f"{server.url}/docs/api", size=PHONE, java_script_enabled=False)
    # Text inside <noscript> has no role for Playwright, whether it is shown or not.
    plain = page.locator(".api-plain")
    assert plain.is_visible() and "The API reference needs JavaScript" in plain.inner_text()
    plain.locator("a").first.click()
    page.wait_for_url("**/docs/api-guide")


def test_addresses_of_the_former_reference_lead_to_the_new_one(server, visit):
    page = visit(f"{server.url}/docs#group-audit", size=DESK)
    page.wait_for_url(re.compile("/docs/api#/audit"))
    page.get_by_role("heading", name=re.compile("^audit")).first.wait_for()
