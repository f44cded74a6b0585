"""Passkey evidence, held against the vectors all clients share."""

from __future__ import annotations

import builtins
import json
import os
from pathlib import Path
from typing import Any

import pytest

from countersign import ConfigurationError, InvalidEvidence, verify_evidence, verify_receipt

SHARED = Path(__file__).parents[2] / "vectors" / "passkeys.json"


def shared() -> dict[str, Any]:
    if not SHARED.exists():
        return {"jwks": {"keys": []}, "cases": []}
    vectors: dict[str, Any] = json.loads(SHARED.read_text("utf-8"))
    return vectors


def judge(vector: dict[str, Any]) -> None:
    jwks = shared()["jwks"]
    receipt = verify_receipt(vector["jws"], jwks)
    verify_evidence(
        receipt,
        vector["evidence"],
        origin=vector.get("origin"),
        enrolment=vector.get("enrolment"),
        jwks=jwks,
    )


@pytest.mark.parametrize("vector", shared()["cases"], ids=lambda vector: vector["name"])
def test_shared_vectors(vector: dict[str, Any]) -> None:
    if vector["valid"]:
        judge(vector)
        return
    with pytest.raises(InvalidEvidence) as caught:
        judge(vector)
    assert caught.value.code == vector["why"]


def test_shared_vectors_are_there() -> None:
    if not SHARED.exists() and os.environ.get("CI") != "true":
        pytest.skip(f"{SHARED} is not there; with CI=true it must be")
    assert len(shared()["cases"]) > 60


def test_an_enrolment_needs_keys() -> None:
    [vector] = [one for one in shared()["cases"] if one["name"] == "enrolled"]
    receipt = verify_receipt(vector["jws"], shared()["jwks"])
    with pytest.raises(ValueError, match="needs jwks"):
        verify_evidence(receipt, vector["evidence"], enrolment=vector["enrolment"])


@pytest.mark.parametrize("evidence", [{}, {"statement": 1}, {"statement": {"v": True}}])
def test_what_is_no_evidence_is_refused(evidence: dict[str, Any]) -> None:
    receipt = verify_receipt(shared()["cases"][0]["jws"], shared()["jwks"])
    with pytest.raises(InvalidEvidence):
        verify_evidence(receipt, evidence)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    vector = shared()["cases"][0]
    receipt = verify_receipt(vector["jws"], shared()["jwks"])
    real = builtins.__import__

    def without_cryptography(name: str, *args: Any) -> Any:
        if name.startswith("cryptography"):
            raise ImportError(name)
        return real(name, *args)

    monkeypatch.setattr(builtins, "__import__", without_cryptography)
    with pytest.raises(ConfigurationError, match="pip install 'cryptography>=42'"):
        verify_evidence(receipt, vector["evidence"])
