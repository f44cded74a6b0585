"""Server-sent events, from bytes.

httpx's `iter_lines` splits at every line separator Unicode knows; U+2028 in an answer would cut a
frame in two. Here only CR, LF and CRLF end a line, as the specification says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Frame:
    """One event of a stream."""

    event: str
    data: str
    id: str | None
    """The last id the stream named, also on an earlier frame."""


class Decoder:
    """Takes bytes as they come, gives the frames that became whole."""

    def __init__(self) -> None:
        self._rest = b""
        self._after_cr = False
        self._event = ""
        self._data: list[str] = []
        self._id: str | None = None
        self._first = True

    def feed(self, chunk: bytes) -> Iterator[Frame]:
        """The frames that these bytes complete."""
        for line in self._lines(chunk):
            text = line.decode("utf-8", "replace")
            if self._first:
                text, self._first = text.removeprefix("\ufeff"), False
            if not text:
                yield from self._dispatch()
            else:
                self._field(text)

    def _lines(self, chunk: bytes) -> Iterator[bytes]:
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        self._after_cr = chunk.endswith(b"\r") if chunk else self._after_cr
        lines = (self._rest + chunk).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest = lines.pop()
        yield from lines

    def _field(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._event = value
        elif name == "data":
            self._data.append(value)
        elif name == "id" and "\0" not in value:
            self._id = value
        # Comments (no name) are heartbeats; `retry` is ours to judge.

    def _dispatch(self) -> Iterator[Frame]:
        event, data = self._event or "message", self._data
        named = bool(self._event)
        self._event, self._data = "", []
        # The specification drops frames without data; `ready` and `reset` say enough by name.
        if data or named:
            yield Frame(event, "\n".join(data), self._id)
