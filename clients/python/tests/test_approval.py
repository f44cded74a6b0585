from __future__ import annotations

import inspect
import json
from datetime import date
from typing import Any

import httpx
import pytest
from wire import Wire, approved, over, say

from countersign import (
    Approved,
    Cancelled,
    Countersign,
    Denied,
    Expired,
    human_as_tool,
    require_approval,
)


def answered(*answers: dict[str, Any]) -> tuple[Wire, Countersign]:
    """A client whose asks are over at once, in turn like this."""
    wire = Wire(*(say(answer, 201) for answer in answers))
    return wire, wire.client()


def question(wire: Wire, n: int = 0) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(wire.requests[n].content)["question"]
    return body


def edited(edits: dict[str, Any]) -> dict[str, Any]:
    return approved(edits=edits)


def approved_by(by: Any) -> dict[str, Any]:
    return over(answer={"verdict": "approved"}, by=by, assurance="none")


DEFAULTED = "there was no answer in time; the default was taken, which is not a person's approval"
REJECTED = over(answer={"verdict": "rejected"}, comment="too dear")


def test_the_person_sees_name_doc_and_arguments() -> None:
    wire, client = answered(approved())

    @require_approval(client=client, priority="high")
    def refund(order: int, amount: float = 120.0, *, note: str | None = None) -> str:
        """Pay money back.

        It cannot be undone.
        """
        return f"{order} {amount} {note}"

    assert refund(4711) == "4711 120.0 None"
    assert question(wire) == {
        "kind": "approve",
        "prompt": "Run refund?",
        "context": "Pay money back.\n\nIt cannot be undone.",
        "details": {"order": 4711, "amount": 120.0, "note": None},
        "editable": False,
        "reject_requires_reason": False,
    }
    assert json.loads(wire.requests[0].content)["priority"] == "high"
    assert refund.__name__ == "refund"
    assert list(inspect.signature(refund).parameters) == ["order", "amount", "note"]


@pytest.mark.parametrize(
    ("ended", "error", "text", "reason"),
    [
        (REJECTED, Denied, "pay was not run: a person rejected it: too dear", "too dear"),
        (
            over(answer={"verdict": "rejected"}),
            Denied,
            "pay was not run: a person rejected it, without a reason",
            None,
        ),
        (
            over(answer={"verdict": "changes_requested"}, comment="smaller"),
            Denied,
            "pay was not run: a person asked for changes: smaller",
            "smaller",
        ),
        (over("expired", report="approve"), Expired, "in time", None),
        (over("cancelled", reason="stop"), Cancelled, "was cancelled by ada: stop", "stop"),
        # Nobody approved: silence, an agent, or somebody nobody knows.
        (approved_by({"kind": "system"}), Denied, f"pay was not run: {DEFAULTED}", DEFAULTED),
        (approved_by({"kind": "agent", "id": "bot"}), Denied, DEFAULTED, DEFAULTED),
        (approved_by(None), Denied, DEFAULTED, DEFAULTED),
        # Somebody did, and it was called back.
        (
            {**approved(), "revoked": {"at": "2026-11-16T00:00:00.000Z", "reason": "stolen"}},
            Denied,
            "pay was not run: the answer was revoked: stolen",
            "stolen",
        ),
        (
            {**approved(), "revoked": {"at": "2026-11-16T00:00:00.000Z", "reason": None}},
            Denied,
            "pay was not run: the answer was revoked",
            None,
        ),
    ],
)
def test_without_a_yes_it_does_not_run(
    ended: dict[str, Any], error: type[Exception], text: str, reason: Any
) -> None:
    _, client = answered(ended, ended)
    ran = []

    def pay() -> str:
        ran.append(1)
        return "paid"

    with pytest.raises(error) as caught:
        require_approval(client=client)(pay)()
    assert text in str(caught.value)
    assert getattr(caught.value, "reason") == reason  # noqa: B009
    said = require_approval(client=client, on_denied="return")(pay)()
    assert said.startswith("pay was not run: ")
    assert text in said
    assert ran == []


