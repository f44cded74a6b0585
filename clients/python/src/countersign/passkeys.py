"""Passkey evidence: that a person's own passkey signed the answer of a receipt.

It is checked without trusting the server that issued the receipt. The steps come in the order
of every other verifier, so that `InvalidEvidence.code` is the same in all languages.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from ._cose import verifies
from ._jws import opened, trusted_keys
from .canonical import canonical_json, sha256_of
from .errors import InvalidEvidence, InvalidReceipt
from .receipts import Receipt

DOMAIN = b"countersign passkey answer v1\0"
BLOCK = "block+jwt"
USER_PRESENT = 0x01
USER_VERIFIED = 0x04
ZERO = "0" * 64

Json = dict[str, Any]


def verify_evidence(
    receipt: Receipt,
    evidence: Mapping[str, Any],
    *,
    origin: str | None = None,
    enrolment: Mapping[str, Any] | None = None,
    jwks: Mapping[str, Any] | str | bytes | None = None,
) -> None:
    """Checks that a passkey signed the answer of a verified receipt, or raises `InvalidEvidence`.

    `evidence` is what the server sends beside the receipt. `origin` is where answers were
    confirmed, if that is not the issuer's own address. `enrolment` is the proof that the passkey
    was enrolled before (`GET /api/v1/asks/{id}/receipt/enrolment`); it needs the issuer's keys in
    `jwks`. Needs the extra `verify`.
    """
    statement = _statement(receipt, evidence)
    public_key, data, client_data, signature = (
        _bytes(evidence, name)
        for name in ("public_key", "authenticator_data", "client_data_json", "signature")
    )
    _bytes(evidence, "credential_id")
    _about(receipt, statement)
    expected = _origin_of(origin if origin is not None else receipt.issuer)
    _client_data(client_data, statement, evidence, expected)
    _authenticator_data(data, evidence, expected)
    signed = data + hashlib.sha256(client_data).digest()
    good = verifies(public_key, signature, signed)
    if good is None:
        said = "the public key is not a COSE key for ES256, ES384, EdDSA or RS256"
        raise InvalidEvidence(said, code="public-key")
    if not good:
        said = "the signature is not valid: the data was changed, or another key signed it"
        raise InvalidEvidence(said, code="signature")
    if enrolment is not None:
        if jwks is None:
            raise ValueError("checking an enrolment needs jwks, the keys of the issuer")
        _enrolled(receipt, evidence, statement, enrolment, jwks)


def _statement(receipt: Receipt, evidence: Mapping[str, Any]) -> Json:
    if (
        receipt.outcome != "completed"
        or receipt.assurance != "passkey"
        or "answer" not in receipt.claims
        or receipt.claims["by"].get("kind") != "human"
    ):
        said = "the receipt does not claim an answer confirmed with a passkey"
        raise InvalidEvidence(said, code="assurance")
    statement = evidence.get("statement") if isinstance(evidence, Mapping) else None
    if not isinstance(statement, Mapping):
        raise InvalidEvidence("the evidence has no statement", code="encoding")
    version = statement.get("v")
    if type(version) is not int or version != 1:
        raise InvalidEvidence("the statement is not of version 1", code="version")
    return dict(statement)


def _bytes(evidence: Mapping[str, Any], name: str) -> bytes:
    text = evidence.get(name)
    if isinstance(text, str) and re.fullmatch(r"[A-Za-z0-9_-]*", text):
        try:
            raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except ValueError:
            raw = None
        if raw is not None and base64.urlsafe_b64encode(raw).rstrip(b"=").decode() == text:
            return raw
    raise InvalidEvidence(f"{name} is not base64url without padding", code="encoding")


def _about(receipt: Receipt, statement: Json) -> None:
    answered: Json = {"answer": receipt.claims["answer"]}
    if receipt.claims.get("comment") is not None:
        answered["comment"] = receipt.claims["comment"]
    if receipt.claims.get("redacted"):
        answered["redacted"] = receipt.claims["redacted"]
    for name, expected, code in (
        ("ask", receipt.ask, "ask"),
        ("human", receipt.claims["by"].get("id"), "person"),
        ("question_sha256", receipt.question_sha256, "question"),
        ("shown_sha256", receipt.shown_sha256, "shown"),
        ("answer_sha256", sha256_of(answered), "answer"),
    ):
        if statement.get(name) != expected:
            raise InvalidEvidence(f"the passkey signed another {name}", code=code)


def _no_member_twice(pairs: list[tuple[str, Any]]) -> Json:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a duplicate member")
    return members


def _client_data(raw: bytes, statement: Json, evidence: Mapping[str, Any], origin: str) -> None:
    try:
        client = json.loads(raw.decode("utf-8"), object_pairs_hook=_no_member_twice)
    except (ValueError, RecursionError):
        client = None
    texts = ("type", "challenge", "origin")
    if not isinstance(client, dict) or not all(isinstance(client.get(n), str) for n in texts):
        said = "the client data is not the JSON of a WebAuthn client"
        raise InvalidEvidence(said, code="client-data")
    if client["type"] != "webauthn.get":
        raise InvalidEvidence("the client data is not of the type webauthn.get", code="type")
    challenge = hashlib.sha256(DOMAIN + canonical_json(statement)).digest()
    try:
        signed = _bytes(client, "challenge")
    except InvalidEvidence:
        signed = b""
    if signed != challenge:
        said = "the challenge in the client data is not the hash of the statement"
        raise InvalidEvidence(said, code="challenge")
    framed = client.get("crossOrigin", False) is not False
    if client["origin"] != origin or evidence.get("origin") != origin or framed:
        said = "the answer was confirmed on a website other than the issuer's"
        raise InvalidEvidence(said, code="origin")


def _authenticator_data(data: bytes, evidence: Mapping[str, Any], origin: str) -> None:
    if len(data) < 37:
        raise InvalidEvidence("the authenticator data is too short", code="authenticator-data")
    host = origin.partition("://")[2].partition(":")[0]
    rp_id = evidence.get("rp_id")
    if rp_id != host or hashlib.sha256(host.encode()).digest() != data[:32]:
        said = "the passkey was made for another relying party than the issuer"
        raise InvalidEvidence(said, code="rp-id")
    if not data[32] & USER_PRESENT:
        said = "the authenticator did not confirm that a person was present"
        raise InvalidEvidence(said, code="user-presence")
    if not data[32] & USER_VERIFIED:
        said = "the authenticator did not verify the person"
        raise InvalidEvidence(said, code="user-verification")


def _origin_of(address: str) -> str:
    scheme, separator, rest = address.partition("://")
    return scheme + separator + rest.partition("/")[0]


def _enrolled(
    receipt: Receipt,
    evidence: Mapping[str, Any],
    statement: Json,
    proof: Mapping[str, Any],
    jwks: Mapping[str, Any] | str | bytes,
) -> None:
    """That the record is the enrolment of this passkey, and in a block the issuer signed."""
    other = InvalidEvidence("the record is not the enrolment of the passkey", code="enrolment")
    try:
        record = proof["record"]
        body = record["body"]
        event = json.loads(body)
        what, key = event["what"], evidence["key"]
        holder = what["holder"]
        enrolment = holder["enrolment"]
        named = (record["subject"], event["subject"], record["seq"], event["seq"], what["event"])
        subject = {"kind": "key", "id": key}
        if named != (key, subject, 1, 1, "key_issued") or holder["kind"] != "passkey":
            raise other
    except (KeyError, TypeError, ValueError):
        raise other from None
    human = statement["human"]
    if holder.get("human") != human or event.get("by") != {"kind": "human", "id": human}:
        raise InvalidEvidence("another person enrolled the passkey", code="enrolment-person")
    credential = hashlib.sha256(_bytes(evidence, "credential_id")).hexdigest()
    if (enrolment.get("public_key"), enrolment.get("credential_id"), what.get("hash")) != (
        evidence["public_key"],
        evidence["credential_id"],
        credential,
    ):
        said = "the enrolled public key or credential is not the one that signed"
        raise InvalidEvidence(said, code="enrolment-key")
    # Times of the server have one spelling, so they compare as texts.
    if not isinstance(event.get("at"), str) or event["at"] > receipt.claims["ended_at"]:
        raise InvalidEvidence("the passkey was enrolled after the answer", code="enrolment-late")
    hashed = hashlib.sha256(bytes(32) + body.encode()).hexdigest()
    if record.get("prev") != ZERO or record.get("hash") != hashed:
        said = "the record of the enrolment does not have the hash it claims"
        raise InvalidEvidence(said, code="enrolment-hash")
    if not _in_block(proof, hashed, jwks):
        said = "the enrolment is not in the named block"
        raise InvalidEvidence(said, code="enrolment-block")


def _in_block(proof: Mapping[str, Any], record: str, jwks: Mapping[str, Any] | str | bytes) -> bool:
    """RFC 9162, section 2.1.3.2."""
    try:
        _, block = opened(proof["block"], BLOCK, trusted_keys(jwks))
        index, path = proof["index"], [bytes.fromhex(one) for one in proof["path"]]
        count, root = block["count"], bytes.fromhex(block["root"])
        if proof["position"] != block["first"] + index or not 0 <= index < count:
            return False
    except (InvalidReceipt, KeyError, TypeError, ValueError):
        return False
    at, last = index, count - 1
    node = hashlib.sha256(b"\x00" + bytes.fromhex(record)).digest()
    for sibling in path:
        if last == 0:
            return False
        if at % 2 == 1 or at == last:
            node = hashlib.sha256(b"\x01" + sibling + node).digest()
            while at % 2 == 0 and at:
                at, last = at >> 1, last >> 1
        else:
            node = hashlib.sha256(b"\x01" + node + sibling).digest()
        at, last = at >> 1, last >> 1
    return last == 0 and node == root
