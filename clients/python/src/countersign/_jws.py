"""Compact JWS (RFC 7515), narrowed to what a server writes.

Ed25519 and nothing else, a header of three members, and one spelling for everything. The steps come
in the order of every other verifier, so that `InvalidReceipt.code` is the same in all languages.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from ._ed25519 import verifies
from ._times import parse_time
from .canonical import canonical_json
from .errors import InvalidReceipt

LARGEST = 16 << 20
LONGEST_HEADER = 1024

Json = dict[str, Any]


class TrustedKey(NamedTuple):
    """A public key, and when it was retired, in seconds since 1970."""

    public: bytes
    exp: int | None


def trusted_keys(jwks: Mapping[str, Any] | str | bytes) -> dict[str, TrustedKey]:
    """Ed25519 keys by their ids. Keys of other kinds are left aside, as RFC 7517 says."""
    try:
        parsed = json.loads(jwks) if isinstance(jwks, (str, bytes)) else jwks
    except ValueError:
        parsed = None
    listed = parsed.get("keys") if isinstance(parsed, Mapping) else None
    if not isinstance(listed, list):
        raise InvalidReceipt("the keys are not a JWKS", code="keys")
    keys: dict[str, TrustedKey] = {}
    for key in listed:
        if not isinstance(key, Mapping) or (key.get("kty"), key.get("crv")) != ("OKP", "Ed25519"):
            continue
        if key.get("alg", "EdDSA") != "EdDSA" or key.get("use", "sig") != "sig":
            continue
        kid, x, exp = key.get("kid"), key.get("x"), key.get("exp")
        if exp is not None and type(exp) is not int:
            raise InvalidReceipt(
                f"the key {kid} has an exp that is not a whole number", code="keys"
            )
        if isinstance(kid, str) and isinstance(x, str):
            keys[kid] = TrustedKey(_decode("key", x), exp)
    return keys


def opened(jws: str, typ: str, keys: Mapping[str, TrustedKey]) -> tuple[str, Json]:
    """The key that signed a text, and what it claims."""
    kid, signed, payload, signature = _parts(jws, typ)
    raw_signature = _decode("signature", signature)
    key = keys.get(kid)
    if key is None:
        raise InvalidReceipt(f"the key {kid} is not trusted", code="unknown-key")
    # What is no ASCII is in no signed text of ours, and cannot have been signed.
    if not verifies(key.public, raw_signature, signed.encode("utf-8", "surrogatepass")):
        said = "the signature is not valid: the receipt was changed, or signed with another key"
        raise InvalidReceipt(said, code="signature")
    claims = _claims(payload)
    if key.exp is not None and _dated(claims) >= key.exp:
        said = "it is dated after its signing key was retired"
        raise InvalidReceipt(said, code="retired-key")
    return kid, claims


def _dated(claims: Json) -> float:
    """When claims say they were issued, or when the request ended, whichever is later."""
    issued, ended = claims.get("iat"), claims.get("ended_at")
    dates: list[float] = [issued] if type(issued) is int else []
    # Whoever reads the claims refuses a time that is none.
    with suppress(ValueError):
        dates += [parse_time(ended).timestamp()] if isinstance(ended, str) else []
    return max(dates, default=-math.inf)


def peeked(jws: str, typ: str) -> Json:
    """What a text claims, without any reason to believe it."""
    return _claims(_parts(jws, typ)[2])


def _parts(jws: str, typ: str) -> tuple[str, str, str, str]:
    """The name of the key, what was signed, the payload and the signature."""
    if not isinstance(jws, str):
        raise InvalidReceipt(f"it is not a string but {type(jws).__name__}", code="shape")
    if len(jws) > LARGEST:
        raise InvalidReceipt("it is larger than 16 MiB", code="too-large")
    parts = jws.split(".")
    if len(parts) != 3:
        raise InvalidReceipt("it does not consist of three parts separated by dots", code="shape")
    encoded, payload, signature = parts
    spelt = InvalidReceipt("its header is not alg, kid and typ in canonical JSON", code="header")
    if len(encoded) > LONGEST_HEADER:
        raise spelt
    raw = _decode("header", encoded)
    try:
        header = json.loads(raw)
    except (ValueError, RecursionError):
        raise spelt from None
    if not isinstance(header, dict):
        raise spelt
    if "crit" in header:
        raise InvalidReceipt("its header has crit, which Countersign never uses", code="critical")
    if header.get("alg") != "EdDSA":
        raise InvalidReceipt("its algorithm is not EdDSA", code="algorithm")
    if header.get("typ") != typ:
        raise InvalidReceipt(f"it is not a {typ}", code="typ")
    kid = header.get("kid")
    # One spelling: no other member, none twice, no space.
    if not isinstance(kid, str) or raw != _header(kid, typ):
        raise spelt
    return kid, f"{encoded}.{payload}", payload, signature


def _header(kid: str, typ: str) -> bytes:
    try:
        return canonical_json({"alg": "EdDSA", "kid": kid, "typ": typ})
    except ValueError:
        return b""


def _claims(payload: str) -> Json:
    raw = _decode("payload", payload)
    try:
        claims = json.loads(raw)
        whole = isinstance(claims, dict) and canonical_json(claims) == raw
    except (ValueError, RecursionError):
        whole = False
    if not whole:
        said = "its claims cannot be read, or are not canonical JSON"
        raise InvalidReceipt(said, code="claims")
    return dict(claims)


_ALPHABET = re.compile(r"[A-Za-z0-9_-]*\Z")


def _decode(part: str, text: str) -> bytes:
    """Base64url without padding, and with one spelling for each value."""
    if _ALPHABET.match(text) and len(text) % 4 != 1:
        value = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        if base64.urlsafe_b64encode(value).rstrip(b"=").decode() == text:
            return value
    raise InvalidReceipt(f"its {part} is not base64url without padding", code="encoding")
