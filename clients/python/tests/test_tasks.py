"""Tasks over HACP: what goes over the wire, and what comes back."""

from __future__ import annotations

import itertools
import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import httpx
import pytest
from wire import Wire, frame, say, stream

from countersign import ConnectionFailed, Duty, ProtocolError, TaskError, Tasks
from countersign.tasks import Operations, leave

TASK = {"id": "task_1", "state": "created", "revision": 0}


def refused(code: str, status: int, **more: Any) -> httpx.Response:
    error = {"code": code, "message": "no", "details": {}, "retryable": False, **more}
    return say({"error": error}, status)


def sent(wire: Wire, n: int = -1) -> Any:
    return json.loads(wire.requests[n].content)


def duty(n: int, operation: str = "delegate") -> dict[str, Any]:
    event = {
        "operation_id": f"op_{n}",
        "operation": operation,
        "task_id": "task_1",
        "correlation_id": "task_1",
        "run_id": "run_1",
        "agent_id": "agent_dev",
        "input": {"n": n},
    }
    return {"cursor": str(n), "event": event}


def test_a_call_is_its_operation_and_what_was_given() -> None:
    wire = Wire(say(TASK))
    deadline = datetime(2026, 12, 1, 12, tzinfo=timezone(timedelta(hours=1)))
    made = wire.client().tasks.create(
        "Write it", acceptance_criteria=["short"], deadline=deadline, idempotency_key="k"
    )
    assert made == TASK
    assert wire.paths == ["POST /hacp/v1/ops/task.create"]
    assert wire.requests[0].headers["authorization"] == "Bearer key"
    spec = {"goal": "Write it", "acceptance_criteria": ["short"]}
    params = {"type": "task", "spec": spec, "deadline": "2026-12-01T12:00:00+01:00"}
    assert sent(wire) == {"params": params, "idempotency_key": "k"}


def test_the_revision_goes_beside_the_parameters_and_every_change_has_a_key() -> None:
    wire = Wire(say(TASK), say(TASK))
    tasks = wire.client().tasks
    tasks.amend("task_1", "shorter", "constrain", expected_task_revision=0)
    tasks.amend("task_1", "shorter", "constrain", expected_task_revision=0)
    first, second = sent(wire, 0), sent(wire, 1)
    assert first["expected_task_revision"] == 0
    assert first["params"] == {"task_id": "task_1", "text": "shorter", "intent": "constrain"}
    assert first["idempotency_key"] != second["idempotency_key"]


CALLS: list[tuple[str, Any, Any]] = [
    ("task.assign", lambda t: t.assign("t", "agent_dev", input=[1]), {"input": [1]}),
    ("task.start", lambda t: t.start("t"), {"task_id": "t"}),
    ("task.cancel", lambda t: t.cancel("t", "late"), {"reason": "late"}),
    ("task.interrupt", lambda t: t.interrupt("t", "stop"), {"prompt": "stop"}),
    ("task.grant", lambda t: t.grant("t", "fs:*", "deny"), {"decision": "deny"}),
    ("task.get", lambda t: t.get("t"), {"task_id": "t"}),
    ("task.list", lambda t: t.list(state="blocked", limit=2), {"state": "blocked", "limit": 2}),
    ("checkpoint.raise", lambda t: t.raise_checkpoint("t", "ok?"), {"kind": "approval"}),
    (
        "checkpoint.resolve",
        lambda t: t.resolve("c", "choose", choice="a"),
        {"ckpt_id": "c", "resolution": {"action": "choose", "choice": "a"}},
    ),
    ("checkpoint.expire", lambda t: t.expire("c"), {"ckpt_id": "c"}),
    ("ownership.transfer", lambda t: t.transfer("t", "user_dev"), {"to": "user_dev"}),
    ("ownership.delegate", lambda t: t.delegate("t", "agent_2"), {"to_agent": "agent_2"}),
    (
        "review.submit",
        lambda t: t.review("t", "changes_requested", requested_changes=["x"]),
        {"verdict": "changes_requested", "requested_changes": ["x"]},
    ),
    ("review.comment", lambda t: t.comment("r", "hm"), {"review_id": "r", "comment": "hm"}),
    ("artifact.get", lambda t: t.artifact("a", "v1"), {"art_id": "a", "version": "v1"}),
    ("artifact.reference", lambda t: t.reference("a", "v1", "t"), {"by_task": "t", "as_": "input"}),
    ("artifact.share", lambda t: t.share("a", "dev2"), {"project": "dev2"}),
    ("ledger.read", lambda t: t.ledger_read("project:dev", "k"), {"key": "k"}),
    ("ledger.write", lambda t: t.ledger_write("project:dev", "k", None, "t"), {"value": None}),
    ("ledger.history", lambda t: t.ledger_history("project:dev", "k"), {"scope": "project:dev"}),
    ("audit.query", lambda t: t.audit(action="task.created"), {"action": "task.created"}),
    ("audit.replay", lambda t: t.replay("t", "2026-01-01T00:00Z"), {"at": "2026-01-01T00:00Z"}),
    ("human.inbox", lambda t: t.inbox(), {}),
    ("pending.outbox", lambda t: t.outbox("t"), {"task_id": "t"}),
    ("runtime.peek", lambda t: t.peek(limit=1), {"limit": 1}),
    ("runtime.ack", lambda t: t.ack("7"), {"through": "7"}),
]


