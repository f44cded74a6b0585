"""How a case ended, from a poll, an event or a callback. Sections 7.2, 12 and 13."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Union

from .._times import parse_time
from ._errors import Malformed


@dataclass(frozen=True)
class RespondedBy:
    """Who decided, as far as the service says."""

    name: str | None
    email: str | None


@dataclass(frozen=True)
class Completed:
    """A person decided."""

    action: str
    """What they did: `approve`, `select`, …"""
    data: Mapping[str, Any]
    responded_by: RespondedBy | None = None
    completed_at: datetime | None = None
    next_case_id: str | None = None
    """The case that continues this one, if there is one already."""
    signature: Mapping[str, Any] | None = None
    """The service's signature of the result, as it came."""
    submission_context: Mapping[str, Any] | None = None
    """How it was answered, where the service speaks 0.8."""


@dataclass(frozen=True)
class Expired:
    """Nobody decided in time: the agent does `default_action` (HITL-150)."""

    default_action: str
    expired_at: datetime
    judged_by: Literal["service", "clock"]
    """`clock`: the service was silent, or went on calling it open."""


@dataclass(frozen=True)
class Cancelled:
    """The case was withdrawn."""

    reason: str | None = None
    cancelled_at: datetime | None = None


Outcome = Union[Completed, Expired, Cancelled]


def outcome_of(
    status: str, body: Mapping[str, Any], default_action: str, expires_at: datetime
) -> Outcome | None:
    """How it ended under this status; none if it goes on."""
    if status == "completed":
        return _completed(body)
    if status == "expired":
        action = body.get("default_action")
        return Expired(
            default_action=action if isinstance(action, str) else default_action,
            expired_at=moment(body.get("expired_at")) or expires_at,
            judged_by="service",
        )
    if status == "cancelled":
        reason = body.get("reason")
        return Cancelled(
            reason if isinstance(reason, str) else None, moment(body.get("cancelled_at"))
        )
    # pending, opened, in_progress, and what later versions may add.
    return None


def _completed(body: Mapping[str, Any]) -> Completed:
    result = body.get("result")
    if not isinstance(result, dict) or not isinstance(result.get("action"), str):
        raise Malformed("the case is completed but has no result")
    data, by = result.get("data"), body.get("responded_by")
    following = body.get("next_case_id")
    return Completed(
        action=result["action"],
        data=data if isinstance(data, dict) else {},
        responded_by=RespondedBy(by.get("name"), by.get("email")) if isinstance(by, dict) else None,
        completed_at=moment(body.get("completed_at")),
        next_case_id=following if isinstance(following, str) else None,
        signature=result.get("signature"),
        submission_context=body.get("submission_context"),
    )


def moment(value: Any) -> datetime | None:
    """A moment, if it is one."""
    try:
        return parse_time(value) if isinstance(value, str) else None
    except ValueError:
        return None
