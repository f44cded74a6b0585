"""Retries, idempotency keys, errors: what happens between the client and the wire."""

from __future__ import annotations

import email.utils
import json
import time
from typing import Any, Callable

import httpx
import pytest
from wire import ASK_ID, Wire, ask, over, problem, say

from countersign import (
    ApiError,
    Ask,
    Conflict,
    ConnectionFailed,
    Countersign,
    CountersignError,
    Forbidden,
    InvalidRequest,
    NotFound,
    ProtocolError,
    RateLimited,
    ServerError,
    Unauthorized,
)

TRANSIENT = [
    httpx.ConnectError("refused"),
    httpx.ReadTimeout("slow"),
    httpx.RemoteProtocolError("gone"),
    problem(429, "rate-limited"),
    problem(502, "bad-gateway"),
    problem(503, "unavailable"),
    problem(504, "gateway-timeout"),
]


@pytest.mark.parametrize("failure", TRANSIENT, ids=repr)
def test_a_create_is_tried_again_as_the_same_ask(failure: Any) -> None:
    wire = Wire(failure, failure, say(ask(), 201))
    assert wire.client().approve("Refund?").id == ASK_ID
    keys = {r.headers["idempotency-key"] for r in wire.requests}
    bodies = {r.content for r in wire.requests}
    assert (len(wire.requests), len(keys), len(bodies)) == (3, 1, 1)
    assert wire.slept == [0.25, 0.5]


def test_every_create_has_a_key_of_its_own_unless_one_is_given() -> None:
    wire = Wire(*(say(ask(), 201) for _ in range(3)))
    client = wire.client()
    client.approve("a")
    client.approve("a")
    client.approve("a", idempotency_key="mine")
    keys = [r.headers["idempotency-key"] for r in wire.requests]
    assert len(set(keys)) == 3
    assert keys[2] == "mine"


def test_the_pause_grows_and_is_bounded_and_jittered() -> None:
    core = Wire().client()._core
    assert [core.pause(n) for n in (0, 1, 2, 3, 50)] == [0.25, 0.5, 1.0, 2.0, 15.0]
    object.__setattr__(core, "chance", lambda: 0.0)
    assert core.pause(3) == 1.0


def test_retry_after_is_kept_to() -> None:
    date = email.utils.formatdate(time.time() + 20, usegmt=True)
    wire = Wire(
        problem(429, "rate-limited", headers={"retry-after": "7"}),
        problem(503, "unavailable", headers={"retry-after": date}),
        problem(503, "unavailable", headers={"retry-after": "999999"}),
        problem(503, "unavailable", headers={"retry-after": "soon"}),
        say(ask(), 201),
    )
    wire.client().approve("Refund?")
    assert wire.slept[0] == 7
    assert 17 < wire.slept[1] <= 20
    assert wire.slept[2:] == [60, 2.0]


def test_giving_up_says_where_and_what_to_do() -> None:
    wire = Wire(*(httpx.ConnectError("refused") for _ in range(3)))
    with pytest.raises(ConnectionFailed, match=r"http://cs\.test: refused.*countersign serve"):
        wire.client(max_retries=2).approve("Refund?")
    assert len(wire.requests) == 3


Act = Callable[[Ask[Any]], object]
ACTS: list[Act] = [lambda a: a.cancel("no"), lambda a: a.comment("hi"), lambda a: a.extend(60)]


@pytest.mark.parametrize("act", ACTS)
def test_what_may_have_happened_is_not_done_twice(act: Act) -> None:
    for failure in (httpx.ReadTimeout("slow"), problem(502, "bad-gateway")):
        wire = Wire(say(ask(), 201), failure)
        handle = wire.client().approve("Refund?")
        with pytest.raises(CountersignError):
            act(handle)
        assert len(wire.requests) == 2


@pytest.mark.parametrize("act", ACTS)
def test_what_cannot_have_happened_is_tried_again(act: Act) -> None:
    for failure in (httpx.ConnectError("refused"), problem(503, "unavailable")):
        wire = Wire(say(ask(), 201), failure, say(ask(2)))
        handle = wire.client().approve("Refund?")
        act(handle)
        assert handle.version == 2


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, InvalidRequest),
        (401, Unauthorized),
        (403, Forbidden),
        (404, NotFound),
        (409, Conflict),
        (410, Conflict),
        (412, Conflict),
        (413, InvalidRequest),
        (418, ApiError),
        (422, InvalidRequest),
        (500, ServerError),
    ],
)
def test_every_status_has_its_class_and_is_not_tried_again(
    status: int, kind: type[ApiError]
) -> None:
    wire = Wire(problem(status, "some-code", detail="so it is"))
    with pytest.raises(kind) as caught:
        wire.client().approve("Refund?")
    assert type(caught.value) is kind
    assert len(wire.requests) == 1


