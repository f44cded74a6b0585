"""HACP over plain HTTP, with nothing but Python's standard library."""

import json
import os
import urllib.error
import urllib.request


class Refused(Exception):
    """The server refused. `code` is the protocol's."""

    def __init__(self, status, error):
        super().__init__(f"{error['code']}: {error['message']}")
        self.status, self.code, self.retryable = status, error["code"], error["retryable"]


class Hacp:
    """Whoever holds the credential is who acts."""

    def __init__(self, url, credential):
        self.url, self.credential = url.rstrip("/"), credential

    def __call__(self, operation, params=None, once=None):
        """One operation. Under the same key, `once`, it happens once, however often it is called."""
        body = {"params": params or {}}
        if once is not None:
            body["idempotency_key"] = once
        with self.open(f"/hacp/v1/ops/{operation}", json.dumps(body).encode()) as answer:
            return json.load(answer)

    def events(self, after=0):
        """What happens to tasks, as it happens: `(name, event)`."""
        with self.open("/hacp/v1/events", None, {"Last-Event-ID": str(after)}) as stream:
            name = None
            for line in stream:
                field, _, value = line.decode().rstrip("\n").partition(": ")
                if field == "event":
                    name = value
                elif field == "data" and name != "ready":
                    yield name, json.loads(value)

    def open(self, path, body, headers=None):
        """A request with the credential."""
        sent = {"Authorization": f"Bearer {self.credential}", **(headers or {})}
        if body is not None:
            sent["Content-Type"] = "application/json"
        request = urllib.request.Request(self.url + path, data=body, headers=sent)
        try:
            return urllib.request.urlopen(request, timeout=60)
        except urllib.error.HTTPError as refused:
            raise Refused(refused.code, json.load(refused)["error"]) from None


def from_env():
    """The server and the credential of this process."""
    return Hacp(os.environ["COUNTERSIGN_URL"], os.environ["COUNTERSIGN_API_KEY"])
