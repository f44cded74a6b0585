"""What people say, typed. Every outcome knows who gave it, how, and when.

An outcome counts as true when a person says "go ahead": `if client.approve(…).wait():` does what it
looks like. A rejection, a request for changes, a refusal, a skip and an abort count as false, and
so do a default that was taken on silence and an answer that was revoked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, ClassVar, Union

from ._times import parse_time
from .errors import ProtocolError


@dataclass(frozen=True)
class By:
    """Who did something.

    A `human`, the `link_holder`, somebody the agent speaks for (`relay`), an `agent`, or the
    `system` itself.
    """

    kind: str
    id: str | None = None

    @property
    def is_person(self) -> bool:
        """Whether it was a person."""
        return self.kind in ("human", "link_holder")


@dataclass(frozen=True)
class Revocation:
    """That an answer was called back."""

    at: datetime
    reason: str | None = None


@dataclass(frozen=True)
class Outcome:
    """What every outcome has."""

    verdict: ClassVar[str] = ""
    goes_ahead: ClassVar[bool] = True

    comment: str | None = None
    by: By | None = None
    via: str | None = None
    assurance: str | None = None
    at: datetime | None = None

    def __bool__(self) -> bool:
        return self.goes_ahead


@dataclass(frozen=True)
class Answer(Outcome):
    """What a person says."""

    def reply(self) -> dict[str, Any]:
        """The answer on the wire, as `on_expiry` and `/answer` take it."""
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _COMMON}
        answer = {"verdict": self.verdict, **{k: v for k, v in own.items() if v is not None}}
        return {"answer": answer} if self.comment is None else _with(answer, self.comment)


@dataclass(frozen=True)
class Approved(Answer):
    """Yes. `edits` holds the edited details, whole, if the ask was editable and they changed."""

    verdict = "approved"
    edits: dict[str, Any] | None = None


@dataclass(frozen=True)
class Rejected(Answer):
    """No. `comment` is the reason, if one was given."""

    verdict = "rejected"
    goes_ahead = False


@dataclass(frozen=True)
class ChangesRequested(Answer):
    """Not like this: `comment` says what to change. Any kind of question may get it."""

    verdict = "changes_requested"
    goes_ahead = False


@dataclass(frozen=True)
class Chosen(Answer):
    """The ids of the chosen options, in the order they were offered."""

    verdict = "chosen"
    options: list[str] = field(default_factory=list)

    @property
    def option(self) -> str:
        """The one chosen option."""
        if len(self.options) != 1:
            raise ValueError(f"{len(self.options)} options were chosen; read .options")
        return self.options[0]


@dataclass(frozen=True)
class Provided(Answer):
    """The values of a form, by key."""

    verdict = "provided"
    values: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, key: str) -> Any:
        return self.values[key]


@dataclass(frozen=True)
class Confirmed(Answer):
    """Go ahead, with these items."""

    verdict = "confirmed"
    items: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Declined(Answer):
    """Do not go ahead."""

    verdict = "declined"
    goes_ahead = False


@dataclass(frozen=True)
class Retry(Answer):
    """Try again, with these parameters."""

    verdict = "retry"
    params: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Skip(Answer):
    """Go on without this step."""

    verdict = "skip"
    goes_ahead = False


@dataclass(frozen=True)
class Abort(Answer):
    """Stop altogether."""

    verdict = "abort"
    goes_ahead = False


@dataclass(frozen=True)
class Replied(Answer):
    """A free text."""

    verdict = "replied"
    text: str = ""


@dataclass(frozen=True)
class Defaulted(Outcome):
    """Nobody gave this: `answer` is the default taken on silence. Never an approval."""

    verdict = "defaulted"
    goes_ahead = False
    answer: Answer = field(default_factory=Answer)


@dataclass(frozen=True)
class Revoked(Outcome):
    """`answer` was given and called back since; `reason` is why, if that was said."""

    verdict = "revoked"
    goes_ahead = False
    answer: Answer = field(default_factory=Answer)
    reason: str | None = None


ApproveOutcome = Union[Approved, Rejected, ChangesRequested, Defaulted, Revoked]
ChooseOutcome = Union[Chosen, ChangesRequested, Defaulted, Revoked]
ProvideOutcome = Union[Provided, ChangesRequested, Defaulted, Revoked]
ConfirmOutcome = Union[Confirmed, Declined, ChangesRequested, Defaulted, Revoked]
EscalateOutcome = Union[Retry, Skip, Abort, ChangesRequested, Defaulted, Revoked]
ConverseOutcome = Union[Replied, ChangesRequested, Defaulted, Revoked]

_COMMON = {f.name for f in fields(Outcome)}
_PERSONAL = frozenset({"link", "channel", "session", "passkey"})
"""The assurances that stand for a person; what the server does not vouch for does not count."""
_CLASSES: dict[str, type[Answer]] = {
    c.verdict: c
    for c in (
        Approved,
        Rejected,
        ChangesRequested,
        Chosen,
        Provided,
        Confirmed,
        Declined,
        Retry,
        Skip,
        Abort,
        Replied,
    )
}


def parse_answer(
    answer: Mapping[str, Any],
    *,
    comment: str | None = None,
    by: Any = None,
    via: str | None = None,
    assurance: str | None = None,
    at: Any = None,
) -> Answer:
    """An answer from the wire."""
    verdict = answer.get("verdict")
    kind = _CLASSES.get(verdict) if isinstance(verdict, str) else None
    if kind is None:
        # Guessing what an unknown word means could turn a no into a yes.
        raise ProtocolError(
            f"the server sent an answer this version does not know ({verdict!r}); "
            "upgrade countersign-client"
        )
    names = {f.name for f in fields(kind)} - _COMMON
    own = {name: answer[name] for name in names if answer.get(name) is not None}
    return kind(
        comment=comment,
        by=parse_by(by),
        via=via,
        assurance=assurance,
        at=parse_time(at) if isinstance(at, str) else None,
        **own,
    )


def parse_outcome(
    answer: Mapping[str, Any], *, revoked: Revocation | None = None, **given: Any
) -> Outcome:
    """What an answer from the wire amounts to, by who gave it and whether it still holds."""
    said = parse_answer(answer, **given)
    shared = {name: getattr(said, name) for name in _COMMON}
    if revoked is not None:
        return Revoked(answer=said, reason=revoked.reason, **shared)
    if said.by is None or not said.by.is_person or said.assurance not in _PERSONAL:
        return Defaulted(answer=said, **shared)
    return said


def parse_by(by: Any) -> By | None:
    """Who, from the wire."""
    if not isinstance(by, Mapping):
        return None
    return By(str(by.get("kind", "unknown")), by.get("id"))


def _with(answer: dict[str, Any], comment: str) -> dict[str, Any]:
    return {"answer": answer, "comment": comment}
