from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from countersign import (
    Answer,
    Approved,
    Ask,
    Chosen,
    ConfigurationError,
    Confirmed,
    Outcome,
    Provided,
    Rejected,
    Replied,
    Retry,
)
from countersign.testing import AGENT_KEY, Server, binary, serve

pytest_plugins = ["countersign.pytest_plugin"]


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test depends on what the caller has set for a client."""
    for name in ("COUNTERSIGN_URL", "COUNTERSIGN_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("A2H_BASE_URL", "A2H_API_KEY", "HUMANLAYER_API_BASE", "HUMANLAYER_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """The real server. Without a binary its tests are skipped; with CI=true they are not."""
    try:
        binary()
    except ConfigurationError as missing:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(missing))
    with serve() as started:
        yield started


@pytest.fixture
def answered(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """The environment of a reader: a server to talk to, and a person who answers everything."""
    monkeypatch.setenv("COUNTERSIGN_URL", server.url)
    monkeypatch.setenv("COUNTERSIGN_API_KEY", AGENT_KEY)
    with server.person.answering(_fitting):
        yield server


def _fitting(ask: Ask[Outcome]) -> Answer:
    question = ask.question or {}
    kind = question["kind"]
    if kind == "approve":
        mallory = question.get("details", {}).get("to") == "Mallory"
        return Rejected(comment="never heard of them") if mallory else Approved()
    if kind == "choose":
        return Chosen(options=[question["options"][0]["id"]])
    if kind == "provide":
        return Provided(values={"name": "Ada"})
    if kind == "confirm":
        return Confirmed(items=[item["id"] for item in question["items"]])
    return Retry() if kind == "escalate" else Replied(text="Blue.")
