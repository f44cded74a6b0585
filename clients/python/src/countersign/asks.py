"""Handles on asks: what is known of one, and what can be done with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from . import _flows as flows
from ._times import Duration, format_time, parse_time, seconds
from .answers import By, Outcome, Revocation, parse_by, parse_outcome
from .errors import Cancelled, Erased, Expired, Failed, NoAnswer, ProtocolError

if TYPE_CHECKING:
    from ._steps import Flow
    from .client import AsyncCountersign, Countersign

A = TypeVar("A", bound=Outcome, covariant=True)


@dataclass(frozen=True)
class Comment:
    """One remark on an ask."""

    by: By | None
    at: datetime
    text: str


@dataclass(frozen=True)
class File:
    """A file a person uploaded as a value of a form."""

    name: str
    content: bytes


class AskView:
    """An ask as it was when last looked at."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = flows.checked_ask(data)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id} {self.kind} {self.state}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AskView) and self._data == other._data

    def __hash__(self) -> int:
        return hash(self.id)

    @property
    def id(self) -> str:
        """Its id, `ask_…`."""
        return cast(str, self._data["id"])

    @property
    def url(self) -> str:
        """The page where people answer it."""
        return cast(str, self._data.get("url", ""))

    @property
    def state(self) -> str:
        """`pending`, `opened`, `in_progress`, `completed`, `expired`, `cancelled` or `failed`."""
        return cast(str, self._data["state"])

    @property
    def is_over(self) -> bool:
        """Whether nothing can change any more."""
        return self.state in flows.OVER

    @property
    def version(self) -> int:
        """Grows with every change."""
        return cast(int, self._data["version"])

    @property
    def kind(self) -> str:
        """The kind of question."""
        return cast(str, self._data.get("kind", ""))

    @property
    def question(self) -> dict[str, Any] | None:
        """The question as the server holds it, which is what a receipt vouches for."""
        return cast("dict[str, Any] | None", self._data.get("question"))

    @property
    def metadata(self) -> dict[str, Any]:
        """The data that the agent attached to the ask; empty if there is none or it was erased."""
        return dict(self._data.get("metadata") or {})

    @property
    def tags(self) -> list[str]:
        """The labels that the ask was created with, each once and in alphabetical order."""
        return list(self._data.get("tags") or ())

    @property
    def assigned_to(self) -> str | None:
        """Who took it."""
        return cast("str | None", self._data.get("assigned_to"))

    @property
    def created_at(self) -> datetime:
        """When it was asked."""
        return parse_time(self._data["created_at"])

    @property
    def expires_at(self) -> datetime | None:
        """When it runs out."""
        at = self._data.get("expires_at")
        return None if at is None else parse_time(at)

    @property
    def followed_by(self) -> str | None:
        """The ask that continues it."""
        return cast("str | None", self._data.get("followed_by"))

    @property
    def receipt(self) -> str | None:
        """The proof, a compact JWS, once it is over. Lists leave it out: `refresh()` has it."""
        return cast("str | None", self._data.get("receipt"))

    @property
    def revoked(self) -> Revocation | None:
        """When and why what was said was called back, if it was."""
        found = self._data.get("revoked")
        return None if found is None else Revocation(parse_time(found["at"]), found.get("reason"))

    @property
    def raw(self) -> dict[str, Any]:
        """Everything the server said."""
        return self._data

    def _outcome(self) -> Outcome:
        """How an ask that is over ended; raises if there is no answer."""
        result = self._data.get("result")
        if not isinstance(result, Mapping):
            raise ProtocolError(f"{self.id} is {self.state}, but the server sent no result")
        outcome, reason = result.get("outcome"), result.get("reason")
        if outcome == "completed":
            answer = result.get("answer")
            if answer is None:
                raise Erased(f"{self.id} was answered, and the answer has been erased", ask=self)
            shared = {k: result.get(k) for k in ("comment", "by", "via", "assurance", "at")}
            return parse_outcome(answer, revoked=self.revoked, **shared)
        raise self._no_answer(outcome, reason, result)

    def _no_answer(self, outcome: Any, reason: Any, result: Mapping[str, Any]) -> Exception:
        if outcome == "expired":
            report = result.get("report")
            said = f"there was no answer to {self.id} in time"
            return Expired(said, ask=self, reason=reason, report=report)
        if outcome == "failed":
            return Failed(f"{self.id} failed: there was no answer in time", ask=self, reason=reason)
        if outcome == "cancelled":
            by = parse_by(result.get("by"))
            who = f" by {by.id}" if by and by.id else ""
            why = f": {reason}" if reason else ""
            return Cancelled(f"{self.id} was cancelled{who}{why}", ask=self, reason=reason)
        return NoAnswer(f"{self.id} ended without an answer ({outcome})", ask=self, reason=reason)

    def _comments(self, body: Mapping[str, Any]) -> list[Comment]:
        return [
            Comment(parse_by(c.get("by")), parse_time(c["at"]), c["text"])
            for c in body.get("comments", ())
        ]


