"""What both clients are made of besides I/O: settings, requests, and when to try again."""

from __future__ import annotations

import os
import random
import time
from dataclasses import dataclass, field
from typing import Any, Callable

import httpx

from ._version import __version__
from .errors import ApiError, ConfigurationError, ConnectionFailed

DEFAULT_URL = "http://localhost:3402"
TRANSIENT = (429, 502, 503, 504)
"""Statuses that pass by themselves."""
LONGEST_PAUSE = 15.0
"""The longest pause between two attempts, unless the server names a longer one."""
LONGEST_RETRY_AFTER = 60.0


@dataclass(frozen=True)
class Core:
    """The settings of a client, and the requests made from them."""

    url: str
    api_key: str = field(repr=False)
    timeout: float = 30.0
    max_retries: int = 4
    outage: float = 300.0
    clock: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = random.random

    @classmethod
    def of(cls, url: str | None, api_key: str | None, **settings: Any) -> Core:
        """From arguments and, where they are missing, the environment."""
        return cls(checked_url(url), _key(api_key), **settings)

    def request(
        self,
        method: str,
        path: str,
        *,
        headers: dict[str, str] | None = None,
        params: dict[str, Any] | None = None,
        content: bytes | None = None,
        read: float | None = None,
    ) -> httpx.Request:
        """A request with the credential; `read` is how long the server may be silent."""
        sent = {
            "Accept": "application/json",
            "Authorization": f"Bearer {self.api_key}",
            "User-Agent": f"countersign-python/{__version__}",
        }
        if content is not None:
            sent["Content-Type"] = "application/json"
        sent.update(headers or {})
        limits = httpx.Timeout(self.timeout, read=read or self.timeout)
        return httpx.Request(
            method,
            self.url + path,
            headers=sent,
            params=params,
            content=content,
            extensions={"timeout": limits.as_dict()},
        )

    def pause(self, attempt: int) -> float:
        """Longer each time, and never the same for two clients that failed together."""
        full: float = min(0.25 * 2**attempt, LONGEST_PAUSE)
        return full * (0.5 + self.chance() / 2)


class Patience:
    """How long an outage is put up with. Ended by the first sign of life."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._since: float | None = None
        self._attempt = 0

    def rest(self) -> None:
        """There was a sign of life."""
        self._since, self._attempt = None, 0

    def pause(self, error: Exception) -> float:
        """How long to wait before the next attempt, or the error if it has been too long."""
        now = self._core.clock()
        if self._since is None:
            self._since = now
        if now - self._since >= self._core.outage:
            if isinstance(error, httpx.TransportError):
                raise unreachable(self._core, error) from error
            raise error
        pause = named_pause(error)
        if pause is None:
            pause = self._core.pause(self._attempt)
        self._attempt = min(self._attempt + 1, 10)
        return pause


class Ended(httpx.TransportError):
    """A stream ended though there was more to come: a server that restarts, a proxy's limit."""


def is_transient(error: Exception) -> bool:
    """Whether trying again later can help."""
    if isinstance(error, ApiError):
        return error.status in TRANSIENT
    return isinstance(error, httpx.TransportError) and not isinstance(
        error, httpx.UnsupportedProtocol
    )


def named_pause(error: Exception) -> float | None:
    """The pause the server asked for."""
    if isinstance(error, ApiError) and error.retry_after is not None:
        return min(error.retry_after, LONGEST_RETRY_AFTER)
    return None


def unreachable(core: Core, error: Exception) -> ConnectionFailed:
    """The last word after all attempts."""
    said = str(error) or type(error).__name__
    return ConnectionFailed(
        f"cannot reach Countersign at {core.url}: {said}. "
        "Check that the server is running (`countersign serve`) "
        "and that COUNTERSIGN_URL is its URL."
    )


def checked_url(url: str | None) -> str:
    """The server's address without a slash at its end."""
    found = url or os.environ.get("COUNTERSIGN_URL") or _a2h_url() or DEFAULT_URL
    try:
        parsed = httpx.URL(found)
    except httpx.InvalidURL as error:
        raise ConfigurationError(f"COUNTERSIGN_URL is not a URL: {found!r}") from error
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ConfigurationError(
            f"COUNTERSIGN_URL must look like {DEFAULT_URL} or https://ask.example.com, "
            f"not {found!r}"
        )
    return found.rstrip("/")


def _a2h_url() -> str | None:
    """The server by the names of A2H, which have the path of that protocol at their end."""
    base = os.environ.get("A2H_BASE_URL") or os.environ.get("HUMANLAYER_API_BASE")
    if not base:
        return None
    base = base.rstrip("/")
    return base.removesuffix("/a2h/v1").removesuffix("/humanlayer/v1")


def _key(api_key: str | None) -> str:
    names = ("COUNTERSIGN_API_KEY", "A2H_API_KEY", "HUMANLAYER_API_KEY")
    given = next((os.environ[name] for name in names if os.environ.get(name)), "")
    found = (api_key or given).strip()
    if not found:
        raise ConfigurationError(
            "no API key: set COUNTERSIGN_API_KEY or pass api_key=…. The server prints one at its "
            "first start, `countersign keys` issues more, and `countersign serve --dev` takes "
            "'dev-agent-key'"
        )
    if not (found.isascii() and found.isprintable()):
        raise ConfigurationError("the API key has invalid characters; copy it again completely")
    return found
