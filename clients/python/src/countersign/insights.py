"""Numbers about what agents claim and what people do with it: `GET /api/v1/insights`."""

from __future__ import annotations

from datetime import date, datetime, timezone
from typing import TYPE_CHECKING, Any, TypedDict, Union, cast

from . import _flows as flows
from ._core import Core

if TYPE_CHECKING:
    from ._steps import Flow

Day = Union[date, str]


class EndedCounts(TypedDict):
    """How asks ended; `expiry_rate` is the share nobody answered in time."""

    answered: int
    defaulted: int
    expired: int
    failed: int
    cancelled: int
    expiry_rate: float | None


class VerdictCounts(TypedDict):
    """What people made of what agents recommended; `open` where nothing was recommended."""

    followed: int
    edited: int
    overruled: int
    open: int
    edit_rate: float | None
    overrule_rate: float | None


class Calibration(TypedDict):
    """Claimed confidence against how often people overruled it; no bins below 20 decisions."""

    decisions: int
    bins: list[dict[str, float]] | None


class ReadingCounts(TypedDict):
    """Whether whoever decided had the time to read."""

    read: int
    hasty: int
    unopened: int
    hasty_rate: float | None


class WaitCounts(TypedDict):
    """How long something took; medians are as near as the bins tell."""

    n: int
    median_seconds: float | None
    p90_seconds: float | None
    bins: list[dict[str, int | None]]


class AgentInsights(TypedDict):
    """One agent beside others."""

    agent: str
    project: str
    ended: EndedCounts
    verdicts: VerdictCounts
    calibration: Calibration
    reading: ReadingCounts


# `from` is no name Python takes in a class.
_Span = TypedDict("_Span", {"from": str, "to": str})


class Insights(_Span):
    """The numbers. What each of them means stands in the server's documentation."""

    asks: int
    dialects: dict[str, int]
    envelopes: dict[str, int]
    intents: list[dict[str, Any]]
    confidence: list[dict[str, float]]
    load: list[dict[str, int]]
    days: list[dict[str, Any]]
    refusals: dict[str, Any]
    actions: list[dict[str, Any]]
    first_view: WaitCounts
    decision: WaitCounts
    ended: EndedCounts
    verdicts: VerdictCounts
    calibration: Calibration
    reading: ReadingCounts
    agents: list[AgentInsights]


def read(
    core: Core, project: str | None, agent: str | None, since: Day | None, until: Day | None
) -> Flow[Insights]:
    """Which numbers are wanted, to what they are."""
    wanted = {"project": project, "agent": agent, "from": _day(since), "to": _day(until)}
    params = {name: value for name, value in wanted.items() if value is not None}
    response = yield from flows.call(core, "GET", f"{flows.API}/insights", params=params)
    return cast(Insights, flows.object_of(response))


def _day(day: Day | None) -> str | None:
    if isinstance(day, datetime):
        # A moment is a day in UTC, as the server counts.
        day = day.astimezone(timezone.utc).date()
    return day.isoformat() if isinstance(day, date) else day
