"""The pages as an app: installed, without a network, told by a push service that only carries."""

import base64
import contextlib
import http.server
import json
import threading
import time

import pytest

import axe
from conftest import start

# A browser's subscription with a key of its own; no real push service is reached from here.
SUBSCRIBE = """
  const made = { endpoint: "ENDPOINT", auth: crypto.getRandomValues(new Uint8Array(16)).buffer };
  PushManager.prototype.getSubscription = async () => null;
  PushManager.prototype.subscribe = async (options) => {
    if (options.applicationServerKey.byteLength !== 65) throw new Error("no key of a server");
    const pair = await crypto.subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, true, ["deriveBits"]);
    made.p256dh = await crypto.subtle.exportKey("raw", pair.publicKey);
    const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)));
    localStorage.phone = JSON.stringify({
      key: await crypto.subtle.exportKey("jwk", pair.privateKey), auth: text(made.auth), p256dh: text(made.p256dh),
    });
    return { endpoint: made.endpoint, getKey: (name) => made[name] };
  };
"""

# RFC 8291, as a browser reads what came.
READ = """async (text) => {
  const bytes = (words) => Uint8Array.from(atob(words), (c) => c.charCodeAt(0));
  const { key, auth, p256dh } = JSON.parse(localStorage.phone);
  const body = bytes(text), utf8 = (words) => new TextEncoder().encode(words);
  const [salt, theirs, closed] = [body.slice(0, 16), body.slice(21, 86), body.slice(86)];
  const curve = { name: "ECDH", namedCurve: "P-256" };
  const own = await crypto.subtle.importKey("jwk", key, curve, false, ["deriveBits"]);
  const shared = await crypto.subtle.deriveBits({ ...curve, public: await crypto.subtle.importKey("raw", theirs, curve, false, []) }, own, 256);
  const derive = async (secret, salt, info, bits) => crypto.subtle.deriveBits(
    { name: "HKDF", hash: "SHA-256", salt, info }, await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]), bits);
  const info = new Uint8Array([...utf8("WebPush: info\\0"), ...bytes(p256dh), ...theirs]);
  const secret = await derive(shared, bytes(auth), info, 256);
  const cek = await crypto.subtle.importKey("raw", await derive(secret, salt, utf8("Content-Encoding: aes128gcm\\0"), 128), "AES-GCM", false, ["decrypt"]);
  const iv = await derive(secret, salt, utf8("Content-Encoding: nonce\\0"), 96);
  const plain = new Uint8Array(await crypto.subtle.decrypt({ name: "AES-GCM", iv }, cek, closed));
  return new TextDecoder().decode(plain.slice(0, plain.lastIndexOf(2)));
}"""


@contextlib.contextmanager
def push_service():
    """Takes everything, and keeps it to be looked at."""
    taken = []

    class Service(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            taken.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(201)
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service) as service:
        threading.Thread(target=service.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{service.server_port}/send/phone", taken
        finally:
            service.shutdown()


def until(so, what):
    end = time.monotonic() + 15
    while not (seen := so()):
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.05)
    return seen


def installed(page):
    """The script that works while no page is open does, and has this page in its hands."""
    page.evaluate("navigator.serviceWorker.ready.then(() => null)")
    # A page that was on its way while it began is not.
    page.reload()
    until(lambda: page.evaluate("Boolean(navigator.serviceWorker.controller)"), "the worker")


def test_an_app_can_be_installed(desk, visit):
    page = desk.sign_in(visit)
    installed(page)
    devtools = page.context.new_cdp_session(page)
    found = devtools.send("Page.getAppManifest")
    assert found["url"] == f"{desk.url}/manifest.webmanifest" and not found["errors"], found
    manifest = json.loads(found["data"])
    assert {icon["purpose"] for icon in manifest["icons"]} == {"any", "maskable"}
    shown = devtools.send("Page.getInstallabilityErrors")["installabilityErrors"]
    # This browser forgets everything at its end, so it installs nothing.
    assert [error["errorId"] for error in shown] in ([], ["in-incognito"]), shown
    kept = page.evaluate("""async () => {
      const names = await caches.keys();
      const all = await Promise.all(names.map(async (name) => (await (await caches.open(name)).keys()).map((one) => new URL(one.url).pathname)));
      return all.flat();
    }""")
    assert kept and all(path.startswith(("/assets/", "/offline")) for path in kept), kept