@pytest.mark.parametrize(("operation", "do", "params"), CALLS)
def test_every_operation_sends_its_parameters(operation: str, do: Any, params: Any) -> None:
    wire = Wire(say({}))
    do(wire.client().tasks)
    assert wire.paths == [f"POST /hacp/v1/ops/{operation}"]
    body = sent(wire)
    assert {name: body["params"][name] for name in params} == params
    looks = {"get", "list", "read", "history", "query", "replay", "inbox", "outbox", "peek", "ack"}
    assert ("idempotency_key" in body) == (operation.split(".")[1] not in looks)


def test_words_are_committed_as_they_are_and_bytes_in_base64() -> None:
    wire = Wire(say({}), say({}), say({}))
    tasks = wire.client().tasks
    tasks.commit("t", "Grüße")
    words = sent(wire)["params"]["payload"]
    assert (words["kind"], words["content"], words["size"]) == ("inline", "Grüße", 7)
    assert words["checksum"].startswith("sha256:")
    tasks.commit("t", b"\xff\x00", art_id="art_1", media_type="image/png")
    there = sent(wire)["params"]
    assert (there["art_id"], there["payload"]["kind"]) == ("art_1", "blob")
    assert (there["payload"]["content"], there["payload"]["encoding"]) == ("/wA=", "base64")
    tasks.commit("t", uri="https://x.example/a", checksum="sha256:00", size=3)
    elsewhere = {"kind": "ref", "uri": "https://x.example/a", "checksum": "sha256:00", "size": 3}
    assert sent(wire)["params"]["payload"] == elsewhere


def test_what_is_large_goes_in_parts_and_goes_on_where_it_broke_off() -> None:
    large = bytes(5 * 1024 * 1024)
    wire = Wire(
        say({"upload": "upl_1", "offset": 0, "complete": False}, 201),
        httpx.ReadError("reset"),
        say({"upload": "upl_1", "offset": 1024, "complete": False}),
        httpx.Response(204),
        httpx.Response(200, json={"upload": "upl_1"}),
        say({}),
    )
    wire.client().tasks.commit("t", large, media_type="image/png")
    assert wire.paths == [
        "POST /hacp/v1/uploads",
        "PATCH /hacp/v1/uploads/upl_1",
        "GET /hacp/v1/uploads/upl_1",
        "PATCH /hacp/v1/uploads/upl_1",
        "PATCH /hacp/v1/uploads/upl_1",
        "POST /hacp/v1/ops/artifact.commit",
    ]
    begun = wire.requests[0].headers
    assert (begun["upload-length"], begun["content-type"]) == (str(len(large)), "image/png")
    parts = [wire.requests[n].headers for n in (1, 3, 4)]
    assert [part["upload-offset"] for part in parts] == ["0", "1024", str(1024 + 4 * 1024 * 1024)]
    assert [part["upload-complete"] for part in parts] == ["?0", "?0", "?1"]
    assert sent(wire)["params"]["payload"] == {
        "kind": "blob",
        "media_type": "image/png",
        "uri": "upload:upl_1",
    }


def test_bytes_that_are_not_what_was_committed_are_refused() -> None:
    checksum = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    artifact = {"id": "art_1", "version": "v1", "payload": {"checksum": checksum}}
    wire = Wire(
        say(artifact),
        httpx.Response(200, content=b"abc"),
        say(artifact),
        httpx.Response(200, content=b"abd"),
    )
    tasks = wire.client().tasks
    assert tasks.content("art_1") == b"abc"
    assert wire.paths[1] == "GET /hacp/v1/artifacts/art_1/versions/v1/content"
    with pytest.raises(ProtocolError, match="does not match its checksum"):
        tasks.content("art_1")


def test_a_list_says_where_it_goes_on() -> None:
    wire = Wire(say([TASK], hacp_next_cursor="task_1"), say([]))
    tasks = wire.client().tasks
    page = tasks.list()
    assert (page, page.next) == ([TASK], "task_1")
    assert tasks.list(cursor=page.next).next is None


def test_a_refusal_keeps_its_code_its_details_and_whether_to_retry() -> None:
    details = {"task_revision": 4}
    wire = Wire(refused("CONFLICT", 409, details=details, retryable=True, correlation_id="task_1"))
    with pytest.raises(TaskError, match="no") as caught:
        wire.client().tasks.start("task_1")
    error = caught.value
    assert (error.code, error.status, error.retryable) == ("CONFLICT", 409, True)
    assert (error.details, error.correlation_id) == (details, "task_1")


