"""Reviews, artifacts, ledgers, history, and what runtimes have to do."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from . import _tasks as flows
from ._task_calls import Calls, Keyed, Many, Maybe, One, Terms, When, given

if TYPE_CHECKING:
    from typing_extensions import Unpack


class ReviewComment(TypedDict, total=False):
    """A remark on a place of what was delivered."""

    anchor: str | None
    severity: Literal["blocker", "major", "minor", "nit"]
    body: str


class RecordOperations(Calls[One, Many, Maybe]):
    """The operations on what was delivered, judged, remembered and recorded."""

    def review(
        self,
        task_id: str,
        verdict: Literal["approved", "changes_requested", "rejected"],
        *,
        art_id: str | None = None,
        version: str | None = None,
        kind: Literal["plan", "deliverable"] | None = None,
        comments: Sequence[ReviewComment] = (),
        requested_changes: Sequence[str] = (),
        **terms: Unpack[Terms],
    ) -> One:
        """`review.submit`: a person judges what was delivered, the newest unless told."""
        params = {
            "task_id": task_id,
            "art_id": art_id,
            "version": version,
            "kind": kind,
            "verdict": verdict,
            "comments": [dict(one) for one in comments] or None,
            "requested_changes": [*requested_changes] or None,
        }
        return self._change("review.submit", given(params), terms)

    def comment(
        self,
        review_id: str,
        comment: str | ReviewComment,
        *,
        task_id: str | None = None,
        **terms: Unpack[Keyed],
    ) -> One:
        """`review.comment`: adds something to a review that stands."""
        params = {"review_id": review_id, "comment": comment, "task_id": task_id}
        return self._change("review.comment", given(params), terms)

    def commit(
        self,
        task_id: str,
        content: str | bytes | None = None,
        *,
        type: str = "document",
        kind: Literal["diff", "blob", "ref", "inline"] | None = None,
        uri: str | None = None,
        checksum: str | None = None,
        size: int | None = None,
        media_type: str | None = None,
        art_id: str | None = None,
        version: str | None = None,
        parent_version: str | None = None,
        **terms: Unpack[Terms],
    ) -> One:
        """`artifact.commit`: the agent delivers, and the task is ready to be judged.

        `content` is words or bytes, checked on the way by their checksum; what is large goes in
        parts, before. For something that lies elsewhere name `uri`, `checksum` and `size`. With
        `art_id` it is the next version of that.
        """
        made = flows.payload(
            content, kind=kind, uri=uri, digest=checksum, size=size, media_type=media_type
        )
        params = {
            "task_id": task_id,
            "type": type,
            "payload": made,
            "art_id": art_id,
            "version": version,
            "parent_version": parent_version,
        }
        raw = content.encode() if isinstance(content, str) else content
        named = given({"idempotency_key": str(uuid.uuid4()), **terms})
        made_of: One = self._run(flows.deliver(self._core_of(), given(params), raw, **named))
        return made_of

    def artifact(self, art_id: str, version: str | None = None) -> One:
        """`artifact.get`: what was delivered, the newest version unless told."""
        return self._one("artifact.get", {"art_id": art_id, "version": version})

    def reference(
        self,
        art_id: str,
        version: str,
        by_task: str,
        role: Literal["input", "output"] = "input",
        **terms: Unpack[Keyed],
    ) -> One:
        """`artifact.reference`: a task uses a version."""
        params = {"art_id": art_id, "version": version, "by_task": by_task, "as_": role}
        return self._change("artifact.reference", given(params), terms)

    def share(self, art_id: str, project: str, **terms: Unpack[Keyed]) -> One:
        """`artifact.share`: tasks of another project may use it."""
        params = {"art_id": art_id, "project": project}
        return self._change("artifact.share", given(params), terms)

    def ledger_read(self, scope: str, key: str) -> Maybe:
        """`ledger.read`: what a key says now, or `None`. `scope` is `project:…` and the like."""
        read: Maybe = self._run(
            flows.operate(self._core_of(), "ledger.read", {"scope": scope, "key": key})
        )
        return read

    def ledger_write(
        self,
        scope: str,
        key: str,
        value: Any,
        by: str,
        *,
        expected_revision: int | None = None,
        **terms: Unpack[Keyed],
    ) -> One:
        """`ledger.write`: a key says something else from now on. `by` is the task that writes."""
        params = {"scope": scope, "key": key, "by": by, "expected_revision": expected_revision}
        # `null` is a value like any other.
        return self._change("ledger.write", {**given(params), "value": value}, terms)

    def ledger_history(
        self, scope: str, key: str, *, limit: int | None = None, cursor: str | None = None
    ) -> Many:
        """`ledger.history`: everything a key ever said, oldest first."""
        params = {"scope": scope, "key": key, "limit": limit, "cursor": cursor}
        return self._many("ledger.history", params)

    def audit(
        self,
        *,
        task_id: str | None = None,
        actor: str | None = None,
        action: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Many:
        """`audit.query`: what happened, by task, actor and action."""
        params = {
            "task_id": task_id,
            "actor": actor,
            "action": action,
            "limit": limit,
            "cursor": cursor,
        }
        return self._many("audit.query", params)

    def replay(self, task_id: str, at: When | None = None) -> Any:
        """`audit.replay`: the whole history of a task, as a list of events.

        With `at` an object: the `task` as it was then, and the `events` up to that moment.
        """
        return self.call("audit.replay", given({"task_id": task_id, "at": at}))

    def inbox(self, *, limit: int | None = None, cursor: str | None = None) -> Many:
        """`human.inbox`: what waits for the person who calls."""
        return self._many("human.inbox", {"limit": limit, "cursor": cursor})

    def outbox(
        self, task_id: str | None = None, *, limit: int | None = None, cursor: str | None = None
    ) -> Many:
        """`pending.outbox`: what runtimes have not confirmed."""
        params = {"task_id": task_id, "limit": limit, "cursor": cursor}
        return self._many("pending.outbox", params)

    def peek(
        self, *, run_id: str | None = None, cursor: str | None = None, limit: int | None = None
    ) -> Many:
        """`runtime.peek`: what the runtime of this agent has to do, without taking it."""
        params = {"run_id": run_id, "cursor": cursor, "limit": limit}
        return self._many("runtime.peek", params)

    def ack(self, through: str, *, run_id: str | None = None) -> Any:
        """`runtime.ack`: everything up to this cursor was done."""
        return self.call("runtime.ack", given({"through": through, "run_id": run_id}))

    def version(self) -> One:
        """Which versions of the protocol are spoken."""
        shown: One = self._run(flows.show(self._core_of(), "version"))
        return shown

    def schema(self, name: str) -> One:
        """The JSON Schema of an object, such as `Task`."""
        shown: One = self._run(flows.show(self._core_of(), f"schemas/{name}"))
        return shown
