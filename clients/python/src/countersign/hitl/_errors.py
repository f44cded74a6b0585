"""What can go wrong while a case is followed. Addresses are told without their tokens."""

from __future__ import annotations

import json
from typing import Any

import httpx

from ..errors import CountersignError, retry_after


class HitlError(CountersignError):
    """The base of the errors of this module."""


class Malformed(HitlError):
    """The service does not speak the protocol."""


class NotInline(HitlError):
    """The answer cannot be passed on for this case; the person uses the page."""


class BadSignature(HitlError):
    """A callback whose signature is missing, malformed or wrong."""


class Refused(HitlError):
    """The service refused. `code` is its name for the reason, such as `duplicate_submission`."""

    def __init__(
        self,
        status: int,
        *,
        code: str = "",
        message: str = "",
        retry_after: float | None = None,
        review_url: str | None = None,
    ) -> None:
        super().__init__(f"{message} (HTTP {status} {code})".replace(" )", ")"))
        self.status = status
        self.code = code
        self.retry_after = retry_after
        self.review_url = review_url

    @property
    def is_passing(self) -> bool:
        """Whether the same call may succeed later."""
        return self.status in (408, 425, 429) or self.status >= 500


def refused(response: httpx.Response) -> Refused:
    """The error a response stands for."""
    body = body_of(response)
    # Some frameworks wrap their errors once more.
    inner = body.get("detail")
    if isinstance(inner, dict):
        body = inner

    def text(name: str) -> str | None:
        value = body.get(name)
        return value if isinstance(value, str) else None

    return Refused(
        response.status_code,
        code=text("error") or "",
        message=text("message") or response.reason_phrase or "the service refused",
        retry_after=retry_after(response),
        review_url=text("review_url"),
    )


def body_of(response: httpx.Response) -> dict[str, Any]:
    """The JSON object in a response; empty if there is none."""
    try:
        body = json.loads(response.content)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
