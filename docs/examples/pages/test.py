"""Runs every code block of the pages as it stands, or says why it does not.

Shell blocks of a page run in one shell, beside a server of their own. Python and TypeScript blocks run with
the real clients, on a server with scripted people. Settings, JSON, YAML, SQL and configuration files are
read by what reads them. Every other block has a comment with the reason, see blocks.py.

The environment names COUNTERSIGN_BIN (the server), BUILD (the folder with what the tests of the clients and
of the other examples installed), and DATABASE_URL (PostgreSQL, optional).
"""

import ast
import configparser
import http.client
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

import blocks as pages
from blocks import ROOT

HERE = Path(__file__).resolve().parent
SETUP = HERE / "setup"
BIN = Path(os.environ["COUNTERSIGN_BIN"]).resolve()
BUILD = Path(os.environ["BUILD"]).resolve()
TYPESCRIPT = BUILD / "typescript"
AGENT, PERSON = "dev-agent-key", "dev-human-token"
REAL_AGENT, REAL_PERSON = "agent-key-of-the-tests", "human-token-of-the-tests"
PUBLIC = "https://ask.example.com"

BLOCKS = {page: pages.blocks(page) for page in pages.pages()}
# Their own tests run the Python and TypeScript of these.
CLIENTS = {
    ("clients/python/README.md", "python"): "clients/python/tests/test_documents.py",
    ("clients/typescript/README.md", "ts"): "clients/typescript/scripts/readme.mjs",
}

# Pages whose shell blocks ask and wait in one command: scripted people answer there.
SCRIPTED = {"README.md", "docs/cli.md", "docs/wait-for-the-answer.md"}
# Settings that the server of a page needs.
SETTINGS = {
    "docs/audit.md": ["--seal-seconds", "0"],
    "docs/receipts.md": ["--seal-seconds", "0"],
    "docs/channels/README.md": [
        *("--slack-bot-token", "xoxb-1", "--slack-signing-secret", "1", "--slack-api", "http://127.0.0.1:9/")
    ],
    "docs/hitl.md": ["--config", SETUP / "hitl.toml"],
}
# Pages about real data: their server is not one for development.
REAL = {"docs/backup.md", "docs/operations.md", "docs/security.md"}

# Text that the blocks of a page print.
SHELL = {
    "README.md": ['"verdict":"approved"', "deployed"],
    "docs/a2h.md": ['"call_id":"call_101"', '"name":"Jane Doe"', '"message":"All of it, or only the lamp?"'],
    "docs/api.md": [
        '"kind":"agent"',
        '"label":"Frankfurt"',
        '"outcome":"completed"',
        '"name":"contract.txt"',
        "event: ready",
        "event: answered",
        '"valid":true',
        '"event":"asked"',
        '"id":"ops"',
        '"secret":"cs_agent_',
    ],
    "docs/approve-a-tool-call.md": ['"edits":{"amount":100'],
    "docs/ask-a-question.md": ['"label":"Frankfurt"', '"name":"contract.txt"'],
    "docs/hacp.md": ["in_progress", "resolve_checkpoint", "changes_requested", "approved"],
    "docs/hitl.md": ["human_input_required", "completed"],
    "docs/quickstart.md": ["The receipt is valid.", '"comment":"within the limit"'],
    "docs/receipts.md": ["The receipt is valid.", "Verified Successfully"],
    "docs/wait-for-the-answer.md": ["event: ready", "event: asked", "deployed"],
}
PYTHON = {
    "README.md": ["refunding"],
    "docs/a2h.md": ["refunded 40.0 for A-7", "Your refund"],
    "docs/approve-a-tool-call.md": ["sent 120.0 to Ada", "refunded 120.0\nrefunded 120.0"],
    "docs/ask-a-question.md": ["eu\nAda\n", "deleting ['a.txt', 'b.txt']", "retry\nYour refund\n"],
    "docs/hitl-clients.md": ["A person decides: Publish the post?", "review_1 Completed(action='approve'"],
    "docs/quickstart.md": ["answer at http", "refunding"],
    "docs/receipts.md": ["completed {'verdict': 'approved'}"],
    "docs/wait-for-the-answer.md": ["deploying", "asked ask_", "answered ask_"],
}
# One list of texts for each block.
SCRIPTS = {
    "README.md": [["refunding"]],
    "docs/a2h.md": [["refunded 40 for A-7"]],
    "docs/approve-a-tool-call.md": [["sent 120 to Ada"]],
    "docs/ask-a-question.md": [["eu\n"], ["Ada\n"]],
    "docs/hitl-clients.md": [[]],
    "docs/quickstart.md": [["answer at http", "refunding"]],
    "docs/receipts.md": [["completed { verdict: 'approved' }"]],
    "docs/testing.md": [["rejected\n"]],
    "docs/wait-for-the-answer.md": [["approved\n"], ["asked ask_"]],
}
# What stands for something of the reader's own.
STANDS_FOR = {
    "cs_agent_…": AGENT,
    "cs_human_…": PERSON,
    "ask_…": "$ASK",
    "key_…": "$KEY",
    "task_…": "$TASK",
    "art_…": "$ARTIFACT",
    "42:9f…": "$BLOCK",
    # A date that will have passed one day.
    "2026-12-24": "2099-12-24",
}
FOLDERS = ("/var/lib/countersign", "/etc/countersign", "/backup", "/tmp/copy-of-backup", "/mnt", "/srv")


