"""Times and durations, to and from the wire."""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta, timezone
from typing import Union

Duration = Union[float, int, timedelta]

_RFC3339 = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)\Z")


def parse_time(text: str) -> datetime:
    """RFC 3339. `datetime.fromisoformat` takes no `Z` before Python 3.11."""
    match = _RFC3339.match(text)
    if match is None:
        raise ValueError(f"not an RFC 3339 time: {text!r}")
    whole, fraction, zone = match.groups()
    micros = (fraction or "0").ljust(6, "0")[:6]
    return datetime.fromisoformat(f"{whole}.{micros}{'+00:00' if zone == 'Z' else zone}")


def format_time(moment: datetime) -> str:
    """RFC 3339 in UTC with milliseconds."""
    if moment.tzinfo is None:
        raise ValueError("a time requires a time zone; use datetime.now(timezone.utc)")
    text = moment.astimezone(timezone.utc).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def seconds(duration: Duration) -> float:
    """A duration in seconds."""
    return duration.total_seconds() if isinstance(duration, timedelta) else float(duration)


def whole_seconds(duration: Duration) -> int:
    """A duration in whole seconds, rounded up; it must be longer than nothing."""
    length = seconds(duration)
    if not (math.isfinite(length) and length > 0):
        raise ValueError("timeout must be positive; leave it out to wait without a limit")
    return math.ceil(length)
