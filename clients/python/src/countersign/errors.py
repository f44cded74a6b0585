"""Everything this package raises: one hierarchy under `CountersignError`."""

from __future__ import annotations

import email.utils
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx

if TYPE_CHECKING:
    from .answers import Outcome
    from .asks import AskView


class CountersignError(Exception):
    """The base of all errors of this package."""


class ConfigurationError(CountersignError):
    """Something is missing on this side: a key, an address, an optional dependency."""


class ConnectionFailed(CountersignError):
    """The server could not be reached, also not after several attempts."""


class ProtocolError(CountersignError):
    """The other side does not speak as this version of the package expects."""


class InvalidReceipt(CountersignError):
    """A receipt that proves nothing: forged, altered, revoked, or about something else.

    `code` is one word for the first thing that is wrong, the same in every language: `signature`,
    `unknown-key`, `revoked` and so on.
    """

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


class InvalidEvidence(CountersignError):
    """Passkey evidence that does not prove the answer of a receipt.

    `code` is one word for the first thing that is wrong, the same in every language: `challenge`,
    `origin`, `signature`, `enrolment-key` and so on.
    """

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class FieldProblem:
    """One field the server did not take."""

    field: str
    expected: str
    code: str | None = None


class ApiError(CountersignError):
    """The server refused. Keeps every field of its problem+json (RFC 9457)."""

    def __init__(
        self,
        status: int,
        *,
        code: str = "unknown",
        title: str = "",
        detail: str = "",
        errors: tuple[FieldProblem, ...] = (),
        request_id: str | None = None,
        retry_after: float | None = None,
        help_url: str | None = None,
    ) -> None:
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
        self.errors = errors
        self.request_id = request_id
        self.retry_after = retry_after
        self.help_url = help_url
        super().__init__(self._sentence())

    advice = ""
    """What to do about it, where that is the same every time."""

    def _sentence(self) -> str:
        said = self.detail or self.title or "the server refused"
        # `expected` is the server's own wording, often a whole sentence.
        fields = "; ".join(f"{e.field}: {e.expected}" for e in self.errors)
        if fields and fields not in said:
            said = f"{said} [{fields}]"
        where = f"HTTP {self.status} {self.code}"
        if self.request_id:
            where += f", request {self.request_id}"
        parts = [f"{said} ({where})"]
        if self.advice:
            parts.append(self.advice)
        if self.help_url:
            parts.append(f"See {self.help_url}")
        return ". ".join(parts)


class InvalidRequest(ApiError):
    """400, 413 or 422: the request cannot be taken as it is; `errors` names the fields."""


class Unauthorized(ApiError):
    """401: no credential, or one the server does not know."""

    advice = (
        "Check COUNTERSIGN_API_KEY (or api_key=…) and that COUNTERSIGN_URL names the server "
        "that issued it"
    )


class Forbidden(ApiError):
    """403: the credential is good, but its holder may not do this."""


class NotFound(ApiError):
    """404: nothing there, or nothing this key may know about."""


class Conflict(ApiError):
    """409, 410 or 412: too late, or somebody was faster. `code` says which."""


class KeyReused(Conflict):
    """A function that needs an approval was called with a key that stands for another call.

    `tool` is the function's name, `key` the idempotency key that was sent. The function did not
    run, and no person was asked.
    """

    def __init__(self, refused: ApiError, *, tool: str, key: str) -> None:
        self.tool = tool
        self.key = key
        super().__init__(
            refused.status,
            code=refused.code,
            title=refused.title,
            detail=(
                f'{tool} was not run: the key "{key}" was used before for a call with other '
                "arguments, another prompt or other options"
            ),
            request_id=refused.request_id,
            help_url=refused.help_url,
        )

    advice = (
        "Use the same key only to repeat a call, and another key (or namespace) for another call; "
        "if the prompt or the options changed since, cancel the open ask and use a new key"
    )


class RateLimited(ApiError):
    """429, also after waiting and trying again."""


class ServerError(ApiError):
    """5xx: something is wrong over there. Nothing is known about what was done."""


