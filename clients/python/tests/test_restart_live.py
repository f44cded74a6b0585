"""Against the real server: an agent that is killed while a person thinks, and started again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from countersign import Approved, Ask, KeyReused, Outcome, Rejected, require_approval
from countersign.testing import AGENT_KEY, Server

pytestmark = pytest.mark.live

AGENT = """
import sys

import httpx

from countersign import Countersign, Denied, require_approval

thread, amount = sys.argv[1:]


def tell(response):
    if response.request.url.path.endswith("/events"):
        print("waiting", flush=True)


client = Countersign(http_client=httpx.Client(event_hooks={"response": [tell]}))


@require_approval(client=client, key=lambda call: f"{thread}/call_1", tags=[thread])
def refund(order: int, amount: int, tags: frozenset = frozenset({"a", "b", "c"})) -> str:
    return f"refunded {amount}"


try:
    print(refund(4711, int(amount)))
except Denied as denied:
    print("denied:", denied.reason)
"""


class Agent:
    """The agent as a process of its own."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.thread = f"thread-{uuid4()}"
        self._script = folder / "agent.py"
        self._script.write_text(AGENT, "utf-8")
        self._env = {
            **os.environ,
            "COUNTERSIGN_URL": server.url,
            "COUNTERSIGN_API_KEY": AGENT_KEY,
        }
        # Sets of texts have another order in every process.
        self._env.pop("PYTHONHASHSEED", None)

    def start(self, amount: int = 120) -> subprocess.Popen[str]:
        command = [sys.executable, str(self._script), self.thread, str(amount)]
        return subprocess.Popen(
            command, env=self._env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def run(self, amount: int = 120) -> tuple[str, str]:
        with self.start(amount) as process:
            out, err = process.communicate(timeout=50)
        return out.strip(), err.strip()

    def killed_while_waiting(self, server: Server) -> Ask[Outcome]:
        with self.start() as process:
            assert waits(process)
            process.kill()
        (ask,) = self.asks(server, "open")
        return ask

    def asks(self, server: Server, state: str = "all") -> list[Ask[Outcome]]:
        with server.client() as client:
            return [ask for ask in client.asks(state=state) if self.thread in ask.tags]


def waits(process: subprocess.Popen[str]) -> bool:
    """Whether the agent has come as far as waiting for the person."""
    assert process.stdout is not None
    return process.stdout.readline() == "waiting\n"


@pytest.fixture
def agent(server: Server, tmp_path: Path) -> Agent:
    return Agent(server, tmp_path)


def test_a_restarted_agent_waits_for_the_question_that_is_open(
    server: Server, agent: Agent
) -> None:
    first = agent.killed_while_waiting(server)
    with agent.start() as second:
        assert waits(second)
        server.person.answer(first, Approved())
        out, err = second.communicate(timeout=50)
    assert (out, err) == ("refunded 120\n", "")
    assert [ask.id for ask in agent.asks(server)] == [first.id]


def test_what_was_answered_while_the_agent_was_away_is_found(server: Server, agent: Agent) -> None:
    first = agent.killed_while_waiting(server)
    server.person.answer(first, Rejected(comment="not this customer"))
    # However often the call is made: the same question, the same answer.
    assert agent.run() == ("denied: not this customer", "")
    assert agent.run() == ("denied: not this customer", "")
    assert len(agent.asks(server)) == 1


def test_the_same_key_for_another_call_is_refused(server: Server, agent: Agent) -> None:
    first = agent.killed_while_waiting(server)
    out, err = agent.run(amount=999)
    assert out == ""
    assert "KeyReused: refund was not run: the key " in err
    assert f"approval::refund:{agent.thread}%2Fcall_1" in err
    server.person.answer(first, Approved())
    assert agent.run() == ("refunded 120", "")
    assert len(agent.asks(server)) == 1


def test_metadata_and_tags_come_back(server: Server) -> None:
    with server.client() as client:
        made = client.approve("A?", metadata={"run": {"n": 7}}, tags=["finance", "eu"])
        found = client.fetch(made.id)
        for ask in (made, found):
            assert (ask.metadata, ask.tags) == ({"run": {"n": 7}}, ["eu", "finance"])
        made.cancel()


def test_the_refusal_is_the_servers(server: Server) -> None:
    key = str(uuid4())
    with server.client() as client:
        guard = require_approval(client=client, key=key, timeout=60)

        @guard
        def pay(amount: int) -> int:
            return amount

        with server.person.answering(lambda ask: Approved()):
            assert (pay(1), pay(1)) == (1, 1)
            with pytest.raises(KeyReused, match=key):
                pay(2)
