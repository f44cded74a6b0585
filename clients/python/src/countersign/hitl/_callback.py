"""The call a service makes when a case is over. Section 13 of the protocol."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from dataclasses import dataclass
from datetime import datetime, timezone

from ._errors import BadSignature, Malformed
from ._outcome import Outcome, moment, outcome_of

_SIGNATURE = re.compile(r"sha256=[a-f0-9]{64}\Z")


@dataclass(frozen=True)
class Callback:
    """A callback whose signature was good."""

    case_id: str
    outcome: Outcome


def verify_callback(secret: str, body: bytes, signature: str | None) -> Callback:
    """Checks `X-HITL-Signature` over the raw body, before anything of it is read, then reads it.

    Services may deliver the same callback twice.
    """
    if signature is None or _SIGNATURE.match(signature) is None:
        raise BadSignature("the callback signature does not have the format of the protocol")
    wanted = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(f"sha256={wanted}", signature):
        raise BadSignature("the callback is not signed with this secret")
    try:
        said = json.loads(body)
    except ValueError as error:
        raise Malformed("the callback is not JSON") from error
    if not isinstance(said, dict) or not isinstance(said.get("case_id"), str):
        raise Malformed("the callback names no case")
    event = str(said.get("event"))
    status = event[len("review.") :] if event.startswith("review.") else ""
    at = moment(said.get("timestamp")) or datetime.fromtimestamp(0, timezone.utc)
    outcome = outcome_of(status, said, "skip", at)
    if outcome is None:
        raise Malformed(f"the callback: {event!r} is not a final event")
    return Callback(said["case_id"], outcome)
