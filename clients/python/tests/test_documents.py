"""What the README and the examples show is run as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from countersign.testing import Server

pytestmark = pytest.mark.live

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
# A block below a comment such as `<!-- not run: it needs LangGraph -->` is left out.
BLOCKS = re.findall(r"(?<!-->\n)^```python\n(.*?)^```$", README, re.M | re.S)
EXAMPLES: dict[str, list[str]] = {
    "approve_refund": [r"Waiting for an answer at http://\S+/asks/ask_\w+", "Refunding: as asked"],
    "every_question": [
        r"approve: \{'verdict': 'approved'\}",
        r"choose: \{'verdict': 'chosen', 'options': \['Europe'\]\}",
        r"provide: \{'verdict': 'provided', 'values': \{'name': 'Ada'\}\}",
        r"confirm: \{'verdict': 'confirmed', 'items': \['a.txt', 'b.txt'\]\}",
        r"escalate: \{'verdict': 'retry', 'params': \{.*\}\}",
        r"converse: \{'verdict': 'replied', 'text': 'Blue.'\}",
    ],
    "guarded_tools": [
        "ask_human: Blue.",
        "send_money: sent 120.0 to Ada",
        "send_money: send_money was not run: a person rejected it: never heard of them",
    ],
    "verify_receipt": ["user_dev said Approved to 'Delete the old invoices\\?'"],
    "watch": [r"(\w+: ask_\w+\n)*asked: (ask_\w+)\n(\w+: ask_\w+\n)*answered: \2"],
}


def test_the_readme_runs(answered: Server, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"__name__": "readme"}
    for block in BLOCKS:
        exec(compile(block, "README.md", "exec"), names)
    # Functions and their module hold each other; whoever is found in such a knot may be found after
    # its sockets are.
    names.clear()
    said = capsys.readouterr().out
    for expected in (
        "refunding\n",
        "sent 120.0 to Ada\n",
        "refunded 120.0\nrefunded 120.0\napproval::refund:order-4711 stands for another call\n",
        "Blue.\n",
        "user_dev Approved(",
        "a person said approve\n",
        "delivered v1\n",
    ):
        assert expected in said
    assert len(BLOCKS) == 10


def test_every_example_is_run() -> None:
    assert {path.stem for path in (ROOT / "examples").glob("*.py")} == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str, answered: Server, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / f"{name}.py")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch("\n".join(EXAMPLES[name]), done.stdout.strip()), done.stdout
