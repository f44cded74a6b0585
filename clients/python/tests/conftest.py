from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from countersign import ConfigurationError
from countersign.testing import Server, binary, serve


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test depends on what the caller has set for a client."""
    monkeypatch.delenv("COUNTERSIGN_URL", raising=False)
    monkeypatch.delenv("COUNTERSIGN_API_KEY", raising=False)


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
