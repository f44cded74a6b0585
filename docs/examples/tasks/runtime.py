"""A runtime that may be killed at any moment: it goes on where it was, and does no step twice.

Two things make that so. What it has to do stays with the server until it is acknowledged. And each
step that cannot be repeated is written into a journal before the next one begins; a step whose end
is not in the journal is done again, under the same key, so that the server does it once.

    python3 runtime.py JOURNAL
"""

import json
import os
import sys

from hacp import from_env


class Journal:
    """What was done, line by line; a line that is not whole was never written."""

    def __init__(self, path):
        self.done = {}
        try:
            with open(path, encoding="utf-8") as lines:
                for line in lines:
                    if line.endswith("\n"):
                        name, result = json.loads(line)
                        self.done[name] = result
        except FileNotFoundError:
            pass
        # What a crash left half written is cut off.
        self.file = open(path, "w", encoding="utf-8")
        for name, result in self.done.items():
            self.file.write(json.dumps([name, result]) + "\n")
        self.keep()

    def once(self, name, step):
        """What the step gave: now, or when it was done."""
        if name not in self.done:
            self.done[name] = step()
            self.file.write(json.dumps([name, self.done[name]]) + "\n")
            self.keep()
            # Here a test ends the process, the hard way.
            if os.environ.get("DIE_AFTER") == name.split(":")[1]:
                os.kill(os.getpid(), 9)
        return self.done[name]

    def keep(self):
        """On the disk, not only on its way there."""
        self.file.flush()
        os.fsync(self.file.fileno())


hacp = from_env()
journal = Journal(sys.argv[1])


def handle(event):
    """Three steps: begin, work, deliver."""
    task, named = event["task_id"], event["operation_id"]
    if event["operation"] != "delegate":
        return
    keys = {step: f"{named}:{step}" for step in ("start", "work", "deliver")}
    begin = {"task_id": task}
    journal.once(keys["start"], lambda: hacp("task.start", begin, once=keys["start"])["state"])
    words = journal.once(keys["work"], lambda: work(event["input"]))
    version = {"task_id": task, "type": "text", "payload": {"kind": "inline", "content": words}}
    deliver = lambda: hacp("artifact.commit", version, once=keys["deliver"])["version"]  # noqa: E731
    journal.once(keys["deliver"], deliver)


def work(given):
    """What cannot be taken back: here it leaves a mark, so that doing it twice would show."""
    with open(given["mark"], "a", encoding="utf-8") as mark:
        mark.write("worked\n")
    return "done\n"


for delivery in hacp("runtime.peek"):
    handle(delivery["event"])
    hacp("runtime.ack", {"through": delivery["cursor"]})
