"""What the clients do over HACP, as flows (see `_steps`)."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import httpx

from ._core import Core, Ended, Patience, is_transient, named_pause, unreachable
from ._flows import HEARTBEAT, streams
from ._sse import Decoder
from ._steps import Chunk, Emit, Flow, Open, Send, Sleep
from .errors import ApiError, ConnectionFailed, ProtocolError, TaskError, retry_after

BASE = "/hacp/v1"
NEXT = "hacp-next-cursor"
"""The header in which a list says where it goes on."""

INLINE = 512 * 1024
"""More bytes than this go by themselves: a call with them would be too large."""
PART = 4 * 1024 * 1024

Json = dict[str, Any]


class Page(list[Json]):
    """A list, and where it goes on: `next` is the `cursor` of the page after it, if any."""

    next: str | None = None


def operate(
    core: Core,
    operation: str,
    params: Mapping[str, Any],
    *,
    expected_task_revision: int | None = None,
    idempotency_key: str | None = None,
    repeatable: bool = True,
) -> Flow[Any]:
    """One operation: the object it answers with, a `Page`, or `None`."""
    body: Json = {"params": dict(params)}
    if expected_task_revision is not None:
        body["expected_task_revision"] = expected_task_revision
    if idempotency_key is not None:
        body["idempotency_key"] = idempotency_key
    content = json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    path = f"{BASE}/ops/{operation}"
    response = yield from _send(core, "POST", path, content=content, repeatable=repeatable)
    return _read(response)


def show(core: Core, path: str) -> Flow[Any]:
    """What is at an address: the version, a schema."""
    response = yield from _send(core, "GET", f"{BASE}/{path}")
    return _read(response)


def content(core: Core, artifact: Json) -> Flow[bytes]:
    """The bytes of a version, checked against what was committed."""
    version = quote(artifact["version"], safe="")
    path = f"{BASE}/artifacts/{quote(artifact['id'], safe='')}/versions/{version}/content"
    response = yield from _send(core, "GET", path)
    found = checksum(response.content)
    if found != artifact["payload"]["checksum"]:
        raise ProtocolError(
            f"the content of {artifact['id']} {artifact['version']} does not match its checksum"
        )
    return response.content


def events(core: Core, after: int | str | None) -> Flow[None]:
    """Emits every frame of the stream of all tasks, and goes on where it broke off."""
    last = None if after is None else str(after)
    patience = Patience(core)
    while True:
        headers = {"Accept": "text/event-stream"}
        if last is not None:
            headers["Last-Event-ID"] = last
        try:
            request = core.request("GET", f"{BASE}/events", headers=headers, read=3 * HEARTBEAT)
            response: httpx.Response = yield Open(request)
            if not response.is_success:
                raise refused(response)
            if not streams(response):
                raise ProtocolError(f"{core.url}{BASE}/events is not an event stream")
            decoder = Decoder()
            while True:
                chunk: bytes = yield Chunk()
                if not chunk:
                    raise Ended("the stream ended")
                for frame in decoder.feed(chunk):
                    patience.rest()
                    last = frame.id or last
                    if frame.event != "ready":
                        yield Emit(frame)
        except (httpx.TransportError, ApiError) as error:
            if not is_transient(error):
                raise
            yield Sleep(patience.pause(error))


def duties(core: Core, limit: int, idle: float | None) -> Flow[None]:
    """Emits what a runtime has to do; each is acknowledged when the next one is asked for.

    Whoever stops in between is given it again: nothing is acknowledged that was not handled.
    """
    patience = Patience(core)
    while True:
        waiting = yield from _outlast(core, patience, "runtime.peek", {"limit": limit})
        for delivery in waiting:
            yield Emit(delivery)
            done = {"through": delivery["cursor"]}
            yield from _outlast(core, patience, "runtime.ack", done)
        if not waiting:
            if idle is None:
                return
            yield Sleep(idle)


def _outlast(core: Core, patience: Patience, operation: str, params: Json) -> Flow[Any]:
    """An operation that may be repeated, for as long as an outage is put up with."""
    while True:
        try:
            answer = yield from operate(core, operation, params)
        except (ConnectionFailed, ApiError) as error:
            if not (isinstance(error, ConnectionFailed) or is_transient(error)):
                raise
            yield Sleep(patience.pause(error))
        else:
            patience.rest()
            return answer


def deliver(core: Core, params: Json, given: bytes | None, **terms: Any) -> Flow[Any]:
    """Commits; what is too large for one call goes before, in parts."""
    if given is not None and len(given) > INLINE:
        uploaded = yield from upload(core, given, params["payload"].get("media_type"))
        made = params["payload"]
        kept = {name: made[name] for name in ("kind", "media_type") if name in made}
        params = {**params, "payload": {**kept, "uri": f"upload:{uploaded}"}}
        if kept["kind"] == "inline":
            params["payload"]["kind"] = "blob"
    return (yield from operate(core, "artifact.commit", params, **terms))


def upload(core: Core, given: bytes, media_type: str | None) -> Flow[str]:
    """Sends bytes in parts, and goes on where it broke off; the name to commit them by."""
    headers = {"Upload-Length": str(len(given))}
    if media_type is not None:
        headers["Content-Type"] = media_type
    begun = yield from _send(core, "POST", f"{BASE}/uploads", headers=headers)
    name = str(_read(begun)["upload"])
    path, offset = f"{BASE}/uploads/{name}", 0
    patience = Patience(core)
    while offset < len(given):
        part = given[offset : offset + PART]
        last = offset + len(part) == len(given)
        place = {"Upload-Offset": str(offset), "Upload-Complete": "?1" if last else "?0"}
        place["Content-Type"] = "application/octet-stream"
        try:
            request = core.request("PATCH", path, headers=place, content=part)
            response: httpx.Response = yield Send(request)
            if not response.is_success:
                raise refused(response)
            patience.rest()
            offset += len(part)
        except (httpx.TransportError, ApiError) as error:
            if not is_transient(error):
                raise
            yield Sleep(patience.pause(error))
            stands = yield from _send(core, "GET", path)
            offset = int(_read(stands)["offset"])
    return name


def payload(
    given: str | bytes | None,
    *,
    kind: str | None,
    uri: str | None,
    digest: str | None,
    size: int | None,
    media_type: str | None,
) -> Json:
    """What a version is made of. Words go as they are, other bytes in base64."""
    made: Json = {"kind": kind, "uri": uri, "checksum": digest, "size": size}
    made["media_type"] = media_type
    if given is None:
        made["kind"] = kind or "ref"
    elif isinstance(given, str):
        made.update(kind=kind or "inline", content=given)
    else:
        encoded = base64.b64encode(given).decode("ascii")
        made.update(kind=kind or "blob", content=encoded, encoding="base64")
    if given is not None and digest is None:
        raw = given.encode() if isinstance(given, str) else given
        made.update(checksum=checksum(raw), size=len(raw))
    return {name: value for name, value in made.items() if value is not None}


def checksum(given: bytes) -> str:
    """What bytes hash to, as the protocol writes it."""
    return f"sha256:{hashlib.sha256(given).hexdigest()}"


def refused(response: httpx.Response) -> TaskError:
    """The error a response stands for. Its body must have been read."""
    try:
        said = json.loads(response.content)["error"]
        known = {name: said[name] for name in ("code", "message")}
    except (ValueError, KeyError, TypeError):
        # A proxy's page, or somebody who does not know tasks: the status has to do.
        said = {}
        where = str(response.request.url)
        known = {"code": "unknown", "message": f"no HACP server at {where}; check COUNTERSIGN_URL"}
        if response.status_code >= 500:
            known["message"] = response.reason_phrase
    return TaskError(
        response.status_code,
        **known,
        details=said.get("details") or {},
        retryable=bool(said.get("retryable")),
        operation_id=said.get("operation_id"),
        correlation_id=said.get("correlation_id"),
        request_id=response.headers.get("x-request-id"),
        retry_after=retry_after(response),
    )


def _send(
    core: Core,
    method: str,
    path: str,
    *,
    content: bytes | None = None,
    headers: dict[str, str] | None = None,
    repeatable: bool = True,
) -> Flow[httpx.Response]:
    """One request with retries. A call with a key may be repeated: it happens once."""
    attempt = 0
    while True:
        try:
            request = core.request(method, path, headers=headers, content=content)
            response: httpx.Response = yield Send(request)
            if response.is_success:
                return response
            failure: Exception = refused(response)
        except httpx.TransportError as error:
            failure = error
        if not (repeatable and is_transient(failure)) or attempt >= core.max_retries:
            if isinstance(failure, httpx.TransportError):
                raise unreachable(core, failure) from failure
            raise failure
        pause = named_pause(failure)
        yield Sleep(core.pause(attempt) if pause is None else pause)
        attempt += 1


def _read(response: httpx.Response) -> Any:
    try:
        body = json.loads(response.content)
    except ValueError as error:
        raise ProtocolError(f"{response.request.url} did not answer with JSON") from error
    if isinstance(body, list):
        page = Page(body)
        page.next = response.headers.get(NEXT)
        return page
    return body
