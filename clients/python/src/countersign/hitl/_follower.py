"""Followers: `Follower` blocks, `AsyncFollower` awaits. Both do the same."""

from __future__ import annotations

import inspect
import time
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Callable, Optional, Union, cast

import httpx

from .._run import AsyncRunner, Runner
from .._steps import Flow, Walk
from ._case import Case, case_of
from ._errors import body_of
from ._follow import Following, Notice
from ._outcome import Completed, Outcome
from ._submit import Submitted, SubmittedBy, submit
from ._wire import Wire

Body = dict[str, Any]
Notify = Callable[[Notice], object]
"""Tells the person. For `AsyncFollower` it may be a coroutine function."""
Send = Callable[[Body], httpx.Response]
Revise = Callable[[Body, Completed], Optional[Body]]
AsyncSend = Callable[[Body], Awaitable[httpx.Response]]
AsyncRevise = Callable[[Body, Completed], Awaitable[Optional[Body]]]


@dataclass(frozen=True)
class Answered:
    """The service answered without a person."""

    body: Mapping[str, Any]


@dataclass(frozen=True)
class Ended:
    """The last case ended, and nobody wants an edit."""

    case_id: str
    outcome: Outcome


Round = Union[Answered, Ended]


class _Both:
    """What both followers are made of.

    `authorization` is the address the service was called at and the `Authorization` header it was
    called with: it is sent to that origin and to no other, wherever the addresses of a case lead.
    """

    _clock: Callable[[], float] = staticmethod(time.time)

    def __init__(self, authorization: tuple[str, str] | None) -> None:
        self._wire = Wire(authorization)

    def _following(self, case: Case, notify: Notify | None) -> Flow[Outcome]:
        following = Following(self._wire, case, self._clock)
        if notify is not None:
            yield following.notice(False)
        return (yield from following.until_over())


def _next(outcome: Outcome) -> Completed | None:
    """The answer that asks for another round."""
    return outcome if isinstance(outcome, Completed) and outcome.action == "edit" else None


class Follower(_Both):
    """Follows cases of any service, by blocking."""

    def __init__(
        self,
        *,
        authorization: tuple[str, str] | None = None,
        http_client: httpx.Client | None = None,
    ) -> None:
        super().__init__(authorization)
        self._own = http_client is None
        self._runner = Runner(http_client or httpx.Client())

    def follow(self, case: Case, notify: Notify | None = None) -> Outcome:
        """Tells the person, and waits until the case is over.

        `notify` is called once now and once for each reminder; it is the only way to the person,
        and nothing is ever decided for them. Without it, somebody else tells them.
        """
        walk = Walk(self._following(case, notify))
        for notice in self._runner._walk(walk):
            if notify is not None:
                notify(notice)
        return cast(Outcome, walk.value)

    def rounds(self, request: Body, send: Send, revise: Revise, notify: Notify) -> Round:
        """Sends a request and follows what comes of it, round after round.

        For as long as the person asks for an `edit`, `revise` makes the next request, which is
        sent with `previous_case_id`; where it gives none, the edit is how it ended. The addresses
        of the next case come with its own 202; if the service continued the case by itself,
        `revise` sees that in `next_case_id`.
        """
        while True:
            response = send(request)
            case = case_of(response)
            if case is None:
                return Answered(body_of(response))
            outcome = self.follow(case, notify)
            edit = _next(outcome)
            revised = None if edit is None else revise(request, edit)
            if revised is None:
                return Ended(case.case_id, outcome)
            request = {**revised, "previous_case_id": case.case_id}

    def submit(
        self,
        case: Case,
        action: str,
        data: Mapping[str, Any] | None = None,
        *,
        via: str,
        by: SubmittedBy,
        verification_evidence: Sequence[Mapping[str, Any]] = (),
    ) -> Submitted:
        """Passes on what a person pressed.

        Call it from the handler of their press and from nowhere else. It is sent once: after a
        failure that may have come too late, following the case tells what is so.

        `verification_evidence` are the proofs the person gave (0.8), passed on untouched: an agent
        makes none and changes none. `VerificationRequired` and `VerificationFailed` say where the
        person can go instead.
        """
        return self._runner.run(
            submit(self._wire, case, action, data, via, by, verification_evidence)
        )

    def close(self) -> None:
        """Closes its connections."""
        if self._own:
            self._runner.http.close()

    def __enter__(self) -> Follower:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class AsyncFollower(_Both):
    """Follows cases of any service, by awaiting."""

    def __init__(
        self,
        *,
        authorization: tuple[str, str] | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        super().__init__(authorization)
        self._own = http_client is None
        self._runner = AsyncRunner(http_client or httpx.AsyncClient())

    async def follow(self, case: Case, notify: Notify | None = None) -> Outcome:
        """As `Follower.follow`; `notify` may be a coroutine function."""
        walk = Walk(self._following(case, notify))
        async for notice in self._runner._walk(walk):
            told = notify(notice) if notify is not None else None
            if inspect.isawaitable(told):
                await told
        return cast(Outcome, walk.value)

    async def rounds(
        self, request: Body, send: AsyncSend, revise: AsyncRevise, notify: Notify
    ) -> Round:
        """As `Follower.rounds`, with coroutine functions."""
        while True:
            response = await send(request)
            case = case_of(response)
            if case is None:
                return Answered(body_of(response))
            outcome = await self.follow(case, notify)
            edit = _next(outcome)
            revised = None if edit is None else await revise(request, edit)
            if revised is None:
                return Ended(case.case_id, outcome)
            request = {**revised, "previous_case_id": case.case_id}

    async def submit(
        self,
        case: Case,
        action: str,
        data: Mapping[str, Any] | None = None,
        *,
        via: str,
        by: SubmittedBy,
        verification_evidence: Sequence[Mapping[str, Any]] = (),
    ) -> Submitted:
        """As `Follower.submit`."""
        return await self._runner.run(
            submit(self._wire, case, action, data, via, by, verification_evidence)
        )

    async def close(self) -> None:
        """Closes its connections."""
        if self._own:
            await self._runner.http.aclose()

    async def __aenter__(self) -> AsyncFollower:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
