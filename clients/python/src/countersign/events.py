"""What happens to asks, as it happens."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Callable, Generic, TypeVar

from ._sse import Frame
from ._times import parse_time
from .errors import ProtocolError

H = TypeVar("H", covariant=True)


@dataclass(frozen=True)
class Event(Generic[H]):
    """One thing that happened: `asked`, `claimed`, `commented`, `answered`, `expired` and so on.

    `reset` has no ask: too much was missed, so list what you need again and go on. Keep `position`
    to resume later with `events(after=position)`.
    """

    name: str
    position: str | None
    at: datetime | None
    ask: H | None


def parse_event(frame: Frame, handle: Callable[[Any], H]) -> Event[H]:
    """An event from a frame; `handle` makes an ask of what it holds."""
    try:
        body = json.loads(frame.data) if frame.data else {}
    except ValueError as error:
        raise ProtocolError("an event that is not JSON") from error
    ask, at = body.get("ask"), body.get("at")
    position = frame.id if frame.id is not None else body.get("position")
    return Event(
        frame.event,
        None if position is None else str(position),
        parse_time(at) if isinstance(at, str) else None,
        None if ask is None else handle(ask),
    )
