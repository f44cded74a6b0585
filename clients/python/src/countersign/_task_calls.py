"""How both clients call an operation, and what makes a repeated call the same."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Generic, TypedDict, TypeVar, Union, cast

from . import _tasks as flows
from ._core import Core
from ._steps import Flow

Json = dict[str, Any]
One = TypeVar("One")
Many = TypeVar("Many")
Maybe = TypeVar("Maybe")

When = Union[str, datetime]
"""A moment: RFC 3339, or a `datetime` that knows its time zone."""


class Keyed(TypedDict, total=False):
    """What makes a repeated call the same call; drawn for you unless you name it."""

    idempotency_key: str


class Terms(Keyed, total=False):
    """The same, and the revision of the task you have seen: with another one, `CONFLICT`."""

    expected_task_revision: int


class Calls(Generic[One, Many, Maybe]):
    """What operations are made of.

    The type parameters are what comes back: an object, a list, or perhaps nothing.
    """

    def call(
        self,
        operation: str,
        params: Mapping[str, Any] | None = None,
        *,
        expected_task_revision: int | None = None,
        idempotency_key: str | None = None,
    ) -> Any:
        """Any operation by its name, with its parameters as they are on the wire."""
        return self._run(
            flows.operate(
                self._core_of(),
                operation,
                _plain(params or {}),
                expected_task_revision=expected_task_revision,
                idempotency_key=idempotency_key,
                repeatable=idempotency_key is not None or operation in _LOOKS,
            )
        )

    def _change(self, operation: str, params: Mapping[str, Any], terms: Keyed | Terms) -> One:
        sent: Terms = {"idempotency_key": str(uuid.uuid4()), **terms}
        return cast(One, self.call(operation, params, **sent))

    def _one(self, operation: str, params: Mapping[str, Any]) -> One:
        return cast(One, self.call(operation, given(params)))

    def _many(self, operation: str, params: Mapping[str, Any]) -> Many:
        return cast(Many, self.call(operation, given(params)))

    def _core_of(self) -> Core:
        raise NotImplementedError

    def _run(self, flow: Flow[Any]) -> Any:
        raise NotImplementedError


_LOOKS = frozenset(
    {
        "task.get",
        "task.list",
        "artifact.get",
        "ledger.read",
        "ledger.history",
        "audit.query",
        "audit.replay",
        "human.inbox",
        "pending.outbox",
        "runtime.peek",
        # It never goes back: to say it twice does no harm.
        "runtime.ack",
    }
)
"""What changes nothing, and may be repeated without a key."""


def given(params: Mapping[str, Any]) -> Json:
    """What is there of some parameters."""
    return {name: value for name, value in params.items() if value is not None}


def _plain(params: Mapping[str, Any]) -> Json:
    """Parameters as JSON has them."""
    sent: Json = {}
    for name, value in params.items():
        if isinstance(value, datetime):
            if value.tzinfo is None:
                raise ValueError(f"{name}: a time requires a time zone")
            sent[name] = value.isoformat()
        else:
            sent[name] = value
    return sent
