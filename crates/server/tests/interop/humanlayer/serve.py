"""Starts the server, runs a story against it, and ends both: serve.py COMMAND…

The story finds the server under the names the SDKs read: HUMANLAYER_API_BASE and HUMANLAYER_API_KEY.
"""

import os
import re
import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory() as folder:
    words = ["serve", "--dev", "--listen", "127.0.0.1:0", "--data", f"{folder}/data"]
    # What nobody answers ends, after an hour of the server's time.
    words += ["--a2h-timeout", "3600"]
    server = subprocess.Popen(
        [os.environ["COUNTERSIGN_BIN"], *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        url = None
        for line in server.stdout:
            if found := re.match(r"^ {2}Inbox +(http:\S+?)/?(\s|$)", line):
                url = found[1]
                break
        assert url, "the server did not start"
        # A slash too many is what people have in their settings.
        own = {
            "COUNTERSIGN": url,
            "HUMANLAYER_API_BASE": f"{url}/humanlayer/v1/",
            "HUMANLAYER_API_KEY": "dev-agent-key",
            "NO_PROXY": "*",
        }
        told = subprocess.run(sys.argv[1:], env={**os.environ, **own}, timeout=120)
        sys.exit(told.returncode)
    finally:
        server.kill()
        server.wait()
