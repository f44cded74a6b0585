"""Tasks, checkpoints and ownership: what is wanted of work, and who it is with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from ._task_calls import Calls, Keyed, Many, Maybe, One, Terms, When, given

if TYPE_CHECKING:
    from typing_extensions import Unpack


class TaskOperations(Calls[One, Many, Maybe]):
    """The operations on tasks, checkpoints and ownership."""

    def create(
        self,
        goal: str,
        *,
        type: str = "task",
        acceptance_criteria: Sequence[str] = (),
        inputs: Sequence[Mapping[str, Any]] = (),
        constraints: Mapping[str, Any] | None = None,
        review_policy: Mapping[str, Any] | None = None,
        parent_task: str | None = None,
        deadline: When | None = None,
        delegable: bool | None = None,
        project: str | None = None,
        on_expiry: Literal["stay_blocked", "cancel"] | None = None,
        hxp: Mapping[str, Any] | None = None,
        **terms: Unpack[Keyed],
    ) -> One:
        """`task.create`: a person writes down work, and answers for it from then on.

        `constraints` may hold `max_duration`, `must_use_capabilities`, `external_refs`, `autonomy`
        and `grants`; `review_policy` is `{"required_reviewers": […], "quorum": "all"}`.
        """
        spec = {
            "goal": goal,
            "acceptance_criteria": list(acceptance_criteria) or None,
            "inputs": [dict(one) for one in inputs] or None,
            "constraints": constraints,
            "review_policy": review_policy,
        }
        params = {
            "type": type,
            "spec": {name: value for name, value in spec.items() if value is not None},
            "parent_task": parent_task,
            "deadline": deadline,
            "delegable": delegable,
            "project": project,
            "on_expiry": on_expiry,
            "hxp": hxp,
        }
        return self._change("task.create", given(params), terms)

    def assign(
        self,
        task_id: str,
        agent_id: str,
        *,
        capability: str | None = None,
        input: Any = None,
        **terms: Unpack[Terms],
    ) -> One:
        """`task.assign`: the principal gives it to an agent, whose runtime is told to begin."""
        params = {
            "task_id": task_id,
            "agent_id": agent_id,
            "capability": capability,
            "input": input,
        }
        return self._change("task.assign", given(params), terms)

    def start(
        self,
        task_id: str,
        **terms: Unpack[Terms],
    ) -> One:
        """`task.start`: the agent begins."""
        return self._change("task.start", given({"task_id": task_id}), terms)

    def cancel(
        self,
        task_id: str,
        reason: str | None = None,
        **terms: Unpack[Terms],
    ) -> One:
        """`task.cancel`: the principal calls it off."""
        params = {"task_id": task_id, "reason": reason}
        return self._change("task.cancel", given(params), terms)

    def interrupt(
        self,
        task_id: str,
        prompt: str,
        **terms: Unpack[Terms],
    ) -> One:
        """`task.interrupt`: the principal stops the agent. Gives the checkpoint it waits at."""
        params = {"task_id": task_id, "prompt": prompt}
        return self._change("task.interrupt", given(params), terms)

    def amend(
        self,
        task_id: str,
        text: str,
        intent: Literal["redirect", "clarify", "constrain", "abort_hint"] = "clarify",
        **terms: Unpack[Terms],
    ) -> One:
        """`task.amend`: the principal says something the agent takes into account as it works."""
        params = {"task_id": task_id, "text": text, "intent": intent}
        return self._change("task.amend", given(params), terms)

    def grant(
        self,
        task_id: str,
        scope: str,
        decision: Literal["allow", "deny"] = "allow",
        *,
        until: When | None = None,
        **terms: Unpack[Terms],
    ) -> One:
        """`task.grant`: allows or forbids something, such as `fs:/repo:*`, on the way.

        `until` is `session`, `task` (unless told) or a moment. To take a grant back, deny it.
        """
        params = {"task_id": task_id, "scope": scope, "decision": decision, "until": until}
        return self._change("task.grant", given(params), terms)

    def get(self, task_id: str) -> One:
        """`task.get`: one task as it is now."""
        return self._one("task.get", {"task_id": task_id})

    def list(
        self,
        *,
        state: str | None = None,
        principal: str | None = None,
        assignee: str | None = None,
        project: str | None = None,
        parent_task: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Many:
        """`task.list`: a page of tasks, newest first; `next` of the page is the next `cursor`."""
        params = {
            "state": state,
            "principal": principal,
            "assignee": assignee,
            "project": project,
            "parent_task": parent_task,
            "limit": limit,
            "cursor": cursor,
        }
        return self._many("task.list", params)

    def raise_checkpoint(
        self,
        task_id: str,
        prompt: str,
        kind: Literal["approval", "choice", "input", "escalation"] = "approval",
        *,
        options: Sequence[Mapping[str, Any]] = (),
        context: Sequence[Mapping[str, Any]] = (),
        proposed_actions: Sequence[Mapping[str, Any]] = (),
        expires_at: When | None = None,
        priority: Literal["low", "normal", "high", "critical"] | None = None,
        hxp: Mapping[str, Any] | None = None,
        **terms: Unpack[Terms],
    ) -> One:
        """`checkpoint.raise`: a person has to decide before the agent goes on.

        A `choice` needs `options` such as `{"id": "a", "label": "The first", "risk": "low"}`.
        """
        params = {
            "task_id": task_id,
            "kind": kind,
            "prompt": prompt,
            "options": [dict(one) for one in options] or None,
            "context": [dict(one) for one in context] or None,
            "proposed_actions": [dict(one) for one in proposed_actions] or None,
            "expires_at": expires_at,
            "priority": priority,
            "hxp": hxp,
        }
        return self._change("checkpoint.raise", given(params), terms)

    def resolve(
        self,
        ckpt_id: str,
        action: Literal["approve", "reject", "choose", "provide", "reassign"] = "approve",
        *,
        choice: str | None = None,
        input: Any = None,
        reassign_to: str | None = None,
        comment: str | None = None,
        approved_actions: Sequence[str] | None = None,
        denied_actions: Sequence[str] | None = None,
        state_patch: Mapping[str, Any] | None = None,
        edited_artifact_ref: Mapping[str, str] | None = None,
        **terms: Unpack[Terms],
    ) -> One:
        """`checkpoint.resolve`: a person decides; the agent goes on, or `reject` ends the task."""
        resolution = {
            "action": action,
            "choice": choice,
            "input": input,
            "reassign_to": reassign_to,
            "comment": comment,
            "approved_actions": None if approved_actions is None else [*approved_actions],
            "denied_actions": None if denied_actions is None else [*denied_actions],
            "state_patch": state_patch,
            "edited_artifact_ref": edited_artifact_ref,
        }
        said = {name: value for name, value in resolution.items() if value is not None}
        params = {"ckpt_id": ckpt_id, "resolution": said}
        return self._change("checkpoint.resolve", given(params), terms)

    def expire(
        self,
        ckpt_id: str,
        **terms: Unpack[Terms],
    ) -> One:
        """`checkpoint.expire`: nobody will decide."""
        return self._change("checkpoint.expire", given({"ckpt_id": ckpt_id}), terms)

    def transfer(
        self,
        task_id: str,
        to: str,
        *,
        via: Literal["assign", "checkpoint", "approve", "reject", "handoff"] | None = None,
        **terms: Unpack[Terms],
    ) -> One:
        """`ownership.transfer`: it goes to another person or agent, `user_…` or `agent_…`."""
        params = {"task_id": task_id, "to": to, "via": via}
        return self._change("ownership.transfer", given(params), terms)

    def delegate(
        self,
        task_id: str,
        to_agent: str,
        *,
        capability: str | None = None,
        input: Any = None,
        **terms: Unpack[Terms],
    ) -> One:
        """`ownership.delegate`: its agent hands it down, if the task is delegable."""
        params = {
            "task_id": task_id,
            "to_agent": to_agent,
            "capability": capability,
            "input": input,
        }
        return self._change("ownership.delegate", given(params), terms)
