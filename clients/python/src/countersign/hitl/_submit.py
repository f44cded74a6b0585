"""Passing on what a person pressed in a messenger. Section 6 of the protocol.

Only a person's own press may lead here, and `submit_token` stays with the agent: what goes into a
button is `button(…)`, which names the case and the action and opens nothing (HITL-037).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import httpx

from .._steps import Flow, Send
from ..errors import ConnectionFailed
from ._case import Case, shown
from ._errors import Malformed, NotInline, body_of, refused
from ._outcome import moment
from ._wire import Wire

CHANNELS = (
    "telegram_inline_button",
    "slack_block_action",
    "discord_component",
    "whatsapp_reply_button",
    "teams_adaptive_card",
)
PLATFORMS = ("telegram", "slack", "discord", "whatsapp", "teams")


@dataclass(frozen=True)
class SubmittedBy:
    """Who pressed: on which platform, and who they are there."""

    platform: str
    platform_user_id: str
    display_name: str | None = None


@dataclass(frozen=True)
class Submitted:
    """The service took the answer."""

    case_id: str
    completed_at: datetime | None = None
    next_case_id: str | None = None


def button(case: Case, action: str, limit: int = 64) -> str:
    """What to put into a button: `case_id:action`. It never holds a token.

    `limit` is in bytes: 64 for Telegram, 100 for Discord, 256 for WhatsApp, 2000 for Slack.
    """
    _inline(case, action)
    text = f"{case.case_id}:{action}"
    if len(text.encode()) > limit:
        raise ValueError(f"{text!r} exceeds {limit} bytes; use a shorter name")
    return text


def pressed(data: str) -> tuple[str, str] | None:
    """The case id and the action in what a button sent back."""
    case_id, _, action = data.rpartition(":")
    return (case_id, action) if case_id and action else None


def submit(
    wire: Wire,
    case: Case,
    action: str,
    data: Mapping[str, Any] | None,
    via: str,
    by: SubmittedBy,
    evidence: Sequence[Mapping[str, Any]],
) -> Flow[Submitted]:
    """Passes on what a person did, with the proofs they gave, untouched; sent once."""
    url, token = _inline(case, action)
    _named("submitted_via", via, CHANNELS)
    _named("submitted_by.platform", by.platform, PLATFORMS)
    if not by.platform_user_id:
        raise ValueError("submitted_by.platform_user_id is empty")
    who = {"platform": by.platform, "platform_user_id": by.platform_user_id}
    if by.display_name is not None:
        who["display_name"] = by.display_name
    body: dict[str, Any] = {
        "action": action,
        "data": dict(data or {}),
        "submitted_via": via,
        "submitted_by": who,
    }
    if evidence:
        body["verification_evidence"] = [dict(proof) for proof in evidence]
    try:
        response: httpx.Response = yield Send(wire.post(url, token, body))
    except httpx.TransportError as error:
        said = f"{shown(url)} cannot be reached; follow the case to see its state"
        raise ConnectionFailed(said) from error
    if not response.is_success:
        raise refused(response)
    told = body_of(response)
    if not isinstance(told.get("case_id"), str):
        raise Malformed("the response to a submit names no case")
    following = told.get("next_case_id")
    return Submitted(
        told["case_id"],
        moment(told.get("completed_at")),
        following if isinstance(following, str) else None,
    )


def _inline(case: Case, action: str) -> tuple[str, str]:
    if case.submit_url is None or case.submit_token is None:
        raise NotInline(f"{case.case_id} can only be answered on its page")
    if case.inline_actions is not None and action not in case.inline_actions:
        raise NotInline(f"{action!r} is possible on the page only")
    return case.submit_url, case.submit_token


def _named(field: str, name: str, known: tuple[str, ...]) -> None:
    if name not in known and not (name.startswith("x-") and len(name) > 2):
        raise ValueError(
            f"{field} must be one of {', '.join(known)}, "
            f"or a custom name that starts with x-, not {name!r}"
        )
