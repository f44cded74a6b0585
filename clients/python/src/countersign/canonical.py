"""Canonical JSON, the one spelling that is hashed.

RFC 8785, except that whole numbers of 64 bits keep all their digits: the RFC rounds them to a
double, and two questions a person can tell apart would have the same hash.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any


def canonical_json(value: Any) -> bytes:
    """The bytes of a JSON value in their one spelling. What is no JSON is a `ValueError`."""
    parts: list[str] = []
    _write(value, parts)
    # A lone surrogate is no text and cannot be encoded; that is a ValueError as well.
    return "".join(parts).encode("utf-8")


def sha256_of(value: Any) -> str:
    """The SHA-256 of a JSON value, in hex."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def _write(value: Any, out: list[str]) -> None:
    if value is None or isinstance(value, (bool, str)):
        out.append(json.dumps(value, ensure_ascii=False))
    elif isinstance(value, int):
        out.append(_format_whole(value))
    elif isinstance(value, float):
        out.append(format_double(value))
    elif isinstance(value, Mapping):
        _write_object(value, out)
    elif isinstance(value, (list, tuple)):
        out.append("[")
        for n, item in enumerate(value):
            if n:
                out.append(",")
            _write(item, out)
        out.append("]")
    else:
        raise ValueError(f"not JSON: {type(value).__name__}")


def _write_object(members: Mapping[Any, Any], out: list[str]) -> None:
    if not all(isinstance(key, str) for key in members):
        raise ValueError("not JSON: a key that is not a string")
    out.append("{")
    # By UTF-16 code units, as the RFC orders them.
    for n, key in enumerate(sorted(members, key=lambda key: key.encode("utf-16-be"))):
        if n:
            out.append(",")
        out.append(json.dumps(key, ensure_ascii=False))
        out.append(":")
        _write(members[key], out)
    out.append("}")


def _format_whole(number: int) -> str:
    if -(2**63) <= number < 2**64:
        return str(int(number))
    try:
        return format_double(float(number))
    except OverflowError as error:
        raise ValueError("not JSON: a number beyond the range of a double") from error


def format_double(number: float) -> str:
    """A double as ECMAScript writes it (`Number::toString`)."""
    if not math.isfinite(number):
        raise ValueError("not JSON: NaN and infinities are not allowed")
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    # Both languages use the shortest digits that read back the same; they differ in layout.
    mantissa, _, exponent = f"{abs(number)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    return sign + _laid_out(digits, point)


def _laid_out(digits: str, point: int) -> str:
    """Digits with the decimal point after the first `point` of them."""
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    power = point - 1
    exponent = f"e{'+' if power >= 0 else '-'}{abs(power)}"
    return f"{digits[0]}{'.' + digits[1:] if count > 1 else ''}{exponent}"
