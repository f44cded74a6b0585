"""Another service: says what it is told to, and keeps what it was asked and when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Callable, Union

import httpx
import pytest

from countersign._times import parse_time
from countersign.hitl import AsyncFollower, Case, Follower, Notice, recognise

START = "2026-02-06T10:00:00Z"
BASE = "http://127.0.0.1:9"
Said = Union[httpx.Response, Exception, Callable[[httpx.Request], httpx.Response]]


class Other:
    """Answers by path, the last word again and again. The clock moves when somebody sleeps."""

    def __init__(self, **script: Sequence[Said]) -> None:
        self.script = {path: list(said) for path, said in script.items()}
        self.requests: list[tuple[float, httpx.Request]] = []
        self.told: list[tuple[float, Notice]] = []
        self.now = parse_time(START).timestamp()

    @property
    def seconds(self) -> float:
        return self.now - parse_time(START).timestamp()

    def handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append((self.seconds, request))
        said = self.script[request.url.path.strip("/")]
        word = said.pop(0) if len(said) > 1 else said[0]
        if isinstance(word, Exception):
            raise word
        if isinstance(word, httpx.Response):
            # Each time as if it were new.
            return httpx.Response(word.status_code, headers=word.headers, content=word.content)
        return word(request)

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def follower(self, **settings: Any) -> Follower:
        http = httpx.Client(transport=httpx.MockTransport(self.handle))
        follower = Follower(http_client=http, **settings)
        follower._clock = lambda: self.now
        follower._runner.sleep = self.sleep
        return follower

    def async_follower(self, **settings: Any) -> AsyncFollower:
        async def handle(request: httpx.Request) -> httpx.Response:
            return self.handle(request)

        async def sleep(seconds: float) -> None:
            self.sleep(seconds)

        http = httpx.AsyncClient(transport=httpx.MockTransport(handle))
        follower = AsyncFollower(http_client=http, **settings)
        follower._clock = lambda: self.now
        follower._runner.sleep = sleep
        return follower

    def notify(self, notice: Notice) -> None:
        self.told.append((self.seconds, notice))

    @property
    def notices(self) -> list[tuple[float, bool]]:
        return [(at, notice.is_reminder) for at, notice in self.told]

    def times(self, path: str) -> list[float]:
        return [at for at, request in self.requests if request.url.path == f"/{path}"]

    def asked(self, path: str) -> Iterator[httpx.Request]:
        return (request for _, request in self.requests if request.url.path == f"/{path}")


def accepted(**more: Any) -> dict[str, Any]:
    """The 202 of a case that lasts an hour."""
    return {
        "status": "human_input_required",
        "message": "Somebody has to look at this.",
        "hitl": {
            "spec_version": "0.7",
            "case_id": "review_1",
            "type": "approval",
            "prompt": "Well?",
            "review_url": f"{BASE}/review/1?token=review",
            "poll_url": f"{BASE}/status?token=poll",
            "created_at": START,
            "expires_at": "2026-02-06T11:00:00Z",
            "default_action": "reject",
            **more,
        },
    }


def case(**more: Any) -> Case:
    found = recognise(202, accepted(**more))
    if found is None:
        pytest.fail("no case")
    return found


PENDING = httpx.Response(200, json={"status": "pending", "case_id": "review_1"})


def completed(action: str = "approve", **more: Any) -> httpx.Response:
    body = {
        "status": "completed",
        "case_id": "review_1",
        "completed_at": "2026-02-06T10:05:00Z",
        "result": {"action": action, "data": {"feedback": "fine"}},
        "responded_by": {"name": "Ada"},
        **more,
    }
    return httpx.Response(200, json=body)
