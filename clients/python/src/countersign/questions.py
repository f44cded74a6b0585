"""What can be asked: one builder per kind of question, and the body of a new ask."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict, Union

from ._times import Duration, format_time, whole_seconds
from .answers import Answer
from .forms import Form, refuse_unknown

Json = dict[str, Any]
Priority = Literal["low", "normal", "high", "critical"]
Option = Union[str, Mapping[str, Any]]
"""An option: a text that is id and label, or `{"id", "label", "description"?}`."""
OnExpiry = Union[Literal["stay_open", "fail"], Answer, Mapping[str, Any]]
"""What silence means: stay open, fail, this answer, or `{"report": "skip"}` and its like."""


class AskOptions(TypedDict, total=False):
    """What every ask may have."""

    priority: Priority
    route: str | Mapping[str, Any]
    """`"owner"`, `"delegate"`, `"pool"`, or `{"to": "person", "human": "ada"}` and its like."""
    timeout: Duration
    """After how long it runs out, in seconds or as a timedelta. Without: never."""
    on_expiry: OnExpiry
    """What happens then. Without: it expires, and `wait()` raises `Expired`."""
    reminders: Sequence[datetime | str]
    tags: Iterable[str]
    metadata: Mapping[str, Any]
    follows: str
    """The id of the ask this one continues."""
    callback_url: str
    """Where to tell, in one signed call, that it is over."""
    idempotency_key: str
    """Asking again with the same key gives the same ask. Without: a fresh one per call."""


def approve(
    prompt: str,
    *,
    context: str | None = None,
    details: Mapping[str, Any] | None = None,
    editable: bool = False,
    reject_requires_reason: bool = False,
) -> Json:
    """Yes or no to an action."""
    body: Json = {"editable": editable, "reject_requires_reason": reject_requires_reason}
    body.update(_filled("details", details))
    return _question("approve", prompt, context, body)


def choose(
    prompt: str,
    options: Mapping[str, str] | Iterable[Option],
    *,
    context: str | None = None,
    pick: Literal["one", "many"] = "one",
    suggested: str | None = None,
) -> Json:
    """One or more of several."""
    body: Json = {"options": _choices(options), "pick": pick}
    if suggested is not None:
        body["suggested"] = suggested
    return _question("choose", prompt, context, body)


def provide(prompt: str, form: Form | Mapping[str, Any], *, context: str | None = None) -> Json:
    """Values only a person can supply."""
    made = form.to_dict() if isinstance(form, Form) else _object("form", form)
    return _question("provide", prompt, context, {"form": made})


def confirm(
    prompt: str,
    items: Mapping[str, str] | Iterable[Option] = (),
    *,
    context: str | None = None,
    yes: str = "Go ahead",
    no: str = "Stop",
) -> Json:
    """Go ahead with exactly these, or not."""
    body: Json = {"items": _choices(items), "yes": yes, "no": no}
    return _question("confirm", prompt, context, body)


def escalate(
    prompt: str,
    *,
    context: str | None = None,
    error: BaseException | Mapping[str, Any] | None = None,
    params: Mapping[str, Any] | None = None,
) -> Json:
    """Something failed: retry, skip or abort."""
    body: Json = {}
    if isinstance(error, BaseException):
        body["error"] = {"type": type(error).__name__, "message": str(error)}
    else:
        body.update(_filled("error", error))
    body.update(_filled("params", params))
    return _question("escalate", prompt, context, body)


def converse(prompt: str, *, context: str | None = None) -> Json:
    """A message that wants a free answer."""
    return _question("converse", prompt, context, {})


def new_ask(question: Mapping[str, Any], options: AskOptions) -> bytes:
    """The body of `POST /asks`; encoded once, so that every attempt sends the same bytes."""
    refuse_unknown(options, AskOptions)
    body: Json = {"question": question}
    for name in ("priority", "metadata", "follows", "callback_url"):
        if options.get(name) is not None:
            body[name] = options.get(name)
    route = options.get("route")
    if route is not None:
        body["route"] = {"to": route} if isinstance(route, str) else route
    timeout = options.get("timeout")
    on_expiry = options.get("on_expiry")
    if timeout is not None:
        body["timeout_seconds"] = whole_seconds(timeout)
        # The server's own default is to stay open; whoever names a timeout expects an end.
        body["on_expiry"] = {"report": "abort"}
    if on_expiry is not None:
        if timeout is None and on_expiry != "stay_open":
            raise ValueError(
                "on_expiry says what happens when the ask expires: pass timeout as well, such as "
                "timeout=3600"
            )
        body["on_expiry"] = (
            {"answer": on_expiry.reply()} if isinstance(on_expiry, Answer) else on_expiry
        )
    if options.get("tags") is not None:
        body["tags"] = list(options["tags"])
    if options.get("reminders") is not None:
        body["reminders"] = [
            r if isinstance(r, str) else format_time(r) for r in options["reminders"]
        ]
    return encode(body)


def encode(body: Any) -> bytes:
    """JSON as it is sent. NaN and infinities are no JSON and are refused here."""
    return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _question(kind: str, prompt: str, context: str | None, body: Json) -> Json:
    start: Json = {"kind": kind, "prompt": prompt}
    if context is not None:
        start["context"] = context
    return {**start, **body}


def _object(name: str, value: Any) -> Json:
    if not isinstance(value, Mapping):
        kind = type(value).__name__
        raise TypeError(f"{name} must be a mapping, such as {{'order': 4711}}, not {kind}")
    return dict(value)


def _filled(name: str, value: Any) -> Json:
    """A member that is left out if there is nothing in it, as the server writes questions."""
    made = {} if value is None else _object(name, value)
    return {name: made} if made else {}


def _choices(options: Mapping[str, str] | Iterable[Option]) -> list[Json]:
    if isinstance(options, Mapping):
        return [{"id": key, "label": label} for key, label in options.items()]
    return [{"id": o, "label": o} if isinstance(o, str) else dict(o) for o in options]