def blocks_of(languages):
    for page, found in BLOCKS.items():
        fitting = [
            block
            for block in found
            if block.language in languages
            and block.word not in ("not run", "excerpt")
            and (page, block.language) not in CLIENTS
        ]
        if fitting:
            yield page, fitting


def environment(**variables):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("COUNTERSIGN_")}
    return {**clean, **{name: str(value) for name, value in variables.items()}}


class Blocks(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def missing(self, what):
        """Skips what a tool is missing for; in CI nothing may be."""
        if os.environ.get("CI") == "true":
            self.fail(f"{what} is needed in CI")
        self.skipTest(f"{what} is missing")

    def serve(self, *settings, real=False):
        """Starts a server and returns its address."""
        data = self.folder / "var/lib/countersign"
        out = self.folder / f"server-{time.monotonic_ns()}"
        command = [BIN, "serve", "--listen", "127.0.0.1:0", *settings]
        command += ["--data", data] if real else ["--dev", "--data", data]
        if real:
            command += ["--agent-api-keys", REAL_AGENT, "--human-tokens", REAL_PERSON]
        with out.open("wb") as said, (self.folder / "log").open("wb") as log:
            server = subprocess.Popen(command, stdout=said, stderr=log, env=environment())
        self.addCleanup(self.stop, server)
        end = time.monotonic() + 60
        while not (found := re.search(r"^ {2}Inbox +(http:\S+?)/?$.*\n\n", out.read_text(), re.M | re.S)):
            self.assertIsNone(server.poll(), out.read_text() + (self.folder / "log").read_text())
            self.assertLess(time.monotonic(), end, "the server does not start")
            time.sleep(0.02)
        return found[1]

    @staticmethod
    def stop(server):
        server.terminate()
        server.wait(30)

    def here(self, code, url, shell=False):
        """Code with the addresses and folders of this test in place of those the page shows."""
        host = url.removeprefix("http://")
        for shown in ("http://localhost:3402", PUBLIC, "https://countersign.example"):
            code = code.replace(shown, url)
        code = code.replace("localhost:3402", host)
        for folder in FOLDERS:
            code = re.sub(rf"(?<![\w/.-]){folder}\b", f"{self.folder}{folder}", code)
        for shown, real in STANDS_FOR.items() if shell else ():
            code = re.sub(rf"(?<!\w){shown}", real, code)
        return code

    def client(self, url, real=False):
        return environment(
            COUNTERSIGN_URL=url,
            COUNTERSIGN_API_KEY=REAL_AGENT if real else AGENT,
            COUNTERSIGN_TOKEN=REAL_PERSON if real else PERSON,
            COUNTERSIGN_BIN=BIN,
            PATH=f"{BIN.parent}{os.pathsep}{os.environ['PATH']}",
        )

    def run_in(self, command, env, expected, cwd):
        with subprocess.Popen(
            command,
            cwd=cwd,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as running:
            try:
                out, err = running.communicate(timeout=180)
            except subprocess.TimeoutExpired:
                # With everything it started.
                os.killpg(running.pid, signal.SIGKILL)
                out, err = running.communicate()
                self.fail(f"it does not end:\n{out}\n{err}")
        said = f"{out}\n{err}"
        self.assertEqual(running.returncode, 0, said)
        for text in expected:
            self.assertIn(text, out, said)

    # Shell

    def shell(self, page, found):
        """One script of a page's blocks, each as it stands."""
        real = page in REAL
        settings = ["--scripted", HERE / "people.toml"] if page in SCRIPTED else []
        url = self.serve(*settings, *SETTINGS.get(page, []), real=real)
        work, bin_ = self.folder / "work", self.folder / "bin"
        for folder in (
            work,
            bin_,
            self.folder / "etc/countersign",
            self.folder / "backup",
            self.folder / "tmp",
        ):
            folder.mkdir(parents=True)
        for name, text in (("countersign", COUNTERSIGN), ("curl", CURL)):
            (bin_ / name).write_text(text, "utf-8")
            (bin_ / name).chmod(0o755)
        shutil.copytree(self.written(page, url), self.folder / "blocks")
        failed = self.folder / "curl-failed"
        failed.touch()
        parts = ["set -e", "export URL AGENT HUMAN"]
        parts += [f". {name}" for name in (SETUP / f"{self.name(page)}.sh",) if name.exists()]
        for block in found:
            code = self.here(block.code, url, shell=True)
            parts.append(f"echo '--- {block}' >&2")
            if block.word == "exit":
                code = f"set +e\n(set -e\n{code})\nended=$?\nset -e\n[ $ended = {block.said} ]"
            elif block.word == "until":
                (work / "endless.sh").write_text(code, "utf-8")
                code = ENDLESS.format(text=shlex.quote(block.said))
            parts.append(f"{code}\necho")
        env = self.client(url, real)
        env |= {
            "PATH": f"{bin_}{os.pathsep}{env['PATH']}",
            "REAL_CURL": shutil.which("curl") or "curl",
            "SERVE": f"{sys.executable} {HERE / 'serve.py'}",
            "CURL_FAILED": str(failed),
            "FOLDER": str(self.folder),
            "COUNTERSIGN_DATA": str(self.folder / "var/lib/countersign"),
            "HOME": str(work),
            "URL": url,
            "AGENT": AGENT,
            "HUMAN": PERSON,
        }
        self.run_in(["sh", "-c", "\n".join(parts)], env, SHELL.get(page, []), work)
        self.assertEqual(failed.read_text(), "", "calls of curl that failed")

    def written(self, page, url):
        """A folder with the blocks of a page as files, for its setup: toml-1, json-2 and so on."""
        folder = self.folder / "written"
        folder.mkdir()
        numbers = {}
        for block in BLOCKS[page]:
            numbers[block.language] = numbers.get(block.language, 0) + 1
            code = self.here(block.code, url) if block.language != "toml" else self.settings(block.code)
            (folder / f"{block.language}-{numbers[block.language]}").write_text(code, "utf-8")
        return folder

    @staticmethod
    def name(page):
        return page.removeprefix("docs/").removesuffix(".md").replace("/", "-")

    def test_shell(self):
        for page, found in blocks_of({"sh"}):
            with self.subTest(page):
                self.setUp()
                try:
                    if page == "docs/postgresql.md":
                        self.postgresql(found)
                    else:
                        self.shell(page, found)
                finally:
                    self.doCleanups()

    def database(self):
        """The address of an empty database."""
        address = os.environ.get("DATABASE_URL")
        if not address or not shutil.which("psql"):
            self.missing("PostgreSQL")
        server, name = address.rsplit("/", 1)[0], f"pages_{os.getpid()}"
        query = address.rsplit("/", 1)[1].partition("?")[2]
        for statement in (f"DROP DATABASE IF EXISTS {name}", f"CREATE DATABASE {name}"):
            subprocess.run(["psql", "-q", "-c", statement, address], check=True, stderr=subprocess.DEVNULL)
        drop = ["psql", "-q", "-c", f"DROP DATABASE {name} WITH (FORCE)", address]
        self.addCleanup(subprocess.run, drop, check=True)
        return f"{server}/{name}" + (f"?{query}" if query else "")

    def postgresql(self, found):
        database = self.database()
        shown = "postgres://countersign:PASSWORD@db.example.com/countersign?sslmode=verify-full"
        code = "\n".join(block.code for block in found)
        self.assertIn(shown, code)
        code = code.replace(shown, database).replace(
            "countersign serve", f'"{sys.executable}" "{HERE}/serve.py"'
        )
        env = environment(COUNTERSIGN_BIN=BIN)
        self.run_in(["sh", "-e", "-c", code], env, ["the server is ready"], self.folder)
        return database

    def test_sql(self):
        # The tables are those that a server makes.
        shell = [block for block in BLOCKS["docs/postgresql.md"] if block.language == "sh" and not block.word]
        database = self.postgresql(shell)
        for _, found in blocks_of({"sql"}):
            for block in found:
                with self.subTest(str(block)):
                    for statement in re.sub(r"--.*", "", block.code).split(";"):
                        if statement.strip():
                            command = ["psql", "-q", "-v", "ON_ERROR_STOP=1", "-c", statement, database]
                            self.run_in(command, None, [], self.folder)

    # Python, TypeScript, JavaScript

    def test_python(self):
        url = self.serve("--scripted", HERE / "people.toml")
        for page, found in blocks_of({"python"}):
            with self.subTest(page):
                interpreter, env = sys.executable, self.client(url)
                if page == "docs/a2h.md":
                    interpreter = BUILD / "humanlayer/python/bin/python"
                    if not interpreter.exists():
                        self.missing("HumanLayer's SDK")
                    env |= {"HUMANLAYER_API_BASE": f"{url}/humanlayer/v1", "HUMANLAYER_API_KEY": AGENT}
                setup = SETUP / f"{self.name(page)}.py"
                code = setup.read_text("utf-8") if setup.exists() else ""
                code += "\n".join(self.here(block.code, url) for block in found)
                work = self.folder / self.name(page)
                work.mkdir()
                (work / "page.py").write_text(RUN_PYTHON.format(code=code), "utf-8")
                until = [block.said for block in found if block.word == "until"]
                command = [interpreter, "page.py"]
                if until:
                    self.run_until(command, env, until[0], work)
                else:
                    self.run_in(command, env, PYTHON.get(page, []), work)

    def run_until(self, command, env, text, cwd):
        """Runs what never ends until it has printed a text."""
        env = {**env, "PYTHONUNBUFFERED": "1"}
        with (cwd / "said").open("w+") as said:
            running = subprocess.Popen(command, cwd=cwd, env=env, stdout=said, stderr=subprocess.STDOUT)
            try:
                end = time.monotonic() + 60
                while text not in (so_far := (cwd / "said").read_text()):
                    self.assertIsNone(running.poll(), so_far)
                    self.assertLess(time.monotonic(), end, f"never printed {text}:\n{so_far}")
                    time.sleep(0.05)
            finally:
                running.kill()
                running.wait()

    def test_typescript(self):
        url = self.serve("--scripted", HERE / "people.toml")
        sources = TYPESCRIPT / "pages"
        shutil.rmtree(sources, ignore_errors=True)
        sources.mkdir()
        self.addCleanup(shutil.rmtree, sources)
        config = TYPESCRIPT / "tsconfig.pages.json"
        config.write_text('{ "extends": "./tsconfig.test.json", "include": ["pages"] }')
        self.addCleanup(config.unlink)
        names = {}
        for page, found in blocks_of({"ts"}):
            setup = SETUP / f"{self.name(page)}.ts"
            before = setup.read_text("utf-8") if setup.exists() else ""
            for number, block in enumerate(found):
                name = f"{self.name(page)}-{number}"
                (sources / f"{name}.ts").write_text(f"{before}{block.code}\nexport {{}};\n", "utf-8")
                names.setdefault(page, []).append(name)
        self.run_in(["npx", "tsc", "-p", config.name], self.client(url), [], TYPESCRIPT)
        for page, compiled in names.items():
            for name, expected in zip(compiled, SCRIPTS[page], strict=True):
                with self.subTest(name):
                    script = TYPESCRIPT / "build/pages" / f"{name}.js"
                    self.run_in(["node", script], self.client(url), expected, TYPESCRIPT)

    def test_javascript(self):
        url = self.serve("--scripted", HERE / "people.toml")
        for page, found in blocks_of({"js"}):
            with self.subTest(page):
                work = self.folder / self.name(page)
                work.mkdir()
                env = self.client(url)
                if page == "docs/a2h.md":
                    if not (BUILD / "humanlayer/node_modules").exists():
                        self.missing("HumanLayer's SDK")
                    (work / "node_modules").symlink_to(BUILD / "humanlayer/node_modules")
                    env |= {"HUMANLAYER_API_BASE": f"{url}/humanlayer/v1", "HUMANLAYER_API_KEY": AGENT}
                setup = SETUP / f"{self.name(page)}.py"
                if setup.exists():
                    self.run_in([sys.executable, setup], env, [], work)
                for block, expected in zip(found, SCRIPTS[page], strict=True):
                    (work / "page.mjs").write_text(self.here(block.code, url), "utf-8")
                    self.run_in(["node", "page.mjs"], env, expected, work)

    # Data and settings

    def test_json(self):
        read = 0
        for page, found in blocks_of({"json"}):
            url = ""
            for block in found:
                with self.subTest(str(block)):
                    value = json.loads(block.code)
                    read += 1
                    if block.word == "body":
                        if not url:
                            self.setUp()
                            url = self.serve(*SETTINGS.get(page, []))
                        self.accepted(url, *block.said.split(), value)
            self.doCleanups()
        self.assertGreater(read, 50)

    def accepted(self, url, method, path, body):
        headers = {"Authorization": f"Bearer {AGENT}", "Content-Type": "application/json"}
        call = urllib.request.Request(f"{url}{path}", json.dumps(body).encode(), headers, method=method)
        try:
            with urllib.request.urlopen(call, timeout=60) as response:
                self.assertLess(response.status, 300)
        except urllib.error.HTTPError as refused:
            self.fail(f"{refused.code}: {refused.read().decode()}")

    def settings(self, code):
        """Settings that name the files of this test."""
        for folder in FOLDERS:
            code = code.replace(f'"{folder}', f'"{self.folder}{folder}')
        return code.replace("0.0.0.0:443", "127.0.0.1:0")

    def files_of_settings(self):
        """The files that settings name: a certificate, keys, a secret."""
        folder = self.folder / "etc/countersign"
        folder.mkdir(parents=True, exist_ok=True)
        command = (
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost"
        )
        names = ["-keyout", folder / "key.pem", "-out", folder / "cert.pem"]
        subprocess.run(["openssl", *command.split(), *names], check=True, capture_output=True)
        (folder / "oidc-secret").write_text("secret")
        (folder / "acme.json").write_text((SETUP / "jwks.json").read_text())

    def test_settings(self):
        self.files_of_settings()
        for page, found in blocks_of({"toml"}):
            for block in found:
                with self.subTest(str(block)):
                    file = self.folder / "settings.toml"
                    file.write_text(self.settings(block.code), "utf-8")
                    if block.code.startswith("# people.toml"):
                        self.setUp()
                        (self.folder / "people.toml").write_text(block.code, "utf-8")
                        url = self.serve("--scripted", self.folder / "people.toml")
                        ask = [BIN, "ask", "Deploy?", "--wait"]
                        self.run_in(ask, self.client(url), ["approved"], self.folder)
                        self.doCleanups()
                        self.setUp()
                        self.files_of_settings()
                        continue
                    # Reads and checks all settings, and lists the channels that they set up.
                    command = [BIN, "channels", "list", "--config", file]
                    channel = re.match(
                        r"docs/channels/(slack|email|sms|whatsapp|telegram|ntfy|webhook).md", page
                    )
                    expected = [channel[1]] if channel else []
                    self.run_in(command, environment(), expected, self.folder)

    def test_yaml(self):
        for _, found in blocks_of({"yaml"}):
            for block in found:
                with self.subTest(str(block)):
                    file = self.folder / "block.yaml"
                    file.write_text(block.code, "utf-8")
                    read = 'const text = require("fs").readFileSync(0, "utf8");'
                    read += 'console.log(JSON.stringify(require("yaml").parse(text)))'
                    with file.open() as stdin:
                        done = subprocess.run(
                            ["node", "-e", read],
                            cwd=BUILD / "pages",
                            stdin=stdin,
                            capture_output=True,
                            text=True,
                        )
                    self.assertEqual(done.returncode, 0, done.stderr)
                    # What Slack's manifests have.
                    manifest = json.loads(done.stdout)
                    known = {"display_information", "features", "oauth_config", "settings"}
                    self.assertEqual(set(manifest), known)
                    names = manifest["oauth_config"]["scopes"]["bot"]
                    names += manifest["settings"]["event_subscriptions"]["bot_events"]
                    self.assertGreater(len(names), 10)
                    for name in names:
                        self.assertRegex(name, r"^[a-z_.]+(:[a-z_.]+)?$")

    def test_units(self):
        for _, found in blocks_of({"ini"}):
            for block in found:
                with self.subTest(str(block)):
                    reader = configparser.RawConfigParser(strict=False)
                    reader.optionxform = str
                    reader.read_string(block.code)
                    self.assertEqual(reader.sections(), ["Service"])
                    if shutil.which("systemd-analyze"):
                        self.verify_unit(block.code)

    def verify_unit(self, drop_in):
        unit = (ROOT / "deploy/systemd/countersign.service").read_text("utf-8")
        unit = unit.replace("/usr/local/bin/countersign", str(BIN))
        (self.folder / "countersign.service").write_text(unit)
        (self.folder / "countersign.service.d").mkdir()
        (self.folder / "countersign.service.d/override.conf").write_text(drop_in)
        command = ["systemd-analyze", "verify", "--man=no", self.folder / "countersign.service"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        ours = [line for line in done.stderr.splitlines() if "countersign.service" in line]
        self.assertEqual(ours, [])

    def test_nginx(self):
        for _, found in blocks_of({"nginx"}):
            for block in found:
                with self.subTest(str(block)):
                    # Every statement ends with `;` or is a block, and blocks are closed.
                    code = re.sub(r'"[^"]*"|#.*', "x", block.code)
                    depth = 0
                    for statement, end in re.findall(r"([^;{}]*)([;{}])", code):
                        self.assertEqual(bool(statement.strip()), end != "}", statement)
                        self.assertNotIn("\n", statement.strip(), "a statement without its semicolon")
                        depth += {"{": 1, "}": -1, ";": 0}[end]
                        self.assertGreaterEqual(depth, 0)
                    self.assertEqual(depth, 0)

    # What is not run

    def test_excerpts(self):
        """Lines that stand in a file which tests run or compile, one after the other."""
        lines = lambda text: "\n".join(line.strip() for line in text.splitlines() if line.strip())  # noqa: E731
        for found in BLOCKS.values():
            for block in found:
                if block.word == "excerpt":
                    with self.subTest(str(block)):
                        self.assertIn(lines(block.code), lines((ROOT / block.said).read_text("utf-8")))

    def test_every_block_is_run_or_says_why_not(self):
        run = {"sh", "python", "ts", "js", "json", "toml", "yaml", "ini", "nginx", "sql"}
        counts, reasons, wrong = {}, {}, []
        for page, found in BLOCKS.items():
            for block in found:
                if block.language == "text":
                    kind = "output"
                elif block.word == "not run":
                    kind = "not run"
                    reasons.setdefault(block.said, []).append(str(block))
                elif block.word == "excerpt":
                    kind = "in a file that is run or compiled"
                elif (page, block.language) in CLIENTS:
                    kind = f"run by {CLIENTS[page, block.language]}"
                elif block.language in run:
                    kind = "run or read"
                else:
                    hint = (
                        "name its language, or `text` for output" if not block.language else "nothing runs it"
                    )
                    wrong.append(f"{block}: {hint}; docs/examples/pages/blocks.py says how to mark it")
                    continue
                counts[kind] = counts.get(kind, 0) + 1
        for kind, count in sorted(counts.items()):
            print(f"{count:4} blocks: {kind}")
        for reason, where in sorted(reasons.items()):
            print(f"     not run: {reason}: {', '.join(where)}")
        self.assertEqual(wrong, [])

    def test_comments_are_understood(self):
        """A mistyped comment must not leave a block out in silence."""
        wrong = []
        for page in BLOCKS:
            for number, line in pages.prose(page):
                if line.strip().startswith("<!--") and not pages.COMMENT.match(line.strip()):
                    wrong.append(f"{page}:{number}: {line}")
        marked = sum(1 for page in BLOCKS for _, line in pages.prose(page) if line.strip().startswith("<!--"))
        self.assertEqual(marked, sum(1 for found in BLOCKS.values() for block in found if block.word))
        self.assertEqual(wrong, [])

    def test_what_is_not_run_parses(self):
        for found in BLOCKS.values():
            for block in found:
                if block.word != "not run":
                    continue
                with self.subTest(str(block)):
                    if block.language == "sh":
                        # `…` is a word like any other.
                        done = subprocess.run(["sh", "-n", "-c", block.code], capture_output=True, text=True)
                        self.assertEqual(done.returncode, 0, done.stderr)
                    elif block.language == "python":
                        ast.parse(block.code)

    def test_make_targets_exist(self):
        makefile = (ROOT / "Makefile").read_text("utf-8")
        known = set(re.findall(r"^([a-z]+):", makefile, re.M))
        for page, found in BLOCKS.items():
            for block in found:
                for words in pages.commands(block.code, "make") if block.language == "sh" else ():
                    target = [word for word in words if "=" not in word][:1]
                    self.assertLessEqual(set(target), known, str(block))

    def test_commands_exist(self):
        """Every `countersign …` of a block that is not run, and of the prose, is one the program knows."""
        shown = {}
        for page, found in BLOCKS.items():
            for block in found:
                for words in pages.commands(block.code, "countersign") if block.language == "sh" else ():
                    shown.setdefault(tuple(pages.complete(words)), str(block))
            for number, line in pages.prose(page):
                for span in re.findall(r"`(countersign [^`]+)`", line):
                    words = pages.complete(pages.commands(span.replace("\\|", "|"), "countersign")[0])
                    shown.setdefault(tuple(words), f"{page}:{number}")
        self.assertGreater(len(shown), 150)
        wrong = []
        for words, where in shown.items():
            # `countersign COMMAND --help` stands for all commands.
            if words[0].isupper():
                continue
            # Help is printed only if what stands before it can be parsed.
            command = [BIN, *words, "--help"]
            done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=60)
            # What stands for something of the reader's own is no value.
            invented = "invalid value" in done.stderr and any(map(pages.placeholder, words))
            # The prose names a flag without its value.
            named = words[-1].startswith("--") and f"a value is required for '{words[-1]} " in done.stderr
            if done.returncode != 0 and not invented and not named:
                wrong.append(f"{where}: countersign {' '.join(words)}\n    {done.stderr.strip()}")
        self.assertEqual(wrong, [], "\n".join(wrong))

    def test_addresses_exist(self):
        """Every `GET /api/v1/…` of the prose is one the server knows: without a credential it refuses
        the call, but it finds it."""
        host = self.serve().removeprefix("http://")
        shown = {}
        for page in BLOCKS:
            # The pages of errors show calls that fail.
            for number, line in pages.prose(page) if not page.startswith("docs/errors/") else ():
                for span in re.findall(r"`([^`]+)`", line):
                    # What all addresses of a protocol begin with is none itself.
                    if (call := CALL.match(span)) and not re.search(r"/v1$|…$", call["path"]):
                        for method in (call["methods"] or "").strip().split(", "):
                            shown.setdefault((method, call["path"]), f"{page}:{number}")
        self.assertGreater(len(shown), 180)
        wrong = []
        for (method, path), where in shown.items():
            # One of several words is enough: `/api/v1/{agents,people}/{id}`.
            path = re.sub(r"\{(\w+),[^}]*\}", r"\1", path)
            path = path.replace("/schemas/{name}", "/schemas/Task")
            path = re.sub(r"\{[^}]*\}|…|<[^>]*>", "x", path)
            connection = http.client.HTTPConnection(host, timeout=30)
            connection.request(method or "GET", path)
            status = connection.getresponse().status
            connection.close()
            if status == 404 or (status == 405 and method):
                wrong.append(f"{where}: {method} {path} is {status}")
        self.assertEqual(wrong, [], "\n".join(wrong))


# Calls and addresses of this server, as the prose shows them.
CALL = re.compile(
    r"(?P<methods>(?:GET|HEAD|POST|PUT|PATCH|DELETE)(?:, (?:GET|HEAD|POST|PUT|PATCH|DELETE))* )?"
    r"(?P<path>/(?:api|hxp|hitl|hacp|a2h|humanlayer|envelope|settings|asks|review|inbox|insights|history|tasks|"
    r"ledger|write|healthz|readyz|metrics|docs|openapi\.json|\.well-known|skill\.md|sign-in)\b[^ ]*)"
)
# There is no terminal to confirm on, and a server would never end.
COUNTERSIGN = """#!/bin/sh
case "$1 $2" in
"serve "*) shift; exec $SERVE "$@" ;;
"erase "* | "people erase") set -- "$@" --yes ;;
esac
exec "$COUNTERSIGN_BIN" "$@"
"""
# Runs until it has printed a text. `timeout` stops all that the block started.
ENDLESS = """
timeout 60 sh -e endless.sh >endless.out 2>&1 & endless=$!
until grep -q {text} endless.out; do kill -0 $endless || {{ cat endless.out; exit 1; }}; sleep 0.1; done
kill $endless
wait $endless || true
"""
# A call that is refused fails, also in the middle of a pipe. 28: the time of a stream is up.
CURL = """#!/bin/sh
case " $* " in *" -f"*) ;; *) set -- --fail-with-body "$@" ;; esac
"$REAL_CURL" "$@" || { ended=$?; [ $ended = 28 ] || echo "$ended: $*" >> "$CURL_FAILED"; exit $ended; }
"""
RUN_PYTHON = """
import ast as _ast, asyncio as _asyncio, inspect as _inspect
_code = compile({code!r}, "page", "exec", flags=_ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
_ran = eval(_code, globals())
if _inspect.isawaitable(_ran):
    _asyncio.run(_ran)
"""

if __name__ == "__main__":
    unittest.main()
