"""`@require_approval`: a function that runs only after a person said yes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Iterable, Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Literal,
    NoReturn,
    Optional,
    TypeVar,
    Union,
    cast,
    overload,
)

from . import _approval_key
from ._details import Details, UnusableEdits
from ._tool_call import Injected, ToolCall
from .answers import Answer, Approved, Defaulted, Outcome, Revoked
from .asks import AskView
from .client import AsyncCountersign, Countersign
from .errors import Conflict, Denied, KeyReused, NoAnswer
from .forms import refuse_unknown
from .questions import AskOptions

if TYPE_CHECKING:
    from typing_extensions import ParamSpec, Unpack

    P = ParamSpec("P")

R = TypeVar("R")
Client = Union[Countersign, AsyncCountersign]
Key = Union[str, Callable[[ToolCall], Optional[str]]]
"""Identifies a call across restarts: a string, or a function of the call that returns one."""


@overload
def require_approval(function: Callable[P, R], /) -> Callable[P, R]: ...


@overload
def require_approval(
    *,
    client: Client | None = None,
    key: Key | None = None,
    namespace: Key | None = None,
    prompt: str | None = None,
    context: str | None = None,
    editable: bool = False,
    reject_requires_reason: bool = False,
    hide: Iterable[str] = (),
    on_denied: Literal["raise"] = "raise",
    **options: Unpack[AskOptions],
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


@overload
def require_approval(
    *,
    client: Client | None = None,
    key: Key | None = None,
    namespace: Key | None = None,
    prompt: str | None = None,
    context: str | None = None,
    editable: bool = False,
    reject_requires_reason: bool = False,
    hide: Iterable[str] = (),
    on_denied: Literal["return"],
    **options: Unpack[AskOptions],
) -> Callable[[Callable[P, Any]], Callable[P, Any]]: ...


def require_approval(
    function: Callable[..., Any] | None = None,
    /,
    *,
    client: Client | None = None,
    key: Key | None = None,
    namespace: Key | None = None,
    prompt: str | None = None,
    context: str | None = None,
    editable: bool = False,
    reject_requires_reason: bool = False,
    hide: Iterable[str] = (),
    on_denied: Literal["raise", "return"] = "raise",
    **options: Unpack[AskOptions],
) -> Any:
    """Asks a person before each call; the function runs only if a person approves.

    The person sees the function's name, its docstring (or `context`) and its arguments. `prompt`
    may name arguments: `"Refund {amount} to {customer}?"`. Arguments in `hide` are not sent, nor
    are `self` and what a framework injects (contexts, configs, stores). With `editable` people may
    change arguments, and the function runs with what they approved.

    `key` identifies the call across restarts: a string, or a function of the `ToolCall`. A
    restarted agent that repeats the call with the same key waits for the open question, or gets the
    answer that was given meanwhile; the question is asked once. Without `key`, the tool-call id is
    used where the framework passes it as an argument: LangGraph (`InjectedToolCallId` or
    `ToolRuntime`, with the thread id of `RunnableConfig`), OpenAI Agents (`ToolContext`), Pydantic
    AI (`RunContext`). `namespace` separates equal keys of different conversations or deployments.
    The same key with other arguments raises `KeyReused`.

    A rejection raises `Denied` with the reason; an ask that ends without an answer raises
    `Expired`, `Failed` or `Cancelled`. With `on_denied="return"` the reason comes back as text
    instead, as loops of tools for language models want it. A default taken on silence and a revoked
    approval are none: they raise `Denied`. Works on
    functions and coroutine functions, bare and with arguments; without `client` one is made per
    call.
    """
    refuse_unknown(options, AskOptions, require_approval)
    gate = _Gate(
        client=client,
        key=key,
        namespace=namespace,
        prompt=prompt,
        context=context,
        editable=editable,
        reject_requires_reason=reject_requires_reason,
        hide=frozenset(hide),
        returns=on_denied == "return",
        options=options,
    )
    return gate.around if function is None else gate.around(function)


class _Gate:
    """What stands between a call and its function."""

    def __init__(
        self,
        *,
        client: Client | None,
        key: Key | None,
        namespace: Key | None,
        prompt: str | None,
        context: str | None,
        editable: bool,
        reject_requires_reason: bool,
        hide: frozenset[str],
        returns: bool,
        options: AskOptions,
    ) -> None:
        self.client, self.key, self.namespace = client, key, namespace
        self.prompt, self.context = prompt, context
        self.editable, self.reject_requires_reason = editable, reject_requires_reason
        self.hide, self.returns, self.options = hide, returns, options
        if key is not None and options.get("idempotency_key") is not None:
            raise ValueError(
                "pass key or idempotency_key, not both; key applies to this function only"
            )
        if _approves_on_silence(options.get("on_expiry")):
            raise ValueError(
                "on_expiry would approve if there is no answer, and the function would run without "
                "a person's approval; ask with client.approve() if that is what you want"
            )

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isasyncgenfunction(function):
            raise TypeError("require_approval takes functions and coroutine functions")
        if inspect.iscoroutinefunction(function):
            if isinstance(self.client, Countersign):
                raise TypeError(f"{function.__name__} is async; pass an AsyncCountersign")
            return self._around_async(function)
        if isinstance(self.client, AsyncCountersign):
            raise TypeError(f"{function.__name__} is not async; pass a Countersign")
        return self._around_sync(function)

    def _around_sync(self, function: Callable[..., R]) -> Callable[..., R | str]:
        tool = _Tool(function, self)

        @functools.wraps(function)
        def approved(*args: Any, **kwargs: Any) -> R | str:
            call = _Call(tool, args, kwargs)
            client = self.client if isinstance(self.client, Countersign) else Countersign()
            try:
                ask = client.approve(**call.question(), **call.options())
                call.allow(ask.wait(), ask)
            except (Denied, NoAnswer) as refusal:
                return call.refused(refusal)
            except Conflict as conflict:
                call.conflicted(conflict)
            finally:
                if client is not self.client:
                    client.close()
            return function(*call.bound.args, **call.bound.kwargs)

        return approved

    def _around_async(
        self, function: Callable[..., Awaitable[R]]
    ) -> Callable[..., Awaitable[R | str]]:
        tool = _Tool(function, self)

        @functools.wraps(function)
        async def approved(*args: Any, **kwargs: Any) -> R | str:
            call = _Call(tool, args, kwargs)
            mine = isinstance(self.client, AsyncCountersign)
            client = self.client if isinstance(self.client, AsyncCountersign) else None
            client = client or AsyncCountersign()
            try:
                ask = await client.approve(**call.question(), **call.options())
                call.allow(await ask.wait(), ask)
            except (Denied, NoAnswer) as refusal:
                return call.refused(refusal)
            except Conflict as conflict:
                call.conflicted(conflict)
            finally:
                if not mine:
                    await client.aclose()
            return await function(*call.bound.args, **call.bound.kwargs)

        return approved


class _Tool:
    """A function that needs an approval: what is the same for all of its calls."""

    def __init__(self, function: Callable[..., Any], gate: _Gate) -> None:
        self.gate = gate
        self.name = getattr(function, "__name__", "this")
        self.context = gate.context or inspect.getdoc(function)
        self.signature = inspect.signature(function)
        self._function = function

    @functools.cached_property
    def injected(self) -> Injected:
        # Not before the first call: annotations may name what is defined below the function.
        return Injected(self._function)


class _Call:
    """One call that waits for its approval."""

    def __init__(self, tool: _Tool, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        self.tool, self.gate, self.name = tool, tool.gate, tool.name
        self.bound = tool.signature.bind(*args, **kwargs)
        self.bound.apply_defaults()
        arguments = self.bound.arguments
        self.made = tool.injected.call(tool.name, arguments)
        self.key = self._key()
        hidden = self.gate.hide | tool.injected.hidden(arguments)
        self.details = Details(self.bound, hidden, in_order=self.key is not None)

    def _key(self) -> str | None:
        """The idempotency key of this call; `None` for a call that a restart cannot repeat."""
        namespace = _text_of("namespace", self.gate.namespace, self.made) or ""
        if self.gate.key is not None:
            key = _text_of("key", self.gate.key, self.made)
            return None if key is None else _approval_key.explicit(namespace, self.name, key)
        call_id = self.made.tool_call_id
        if self.gate.options.get("idempotency_key") or not call_id:
            return None
        if _approval_key.only_counts(call_id):
            return None
        thread = self.made.thread_id or ""
        return _approval_key.of_tool_call(namespace, self.name, thread, call_id)

    def question(self) -> dict[str, Any]:
        prompt = self.gate.prompt
        asked: dict[str, Any] = {
            "prompt": prompt.format_map(self.details.words) if prompt else f"Run {self.name}?",
            "details": self.details.shown,
            "editable": self.gate.editable,
            "reject_requires_reason": self.gate.reject_requires_reason,
        }
        if self.tool.context:
            asked["context"] = self.tool.context
        return asked

    def options(self) -> AskOptions:
        if self.key is None:
            return self.gate.options
        return cast(AskOptions, {**self.gate.options, "idempotency_key": self.key})

    def conflicted(self, conflict: Conflict) -> NoReturn:
        if self.key is None or conflict.code != "idempotency-mismatch":
            raise conflict
        raise KeyReused(conflict, tool=self.name, key=self.key) from conflict

    def allow(self, answer: Outcome, ask: AskView) -> None:
        """Raises unless a person approved; takes over what they edited."""
        if isinstance(answer, Defaulted):
            said = (
                "there was no answer in time; "
                "the default was taken, which is not a person's approval"
            )
            raise self._denied(said, said, answer, ask)
        if isinstance(answer, Revoked):
            reason = f": {answer.reason}" if answer.reason else ""
            raise self._denied(f"the answer was revoked{reason}", answer.reason, answer, ask)
        if not isinstance(answer, Approved):
            changes = answer.verdict == "changes_requested"
            verb = "asked for changes" if changes else "rejected it"
            reason = f": {answer.comment}" if answer.comment else ", without a reason"
            raise self._denied(f"a person {verb}{reason}", answer.comment, answer, ask)
        if answer.edits is not None:
            self._take(answer, answer.edits, ask)

    def _take(self, answer: Outcome, edits: Mapping[str, Any], ask: AskView) -> None:
        wrong = None if self.gate.editable else "it takes none"
        try:
            if wrong is None:
                self.details.take(edits)
        except UnusableEdits as error:
            wrong = str(error)
        if wrong is not None:
            said = f"it was approved with edits that the function does not accept: {wrong}"
            raise self._denied(said, said, answer, ask)

    def refused(self, refusal: Denied | NoAnswer) -> str:
        if not self.gate.returns:
            raise refusal
        return str(refusal) if isinstance(refusal, Denied) else self._not_run(str(refusal))

    def _denied(self, why: str, reason: str | None, answer: Outcome, ask: AskView) -> Denied:
        return Denied(self._not_run(why), reason=reason, ask=ask, answer=answer)

    def _not_run(self, why: str) -> str:
        return f"{self.name} was not run: {why}"


def _text_of(option: str, given: Key | None, call: ToolCall) -> str | None:
    """The key or namespace of a call: as it was given, or what the function makes of the call."""
    found = given(call) if callable(given) else given
    if found is None or (isinstance(found, str) and found):
        return found
    raise TypeError(f"{option} of {call.name} must be a non-empty string, not {found!r}")


def _approves_on_silence(on_expiry: Any) -> bool:
    if isinstance(on_expiry, Answer):
        return bool(on_expiry)
    if isinstance(on_expiry, Mapping):
        reply = on_expiry.get("answer")
        answer = reply.get("answer") if isinstance(reply, Mapping) else None
        verdict = answer.get("verdict") if isinstance(answer, Mapping) else None
        return "approve" in (verdict, on_expiry.get("report")) or verdict == "approved"
    return False
