"""Stands in for `countersign serve` in the blocks of the pages: starts the server as the page says, waits
until it is ready, and stops it, because the block has more to run. Only the port is another one."""

import http.client
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def main():
    words = sys.argv[1:]
    if "--listen" in words:
        at = words.index("--listen")
        del words[at : at + 2]
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ)
        # The page's own server works there.
        env.pop("COUNTERSIGN_DATA", None)
        if "--data" not in words:
            words += ["--data", f"{folder}/data"]
        out = Path(folder, "out")
        with out.open("wb") as said:
            command = [os.environ["COUNTERSIGN_BIN"], "serve", *words, "--listen", f"127.0.0.1:{port}"]
            server = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, env=env)
        try:
            return ready(server, port, out)
        finally:
            server.terminate()
            server.wait(30)


def ready(server, port, out):
    # The certificate of the tests is nobody's.
    anyone = ssl.create_default_context()
    anyone.check_hostname, anyone.verify_mode = False, ssl.CERT_NONE
    end = time.monotonic() + 60
    while time.monotonic() < end and server.poll() is None:
        for scheme in ("http", "https"):
            try:
                urllib.request.urlopen(f"{scheme}://127.0.0.1:{port}/readyz", timeout=5, context=anyone)
                print("the server is ready")
                return 0
            except (OSError, http.client.HTTPException):
                time.sleep(0.05)
    sys.stderr.write(out.read_text())
    return 1


sys.exit(main())
