"""Waiting for the end of a case, as a flow (see `_steps`).

Events where they are offered, polls everywhere, and the clock where the service falls silent.
Sections 7, 11 and 12 of the protocol.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Callable

import httpx

from .._sse import Frame
from .._steps import Emit, Flow, Send, Sleep
from ..errors import retry_after
from ._case import Case
from ._errors import Malformed, Refused, body_of, refused
from ._outcome import Expired, Outcome, moment, outcome_of
from ._reminders import Reminders
from ._watch import Silence, Watch
from ._wire import Wire

INTERVAL = 30.0
"""The pause between polls where the service names none; it grows while nothing happens."""
LONGEST = 300.0
"""The longest pause of our own, and how often a poll backs up an open stream."""
FAILED = 5.0
"""The first pause after a failure; it doubles."""
GRACE = 60.0
"""How long after its end a case may still be called open, for clocks that disagree."""
LAST = 300.0
"""When we stop asking, however long the service wants to be left alone."""
MOST_GARBLED = 3
"""So often in a row an answer may make no sense."""


@dataclass(frozen=True)
class Notice:
    """What the person is told."""

    case_id: str
    text: str
    review_url: str
    expires_at: datetime
    is_reminder: bool


class Following:
    """One case being followed. `clock` gives seconds since 1970."""

    def __init__(self, wire: Wire, case: Case, clock: Callable[[], float]) -> None:
        self._wire, self._case, self._clock = wire, case, clock
        now = clock()
        self._expires_at = case.expires_at
        self._reminders = Reminders((at.timestamp() for at in case.reminders), now)
        self._engaged = False
        self._tag: str | None = None
        self._said = b""
        asked = case.retry_after
        first = min(now + INTERVAL, self._end) if asked is None else now + asked
        # A case that is over already is looked at once, at once.
        self._due = now if self._end <= now else first
        self._not_before = now
        self._asked = case.retry_after
        self._idle = self._failed = self._garbled = 0
        self._asked_since_end = False

    @property
    def _end(self) -> float:
        return self._expires_at.timestamp()

    @property
    def _last_resort(self) -> float:
        """When the clock decides, whatever the service says or does not say."""
        return self._end + (GRACE if self._asked_since_end else LAST)

    def notice(self, is_reminder: bool) -> Emit:
        """What the person is told."""
        case = self._case
        return Emit(Notice(case.case_id, case.text, case.review_url, self._expires_at, is_reminder))

    def until_over(self) -> Flow[Outcome]:
        """How it ended; emits a notice for each reminder."""
        watch: Watch | None = None
        if self._case.events_url is not None:
            watch = Watch(self._wire, self._case.events_url, self._clock)
        while True:
            now = self._clock()
            if self._reminders.take_due(now) and not self._engaged and now < self._end:
                yield self.notice(True)
            if now >= self._due:
                outcome = yield from self._poll(watch is not None and watch.is_open)
                if outcome is not None:
                    return outcome
                continue
            if now >= self._last_resort:
                return Expired(self._case.default_action, self._expires_at, "clock")
            # A poll may come a little later; what the clock has to give may not.
            promised = min(self._reminders.next or math.inf, self._last_resort)
            wake = min(self._due, promised)
            if watch is None:
                yield Sleep(wake - now)
                continue
            news = yield from watch.listen(wake - now, promised - now)
            if isinstance(news, Silence):
                watch = None
                if news is Silence.OVER:
                    self._hurry()
                continue
            for frame in news:
                outcome = yield from self._heard(frame)
                if outcome is not None:
                    return (yield from self._whole(outcome))

    def _hurry(self) -> None:
        """There is something to see; as soon as the service lets us."""
        self._due = max(self._clock(), self._not_before)

    def _poll(self, listening: bool) -> Flow[Outcome | None]:
        """One poll; the outcome if it is over."""
        try:
            outcome, is_news, asked = yield from self._look()
        except (httpx.TransportError, Refused, Malformed) as error:
            pause = self._pause_after(error)
        else:
            if outcome is not None:
                return outcome
            pause = self._pause(is_news, asked, listening)
        now = self._clock()
        self._asked_since_end |= now >= self._end
        self._due = now + max(1.0, pause)
        return None

    def _pause(self, is_news: bool, asked: float | None, listening: bool) -> float:
        now = self._clock()
        self._idle = 0 if is_news else self._idle + 1
        self._failed = self._garbled = 0
        self._asked = asked
        if asked is not None:
            return max(asked, min(LONGEST, self._end - now)) if listening else asked
        if now >= self._end:
            return FAILED
        # Our own pace: the end is looked at when it comes, and soon again after.
        own = LONGEST if listening else min(INTERVAL * 1.5 ** min(self._idle, 8), LONGEST)
        return min(own, self._end - now)

    def _pause_after(self, error: Exception) -> float:
        asked: float | None = None
        if isinstance(error, Malformed):
            self._garbled += 1
            if self._garbled >= MOST_GARBLED:
                raise error
        elif isinstance(error, Refused):
            if not error.is_passing:
                raise error
            asked = error.retry_after
        own: float = min(FAILED * 2 ** min(self._failed, 10), LONGEST)
        self._failed += 1
        self._not_before = self._clock() + (asked or 0.0)
        return max(own, asked if asked is not None else self._asked or 0.0)

    def _look(self) -> Flow[tuple[Outcome | None, bool, float | None]]:
        headers = {"Accept": "application/json"}
        if self._tag is not None:
            headers["If-None-Match"] = self._tag
        response: httpx.Response = yield Send(self._wire.get(self._case.poll_url, headers))
        asked = retry_after(response)
        if response.status_code == 304:
            return None, False, asked
        if not response.is_success:
            raise refused(response)
        body = body_of(response)
        status = body.get("status")
        if not isinstance(status, str):
            raise Malformed("the response is not HITL: the response has no status")
        self._check(body)
        self._expires_at = moment(body.get("expires_at")) or self._expires_at
        outcome = outcome_of(status, body, self._case.default_action, self._expires_at)
        self._engaged = status == "in_progress"
        is_news = response.content != self._said
        self._said, self._tag = response.content, response.headers.get("etag")
        return outcome, is_news, asked

    def _check(self, body: dict[str, Any]) -> None:
        told = body.get("case_id", self._case.case_id)
        if told != self._case.case_id:
            raise Malformed(f"the status is of case {told}, not {self._case.case_id}")

    def _heard(self, frame: Frame) -> Flow[Outcome | None]:
        """One event; the outcome if it ends the case."""
        if not frame.event.startswith("review."):
            return None
        status = frame.event[len("review.") :]
        try:
            body = json.loads(frame.data)
            if not isinstance(body, dict):
                return None
            self._check(body)
        except (ValueError, Malformed):
            # What cannot be read is left to the polls.
            return None
        if status == "reminder":
            at = moment(body.get("reminder_at"))
            told = self._reminders.take_told(self._clock() if at is None else at.timestamp())
            if told and not self._engaged:
                yield self.notice(True)
            return None
        self._engaged = status == "in_progress"
        try:
            return outcome_of(status, body, self._case.default_action, self._expires_at)
        except Malformed:
            self._hurry()
            return None

    def _whole(self, heard: Outcome) -> Flow[Outcome]:
        """An event says less than a poll, such as who answered: one look more, if it may be had."""
        if self._clock() < self._not_before:
            return heard
        try:
            outcome, _, _ = yield from self._look()
        except (httpx.TransportError, Refused, Malformed):
            return heard
        return outcome or heard
