"""Against the real server: stories between an agent and a person."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import httpx
import pytest

from countersign import (
    Abort,
    Answer,
    Approved,
    AsyncCountersign,
    Cancelled,
    ChangesRequested,
    Chosen,
    ConfigurationError,
    Confirmed,
    Conflict,
    Countersign,
    Declined,
    Defaulted,
    Denied,
    Expired,
    Failed,
    Form,
    InvalidReceipt,
    InvalidRequest,
    NotFound,
    Outcome,
    Provided,
    Rejected,
    Replied,
    Retry,
    Skip,
    StillOpen,
    Unauthorized,
    fetch_jwks,
    fetch_revocations,
    human_as_tool,
    require_approval,
    verify_receipt,
)
from countersign.testing import AGENT_KEY, Server, serve

pytestmark = pytest.mark.live

FORM = Form().text("name", required=True).number("amount", min=0)


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[Countersign]:
    with server.client() as made:
        yield made


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (lambda c: c.approve("Refund €120?", details={"order": 9007199254740993}), Approved()),
        (
            lambda c: c.approve("Refund?", details={"a": 1}, editable=True),
            Approved(edits={"a": 2}, comment="less"),
        ),
        (lambda c: c.approve("Refund?"), Rejected(comment="too dear")),
        (lambda c: c.approve("Refund?"), ChangesRequested(comment="smaller")),
        (lambda c: c.choose("Where?", ["Europe", "Asia"]), Chosen(options=["Asia"])),
        (
            lambda c: c.choose("Where?", {"eu": "Europe", "as": "Asia"}, pick="many"),
            Chosen(options=["eu", "as"]),
        ),
        (lambda c: c.provide("Who?", FORM), Provided(values={"name": "Ada", "amount": 1.5})),
        (lambda c: c.confirm("Delete?", ["a", "b"]), Confirmed(items=["b"])),
        (lambda c: c.confirm("Delete?", ["a", "b"]), Declined()),
        (
            lambda c: c.escalate("Failed", error=OSError("disk full"), params={"n": 1}),
            Retry(params={"n": 2}),
        ),
        (lambda c: c.escalate("Failed"), Skip()),
        (lambda c: c.escalate("Failed"), Abort()),
        (lambda c: c.converse("Hello\u2028there"), Replied(text="line\u2028sep \U0001f600")),
    ],
)
def test_every_answer_comes_back_with_its_proof(
    server: Server, client: Countersign, question: Any, answer: Answer
) -> None:
    ask = question(client)
    assert (ask.state, ask.receipt) == ("pending", None)
    assert ask.url.endswith(f"/asks/{ask.id}")
    server.person.answer(ask, answer)
    got = ask.wait(timeout=30)
    assert got.reply() == answer.reply()
    assert (got.by.kind, got.by.id, got.via) == ("human", "user_dev", "api")
    assert bool(got) is bool(answer)
    receipt = client.verify(ask.receipt, question=ask.question, issuer=server.url)
    assert receipt.ask == ask.id
    assert isinstance(receipt.answer, Answer)
    assert receipt.answer.reply() == answer.reply()


@pytest.mark.parametrize("timeout", [None, 10], ids=["stream", "poll"])
def test_waiting_ends_when_somebody_answers(
    server: Server, client: Countersign, timeout: float | None
) -> None:
    ask = client.approve("Refund?")
    waiting = threading.Thread(target=lambda: got.append(ask.wait(timeout)), daemon=True)
    got: list[Outcome] = []
    waiting.start()
    # Only something that happens later can end the wait.
    server.person.act(ask, "claim", {})
    server.person.answer(ask, Approved(comment="now"))
    waiting.join(30)
    assert [a.comment for a in got] == ["now"]


def test_waiting_survives_a_restart() -> None:
    with serve() as own, own.client() as client:
        ask = client.approve("Still there?")
        got: list[Outcome] = []
        waiting = threading.Thread(target=lambda: got.append(ask.wait()), daemon=True)
        waiting.start()
        own.person.act(ask, "claim", {})
        own.stop()
        own.start()
        assert waiting.is_alive()
        own.person.answer(ask, Approved(comment="after all"))
        waiting.join(60)
        assert [a.comment for a in got] == ["after all"]
        assert client.verify(ask.receipt or "").ask == ask.id


def test_streams_are_what_it_waits_on(server: Server) -> None:
    seen: list[str] = []
    with server.client() as client:
        ask = client.approve("Refund?")
        client._runner.http.event_hooks["request"] = [lambda r: seen.append(r.url.path)]
        server.person.answer(ask, Approved())
        ask.wait()
    assert seen[0].endswith("/events")
    assert sum(path.endswith(ask.id) for path in seen) <= 1


def test_an_ask_is_asked_once(client: Countersign) -> None:
    first = client.approve("Refund?", idempotency_key="order-4711")
    again = client.approve("Refund?", idempotency_key="order-4711")
    assert first.id == again.id
    with pytest.raises(Conflict) as caught:
        client.approve("Refund more?", idempotency_key="order-4711")
    assert caught.value.code == "idempotency-mismatch"


def test_no_time_left_is_told(client: Countersign) -> None:
    ask = client.approve("Refund?")
    began = time.monotonic()
    with pytest.raises(StillOpen):
        ask.wait(timeout=timedelta(seconds=1))
    assert time.monotonic() - began < 10
    assert ask.refresh().state == "pending"
    with pytest.raises(StillOpen):
        ask.wait(timeout=0)


@pytest.mark.parametrize(
    ("on_expiry", "ends"),
    [
        ({}, Expired),
        ({"on_expiry": {"report": "approve"}}, Expired),
        ({"on_expiry": "fail"}, Failed),
    ],
)
def test_silence_is_no_answer(client: Countersign, on_expiry: Any, ends: type[Exception]) -> None:
    ask = client.approve("Refund?", timeout=1, **on_expiry)
    with pytest.raises(ends):
        ask.wait(timeout=30)
    assert ask.receipt is not None
    assert client.verify(ask.receipt).answer is None


def test_a_default_on_silence_is_marked(client: Countersign) -> None:
    answer = client.approve("Refund?", timeout=1, on_expiry=Rejected(comment="nobody")).wait(30)
    assert isinstance(answer, Defaulted)
    assert isinstance(answer.answer, Rejected)
    assert answer.by is not None
    assert (answer.comment, answer.by.kind, answer.assurance) == ("nobody", "system", "none")


def test_a_yes_on_silence_is_no_approval(client: Countersign) -> None:
    ask = client.approve("Refund?", timeout=1, on_expiry=Approved())
    answer = ask.wait(30)
    assert isinstance(answer, Defaulted)
    assert not answer
    receipt = client.verify(ask.receipt or "")
    assert isinstance(receipt.answer, Defaulted)
    assert not receipt.answer


def test_scripted_people_approve_like_people() -> None:
    with serve() as server, server.client() as client:
        script, key = {"rule": [{"answer": "yes"}]}, {"authorization": f"Bearer {AGENT_KEY}"}
        httpx.put(f"{server.url}/api/v1/dev/script", json=script, headers=key).raise_for_status()
        ask = client.approve("Refund?")
        answer = ask.wait(30)
        assert isinstance(answer, Approved)
        assert answer.via == "script"
        assert client.verify(ask.receipt or "").answer

        @require_approval(client=client)
        def pay() -> str:
            return "paid"

        assert pay() == "paid"


def test_cancelled_extended_commented(server: Server, client: Countersign) -> None:
    ask = client.approve("Refund?", timeout=60)
    before = ask.expires_at
    until = datetime.now(timezone.utc) + timedelta(hours=1)
    assert before is not None
    assert (ask.extend(until).expires_at or before) > before
    ask.comment("see order 4711")
    server.person.act(ask, "comments", {"text": "which one?"})
    assert [(c.by.kind if c.by else "", c.text) for c in ask.comments()] == [
        ("agent", "see order 4711"),
        ("human", "which one?"),
    ]
    ask.cancel("not needed")
    with pytest.raises(Cancelled, match="not needed") as caught:
        ask.wait()
    assert caught.value.reason == "not needed"
    with pytest.raises(Conflict):
        ask.cancel()


def test_a_secret_is_gone_once_it_arrived(server: Server, client: Countersign) -> None:
    ask = client.provide("Token?", Form().text("token", sensitive=True))
    with pytest.raises(Conflict):
        ask.acknowledge()
    server.person.act(
        ask, "answer", {"answer": {"verdict": "provided", "values": {"token": "s3cret"}}}
    )

    def token() -> str:
        answer = ask.refresh().wait(30)
        assert isinstance(answer, Provided)
        return str(answer.values["token"])

    assert token() == "s3cret"
    ask.acknowledge()
    ask.acknowledge()
    assert token().startswith("[redacted:")


def test_an_agent_goes_on_after_its_own_restart(server: Server, client: Countersign) -> None:
    ask_id = client.approve("Refund?", metadata={"order": 1}, tags=["a"], priority="high").id
    server.person.answer(ask_id, Approved())
    with server.client() as later:
        found = later.fetch(ask_id)
        assert found.wait()
        assert (found.raw["metadata"], found.raw["tags"]) == ({"order": 1}, ["a"])
        assert found.raw["priority"] == "high"
    follow_up = client.approve("And again?", follows=ask_id)
    assert client.fetch(ask_id).followed_by == follow_up.id


def test_lists(server: Server, client: Countersign) -> None:
    asks = {client.converse(f"Hello {n}").id for n in range(3)}
    assert asks <= {a.id for a in client.asks(kind="converse")}
    assert asks <= {a.id for a in server.person.inbox()}
    for ask_id in asks:
        client.fetch(ask_id).cancel()
    assert not asks & {a.id for a in client.asks()}
    assert asks <= {a.id for a in client.asks(state=["cancelled", "completed"])}


def test_everything_that_happens_can_be_followed(server: Server, client: Countersign) -> None:
    ask = client.approve("Refund?")
    server.person.answer(ask, Approved())
    events = (e for e in client.events(after=0) if e.ask and e.ask.id == ask.id)
    asked, *_, answered = itertools.islice(events, 2)
    assert (asked.name, answered.name) == ("asked", "answered")
    server_says = client.fetch(ask.id)
    assert answered.ask is not None
    assert answered.ask.version == server_says.version
    # From here on, nothing of what was.
    other = client.converse("Hello")
    resumed = next(e for e in client.events(after=answered.position))
    assert resumed.ask is not None
    assert resumed.ask.id == other.id


def test_errors_are_told(server: Server, client: Countersign) -> None:
    with pytest.raises(InvalidRequest) as invalid:
        client.approve("")
    assert invalid.value.errors
    assert invalid.value.request_id
    with pytest.raises(NotFound):
        client.fetch("ask_00000000000000000000000000")
    with Countersign(server.url, "wrong") as stranger, pytest.raises(Unauthorized):
        stranger.approve("Refund?")


def test_what_was_revoked_proves_nothing(server: Server, client: Countersign) -> None:
    ask = client.approve("Refund?")
    server.person.answer(ask, Approved())
    ask.wait()
    assert ask.receipt is not None
    jwks = fetch_jwks(server.url)
    assert verify_receipt(ask.receipt, jwks, revocations=fetch_revocations(server.url))
    server.person.act(ask, "revoke", {"reason": "the token was stolen"})
    assert verify_receipt(ask.receipt, jwks)
    with pytest.raises(InvalidReceipt, match="stolen"):
        verify_receipt(ask.receipt, jwks, revocations=fetch_revocations(server.url))


def test_guarded_functions(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERSIGN_URL", server.url)
    monkeypatch.setenv("COUNTERSIGN_API_KEY", "dev-agent-key")

    @require_approval(editable=True)
    def send(to: str, amount: float) -> str:
        """Sends money."""
        return f"{amount} to {to}"

    def rule(ask: Any) -> Answer | None:
        question = ask.question
        if question["kind"] == "converse":
            return Replied(text="Blue.")
        if question.get("context") != "Sends money.":
            return None
        assert question["prompt"] == "Run send?"
        if question["details"]["to"] == "Mallory":
            return Rejected(comment="never heard of them")
        return Approved(edits={**question["details"], "amount": 100})

    with server.person.answering(rule):
        assert send("Ada", 120.0) == "100 to Ada"
        with pytest.raises(Denied) as denied:
            send("Mallory", 1.0)
        assert denied.value.reason == "never heard of them"
        assert human_as_tool()("Which colour?") == "Blue."


def test_insights_count_what_happened(server: Server, client: Countersign) -> None:
    with server.person.answering(lambda ask: Rejected(comment="no")):
        ask = client.approve("Count me?")
        assert not ask.wait()
    today = datetime.now(timezone.utc)
    deadline = time.monotonic() + 20
    # The numbers are a moment behind.
    while True:
        found = client.insights(agent="agent_dev", since=today, until=today.date())
        if found["verdicts"]["overruled"] or time.monotonic() > deadline:
            break
        time.sleep(0.05)
    assert found["verdicts"]["overruled"] > 0
    assert found["asks"] >= found["dialects"]["native"] > 0
    assert found["from"] == found["to"] == today.date().isoformat()
    assert [one["agent"] for one in found["agents"]] == ["agent_dev"]
    with pytest.raises(InvalidRequest):
        client.insights(since="tomorrow")
    with pytest.raises(NotFound):
        client.insights(project="nowhere")


@pytest.mark.anyio
async def test_async_insights(server: Server) -> None:
    async with server.async_client() as client:
        found = await client.insights()
        assert len(found["days"]) == 30
        assert len(found["confidence"]) == 10


@pytest.mark.anyio
async def test_async_stories(server: Server) -> None:
    async with server.async_client() as client:
        assert isinstance(client, AsyncCountersign)
        with server.person.answering(lambda ask: Approved(comment=ask.id)):
            asks = [await client.approve(f"Refund {n}?") for n in range(3)]
            for ask in asks:
                answer = await ask.wait()
                assert (bool(answer), answer.comment) == (True, ask.id)
                receipt = await client.verify(ask.receipt or "", question=ask.question)
                assert receipt.ask == ask.id
        names = []
        async for event in client.events(after=0):
            if event.ask and event.ask.id == asks[-1].id:
                names.append(event.name)
                # The ask is as it is now, whatever the event was.
                assert event.ask.is_over
                if event.name == "answered":
                    break
        assert names == ["asked", "answered"]
        left = await client.converse("Hello")
        await left.comment("there")
        assert [c.text for c in await left.comments()] == ["there"]
        assert left.id in [a.id async for a in client.asks()]
        await left.cancel("done")
        with pytest.raises(Cancelled):
            await left.wait()


def test_a_rule_that_cannot_judge_is_heard_of(server: Server, client: Countersign) -> None:
    ask = client.converse("Hello")

    def rule(seen: Any) -> Answer | None:
        if seen.id == ask.id:
            raise RuntimeError("cannot judge")
        return None

    with pytest.raises(RuntimeError, match="cannot judge"), server.person.answering(rule):
        ask.wait()
    assert ask.state == "cancelled"


def test_a_server_that_does_not_start_says_why() -> None:
    with pytest.raises(ConfigurationError, match="did not start"), serve("/bin/false"):
        pass


def test_the_fixture_for_pytest_is_there(countersign_server: Server) -> None:
    assert countersign_server.client().converse("Hello").state == "pending"