class TaskError(ApiError):
    """An operation on a task was refused. `code` is the protocol's, like `PRECONDITION_FAILED`.

    `retryable` says whether the same call may succeed later, `details` what the server knows beside
    its sentence: the field that was wrong, the revision the task has now.
    """

    def __init__(
        self,
        status: int,
        *,
        code: str,
        message: str,
        details: dict[str, Any] | None = None,
        retryable: bool = False,
        operation_id: str | None = None,
        correlation_id: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        self.message = message
        self.details = details or {}
        self.retryable = retryable
        self.operation_id = operation_id
        self.correlation_id = correlation_id
        super().__init__(
            status, code=code, detail=message, request_id=request_id, retry_after=retry_after
        )


class NoAnswer(CountersignError):
    """The ask is over and there is no answer. `ask` is the ask, `reason` what is known."""

    def __init__(self, message: str, *, ask: AskView, reason: str | None = None) -> None:
        super().__init__(message)
        self.ask = ask
        self.reason = reason


class Expired(NoAnswer):
    """Nobody answered in time. `report` is what the ask said to do then."""

    def __init__(
        self,
        message: str,
        *,
        ask: AskView,
        reason: str | None = None,
        report: str | None = None,
    ) -> None:
        super().__init__(message, ask=ask, reason=reason)
        self.report = report


class Failed(NoAnswer):
    """The ask failed: nobody answered in time, and it was set to fail then."""


class Cancelled(NoAnswer):
    """The ask was withdrawn."""


class Erased(NoAnswer):
    """There was an answer, and it has been erased since."""


class StillOpen(CountersignError, TimeoutError):
    """`wait(timeout=…)` ran out. The ask is still open: wait again, or cancel it."""

    def __init__(self, message: str, *, ask: AskView) -> None:
        super().__init__(message)
        self.ask = ask


class Denied(CountersignError):
    """What needed an approval was not approved, and did not run. `reason` is the person's."""

    def __init__(
        self,
        message: str,
        *,
        reason: str | None = None,
        ask: AskView | None = None,
        answer: Outcome | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.ask = ask
        self.answer = answer


_CLASSES: dict[int, type[ApiError]] = {
    400: InvalidRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Conflict,
    412: Conflict,
    413: InvalidRequest,
    422: InvalidRequest,
    429: RateLimited,
}


def from_response(response: httpx.Response) -> ApiError:
    """The error a response stands for. Its body must have been read."""
    body = _problem(response)
    status = response.status_code
    address = str(body.get("type", ""))
    detail = str(body.get("detail") or "")
    if response.is_redirect:
        to = response.headers.get("location", "another address")
        detail = (
            f"the server redirects to {to}; set COUNTERSIGN_URL to the URL of the server itself"
        )
    is_ours = address.startswith("/errors/")
    if status == 404 and not is_ours:
        # No word of ours: not "there is no such ask", but nobody there who knows asks.
        detail = f"no Countersign API at {response.request.url}; check COUNTERSIGN_URL"
    return _class_of(status)(
        status,
        code=address.rsplit("/", 1)[-1] or "unknown",
        title=str(body.get("title") or response.reason_phrase),
        detail=detail,
        errors=tuple(_fields(body.get("errors"))),
        request_id=response.headers.get("x-request-id"),
        retry_after=retry_after(response),
        help_url=str(response.request.url.join(address)) if is_ours else None,
    )


def retry_after(response: httpx.Response) -> float | None:
    """`Retry-After` in seconds: a number, or a date seen from now."""
    value = response.headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        date = email.utils.parsedate_to_datetime(value)
    except (TypeError, ValueError, IndexError):
        return None
    return max(0.0, date.timestamp() - time.time())


def _class_of(status: int) -> type[ApiError]:
    return ServerError if status >= 500 else _CLASSES.get(status, ApiError)


def _problem(response: httpx.Response) -> dict[str, Any]:
    try:
        body = json.loads(response.content)
    except ValueError:
        # A proxy's page, not the server's words: its status has to do.
        return {}
    return body if isinstance(body, dict) else {}


def _fields(errors: Any) -> list[FieldProblem]:
    if not isinstance(errors, list):
        return []
    return [
        FieldProblem(str(e.get("field", "")), str(e.get("expected", "")), e.get("code"))
        for e in errors
        if isinstance(e, dict)
    ]
