"""A client that behaves as the protocol's own Python SDK does, for one test.

It is written from what is known of that SDK, with the standard library only: the same default
server, key and name; a create that must be answered with 201; a first poll right after it, then one
every two seconds; and the same conclusions from each status and error.

Run with a JSON list of calls as its argument, it makes them one after the other and prints what
came of each as one JSON line.
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request

GIVE_UP_AFTER = 86400
HTTP_TIMEOUT = 30


class HXPError(Exception):
    """The server said no; `details` is what it said."""

    def __init__(self, message, details=None):
        super().__init__(message)
        self.details = details


class HXPTimeoutError(HXPError):
    """Nobody answered in time."""


class Client:
    def __init__(
        self,
        server="http://localhost:3402",
        api_key="dev-agent-key",
        agent_id="default-agent",
        project_id=None,
        poll_interval=2.0,
    ):
        self.base = server.rstrip("/") + "/hxp/v1"
        self.api_key = api_key
        self.agent_id = agent_id
        self.project_id = project_id
        self.poll_interval = poll_interval

    def decide(self, question, options, context=None, default_option=None, **rest):
        payload = {"question": question, "options": options}
        self._add(payload, context=context, default_option=default_option)
        return self._execute("DECIDE", payload, **rest)

    def approve(self, item, details=None, context=None, reject_requires_reason=False, **rest):
        payload = {"item": item}
        self._add(
            payload,
            details=details,
            context=context,
            reject_requires_reason=reject_requires_reason,
        )
        return self._execute("APPROVE", payload, **rest)

    def provide(
        self, prompt, input_type="text", context=None, placeholder=None, validation=None, **rest
    ):
        payload = {"prompt": prompt, "input_type": input_type}
        self._add(payload, context=context, placeholder=placeholder, validation=validation)
        return self._execute("PROVIDE", payload, **rest)

    def wait(self, request_id):
        """Polls at once and then at intervals, until the request is over."""
        begun = time.monotonic()
        while time.monotonic() - begun < GIVE_UP_AFTER:
            status, request = self._call("GET", "/requests/" + request_id)
            if status != 200:
                raise HXPError(request["message"], request)
            receipt = request.get("receipt")
            state = request["status"]
            if state == "completed" or (state == "expired" and receipt):
                # Whatever the receipt says of itself, this is taken for an answer.
                return {
                    "status": "completed",
                    "result": receipt["result"],
                    "reason": receipt.get("reason"),
                    "completed_by": receipt["completed_by"],
                    "duration_seconds": receipt["duration_seconds"],
                    "evidence_hash": receipt["evidence_hash"],
                }
            if state == "expired":
                raise HXPTimeoutError("the request expired", request)
            if state in ("failed", "cancelled"):
                raise HXPError("the request is " + state, request)
            time.sleep(self.poll_interval)
        raise HXPTimeoutError("gave up waiting")

    def _execute(
        self,
        action,
        payload,
        role="owner",
        priority="normal",
        timeout_seconds=0,
        fallback="pause",
        metadata=None,
    ):
        body = {
            "action": action,
            "role": role,
            "priority": priority,
            "timeout_seconds": timeout_seconds,
            "fallback": fallback,
            "agent_id": self.agent_id,
            "payload": payload,
        }
        self._add(body, project_id=self.project_id, metadata=metadata)
        status, created = self._call("POST", "/requests", body)
        if status != 201:
            raise HXPError(created.get("message", "the request was not created"), created)
        return self.wait(created["request_id"])

    @staticmethod
    def _add(body, **members):
        """What is empty is left out."""
        body.update({name: value for name, value in members.items() if value})

    def _call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": "Bearer " + self.api_key, "Content-Type": "application/json"}
        request = urllib.request.Request(self.base + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=HTTP_TIMEOUT) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as refused:
            # Every error must be JSON: this raises if one is not.
            return refused.code, json.load(refused)


def main():
    settings = {}
    if "HXP_TEST_SERVER" in os.environ:
        settings["server"] = os.environ["HXP_TEST_SERVER"]
    if "HXP_TEST_INTERVAL" in os.environ:
        settings["poll_interval"] = float(os.environ["HXP_TEST_INTERVAL"])
    for call in json.loads(sys.argv[1]):
        client = Client(**settings, **call.get("client", {}))
        try:
            outcome = getattr(client, call["call"])(**call["with"])
        except HXPTimeoutError as error:
            outcome = {"raised": "HXPTimeoutError", "message": str(error)}
        except HXPError as error:
            outcome = {"raised": "HXPError", "message": str(error), "details": error.details}
        print(json.dumps(outcome), flush=True)


if __name__ == "__main__":
    main()
