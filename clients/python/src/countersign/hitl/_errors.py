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


class VerificationRequired(Refused):
    """The answer needs a proof that a person gives it (0.8).

    Nothing is gained by sending it again: the person gives it at `review_url`, if there is one.
    """


class VerificationFailed(Refused):
    """A proof that was passed on does not count (0.8); as with `VerificationRequired`."""


KINDS: dict[str, type[Refused]] = {
    "verification_required": VerificationRequired,
    "verification_failed": VerificationFailed,
}


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

    code = text("error") or ""
    kind = KINDS.get(code, Refused) if response.status_code == 403 else Refused
    return kind(
        response.status_code,
        code=code,
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
