# A service that answered 202, a chat, and a callback that arrived.
import hashlib as _hashlib
import hmac as _hmac
import os as _os

import httpx as _httpx

from countersign.hitl import Follower, case_of, verify_callback

key = f"Bearer {_os.environ['COUNTERSIGN_API_KEY']}"
response = _httpx.post(
    f"{_os.environ['COUNTERSIGN_URL']}/hitl/v1/cases",
    json={"type": "approval", "prompt": "Publish the post?"},
    headers={"Authorization": key},
)


class chat:
    send = print


secret = "dev-callback-secret"
_body = (
    b'{"event": "review.completed", "case_id": "review_1", "completed_at": "2026-11-15T17:24:45.796Z",'
    b' "result": {"action": "approve", "data": {}}, "timestamp": "2026-11-15T17:24:45.796Z"}'
)


class request:
    headers = {"x-hitl-signature": "sha256=" + _hmac.new(secret.encode(), _body, _hashlib.sha256).hexdigest()}

    async def body():
        return _body
