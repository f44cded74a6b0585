"""The stream of one case. Section 12 of the protocol."""

from __future__ import annotations

from enum import Enum
from typing import Callable, Union

import httpx

from .._sse import Decoder, Frame
from .._steps import Chunk, Flow, Open, Sleep
from ._errors import Refused, refused
from ._wire import Wire

SILENCE = 90.0
"""A stream that says nothing for this long may be dead; opening it again costs little."""
BRIEF = 5.0
"""So late somebody may be who has to be back at some moment and reads in a stream until then."""
MOST_FAILURES = 5
"""So often in a row a stream may fail before polls alone have to do."""
PAUSE = 2.0
"""The pause before a stream is opened again; it doubles."""
LONGEST_PAUSE = 60.0


class Silence(Enum):
    """Why a stream tells nothing more."""

    NO_STREAM = "no stream is available"
    OVER = "a poll says how it ended"


News = Union[Silence, list[Frame]]


class Watch:
    """The stream, open or about to be opened again."""

    def __init__(self, wire: Wire, url: str, clock: Callable[[], float]) -> None:
        self._wire, self._url, self._clock = wire, url, clock
        self._decoder: Decoder | None = None
        self._last: str | None = None
        self._reopen_at = clock()
        self._failures = 0
        self._patience = 0.0

    @property
    def is_open(self) -> bool:
        """Whether something would be heard if it happened."""
        return self._decoder is not None

    def listen(self, length: float, at_most: float) -> Flow[News]:
        """What is told next; nothing if that takes longer than about `length`.

        By no means later than `at_most`, give or take `BRIEF`.
        """
        # How long one read may take is settled when a stream is opened: one that is too patient for
        # what is due is opened again where it was.
        if self._patience > max(at_most, BRIEF):
            self._decoder = None
        if self._decoder is None:
            pause = self._reopen_at - self._clock()
            if pause > 0:
                yield Sleep(min(pause, length))
                return []
            # Half of the time that is left, so that few more are opened until then.
            self._patience = min(SILENCE, max(1.0, length), max(BRIEF, at_most / 2))
            return (yield from self._connect())
        try:
            chunk: bytes = yield Chunk()
        except httpx.ReadTimeout:
            # Nobody reads on in a stream that was given up: it is opened again where it was.
            self._decoder = None
            return []
        except httpx.TransportError as error:
            return self._broken(error)
        if not chunk:
            return self._broken(None)
        frames = list(self._decoder.feed(chunk))
        for frame in frames:
            self._failures = 0
            self._last = frame.id or self._last
        return frames

    def _connect(self) -> Flow[News]:
        headers = {"Accept": "text/event-stream"}
        if self._last is not None:
            headers["Last-Event-ID"] = self._last
        try:
            request = self._wire.get(self._url, headers, self._patience)
            response: httpx.Response = yield Open(request)
        except httpx.TransportError as error:
            return self._broken(error)
        if response.status_code == 204:
            return Silence.OVER
        kind = response.headers.get("content-type", "")
        if response.status_code == 200 and kind.startswith("text/event-stream"):
            self._decoder = Decoder()
            return []
        if not response.is_success:
            no = refused(response)
            if no.is_passing:
                return self._broken(no)
        # Somebody else's page, or a no: the poll finds out which.
        return Silence.NO_STREAM

    def _broken(self, error: Exception | None) -> News:
        """It ended or did not begin; it is opened again later, each time a little later."""
        self._decoder = None
        self._failures += 1
        if self._failures > MOST_FAILURES:
            return Silence.NO_STREAM
        asked = error.retry_after or 0.0 if isinstance(error, Refused) else 0.0
        pause: float = min(PAUSE * 2 ** (self._failures - 1), LONGEST_PAUSE)
        self._reopen_at = self._clock() + max(pause, asked)
        return []
