"""Receipts, held against vectors: our own here, and those all clients share."""

from __future__ import annotations

import base64
import builtins
import hashlib
import json
import os
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from wire import Wire, say

from countersign import (
    Approved,
    ConfigurationError,
    InvalidReceipt,
    fetch_jwks,
    fetch_revocations,
    verify_receipt,
)
from countersign.canonical import canonical_json, sha256_of

SHARED = Path(__file__).parents[2] / "vectors" / "receipts.json"
ISSUER = "https://ask.example.com"


def b64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


class Signer:
    """Somebody with a key, honest or not."""

    def __init__(self, seed: int) -> None:
        self.key = Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)
        x = b64(self.key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))
        thumb = canonical_json({"crv": "Ed25519", "kty": "OKP", "x": x})
        self.kid = b64(hashlib.sha256(thumb).digest())
        self.jwk = {
            "kty": "OKP",
            "crv": "Ed25519",
            "x": x,
            "kid": self.kid,
            "alg": "EdDSA",
            "use": "sig",
        }

    def sign(self, claims: Any, typ: str = "receipt+jwt", **header: Any) -> str:
        whole = {"alg": "EdDSA", "kid": self.kid, "typ": typ, **header}
        return self.sign_raw(
            json.dumps(whole, sort_keys=True, separators=(",", ":")).encode(),
            canonical_json(claims),
        )

    def sign_raw(self, header: bytes, claims: bytes) -> str:
        signed = f"{b64(header)}.{b64(claims)}"
        return f"{signed}.{b64(self.key.sign(signed.encode()))}"


SERVER, FORGER, RETIRED = Signer(1), Signer(2), Signer(3)
JWKS: dict[str, Any] = {
    "keys": [
        {"kty": "EC", "crv": "P-256", "kid": "other", "x": "AA", "y": "AA"},
        RETIRED.jwk,
        SERVER.jwk,
    ]
}
QUESTION = {"kind": "approve", "prompt": "Refund €120?", "details": {"order": 9007199254740993}}
CLAIMS: dict[str, Any] = {
    "v": 1,
    "iss": ISSUER,
    "jti": "rcpt_01JABCDEFGHJKMNPQRSTVWXYZ0",
    "sub": "ask_01JABCDEFGHJKMNPQRSTVWXYZ0",
    "iat": 1794722460,
    "project": "dev",
    "agent": "agent_dev",
    "kind": "approve",
    "prompt": "Refund €120?",
    "question_sha256": sha256_of(QUESTION),
    "shown_sha256": sha256_of(QUESTION),
    "outcome": "completed",
    "answer": {"verdict": "approved"},
    "comment": "fine",
    "by": {"kind": "human", "id": "ada"},
    "via": "web",
    "assurance": "session",
    "asked_at": "2026-11-15T06:00:00.000Z",
    "taken_up_at": "2026-11-15T06:00:30.000Z",
    "ended_at": "2026-11-15T06:01:00.000Z",
    "audit": {"seq": 3, "hash": "00" * 32},
}
GOOD = SERVER.sign(CLAIMS)
HEAD, BODY, SIGNATURE = GOOD.split(".")


def without(*names: str, **more: Any) -> dict[str, Any]:
    return {**{k: v for k, v in CLAIMS.items() if k not in names}, **more}


def case(name: str, jws: str, why: str | None = None, **more: Any) -> dict[str, Any]:
    return {"name": name, "jws": jws, "valid": why is None, "why": why, **more}


def claiming(raw: bytes) -> str:
    return SERVER.sign_raw(base64.urlsafe_b64decode(HEAD + "=" * (-len(HEAD) % 4)), raw)


SILENT = without("answer", "comment", "via", outcome="expired", by={"kind": "system"})
# 64 bytes end with 4 spare bits; another spelling of the same signature sets one of them.
RESPELT = SIGNATURE[:-1] + chr(ord(SIGNATURE[-1]) + 1)
ALTERED = b64(canonical_json(without(prompt="x")))

