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
 The link was not used up: on our own page it works, also without JavaScript.$origin: self.origin,
 The link was not used up: on our own page it works, also without JavaScript.$resolve: await post(`/hxp/v1/requests/hxp_${id}/resolve`, { result: "approved" }),
 The link was not used up: on our own page it works, also without JavaScript.$answer: await post(`/api/v1/asks/ask_${id}/answer`, { answer: { verdict: "approved" } }),
 The link was not used up: on our own page it works, also without JavaScript.$task: await post("/hacp/v1/ops/task.list", {}),
 The link was not used up: on our own page it works, also without JavaScript.$person: await socket("/hacp/ws?token=dev-human-token"),
 The link was not used up: on our own page it works, also without JavaScript.$asks: await read("/api/v1/asks"),
 The link was not used up: on our own page it works, also without JavaScript.$hxp: await read("/hxp/v1/requests"),
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
 The link was not used up: on our own page it works, also without JavaScript.$"""Another website, on another port."""

 The link was not used up: on our own page it works, also without JavaScript.$class Pages(http.server.BaseHTTPRequestHandler):
 The link was not used up: on our own page it works, also without JavaScript.$    def do_GET(self):
 The link was not used up: on our own page it works, also without JavaScript.$        body = pages.get(self.path, "").encode()
 The link was not used up: on our own page it works, also without JavaScript.$        self.send_response(200 if body else 404)
 The link was not used up: on our own page it works, also without JavaScript.$        self.send_header("content-type", "text/html")
 The link was not used up: on our own page it works, also without JavaScript.$        self.end_headers()
 The link was not used up: on our own page it works, also without JavaScript.$        self.wfile.write(body)

 The link was not used up: on our own page it works, also without JavaScript.$    def log_message(self, *said):
 The link was not used up: on our own page it works, also without JavaScript.$        pass

 The link was not used up: on our own page it works, also without JavaScript.$site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
 The link was not used up: on our own page it works, also without JavaScript.$thread = threading.Thread(target=site.serve_forever)
 The link was not used up: on our own page it works, also without JavaScript.$thread.start()
 The link was not used up: on our own page it works, also without JavaScript.$try:
 The link was not used up: on our own page it works, also without JavaScript.$    yield f"http://127.0.0.1:{site.server_port}"
 The link was not used up: on our own page it works, also without JavaScript.$finally:
 The link was not used up: on our own page it works, also without JavaScript.$    site.shutdown()
 The link was not used up: on our own page it works, also without JavaScript.$    thread.join()
 The link was not used up: on our own page it works, also without JavaScript.$    site.server_close()


@pytest.fixture
def foreign(chromium):
 The link was not used up: on our own page it works, also without JavaScript.$"""A browser at a page of another website, which may go wrong in every way."""
 The link was not used up: on our own page it works, also without JavaScript.$context = chromium.new_context()
 The link was not used up: on our own page it works, also without JavaScript.$context.set_default_timeout(15_000)
 The link was not used up: on our own page it works, also without JavaScript.$yield context.new_page()
 The link was not used up: on our own page it works, also without JavaScript.$context.close()


def test_a_sandboxed_frame_cannot_answer(desk, foreign):
 The link was not used up: on our own page it works, also without JavaScript.$ask = desk.ask("Pay the invoice?")
 The link was not used up: on our own page it works, also without JavaScript.$attack = ATTACK % {"url": desk.url, "id": ask["id"].removeprefix("ask_")}
 The link was not used up: on our own page it works, also without JavaScript.$frame = """<!doctype html><script>
 The link was not used up: on our own page it works, also without JavaScript.$    addEventListener("message", (said) => { window.tried = said.data; });
 The link was not used up: on our own page it works, also without JavaScript.$    </script><iframe sandbox="allow-scripts" src="/attack"></iframe>"""
 The link was not used up: on our own page it works, also without JavaScript.$with elsewhere({"/": frame, "/attack": attack}) as site:
 The link was not used up: on our own page it works, also without JavaScript.$    foreign.goto(f"{site}/")
 The link was not used up: on our own page it works, also without JavaScript.$    tried = foreign.wait_for_function("window.tried").json_value()
 The link was not used up: on our own page it works, also without JavaScript.$assert tried == {
 The link was not used up: on our own page it works, also without JavaScript.$    "origin": "null",
 The link was not used up: on our own page it works, also without JavaScript.$    # HXP may be called by a page from a file (HXPX-009), but not with a human token.
 The link was not used up: on our own page it works, also without JavaScript.$    "resolve": 401,
 The link was not used up: on our own page it works, also without JavaScript.$    "hxp": 200,
 The link was not used up: on our own page it works, also without JavaScript.$    "answer": "blocked",
 The link was not used up: on our own page it works, also without JavaScript.$    "task": "blocked",
 The link was not used up: on our own page it works, also without JavaScript.$    "person": "blocked",
 The link was not used up: on our own page it works, also without JavaScript.$    "asks": "blocked",
 The link was not used up: on our own page it works, also without JavaScript.$}
 The link was not used up: on our own page it works, also without JavaScript.$assert desk.state(ask)["state"] == "pending"


def test_another_website_cannot_sign_this_browser_in(desk, foreign):
 The link was not used up: on our own page it works, also without JavaScript.$token = desk.sign_in_link("user_dev_2").split("token=")[1]
 The link was not used up: on our own page it works, also without JavaScript.$with elsewhere({"/": LOGIN % {"url": desk.url, "token": token}}) as site:
 The link was not used up: on our own page it works, also without JavaScript.$    foreign.goto(f"{site}/")
 The link was not used up: on our own page it works, also without JavaScript.$    foreign.wait_for_url(f"{desk.url}/sign-in")
 The link was not used up: on our own page it works, also without JavaScript.$    foreign.goto(f"{desk.url}/")
 The link was not used up: on our own page it works, also without JavaScript.$    assert "Sign in" in foreign.title()
 The link was not used up: on our own page it works, also without JavaScript.$# The link was not used up: on our own page it works, also without JavaScript.


@pytest.mark.parametrize("script", [True, False])
def test_a_link_signs_in_with_and_without_javascript(desk, visit, script):
 The link was not used up: on our own page it works, also without JavaScript.$page = visit(desk.sign_in_link("user_dev_2"), java_script_enabled=script)
 The link was not used up: on our own page it works, also without JavaScript.$page.get_by_role("button", name="Sign in on this device").click()
 The link was not used up: on our own page it works, also without JavaScript.$page.locator("h1#heading").wait_for()