def test_without_a_network_it_says_so_and_keeps_no_question(desk, visit):
    ask = desk.ask("Pay Ada?")
    page = desk.sign_in(visit)
    installed(page)
    page.goto(f"{desk.url}/asks/{ask['id']}")
    page.get_by_role("heading", name="Pay Ada?").wait_for()
    page.context.set_offline(True)
    page.get_by_text("You are offline. This page may be out of date").wait_for()
    axe.check(page)
    page.goto(f"{desk.url}/asks/{ask['id']}")
    page.get_by_role("heading", name="You are offline").wait_for()
    assert "Pay Ada" not in page.content()
    axe.check(page)
    page.context.set_offline(False)
    page.get_by_role("heading", name="Pay Ada?").wait_for()
    assert page.get_by_text("You are offline").is_hidden()


def test_what_was_not_sent_does_not_look_sent(desk, visit):
    ask = desk.ask("Pay Ada?", question={"details": {"amount": "€120"}})
    page = desk.sign_in(visit)
    page.goto(f"{desk.url}/asks/{ask['id']}")
    page.get_by_label("Comment").or_(page.get_by_label("Reason")).first.fill("Only this once")
    page.context.set_offline(True)
    approve = page.get_by_role("button", name="Approve").first
    page.get_by_text("No connection: the buttons are disabled").wait_for()
    assert approve.is_disabled()
    page.get_by_role("button", name="Dismiss this message").click()
    # A press says why nothing happens, where the person looks.
    approve.dispatch_event("pointerdown")
    in_sight(page, page.get_by_role("alert").filter(has_text="Not sent: you are offline."))
    axe.check(page)
    assert desk.state(ask)["state"] != "completed"
    page.context.set_offline(False)
    page.get_by_text("You are connected again.").wait_for()
    approve.click()
    until(lambda: desk.state(ask)["state"] == "completed", "the answer")
    assert desk.state(ask)["result"]["comment"] == "Only this once"


def in_sight(page, note):
    """It is on the screen, whole, wherever the page is scrolled to."""
    note.wait_for()
    box, height = note.bounding_box(), page.viewport_size["height"]
    assert 0 <= box["y"] and box["y"] + box["height"] <= height, (box, height)


def test_a_review_page_says_that_it_is_offline(desk, visit):
    """Also behind a link, where no worker of ours runs."""
    case = desk.case(type="approval", prompt="Send it?")
    page = visit(case["review_url"])
    page.get_by_label("Comment").fill("Only this once")
    page.context.set_offline(True)
    in_sight(page, page.locator("#away"))
    assert page.get_by_role("button", name="Approve").is_disabled()
    page.context.set_offline(False)
    page.get_by_role("button", name="Approve").click()
    page.get_by_text("Approved").first.wait_for()
    assert desk.poll(case)["status"] == "completed"


def test_an_answer_from_a_list_says_that_it_was_not_sent(desk, visit):
    """By pointer and by key, however far down the list is scrolled."""
    words = [f"{a}{b}" for a in "bcdfgh" for b in "aeiou"]
    asks = [desk.ask(f"Call {word}?") for word in words[:12]]
    page = desk.sign_in(visit)
    page.locator(".row").last.scroll_into_view_if_needed()
    page.context.set_offline(True)
    last = page.locator(".row").last.get_by_role("button", name="Approve")
    until(last.is_disabled, "the buttons")
    in_sight(page, page.locator("#lost"))
    assert "You cannot answer until you are back" in page.locator("#lost").inner_text()
    page.keyboard.press("k")
    page.keyboard.press("a")
    in_sight(page, page.get_by_role("alert").filter(has_text="Not sent: you are offline."))
    page.context.set_offline(False)
    until(last.is_enabled, "the buttons")
    assert all(desk.state(ask)["state"] != "completed" for ask in asks)