# In the shape of the shared file, for what it does not hold.
OURS = [
    case("approved", GOOD, claims=CLAIMS, question=QUESTION),
    case("of a retired key", RETIRED.sign(CLAIMS), claims=CLAIMS),
    case("expired", SERVER.sign({**SILENT, "report": "abort"})),
    case("more claims than known", SERVER.sign({**CLAIMS, "mood": "good"})),
    case("of an unknown key", FORGER.sign(CLAIMS), "unknown-key"),
    case("forged under a known name", FORGER.sign(CLAIMS, kid=SERVER.kid), "signature"),
    case("altered", f"{HEAD}.{ALTERED}.{SIGNATURE}", "signature"),
    case("no ASCII", f"{HEAD}.\u00e9\ud800.{SIGNATURE}", "signature"),
    case("alg none", SERVER.sign(CLAIMS, alg="none"), "algorithm"),
    case("crit", SERVER.sign(CLAIMS, crit=["exp"]), "critical"),
    case("a list of revocations", SERVER.sign(CLAIMS, "revocations+jwt"), "typ"),
    case("kid no text", SERVER.sign(CLAIMS, kid=["x"]), "header"),
    case("kid no Unicode", SERVER.sign(CLAIMS, kid="\ud800"), "header"),
    case("a deep header", f"{b64(b'[' * 700)}.{BODY}.{SIGNATURE}", "header"),
    case("a long header", f"{b64(b' ' * 2000)}.{BODY}.{SIGNATURE}", "header"),
    case("an endless text", "a" * (16 << 20) + "..", "too-large"),
    case("version true", SERVER.sign(without(v=True)), "version"),
    case("no prompt", SERVER.sign(without("prompt")), "claims"),
    case("no audit", SERVER.sign(without("audit")), "claims"),
    case("audit no object", SERVER.sign(without(audit=[])), "claims"),
    case("a number for a text", SERVER.sign(without(sub=1)), "claims"),
    case("an answer though it expired", SERVER.sign(without(outcome="expired")), "claims"),
    case("an unknown outcome", SERVER.sign({**SILENT, "outcome": "won"}), "claims"),
    case("an unknown verdict", SERVER.sign(without(answer={"verdict": "x"})), "claims"),
    case("a time that is none", SERVER.sign(without(ended_at="yesterday")), "claims"),
    case("claims no object", SERVER.sign([CLAIMS]), "claims"),
    case("a name twice", claiming(b'{"v":1,"v":1}'), "claims"),
    case("NaN", claiming(b'{"v":NaN}'), "claims"),
    case("spaces", claiming(b'{"v": 1}'), "claims"),
    case("a lone surrogate", claiming(b'{"v":"\\ud800"}'), "claims"),
    case("deep claims", claiming(b"[" * 100_000), "claims"),
    case("another spelling", f"{HEAD}.{BODY}.{RESPELT}", "encoding"),
    case("a newline at the end", f"{GOOD}\n", "encoding"),
]


def shared() -> dict[str, Any]:
    if not SHARED.exists():
        return {"jwks": {"keys": []}, "cases": []}
    vectors: dict[str, Any] = json.loads(SHARED.read_text("utf-8"))
    return vectors


def check(jwks: Any, vector: dict[str, Any]) -> None:
    if not vector["valid"]:
        with pytest.raises(InvalidReceipt) as caught:
            verify_receipt(vector["jws"], jwks, question=vector.get("question"))
        assert caught.value.code == vector["why"]
        return
    receipt = verify_receipt(vector["jws"], jwks, question=vector.get("question"))
    if vector.get("claims") is not None:
        assert receipt.claims == vector["claims"]
    if vector.get("question_sha256") is not None:
        assert receipt.question_sha256 == vector["question_sha256"]
        if vector.get("question") is not None:
            assert sha256_of(vector["question"]) == vector["question_sha256"]
    if vector.get("canonical") is not None:
        assert canonical_json(vector["question"]).decode() == vector["canonical"]