def test_an_answer_that_was_lost_is_asked_for_again_under_the_same_key() -> None:
    wire = Wire(httpx.ReadError("reset"), refused("UNAVAILABLE", 503), say(TASK))
    assert wire.client().tasks.start("task_1") == TASK
    assert len({request.content for request in wire.requests}) == 1
    wire = Wire(httpx.ReadError("reset"))
    with pytest.raises(ConnectionFailed):
        wire.client().tasks.call("task.start", {"task_id": "task_1"})


def test_events_go_on_where_they_broke_off() -> None:
    told = frame("task.assigned", {"action": "task.assigned"}, 8)
    wire = Wire(stream(frame("ready", {}, 7), told, b""), stream(frame("task.started", {}, 9)))
    events = list(itertools.islice(wire.client().tasks.events(after=3), 2))
    assert [(e.name, e.position) for e in events] == [("task.assigned", "8"), ("task.started", "9")]
    assert [r.headers["last-event-id"] for r in wire.requests] == ["3", "8"]
    assert wire.requests[0].url.path == "/hacp/v1/events"


def test_a_runtime_acknowledges_what_was_handled_and_nothing_else() -> None:
    wire = Wire(say([duty(1), duty(2)]), say({}), say([duty(2)]), say({}), say([]))
    tasks = wire.client().tasks
    handled: list[str] = []

    def handler(given: Duty) -> None:
        if given.cursor == "2" and "op_2" not in handled:
            handled.append("op_2")
            raise RuntimeError("killed")
        handled.append(given.key("step"))

    with pytest.raises(RuntimeError, match="killed"):
        tasks.run(handler, idle=None)
    tasks.run(handler, idle=None)
    assert handled == ["op_1:step", "op_2", "op_2:step"]
    acknowledged = [sent(wire, n)["params"] for n in (1, 3)]
    assert acknowledged == [{"through": "1"}, {"through": "2"}]


def test_a_runtime_rests_when_there_is_nothing_and_outlasts_the_server() -> None:
    wire = Wire(
        say([]), *[httpx.ConnectError("refused")] * 6, say([duty(1, "cancel")]), say({}), say([])
    )
    found = next(wire.client().tasks.duties(idle=2))
    assert (found.operation, found.data["input"]) == ("cancel", {"n": 1})
    assert wire.slept[0] == 2


def test_a_runtime_that_may_not_is_told() -> None:
    with pytest.raises(TaskError) as caught:
        Wire(refused("UNAUTHORIZED", 401)).client().tasks.run(print)
    assert caught.value.code == "UNAUTHORIZED"


@pytest.mark.anyio
async def test_the_same_with_await() -> None:
    wire = Wire(say(TASK), say([duty(1)]), say({}), say([]), stream(frame("task.started", {}, 1)))
    seen: list[str] = []

    async def handler(given: Duty) -> None:
        seen.append(given.operation)

    async with wire.async_client() as client:
        assert await client.tasks.get("task_1") == TASK
        await client.tasks.run(handler, idle=None)
        async for event in client.tasks.events():
            seen.append(event.name)
            break
    assert seen == ["delegate", "task.started"]


def test_every_operation_of_the_protocol_has_a_method() -> None:
    named = {operation for operation, _, _ in CALLS}
    named |= {"task.create", "task.amend", "artifact.commit"}
    assert len(named) == 29
    methods = {name for name in dir(Operations) if not name.startswith("_")}
    assert methods <= set(dir(Tasks))
    assert len(methods - {"call", "version", "schema"}) == 29


def test_a_moment_without_a_zone_is_no_moment() -> None:
    with pytest.raises(ValueError, match="time zone"):
        Wire().client().tasks.create("x", deadline=datetime(2026, 1, 1))


GRANTS: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "vectors" / "grants.json").read_text("utf-8")
)


@pytest.mark.parametrize("case", GRANTS["cases"], ids=lambda case: str(case["what"]))
def test_a_runtime_asks_before_it_acts(case: dict[str, Any]) -> None:
    """HACP-073: what is allowed may be done without asking, what is denied must not be done."""
    at = datetime.fromisoformat(GRANTS["at"].replace("Z", "+00:00"))
    task = {"grants": case["grants"], "run_id": GRANTS["run_id"]}
    assert leave(task, case["scope"], at=at) == case["leave"]
    task["run_id"] = "run_of_somebody_else"
    assert leave(task, case["scope"], run_id=GRANTS["run_id"], at=at) == case["leave"]


def test_a_runtime_asks_as_of_now() -> None:
    grants = [{"scope": "*", "decision": "allow", "until": "2026-01-01T00:00:00Z"}]
    assert leave({"grants": grants}, "bash:ls") == "ask"
