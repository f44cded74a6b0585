"""Signing in: sessions, a link by mail, passkeys, and somebody else's identities."""

import email
import email.policy
import json
import os
import re
import socket
import ssl
import subprocess
import threading
from pathlib import Path

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult
from conftest import DESK, PHONE, start
from looks import looks_right

FIXTURES = Path(__file__).parent.parent / "faults" / "fixtures"


class Post:
    """A mail server that keeps what it gets."""

    def __init__(self):
        self.letters = []
        self.arrived = threading.Condition()

    async def handle_DATA(self, server, session, envelope):
        letter = email.message_from_bytes(envelope.content, policy=email.policy.default)
        with self.arrived:
            self.letters.append((envelope.rcpt_tos, letter))
            self.arrived.notify_all()
        return "250 OK"

    def next(self, n=1):
        """The n-th letter, once it has come."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.letters) >= n, 20), "no letter came"
            return self.letters[n - 1]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def person(server, who, **more):
    server.call("PUT", f"/api/v1/people/{who}", {"projects": ["dev"], **more})


@pytest.fixture(scope="module")
def post():
    """A mail server with STARTTLS and a password, as they are in the world."""
    keeper = Post()
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(FIXTURES / "test-only-cert.pem", FIXTURES / "test-only-key.pem")

    def known(server, session, envelope, mechanism, data):
        good = (data.login, data.password) == (b"agents@example.com", b"pa:ss")
        return AuthResult(success=good, handled=True)

    keeper.port = free_port()
    controller = Controller(
        keeper, "127.0.0.1", keeper.port, authenticator=known, auth_required=True,
        tls_context=tls, require_starttls=True,
    )
    controller.start()
    yield keeper
    controller.stop()


@pytest.fixture(scope="module")
def mailing(tmp_path_factory, post):
    url = f"smtp://agents%40example.com:pa%3Ass@localhost:{post.port}?from=Countersign%20%3Cagents%40example.com%3E"
    env = {"COUNTERSIGN_SMTP_URL": url, "SSL_CERT_FILE": str(FIXTURES / "test-only-cert.pem")}
    with start(tmp_path_factory.mktemp("mailing"), "localhost", env=env) as server:
        person(server, "ada", name="Ada Lovelace", email="ada@example.com")
        yield server


def ask_for_link(page, address):
    page.get_by_label("Your email address").fill(address)
    page.get_by_role("button", name="Send me a sign-in link").click()
    return page.locator("main").inner_text()


def test_a_link_comes_by_mail_and_works_once(mailing, post, visit):
    page = visit(mailing.url)
    said = ask_for_link(page, "Ada@Example.com")
    recipients, letter = post.next()
    assert recipients == ["ada@example.com"]
    assert letter["Subject"] == "Sign in to Countersign at localhost"
    assert letter["From"] == "Countersign <agents@example.com>"
    text = letter.get_body(("plain",)).get_content()
    link = re.search(r"http://\S+", text)[0]
    assert link in letter.get_body(("html",)).get_content().replace("&#38;", "&")
    # Nobody learns who is known here, and nobody else is written to.
    other = visit(mailing.url)
    assert ask_for_link(other, "nobody@example.com") == said
    # Looking signs nobody in.
    page.goto(link)
    page.goto(link)
    page.get_by_role("button", name="Sign in on this device").click()
    page.wait_for_url(mailing.url + "/")
    page.goto(mailing.url + "/settings/sessions")
    assert "with a link by email" in page.locator("main").inner_text()
    other.goto(link)
    other.get_by_role("button", name="Sign in on this device").click()
    assert "no longer works" in other.locator("h1").inner_text()
    assert len(post.letters) == 1


def test_sessions_are_ended_from_another_browser(mailing, visit):
    here, there = (visit(mailing.sign_in_link(), size=size) for size in (DESK, PHONE))
    for page in (here, there):
        page.get_by_role("button", name="Sign in on this device").click()
    here.get_by_text("user_dev", exact=True).click()
    here.get_by_role("link", name="Sessions").click()
    here.get_by_role("button", name="Sign out everywhere else").click()
    assert "Signed out" in here.get_by_role("status").inner_text()
    there.reload()
    assert "Sign in" in there.locator("h1").inner_text()
    here.get_by_role("button", name=re.compile("^Sign out ?: ")).click()
    assert here.locator("h1").inner_text() == "You are signed out"


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    with start(tmp_path_factory.mktemp("passkeys"), "localhost") as server:
        yield server


def authenticator(page):
    """A virtual authenticator that knows its owner."""
    cdp = page.context.new_cdp_session(page)
    cdp.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2", "transport": "internal", "hasResidentKey": True,
        "hasUserVerification": True, "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    made = cdp.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return cdp, made["authenticatorId"]


def verify(receipt, jwks):
    command = [os.environ["COUNTERSIGN_BIN"], "verify", str(receipt), "--jwks", str(jwks)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_a_passkey_signs_in_and_confirms_an_answer(local, visit, tmp_path):
    page = visit(local.sign_in_link())
    cdp, device = authenticator(page)
    page.get_by_role("button", name="Sign in on this device").click()
    # An answer that needs a passkey is not taken without one.
    body = {"question": {"kind": "approve", "prompt": "Wire €12,000 to Ada?"}, "assurance": "passkey"}
    ask = local.call("POST", "/api/v1/asks", body, key="dev-agent-key")
    page.goto(f"{local.url}/asks/{ask['id']}")
    page.get_by_role("button", name="Approve").click()
    assert page.locator("h1").inner_text() == "This request needs your passkey"
    page.get_by_role("link", name="Add a passkey").click()
    page.get_by_label("Name").fill("test device")
    page.get_by_role("button", name="Add a passkey on this device").click()
    page.get_by_role("heading", name="test device").wait_for()
    assert len(cdp.send("WebAuthn.getCredentials", {"authenticatorId": device})["credentials"]) == 1
    # Out, and in again with nothing but the passkey.
    page.get_by_text("user_dev", exact=True).click()
    page.get_by_role("button", name="Sign out of this device").click()
    page.goto(local.url)
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.get_by_role("heading", name="Wire €12,000 to Ada?").wait_for()
    page.goto(f"{local.url}/settings/sessions")
    assert "with a passkey" in page.locator("main").inner_text()
    page.goto(f"{local.url}/asks/{ask['id']}")
    page.get_by_role("button", name="Approve").click()
    assert "Wire €12,000 to Ada?" in page.locator("main").inner_text()
    sealed = page.locator("input[name=sealed]").input_value()
    csrf = page.locator("form[data-passkey] input[name=csrf]").input_value()
    # Without the passkey's signature it is refused, whatever else is sent.
    forged = page.request.post(
        f"{local.url}/asks/{ask['id']}/confirm", form={"csrf": csrf, "sealed": sealed, "response": "{}"}
    )
    assert forged.status == 403
    page.get_by_role("button", name="Confirm with your passkey").click()
    page.get_by_role("heading", name="Approved: Wire €12,000 to Ada").wait_for()
    seen = local.call("GET", f"/api/v1/asks/{ask['id']}", key="dev-agent-key")
    assert seen["result"]["assurance"] == "passkey", seen
    receipt = local.call("GET", f"/api/v1/asks/{ask['id']}/receipt", key="dev-agent-key")
    verified = local.call("POST", "/api/v1/receipts/verify", {"receipt": receipt["receipt"]})
    assert verified["claims"]["assurance"] == "passkey", verified
    # What the browser signed proves it without the server.
    assert receipt["evidence_status"] == "kept"
    kept = tmp_path / "receipt.json"
    kept.write_text(json.dumps(receipt))
    jwks = tmp_path / "jwks.json"
    jwks.write_text(json.dumps(local.call("GET", "/.well-known/jwks.json")))
    checked = verify(kept, jwks)
    assert checked.returncode == 0 and "signed this very answer" in checked.stdout, checked
    receipt["evidence"]["statement"]["nonce"] = "0" * 64
    kept.write_text(json.dumps(receipt))
    checked = verify(kept, jwks)
    assert checked.returncode == 1 and "challenge" in checked.stdout, checked
    # Another passkey needs the first one.
    page.goto(f"{local.url}/settings/passkeys")
    page.get_by_role("heading", name="Add another passkey").wait_for()
    page.get_by_role("button", name="Confirm with your passkey").click()
    page.get_by_role("button", name="Add a passkey on this device").wait_for()
    # A passkey that was removed opens nothing.
    page.goto(f"{local.url}/settings/passkeys")
    page.get_by_role("button", name="test device").click()
    page.get_by_text("You have none yet.").wait_for()
    page.get_by_text("user_dev", exact=True).click()
    page.get_by_role("button", name="Sign out of this device").click()
    page.goto(local.url)
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.get_by_role("heading", name="This passkey does not work here").wait_for()


@pytest.fixture(scope="module")
def provided(tmp_path_factory):
    """A server whose people come from a real OpenID provider."""
    folder, secret = tmp_path_factory.mktemp("provided"), "hush/+ hush"
    # The provider is told where people come back to before the server is there.
    port = free_port()
    back = f"http://localhost:{port}/sign-in/oidc/back"
    command = ["node", os.environ["PROVIDER"], back, secret]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as provider:
        try:
            args = ["--oidc-issuer", provider.stdout.readline().strip(), "--oidc-client-id", "countersign"]
            args += ["--oidc-scopes", "openid,email,profile,groups", "--oidc-groups", "ops-team=ops"]
            args += ["--oidc-admin-group", "admins", "--oidc-create", "--oidc-projects", "dev"]
            args += ["--oidc-name", "Example"]
            env = {"COUNTERSIGN_OIDC_CLIENT_SECRET": secret}
            with start(folder, "localhost", port, args, env) as server:
                person(server, "ada", name="Ada Lovelace", email="ada@example.com", groups=["legal"])
                yield server
        finally:
            provider.terminate()


def come_from_provider(page, name):
    # The provider's own pages want a font from far away.
    page.route("https://fonts.googleapis.com/**", lambda route: route.abort())
    page.get_by_role("link", name="Sign in with Example").click()
    page.locator("input[name=login]").fill(name)
    page.locator("input[name=password]").fill("anything")
    page.get_by_role("button", name="Sign-in").click()
    page.get_by_role("button", name="Continue").click()


def test_people_of_a_provider_sign_in_with_their_groups(provided, visit):
    page = visit(provided.url)
    come_from_provider(page, "ada")
    page.wait_for_url(provided.url + "/")
    page.goto(provided.url + "/settings/sessions")
    assert "with your organisation" in page.locator("main").inner_text()
    ada = provided.call("GET", "/api/v1/people/ada")
    assert (ada["groups"], ada["admin"]) == (["legal", "ops"], True), ada
    # Somebody new is added, under a name that says nothing.
    other = visit(provided.url)
    come_from_provider(other, "bob")
    other.wait_for_url(provided.url + "/")
    [bob] = [one for one in provided.call("GET", "/api/v1/people")["people"] if one["email"] == "bob@example.com"]
    assert bob["id"].startswith("user_") and bob["groups"] == ["ops"] and not bob["admin"], bob
    assert bob["projects"] == ["dev"]
    # An address that is not verified is nobody's.
    eve = visit(provided.url)
    come_from_provider(eve, "eve")
    eve.wait_for_url(provided.url + "/")
    [eve] = [one for one in provided.call("GET", "/api/v1/people")["people"] if one["name"] == "Eve"]
    assert eve["id"] not in ("ada", bob["id"]) and eve["email"] is None, eve
    # Out, here and there.
    page.get_by_text("Ada Lovelace", exact=True).click()
    page.get_by_role("button", name="Sign out of this device").click()
    page.get_by_role("link", name="Sign out there too").click()
    assert "sign-out" in page.locator("h1").inner_text().lower()


def test_what_comes_back_belongs_to_the_browser_that_left(provided, visit):
    page = visit(provided.url + "/sign-in")
    for query in ("?code=x&state=y", "?error=access_denied", ""):
        page.goto(provided.url + "/sign-in/oidc/back" + query)
        assert page.locator("h1").inner_text() == "You could not be signed in"
    # An answer for one browser, shown by another that left too. What a service worker fetches cannot be
    # caught here.
    here, there = visit(provided.url, service_workers="block"), visit(provided.url)
    here.route("**/sign-in/oidc/back*", lambda route: route.abort())
    with here.expect_request("**/sign-in/oidc/back*") as caught:
        come_from_provider(here, "ada")
    there.goto(provided.url + "/sign-in/oidc", wait_until="commit")
    there.goto(caught.value.url)
    assert there.locator("h1").inner_text() == "You could not be signed in"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_pages_look_right(mailing, visit, size, scheme):
    """Nothing scrolls sideways, everything can be hit and read."""
    page = visit(mailing.url + "/sign-in", size, color_scheme=scheme)
    authenticator(page)
    looks_right(page, f"sign-in-{scheme}", size)
    ask_for_link(page, "nobody@example.com")
    looks_right(page, f"link-sent-{scheme}", size)
    page.goto(mailing.sign_in_link("ada"))
    looks_right(page, f"link-{scheme}", size)
    page.get_by_role("button", name="Sign in on this device").click()
    page.goto(mailing.url + "/settings/sessions")
    looks_right(page, f"sessions-{scheme}", size)
    page.get_by_text("Ada Lovelace", exact=True).click()
    looks_right(page, f"menu-{scheme}", size)
    page.goto(mailing.url + "/settings/passkeys")
    # Each visit brings an authenticator of its own: the passkey of the one before is lost, and the
    # person removes it right after signing in.
    if page.get_by_role("button", name="Remove").count() > 0:
        page.get_by_role("button", name="Remove").click()
        page.get_by_text("You have none yet.").wait_for()
    page.get_by_label("Name").fill("work laptop")
    page.get_by_role("button", name="Add a passkey on this device").click()
    page.get_by_role("heading", name="work laptop").wait_for()
    looks_right(page, f"passkeys-waiting-{scheme}", size)
    [key] = [
        one
        for one in mailing.call("GET", "/api/v1/keys?limit=100")["keys"]
        if one["kind"] == "passkey" and one["revoked_at"] is None
    ]
    mailing.call("POST", f"/api/v1/keys/{key['id']}/confirm", {})
    page.goto(mailing.url + "/settings/passkeys")
    looks_right(page, f"passkeys-{scheme}", size)
    question = {"kind": "approve", "prompt": "Wire €12,000 to Ada?", "details": {"amount": "€12,000"}}
    body = {"question": question, "assurance": "passkey", "route": {"to": "person", "human": "ada"}}
    ask = mailing.call("POST", "/api/v1/asks", body, key="dev-agent-key")
    page.goto(f"{mailing.url}/asks/{ask['id']}")
    page.get_by_role("button", name="Approve").click()
    looks_right(page, f"confirm-{scheme}", size)
