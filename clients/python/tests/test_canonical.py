from __future__ import annotations

import hashlib
import json
import random
import struct
from typing import Any

import pytest

from countersign import canonical_json
from countersign.canonical import format_double, sha256_of


@pytest.mark.parametrize(
    ("bits", "expected"),
    [
        # RFC 8785, appendix B.
        ("0000000000000000", "0"),
        ("8000000000000000", "0"),
        ("0000000000000001", "5e-324"),
        ("8000000000000001", "-5e-324"),
        ("7fefffffffffffff", "1.7976931348623157e+308"),
        ("ffefffffffffffff", "-1.7976931348623157e+308"),
        ("4340000000000000", "9007199254740992"),
        ("c340000000000000", "-9007199254740992"),
        ("4430000000000000", "295147905179352830000"),
        ("44b52d02c7e14af5", "9.999999999999997e+22"),
        ("44b52d02c7e14af6", "1e+23"),
        ("44b52d02c7e14af7", "1.0000000000000001e+23"),
        ("444b1ae4d6e2ef4e", "999999999999999700000"),
        ("444b1ae4d6e2ef4f", "999999999999999900000"),
        ("444b1ae4d6e2ef50", "1e+21"),
        ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
        ("3eb0c6f7a0b5ed8d", "0.000001"),
        ("41b3de4355555553", "333333333.3333332"),
        ("41b3de4355555554", "333333333.33333325"),
        ("41b3de4355555555", "333333333.3333333"),
        ("41b3de4355555556", "333333333.3333334"),
        ("41b3de4355555557", "333333333.33333343"),
        ("becbf647612f3696", "-0.0000033333333333333333"),
        ("43143ff3c1cb0959", "1424953923781206.2"),
    ],
)
def test_doubles_as_ecmascript_writes_them(bits: str, expected: str) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    assert format_double(number) == expected


def test_doubles_read_back_as_they_were() -> None:
    chance = random.Random(42)
    for _ in range(5000):
        (number,) = struct.unpack(">d", chance.randbytes(8))
        if number - number == 0:
            assert float(format_double(number)) == number
    for power in range(-30, 30):
        assert float(format_double(10.0**power)) == 10.0**power


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "null"),
        (True, "true"),
        (0, "0"),
        (-1, "-1"),
        (1.0, "1"),
        (1.5, "1.5"),
        # Whole numbers keep their digits as far as 64 bits reach, and are doubles beyond.
        (9007199254740993, "9007199254740993"),
        (2**64 - 1, "18446744073709551615"),
        (-(2**63), "-9223372036854775808"),
        (2**64, "18446744073709552000"),
        (9007199254740993.0, "9007199254740992"),
        ("€\u2028\x7f/", '"€\u2028\x7f/"'),
        ('"\\\b\f\n\r\t\x00\x1f', '"\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001f"'),
        ([1, [], {}], "[1,[],{}]"),
        ({"b": 1, "a": {"d": [2], "c": None}}, '{"a":{"c":null,"d":[2]},"b":1}'),
        # UTF-16 order: the emoji is two surrogates, which come before U+FB33.
        (
            {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\u0080": 6, "ö": 7},
            '{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"\U0001f600":5,"\ufb33":3}',
        ),
    ],
)
def test_canonical_json(value: Any, expected: str) -> None:
    assert canonical_json(value) == expected.encode()
    assert sha256_of(value) == hashlib.sha256(expected.encode()).hexdigest()
    assert canonical_json(json.loads(expected)) == expected.encode()


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), "\ud800", {1: 2}, {"a": {1}}, object(), 10**400]
)
def test_what_is_no_json_has_no_spelling(value: Any) -> None:
    with pytest.raises(ValueError):
        canonical_json(value)
