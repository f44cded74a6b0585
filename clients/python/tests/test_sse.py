from __future__ import annotations

import pytest

from countersign._sse import Decoder, Frame


def frames(*chunks: bytes) -> list[Frame]:
    decoder = Decoder()
    return [frame for chunk in chunks for frame in decoder.feed(chunk)]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"data: a\n\n", [Frame("message", "a", None)]),
        (b"data:a\ndata: b\n\n", [Frame("message", "a\nb", None)]),
        (b"event: x\nid: 7\ndata: a\n\n", [Frame("x", "a", "7")]),
        (b": comment\n\ndata: a\n\n", [Frame("message", "a", None)]),
        (b"\xef\xbb\xbfdata: a\n\n", [Frame("message", "a", None)]),
        (
            b"id: 1\ndata: a\n\ndata: b\n\n",
            [Frame("message", "a", "1"), Frame("message", "b", "1")],
        ),
        (b"id: a\0b\ndata: a\n\n", [Frame("message", "a", None)]),
        (b"retry: 2000\nnonsense\n\n", []),
        (b"event: reset\n\n", [Frame("reset", "", None)]),
        (b"data: not ended\n", []),
        (
            "data: a\u2028b\u0085c\x0bd\n\n".encode(),
            [Frame("message", "a\u2028b\u0085c\x0bd", None)],
        ),
    ],
)
def test_frames(raw: bytes, expected: list[Frame]) -> None:
    for ends in (b"\n", b"\r\n", b"\r"):
        turned = raw.replace(b"\n", ends)
        assert frames(turned) == expected
        # However it is cut into pieces.
        assert frames(*(turned[i : i + 1] for i in range(len(turned)))) == expected
        assert frames(*(turned[i : i + 3] for i in range(0, len(turned), 3))) == expected
