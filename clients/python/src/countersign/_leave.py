"""What a runtime may do without asking."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from ._times import parse_time

ALLOW, DENY, ASK = "allow", "deny", "ask"


def leave(
    task: Mapping[str, Any],
    scope: str,
    *,
    run_id: str | None = None,
    at: datetime | None = None,
) -> str:
    """Whether a run of an agent may do something: `allow`, `deny`, or `ask` first.

    `scope` says what, such as `bash:ls` or `fs:/repo/a.py`; `run_id` is that of the duty, or the
    task's own. What is `deny` must not be done, whatever else was allowed; what is `ask` needs a
    checkpoint. Look again before each step, with the task as it is then: a grant may be taken back
    meanwhile.
    """
    now, run = at or datetime.now(timezone.utc), run_id or task.get("run_id")
    said = {
        grant["decision"]
        for grant in task["grants"]
        if _counts(grant, run, now) and _covers(grant["scope"], scope)
    }
    return DENY if DENY in said else ALLOW if ALLOW in said else ASK


def _counts(grant: Mapping[str, Any], run_id: str | None, now: datetime) -> bool:
    until = grant["until"]
    if until == "session":
        # One that names no run is for the next, which is whoever looks.
        return grant.get("run_id") in (None, run_id)
    return until == "task" or now <= parse_time(until)


def _covers(granted: str, wanted: str) -> bool:
    if granted == wanted:
        return True
    if not granted.endswith("*"):
        return False
    stem = granted[:-1]
    # What lies below a folder is written with a slash.
    folder = stem[:-1] + "/" if stem.endswith(":") else stem
    return wanted.startswith((stem, folder))
