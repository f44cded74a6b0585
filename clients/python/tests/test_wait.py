"""Waiting: streams, polls where streams do not get through, and servers that go away."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import httpx
import pytest
from wire import ASK_ID, Wire, approved, ask, frame, over, problem, say, stream

from countersign import (
    Approved,
    By,
    Cancelled,
    ConnectionFailed,
    Defaulted,
    Erased,
    Expired,
    Failed,
    NoAnswer,
    NotFound,
    ProtocolError,
    Rejected,
    Revocation,
    Revoked,
    StillOpen,
    Unauthorized,
)

EVENTS = f"GET /api/v1/asks/{ASK_ID}/events"
POLL = f"GET /api/v1/asks/{ASK_ID}"


def told(body: dict[str, Any], event: str = "state") -> bytes:
    return frame(event, {"event": event, "version": body["version"], "ask": body})


def asked(*script: Any) -> tuple[Any, Any]:
    wire = Wire(say(ask(), 201), *script)
    return wire, wire.client().approve("Refund?")


def test_the_stream_brings_the_answer() -> None:
    wire, handle = asked(stream(told(ask()), b": heartbeat\n\n", told(approved(), "answered")))
    answer = handle.wait()
    assert isinstance(answer, Approved)
    assert answer.by is not None
    assert (answer.by.id, answer.assurance) == ("ada", "session")
    assert handle.receipt == "a.b.c"
    assert wire.paths[1:] == [EVENTS]


def test_a_frame_in_pieces_with_strange_line_ends_is_whole() -> None:
    body = over(answer={"verdict": "approved"}, comment="line\u2028and\u0085more")
    raw = told(body).replace(b"\n", b"\r\n")
    _, handle = asked(stream(*(raw[i : i + 7] for i in range(0, len(raw), 7))))
    assert handle.wait().comment == "line\u2028and\u0085more"


def test_an_ask_alone_in_a_frame_is_understood() -> None:
    _, handle = asked(stream(frame("state", approved())))
    assert handle.wait()


def test_what_the_stream_left_out_is_fetched() -> None:
    without = {**approved(), "receipt": None}
    wire, handle = asked(stream(told(without)), say(approved()))
    handle.wait()
    assert handle.receipt == "a.b.c"
    assert wire.paths[1:] == [EVENTS, POLL]


def test_an_ask_that_is_over_asks_nobody() -> None:
    wire = Wire(say(approved(), 201))
    assert wire.client().approve("Refund?").wait()
    assert len(wire.requests) == 1


@pytest.mark.parametrize(
    "no_stream",
    [
        problem(404, "not-found"),
        problem(405, "method-not-allowed"),
        problem(406, "not-acceptable"),
        say(ask()),
        stream(),
        stream(httpx.ReadTimeout("held back")),
    ],
    ids=["404", "405", "406", "json", "empty", "buffered"],
)
def test_without_streams_it_polls(no_stream: httpx.Response) -> None:
    wire, handle = asked(no_stream, say(ask(2, "opened")), say(approved()))
    assert handle.wait()
    assert wire.paths[1:] == [EVENTS, POLL, POLL]
    first, second = wire.requests[2:]
    assert first.headers["prefer"] == "wait=30"
    assert (first.headers["if-none-match"], second.headers["if-none-match"]) == ('"1"', '"2"')
    # The server may hold it that long, so the client has to be more patient.
    assert first.extensions["timeout"]["read"] > 30


def test_unchanged_polls_go_on_but_not_in_a_rush() -> None:
    def held(request: httpx.Request) -> httpx.Response:
        wire.now += 30
        return httpx.Response(304)

    wire, handle = asked(
        problem(404, "not-found"), held, httpx.Response(304), say(ask(1)), say(approved())
    )
    assert handle.wait()
    # The first was held; the others came back at once, so the client holds itself back.
    assert wire.slept == [2.0, 2.0]


def test_a_server_that_restarts_is_survived() -> None:
    wire, handle = asked(
        stream(told(ask()), httpx.ReadError("reset")),
        httpx.ConnectError("refused"),
        httpx.ConnectError("refused"),
        problem(503, "unavailable", headers={"retry-after": "1"}),
        stream(told(ask()), b""),
        stream(told(ask()), told(approved())),
    )
    assert handle.wait()
    assert wire.paths[1:] == [EVENTS] * 6
    # Growing while it is down; from the start after a sign of life.
    assert wire.slept == [0.25, 0.5, 1.0, 1.0, 0.25]


def test_a_long_outage_ends_it() -> None:
    wire, handle = asked(*(httpx.ConnectError("refused") for _ in range(100)))
    with pytest.raises(ConnectionFailed, match="refused"):
        handle.wait()
    assert 300 <= sum(wire.slept) < 330


def test_a_revoked_key_ends_it_at_once() -> None:
    _, handle = asked(problem(401, "unauthorized"))
    with pytest.raises(Unauthorized):
        handle.wait()


def test_an_ask_that_is_gone_is_not_found() -> None:
    _, handle = asked(problem(404, "not-found"), problem(404, "not-found"))
    with pytest.raises(NotFound):
        handle.wait()


def test_a_short_wait_polls_and_leaves_the_ask_open() -> None:
    def held(request: httpx.Request) -> httpx.Response:
        wire.now += 5
        return httpx.Response(304)

    wire, handle = asked(held, say(approved()))
    with pytest.raises(StillOpen, match="still open") as caught:
        handle.wait(timeout=5)
    assert wire.requests[1].headers["prefer"] == "wait=5"
    assert handle.wait(timeout=5)
    assert isinstance(caught.value, TimeoutError)
    assert caught.value.ask is handle


def test_no_time_at_all_still_looks_once() -> None:
    wire, handle = asked(say(approved()))
    assert handle.wait(timeout=0)
    assert "prefer" not in wire.requests[1].headers


def test_a_deadline_ends_a_stream_that_only_beats() -> None:
    def later() -> None:
        wire.now += 15

    beats = [part for _ in range(10) for part in (later, b": heartbeat\n\n")]

    def held(request: httpx.Request) -> httpx.Response:
        wire.now += float(request.headers["prefer"].removeprefix("wait="))
        return httpx.Response(304)

    wire, handle = asked(stream(told(ask()), *beats), held)
    with pytest.raises(StillOpen):
        handle.wait(timeout=60)
    assert wire.now == 1060
    assert wire.paths[1:] == [EVENTS, POLL]


def test_rejected_is_an_answer_and_counts_as_no() -> None:
    _, handle = asked(stream(told(over(answer={"verdict": "rejected"}, comment="too dear"))))
    answer = handle.wait()
    assert isinstance(answer, Rejected)
    assert (bool(answer), answer.comment) == (False, "too dear")


@pytest.mark.parametrize(
    ("ended", "kind"),
    [
        (over("expired", report="approve", by={"kind": "system"}), Expired),
        (over("failed", by={"kind": "system"}), Failed),
        (over("cancelled", reason="not needed"), Cancelled),
        (over("completed", answer=None), Erased),
        (over("vanished"), NoAnswer),
    ],
)
def test_no_answer_is_never_taken_for_one(ended: dict[str, Any], kind: type[NoAnswer]) -> None:
    ended["state"] = ended["state"] if ended["state"] != "vanished" else "failed"
    _, handle = asked(stream(told(ended)))
    with pytest.raises(kind) as caught:
        handle.wait()
    assert type(caught.value) is kind
    assert caught.value.ask is handle
    if isinstance(caught.value, Expired):
        assert caught.value.report == "approve"
    if isinstance(caught.value, Cancelled):
        assert caught.value.reason == "not needed"
        assert "by ada: not needed" in str(caught.value)


def test_an_unknown_verdict_is_no_yes() -> None:
    _, handle = asked(stream(told(over(answer={"verdict": "sort_of_approved"}))))
    with pytest.raises(ProtocolError, match="upgrade"):
        handle.wait()


def test_a_default_on_silence_shows_that_nobody_spoke() -> None:
    silent = over(answer={"verdict": "approved"}, by={"kind": "system"}, assurance="none")
    _, handle = asked(stream(told(silent)))
    answer = handle.wait()
    assert isinstance(answer, Defaulted)
    assert not answer
    assert answer.by == By("system")
    assert answer.assurance == "none"


def test_a_revoked_approval_is_none() -> None:
    revoked = {"at": "2026-11-16T00:00:00.000Z", "reason": "the session was stolen"}
    _, handle = asked(stream(told({**approved(), "revoked": revoked})))
    answer = handle.wait()
    assert isinstance(answer, Revoked)
    assert not answer
    assert answer.reason == "the session was stolen"
    at = datetime(2026, 11, 16, tzinfo=timezone.utc)
    assert handle.revoked == Revocation(at, "the session was stolen")


@pytest.mark.parametrize("more", [{}, {"revoked": None}])
def test_what_was_not_revoked_stands(more: dict[str, Any]) -> None:
    _, handle = asked(stream(told({**approved(), **more})))
    assert handle.wait()
    assert handle.revoked is None


@pytest.mark.anyio
async def test_the_same_with_await() -> None:
    wire = Wire(
        httpx.ConnectError("refused"),
        say(ask(), 201),
        stream(told(ask()), httpx.ReadError("reset")),
        problem(404, "not-found"),
        say(ask(2)),
        say(approved()),
    )
    async with wire.async_client() as client:
        handle = await client.approve("Refund?")
        answer = await handle.wait()
    assert isinstance(answer, Approved)
    assert wire.paths[2:] == [EVENTS, EVENTS, POLL, POLL]
    assert len({r.headers["idempotency-key"] for r in wire.requests[:2]}) == 1
