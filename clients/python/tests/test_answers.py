from __future__ import annotations

import pytest

from countersign import (
    Abort,
    Answer,
    Approved,
    ChangesRequested,
    Chosen,
    Confirmed,
    Declined,
    Provided,
    Rejected,
    Replied,
    Retry,
    Skip,
)
from countersign.answers import parse_answer

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
