"""What agent frameworks hand over to a tool beside its input, found without importing them."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

_CONTEXTS = {
    # Package, and the class whose instances it injects.
    ("agents", "RunContextWrapper"),
    ("pydantic_ai", "RunContext"),
    ("langgraph", "ToolRuntime"),
    ("langgraph", "Runtime"),
    ("langgraph", "BaseStore"),
    ("langchain_core", "BaseCallbackManager"),
}
_INJECTED = ("langchain_core", "InjectedToolArg")
_TOOL_CALL_ID = ("langchain_core", "InjectedToolCallId")
_CONFIG = "RunnableConfig"


@dataclass(frozen=True)
class ToolCall:
    """One call of a function that needs an approval, as a `key` function sees it."""

    name: str
    """The function's name."""
    arguments: Mapping[str, Any]
    """All arguments by parameter name, defaults and hidden ones included."""
    tool_call_id: str | None = None
    """The model's id of this call, where the framework handed it over."""
    thread_id: str | None = None
    """The conversation's id, where the framework handed it over (LangGraph)."""


class Injected:
    """The parameters of a function that a framework fills in, by what their annotations say."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._hidden: set[str] = set()
        self._tool_call_ids: set[str] = set()
        self._configs: set[str] = set()
        for name, hint in _hints(function).items():
            marks = {mark for item in _metadata(hint) for mark in _ancestry(item)}
            if _INJECTED in marks:
                self._hidden.add(name)
            if _TOOL_CALL_ID in marks:
                self._tool_call_ids.add(name)
            if _names_config(hint):
                self._configs.add(name)

    def hidden(self, arguments: Mapping[str, Any]) -> frozenset[str]:
        """The arguments that are the framework's and not the tool's input."""
        contexts = {name for name, value in arguments.items() if _is_context(value)}
        first = next(iter(arguments), None)
        # The object of a method is no argument that a person could judge.
        receiver = {first} if first in ("self", "cls") else set()
        return frozenset(self._hidden | self._configs | contexts | receiver)

    def call(self, name: str, arguments: Mapping[str, Any]) -> ToolCall:
        """The call with the ids that the framework handed over."""
        contexts = [value for value in arguments.values() if _is_context(value)]
        call_ids = [arguments.get(name) for name in self._tool_call_ids]
        call_ids += [getattr(context, "tool_call_id", None) for context in contexts]
        configs = [arguments.get(name) for name in self._configs]
        configs += [getattr(context, "config", None) for context in contexts]
        return ToolCall(
            name, dict(arguments), _first_text(call_ids), _first_text(map(_thread_of, configs))
        )


def _first_text(values: Any) -> str | None:
    return next((value for value in values if isinstance(value, str) and value), None)


def _thread_of(config: Any) -> str | None:
    configurable = config.get("configurable") if isinstance(config, Mapping) else None
    thread = configurable.get("thread_id") if isinstance(configurable, Mapping) else None
    return None if thread is None else str(thread)


def _is_context(value: Any) -> bool:
    return any(mark in _CONTEXTS for mark in _ancestry(value))


def _ancestry(value: Any) -> list[tuple[str, str]]:
    """A class and its bases, or those of an object, as package and name."""
    kind = value if isinstance(value, type) else type(value)
    return [(base.__module__.split(".")[0], base.__name__) for base in kind.__mro__]


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except Exception:
        # A name that is not there at run time. What frameworks inject they have to resolve too, so
        # what is left are the annotations as they were written.
        return dict(getattr(inspect.unwrap(function), "__annotations__", {}))


def _metadata(hint: Any) -> tuple[Any, ...]:
    own: tuple[Any, ...] = getattr(hint, "__metadata__", ())
    nested = tuple(item for arg in typing.get_args(hint) for item in _metadata(arg))
    return own + nested


def _names_config(hint: Any) -> bool:
    """Whether a hint is LangChain's `RunnableConfig`, also an optional or an unresolved one."""
    if isinstance(hint, str):
        return _CONFIG in hint
    if getattr(hint, "__name__", "") == _CONFIG:
        return True
    return any(_names_config(arg) for arg in typing.get_args(hint) if not isinstance(arg, str))
