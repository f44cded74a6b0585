"""Receipts: signed proof of what was asked and what was said, checked without the server."""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import httpx

from ._core import checked_url
from ._jws import TrustedKey, opened, peeked, trusted_keys
from ._times import parse_time
from .answers import By, Outcome, parse_by, parse_outcome
from .canonical import sha256_of
from .errors import InvalidReceipt, ProtocolError, from_response

RECEIPT = "receipt+jwt"
REVOCATIONS = "revocations+jwt"
OUTCOMES = ("completed", "expired", "failed", "cancelled")

Json = dict[str, Any]


@dataclass(frozen=True)
class Receipt:
    """What a verified receipt claims."""

    id: str
    ask: str
    issuer: str
    issued_at: int
    project: str
    agent: str
    kind: str
    prompt: str
    question_sha256: str
    shown_sha256: str
    """Claims what was displayed only where `shown` is `question` or absent."""
    shown: str | None
    """How much of the question the server displayed where it was answered: `question`, `summary`
    or `nothing`; none in older receipts."""
    outcome: str
    answer: Outcome | None
    """What was said, `Defaulted` if nobody did; none unless the outcome is `completed`."""
    comment: str | None
    report: str | None
    reason: str | None
    by: By
    via: str | None
    assurance: str | None
    asked_at: datetime
    taken_up_at: datetime | None
    ended_at: datetime
    redacted: tuple[str, ...]
    """Sensitive fields whose values the receipt leaves out."""
    audit_seq: int
    audit_hash: str
    key_id: str
    claims: Json
    """Everything that was signed."""


def verify_receipt(
    jws: str,
    jwks: Mapping[str, Any] | str | bytes,
    *,
    issuer: str | None = None,
    question: Mapping[str, Any] | None = None,
    revocations: str | Iterable[str] | None = None,
) -> Receipt:
    """Checks a receipt offline, and raises `InvalidReceipt` if it proves nothing.

    `jwks` are the issuer's keys, got from a source you trust (`client.jwks()`, `fetch_jwks()`, a
    file). `issuer` and `question` must be what the receipt names; the question is the one the
    server holds (`ask.question`), which spells out defaults. `revocations` is the signed list of
    what was revoked, all its pages (`client.revocations()`). Needs the extra `verify`.
    """
    keys = trusted_keys(jwks)
    key_id, claims = opened(jws, RECEIPT, keys)
    receipt = _receipt(key_id, claims)
    if issuer is not None and receipt.issuer != issuer.rstrip("/"):
        said = f"issued by {receipt.issuer}, not by {issuer.rstrip('/')}"
        raise InvalidReceipt(said, code="issuer")
    if question is not None and not _is_about(receipt, question):
        raise InvalidReceipt("the receipt is about another question", code="question")
    if revocations is not None:
        pages = [revocations] if isinstance(revocations, str) else list(revocations)
        _refuse_revoked(receipt, pages, keys)
    return receipt


def fetch_jwks(url: str | None = None, *, http_client: httpx.Client | None = None) -> Json:
    """The keys a server signs with; needs no credential. Keep them to verify offline."""
    response = _fetch(checked_url(url) + "/.well-known/jwks.json", http_client)
    keys = json.loads(response.content)
    if not isinstance(keys, dict):
        raise ProtocolError(f"{response.request.url} has no keys")
    return keys


def fetch_revocations(
    url: str | None = None, *, http_client: httpx.Client | None = None
) -> list[str]:
    """The signed list of what a server revoked, all its pages; needs no credential."""
    base = httpx.URL(checked_url(url) + "/api/v1/receipts/revocations")
    pages: list[str] = []
    cursor: str | None = None
    while True:
        page = base.copy_with(params={"cursor": cursor}) if cursor else base
        pages.append(_fetch(str(page), http_client).text.strip())
        cursor = next_page(pages[-1])
        if not cursor:
            return pages


def next_page(jws: str) -> str | None:
    """Where a list of revocations goes on. Not checked: who verifies checks every page."""
    cursor = peeked(jws, REVOCATIONS).get("next")
    return None if cursor is None else str(cursor)


def _fetch(url: str, http_client: httpx.Client | None) -> httpx.Response:
    response = http_client.get(url) if http_client else httpx.get(url)
    if not response.is_success:
        raise from_response(response)
    return response


