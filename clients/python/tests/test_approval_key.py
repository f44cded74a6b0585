"""Calls that keep their name over a restart, and what of a call a person sees."""

from __future__ import annotations

import dataclasses
import json
import sys
import types
from datetime import date, datetime, timezone
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Callable, Optional

import httpx
import pytest
from wire import Wire, approved, ask, over, problem, say

from countersign import (
    Conflict,
    Countersign,
    Denied,
    KeyReused,
    ToolCall,
    _approval_key,
    require_approval,
)
from countersign._times import parse_time

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "approvals.json").read_text("utf-8"))
CALL_ID = "call_Zx81kQwPq0"


def wired(*answers: dict[str, Any]) -> tuple[Wire, Countersign]:
    wire = Wire(*(say(answer, 201) for answer in answers))
    return wire, wire.client()


def key_of(wire: Wire, n: int = 0) -> str:
    return str(wire.requests[n].headers["idempotency-key"])


def details_of(wire: Wire, n: int = 0) -> Any:
    return json.loads(wire.requests[n].content)["question"].get("details", {})


def decoded(value: Any) -> Any:
    """A value of the vectors as Python has it."""
    if isinstance(value, list):
        return [decoded(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "$type" not in value:
        return {key: decoded(item) for key, item in value.items()}
    of = value["of"]
    makers: dict[str, Callable[[], Any]] = {
        "moment": lambda: parse_time(of),
        "number": lambda: float(of),
        "integer": lambda: int(of),
        "bytes": lambda: bytes(of),
        "set": lambda: set(of),
        "map": lambda: dict(map(tuple, of)),
        "function": lambda: types.FunctionType((lambda: None).__code__, {}, of),
        "object": lambda: type(of, (), {})(),
        "printed": lambda: type("Printed", (), {"__str__": lambda self: of})(),
    }
    return makers[value["$type"]]()


def taking(names: list[str]) -> Callable[..., Any]:
    """A function with these parameters that gives what it was called with."""
    pairs = ", ".join(f"{name!r}: {name}" for name in names)
    function: Callable[..., Any] = eval(f"lambda {', '.join(names)}: {{{pairs}}}")
    return function


def everything(*args: Any) -> tuple[Any, ...]:
    return args


def called(case: dict[str, Any], wire: Wire, **options: Any) -> list[Any]:
    """Makes the call of a case, in every way that stands for it; gives what the function got."""
    guard: Any = require_approval(client=wire.client(), hide=case.get("hide", ()), **options)
    if "input" in case:
        given = decoded(case["input"])
        return [guard(taking(list(given)))(**given), guard(lambda given: given)(given)]
    arguments = decoded(case["arguments"])
    if "parameters" in case:
        return [guard(taking(case["parameters"]))(*arguments)]
    return [guard(everything)(*arguments)]


@pytest.mark.parametrize("case", VECTORS["details"], ids=lambda case: case["what"])
def test_a_person_sees_the_same_in_every_language(case: dict[str, Any]) -> None:
    wire = Wire(say(approved(), 201), say(approved(), 201))
    for n, _ in enumerate(called(case, wire)):
        assert details_of(wire, n) == case["details"]


@pytest.mark.parametrize("case", VECTORS["edits"], ids=lambda case: case["what"])
def test_edits_are_taken_the_same_in_every_language(case: dict[str, Any]) -> None:
    answer = approved(edits=case["edits"])
    wire = Wire(say(answer, 201), say(answer, 201))
    if "refused" in case:
        with pytest.raises(
            Denied, match="edits that the function does not accept.*" + case["refused"]
        ):
            called(case, wire, editable=True)
        return
    for ran in called(case, wire, editable=True):
        if "run" in case:
            assert ran == decoded(case["run"])
        else:
            assert list(ran.values() if isinstance(ran, dict) else ran) == case["run_arguments"]


@pytest.mark.parametrize("case", VECTORS["keys"], ids=lambda case: case["what"])
def test_the_same_call_has_the_same_key_in_every_language(case: dict[str, Any]) -> None:
    namespace, tool = case.get("namespace", ""), case["tool"]
    if "key" in case:
        key = _approval_key.explicit(namespace, tool, case["key"])
    else:
        key = _approval_key.of_tool_call(namespace, tool, case.get("thread", ""), case["call_id"])
    assert key == case["idempotency_key"]


def test_ids_that_only_count_name_nothing() -> None:
    ids = VECTORS["counting_ids"]
    assert [one for one in ids["counting"] if not _approval_key.only_counts(one)] == []
    assert [one for one in ids["unique"] if _approval_key.only_counts(one)] == []


def test_a_key_is_a_text_or_made_of_the_call() -> None:
    wire, client = wired(*[approved()] * 4)
    seen: list[ToolCall] = []

    def key(call: ToolCall) -> str | None:
        seen.append(call)
        return f"order-{call.arguments['order']}" if call.arguments["order"] else None

    @require_approval(client=client, key="nightly", namespace="eu")
    def pay() -> None: ...

    @require_approval(client=client, key=key, hide=["password"])
    def refund(order: int, password: str = "s3cret") -> int:
        return order

    pay()
    assert key_of(wire) == "approval:eu:pay:nightly"
    assert refund(7) == 7
    assert key_of(wire, 1) == "approval::refund:order-7"
    assert seen == [ToolCall("refund", {"order": 7, "password": "s3cret"})]
    # Without a name every call is a question of its own, as before.
    refund(0)
    refund(0)
    assert key_of(wire, 2) != key_of(wire, 3)
    assert not key_of(wire, 2).startswith("approval:")


def test_the_same_call_is_the_same_request_whatever_the_order_of_members() -> None:
    wire, client = wired(approved(), approved())

    @require_approval(client=client, key="k")
    def save(given: dict[str, Any]) -> dict[str, Any]:
        return given

    save({"b": 1, "a": {"d": [{"y": 1, "x": 2}], "c": {"z", "w"}}})
    save({"a": {"c": {"w", "z"}, "d": [{"x": 2, "y": 1}]}, "b": 1})
    assert wire.requests[0].content == wire.requests[1].content
    assert (
        wire.requests[0].headers["idempotency-key"] == wire.requests[1].headers["idempotency-key"]
    )


@pytest.mark.parametrize("bad", ["", 7, lambda call: "", lambda call: 7])
def test_a_key_that_is_no_text_is_refused(bad: Any) -> None:
    wire, client = wired()

    def pay() -> None: ...

    choices: list[dict[str, Any]] = [{"key": bad}, {"key": "k", "namespace": bad}]
    for options in choices:
        guard: Any = require_approval(client=client, **options)
        guarded = guard(pay)
        with pytest.raises(TypeError, match="of pay must be a non-empty string"):
            guarded()
    assert wire.requests == []


def test_a_key_and_an_idempotency_key_are_too_many() -> None:
    with pytest.raises(ValueError, match="key or idempotency_key, not both"):
        require_approval(key="a", idempotency_key="b")
    wire, client = wired(approved())
    require_approval(client=client, idempotency_key="mine")(_context_tool)(Context(CALL_ID), 1)
    assert key_of(wire) == "mine"


def test_a_key_that_stands_for_another_call_says_which_and_what_to_do() -> None:
    refusal = problem(409, "idempotency-mismatch", detail="the key came with another body")
    wire = Wire(refusal, problem(409, "exists"))

    @require_approval(client=wire.client(), key="order-7", on_denied="return")
    def refund(amount: int) -> None:
        raise AssertionError("must not run")

    with pytest.raises(KeyReused) as caught:
        refund(2)
    assert isinstance(caught.value, Conflict)
    assert (caught.value.tool, caught.value.key) == ("refund", "approval::refund:order-7")
    assert (caught.value.status, caught.value.code) == (409, "idempotency-mismatch")
    said = str(caught.value)
    assert 'the key "approval::refund:order-7" was used before for a call with other' in said
    assert "another key (or namespace) for another call" in said
    # Other conflicts are what they are.
    with pytest.raises(Conflict, match="exists") as other:
        refund(2)
    assert not isinstance(other.value, KeyReused)


@pytest.mark.anyio
async def test_coroutine_functions_have_keys_too() -> None:
    wire = Wire(say(approved(), 201), problem(409, "idempotency-mismatch"))
    async with wire.async_client() as client:

        @require_approval(client=client, key=lambda call: call.tool_call_id or "none")
        async def pay(amount: int) -> int:
            return amount

        assert await pay(1) == 1
        assert key_of(wire) == "approval::pay:none"
        with pytest.raises(KeyReused):
            await pay(2)


# What frameworks inject, by package and class: the same names in modules of the same packages.


@dataclasses.dataclass
class Context:
    """What OpenAI Agents and Pydantic AI give a tool first."""

    tool_call_id: Any
    deps: str = "s3cret"


def injected(package: str, name: str, *bases: type) -> type:
    return type(name, bases or (object,), {"__module__": f"{package}.somewhere"})


RunContext = injected("pydantic_ai", "RunContext", Context)
RunContextWrapper = injected("agents", "RunContextWrapper", Context)
ToolContext = injected("agents", "ToolContext", RunContextWrapper)
InjectedToolArg = injected("langchain_core", "InjectedToolArg")
InjectedToolCallId = injected("langchain_core", "InjectedToolCallId", InjectedToolArg)
InjectedState = injected("langgraph", "InjectedState", InjectedToolArg)
RunnableConfig = types.new_class("RunnableConfig", (dict,))


@dataclasses.dataclass
class Runtime:
    tool_call_id: Any
    config: Any


ToolRuntime = injected("langgraph", "ToolRuntime", Runtime)


def _context_tool(ctx: Any, order: int) -> int:
    return order


def langgraph_tool(
    order: int,
    config: RunnableConfig,  # type: ignore[valid-type]
    state: Annotated[dict[str, Any], InjectedState()],
    call_id: Annotated[str, InjectedToolCallId],
) -> int:
    return order


def optional_config_tool(
    order: int,
    call_id: Annotated[str, InjectedToolCallId],
    config: Optional[RunnableConfig] = None,  # type: ignore[valid-type]  # noqa: UP045
) -> int:
    return order


def early_tool(order: int, later: Later, call_id: Annotated[str, InjectedToolCallId]) -> int:
    return order


EARLY: Any = require_approval(hide=["later"])(early_tool)


class Later:
    """Named by an annotation above."""


def test_annotations_may_name_what_comes_later(monkeypatch: pytest.MonkeyPatch) -> None:
    wire, client = wired(approved())
    monkeypatch.setenv("COUNTERSIGN_API_KEY", "k")
    monkeypatch.setattr(httpx, "Client", lambda: client._runner.http)
    assert EARLY(7, Later(), CALL_ID) == 7
    assert (details_of(wire), key_of(wire)) == (
        {"order": 7},
        f"approval::early_tool::{CALL_ID}",
    )


CONFIG = {"configurable": {"thread_id": "thread 1", "secret": "s3cret"}}


@pytest.mark.parametrize(
    ("function", "arguments", "key"),
    [
        (_context_tool, (RunContext(CALL_ID), 7), f"_context_tool::{CALL_ID}"),
        (_context_tool, (ToolContext(CALL_ID), 7), f"_context_tool::{CALL_ID}"),
        (_context_tool, (RunContext(None), 7), None),
        (_context_tool, (RunContext("call_1"), 7), None),
        (_context_tool, (ToolRuntime(CALL_ID, CONFIG), 7), f"_context_tool:thread%201:{CALL_ID}"),
        (
            langgraph_tool,
            (7, CONFIG, {"messages": ["s3cret"]}, CALL_ID),
            f"langgraph_tool:thread%201:{CALL_ID}",
        ),
        (optional_config_tool, (7, CALL_ID), f"optional_config_tool::{CALL_ID}"),
        (optional_config_tool, (7, CALL_ID, CONFIG), f"optional_config_tool:thread%201:{CALL_ID}"),
    ],
)
def test_frameworks_name_their_calls_and_are_not_shown(
    function: Any, arguments: Any, key: str | None
) -> None:
    wire, client = wired(approved(), approved())
    guarded: Any = require_approval(client=client)(function)
    assert guarded(*arguments) == 7
    assert details_of(wire) == {"order": 7}
    assert b"s3cret" not in wire.requests[0].content
    if key is None:
        guarded(*arguments)
        assert key_of(wire, 0) != key_of(wire, 1)
    else:
        assert key_of(wire) == f"approval::{key}"


def test_a_namespace_and_a_key_win_over_what_the_framework_says() -> None:
    wire, client = wired(approved(), approved())
    context = ToolRuntime("call_1", CONFIG)
    require_approval(client=client, namespace=lambda call: call.thread_id)(_context_tool)(
        ToolRuntime(CALL_ID, CONFIG), 1
    )
    assert key_of(wire) == f"approval:thread%201:_context_tool:thread%201:{CALL_ID}"
    key = lambda call: f"{call.thread_id}/{call.tool_call_id}"  # noqa: E731
    require_approval(client=client, key=key)(_context_tool)(context, 1)
    assert key_of(wire, 1) == "approval::_context_tool:thread%201%2Fcall_1"


# What is an object, and what of it is shown.


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Address:
    city: str
    since: date


@dataclasses.dataclass
class Payment:
    amount: int
    to: Address
    colour: Colour = Colour.RED
    token: str = dataclasses.field(default="s3cret", repr=False)


def test_a_dataclass_is_its_fields_and_comes_back_as_itself() -> None:
    wire, client = wired(
        approved(
            edits={
                "amount": 60,
                "to": {"city": "Kiel", "since": "2026-01-01"},
                "colour": "blue",
            }
        ),
        approved(edits={"amount": 6, "to": {"city": "B", "since": "2026-01-01"}, "colour": "x"}),
    )

    @require_approval(client=client, editable=True, prompt="Pay {amount}?")
    def pay(payment: Payment) -> Payment:
        return payment

    given = Payment(120, Address("Bonn", date(2026, 1, 1)))
    assert pay(given) == Payment(60, Address("Kiel", date(2026, 1, 1)), Colour.BLUE)
    assert given.amount == 120
    asked = json.loads(wire.requests[0].content)["question"]
    assert asked["prompt"] == "Pay 120?"
    assert asked["details"] == {
        "amount": 120,
        "to": {"city": "Bonn", "since": "2026-01-01"},
        "colour": "red",
    }
    with pytest.raises(Denied, match="colour cannot become 'x'"):
        pay(given)


class Model:
    """As much of a Pydantic model as is used; the real ones are tried elsewhere."""

    @dataclasses.dataclass
    class Info:
        validation_alias: str | None = None
        repr: bool = True
        exclude: bool | None = None

    model_fields: dict[str, Any] = {  # noqa: RUF012
        "amount": Info(validation_alias="Amount"),
        "token": Info(repr=False),
    }
    model_extra = None

    def __init__(self, amount: int, token: str) -> None:
        self.amount, self.token = amount, token

    @classmethod
    def model_validate(cls, values: dict[str, Any]) -> Model:
        if values["Amount"] > 100:
            raise ValueError("at most 100")
        return cls(values["Amount"], values["token"])


def test_a_model_is_its_fields_and_checks_what_was_edited() -> None:
    wire, client = wired(approved(edits={"amount": 60}), approved(edits={"amount": 600}))

    @require_approval(client=client, editable=True)
    def pay(model: Model) -> tuple[int, str]:
        return model.amount, model.token

    assert pay(Model(50, "s3cret")) == (60, "s3cret")
    assert details_of(wire) == {"amount": 50}
    with pytest.raises(Denied, match="amount cannot have this value: at most 100"):
        pay(Model(50, "s3cret"))


def test_one_object_among_arbitrary_arguments_stands_for_its_members() -> None:
    wire, client = wired(approved(edits={"a": 2}), approved(), approved())

    @require_approval(client=client, editable=True)
    def tool(*args: Any, **kwargs: Any) -> Any:
        return args, kwargs

    assert tool({"a": 1}) == (({"a": 2},), {})
    assert tool(a=1) == ((), {"a": 1})
    assert tool({"a": 1}, b=2) == (({"a": 1},), {"b": 2})
    assert [details_of(wire, n) for n in range(3)] == [
        {"a": 1},
        {"a": 1},
        {"args": [{"a": 1}], "kwargs": {"b": 2}},
    ]


def test_texts_are_the_same_in_every_process() -> None:
    wire, client = wired(approved())
    guarded = require_approval(client=client)(lambda a, b, c, d: None)
    guarded(sys.stdout.write, (n for n in range(0)), datetime(2026, 1, 1), timezone.utc)
    assert details_of(wire) == {
        "a": "<function write>",
        "b": "<generator object test_texts_are_the_same_in_every_process.<locals>.<genexpr>>",
        "c": "2026-01-01T00:00:00",
        "d": "UTC",
    }


def test_context_and_reasons_can_be_asked_for() -> None:
    wire, client = wired(approved())

    @require_approval(client=client, context="Quarter end.", reject_requires_reason=True)
    def pay() -> None:
        """Pays."""

    pay()
    asked = json.loads(wire.requests[0].content)["question"]
    assert (asked["context"], asked["reject_requires_reason"]) == ("Quarter end.", True)


def test_an_unknown_option_is_refused_at_once_with_all_that_are_known() -> None:
    with pytest.raises(
        TypeError, match=r'unknown option "hides" \(did you mean hide\?\)'
    ) as caught:
        require_approval(hides=["a"])  # type: ignore[call-overload]
    for name in ("key", "namespace", "prompt", "hide", "on_denied", "editable", "tags"):
        assert f" {name}" in str(caught.value).split("allowed options:")[1]
    wire, client = wired()
    with pytest.raises(TypeError, match=r'"detials" \(did you mean details\?\).*: .*details, edit'):
        client.approve("A?", detials={})  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r'"option"; allowed options: .*pick.*suggested'):
        client.choose("A?", ["a", "b"], option=1)  # type: ignore[call-arg]
    assert wire.requests == []


def test_an_ask_has_its_metadata_and_tags() -> None:
    wire = Wire(
        say(ask(metadata={"run": 7}, tags=["a", "b"]), 201),
        say(ask(metadata=None, tags=[]), 201),
        say(over()),
    )
    client = wire.client()
    made = client.approve("A?", metadata={"run": 7}, tags=["a", "b"])
    assert (made.metadata, made.tags) == ({"run": 7}, ["a", "b"])
    erased = client.approve("A?")
    assert (erased.metadata, erased.tags) == ({}, [])
    erased.refresh()
    assert (erased.metadata, erased.tags) == ({}, [])
