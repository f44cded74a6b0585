from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from countersign import (
    Abort,
    Answer,
    Approved,
    ChangesRequested,
    Chosen,
    Confirmed,
    Declined,
    Defaulted,
    Outcome,
    Provided,
    Rejected,
    Replied,
    Retry,
    Revocation,
    Revoked,
    Skip,
)
from countersign.answers import parse_answer, parse_outcome

TABLE = [
    (Approved(), {"verdict": "approved"}, True),
    (Approved(edits={"a": 1}), {"verdict": "approved", "edits": {"a": 1}}, True),
    (Rejected(), {"verdict": "rejected"}, False),
    (ChangesRequested(), {"verdict": "changes_requested"}, False),
    (Chosen(options=["a"]), {"verdict": "chosen", "options": ["a"]}, True),
    (Provided(values={"a": 1}), {"verdict": "provided", "values": {"a": 1}}, True),
    (Confirmed(items=[]), {"verdict": "confirmed", "items": []}, True),
    (Declined(), {"verdict": "declined"}, False),
    (Retry(params={"a": 1}), {"verdict": "retry", "params": {"a": 1}}, True),
    (Skip(), {"verdict": "skip"}, False),
    (Abort(), {"verdict": "abort"}, False),
    (Replied(text="hi"), {"verdict": "replied", "text": "hi"}, True),
]


@pytest.mark.parametrize(("answer", "wire", "goes_ahead"), TABLE)
def test_answers_to_and_from_the_wire(
    answer: Answer, wire: dict[str, object], goes_ahead: bool
) -> None:
    assert answer.reply() == {"answer": wire}
    assert parse_answer(wire) == answer
    assert bool(answer) is goes_ahead
    commented = parse_answer(wire, comment="so be it")
    assert commented.reply() == {"answer": wire, "comment": "so be it"}


def test_shortcuts() -> None:
    assert Chosen(options=["a"]).option == "a"
    with pytest.raises(ValueError, match="2 options"):
        _ = Chosen(options=["a", "b"]).option
    assert Provided(values={"a": 1})["a"] == 1


def test_unknown_members_of_known_answers_are_ignored() -> None:
    assert parse_answer({"verdict": "rejected", "mood": "bad"}) == Rejected()


HUMAN = {"kind": "human", "id": "ada"}
ASSURANCES = ["none", "agent-attested", "link", "channel", "session", "passkey", "unheard-of", None]


def outcome(by: Any = HUMAN, assurance: str | None = "session", **more: Any) -> Outcome:
    answer = {"verdict": "approved", "edits": {"a": 1}}
    return parse_outcome(answer, by=by, assurance=assurance, comment="fine", **more)


@pytest.mark.parametrize("assurance", ASSURANCES)
@pytest.mark.parametrize("by", [HUMAN, {"kind": "agent", "id": "bot"}, {"kind": "system"}, None])
def test_nothing_but_a_persons_approval_is_one(by: Any, assurance: str | None) -> None:
    made = outcome(by, assurance)
    is_personal = by is HUMAN and assurance in ("link", "channel", "session", "passkey")
    assert bool(made) is is_personal
    assert isinstance(made, Approved if is_personal else Defaulted)


def test_a_default_carries_the_answer_nobody_gave() -> None:
    made = outcome({"kind": "system"}, "none", via="timer")
    assert isinstance(made, Defaulted)
    assert isinstance(made.answer, Approved)
    assert made.answer.edits == {"a": 1}
    assert (made.verdict, made.comment, made.via) == ("defaulted", "fine", "timer")


def test_scripted_people_count_as_people() -> None:
    assert isinstance(outcome(via="script"), Approved)


@pytest.mark.parametrize("by", [HUMAN, {"kind": "system"}])
def test_what_was_revoked_says_why_and_is_no_approval(by: Any) -> None:
    at = datetime(2026, 11, 16, tzinfo=timezone.utc)
    made = outcome(by, revoked=Revocation(at, "the session was stolen"))
    assert isinstance(made, Revoked)
    assert not made
    assert isinstance(made.answer, Approved)
    assert (made.verdict, made.reason) == ("revoked", "the session was stolen")
