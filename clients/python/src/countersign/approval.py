"""`@require_approval`: a function that runs only after a person said yes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Callable, Literal, TypeVar, Union, overload

from .answers import Answer, Approved, Defaulted, Outcome, Revoked
from .asks import AskView
from .client import AsyncCountersign, Countersign
from .errors import Denied, NoAnswer
from .questions import AskOptions

if TYPE_CHECKING:
    from typing_extensions import ParamSpec, Unpack

    P = ParamSpec("P")

R = TypeVar("R")
Client = Union[Countersign, AsyncCountersign]


@overload
def require_approval(function: Callable[P, R], /) -> Callable[P, R]: ...


@overload
def require_approval(
    *,
    client: Client | None = None,
    prompt: str | None = None,
    editable: bool = False,
    hide: Iterable[str] = (),
    on_denied: Literal["raise"] = "raise",
    **options: Unpack[AskOptions],
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


@overload
def require_approval(
    *,
    client: Client | None = None,
    prompt: str | None = None,
    editable: bool = False,
    hide: Iterable[str] = (),
    on_denied: Literal["return"],
    **options: Unpack[AskOptions],
) -> Callable[[Callable[P, Any]], Callable[P, Any]]: ...


def require_approval(
    function: Callable[..., Any] | None = None,
    /,
    *,
    client: Client | None = None,
    prompt: str | None = None,
    editable: bool = False,
    hide: Iterable[str] = (),
    on_denied: Literal["raise", "return"] = "raise",
    **options: Unpack[AskOptions],
) -> Any:
    """Asks a person before each call; the function runs only if a person approves.

    The person sees the function's name, its docstring and its arguments. `prompt` may name
    arguments: `"Refund {amount} to {customer}?"`. Arguments in `hide` are not sent. With `editable`
    people may change arguments, and the function runs with what they approved.

    A rejection raises `Denied` with the reason; an ask that ends without an answer raises
    `Expired`, `Failed` or `Cancelled`. With `on_denied="return"` the reason comes back as text
    instead, as loops of tools for language models want it. A default taken on silence and a revoked
    approval are none: they raise `Denied`. Works on
    functions and coroutine functions, bare and with arguments; without `client` one is made per
    call.
    """
    gate = _Gate(client, prompt, editable, frozenset(hide), on_denied == "return", options)
    return gate.around if function is None else gate.around(function)


class _Gate:
    """What stands between a call and its function."""

    def __init__(
        self,
        client: Client | None,
        prompt: str | None,
        editable: bool,
        hide: frozenset[str],
        returns: bool,
        options: AskOptions,
    ) -> None:
        self.client, self.prompt, self.editable = client, prompt, editable
        self.hide, self.returns, self.options = hide, returns, options
        if _approves_on_silence(options.get("on_expiry")):
            raise ValueError(
                "on_expiry would approve when nobody answers, and the function would run without "
                "a person's approval; ask with client.approve() if that is what you want"
            )

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isasyncgenfunction(function):
            raise TypeError("require_approval takes functions and coroutine functions")
        if inspect.iscoroutinefunction(function):
            if isinstance(self.client, Countersign):
                raise TypeError(f"{function.__name__} is async: give an AsyncCountersign")
            return self._around_async(function)
        if isinstance(self.client, AsyncCountersign):
            raise TypeError(f"{function.__name__} is not async: give a Countersign")
        return self._around_sync(function)

    def _around_sync(self, function: Callable[..., R]) -> Callable[..., R | str]:
        @functools.wraps(function)
        def approved(*args: Any, **kwargs: Any) -> R | str:
            call = _Call(function, self, args, kwargs)
            client = self.client if isinstance(self.client, Countersign) else Countersign()
            try:
                ask = client.approve(**call.question(), **self.options)
                call.allow(ask.wait(), ask)
            except (Denied, NoAnswer) as refusal:
                return call.refused(refusal)
            finally:
                if client is not self.client:
                    client.close()
            return function(*call.bound.args, **call.bound.kwargs)

        return approved

    def _around_async(
        self, function: Callable[..., Awaitable[R]]
    ) -> Callable[..., Awaitable[R | str]]:
        @functools.wraps(function)
        async def approved(*args: Any, **kwargs: Any) -> R | str:
            call = _Call(function, self, args, kwargs)
            mine = isinstance(self.client, AsyncCountersign)
            client = self.client if isinstance(self.client, AsyncCountersign) else None
            client = client or AsyncCountersign()
            try:
                ask = await client.approve(**call.question(), **self.options)
                call.allow(await ask.wait(), ask)
            except (Denied, NoAnswer) as refusal:
                return call.refused(refusal)
            finally:
                if not mine:
                    await client.aclose()
            return await function(*call.bound.args, **call.bound.kwargs)

        return approved


class _Call:
    """One call that waits for its approval."""

    def __init__(
        self, function: Callable[..., Any], gate: _Gate, args: tuple[Any, ...], kwargs: Any
    ) -> None:
        self.name = getattr(function, "__name__", "this")
        self.doc = inspect.getdoc(function)
        self.gate = gate
        self.bound = inspect.signature(function).bind(*args, **kwargs)
        self.bound.apply_defaults()
        arguments = self.bound.arguments
        first = next(iter(arguments), None)
        # The object of a method is no argument a person could judge.
        hidden = gate.hide | ({first} if first in ("self", "cls") else set())
        self.shown = {n: jsonable(v) for n, v in arguments.items() if n not in hidden}

    def question(self) -> dict[str, Any]:
        prompt = self.gate.prompt or f"Run {self.name}?"
        asked: dict[str, Any] = {
            "prompt": prompt.format_map(self.shown) if self.gate.prompt else prompt,
            "details": self.shown,
            "editable": self.gate.editable,
        }
        if self.doc:
            asked["context"] = self.doc
        return asked

    def allow(self, answer: Outcome, ask: AskView) -> None:
        """Raises unless a person approved; takes over what they edited."""
        if isinstance(answer, Defaulted):
            said = "nobody answered in time; a default was taken, which is not a person's approval"
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
        wrong = None
        if not self.gate.editable:
            wrong = "it takes none"
        elif set(edits) != set(self.shown):
            odd = ", ".join(sorted(set(edits) ^ set(self.shown)))
            wrong = f"they must hold exactly its arguments; look at {odd}"
        for name, value in {} if wrong else edits.items():
            if value == self.shown[name] and type(value) is type(self.shown[name]):
                continue
            before = self.bound.arguments[name]
            if not _same_kind(before, value):
                wrong = f"{name} cannot become {value!r}"
                break
            self.bound.arguments[name] = tuple(value) if isinstance(before, tuple) else value
        if wrong:
            said = f"it was approved with edits it cannot take: {wrong}"
            raise self._denied(said, said, answer, ask)

    def refused(self, refusal: Denied | NoAnswer) -> str:
        if not self.gate.returns:
            raise refusal
        return str(refusal) if isinstance(refusal, Denied) else self._not_run(str(refusal))

    def _denied(self, why: str, reason: str | None, answer: Outcome, ask: AskView) -> Denied:
        return Denied(self._not_run(why), reason=reason, ask=ask, answer=answer)

    def _not_run(self, why: str) -> str:
        return f"{self.name} was not run: {why}"


def jsonable(value: Any) -> Any:
    """A value as a person can read it: JSON where it is JSON, else its text."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if isinstance(value, Mapping):
        return {str(k): jsonable(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(v) for v in value]
    return str(value)


def _same_kind(before: Any, after: Any) -> bool:
    """Whether an edited value can stand where another stood."""
    if jsonable(before) != (list(before) if isinstance(before, tuple) else before):
        # Shown as text, because it is no JSON: there is no way back from the text.
        return False
    if before is None:
        return True
    if isinstance(before, bool) or isinstance(after, bool):
        return isinstance(before, bool) and isinstance(after, bool)
    if isinstance(before, float):
        return isinstance(after, (int, float))
    if isinstance(before, (list, tuple)):
        return isinstance(after, list)
    return isinstance(after, type(before)) or (isinstance(before, Mapping) and type(after) is dict)


def _approves_on_silence(on_expiry: Any) -> bool:
    if isinstance(on_expiry, Answer):
        return bool(on_expiry)
    if isinstance(on_expiry, Mapping):
        reply = on_expiry.get("answer")
        answer = reply.get("answer") if isinstance(reply, Mapping) else None
        verdict = answer.get("verdict") if isinstance(answer, Mapping) else None
        return "approve" in (verdict, on_expiry.get("report")) or verdict == "approved"
    return False