@pytest.mark.parametrize("vector", OURS, ids=lambda vector: vector["name"])
def test_our_own_vectors(vector: dict[str, Any]) -> None:
    check(JWKS, vector)
    check(json.dumps(JWKS), vector)


@pytest.mark.parametrize("vector", shared()["cases"], ids=lambda vector: vector["name"])
def test_shared_vectors(vector: dict[str, Any]) -> None:
    check(shared()["jwks"], vector)


def test_shared_vectors_are_there() -> None:
    if not SHARED.exists() and os.environ.get("CI") != "true":
        pytest.skip(f"{SHARED} is not there; with CI=true it must be")
    assert shared()["cases"]


def test_what_a_receipt_says() -> None:
    receipt = verify_receipt(GOOD, JWKS, issuer=ISSUER + "/", question=QUESTION)
    assert receipt.id == "rcpt_01JABCDEFGHJKMNPQRSTVWXYZ0"
    assert receipt.ask == "ask_01JABCDEFGHJKMNPQRSTVWXYZ0"
    assert isinstance(receipt.answer, Approved)
    assert receipt.answer.by == receipt.by
    assert (receipt.by.id, receipt.by.is_person, receipt.assurance) == ("ada", True, "session")
    assert (receipt.comment, receipt.audit_seq, receipt.key_id) == ("fine", 3, SERVER.kid)
    assert receipt.ended_at.isoformat() == "2026-11-15T06:01:00+00:00"
    silent = verify_receipt(SERVER.sign({**SILENT, "redacted": ["pin"]}), JWKS)
    assert (silent.outcome, silent.answer, silent.by.is_person) == ("expired", None, False)
    assert silent.redacted == ("pin",)


@pytest.mark.parametrize("jws", [None, 7, GOOD.encode()])
def test_what_is_no_text_is_no_receipt(jws: Any) -> None:
    with pytest.raises(InvalidReceipt, match=f"not a string but {type(jws).__name__}") as caught:
        verify_receipt(jws, JWKS)
    assert caught.value.code == "shape"


def test_another_issuer_or_question_is_noticed() -> None:
    with pytest.raises(InvalidReceipt, match="issued by"):
        verify_receipt(GOOD, JWKS, issuer="https://evil.example.com")
    other = {**QUESTION, "details": {"order": 9007199254740992}}
    with pytest.raises(InvalidReceipt, match="another question"):
        verify_receipt(GOOD, JWKS, question=other)
    with pytest.raises(InvalidReceipt, match="not JSON"):
        verify_receipt(GOOD, JWKS, question={"x": object()})


def revoked(by: Signer = SERVER, **claims: Any) -> str:
    whole = {"iss": ISSUER, "iat": 1794722461, "revoked": [], "keys": [], **claims}
    return by.sign(whole, "revocations+jwt")


AT = {"at": "2026-11-16T00:00:00.000Z", "reason": "the session was stolen"}


