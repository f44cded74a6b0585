"""Runs the examples of docs/tasks.md against the real server, named by COUNTERSIGN_BIN."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from hacp import Hacp, Refused

HERE = Path(__file__).parent
BIN = os.environ["COUNTERSIGN_BIN"]
AGENT, PERSON = "dev-agent-key", "dev-human-token"


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.serve()

    def serve(self, *settings):
        out = self.folder / "out"
        env = {k: v for k, v in os.environ.items() if not k.startswith("COUNTERSIGN_")}
        command = [BIN, "serve", "--dev", "--listen", "127.0.0.1:0", "--data", str(self.folder / "data")]
        with out.open("wb") as stdout:
            self.server = subprocess.Popen(
                [*command, *settings], stdout=stdout, stderr=subprocess.DEVNULL, env=env
            )
        self.addCleanup(self.stop, self.server)
        end = time.monotonic() + 60
        while "  Inbox " not in (said := out.read_text()) or not said.endswith("\n"):
            self.assertIsNone(self.server.poll(), said)
            self.assertLess(time.monotonic(), end, "the server does not start")
            time.sleep(0.02)
        line = next(line for line in said.splitlines() if line.startswith("  Inbox "))
        self.url = line.split()[1].rstrip("/")
        self.env = {
            **os.environ,
            "COUNTERSIGN_URL": self.url,
            "COUNTERSIGN_API_KEY": AGENT,
            "COUNTERSIGN_TOKEN": PERSON,
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self.person, self.agent = Hacp(self.url, PERSON), Hacp(self.url, AGENT)

    @staticmethod
    def stop(process):
        process.terminate()
        process.wait(30)

    def task(self, **given):
        made = self.person("task.create", {"type": "text", "goal": "Write it"})
        assign = {"task_id": made["id"], "agent_id": "agent_dev", **given}
        return self.person("task.assign", assign)["id"]

    def run_it(self, *words, **env):
        return subprocess.run(
            words, cwd=HERE, env={**self.env, **env}, capture_output=True, text=True, timeout=60
        )

    def test_the_reference_flow(self):
        agent = subprocess.Popen(
            [sys.executable, "agent.py"], cwd=HERE, env=self.env, stdout=subprocess.PIPE, text=True
        )
        self.addCleanup(agent.wait, 30)
        self.addCleanup(agent.kill)
        self.assertEqual(agent.stdout.readline(), "ready\n")
        person = self.run_it("sh", "person.sh")
        self.assertEqual(person.returncode, 0, person.stdout + person.stderr)
        said = agent.stdout.read()
        agent.stdout.close()
        for line in (
            "told to begin: Write the release notes",
            "waiting, for a choice",
            "told to go on: warm",
            "delivered v1",
            "told to change: name the contributors",
            "delivered v2",
            "completed, and remembered",
        ):
            self.assertIn(line + "\n", said)
        for action in (
            "task.created",
            "task.assigned",
            "task.started",
            "task.checkpoint.raised",
            "task.checkpoint.resolved",
            "artifact.committed",
            "review.submitted",
            "task.completed",
        ):
            self.assertIn(action + "\n", person.stdout)
        remembered = self.person("ledger.read", {"scope": "project:dev", "key": "notes/last"})
        self.assertEqual(remembered["value"]["version"], "v2")

    def test_a_runtime_that_is_killed_goes_on_and_does_no_step_twice(self):
        for step in ("start", "work", "deliver"):
            with self.subTest(step):
                mark, journal = self.folder / f"{step}.mark", self.folder / f"{step}.journal"
                task = self.task(input={"mark": str(mark)})
                died = self.run_it(sys.executable, "runtime.py", str(journal), DIE_AFTER=step)
                self.assertEqual(died.returncode, -signal.SIGKILL, died.stderr)
                waiting = self.agent("runtime.peek")
                self.assertEqual([one["event"]["task_id"] for one in waiting], [task])
                again = self.run_it(sys.executable, "runtime.py", str(journal))
                self.assertEqual(again.returncode, 0, again.stderr)
                self.assertEqual(mark.read_text(), "worked\n")
                self.assertEqual(self.agent("runtime.peek"), [])
                events = self.person("audit.replay", {"task_id": task})
                actions = [event["action"] for event in events]
                self.assertEqual(actions.count("task.started"), 1)
                self.assertEqual(actions.count("artifact.committed"), 1)

    def test_a_journal_that_was_lost_still_does_nothing_twice_at_the_server(self):
        mark = self.folder / "mark"
        task = self.task(input={"mark": str(mark)})
        died = self.run_it(sys.executable, "runtime.py", str(self.folder / "a"), DIE_AFTER="deliver")
        self.assertEqual(died.returncode, -signal.SIGKILL, died.stderr)
        again = self.run_it(sys.executable, "runtime.py", str(self.folder / "b"))
        self.assertEqual(again.returncode, 0, again.stderr)
        events = self.person("audit.replay", {"task_id": task})
        actions = [event["action"] for event in events]
        self.assertEqual(actions.count("artifact.committed"), 1)

    def test_only_whoever_may_is_let(self):
        task = self.task()
        with self.assertRaises(Refused) as refused:
            self.agent("task.cancel", {"task_id": task})
        self.assertEqual(refused.exception.code, "UNAUTHORIZED")


if __name__ == "__main__":
    unittest.main(verbosity=2)
