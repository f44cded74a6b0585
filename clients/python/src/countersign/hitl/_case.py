"""A 202 that asks for a person. Sections 2 and 2.1 of the protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, cast
from urllib.parse import urlsplit

import httpx

from .._times import parse_time
from ..errors import retry_after
from ._errors import Malformed, body_of

ReviewType = Literal["approval", "selection", "input", "confirmation", "escalation"]

TYPES = ("approval", "selection", "input", "confirmation", "escalation")


@dataclass(frozen=True)
class Case:
    """A case as the service offered it. Its tokens are never printed."""

    spec_version: str
    case_id: str
    type: str
    """As the service calls it; `treated_as` is what to make of it."""
    prompt: str
    message: str | None
    """What the service wants the person told, if it said so beside the prompt."""
    created_at: datetime
    expires_at: datetime
    default_action: str
    """What the agent does when nobody answers."""
    context: Mapping[str, Any] = field(repr=False)
    data: Any = field(repr=False)
    """What the service said beside the case."""
    review_url: str = field(repr=False)
    """Where the person decides. Whoever has it can: send it to nobody else."""
    poll_url: str = field(repr=False)
    events_url: str | None = field(repr=False)
    reminders: tuple[datetime, ...] = ()
    previous_case_id: str | None = None
    inline_actions: tuple[str, ...] | None = None
    """The only actions that may be passed on; none leaves it to the type."""
    submit_url: str | None = field(default=None, repr=False)
    submit_token: str | None = field(default=None, repr=False)
    """Stays with the agent: never put it into a button (see `button`)."""
    retry_after: float | None = None
    """How long the service wants to be left alone before the first poll."""

    @property
    def text(self) -> str:
        """What the person is told: the message, else the prompt."""
        return self.message or self.prompt

    @property
    def treated_as(self) -> ReviewType:
        """What kind of decision it is; a custom type is an input."""
        return cast(ReviewType, self.type) if self.type in TYPES else "input"


def case_of(response: httpx.Response) -> Case | None:
    """The case in a response (of httpx or requests), with its `Retry-After`."""
    case = recognise(response.status_code, body_of(response))
    return None if case is None else replace(case, retry_after=retry_after(response))


def recognise(status: int, body: Any) -> Case | None:
    """The case in an answer.

    None if the service needs nobody (another status, or a 202 for something else); `Malformed` if
    it says it does and the rest makes no sense.
    """
    asks = isinstance(body, dict) and body.get("status") == "human_input_required"
    if status != 202 or not asks or "hitl" not in body:
        return None
    return read_case(body)


def read_case(body: Mapping[str, Any]) -> Case:
    """A case from a body that was kept, whatever its status was."""
    hitl = body.get("hitl")
    if not isinstance(hitl, dict):
        raise Malformed("the response is not HITL: the hitl object is missing")
    fields = _Fields(hitl)
    kind = fields.text("type")
    if kind not in TYPES and not kind.startswith("x-"):
        raise Malformed(f"the response is not HITL: {kind!r} is not a review type")
    submit_url, submit_token = fields.maybe("submit_url"), fields.maybe("submit_token")
    if (submit_url is None) != (submit_token is None):
        raise Malformed("submit_url and submit_token must be present together")
    message = body.get("message")
    inline = hitl.get("inline_actions")
    events_url = fields.maybe("events_url")
    return Case(
        spec_version=fields.text("spec_version"),
        case_id=fields.text("case_id"),
        type=kind,
        prompt=fields.text("prompt"),
        message=message if isinstance(message, str) and message.strip() else None,
        created_at=fields.time("created_at"),
        expires_at=fields.time("expires_at"),
        default_action=fields.maybe("default_action") or "skip",
        context=hitl.get("context") or {},
        data=body.get("data"),
        review_url=address(fields.text("review_url")),
        poll_url=address(fields.text("poll_url")),
        events_url=None if events_url is None else address(events_url),
        reminders=fields.times("reminder_at"),
        previous_case_id=fields.maybe("previous_case_id"),
        inline_actions=None if inline is None else tuple(str(one) for one in inline),
        submit_url=None if submit_url is None else address(submit_url),
        submit_token=submit_token,
    )


class _Fields:
    """The members of a `hitl` object, each as what it has to be."""

    def __init__(self, hitl: dict[str, Any]) -> None:
        self._hitl = hitl

    def maybe(self, name: str) -> str | None:
        value = self._hitl.get(name)
        if value is None or isinstance(value, str):
            return value
        raise Malformed(f"the response is not HITL: {name} is not a string")

    def text(self, name: str) -> str:
        value = self.maybe(name)
        if not value:
            raise Malformed(f"the response is not HITL: {name} is missing")
        return value

    def time(self, name: str) -> datetime:
        return _time(name, self.text(name))

    def times(self, name: str) -> tuple[datetime, ...]:
        value = self._hitl.get(name)
        several = value if isinstance(value, list) else [] if value is None else [value]
        return tuple(_time(name, str(one)) for one in several)


def _time(name: str, text: str) -> datetime:
    try:
        return parse_time(text)
    except ValueError as error:
        raise Malformed(f"the response is not HITL: {name} is not an RFC 3339 time") from error


def address(text: str) -> str:
    """An address that may be called: https, or http on this machine (HITL-242)."""
    url = urlsplit(text)
    local = url.hostname in ("localhost", "127.0.0.1")
    if url.hostname and (url.scheme == "https" or (url.scheme == "http" and local)):
        return text
    raise Malformed(f"{shown(text)} is neither an https URL nor a URL on this machine")


def shown(url: str) -> str:
    """An address without what opens it."""
    return url.split("?", 1)[0].split("#", 1)[0]


def origin(url: str) -> tuple[str, str | None, int | None]:
    """Scheme, host and port."""
    parts = urlsplit(url)
    usual = {"https": 443, "http": 80}.get(parts.scheme)
    return parts.scheme, parts.hostname, parts.port or usual