@pytest.mark.parametrize(
    ("pages", "why"),
    [
        ([revoked()], None),
        ([revoked(revoked=[{"jti": "rcpt_other", **AT}])], None),
        ([revoked(next="c"), revoked()], None),
        ([revoked(revoked=[{"jti": CLAIMS["jti"], **AT}])], r"revoked at 2026.*stolen"),
        ([revoked(next="c"), revoked(revoked=[{"jti": CLAIMS["jti"], **AT}])], "revoked at"),
        ([revoked(RETIRED, keys=[{"kid": SERVER.kid, **AT}])], "its key was revoked"),
        # A list of a key that it revokes itself is nobody's.
        ([revoked(RETIRED, keys=[{"kid": RETIRED.kid, **AT}])], "its key was revoked"),
        ([revoked(revoked=[{"jti": CLAIMS["jti"], "at": AT["at"]}])], r"000Z\Z"),
        ([revoked(next="c")], "incomplete"),
        ([], "incomplete"),
        ([revoked(FORGER)], "is not trusted"),
        ([revoked(iss="https://evil.example.com")], "another issuer"),
        ([GOOD], "not a revocations"),
        ([revoked(revoked=[1])], "cannot be read"),
        ([SERVER.sign({"iss": ISSUER}, "revocations+jwt")], "cannot be read"),
    ],
)
def test_revocations(pages: list[str], why: str | None) -> None:
    if why is None:
        assert verify_receipt(GOOD, JWKS, revocations=pages)
    else:
        with pytest.raises(InvalidReceipt, match=why):
            verify_receipt(GOOD, JWKS, revocations=pages)
    if len(pages) == 1 and why is None:
        assert verify_receipt(GOOD, JWKS, revocations=pages[0])


def test_keys_and_points_of_small_order_sign_nothing() -> None:
    # With the neutral element as key and R, S = 0 fits every message.
    for y in ("01" + "00" * 31, "ee" + "ff" * 30 + "7f", "ec" + "ff" * 30 + "7f", "00" * 32):
        jwk = {**SERVER.jwk, "x": b64(bytes.fromhex(y))}
        forged = f"{HEAD}.{BODY}.{b64(bytes.fromhex(y) + bytes(32))}"
        with pytest.raises(InvalidReceipt, match="the signature is not valid"):
            verify_receipt(forged, {"keys": [jwk]})


@pytest.mark.parametrize(
    "jwks",
    [
        {},
        {"keys": {}},
        "nonsense",
        {"keys": [{**SERVER.jwk, "use": "enc"}]},
        {"keys": [{**SERVER.jwk, "alg": "ES256"}]},
        {"keys": [{**SERVER.jwk, "crv": "X25519"}]},
        {"keys": [{**SERVER.jwk, "x": "AAAA"}]},
        {"keys": [{**SERVER.jwk, "x": "not base64!"}]},
    ],
)
def test_keys_that_are_none_verify_nothing(jwks: Any) -> None:
    with pytest.raises(InvalidReceipt):
        verify_receipt(GOOD, jwks)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_cryptography(name: str, *args: Any) -> Any:
        if name.startswith("cryptography"):
            raise ImportError(name)
        return real(name, *args)

    monkeypatch.setattr(builtins, "__import__", without_cryptography)
    with pytest.raises(ConfigurationError, match="pip install 'cryptography>=42'"):
        verify_receipt(GOOD, JWKS)


def test_a_client_fetches_keys_and_all_revocations() -> None:
    def page(jws: str) -> httpx.Response:
        return httpx.Response(200, text=jws + "\n", headers={"content-type": "application/jose"})

    wire = Wire(say(JWKS), page(revoked(next="c2")), page(revoked()))
    assert wire.client().verify(GOOD, question=QUESTION).ask == CLAIMS["sub"]
    assert wire.paths == [
        "GET /.well-known/jwks.json",
        "GET /api/v1/receipts/revocations",
        "GET /api/v1/receipts/revocations",
    ]
    assert wire.requests[2].url.params["cursor"] == "c2"
    # And without a credential.
    wire = Wire(say(JWKS), page(revoked(next="c2")), page(revoked()))
    http = httpx.Client(transport=httpx.MockTransport(wire.handle))
    jwks = fetch_jwks("http://cs.test/", http_client=http)
    pages = fetch_revocations("http://cs.test", http_client=http)
    assert verify_receipt(GOOD, jwks, revocations=pages)
    assert all("authorization" not in r.headers for r in wire.requests)


@pytest.mark.anyio
async def test_an_async_client_verifies_too() -> None:
    wire = Wire(say(JWKS), httpx.Response(200, text=revoked()))
    async with wire.async_client() as client:
        assert (await client.verify(GOOD)).by.id == "ada"
