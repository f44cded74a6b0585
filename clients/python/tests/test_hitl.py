"""An agent before another service: polls, events, silence, nonsense."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import replace
from typing import Any

import httpx
import pytest
from other import BASE, PENDING, Other, accepted, case, completed
from wire import stream

from countersign.hitl import (
    Answered,
    BadSignature,
    Cancelled,
    Case,
    Completed,
    Ended,
    Expired,
    Malformed,
    NotInline,
    Refused,
    SubmittedBy,
    VerificationFailed,
    VerificationRequired,
    button,
    case_of,
    pressed,
    recognise,
    verify_callback,
)

EVENTS = {"events_url": f"{BASE}/events?token=poll"}


def event(name: str, position: str, **data: Any) -> bytes:
    said = json.dumps({"case_id": "review_1", **data})
    return f"id: {position}\nevent: review.{name}\ndata: {said}\n\n".encode()


def test_only_a_202_that_says_so_is_a_case() -> None:
    assert recognise(200, accepted()) is None
    assert recognise(202, {"status": "queued"}) is None
    assert recognise(202, {"status": "human_input_required"}) is None
    assert recognise(202, None) is None
    found = case_of(httpx.Response(202, json=accepted(), headers={"retry-after": "15"}))
    assert found is not None
    assert (found.retry_after, found.text) == (15.0, "Somebody has to look at this.")
    assert case(type="x-acme-compare").treated_as == "input"


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "guess"},
        {"poll_url": "http://jobs.example/status"},
        {"review_url": "javascript:alert(1)"},
        {"expires_at": "tomorrow"},
        {"case_id": 7},
        {"events_url": "ftp://jobs.example"},
        {"submit_url": f"{BASE}/submit"},
        {"reminder_at": [1]},
    ],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(Malformed):
        recognise(202, accepted(**wrong))


def test_tokens_are_not_printed() -> None:
    secret = case(submit_url=f"{BASE}/submit", submit_token="s" * 43)
    assert "token" not in repr(secret)
    assert "sss" not in repr(secret)


def test_a_service_that_only_polls_and_has_no_tags() -> None:
    other = Other(status=[PENDING, PENDING, completed()])
    outcome = other.follower().follow(case(), other.notify)
    assert isinstance(outcome, Completed)
    assert (outcome.action, outcome.data) == ("approve", {"feedback": "fine"})
    assert outcome.responded_by is not None
    assert outcome.responded_by.name == "Ada"
    assert other.times("status") == [30, 60, 105]
    assert other.notices == [(0, False)]
    assert other.told[0][1].review_url == f"{BASE}/review/1?token=review"


@pytest.mark.anyio
async def test_the_async_follower_does_the_same() -> None:
    other = Other(status=[PENDING, completed("reject")], events=[stream(event("opened", "1"))])

    async def notify(notice: Any) -> None:
        other.notify(notice)

    outcome = await other.async_follower().follow(case(), notify)
    assert isinstance(outcome, Completed)
    assert (outcome.action, other.times("status"), other.notices) == (
        "reject",
        [30, 60],
        [(0, False)],
    )


def test_tags_are_sent_back_and_pauses_are_kept() -> None:
    tag = {"etag": '"v1"'}
    unchanged = httpx.Response(304, headers=tag)
    other = Other(
        status=[
            httpx.Response(200, json=PENDING.json(), headers={**tag, "retry-after": "15"}),
            httpx.Response(304, headers={**tag, "retry-after": "60"}),
            unchanged,
            unchanged,
            completed(),
        ]
    )
    other.follower().follow(replace(case(), retry_after=20.0))
    tags = [request.headers.get("if-none-match") for request in other.asked("status")]
    assert tags == [None, '"v1"', '"v1"', '"v1"', '"v1"']
    assert other.times("status") == [20, 35, 95, 162.5, 263.75]


def test_whoever_says_too_many_is_left_alone() -> None:
    other = Other(
        status=[
            httpx.Response(429, headers={"retry-after": "600"}, json={"error": "rate_limited"}),
            httpx.Response(503),
            httpx.ConnectError("refused"),
            completed(),
        ]
    )
    assert isinstance(other.follower().follow(case()), Completed)
    assert other.times("status") == [30, 630, 640, 660]


def test_nonsense_is_put_up_with_for_a_while() -> None:
    other = Other(
        status=[
            httpx.Response(200, text="<html>"),
            httpx.Response(200, json={"case_id": "review_1"}),
            PENDING,
            httpx.Response(200, json={"status": "completed", "case_id": "review_1"}),
            completed(case_id="review_2"),
            httpx.Response(200, json=[]),
        ]
    )
    with pytest.raises(Malformed):
        other.follower().follow(case())
    assert len(other.requests) == 6


def test_what_stays_pending_for_ever_expires_by_the_clock() -> None:
    other = Other(status=[PENDING])
    reminders = ["2026-02-06T10:30:00Z", "2026-02-06T10:45:00Z"]
    outcome = other.follower().follow(case(reminder_at=reminders), other.notify)
    assert isinstance(outcome, Expired)
    assert (outcome.default_action, outcome.judged_by) == ("reject", "clock")
    assert other.notices == [(0, False), (1800, True), (2700, True)]
    assert 3600 in other.times("status")
    assert 3660 <= other.seconds < 3670


@pytest.mark.parametrize(
    ("said", "polls"),
    [
        (httpx.Response(500), None),
        (httpx.ConnectError("gone"), None),
        (httpx.Response(429, headers={"retry-after": "999999999"}), [30]),
    ],
)
def test_a_service_that_is_gone_expires_too(said: Any, polls: list[float] | None) -> None:
    other = Other(status=[said])
    outcome = other.follower().follow(case())
    assert isinstance(outcome, Expired)
    assert outcome.judged_by == "clock"
    assert polls is None or (other.times("status"), other.seconds) == (polls, 3900)


def test_the_service_judges_first_and_may_give_more_time() -> None:
    more = {"status": "opened", "case_id": "review_1", "expires_at": "2026-02-06T12:00:00Z"}
    over = {"status": "expired", "case_id": "review_1", "default_action": "abort"}
    other = Other(
        status=[
            httpx.Response(200, json=more, headers={"retry-after": "3590"}),
            httpx.Response(200, json=PENDING.json(), headers={"retry-after": "30"}),
            httpx.Response(200, json=over),
        ]
    )
    outcome = other.follower().follow(case())
    assert isinstance(outcome, Expired)
    assert (outcome.default_action, outcome.judged_by) == ("abort", "service")
    assert other.times("status") == [30, 3620, 3650]


def test_withdrawn_and_refused() -> None:
    body = {"status": "cancelled", "case_id": "review_1", "reason": "no need"}
    outcome = Other(status=[httpx.Response(200, json=body)]).follower().follow(case())
    assert outcome == Cancelled("no need")
    wrapped = {"detail": {"error": "not_found", "message": "no such case"}}
    other = Other(status=[httpx.Response(404, json=wrapped)])
    with pytest.raises(Refused, match=r"no such case \(HTTP 404 not_found\)"):
        other.follower().follow(case())


def test_a_credential_stays_at_home() -> None:
    other = Other(status=[completed()])
    for home in (f"{BASE}/api", "https://jobs.example", "http://127.0.0.1:10"):
        other.follower(authorization=(home, "Bearer key")).follow(case())
    sent = ["authorization" in request.headers for request in other.asked("status")]
    assert sent == [True, False, False]


def test_a_stream_that_breaks_off_goes_on_where_it_was() -> None:
    done = event("completed", "e2", result={"action": "approve", "data": {}})
    other = Other(
        status=[httpx.Response(500)],
        events=[
            lambda _: stream(b": hi\n\n", event("opened", "e1"), httpx.ReadError("reset")),
            httpx.Response(503),
            lambda _: stream(done),
        ],
    )
    outcome = other.follower().follow(case(**EVENTS))
    assert outcome == Completed("approve", {})
    asked = list(other.asked("events"))
    assert [r.headers.get("last-event-id") for r in asked] == [None, "e1", "e1"]
    assert {r.headers["accept"] for r in asked} == {"text/event-stream"}
    assert other.seconds < 30


def test_an_event_is_followed_by_one_look_that_says_who() -> None:
    done = event("completed", "e2", result={"action": "approve", "data": {}})
    other = Other(status=[completed()], events=[lambda _: stream(done)])
    outcome = other.follower().follow(case(**EVENTS))
    assert isinstance(outcome, Completed)
    assert outcome.responded_by is not None
    assert len(other.times("status")) == 1


@pytest.mark.parametrize(
    "refusal",
    [
        httpx.Response(404),
        httpx.Response(200, text="<html>"),
        httpx.Response(401),
        httpx.Response(204),
        httpx.Response(500),
        httpx.ConnectError("refused"),
        lambda _: stream(),
        lambda _: stream(b"data: {\n\nevent: review.completed\ndata: {}\n\n"),
    ],
)
def test_where_there_is_no_stream_polls_do(refusal: Any) -> None:
    other = Other(status=[completed()], events=[refusal])
    assert isinstance(other.follower().follow(case(**EVENTS)), Completed)
    assert other.seconds <= 62
    assert len(other.times("events")) <= 6


def test_a_stream_that_forgets_to_tell_is_caught_by_a_poll() -> None:
    def silent(request: httpx.Request) -> httpx.Response:
        def rest() -> None:
            other.now += request.extensions["timeout"]["read"]

        return stream(b": hi\n\n", rest, httpx.ReadTimeout("silence"))

    asked = httpx.Response(200, json=PENDING.json(), headers={"retry-after": "10"})
    other = Other(status=[asked, asked, completed()], events=[silent])
    assert isinstance(other.follower().follow(case(**EVENTS)), Completed)
    assert len(other.times("status")) == 3
    assert other.times("status")[0] == 30


def test_reminders_are_given_once() -> None:
    def said(_: httpx.Request) -> httpx.Response:
        told = event("reminder", "r1", reminder_at="2026-02-06T10:10:02Z", message="Still there?")
        return stream(told, httpx.ReadTimeout("silence"))

    other = Other(status=[PENDING] * 4 + [completed()], events=[said, httpx.Response(404)])
    reminded = case(**EVENTS, reminder_at="2026-02-06T10:10:00Z")
    other.follower().follow(reminded, other.notify)
    assert [is_reminder for _, is_reminder in other.notices] == [False, True]


def test_a_reminder_is_on_time_on_a_stream_that_is_open() -> None:
    """A read that began earlier must not outlast the moment, however seldom the service speaks."""

    def seldom(request: httpx.Request) -> httpx.Response:
        patience = request.extensions["timeout"]["read"]

        def rest() -> None:
            other.now += min(80, patience)

        word = b": hi\n\n" if patience > 80 else httpx.ReadTimeout("silence")
        return stream(b": hi\n\n", rest, word, rest, word)

    done = [PENDING] * 2 + [completed()]
    other = Other(status=done, events=[seldom])
    reminded = case(**EVENTS, reminder_at="2026-02-06T10:04:10Z")
    other.follower().follow(replace(reminded, retry_after=1000.0), other.notify)
    (_, first), (at, reminder) = other.notices
    assert (first, reminder) == (False, True)
    assert 250 <= at <= 255
    assert len([t for t in other.times("events") if t <= 255]) <= 9


def test_rounds_go_on_until_nobody_wants_an_edit() -> None:
    other = Other(
        status=[completed("edit", next_case_id="review_1"), completed()],
        drafts=[httpx.Response(202, json=accepted(), headers={"retry-after": "5"})],
    )
    follower, http = other.follower(), httpx.Client(transport=httpx.MockTransport(other.handle))

    def revise(body: dict[str, Any], edit: Completed) -> dict[str, Any]:
        assert (edit.data["feedback"], edit.next_case_id) == ("fine", "review_1")
        return {**body, "draft": "better"}

    def send(body: dict[str, Any]) -> httpx.Response:
        return http.post(f"{BASE}/drafts", json=body)

    ended = follower.rounds({"draft": "first"}, send, revise, other.notify)
    assert isinstance(ended, Ended)
    assert isinstance(ended.outcome, Completed)
    assert ended.outcome.action == "approve"
    sent = [json.loads(request.content) for request in other.asked("drafts")]
    assert sent == [{"draft": "first"}, {"draft": "better", "previous_case_id": "review_1"}]
    other.script["drafts"] = [httpx.Response(200, json={"id": 7})]
    assert follower.rounds({}, send, revise, other.notify) == Answered({"id": 7})


INLINE = {
    "submit_url": f"{BASE}/submit",
    "submit_token": "s" * 43,
    "inline_actions": ["approve"],
}
ADA = SubmittedBy("telegram", "42")


def test_what_was_pressed_is_passed_on_and_the_token_is_not() -> None:
    other = Other(
        submit=[
            httpx.Response(200, json={"status": "completed", "case_id": "review_1"}),
            httpx.Response(409, json={"error": "duplicate_submission", "message": "too late"}),
        ]
    )
    inline, follower = case(**INLINE), other.follower()
    text = button(inline, "approve")
    assert pressed(text) == ("review_1", "approve")
    assert "sss" not in text
    with pytest.raises(ValueError, match="exceeds 10 bytes"):
        button(inline, "approve", 10)
    done = follower.submit(inline, "approve", via="telegram_inline_button", by=ADA)
    assert done.case_id == "review_1"
    request = next(other.asked("submit"))
    assert request.headers["authorization"] == f"Bearer {'s' * 43}"
    assert json.loads(request.content) == {
        "action": "approve",
        "data": {},
        "submitted_via": "telegram_inline_button",
        "submitted_by": {"platform": "telegram", "platform_user_id": "42"},
    }
    with pytest.raises(Refused) as late:
        follower.submit(inline, "approve", via="x-signal", by=ADA)
    assert (late.value.status, late.value.code) == (409, "duplicate_submission")


@pytest.mark.parametrize(
    ("which", "action", "via", "error"),
    [
        (case(**INLINE), "reject", "x-signal", NotInline),
        (case(), "approve", "x-signal", NotInline),
        (case(**INLINE), "approve", "telegram", ValueError),
    ],
)
def test_what_cannot_be_passed_on_is_not_sent(
    which: Case, action: str, via: str, error: type[Exception]
) -> None:
    other = Other()
    with pytest.raises(error):
        other.follower().submit(which, action, via=via, by=ADA)
    assert other.requests == []


PROOF = {
    "proof_type": "proof_of_human",
    "provider": "acme",
    "format": "jwt",
    "presentation": {"odd": ["as", {"it": "came"}]},
    "binding": {"case_id": "review_1", "more": 1},
}


def test_proofs_are_passed_on_untouched_and_nothing_is_tried_again() -> None:
    page = f"{BASE}/review/1"
    required = {"error": "verification_required", "message": "prove it", "review_url": page}
    failed = {"error": "verification_failed", "message": "stale"}
    other = Other(
        submit=[
            httpx.Response(403, json=required),
            httpx.Response(403, json=failed),
            httpx.Response(200, json={"status": "completed", "case_id": "review_1"}),
        ]
    )
    inline, follower = case(**INLINE), other.follower()
    with pytest.raises(VerificationRequired) as missing:
        follower.submit(inline, "approve", via="x-signal", by=ADA)
    assert (missing.value.review_url, missing.value.is_passing) == (page, False)
    proven: dict[str, Any] = {"via": "x-signal", "by": ADA, "verification_evidence": [PROOF]}
    with pytest.raises(VerificationFailed) as bad:
        follower.submit(inline, "approve", **proven)
    assert (bad.value.code, bad.value.review_url) == ("verification_failed", None)
    follower.submit(inline, "approve", **proven)
    bodies = [json.loads(request.content) for request in other.asked("submit")]
    assert "verification_evidence" not in bodies[0]
    assert [body["verification_evidence"] for body in bodies[1:]] == [[PROOF], [PROOF]]
    assert len(bodies) == 3


def test_callbacks_are_read_only_if_they_are_signed() -> None:
    body = b'{"event":"review.completed","case_id":"review_1","result":{"action":"approve"}}'
    good = "sha256=" + hmac.new(b"secret", body, hashlib.sha256).hexdigest()
    told = verify_callback("secret", body, good)
    assert (told.case_id, told.outcome) == ("review_1", Completed("approve", {}))
    for wrong in (None, "", "sha256=", good.upper(), good[:-1], good + "0", good[7:]):
        with pytest.raises(BadSignature):
            verify_callback("secret", body, wrong)
    for secret, said in (("other", body), ("secret", body + b" ")):
        with pytest.raises(BadSignature):
            verify_callback(secret, said, good)
    for nothing in (b'{"event":"review.opened","case_id":"review_1"}', b"[]", b""):
        signed = "sha256=" + hmac.new(b"secret", nothing, hashlib.sha256).hexdigest()
        with pytest.raises(Malformed):
            verify_callback("secret", nothing, signed)
