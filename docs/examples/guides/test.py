"""Runs the code blocks of the guides as they stand, against the real server named by COUNTERSIGN_BIN.

Shell blocks run on a server whose people wait for an answer over the API; Python and TypeScript blocks
run on a server with scripted people. TYPESCRIPT names the folder with the compiled TypeScript client.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
BIN = Path(os.environ["COUNTERSIGN_BIN"])
TYPESCRIPT = Path(os.environ["TYPESCRIPT"])
AGENT = "dev-agent-key"

# Each page, with text that its examples print.
SHELL = {
    "docs/quickstart.md": ["The receipt is valid.", '"comment":"within the limit"'],
    "docs/approve-a-tool-call.md": ['"edits":{"amount":100'],
    "docs/ask-a-question.md": ['"label":"Frankfurt"', '"name":"contract.txt"'],
    "docs/wait-for-the-answer.md": ["event: ready", "event: asked"],
}
PYTHON = {
    "README.md": ["refunding"],
    "docs/quickstart.md": ["answer at http", "refunding"],
    "docs/approve-a-tool-call.md": ["sent 120.0 to Ada", "refunded 120.0\nrefunded 120.0"],
    "docs/ask-a-question.md": ["eu\nAda\n", "deleting ['a.txt', 'b.txt']", "retry\nYour refund\n"],
    "docs/wait-for-the-answer.md": ["deploying", "asked ask_", "answered ask_"],
    "docs/testing.md": [],
}
TS = {
    "README.md": ["refunding"],
    "docs/quickstart.md": ["answer at http", "refunding"],
    "docs/approve-a-tool-call.md": ["sent 120 to Ada"],
    "docs/ask-a-question.md": ["eu\n", "Ada\n"],
    "docs/wait-for-the-answer.md": ["approved\n", "asked ask_"],
    "docs/testing.md": ["rejected\n"],
}


def blocks(page, language):
    text = (ROOT / page).read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


class Guides(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def serve(self, *settings):
        """Starts a server and returns its address."""
        out = self.folder / "out"
        env = {k: v for k, v in os.environ.items() if not k.startswith("COUNTERSIGN_")}
        command = [BIN, "serve", "--dev", "--listen", "127.0.0.1:0", "--data", self.folder / "data"]
        with out.open("wb") as stdout:
            server = subprocess.Popen([*command, *settings], stdout=stdout, stderr=subprocess.DEVNULL, env=env)
        self.addCleanup(self.stop, server)
        end = time.monotonic() + 60
        while not (found := re.search(r"^ {2}Inbox +(http:\S+?)/?$.*\n\n", out.read_text(), re.M | re.S)):
            self.assertIsNone(server.poll(), out.read_text())
            self.assertLess(time.monotonic(), end, "the server does not start")
            time.sleep(0.02)
        return found[1]

    def stop(self, server):
        server.terminate()
        server.wait(30)

    def run_in(self, command, url, expected, cwd=None):
        env = {
            **os.environ,
            "COUNTERSIGN_URL": url,
            "COUNTERSIGN_API_KEY": AGENT,
            "PATH": f"{BIN.parent}{os.pathsep}{os.environ['PATH']}",
        }
        done = subprocess.run(
            command, cwd=cwd or self.folder, env=env, capture_output=True, text=True, timeout=120, check=False
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for text in expected:
            self.assertIn(text, done.stdout)

    def test_shell(self):
        url = self.serve()
        for page, expected in SHELL.items():
            with self.subTest(page):
                script = "\necho\n".join(blocks(page, "sh")).replace("http://localhost:3402", url)
                self.run_in(["sh", "-e", "-c", script], url, expected)

    def test_python(self):
        url = self.serve("--scripted", HERE / "people.toml")
        for page, expected in PYTHON.items():
            with self.subTest(page):
                found = blocks(page, "python")
                self.assertTrue(found)
                self.run_in([sys.executable, "-c", "\n".join(found)], url, expected)

    def test_typescript(self):
        url = self.serve("--scripted", HERE / "people.toml")
        sources = TYPESCRIPT / "guides"
        shutil.rmtree(sources, ignore_errors=True)
        sources.mkdir()
        self.addCleanup(shutil.rmtree, sources)
        config = TYPESCRIPT / "tsconfig.guides.json"
        config.write_text('{ "extends": "./tsconfig.test.json", "include": ["guides"] }')
        self.addCleanup(config.unlink)
        names = {}
        for page in TS:
            for number, code in enumerate(blocks(page, "ts")):
                name = f"{Path(page).stem}-{number}"
                (sources / f"{name}.ts").write_text(f"{code}\nexport {{}};\n", "utf-8")
                names.setdefault(page, []).append(name)
        self.run_in(["npx", "tsc", "-p", config.name], url, [], TYPESCRIPT)
        for page, expected in TS.items():
            for name in names[page]:
                with self.subTest(name):
                    # With several blocks, each prints one of the texts.
                    texts = expected if len(names[page]) == 1 else [expected[names[page].index(name)]]
                    self.run_in(["node", TYPESCRIPT / "build" / "guides" / f"{name}.js"], url, texts)

    def test_script_of_the_testing_page(self):
        (self.folder / "people.toml").write_text(blocks("docs/testing.md", "toml")[0], "utf-8")
        url = self.serve("--scripted", self.folder / "people.toml")
        self.run_in(["countersign", "ask", "Deploy?", "--wait"], url, ["approved"])


if __name__ == "__main__":
    unittest.main()
