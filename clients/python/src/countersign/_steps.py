"""Flows: what the client does, written once, without doing any of it.

A flow is a generator that yields the next thing to do and is sent what came of it, as in httpx's
own `auth_flow`. `_run` has the two small loops that carry flows out: one blocks, one awaits.
Whatever goes wrong while carrying out a step is raised inside the flow, at its `yield`.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeVar, Union

import httpx


@dataclass(frozen=True)
class Send:
    """Send a request. Sent back: the `httpx.Response`, read."""

    request: httpx.Request


@dataclass(frozen=True)
class Open:
    """Open a stream; one that is open already is closed. Sent back: the response.

    The body of an error is read, the body of a success is left for `Chunk`.
    """

    request: httpx.Request


@dataclass(frozen=True)
class Chunk:
    """Read on in the open stream. Sent back: bytes, none at its end."""


@dataclass(frozen=True)
class Sleep:
    """Wait."""

    seconds: float


@dataclass(frozen=True)
class Emit:
    """Hand an item to whoever iterates."""

    item: Any


Step = Union[Send, Open, Chunk, Sleep, Emit]
T = TypeVar("T")
Flow = Generator[Step, Any, T]


class Walk:
    """One flow being carried out: hands out steps, and keeps what the flow returned."""

    def __init__(self, flow: Flow[Any]) -> None:
        self._flow = flow
        self.value: Any = None

    def step(self, came: Any = None) -> Step | None:
        """The step after this came of the last one; none at the end."""
        try:
            return self._flow.send(came)
        except StopIteration as end:
            self.value = end.value
            return None

    def fail(self, error: Exception) -> Step | None:
        """The step after the last one went wrong."""
        try:
            return self._flow.throw(error)
        except StopIteration as end:
            self.value = end.value
            return None

    def close(self) -> None:
        """Whether it ended or not, it goes no further."""
        self._flow.close()
