"""The clients: `Countersign` blocks, `AsyncCountersign` awaits. Both do the same."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import httpx

from . import _flows as flows
from . import insights, questions
from ._core import Core
from ._run import AsyncRunner, Runner
from ._times import Duration, seconds
from .answers import (
    ApproveOutcome,
    ChooseOutcome,
    ConfirmOutcome,
    ConverseOutcome,
    EscalateOutcome,
    Outcome,
    ProvideOutcome,
)
from .asks import Ask, AsyncAsk
from .events import Event, parse_event
from .forms import Form, refuse_unknown
from .insights import Day, Insights
from .questions import AskOptions, Option
from .receipts import Receipt, verify_receipt
from .tasks import AsyncTasks, Tasks

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._steps import Flow

Ap = TypeVar("Ap")
Ch = TypeVar("Ch")
Pr = TypeVar("Pr")
Co = TypeVar("Co")
Es = TypeVar("Es")
Cv = TypeVar("Cv")
An = TypeVar("An")


class Asking(Generic[Ap, Ch, Pr, Co, Es, Cv, An]):
    """The questions, for both clients.

    Each returns a handle at once; its `wait()` gives the answer. The type parameters are the
    handles by kind of question: `Ask[…]` here, a coroutine of `AsyncAsk[…]` there.
    """

    def approve(
        self,
        prompt: str,
        *,
        context: str | None = None,
        details: Mapping[str, Any] | None = None,
        editable: bool = False,
        reject_requires_reason: bool = False,
        **options: Unpack[AskOptions],
    ) -> Ap:
        """Yes or no to an action: `Approved`, `Rejected` or `ChangesRequested`.

        With `editable` people may change the details; `Approved.edits` then holds them, whole.
        """
        refuse_unknown(options, AskOptions, Asking.approve)
        made: Ap = self._ask(
            questions.approve(
                prompt,
                context=context,
                details=details,
                editable=editable,
                reject_requires_reason=reject_requires_reason,
            ),
            options,
        )
        return made

    def choose(
        self,
        prompt: str,
        choices: Mapping[str, str] | Iterable[Option],
        *,
        context: str | None = None,
        pick: Literal["one", "many"] = "one",
        suggested: str | None = None,
        **options: Unpack[AskOptions],
    ) -> Ch:
        """One or more of several: `Chosen`."""
        refuse_unknown(options, AskOptions, Asking.choose)
        made: Ch = self._ask(
            questions.choose(prompt, choices, context=context, pick=pick, suggested=suggested),
            options,
        )
        return made

    def provide(
        self,
        prompt: str,
        form: Form | Mapping[str, Any],
        *,
        context: str | None = None,
        **options: Unpack[AskOptions],
    ) -> Pr:
        """Values only a person can supply: `Provided`."""
        refuse_unknown(options, AskOptions, Asking.provide)
        made: Pr = self._ask(questions.provide(prompt, form, context=context), options)
        return made

    def confirm(
        self,
        prompt: str,
        items: Mapping[str, str] | Iterable[Option] = (),
        *,
        context: str | None = None,
        yes: str = "Go ahead",
        no: str = "Stop",
        **options: Unpack[AskOptions],
    ) -> Co:
        """Go ahead with exactly these items, or not: `Confirmed` or `Declined`."""
        refuse_unknown(options, AskOptions, Asking.confirm)
        made: Co = self._ask(
            questions.confirm(prompt, items, context=context, yes=yes, no=no), options
        )
        return made

    def escalate(
        self,
        prompt: str,
        *,
        context: str | None = None,
        error: BaseException | Mapping[str, Any] | None = None,
        params: Mapping[str, Any] | None = None,
        **options: Unpack[AskOptions],
    ) -> Es:
        """Something failed: `Retry` (perhaps with other params), `Skip` or `Abort`."""
        refuse_unknown(options, AskOptions, Asking.escalate)
        made: Es = self._ask(
            questions.escalate(prompt, context=context, error=error, params=params), options
        )
        return made

    def converse(
        self, prompt: str, *, context: str | None = None, **options: Unpack[AskOptions]
    ) -> Cv:
        """A message that wants a free answer: `Replied`."""
        refuse_unknown(options, AskOptions, Asking.converse)
        made: Cv = self._ask(questions.converse(prompt, context=context), options)
        return made

    def ask(self, question: Mapping[str, Any], **options: Unpack[AskOptions]) -> An:
        """Any question, as the API takes it: `{"kind": …, "prompt": …, …}`."""
        refuse_unknown(options, AskOptions, Asking.ask)
        made: An = self._ask(question, options)
        return made

    def _ask(self, question: Mapping[str, Any], options: AskOptions) -> Any:
        raise NotImplementedError


class Countersign(
    Asking[
        Ask[ApproveOutcome],
        Ask[ChooseOutcome],
        Ask[ProvideOutcome],
        Ask[ConfirmOutcome],
        Ask[EscalateOutcome],
        Ask[ConverseOutcome],
        Ask[Outcome],
    ]
):
    """A client for blocking code. Safe to share between threads.

    `url` and `api_key` default to `COUNTERSIGN_URL` (else http://localhost:3402) and
    `COUNTERSIGN_API_KEY`, or to what is set for A2H (`A2H_BASE_URL`, `A2H_API_KEY`). `timeout`
    bounds one request, `max_retries` how often it is tried again, `outage` how long `wait()` and
    `events()` put up with a server that cannot be reached. An `http_client` of your own (proxies,
    certificates) is used as it is and not closed.
    """

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: Duration = 30,
        max_retries: int = 4,
        outage: Duration = 300,
        http_client: httpx.Client | None = None,
    ) -> None:
        self._core = _core(url, api_key, timeout, max_retries, outage)
        self._owns_http = http_client is None
        self._runner = Runner(http_client or httpx.Client())

    @property
    def tasks(self) -> Tasks:
        """Work a person owns and an agent does: every operation of HACP."""
        return Tasks(self._core, self._runner, self)

    def __enter__(self) -> Countersign:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # `Countersign().approve(…).wait()` keeps no client to close.
        with contextlib.suppress(Exception):
            self.close()

    def __repr__(self) -> str:
        return f"<Countersign {self._core.url}>"

    def close(self) -> None:
        """Closes the connections."""
        if self._owns_http:
            self._runner.http.close()

    def fetch(self, ask_id: str) -> Ask[Outcome]:
        """An ask by its id, for example after a restart of the agent."""
        return Ask(self, self._runner.run(flows.fetch(self._core, ask_id)))

    def asks(
        self,
        *,
        state: str | Iterable[str] = "open",
        kind: str | None = None,
        priority: str | None = None,
    ) -> Iterator[Ask[Outcome]]:
        """The asks this key may see, in pages fetched as you go. `state="all"` for all."""
        for item in self._runner.iterate(_listed(self._core, state, kind, priority)):
            yield Ask(self, item)

    def events(self, after: int | str | None = None) -> Iterator[Event[Ask[Outcome]]]:
        """What happens to the asks this key may see, for ever; from `after`, or from now on."""
        for frame in self._runner.iterate(flows.events(self._core, after)):
            yield parse_event(frame, lambda data: Ask(self, data))

    def insights(
        self,
        *,
        project: str | None = None,
        agent: str | None = None,
        since: Day | None = None,
        until: Day | None = None,
    ) -> Insights:
        """Numbers about what agents claim and what people do with it, of all this key may see.

        The last 30 days unless told; days are in UTC, and `until` counts too. They are a moment
        behind.
        """
        return self._runner.run(insights.read(self._core, project, agent, since, until))

    def jwks(self) -> dict[str, Any]:
        """The keys receipts are signed with. Keep them to verify offline."""
        return flows.object_of(self._runner.run(flows.call(self._core, "GET", JWKS)))

    def revocations(self) -> list[str]:
        """The signed list of what was revoked."""
        return self._runner.run(flows.revocations(self._core))

    def verify(
        self,
        receipt: str,
        *,
        question: Mapping[str, Any] | None = None,
        issuer: str | None = None,
    ) -> Receipt:
        """Checks a receipt against the server's keys and its list of revocations."""
        return verify_receipt(
            receipt, self.jwks(), question=question, issuer=issuer, revocations=self.revocations()
        )

    def _ask(self, question: Mapping[str, Any], options: AskOptions) -> Ask[Outcome]:
        return Ask(self, self._runner.run(_create(self._core, question, options)))


class AsyncCountersign(
    Asking[
        Coroutine[Any, Any, AsyncAsk[ApproveOutcome]],
        Coroutine[Any, Any, AsyncAsk[ChooseOutcome]],
        Coroutine[Any, Any, AsyncAsk[ProvideOutcome]],
        Coroutine[Any, Any, AsyncAsk[ConfirmOutcome]],
        Coroutine[Any, Any, AsyncAsk[EscalateOutcome]],
        Coroutine[Any, Any, AsyncAsk[ConverseOutcome]],
        Coroutine[Any, Any, AsyncAsk[Outcome]],
    ]
):
    """A client for async code, on asyncio and on trio. Takes what `Countersign` takes."""

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: Duration = 30,
        max_retries: int = 4,
        outage: Duration = 300,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        self._core = _core(url, api_key, timeout, max_retries, outage)
        self._owns_http = http_client is None
        self._runner = AsyncRunner(http_client or httpx.AsyncClient())

    @property
    def tasks(self) -> AsyncTasks:
        """Work a person owns and an agent does: every operation of HACP."""
        return AsyncTasks(self._core, self._runner, self)

    async def __aenter__(self) -> AsyncCountersign:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<AsyncCountersign {self._core.url}>"

    async def aclose(self) -> None:
        """Closes the connections."""
        if self._owns_http:
            await self._runner.http.aclose()

    async def fetch(self, ask_id: str) -> AsyncAsk[Outcome]:
        """An ask by its id, for example after a restart of the agent."""
        return AsyncAsk(self, await self._runner.run(flows.fetch(self._core, ask_id)))

    async def asks(
        self,
        *,
        state: str | Iterable[str] = "open",
        kind: str | None = None,
        priority: str | None = None,
    ) -> AsyncIterator[AsyncAsk[Outcome]]:
        """The asks this key may see, in pages fetched as you go. `state="all"` for all."""
        async for item in self._runner.iterate(_listed(self._core, state, kind, priority)):
            yield AsyncAsk(self, item)

    async def events(
        self, after: int | str | None = None
    ) -> AsyncIterator[Event[AsyncAsk[Outcome]]]:
        """What happens to the asks this key may see, for ever; from `after`, or from now on."""
        async for frame in self._runner.iterate(flows.events(self._core, after)):
            yield parse_event(frame, lambda data: AsyncAsk(self, data))

    async def insights(
        self,
        *,
        project: str | None = None,
        agent: str | None = None,
        since: Day | None = None,
        until: Day | None = None,
    ) -> Insights:
        """Numbers about what agents claim and what people do with it, of all this key may see.

        The last 30 days unless told; days are in UTC, and `until` counts too. They are a moment
        behind.
        """
        return await self._runner.run(insights.read(self._core, project, agent, since, until))

    async def jwks(self) -> dict[str, Any]:
        """The keys receipts are signed with. Keep them to verify offline."""
        return flows.object_of(await self._runner.run(flows.call(self._core, "GET", JWKS)))

    async def revocations(self) -> list[str]:
        """The signed list of what was revoked."""
        return await self._runner.run(flows.revocations(self._core))

    async def verify(
        self,
        receipt: str,
        *,
        question: Mapping[str, Any] | None = None,
        issuer: str | None = None,
    ) -> Receipt:
        """Checks a receipt against the server's keys and its list of revocations."""
        jwks, revoked = await self.jwks(), await self.revocations()
        return verify_receipt(receipt, jwks, question=question, issuer=issuer, revocations=revoked)

    async def _ask(self, question: Mapping[str, Any], options: AskOptions) -> AsyncAsk[Outcome]:
        return AsyncAsk(self, await self._runner.run(_create(self._core, question, options)))


JWKS = "/.well-known/jwks.json"


def _core(
    url: str | None,
    api_key: str | None,
    timeout: Duration,
    max_retries: int,
    outage: Duration,
) -> Core:
    return Core.of(
        url, api_key, timeout=seconds(timeout), max_retries=max_retries, outage=seconds(outage)
    )


def _create(core: Core, question: Mapping[str, Any], options: AskOptions) -> Flow[dict[str, Any]]:
    key = options.get("idempotency_key") or str(uuid.uuid4())
    return flows.create(core, questions.new_ask(question, options), key)


def _listed(
    core: Core, state: str | Iterable[str], kind: str | None, priority: str | None
) -> Flow[None]:
    states = [state] if isinstance(state, str) else list(state)
    params: dict[str, Any] = {"state": states, "limit": 100}
    if kind is not None:
        params["kind"] = kind
    if priority is not None:
        params["priority"] = priority
    return flows.listed(core, "/asks", "asks", params)
