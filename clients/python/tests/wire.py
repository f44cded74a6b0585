"""A scripted other side: says what it is told to, and keeps what it was asked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Callable, Union

import httpx

from countersign import AsyncCountersign, Countersign

Said = Union[httpx.Response, Exception, Callable[[httpx.Request], httpx.Response]]
ASK_ID = "ask_01JABCDEFGHJKMNPQRSTVWXYZ0"


class Wire:
    """Answers requests in turn. The clock moves only when somebody sleeps or is told to."""

    def __init__(self, *script: Said) -> None:
        self.script = list(script)
        self.requests: list[httpx.Request] = []
        self.slept: list[float] = []
        self.now = 1000.0

    def handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        assert self.script, f"nobody expected {request.method} {request.url}"
        said = self.script.pop(0)
        if isinstance(said, Exception):
            raise said
        return said if isinstance(said, httpx.Response) else said(request)

    async def handle_async(self, request: httpx.Request) -> httpx.Response:
        return self.handle(request)

    def client(self, **settings: Any) -> Countersign:
        http = httpx.Client(transport=httpx.MockTransport(self.handle))
        client = Countersign("http://cs.test", "key", http_client=http, **settings)
        client._core = replace(client._core, clock=lambda: self.now, chance=lambda: 1.0)
        client._runner.sleep = self._sleep
        return client

    def async_client(self, **settings: Any) -> AsyncCountersign:
        http = httpx.AsyncClient(transport=httpx.MockTransport(self.handle_async))
        client = AsyncCountersign("http://cs.test", "key", http_client=http, **settings)
        client._core = replace(client._core, clock=lambda: self.now, chance=lambda: 1.0)

        async def sleep(seconds: float) -> None:
            self._sleep(seconds)

        client._runner.sleep = sleep
        return client

    def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    @property
    def paths(self) -> list[str]:
        return [f"{r.method} {r.url.path}" for r in self.requests]


def ask(version: int = 1, state: str = "pending", **more: Any) -> dict[str, Any]:
    """An ask as the server shows it."""
    return {
        "id": ASK_ID,
        "version": version,
        "state": state,
        "kind": "approve",
        "question": {"kind": "approve", "prompt": "Refund?"},
        "url": f"http://cs.test/asks/{ASK_ID}",
        "created_at": "2026-11-15T06:00:00.000Z",
        "expires_at": None,
        "result": None,
        "receipt": None,
        **more,
    }


def over(outcome: str = "completed", version: int = 2, **result: Any) -> dict[str, Any]:
    """An ask that is over, with its receipt."""
    whole = {
        "outcome": outcome,
        "answer": None,
        "comment": None,
        "by": {"kind": "human", "id": "ada"},
        "via": "web",
        "assurance": "session",
        "report": None,
        "reason": None,
        "at": "2026-11-15T06:01:00.000Z",
        **result,
    }
    return ask(version, outcome, result=whole, receipt="a.b.c")


def approved(**more: Any) -> dict[str, Any]:
    return over(answer={"verdict": "approved", **more})


def say(body: Any, status: int = 200, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(status, json=body, headers=named)


def problem(status: int, code: str, **more: Any) -> httpx.Response:
    headers = more.pop("headers", {})
    body = {"type": f"/errors/{code}", "title": code.replace("-", " "), "status": status, **more}
    kind = {"content-type": "application/problem+json", "x-request-id": "req-7", **headers}
    return httpx.Response(status, content=json.dumps(body).encode(), headers=kind)


def frame(event: str, body: Any, position: int | None = None) -> bytes:
    named = "" if position is None else f"id: {position}\n"
    return f"{named}event: {event}\ndata: {json.dumps(body, ensure_ascii=False)}\n\n".encode()


class Stream(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body in pieces; an exception among them breaks it off, a function is called."""

    def __init__(self, parts: Iterable[bytes | Exception | Callable[[], object]]) -> None:
        self.parts = list(parts)

    def __iter__(self) -> Iterator[bytes]:
        for part in self.parts:
            if isinstance(part, Exception):
                raise part
            if callable(part):
                part()
            else:
                yield part

    async def __aiter__(self) -> Any:
        for part in self:
            yield part


def stream(*parts: bytes | Exception | Callable[[], object]) -> httpx.Response:
    kind = {"content-type": "text/event-stream"}
    return httpx.Response(200, headers=kind, stream=Stream(parts))
