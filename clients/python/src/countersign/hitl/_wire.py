"""Requests to whatever service: nothing is sent where it was not meant to go."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import httpx

from .._version import __version__
from ._case import origin


@dataclass(frozen=True)
class Wire:
    """The requests of a follower."""

    authorization: tuple[str, str] | None = field(default=None, repr=False)
    """Whose origin it is for, and the header's value."""
    timeout: float = 30.0

    def get(self, url: str, headers: dict[str, str], read: float | None = None) -> httpx.Request:
        """A GET, with the caller's credential if it is meant for this origin."""
        sent = {**self._agent(), **headers}
        if self.authorization is not None:
            home, value = self.authorization
            if origin(home) == origin(url):
                sent["Authorization"] = value
        limits = httpx.Timeout(self.timeout, read=read or self.timeout)
        return httpx.Request("GET", url, headers=sent, extensions={"timeout": limits.as_dict()})

    def post(self, url: str, token: str, body: dict[str, Any]) -> httpx.Request:
        """A POST with a token of its own."""
        headers = {
            **self._agent(),
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
        }
        limits = httpx.Timeout(self.timeout).as_dict()
        content = json.dumps(body).encode()
        return httpx.Request(
            "POST", url, headers=headers, content=content, extensions={"timeout": limits}
        )

    def _agent(self) -> dict[str, str]:
        return {"User-Agent": f"countersign-python/{__version__}"}
