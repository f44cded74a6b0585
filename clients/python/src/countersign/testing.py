"""For your tests: a real server, and a person who answers.

```python
from countersign import Approved
from countersign.testing import serve

with serve() as server, server.person.answering(lambda ask: Approved()):
    assert server.client().approve("Refund €120?").wait()
```

The binary is `COUNTERSIGN_BIN`, or `countersign` on the PATH. With pytest, see `pytest_plugin`.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable, Optional

import httpx

from . import _flows as flows
from .answers import Answer, Outcome
from .asks import Ask, AskView
from .client import AsyncCountersign, Countersign
from .errors import ConfigurationError, Conflict, NotFound

AGENT_KEY = "dev-agent-key"
HUMAN_TOKEN = "dev-human-token"
STARTS_WITHIN = 20.0

Rule = Callable[[Ask[Outcome]], Optional[Answer]]
"""What to answer to an ask; none leaves it open."""


def binary() -> str:
    """Where the server is: `COUNTERSIGN_BIN`, or on the PATH."""
    named = os.environ.get("COUNTERSIGN_BIN")
    found = named if named and Path(named).is_file() else shutil.which(named or "countersign")
    if found is None:
        raise ConfigurationError(
            f"no server to test with: {named or 'countersign'} not found; "
            "set COUNTERSIGN_BIN to the countersign binary"
        )
    return found


@contextlib.contextmanager
def serve(path: str | None = None) -> Iterator[Server]:
    """A server of your own with fixed credentials, gone with all its data at the end."""
    with tempfile.TemporaryDirectory(prefix="countersign-test-") as folder:
        server = Server(path or binary(), Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.stop()
            server.person.close()


class Server:
    """A real server in dev mode, with its data in a folder."""

    def __init__(self, path: str, folder: Path) -> None:
        self._path, self._folder = path, folder
        self._process: subprocess.Popen[bytes] | None = None
        self._listen = "127.0.0.1:0"
        self.url = ""

    def start(self) -> None:
        """Starts it; after a `stop()` at the same address, with the same data."""
        out, err = self._folder / "stdout", self._folder / "stderr"
        data = self._folder / "data"
        command = [self._path, "serve", "--dev", "--listen", self._listen, "--data", str(data)]
        # Its settings come from the command line alone, not from the client's variables.
        env = {k: v for k, v in os.environ.items() if not k.startswith("COUNTERSIGN_")}
        with out.open("wb") as stdout, err.open("wb") as stderr:
            # Files, not pipes: nobody has to read them for the server to go on.
            self._process = subprocess.Popen(command, stdout=stdout, stderr=stderr, env=env)
        deadline = time.monotonic() + STARTS_WITHIN
        while not _is_whole(said := out.read_text("utf-8", "replace")):
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise ConfigurationError(f"the server did not start: {err.read_text()[-2000:]}")
            time.sleep(0.01)
        line = next(line for line in said.splitlines() if line.startswith("  Inbox "))
        self.url = line.split()[1].rstrip("/")
        self._listen = f"127.0.0.1:{httpx.URL(self.url).port}"

    def stop(self) -> None:
        """Ends it, by its own process id."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(15)
        self._process = None

    def client(self, **settings: Any) -> Countersign:
        """A client with the dev agent's key."""
        return Countersign(self.url, AGENT_KEY, **settings)

    def async_client(self, **settings: Any) -> AsyncCountersign:
        """An async client with the dev agent's key."""
        return AsyncCountersign(self.url, AGENT_KEY, **settings)

    @functools.cached_property
    def person(self) -> Person:
        """The dev agent's owner, who is asked by default."""
        return Person(self.url)


class Person:
    """Somebody who answers."""

    def __init__(self, url: str, token: str = HUMAN_TOKEN) -> None:
        self._client = Countersign(url, token)

    def close(self) -> None:
        """Closes their connections. An error that is kept keeps whoever met it as well."""
        self._client.close()

    def inbox(self) -> list[Ask[Outcome]]:
        """What waits for them."""
        return list(self._client.asks())

    def answer(self, ask: AskView | str, answer: Answer) -> None:
        """Answers an ask."""
        self.act(ask, "answer", answer.reply())

    def act(self, ask: AskView | str, verb: str, body: dict[str, Any]) -> None:
        """Does something else to one: `claim`, `assign`, `comments`, `cancel`."""
        ask_id = ask if isinstance(ask, str) else ask.id
        self._client._runner.run(flows.act(self._client._core, ask_id, verb, body))

    @contextlib.contextmanager
    def answering(self, rule: Rule) -> Iterator[list[Ask[Outcome]]]:
        """Answers in the background what `rule` has an answer for; gives a list of those asks.

        If the rule raises, its ask is cancelled, so that nobody waits for it, and the error is
        raised at the end.
        """
        answered: list[Ask[Outcome]] = []
        errors: list[Exception] = []
        over = threading.Event()

        def judge(ask: Ask[Outcome]) -> None:
            try:
                answer = rule(ask)
            except Exception as error:
                errors.append(error)
                self.act(ask, "cancel", {"reason": f"the rule failed: {error}"})
                return
            # If it is over since the inbox was read, somebody was faster.
            with contextlib.suppress(Conflict, NotFound):
                if answer is not None:
                    self.answer(ask, answer)
                    answered.append(ask)

        def work() -> None:
            try:
                while not over.wait(0.02):
                    for ask in self.inbox():
                        judge(ask)
            except Exception as error:
                errors.append(error)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            yield answered
        finally:
            over.set()
            thread.join()
            if errors:
                raise errors[0]


def _is_whole(said: str) -> bool:
    return any(line.startswith("  Data") for line in said.split("\n")[:-1])
