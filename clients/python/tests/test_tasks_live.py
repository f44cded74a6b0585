"""Tasks against the real server: HACP's reference flow, and a runtime that is cut off."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from countersign import AsyncCountersign, Countersign, Duty, TaskError
from countersign.testing import AGENT_KEY, HUMAN_TOKEN, Server

pytestmark = pytest.mark.live


def test_the_reference_flow(server: Server) -> None:
    with Countersign(server.url, HUMAN_TOKEN) as human, server.client() as client:
        person, agent = human.tasks, client.tasks
        task: dict[str, Any] = person.create("Write it", acceptance_criteria=["short"])
        person.assign(task["id"], "agent_dev", input={"n": 1}, expected_task_revision=0)
        with pytest.raises(TaskError) as stale:
            person.amend(task["id"], "x", expected_task_revision=0)
        assert (stale.value.code, stale.value.retryable) == ("CONFLICT", True)
        assert stale.value.details["task_revision"] == 1
        seen: list[str] = []

        def handle(duty: Duty) -> None:
            if duty.task_id != task["id"]:
                return
            seen.append(duty.operation)
            if duty.operation == "delegate":
                agent.start(duty.task_id, idempotency_key=duty.key("start"))
                options = [{"id": "a", "label": "A"}, {"id": "b", "label": "B"}]
                agent.raise_checkpoint(duty.task_id, "Which?", "choice", options=options)
            elif duty.operation == "resume":
                review = duty.data.get("review") or {}
                agent.commit(duty.task_id, f"draft {len(seen)}", art_id=review.get("artifact_id"))

        agent.run(handle, idle=None)
        item = next(one for one in person.inbox() if one["task_id"] == task["id"])
        person.resolve(item["checkpoint_id"], "choose", choice="a")
        agent.run(handle, idle=None)
        review = person.review(task["id"], "changes_requested", requested_changes=["less"])
        person.comment(review["id"], "please")
        agent.run(handle, idle=None)
        person.review(task["id"], "approved")
        assert seen == ["delegate", "block", "resume", "resume"]
        done = person.get(task["id"])
        assert (done["state"], [one["version"] for one in done["deliveries"]]) == (
            "completed",
            ["v1", "v2"],
        )
        agent.ledger_write("project:dev", "python/last", None, task["id"])
        entry = person.ledger_read("project:dev", "python/last")
        assert entry is not None
        assert (entry["value"], entry["by"]) == (None, task["id"])
        assert person.ledger_read("project:dev", "python/nothing") is None
        history = person.replay(task["id"])
        assert history[0]["action"] == "task.created"
        then = person.replay(task["id"], history[0]["at"])
        assert then["task"]["state"] == "created"
        names = [one["action"] for one in person.audit(task_id=task["id"], limit=2)]
        assert names == ["task.created", "task.assigned"]
        assert person.schema("Task")["title"]


def test_lists_go_on_from_page_to_page_and_events_from_where_they_were(server: Server) -> None:
    with Countersign(server.url, HUMAN_TOKEN) as human:
        made = [human.tasks.create(f"Page {n}")["id"] for n in range(3)]
        first = human.tasks.list(limit=2)
        assert [one["id"] for one in first] == [made[2], made[1]]
        assert human.tasks.list(limit=2, cursor=first.next)[0]["id"] == made[0]
        events = human.tasks.events(after=0)
        named = itertools.dropwhile(lambda event: event.data["task_id"] != made[2], events)
        assert next(named).name == "task.created"


@pytest.mark.anyio
async def test_the_same_with_await(server: Server) -> None:
    async with AsyncCountersign(server.url, HUMAN_TOKEN) as human:
        task = await human.tasks.create("Write it", idempotency_key="await")
        again = await human.tasks.create("Write it", idempotency_key="await")
        assert task["id"] == again["id"]
        await human.tasks.assign(task["id"], "agent_dev")
        async with AsyncCountersign(server.url, AGENT_KEY) as agent:
            waiting = [one["event"]["task_id"] for one in await agent.tasks.peek()]
            assert task["id"] in waiting
            await human.tasks.cancel(task["id"], "enough")
            seen: list[str] = []
            await agent.tasks.run(lambda duty: seen.append(duty.operation), idle=None)
            assert seen[-2:] == ["delegate", "cancel"]
            assert await agent.tasks.peek() == []
