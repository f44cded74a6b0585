"""A page from elsewhere cannot answer, even with `--dev`, where everybody knows the credentials."""

import contextlib
import http.server
import threading

import pytest

# What a sandboxed frame tries with the known credentials. Its origin is `null`.
ATTACK = """
<!doctype html><script>
const server = "%(url)s", id = "%(id)s";
const post = (path, body) => fetch(server + path, {
  method: "POST",
  headers: { authorization: "Bearer dev-human-token", "content-type": "application/json" },
  body: JSON.stringify(body),
}).then((answer) => answer.status, () => "blocked");
const socket = (path) => new Promise((done) => {
  const opened = new WebSocket(server.replace("http", "ws") + path);
  opened.onopen = () => done("open");
  opened.onerror = () => done("blocked");
});
const read = (path) => fetch(server + path, {
  headers: { authorization: "Bearer dev-agent-key" },
}).then((answer) => answer.status, () => "blocked");
(async () => {
  const tried = {
    origin: self.origin,
    resolve: await post(`/hxp/v1/requests/hxp_${id}/resolve`, { result: "approved" }),
    answer: await post(`/api/v1/asks/ask_${id}/answer`, { answer: { verdict: "approved" } }),
    task: await post("/hacp/v1/ops/task.list", {}),
    person: await socket("/hacp/ws?token=dev-human-token"),
    asks: await read("/api/v1/asks"),
    hxp: await read("/hxp/v1/requests"),
  };
  parent.postMessage(tried, "*");
})();
</script>
"""

# A form that signs the browser in with somebody else's link.
LOGIN = """
<!doctype html><form method="post" action="%(url)s/sign-in">
<input name="token" value="%(token)s"><input name="csrf" value="guess"></form>
<script>document.forms[0].submit()</script>
"""


@contextlib.contextmanager
def elsewhere(pages):
    """Another website, on another port."""

    class Pages(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = pages.get(self.path, "").encode()
            self.send_response(200 if body else 404)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *said):
            pass

    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    thread = threading.Thread(target=site.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{site.server_port}"
    finally:
        site.shutdown()
        thread.join()
        site.server_close()


@pytest.fixture
def foreign(chromium):
    """A browser at a page of another website, which may go wrong in every way."""
    context = chromium.new_context()
    context.set_default_timeout(15_000)
    yield context.new_page()
    context.close()


def test_a_sandboxed_frame_cannot_answer(desk, foreign):
    ask = desk.ask("Pay the invoice?")
    attack = ATTACK % {"url": desk.url, "id": ask["id"].removeprefix("ask_")}
    frame = """<!doctype html><script>
        addEventListener("message", (said) => { window.tried = said.data; });
        </script><iframe sandbox="allow-scripts" src="/attack"></iframe>"""
    with elsewhere({"/": frame, "/attack": attack}) as site:
        foreign.goto(f"{site}/")
        tried = foreign.wait_for_function("window.tried").json_value()
    assert tried == {
        "origin": "null",
        # HXP may be called by a page from a file (HXPX-009), but not with a human token.
        "resolve": 401,
        "hxp": 200,
        "answer": "blocked",
        "task": "blocked",
        "person": "blocked",
        "asks": "blocked",
    }
    assert desk.state(ask)["state"] == "pending"


def test_another_website_cannot_sign_this_browser_in(desk, foreign):
    token = desk.sign_in_link("user_dev_2").split("token=")[1]
    with elsewhere({"/": LOGIN % {"url": desk.url, "token": token}}) as site:
        foreign.goto(f"{site}/")
        foreign.wait_for_url(f"{desk.url}/sign-in")
        foreign.goto(f"{desk.url}/")
        assert "Sign in" in foreign.title()


@pytest.mark.parametrize("script", [True, False])
def test_a_link_signs_in_with_and_without_javascript(desk, visit, script):
    page = visit(desk.sign_in_link("user_dev_2"), java_script_enabled=script)
    page.get_by_role("button", name="Sign in on this device").click()
    page.locator("h1#heading").wait_for()