def _receipt(key_id: str, claims: Json) -> Receipt:
    version = claims.get("v")
    if type(version) is not int or version != 1:
        said = f"version {version!r} is not 1; is there a newer countersign-client?"
        raise InvalidReceipt(said, code="version")
    try:
        return _parsed(key_id, claims)
    except (KeyError, TypeError, ValueError, ProtocolError) as error:
        raise InvalidReceipt(f"a claim is missing or wrong: {error}", code="claims") from error


def _parsed(key_id: str, claims: Json) -> Receipt:
    def text(name: str) -> str:
        if not isinstance(claims[name], str):
            raise TypeError(name)
        return str(claims[name])

    def perhaps(name: str) -> str | None:
        return None if claims.get(name) is None else text(name)

    by, audit, issued_at = parse_by(claims["by"]), claims["audit"], claims["iat"]
    if by is None or type(issued_at) is not int or type(audit["seq"]) is not int:
        raise TypeError("by, iat or audit")
    outcome, ended_at = text("outcome"), text("ended_at")
    answer = claims.get("answer")
    if outcome not in OUTCOMES:
        raise ValueError(f"the outcome {outcome!r}")
    if answer is not None and outcome != "completed":
        raise ValueError("an answer although there was none")
    return Receipt(
        id=text("jti"),
        ask=text("sub"),
        issuer=text("iss"),
        issued_at=issued_at,
        project=text("project"),
        agent=text("agent"),
        kind=text("kind"),
        prompt=text("prompt"),
        question_sha256=text("question_sha256"),
        shown_sha256=text("shown_sha256"),
        shown=perhaps("shown"),
        outcome=outcome,
        answer=None
        if answer is None
        else parse_outcome(
            answer,
            comment=perhaps("comment"),
            by=claims["by"],
            via=perhaps("via"),
            assurance=perhaps("assurance"),
            at=ended_at,
        ),
        comment=perhaps("comment"),
        report=perhaps("report"),
        reason=perhaps("reason"),
        by=by,
        via=perhaps("via"),
        assurance=perhaps("assurance"),
        asked_at=parse_time(text("asked_at")),
        taken_up_at=None if claims.get("taken_up_at") is None else parse_time(text("taken_up_at")),
        ended_at=parse_time(ended_at),
        redacted=tuple(claims.get("redacted", ())),
        audit_seq=audit["seq"],
        audit_hash=str(audit["hash"]),
        key_id=key_id,
        claims=claims,
    )


def _is_about(receipt: Receipt, question: Mapping[str, Any]) -> bool:
    try:
        expected = sha256_of(question)
    except ValueError as error:
        said = f"the question to compare with is not JSON: {error}"
        raise InvalidReceipt(said, code="question") from error
    return hmac.compare_digest(receipt.question_sha256.encode(), expected.encode())


def _refuse_revoked(receipt: Receipt, pages: list[str], keys: Mapping[str, TrustedKey]) -> None:
    """A list that cannot be trusted is as bad as a revoked receipt."""
    goes_on = True
    for page in pages:
        signer, claims = opened(page, REVOCATIONS, keys)
        revoked, revoked_keys = _entries(claims, "revoked"), _entries(claims, "keys")
        if claims.get("iss") != receipt.issuer:
            said = "the list of revocations is from another issuer"
            raise InvalidReceipt(said, code="revocations")
        for entry in revoked:
            if entry.get("jti") == receipt.id:
                raise InvalidReceipt(_revoked("it", entry), code="revoked")
        for entry in revoked_keys:
            if entry.get("kid") in (receipt.key_id, signer):
                raise InvalidReceipt(_revoked("its key", entry), code="revoked")
        goes_on = claims.get("next") is not None
    if goes_on:
        said = "the list of revocations is incomplete; fetch all its pages"
        raise InvalidReceipt(said, code="revocations")


def _entries(claims: Json, name: str) -> list[Json]:
    entries = claims.get(name)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InvalidReceipt("the list of revocations cannot be read", code="revocations")
    return entries


def _revoked(what: str, entry: Json) -> str:
    reason = f": {entry['reason']}" if entry.get("reason") else ""
    return f"{what} was revoked at {entry.get('at')}{reason}"