def test_edits_are_run_with_where_they_were_declared() -> None:
    _, client = answered(edited({"to": "ada", "amount": 100, "tags": ["a"]}))

    @require_approval(client=client, editable=True)
    def pay(to: str, amount: float, tags: tuple[str, ...] = ()) -> tuple[Any, ...]:
        return to, amount, tags

    assert pay("ada", 120.5) == ("ada", 100, ("a",))


@pytest.mark.parametrize(
    ("editable", "edits", "why"),
    [
        (False, {"to": "ada", "amount": 1, "on": "2026-01-01", "force": False}, "takes none"),
        (True, {"to": "ada"}, "check amount, force, on"),
        (
            True,
            {"to": "ada", "amount": 1, "on": "2026-01-01", "force": False, "x": 1},
            "check x",
        ),
        (
            True,
            {"to": "ada", "amount": "all", "on": "2026-01-01", "force": False},
            "amount cannot become 'all'",
        ),
        (
            True,
            {"to": "ada", "amount": True, "on": "2026-01-01", "force": False},
            "amount cannot become True",
        ),
        (
            True,
            {"to": "ada", "amount": 1, "on": "2026-01-01", "force": 0},
            "force cannot become 0",
        ),
        (
            True,
            {"to": ["ada"], "amount": 1, "on": "2026-01-01", "force": False},
            r"to cannot become \['ada'\]",
        ),
        # A date was shown as text; there is no way back from the text.
        (True, {"to": "ada", "amount": 1, "on": "2027-01-01", "force": False}, "on cannot become"),
    ],
)
def test_edits_it_cannot_take_are_not_run(editable: bool, edits: dict[str, Any], why: str) -> None:
    _, client = answered(edited(edits))

    @require_approval(client=client, editable=editable)
    def pay(to: str, amount: int, on: date, force: bool = False) -> None:
        raise AssertionError("must not run")

    with pytest.raises(Denied, match=why):
        pay("ada", 120, date(2026, 1, 1))


def test_what_was_not_edited_stays_the_same_object() -> None:
    today = date(2026, 1, 1)
    _, client = answered(edited({"on": "2026-01-01", "amount": 5}))

    @require_approval(client=client, editable=True)
    def pay(on: date, amount: int) -> tuple[date, int]:
        return on, amount

    assert pay(today, 6) == (today, 5)


def test_hidden_arguments_and_objects_are_not_shown() -> None:
    wire, client = answered(approved(), edited({"order": 2}))

    class Shop:
        @require_approval(client=client, hide=["password"], prompt="Refund order {order}?")
        def refund(self, order: int, password: str) -> tuple[int, str]:
            return order, password

        @require_approval(client=client, hide=["password"], editable=True)
        def take(self, order: int, password: str) -> tuple[int, str]:
            return order, password

    assert Shop().refund(1, "secret") == (1, "secret")
    assert (question(wire)["prompt"], question(wire)["details"]) == (
        "Refund order 1?",
        {"order": 1},
    )
    assert b"secret" not in wire.requests[0].content
    assert Shop().take(1, "secret") == (2, "secret")


def test_words_of_the_caller_are_not_read_as_a_template() -> None:
    wire, client = answered(approved())
    require_approval(client=client, prompt="Say {text}?")(lambda text: text)("{text.__class__}")
    assert question(wire)["prompt"] == "Say {text.__class__}?"


def test_odd_arguments_are_shown_as_text() -> None:
    wire, client = answered(approved())

    @require_approval(client=client)
    def f(*args: Any, **kwargs: Any) -> Any:
        return args, kwargs

    assert f(float("inf"), {1: (2,)}, x=date(2026, 1, 1)) == (
        (float("inf"), {1: (2,)}),
        {"x": date(2026, 1, 1)},
    )
    assert question(wire)["details"] == {
        "args": ["Infinity", {"1": [2]}],
        "kwargs": {"x": "2026-01-01"},
    }


def test_wrong_arguments_bother_nobody() -> None:
    wire, client = answered()
    with pytest.raises(TypeError):
        require_approval(client=client)(lambda a: a)()  # type: ignore[call-arg]
    assert wire.requests == []