def test_a_refused_answer_from_a_list_is_said_where_the_person_looks(desk, visit):
    """The list keeps its place, and its head with the refusal is out of sight."""
    words = [f"{a}{b}" for a in "bcdfgh" for b in "aeiou"]
    asks = [desk.ask(f"Call {word}?") for word in words[:12]]
    page = desk.sign_in(visit)
    last = page.locator(".row").last
    last.scroll_into_view_if_needed()
    assert last.get_by_role("button", name="Approve").get_attribute("value") == asks[0]["id"]
    # The page must not hear of the other answer before the button is pressed.
    page.route("**/inbox/live*", lambda route: route.abort())
    page.reload()
    page.locator(".row").last.scroll_into_view_if_needed()
    answer = {"answer": {"verdict": "rejected"}}
    desk.call("POST", f"/api/v1/asks/{asks[0]['id']}/answer", answer)
    page.locator(".row").last.get_by_role("button", name="Approve").click()
    in_sight(page, page.get_by_role("alert").filter(has_text="Already answered by user_dev").last)


def test_an_answer_without_an_answer_is_not_taken_for_one(tmp_path, visit):
    """The network is there, the server is not."""
    with start(tmp_path, "127.0.0.1") as desk:
        ask = desk.ask("Pay Ada?", question={"details": {"amount": "€120"}})
        page = desk.sign_in(visit)
        installed(page)
        page.goto(f"{desk.url}/asks/{ask['id']}")
        page.get_by_label("Comment").or_(page.get_by_label("Reason")).first.fill("Only this once")
        port = int(desk.url.rsplit(":", 1)[1])
    # The page notices by itself; what is sent all the same is not said to have arrived.
    until(page.get_by_role("button", name="Approve").first.is_disabled, "the button")
    page.get_by_text("No connection: the buttons are disabled").wait_for()
    page.evaluate("() => document.getElementById('answer').submit()")
    page.get_by_role("heading", name="No response").wait_for()
    with start(tmp_path, "127.0.0.1", port) as desk:
        page.get_by_role("link", name="Go back").click()
        page.get_by_role("heading", name="Pay Ada?").wait_for()
        kept = page.get_by_label("Comment").or_(page.get_by_label("Reason")).first
        assert kept.input_value() == "Only this once"
        assert desk.state(ask)["state"] != "completed"


# Chromium forgets a notice when somebody lists notices while it is being shown: whoever waits for one
# waits for the worker to say that it is shown.
LISTEN = """() => {
  const show = registration.showNotification.bind(registration);
  self.shown = [];
  registration.showNotification = async (title, options) => {
    await show(title, options);
    self.shown.push(title);
  };
}"""


def worker(page):
    [worker] = page.context.service_workers
    return worker


def shown(page):
    """The titles of all that were shown, in their order."""
    return worker(page).evaluate("self.shown")


def notices(page):
    return page.evaluate("""async () => (await (await navigator.serviceWorker.ready).getNotifications())
      .map(({ title, body, tag, actions, silent }) => ({ title, body, tag, silent, actions: actions.map((one) => one.action) }))""")


