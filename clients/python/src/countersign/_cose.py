"""Signatures of passkeys: COSE keys (RFC 9052) in the one encoding CTAP2 allows."""

from __future__ import annotations

from . import _ed25519
from .errors import ConfigurationError

_ES256 = (bytes.fromhex("a5010203262001215820"), bytes.fromhex("225820"))
_ES384 = (bytes.fromhex("a501020338222002215830"), bytes.fromhex("225830"))
_EDDSA = bytes.fromhex("a4010103272006215820")
_RS256 = (bytes.fromhex("a401030339010020" + "59"), bytes.fromhex("2143010001"))


def verifies(key: bytes, signature: bytes, signed: bytes) -> bool | None:
    """Whether the key signed this; `None` if it is no key of the four kinds."""
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
    except ImportError as error:
        raise ConfigurationError(
            "verifying passkey evidence needs ECDSA and RSA: pip install 'cryptography>=42', "
            "which is the extra 'verify' of countersign-client"
        ) from error
    curves: list[tuple[tuple[bytes, bytes], int, ec.EllipticCurve, hashes.HashAlgorithm]] = [
        (_ES256, 32, ec.SECP256R1(), hashes.SHA256()),
        (_ES384, 48, ec.SECP384R1(), hashes.SHA384()),
    ]
    for template, size, curve, digest in curves:
        point = _coordinates(key, template, size)
        if point is None:
            continue
        try:
            public = ec.EllipticCurvePublicKey.from_encoded_point(curve, b"\x04" + point)
        except ValueError:
            return None
        try:
            public.verify(signature, signed, ec.ECDSA(digest))
        except (InvalidSignature, ValueError):
            return False
        return True
    if key.startswith(_EDDSA) and len(key) == len(_EDDSA) + 32:
        return _ed25519.verifies(key[len(_EDDSA) :], signature, signed)
    modulus = _modulus(key)
    if modulus is None:
        return None
    try:
        rsa_key = rsa.RSAPublicNumbers(65537, modulus).public_key()
    except ValueError:
        return None
    try:
        rsa_key.verify(signature, signed, padding.PKCS1v15(), hashes.SHA256())
    except (InvalidSignature, ValueError):
        return False
    return True


def _coordinates(key: bytes, template: tuple[bytes, bytes], size: int) -> bytes | None:
    before, between = template
    middle = len(before) + size
    if len(key) != middle + len(between) + size:
        return None
    if not key.startswith(before) or key[middle : middle + len(between)] != between:
        return None
    return key[len(before) : middle] + key[middle + len(between) :]


def _modulus(key: bytes) -> int | None:
    before, after = _RS256
    if not key.startswith(before) or not key.endswith(after):
        return None
    rest = key[len(before) : len(key) - len(after)]
    size, modulus = int.from_bytes(rest[:2], "big"), rest[2:]
    if size != len(modulus) or not 256 <= size <= 512 or modulus[0] == 0:
        return None
    return int.from_bytes(modulus, "big")
