"""A server of its own and the system's Chromium, for every journey."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import time
import urllib.request

import pytest
from playwright.sync_api import sync_playwright

PHONE = {"width": 390, "height": 844}
DESK = {"width": 1440, "height": 900}


class Server:
    """A running `countersign serve --dev`. Its people are `user_dev`, who administers, and
    `user_dev_2`, who is in the same project."""

    def __init__(self, url):
        self.url = url

    def ask(self, prompt, kind="approve", question=None, key="dev-agent-key", **more):
        """Asks as an agent and gives the ask."""
        body = {"question": {"prompt": prompt, "kind": kind, **(question or {})}, **more}
        return self.call("POST", "/api/v1/asks", body, key)

    def state(self, ask, key="dev-human-token"):
        """The ask as it is now."""
        return self.call("GET", f"/api/v1/asks/{ask['id']}", key=key)

    def sign_in(self, visit, who="user_dev", undo=0, **options):
        """A browser in which somebody is signed in, at their inbox. Their answers take effect at once,
        unless they have some seconds to undo them."""
        self.call("PUT", f"/api/v1/people/{who}/profile", {"about": {"undo_seconds": undo}})
        link = self.sign_in_link(who)
        page = visit(f"{self.url}/{link.split('/', 3)[3]}", **options)
        page.get_by_role("button", name="Sign in on this device").click()
        page.locator("h1#heading").wait_for()
        # The scripts of the page listen once it is loaded; before that, keys do nothing.
        page.wait_for_load_state("load")
        return page

    def case(self, **body):
        """Makes a case and gives the `hitl` object of its 202."""
        headers = {"Authorization": "Bearer dev-agent-key", "Content-Type": "application/json"}
        request = urllib.request.Request(
            f"{self.url}/hitl/v1/cases", json.dumps(body).encode(), headers
        )
        with urllib.request.urlopen(request) as answer:
            assert answer.status == 202
            return json.load(answer)["hitl"]

    def call(self, method, path, body=None, key="dev-human-token"):
        """A call of our own API, as the administrator or with another key."""
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        headers["Accept"] = "application/json"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read() or b"null")

    def sign_in_link(self, human="user_dev"):
        """A one-time address for somebody."""
        return self.call("POST", f"/api/v1/people/{human}/link", {})["url"]

    def poll(self, case):
        """How the agent sees it."""
        with urllib.request.urlopen(case["poll_url"]) as answer:
            return json.load(answer)

    def until(self, case, so):
        """Looks again until it is so, for what a browser sends in passing; slowly, as polls are counted."""
        end = time.monotonic() + 20
        while not so(seen := self.poll(case)):
            assert time.monotonic() < end, f"waited in vain: {seen}"
            time.sleep(1.5)
        return seen


@contextlib.contextmanager
def start(folder, host, port=0, args=(), env=None):
    """A server, reached by this name; on a free port unless told."""
    command = [os.environ["COUNTERSIGN_BIN"], "serve", "--dev", "--listen", f"{host}:{port}", *args]
    with open(folder / "out", "w+") as out:
        process = subprocess.Popen(
            [*command, "--data", str(folder / "data")],
            stdout=out,
            stderr=subprocess.STDOUT,
            env=os.environ | (env or {}),
        )
        try:
            end = time.monotonic() + 60
            while not (found := re.search(r"Inbox +(http\S+?)/?\s", (folder / "out").read_text())):
                assert process.poll() is None and time.monotonic() < end, (folder / "out").read_text()
                time.sleep(0.1)
            port = found[1].rsplit(":", 1)[1]
            yield Server(f"http://{host}:{port}")
        finally:
            process.terminate()
            process.wait(20)


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """One for all, where nobody minds what others left."""
    with start(tmp_path_factory.mktemp("server"), "127.0.0.1") as server:
        yield server


@pytest.fixture
def desk(tmp_path):
    """One in which nothing has happened yet."""
    with start(tmp_path, "127.0.0.1") as server:
        yield server


@pytest.fixture(scope="session")
def chromium():
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    assert path, "chromium is not installed"
    with sync_playwright() as playwright:
        # As root, in a container, Chromium's own sandbox cannot be set up.
        args = ["--no-sandbox", "--disable-dev-shm-usage"] if os.getuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=path, args=args)
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium):
    """Opens an address in a browser of its own; nothing may go wrong on the page, and nothing is
    fetched from elsewhere but from where the story leads (`also`)."""
    contexts, wrong = [], []

    def open_(url, size=PHONE, also="http://127.0.0.1:", **options):
        # Without a window it says that it is a machine, and machines open nothing.
        agent = f"Mozilla/5.0 (Linux; Android 14) Chrome/{chromium.version} Mobile Safari/537.36"
        context = chromium.new_context(viewport=size, user_agent=agent, **options)
        context.set_default_timeout(15_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
        page.on("console", lambda said: wrong.append(said.text) if "Refused" in said.text else None)
        page.on("request", lambda sent: wrong.append(sent.url) if strange(sent, url, also) else None)
        page.goto(url)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert not wrong, wrong


def strange(sent, url, also):
    """Whether our page asks for something from elsewhere, or leads where the story does not."""
    elsewhere = not sent.url.startswith(("http://127.0.0.1:", "http://localhost:", also))
    ours = "/".join(url.split("/")[:3])
    return elsewhere and (sent.is_navigation_request() or sent.frame.url.startswith(ours))