class Ask(AskView, Generic[A]):
    """An ask, from blocking code."""

    def __init__(self, client: Countersign, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self._client = client

    def wait(self, timeout: Duration | None = None) -> A:
        """The outcome, once there is one. It is true only if a person said "go ahead".

        Raises `Expired`, `Failed` or `Cancelled` (all `NoAnswer`) if it ends without one, and
        `StillOpen` after `timeout`, in seconds or as a timedelta; then it can be waited for again.
        """
        limit = None if timeout is None else seconds(timeout)
        self._keep(flows.wait(self._client._core, self._data, limit, self))
        return cast(A, self._outcome())

    def refresh(self) -> Ask[A]:
        """Looks again."""
        return self._keep(flows.fetch(self._client._core, self.id))

    def cancel(self, reason: str | None = None) -> Ask[A]:
        """Withdraws the question."""
        return self._act("cancel", {} if reason is None else {"reason": reason})

    def comment(self, text: str) -> Ask[A]:
        """Leaves a remark for whoever answers."""
        return self._act("comments", {"text": text})

    def comments(self) -> list[Comment]:
        """All remarks."""
        path = f"{flows.path_of(self.id)}/comments"
        response = self._client._runner.run(flows.call(self._client._core, "GET", path))
        return self._comments(flows.object_of(response))

    def extend(self, until: datetime | Duration) -> Ask[A]:
        """Gives people more time: until a moment, or for so long from now."""
        return self._act("extend", _until(until))

    def acknowledge(self) -> None:
        """Says that the secret values of the answer have arrived: the server forgets them."""
        self._client._runner.run(flows.acknowledge(self._client._core, self.id))

    def file(self, value: Mapping[str, Any]) -> File:
        """The file that a value of the answer names."""
        path = f"{flows.path_of(self.id)}/files/{value['sha256']}"
        response = self._client._runner.run(flows.call(self._client._core, "GET", path))
        return File(value.get("name", ""), response.content)

    def _act(self, verb: str, body: dict[str, Any]) -> Ask[A]:
        return self._keep(flows.act(self._client._core, self.id, verb, body))

    def _keep(self, flow: Flow[dict[str, Any]]) -> Ask[A]:
        self._data = self._client._runner.run(flow)
        return self


class AsyncAsk(AskView, Generic[A]):
    """An ask, from async code. As `Ask`, with `await`."""

    def __init__(self, client: AsyncCountersign, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self._client = client

    async def wait(self, timeout: Duration | None = None) -> A:
        """See `Ask.wait`."""
        limit = None if timeout is None else seconds(timeout)
        await self._keep(flows.wait(self._client._core, self._data, limit, self))
        return cast(A, self._outcome())

    async def refresh(self) -> AsyncAsk[A]:
        """Looks again."""
        return await self._keep(flows.fetch(self._client._core, self.id))

    async def cancel(self, reason: str | None = None) -> AsyncAsk[A]:
        """Withdraws the question."""
        return await self._act("cancel", {} if reason is None else {"reason": reason})

    async def comment(self, text: str) -> AsyncAsk[A]:
        """Leaves a remark for whoever answers."""
        return await self._act("comments", {"text": text})

    async def comments(self) -> list[Comment]:
        """All remarks."""
        path = f"{flows.path_of(self.id)}/comments"
        response = await self._client._runner.run(flows.call(self._client._core, "GET", path))
        return self._comments(flows.object_of(response))

    async def extend(self, until: datetime | Duration) -> AsyncAsk[A]:
        """Gives people more time: until a moment, or for so long from now."""
        return await self._act("extend", _until(until))

    async def acknowledge(self) -> None:
        """Says that the secret values of the answer have arrived: the server forgets them."""
        await self._client._runner.run(flows.acknowledge(self._client._core, self.id))

    async def file(self, value: Mapping[str, Any]) -> File:
        """The file that a value of the answer names."""
        path = f"{flows.path_of(self.id)}/files/{value['sha256']}"
        response = await self._client._runner.run(flows.call(self._client._core, "GET", path))
        return File(value.get("name", ""), response.content)

    async def _act(self, verb: str, body: dict[str, Any]) -> AsyncAsk[A]:
        return await self._keep(flows.act(self._client._core, self.id, verb, body))

    async def _keep(self, flow: Flow[dict[str, Any]]) -> AsyncAsk[A]:
        self._data = await self._client._runner.run(flow)
        return self


def _until(until: datetime | Duration) -> dict[str, Any]:
    if not isinstance(until, datetime):
        until = datetime.now(timezone.utc) + timedelta(seconds=seconds(until))
    return {"until": format_time(until)}
