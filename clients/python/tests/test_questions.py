"""What is sent for each kind of question."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any, Callable

import pytest
from wire import Wire, ask, say

from countersign import Approved, Countersign, Form, Rejected

Make = Callable[[Countersign], object]


def sent(make: Make) -> dict[str, Any]:
    wire = Wire(say(ask(), 201))
    make(wire.client())
    body: dict[str, Any] = json.loads(wire.requests[0].content)
    return body


@pytest.mark.parametrize(
    ("make", "question"),
    [
        (
            lambda c: c.approve("Refund €120?", details={"order": 4711}, editable=True),
            {
                "kind": "approve",
                "prompt": "Refund €120?",
                "details": {"order": 4711},
                "editable": True,
                "reject_requires_reason": False,
            },
        ),
        (
            lambda c: c.choose("Where?", ["Europe", "Asia"], suggested="Asia", context="launch"),
            {
                "kind": "choose",
                "prompt": "Where?",
                "context": "launch",
                "options": [{"id": "Europe", "label": "Europe"}, {"id": "Asia", "label": "Asia"}],
                "pick": "one",
                "suggested": "Asia",
            },
        ),
        (
            lambda c: c.choose("Where?", {"eu": "Europe", "as": "Asia"}, pick="many"),
            {
                "kind": "choose",
                "prompt": "Where?",
                "options": [{"id": "eu", "label": "Europe"}, {"id": "as", "label": "Asia"}],
                "pick": "many",
            },
        ),
        (
            lambda c: c.provide("Who?", Form().text("name")),
            {
                "kind": "provide",
                "prompt": "Who?",
                "form": {"fields": [{"key": "name", "label": "Name", "type": "text"}]},
            },
        ),
        (
            lambda c: c.confirm("Delete?", [{"id": "a", "label": "a.txt", "description": "1 MB"}]),
            {
                "kind": "confirm",
                "prompt": "Delete?",
                "items": [{"id": "a", "label": "a.txt", "description": "1 MB"}],
                "yes": "Go ahead",
                "no": "Stop",
            },
        ),
        (
            lambda c: c.escalate("Failed", error=ValueError("no such host"), params={"try": 1}),
            {
                "kind": "escalate",
                "prompt": "Failed",
                "error": {"type": "ValueError", "message": "no such host"},
                "params": {"try": 1},
            },
        ),
        (lambda c: c.converse("Hello"), {"kind": "converse", "prompt": "Hello"}),
        (
            lambda c: c.ask({"kind": "converse", "prompt": "Hello"}),
            {"kind": "converse", "prompt": "Hello"},
        ),
    ],
)
def test_questions(make: Make, question: dict[str, Any]) -> None:
    assert sent(make) == {"question": question}


NOON = datetime(2026, 11, 15, 12, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"priority": "high"}, {"priority": "high"}),
        ({"route": "delegate"}, {"route": {"to": "delegate"}}),
        (
            {"route": {"to": "person", "human": "ada"}},
            {"route": {"to": "person", "human": "ada"}},
        ),
        # Whoever names a timeout expects an end, which is not the server's default.
        ({"timeout": 600}, {"timeout_seconds": 600, "on_expiry": {"report": "abort"}}),
        ({"timeout": 0.5}, {"timeout_seconds": 1, "on_expiry": {"report": "abort"}}),
        (
            {"timeout": timedelta(minutes=2), "on_expiry": "stay_open"},
            {"timeout_seconds": 120, "on_expiry": "stay_open"},
        ),
        (
            {"timeout": 1, "on_expiry": Rejected(comment="nobody there")},
            {
                "timeout_seconds": 1,
                "on_expiry": {
                    "answer": {"answer": {"verdict": "rejected"}, "comment": "nobody there"}
                },
            },
        ),
        (
            {"timeout": 1, "on_expiry": Approved()},
            {"timeout_seconds": 1, "on_expiry": {"answer": {"answer": {"verdict": "approved"}}}},
        ),
        ({"tags": ("a", "b"), "metadata": {"k": 1}}, {"tags": ["a", "b"], "metadata": {"k": 1}}),
        ({"reminders": [NOON]}, {"reminders": ["2026-11-15T10:00:00.000Z"]}),
        ({"follows": "ask_1"}, {"follows": "ask_1"}),
        ({"callback_url": "https://a.example/x"}, {"callback_url": "https://a.example/x"}),
    ],
)
def test_options(options: dict[str, Any], expected: dict[str, Any]) -> None:
    body = sent(lambda c: c.converse("Hello", **options))
    del body["question"]
    assert body == expected


@pytest.mark.parametrize("timeout", [0, -1, float("inf"), float("nan"), timedelta(0)])
def test_a_timeout_of_nothing_is_no_timeout(timeout: Any) -> None:
    with pytest.raises(ValueError, match="timeout"):
        sent(lambda c: c.converse("Hello", timeout=timeout))


def test_misspelt_options_are_not_dropped() -> None:
    wrong: dict[str, Any] = {"prioritty": "high"}
    with pytest.raises(TypeError, match=r"prioritty.*priority"):
        sent(lambda c: c.converse("Hello", **wrong))
    with pytest.raises(TypeError, match=r"requird.*required"):
        Form().text("a", requird=True)  # type: ignore[call-arg]


def test_times_need_their_zone() -> None:
    with pytest.raises(ValueError, match="zone"):
        sent(lambda c: c.converse("Hello", reminders=[datetime(2026, 1, 1)]))


def test_no_number_is_no_json() -> None:
    with pytest.raises(ValueError, match="JSON"):
        sent(lambda c: c.approve("Refund?", details={"amount": float("nan")}))


def test_every_field_of_a_form() -> None:
    form = (
        Form()
        .text("a", required=True, min_length=1, max_length=9, pattern="x+", placeholder="p")
        .textarea("b", hint="h", max_length=3)
        .email("c", default="a@b.c")
        .url("d")
        .number("e_f", min=0, max=1.5)
        .range("g", min=1, max=5)
        .date("h", min="2026-01-01")
        .boolean("i", show_if=("g", "gt", 3))
        .select("j", {"x": "X"})
        .multiselect("k", ["y"])
        .file("m")
        .text("n", sensitive=True, label="The secret")
    )
    limits = {"minLength": 1, "maxLength": 9, "pattern": "x+"}
    assert form.to_dict()["fields"] == [
        {
            "key": "a",
            "label": "A",
            "type": "text",
            "required": True,
            "placeholder": "p",
            "validation": limits,
        },
        {
            "key": "b",
            "label": "B",
            "type": "textarea",
            "hint": "h",
            "validation": {"maxLength": 3},
        },
        {"key": "c", "label": "C", "type": "email", "default": "a@b.c"},
        {"key": "d", "label": "D", "type": "url"},
        {"key": "e_f", "label": "E f", "type": "number", "validation": {"min": 0, "max": 1.5}},
        {"key": "g", "label": "G", "type": "range", "validation": {"min": 1, "max": 5}},
        {"key": "h", "label": "H", "type": "date", "validation": {"min": "2026-01-01"}},
        {
            "key": "i",
            "label": "I",
            "type": "boolean",
            "conditional": {"field": "g", "operator": "gt", "value": 3},
        },
        {"key": "j", "label": "J", "type": "select", "options": [{"value": "x", "label": "X"}]},
        {
            "key": "k",
            "label": "K",
            "type": "multiselect",
            "options": [{"value": "y", "label": "y"}],
        },
        {"key": "m", "label": "M", "type": "file"},
        {"key": "n", "label": "The secret", "type": "text", "sensitive": True},
    ]


def test_a_form_in_steps() -> None:
    form = Form().step("One").text("a").step("Two", description="more").text("b")
    titles = [(s["title"], [f["key"] for f in s["fields"]]) for s in form.to_dict()["steps"]]
    assert titles == [("One", ["a"]), ("Two", ["b"])]
    with pytest.raises(ValueError, match="before the first field"):
        Form().text("a").step("late")
    with pytest.raises(ValueError, match="at least one field"):
        Form().to_dict()


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda c: c.approve("Refund?", details="x"), "details"),
        (lambda c: c.approve("Refund?", details=""), "details"),
        (lambda c: c.approve("Refund?", details=[1]), "details"),
        (lambda c: c.escalate("It broke", error="x"), "error"),
        (lambda c: c.escalate("It broke", params="x"), "params"),
        (lambda c: c.provide("Who?", "name"), "form"),
    ],
)
def test_what_is_no_mapping_is_refused_by_name(make: Make, name: str) -> None:
    with pytest.raises(TypeError, match=rf"^{name} must be a mapping, such as .*, not (str|list)$"):
        make(Wire().client())


def test_empty_members_are_left_out() -> None:
    assert "details" not in sent(lambda c: c.approve("Refund?", details={}))["question"]
    body = sent(lambda c: c.escalate("It broke", error={}, params={}))
    assert body["question"] == {"kind": "escalate", "prompt": "It broke"}


@pytest.mark.parametrize("on_expiry", ["fail", {"report": "abort"}, Rejected()])
def test_on_expiry_without_a_timeout_names_the_timeout(on_expiry: Any) -> None:
    with pytest.raises(ValueError, match="pass timeout as well"):
        sent(lambda client: client.approve("Go?", on_expiry=on_expiry))
    assert (
        sent(lambda client: client.approve("Go?", on_expiry="stay_open"))["on_expiry"]
        == "stay_open"
    )
