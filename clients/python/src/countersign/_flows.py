"""Everything the clients do, as flows (see `_steps`)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import httpx

from ._core import (
    TRANSIENT,
    Core,
    Ended,
    Patience,
    is_transient,
    named_pause,
    unreachable,
)
from ._sse import Decoder, Frame
from ._steps import Chunk, Emit, Flow, Open, Send, Sleep
from .errors import ApiError, ProtocolError, StillOpen, from_response
from .questions import encode
from .receipts import next_page

API = "/api/v1"
OVER = frozenset({"completed", "expired", "cancelled", "failed"})
HEARTBEAT = 15.0
"""How often a stream shows that it lives."""
SHORT = HEARTBEAT + 5
"""With less time than this left, a poll keeps a deadline better than a stream."""
LONGEST_HOLD = 30
"""How long one poll is held; well below what proxies cut off."""

Json = dict[str, Any]


def call(
    core: Core,
    method: str,
    path: str,
    *,
    body: Any | None = None,
    headers: dict[str, str] | None = None,
    params: dict[str, Any] | None = None,
    repeatable: bool | None = None,
) -> Flow[httpx.Response]:
    """One request with retries; an error status is raised.

    What may have happened already is only sent again if it is `repeatable`. A refused connection,
    429 and 503 mean that nothing happened, so after those everything is.
    """
    content = body if isinstance(body, bytes) or body is None else encode(body)
    if repeatable is None:
        repeatable = method == "GET"
    attempt = 0
    while True:
        try:
            request = core.request(method, path, headers=headers, params=params, content=content)
            response: httpx.Response = yield Send(request)
            if response.status_code < 300:
                return response
            failure: Exception = from_response(response)
        except httpx.TransportError as error:
            failure = error
        again = is_transient(failure) and (repeatable or _nothing_happened(failure))
        if not again or attempt >= core.max_retries:
            if isinstance(failure, httpx.TransportError):
                raise unreachable(core, failure) from failure
            raise failure
        pause = named_pause(failure)
        yield Sleep(core.pause(attempt) if pause is None else pause)
        attempt += 1


def _nothing_happened(failure: Exception) -> bool:
    if isinstance(failure, ApiError):
        return failure.status in (429, 503)
    return isinstance(failure, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout))


def create(core: Core, body: bytes, key: str) -> Flow[Json]:
    """Asks. The key makes every attempt the same ask."""
    headers = {"Idempotency-Key": key}
    response = yield from call(
        core, "POST", f"{API}/asks", body=body, headers=headers, repeatable=True
    )
    return ask_of(response)


def fetch(core: Core, ask_id: str) -> Flow[Json]:
    """The ask as it is now."""
    response = yield from call(core, "GET", path_of(ask_id))
    return ask_of(response)


def act(core: Core, ask_id: str, verb: str, body: Json) -> Flow[Json]:
    """Does something to an ask."""
    response = yield from call(core, "POST", f"{path_of(ask_id)}/{verb}", body=body)
    return ask_of(response)


def acknowledge(core: Core, ask_id: str) -> Flow[None]:
    """Says that secret values have arrived. To say it twice does no harm."""
    yield from call(core, "POST", f"{path_of(ask_id)}/acknowledge", repeatable=True)


def listed(core: Core, path: str, name: str, params: dict[str, Any]) -> Flow[None]:
    """Emits every item of a list, page by page."""
    cursor: str | None = None
    while True:
        asked = {**params, "cursor": cursor} if cursor else params
        response = yield from call(core, "GET", f"{API}{path}", params=asked)
        page = object_of(response)
        for item in page.get(name, ()):
            yield Emit(item)
        cursor = page.get("next")
        if not cursor:
            return


def revocations(core: Core) -> Flow[list[str]]:
    """The signed list of what was revoked, all its pages."""
    pages: list[str] = []
    cursor: str | None = None
    while True:
        params = {"cursor": cursor} if cursor else None
        response = yield from call(core, "GET", f"{API}/receipts/revocations", params=params)
        pages.append(response.text.strip())
        cursor = next_page(pages[-1])
        if not cursor:
            return pages


def wait(core: Core, ask: Json, timeout: float | None, view: Any) -> Flow[Json]:
    """The ask once it is over, however often the server goes away meanwhile.

    Streams; where streams do not get through, polls. `view` is named in `StillOpen`.
    """
    deadline = math.inf if timeout is None else core.clock() + timeout
    patience = Patience(core)
    streaming, looked = True, False
    while ask["state"] not in OVER:
        left = deadline - core.clock()
        if left <= 0 and looked:
            raise StillOpen(
                f"{ask['id']} has no answer after {timeout:g} s and is still open; "
                "wait again, or cancel it",
                ask=view,
            )
        try:
            if streaming and left > SHORT:
                ask, streaming = yield from _follow(core, ask, deadline, patience)
            else:
                ask = yield from _poll(core, ask, left)
                patience.rest()
            looked = True
        except (httpx.TransportError, ApiError) as error:
            if not is_transient(error):
                raise
            pause = patience.pause(error)
            looked = True
            yield Sleep(max(0.0, min(pause, deadline - core.clock())))
    # A stream may leave the proof out, as lists do.
    if ask.get("receipt") is None:
        ask = yield from fetch(core, ask["id"])
    return ask


def _follow(core: Core, ask: Json, deadline: float, patience: Patience) -> Flow[tuple[Json, bool]]:
    """The ask after what one stream told, and whether streams are worth another try."""
    request = core.request(
        "GET",
        f"{path_of(ask['id'])}/events",
        headers={"Accept": "text/event-stream"},
        read=3 * HEARTBEAT,
    )
    response: httpx.Response = yield Open(request)
    if not streams(response):
        if response.is_success or response.status_code not in (*TRANSIENT, 401, 403):
            return ask, False
        raise from_response(response)
    decoder, heard = Decoder(), False
    while True:
        try:
            chunk: bytes = yield Chunk()
        except httpx.ReadTimeout:
            if not heard:
                # Something on the way holds the stream back.
                return ask, False
            raise
        if not chunk:
            if not heard:
                return ask, False
            raise Ended("the stream ended")
        for frame in decoder.feed(chunk):
            told = _told(frame)
            if told is not None:
                ask, heard = told, True
                patience.rest()
        if ask["state"] in OVER or deadline - core.clock() <= SHORT:
            return ask, True


def _poll(core: Core, ask: Json, left: float) -> Flow[Json]:
    """The ask once it changed, or after a while."""
    hold = max(0, math.ceil(min(left, LONGEST_HOLD)))
    headers = {"If-None-Match": f'"{ask["version"]}"'}
    if hold:
        headers["Prefer"] = f"wait={hold}"
    began = core.clock()
    request = core.request("GET", path_of(ask["id"]), headers=headers, read=hold + core.timeout)
    response: httpx.Response = yield Send(request)
    if response.status_code != 304:
        if not response.is_success:
            raise from_response(response)
        ask, before = ask_of(response), ask
        if ask["version"] != before["version"]:
            return ask
    if hold > 1 and core.clock() - began < 1:
        # Held back by nobody: a proxy dropped the wish, or the server is about to stop.
        yield Sleep(min(core.pause(3), left))
    return ask


def events(core: Core, after: int | str | None) -> Flow[None]:
    """Emits every frame of the stream of everything, and goes on where it broke off."""
    last = None if after is None else str(after)
    patience = Patience(core)
    while True:
        headers = {"Accept": "text/event-stream"}
        if last is not None:
            headers["Last-Event-ID"] = last
        try:
            request = core.request("GET", f"{API}/events", headers=headers, read=3 * HEARTBEAT)
            response: httpx.Response = yield Open(request)
            if not response.is_success:
                raise from_response(response)
            if not streams(response):
                raise ProtocolError(
                    f"{core.url}{API}/events is not an event stream; check any proxy in between"
                )
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


def path_of(ask_id: str) -> str:
    """The address of an ask."""
    return f"{API}/asks/{quote(ask_id, safe='')}"


def ask_of(response: httpx.Response) -> Json:
    """An ask from a response."""
    return checked_ask(object_of(response))


def checked_ask(body: Mapping[str, Any]) -> Json:
    """An ask with at least what no client can do without."""
    wanted = {"id": str, "version": int, "state": str}
    if not all(isinstance(body.get(name), kind) for name, kind in wanted.items()):
        raise ProtocolError(
            "the response is not an ask; "
            "check that COUNTERSIGN_URL is the URL of a Countersign server"
        )
    return dict(body)


def object_of(response: httpx.Response) -> Json:
    """A JSON object from a response."""
    try:
        body = json.loads(response.content)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise ProtocolError(
            f"{response.request.url} did not answer with JSON; "
            "check that COUNTERSIGN_URL is the URL of a Countersign server"
        )
    return body


def streams(response: httpx.Response) -> bool:
    """Whether an event stream was opened."""
    kind = response.headers.get("content-type", "")
    return response.is_success and kind.startswith("text/event-stream")


def _told(frame: Frame) -> Json | None:
    """The ask in a frame, if it holds one."""
    try:
        body = json.loads(frame.data)
    except ValueError:
        return None
    ask = body.get("ask", body) if isinstance(body, dict) else None
    return checked_ask(ask) if isinstance(ask, dict) and "id" in ask else None
