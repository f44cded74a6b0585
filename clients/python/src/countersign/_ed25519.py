"""Strict Ed25519: RFC 8032, and no keys or points of small order, which fit any message."""

from __future__ import annotations

from .errors import ConfigurationError

_P = 2**255 - 19
# The y coordinates of the eight points of small order, and the second spellings of 0 and 1.
_ORDER_8 = int.from_bytes(
    bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little"
)
_SMALL = {0, 1, _P - 1, _P, _P + 1, _ORDER_8, _P - _ORDER_8}


def verifies(key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether the signature is the key's over the message."""
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError as error:
        raise ConfigurationError(
            "verifying receipts needs Ed25519: pip install 'cryptography>=42', "
            "which is the extra 'verify' of countersign-client"
        ) from error
    if len(key) != 32 or len(signature) != 64 or _is_small(key) or _is_small(signature[:32]):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def _is_small(point: bytes) -> bool:
    # The highest bit is the sign of x.
    return int.from_bytes(point, "little") & (2**255 - 1) in _SMALL