@pytest.mark.parametrize(
    "on_expiry",
    [
        Approved(),
        {"answer": {"answer": {"verdict": "approved"}}},
        {"report": "approve"},
    ],
)
def test_silence_cannot_be_made_an_approval(on_expiry: Any) -> None:
    with pytest.raises(ValueError, match="on_expiry would approve"):
        require_approval(timeout=1, on_expiry=on_expiry)


def test_bare_it_reads_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    @require_approval
    def pay(amount: int) -> int:
        return amount

    with pytest.raises(Exception, match="COUNTERSIGN_API_KEY"):
        pay(1)
    wire, client = answered(approved())
    monkeypatch.setenv("COUNTERSIGN_API_KEY", "from-env")
    monkeypatch.setattr(httpx, "Client", lambda: client._runner.http)
    assert pay(2) == 2
    assert question(wire)["details"] == {"amount": 2}
    assert wire.requests[0].headers["authorization"] == "Bearer from-env"
    assert client._runner.http.is_closed


@pytest.mark.anyio
async def test_coroutine_functions() -> None:
    wire = Wire(say(approved(), 201), say(REJECTED, 201), say(REJECTED, 201))
    async with wire.async_client() as client:

        @require_approval(client=client)
        async def pay(amount: int) -> int:
            """Pays."""
            return amount

        assert inspect.iscoroutinefunction(pay)
        assert await pay(7) == 7
        assert question(wire)["details"] == {"amount": 7}
        with pytest.raises(Denied, match="too dear"):
            await pay(7)

        @require_approval(client=client, on_denied="return")
        async def tell() -> int:
            return 1

        assert await tell() == "tell was not run: a person rejected it: too dear"


def test_a_client_of_the_wrong_kind_is_refused_at_once() -> None:
    async def coroutine() -> None: ...

    async def generator() -> Any:
        yield 1

    wire = Wire()
    with pytest.raises(TypeError, match="AsyncCountersign"):
        require_approval(client=wire.client())(coroutine)
    with pytest.raises(TypeError, match="not async"):
        require_approval(client=wire.async_client())(lambda: None)
    with pytest.raises(TypeError):
        require_approval(generator)


@pytest.fixture
def replies() -> list[dict[str, Any]]:
    return [
        over(answer={"verdict": "replied", "text": "Blue."}),
        over(answer={"verdict": "changes_requested"}, comment="Ask properly."),
        over("expired", report="abort"),
        over(answer={"verdict": "replied", "text": "Red."}, by={"kind": "system"}),
        {
            **over(answer={"verdict": "replied", "text": "Blue."}),
            "revoked": {"at": "2026-11-16T00:00:00.000Z", "reason": "stolen"},
        },
    ]


SAID = [
    "Blue.",
    "Ask properly.",
    "No answer: there was no answer",
    "No answer: there was no answer in time. The default is: Red.",
    "No answer: the person's answer was revoked: stolen",
]


def test_a_person_as_a_tool(replies: list[dict[str, Any]]) -> None:
    wire, client = answered(*replies)
    tool = human_as_tool(client, name="ask_ada", tags=["tool"])
    for n, said in enumerate(SAID):
        assert tool("Which colour?").startswith(said)
        assert question(wire, n) == {"kind": "converse", "prompt": "Which colour?"}
    assert json.loads(wire.requests[0].content)["tags"] == ["tool"]
    assert (tool.__name__, inspect.signature(tool).parameters["question"].annotation) == (
        "ask_ada",
        str,
    )
    assert (tool.__doc__ or "").startswith("Ask a person, and wait")


@pytest.mark.anyio
async def test_a_person_as_an_async_tool(replies: list[dict[str, Any]]) -> None:
    wire = Wire(*(say(reply, 201) for reply in replies))
    async with wire.async_client() as client:
        tool = human_as_tool(client, description="Ask Ada.")
        assert inspect.iscoroutinefunction(tool)
        for said in SAID:
            assert (await tool("Which colour?")).startswith(said)
        assert tool.__doc__ == "Ask Ada."
