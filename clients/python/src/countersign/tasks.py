"""Tasks: work a person owns and an agent does, over HACP. `client.tasks` has every operation.

```python
from countersign import Countersign

tasks = Countersign(api_key="a person's token").tasks
task = tasks.create("Write the release notes", acceptance_criteria=["one page"])
tasks.assign(task["id"], "agent_dev")
```

Whoever holds the credential is who acts: a person's token creates, assigns, decides and judges; an
agent's key starts, asks and delivers. Objects are the protocol's own, as dictionaries. Every call
that changes something carries an `idempotency_key`, so that one whose answer was lost can be
repeated; name one yourself and a whole program can be run again. With `expected_task_revision` a
call is refused with `CONFLICT` if the task was changed since you looked.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import AsyncIterator, Awaitable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Callable, Union

from . import _tasks as flows
from ._core import Core
from ._leave import leave
from ._run import AsyncRunner, Runner
from ._sse import Frame
from ._steps import Flow
from ._task_calls import Json, Keyed, Many, Maybe, One, Terms
from ._task_record import RecordOperations, ReviewComment
from ._task_work import TaskOperations
from ._tasks import Page
from ._times import Duration, seconds
from .errors import ProtocolError, TaskError

__all__ = [
    "AsyncTasks",
    "Duty",
    "Keyed",
    "Operations",
    "Page",
    "ReviewComment",
    "TaskError",
    "TaskEvent",
    "Tasks",
    "Terms",
    "leave",
]


@dataclass(frozen=True)
class TaskEvent:
    """One thing that happened to a task: `task.assigned`, `artifact.committed` and so on.

    `data` is the audit event. Keep `position` to resume later with `events(after=position)`.
    """

    name: str
    position: str | None
    data: Json


@dataclass(frozen=True)
class Duty:
    """Something the runtime of an agent has to do.

    `operation` is `delegate`, `block`, `resume`, `handoff`, `steer` or `cancel`; `data` has what
    comes with it: `input`, `resolution`, `review`, `amendment` and so on.
    """

    operation: str
    operation_id: str
    task_id: str
    run_id: str
    agent_id: str
    cursor: str
    data: Json = field(repr=False)

    def key(self, step: str) -> str:
        """An `idempotency_key` for a step of it: the same however often it is delivered."""
        return f"{self.operation_id}:{step}"


class Operations(TaskOperations[One, Many, Maybe], RecordOperations[One, Many, Maybe]):
    """Every operation of the protocol, for both clients."""


class Tasks(Operations[Json, Page, Union[Json, None]]):
    """Every operation, by blocking: `client.tasks`."""

    def __init__(self, core: Core, runner: Runner, client: object = None) -> None:
        self._core = core
        self._runner = runner
        # `Countersign().tasks` keeps no other, and a client that is gone has closed everything.
        self._client = client

    def content(self, art_id: str, version: str | None = None) -> bytes:
        """The bytes of a version the server holds, checked against their checksum."""
        made = self.artifact(art_id, version)
        return self._runner.run(flows.content(self._core, made))

    def events(self, after: int | str | None = None) -> Iterator[TaskEvent]:
        """What happens to all tasks this credential may see; from `after`, or from now on."""
        for frame in self._runner.iterate(flows.events(self._core, after)):
            yield _event(frame)

    def duties(self, *, limit: int = 100, idle: Duration | None = 1) -> Iterator[Duty]:
        """What the runtime of this agent has to do, one after the other.

        Each is acknowledged when the next one is asked for, so one that was not finished comes
        again: after a crash too. `idle` is how long to rest when there is nothing; with `None` it
        ends then.
        """
        rest = None if idle is None else seconds(idle)
        for delivery in self._runner.iterate(flows.duties(self._core, limit, rest)):
            yield _duty(delivery)

    def run(
        self, handler: Callable[[Duty], object], *, limit: int = 100, idle: Duration | None = 1
    ) -> None:
        """Hands everything the runtime has to do to `handler`: peek, handle, acknowledge.

        What raises is not acknowledged: it comes first when this runs again.
        """
        for duty in self.duties(limit=limit, idle=idle):
            handler(duty)

    def _core_of(self) -> Core:
        return self._core

    def _run(self, flow: Flow[Any]) -> Any:
        return self._runner.run(flow)


class AsyncTasks(
    Operations[
        Coroutine[Any, Any, Json],
        Coroutine[Any, Any, Page],
        Coroutine[Any, Any, Union[Json, None]],
    ]
):
    """Every operation, by awaiting: `client.tasks`."""

    def __init__(self, core: Core, runner: AsyncRunner, client: object = None) -> None:
        self._core = core
        self._runner = runner
        self._client = client

    async def content(self, art_id: str, version: str | None = None) -> bytes:
        """The bytes of a version the server holds, checked against their checksum."""
        made = await self.artifact(art_id, version)
        return await self._runner.run(flows.content(self._core, made))

    async def events(self, after: int | str | None = None) -> AsyncIterator[TaskEvent]:
        """What happens to all tasks this credential may see; from `after`, or from now on."""
        async for frame in self._runner.iterate(flows.events(self._core, after)):
            yield _event(frame)

    async def duties(self, *, limit: int = 100, idle: Duration | None = 1) -> AsyncIterator[Duty]:
        """What the runtime of this agent has to do; see `Tasks.duties`."""
        rest = None if idle is None else seconds(idle)
        async for delivery in self._runner.iterate(flows.duties(self._core, limit, rest)):
            yield _duty(delivery)

    async def run(
        self,
        handler: Callable[[Duty], Awaitable[object] | object],
        *,
        limit: int = 100,
        idle: Duration | None = 1,
    ) -> None:
        """Hands everything the runtime has to do to `handler`; see `Tasks.run`."""
        async for duty in self.duties(limit=limit, idle=idle):
            handled = handler(duty)
            if inspect.isawaitable(handled):
                await handled

    def _core_of(self) -> Core:
        return self._core

    def _run(self, flow: Flow[Any]) -> Any:
        return self._runner.run(flow)


def _event(frame: Frame) -> TaskEvent:
    try:
        data = json.loads(frame.data) if frame.data else {}
    except ValueError as error:
        raise ProtocolError("an event that is not JSON") from error
    return TaskEvent(frame.event, frame.id, data)


def _duty(delivery: Mapping[str, Any]) -> Duty:
    try:
        data = dict(delivery["event"])
        names = ("operation", "operation_id", "task_id", "run_id", "agent_id")
        known = {name: data[name] for name in names}
        return Duty(**known, cursor=delivery["cursor"], data=data)
    except (KeyError, TypeError) as error:
        raise ProtocolError("this is not an operation of a runtime") from error
