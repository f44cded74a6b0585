from __future__ import annotations

import itertools

import httpx
import pytest
from wire import Wire, approved, ask, frame, problem, say, stream

from countersign import ProtocolError, Unauthorized


def happened(event: str, position: int, version: int = 1) -> bytes:
    at = "2026-11-15T06:00:00.000Z"
    body = {"position": position, "event": event, "at": at, "version": version}
    return frame(event, {**body, "ask": ask(version)}, position)


READY = frame("ready", {}, 40)


def test_events_come_in_turn_and_go_on_where_they_broke_off() -> None:
    wire = Wire(
        stream(READY, happened("asked", 41), httpx.ReadError("reset")),
        httpx.ConnectError("refused"),
        problem(503, "unavailable"),
        stream(READY, happened("answered", 42), b""),
        stream(happened("commented", 43)),
    )
    events = list(itertools.islice(wire.client().events(), 3))
    assert [(e.name, e.position) for e in events] == [
        ("asked", "41"),
        ("answered", "42"),
        ("commented", "43"),
    ]
    resumed = [r.headers.get("last-event-id") for r in wire.requests]
    assert resumed == [None, "41", "41", "41", "42"]
    assert events[0].ask is not None
    assert events[0].ask.state == "pending"


def test_a_quiet_stream_resumes_from_where_it_was_ready() -> None:
    wire = Wire(stream(READY, b""), stream(happened("asked", 41)))
    next(wire.client().events())
    assert wire.requests[1].headers["last-event-id"] == "40"


def test_a_caller_resumes_where_they_want() -> None:
    wire = Wire(stream(happened("asked", 8)))
    next(wire.client().events(after=7))
    assert wire.requests[0].headers["last-event-id"] == "7"


def test_the_ask_of_an_event_is_a_handle() -> None:
    wire = Wire(stream(happened("asked", 1)), say(approved()))
    event = next(wire.client().events())
    assert event.ask is not None
    assert event.ask.refresh().state == "completed"


def test_too_far_behind_is_told() -> None:
    wire = Wire(stream(b"event: reset\ndata: {}\n\n"))
    event = next(wire.client().events(after=1))
    assert (event.name, event.ask) == ("reset", None)


def test_a_bad_key_and_no_stream_are_told() -> None:
    with pytest.raises(Unauthorized):
        next(Wire(problem(401, "unauthorized")).client().events())
    with pytest.raises(ProtocolError, match="proxy"):
        next(Wire(say({})).client().events())


def test_the_stream_is_closed_when_nobody_listens_any_more() -> None:
    answer = stream(happened("asked", 1), happened("asked", 2))
    events = Wire(answer).client().events()
    next(events)
    assert not answer.is_closed
    events.close()  # type: ignore[attr-defined]
    assert answer.is_closed


@pytest.mark.anyio
async def test_the_same_with_await() -> None:
    wire = Wire(stream(READY, happened("asked", 41), b""), stream(happened("answered", 42)))
    names = []
    async with wire.async_client() as client:
        async for event in client.events():
            names.append(event.name)
            if len(names) == 2:
                break
    assert names == ["asked", "answered"]


@pytest.mark.anyio
async def test_lists_with_await() -> None:
    wire = Wire(say({"asks": [ask()], "next": "c"}), say({"asks": [ask()], "next": None}))
    async with wire.async_client() as client:
        assert len([a async for a in client.asks()]) == 2