def test_the_fields_of_a_problem_are_kept() -> None:
    errors = [{"field": "prompt", "expected": "a non-empty string", "code": "empty"}]
    wire = Wire(problem(422, "invalid-field", detail="not like this", errors=errors))
    with pytest.raises(InvalidRequest) as caught:
        wire.client().approve("")
    error = caught.value
    assert (error.status, error.code, error.detail) == (422, "invalid-field", "not like this")
    assert (error.errors[0].field, error.errors[0].expected) == ("prompt", "a non-empty string")
    assert error.request_id == "req-7"
    assert str(error) == (
        "not like this [prompt: a non-empty string] (HTTP 422 invalid-field, request req-7)"
        ". See http://cs.test/errors/invalid-field"
    )


def test_what_the_server_says_of_a_field_is_said_once() -> None:
    errors = [{"field": "question", "expected": "prompt: expected a non-empty text"}]
    detail = "question: prompt: expected a non-empty text"
    with pytest.raises(InvalidRequest) as caught:
        Wire(problem(422, "invalid-field", detail=detail, errors=errors)).client().approve("")
    assert str(caught.value).startswith(f"{detail} (HTTP 422 invalid-field")


def test_a_bad_key_says_what_to_check() -> None:
    with pytest.raises(Unauthorized, match="Check COUNTERSIGN_API_KEY"):
        Wire(problem(401, "unauthorized", detail="unknown")).client().approve("Refund?")


def test_rate_limits_are_raised_in_the_end() -> None:
    limited = problem(429, "rate-limited", headers={"retry-after": "1"})
    with pytest.raises(RateLimited) as caught:
        Wire(limited, limited).client(max_retries=1).approve("Refund?")
    assert caught.value.retry_after == 1


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, text="<html>hello</html>"),
        say([1]),
        say({"id": "x"}),
        say({"id": "x", "version": "1", "state": "pending"}),
    ],
)
def test_another_kind_of_server_is_noticed(answer: httpx.Response) -> None:
    with pytest.raises(ProtocolError, match="COUNTERSIGN_URL"):
        Wire(answer).client().approve("Refund?")


def test_a_proxy_without_words_still_makes_an_error() -> None:
    page = httpx.Response(500, text="<html>oops</html>")
    with pytest.raises(ServerError, match="HTTP 500 unknown"):
        Wire(page).client().approve("Refund?")
    moved = httpx.Response(301, headers={"location": "https://cs.test/"})
    with pytest.raises(ApiError, match=r"redirects to https://cs\.test/"):
        Wire(moved).client().approve("Refund?")


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(404, text="<html>nothing here</html>"),
        say({"detail": "Not Found"}, 404),
        say({"type": "about:blank", "title": "Not Found"}, 404),
    ],
)
def test_a_404_of_somebody_else_says_that_the_address_is_wrong(answer: httpx.Response) -> None:
    said = r"^no Countersign API at http://cs\.test/api/v1/asks; check COUNTERSIGN_URL \("
    with pytest.raises(NotFound, match=said):
        Wire(answer).client().approve("Refund?")


def test_a_404_of_ours_is_about_the_ask() -> None:
    with pytest.raises(NotFound, match="there is no such ask") as caught:
        Wire(problem(404, "not-found", detail="there is no such ask")).client().fetch(ASK_ID)
    assert caught.value.code == "not-found"


def test_a_list_is_followed_to_its_end() -> None:
    wire = Wire(
        say({"asks": [ask(), ask()], "next": "c1"}),
        say({"asks": [ask()], "next": None}),
    )
    asks = list(wire.client().asks(state=["open", "completed"], kind="approve", priority="high"))
    assert len(asks) == 3
    assert dict(wire.requests[1].url.params.multi_items())["cursor"] == "c1"
    assert wire.requests[0].url.params.get_list("state") == ["open", "completed"]


def test_ids_cannot_leave_their_place_in_the_address() -> None:
    wire = Wire(problem(404, "not-found"))
    with pytest.raises(NotFound):
        wire.client().fetch("../keys?x=1")
    assert wire.requests[0].url.raw_path == b"/api/v1/asks/..%2Fkeys%3Fx%3D1"


def test_what_is_done_to_an_ask_is_sent_and_kept() -> None:
    wire = Wire(
        say(ask(), 201),
        say(ask(2)),
        say({"comments": [{"by": {"kind": "human", "id": "ada"}, "at": AT, "text": "why?"}]}),
        say(ask(3, expires_at=AT)),
        say(over("cancelled", 4, reason="done")),
    )
    handle = wire.client().approve("Refund?")
    assert handle.comment("see order 4711").version == 2
    assert [c.text for c in handle.comments()] == ["why?"]
    assert handle.extend(60).expires_at is not None
    assert handle.cancel("done").is_over
    assert wire.paths == [
        "POST /api/v1/asks",
        f"POST /api/v1/asks/{ASK_ID}/comments",
        f"GET /api/v1/asks/{ASK_ID}/comments",
        f"POST /api/v1/asks/{ASK_ID}/extend",
        f"POST /api/v1/asks/{ASK_ID}/cancel",
    ]
    assert json.loads(wire.requests[4].content) == {"reason": "done"}
    assert json.loads(wire.requests[3].content)["until"].endswith("Z")


AT = "2026-11-15T06:01:00.000Z"


def test_a_client_of_ones_own_is_left_open() -> None:
    http = httpx.Client()
    with Countersign("http://cs.test", "key", http_client=http):
        pass
    assert not http.is_closed
    http.close()