@pytest.fixture
def phone(desk, visit):
    """A browser in which notices were turned on, and what delivers to it."""
    with push_service() as (endpoint, taken):
        page = desk.sign_in(visit)
        page.context.grant_permissions(["notifications"])
        page.context.add_init_script(SUBSCRIBE.replace("ENDPOINT", endpoint))
        page.goto(f"{desk.url}/settings/devices")
        installed(page)
        axe.check(page)
        page.get_by_role("button", name="Turn on").click()
        page.get_by_text("this browser").wait_for()
        axe.check(page)
        devtools = page.context.new_cdp_session(page)
        registrations = []
        devtools.on("ServiceWorker.workerRegistrationUpdated",
                    lambda told: registrations.extend(told["registrations"]))
        devtools.send("ServiceWorker.enable")
        until(lambda: page.evaluate("1") and registrations, "the registration")
        worker(page).evaluate(LISTEN)

        def deliver(n):
            before = len(shown(page))
            body = until(lambda: len(taken) >= n and taken[n - 1], "what is sent")
            data = page.evaluate(READ, base64.b64encode(body).decode())
            devtools.send("ServiceWorker.deliverPushMessage", {
                "origin": desk.url, "registrationId": registrations[-1]["registrationId"], "data": data,
            })
            until(lambda: len(shown(page)) > before, "a notice")
            return json.loads(data)

        yield page, deliver


def press(page, action):
    """Presses a button of the notice that is shown."""
    worker(page).evaluate("""async (action) => {
      const [notification] = await registration.getNotifications();
      dispatchEvent(new NotificationEvent("notificationclick", { notification, action }));
    }""", action)


def said(page, title):
    """A notice with this title was shown, and is the one that is left."""
    until(lambda: title in shown(page), title)
    left = worker(page).evaluate("async () => (await registration.getNotifications()).map((one) => one.title)")
    assert left == [title]


def test_a_test_comes_through(desk, phone):
    page, deliver = phone
    page.get_by_role("button", name="Send a test to all of them").click()
    page.get_by_text("Sent to one device").wait_for()
    deliver(1)
    [notice] = notices(page)
    assert notice["title"] == "Notifications work on this device" and notice["actions"] == []
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("button", name="Turn on").wait_for()


def test_answered_from_a_notice(desk, phone):
    page, deliver = phone
    ask = desk.ask("Refund Ada?", question={"details": {"amount": "€120"}})
    deliver(1)
    assert notices(page) == [{
        "title": "agent_dev wants your approval", "body": "Refund Ada?\nAmount: €120",
        "tag": ask["id"], "silent": False, "actions": ["approve", "reject"],
    }]
    press(page, "approve")
    until(lambda: desk.state(ask)["state"] == "completed", "the answer")
    assert desk.state(ask)["result"]["via"] == "push"


@pytest.mark.parametrize("word, title", [("approve", "You approved it"), ("reject", "Someone else answered first")])
def test_a_notice_says_what_came_of_its_button(desk, phone, word, title):
    """Nobody looks at a page: the notice says that it was taken, or why not."""
    page, deliver = phone
    ask = desk.ask("Refund Ada?")
    deliver(1)
    if word == "reject":
        desk.call("POST", f"/api/v1/asks/{ask['id']}/answer", {"answer": {"verdict": "approved"}})
    page.goto("about:blank")
    press(page, word)
    said(page, title)
    page.goto(f"{desk.url}/asks/{ask['id']}")
    until(lambda: not notices(page), "the notice goes with its page")


def test_a_notice_says_that_somebody_else_was_faster(desk, phone):
    page, deliver = phone
    ask = desk.ask("Refund Ada?")
    deliver(1)
    desk.call("POST", f"/api/v1/asks/{ask['id']}/answer", {"answer": {"verdict": "rejected"}})
    press(page, "approve")
    assert desk.state(ask)["result"]["answer"]["verdict"] == "rejected"
    over = deliver(2)
    assert (over["title"], over["over"], over["tag"]) == ("Rejected by user_dev", True, ask["id"])
    # The page is in sight and says it; nothing is left to look at.
    until(lambda: not notices(page), "the notice goes")


def test_without_a_session_nothing_is_answered(desk, phone):
    page, deliver = phone
    ask = desk.ask("Refund Ada?")
    deliver(1)
    page.context.clear_cookies()
    # Nobody looks at a page: the notice says it.
    page.goto("about:blank")
    press(page, "approve")
    said(page, "Not sent: you are signed out here")
    assert desk.state(ask)["state"] != "completed"
