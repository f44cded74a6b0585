from __future__ import annotations

import importlib.metadata

import pytest
from wire import Wire, ask, say

from countersign import AsyncCountersign, ConfigurationError, Countersign, __version__


def test_it_is_installed_under_its_own_name() -> None:
    # `countersign` on the index is a package of somebody else's.
    assert importlib.metadata.version("countersign-client") == __version__


def test_a_missing_key_says_what_to_do() -> None:
    for client in (Countersign, AsyncCountersign):
        with pytest.raises(ConfigurationError, match=r"COUNTERSIGN_API_KEY.*dev-agent-key"):
            client()


def test_the_environment_is_read_and_arguments_win(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERSIGN_API_KEY", "from-env")
    with Countersign() as client:
        assert (client._core.url, client._core.api_key) == ("http://localhost:3402", "from-env")
    monkeypatch.setenv("COUNTERSIGN_URL", "https://ask.example.com/")
    with Countersign() as client:
        assert client._core.url == "https://ask.example.com"
    with Countersign("http://other:1", "mine") as client:
        assert (client._core.url, client._core.api_key) == ("http://other:1", "mine")


@pytest.mark.parametrize(
    ("base", "key", "url"),
    [
        ("A2H_BASE_URL", "A2H_API_KEY", "https://ask.example.com/a2h/v1/"),
        ("HUMANLAYER_API_BASE", "HUMANLAYER_API_KEY", "https://ask.example.com/humanlayer/v1"),
    ],
)
def test_the_names_of_a2h_are_read_after_our_own(
    base: str, key: str, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(base, url)
    monkeypatch.setenv(key, "theirs")
    with Countersign() as client:
        assert (client._core.url, client._core.api_key) == ("https://ask.example.com", "theirs")
    monkeypatch.setenv("COUNTERSIGN_URL", "https://own.example.com")
    monkeypatch.setenv("COUNTERSIGN_API_KEY", "own")
    with Countersign() as client:
        assert (client._core.url, client._core.api_key) == ("https://own.example.com", "own")


@pytest.mark.parametrize("url", ["localhost:3402", "ftp://host", "http://", "nonsense"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="COUNTERSIGN_URL"):
        Countersign(url, "key")


def test_a_key_copied_with_rubbish_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="invalid characters"):
        Countersign(api_key="cs_agent_…")


def test_the_key_is_sent_and_never_shown() -> None:
    wire = Wire(say(ask(), 201))
    client = wire.client()
    client.approve("Refund?")
    assert wire.requests[0].headers["authorization"] == "Bearer key"
    assert wire.requests[0].headers["user-agent"].startswith("countersign-python/")
    assert "api_key" not in repr(client._core)
    assert repr(client) == "<Countersign http://cs.test>"
