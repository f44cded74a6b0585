"""An agent before the real server, which is just another service to it."""

from __future__ import annotations

import http.server
import threading
from typing import Any

import httpx
import pytest

from countersign.hitl import (
    AsyncFollower,
    Cancelled,
    Case,
    Completed,
    Ended,
    Expired,
    Follower,
    Notice,
    Refused,
    SubmittedBy,
    case_of,
    verify_callback,
)
from countersign.testing import AGENT_KEY, Server

pytestmark = pytest.mark.live

KEY = {"authorization": f"Bearer {AGENT_KEY}"}
APPROVAL = {"type": "approval", "prompt": "Refund €120?", "inline_actions": ["approve"]}


def create(server: Server, **body: Any) -> httpx.Response:
    return httpx.post(f"{server.url}/hitl/v1/cases", json=body, headers=KEY)


def made(server: Server, **body: Any) -> Case:
    case = case_of(create(server, **body))
    assert case is not None
    return case


def respond(review_url: str, action: str, **data: Any) -> None:
    """What somebody does on the page, by its link."""
    url = review_url.replace("/review/", "/hitl/v1/reviews/").replace("?", "/respond?")
    httpx.post(url, json={"action": action, "data": data}).raise_for_status()


def test_an_answer_comes_while_the_agent_waits(server: Server) -> None:
    def tell(notice: Notice) -> None:
        respond(notice.review_url, "approve", feedback="ok")

    with Follower() as follower:
        outcome = follower.follow(made(server, **APPROVAL), tell)
    assert isinstance(outcome, Completed)
    assert (outcome.action, outcome.data) == ("approve", {"feedback": "ok"})
    assert outcome.signature is not None


@pytest.mark.anyio
async def test_withdrawn_and_run_out(server: Server) -> None:
    case = made(server, **APPROVAL)
    url = f"{server.url}/hitl/v1/reviews/{case.case_id}/cancel"

    async def tell(_: Notice) -> None:
        async with httpx.AsyncClient() as http:
            (await http.post(url, json={"reason": "no need"}, headers=KEY)).raise_for_status()

    short = made(server, type="x-acme-pick", prompt="?", timeout="1s", default_action="abort")
    assert short.treated_as == "input"
    async with AsyncFollower() as follower:
        outcome = await follower.follow(case, tell)
        assert isinstance(outcome, Cancelled)
        assert outcome.reason == "no need"
        outcome = await follower.follow(short)
        assert isinstance(outcome, Expired)
        assert (outcome.default_action, outcome.judged_by) == ("abort", "service")


def test_an_edit_is_continued(server: Server) -> None:
    rounds: list[str] = []

    def tell(notice: Notice) -> None:
        rounds.append(notice.case_id)
        respond(notice.review_url, "edit" if len(rounds) == 1 else "approve", feedback="less")

    with Follower() as follower:
        ended = follower.rounds(
            APPROVAL,
            lambda body: create(server, **body),
            lambda body, _: {**body, "prompt": "Refund €100?"},
            tell,
        )
    assert isinstance(ended, Ended)
    assert isinstance(ended.outcome, Completed)
    assert (ended.outcome.action, ended.case_id, len(rounds)) == ("approve", rounds[1], 2)


def test_what_was_pressed_counts_once(server: Server) -> None:
    case, ada = made(server, **APPROVAL), SubmittedBy("slack", "U7", "Ada")
    with Follower() as follower:
        done = follower.submit(case, "approve", via="slack_block_action", by=ada)
        assert done.case_id == case.case_id
        with pytest.raises(Refused) as caught:
            follower.submit(case, "approve", via="slack_block_action", by=ada)
        assert (caught.value.status, caught.value.code) == (409, "duplicate_submission")
        assert isinstance(follower.follow(case), Completed)


def test_the_callback_is_signed(server: Server) -> None:
    came: list[tuple[bytes, str | None]] = []
    there = threading.Event()

    class Hook(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            came.append((body, self.headers["x-hitl-signature"]))
            self.send_response(200)
            self.end_headers()
            there.set()

        def log_message(self, *_: Any) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Hook) as hook:
        threading.Thread(target=hook.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{hook.server_port}/hook"
        case = made(server, **APPROVAL, hitl_callback_url=url)
        respond(case.review_url, "reject")
        assert there.wait(30)
        hook.shutdown()
    secret = httpx.get(f"{server.url}/hitl/v1/callback-secret", headers=KEY).json()["secret"]
    told = verify_callback(secret, *came[0])
    assert told.case_id == case.case_id
    assert isinstance(told.outcome, Completed)
    assert told.outcome.action == "reject"
