"""When to remind: at the times the case names and when the service says so, once each."""

from __future__ import annotations

from collections.abc import Iterable

SAME = 60.0
"""A service tells of a reminder a little after its time; within this it is the same one."""


class Reminders:
    """The reminders of one case. What was due before the start is covered by the first notice."""

    def __init__(self, times: Iterable[float], started: float) -> None:
        self._started = started
        self._given = {at: at <= started for at in times}

    @property
    def next(self) -> float | None:
        """The next one the clock has to give."""
        return min((at for at, given in self._given.items() if not given), default=None)

    def take_due(self, now: float) -> bool:
        """Whether one is due; several that are due together are one."""
        due = [at for at, given in self._given.items() if not given and at <= now]
        self._given.update(dict.fromkeys(due, True))
        return bool(due)

    def take_told(self, at: float) -> bool:
        """Whether what the service tells now is news."""
        if at <= self._started:
            return False
        same = next((known for known in self._given if abs(known - at) <= SAME), at)
        news = not self._given.get(same, False)
        self._given[same] = True
        return news
