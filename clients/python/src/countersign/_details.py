"""What a person sees of a call, and what becomes of the call when they edit it.

`clients/vectors/approvals.json` holds the rules as examples; the TypeScript client has the same.
"""

from __future__ import annotations

import base64
import dataclasses
import inspect
import json
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from enum import Enum
from typing import Any

from ._times import format_time

_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
_SMALLEST, _LARGEST = -(2**63), 2**64 - 1


class UnusableEdits(Exception):
    """Edits that the function cannot be called with. The message says which and why."""


class Details:
    """The arguments of one call as a person sees them, by name.

    `hidden` names parameters and, of a call with a single object, members of that object. With
    `in_order` the members of objects are sorted, so that the same call gives the same text even if
    the caller's storage did not keep their order.
    """

    def __init__(
        self, bound: inspect.BoundArguments, hidden: frozenset[str], *, in_order: bool = False
    ) -> None:
        self._bound = bound
        self._hidden = hidden
        kinds = {name: one.kind for name, one in bound.signature.parameters.items()}
        variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        self.parameters = {
            name: value
            for name, value in bound.arguments.items()
            if name not in hidden and not (kinds[name] in variadic and not value)
        }
        # A single object stands for its members, whether it is the only parameter or the only
        # element of `*args`.
        self._single: str | None = None
        self._in_args = False
        if len(self.parameters) == 1:
            name, value = next(iter(self.parameters.items()))
            in_args = kinds[name] is inspect.Parameter.VAR_POSITIONAL
            if in_args and len(value) == 1:
                value = value[0]
            elif in_args:
                value = None
            if _members(value) is not None:
                self._single, self._in_args, self._object = name, in_args, value
        self.shown: dict[str, Any] = self._show(in_order)

    def _show(self, in_order: bool) -> dict[str, Any]:
        if self._single is None:
            shown = {name: jsonable(value) for name, value in self.parameters.items()}
            return {name: _sorted(value) for name, value in shown.items()} if in_order else shown
        members = _members(self._object) or {}
        shown = {str(k): jsonable(v) for k, v in members.items() if str(k) not in self._hidden}
        return _sorted(shown) if in_order else shown

    @property
    def words(self) -> dict[str, Any]:
        """What a prompt may name: what is shown, and every parameter that is."""
        return {**{name: jsonable(value) for name, value in self.parameters.items()}, **self.shown}

    def take(self, edits: Mapping[str, Any]) -> None:
        """Puts edited values into the call. Raises `UnusableEdits`, and then changes nothing."""
        odd = sorted(set(edits) ^ set(self.shown))
        if odd:
            raise UnusableEdits(
                f"details must have exactly the arguments of the function; check {', '.join(odd)}"
            )
        if self._single is None:
            new = {name: self._edited_parameter(name, edits[name]) for name in self.parameters}
            self._bound.arguments.update(new)
            return
        value = _edited_object(self._object, self.shown, edits, "")
        self._bound.arguments[self._single] = (value,) if self._in_args else value

    def _edited_parameter(self, name: str, after: Any) -> Any:
        before, shown = self.parameters[name], self.shown[name]
        if self._bound.signature.parameters[name].kind is not inspect.Parameter.VAR_POSITIONAL:
            return _edited(before, shown, after, name)
        # Each element of `*args` is an argument of its own and keeps its type.
        if not isinstance(after, list) or len(after) != len(before):
            raise UnusableEdits(f"the number of {name} changed")
        triples = enumerate(zip(before, shown, after))
        return tuple(_edited(b, s, a, f"{name}[{n}]") for n, (b, s, a) in triples)


def jsonable(value: Any) -> Any:
    """A value as a person can read it: JSON where it is JSON, else its text."""
    if isinstance(value, Enum):
        return jsonable(value.value)
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if _SMALLEST <= value <= _LARGEST else str(value)
    if isinstance(value, float):
        return value if value - value == 0 else _not_finite(value)
    if isinstance(value, (list, tuple)):
        return [jsonable(v) for v in value]
    if isinstance(value, (set, frozenset)):
        # The order of a set differs between processes.
        return sorted((jsonable(v) for v in value), key=lambda v: json.dumps(v, sort_keys=True))
    members = _members(value)
    if members is not None:
        return {str(k): jsonable(v) for k, v in members.items()}
    return _text(value)


def _text(value: Any) -> str:
    """The text of a value that is no JSON: the same in every process."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(bytes(value)).decode()
    if isinstance(value, datetime):
        return value.isoformat() if value.tzinfo is None else format_time(value)
    if isinstance(value, (date, time)):
        return value.isoformat()
    if inspect.isroutine(value):
        return f"<function {value.__name__}>"
    kind: Any = type(value)
    plain: Any = object
    if kind.__str__ is plain.__str__ and kind.__repr__ is plain.__repr__:
        return f"<{kind.__name__}>"
    return _ADDRESS.sub("", str(value))


def _not_finite(value: float) -> str:
    if value != value:
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _members(value: Any) -> dict[Any, Any] | None:
    """The members of an object by name; none of a value that is no object.

    Fields that a class keeps out of its own text (`repr=False`, `exclude=True`) are left out:
    that is how secrets are declared.
    """
    if isinstance(value, Mapping):
        return dict(value)
    if _is_dataclass(value):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.repr}
    if _is_model(value):
        fields = type(value).model_fields
        shown = (name for name, field in fields.items() if field.repr and not field.exclude)
        return {**{name: getattr(value, name) for name in shown}, **(value.model_extra or {})}
    return None


def _is_dataclass(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def _is_model(value: Any) -> bool:
    """Whether it is a Pydantic model. Pydantic is no dependency of ours."""
    return (
        not isinstance(value, type)
        and isinstance(getattr(type(value), "model_fields", None), dict)
        and callable(getattr(type(value), "model_validate", None))
    )


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_sorted(item) for item in value]
    return value


def _edited(before: Any, shown: Any, after: Any, place: str) -> Any:
    """The value to run with in place of `before`, which the person saw as `shown`."""
    if _equal(shown, after):
        return before
    refused = UnusableEdits(f"{place} cannot become {after!r}")
    if before is None:
        return after
    if isinstance(before, Enum):
        try:
            return type(before)(after)
        except ValueError:
            raise refused from None
    if isinstance(before, (list, tuple)) and isinstance(after, list):
        made = _edited_list(before, shown, after, place, refused)
        return tuple(made) if isinstance(before, tuple) else made
    if _members(before) is not None and isinstance(after, Mapping):
        return _edited_object(before, shown, after, place)
    if _is_number(before, shown) and _fits(before, after):
        return after
    if isinstance(before, (bool, str)) and type(after) is type(before):
        return after
    raise refused


def _is_number(before: Any, shown: Any) -> bool:
    # A number that is shown as text has no way back from the text.
    return isinstance(before, (int, float)) and not isinstance(shown, (bool, str))


def _fits(before: Any, after: Any) -> bool:
    if isinstance(after, bool):
        return False
    return isinstance(after, (int, float) if isinstance(before, float) else int)


def _edited_list(
    before: Any, shown: Any, after: list[Any], place: str, refused: UnusableEdits
) -> list[Any]:
    if len(before) == len(after):
        pairs = zip(before, shown, after)
        try:
            return [_edited(b, s, a, f"{place}[{n}]") for n, (b, s, a) in enumerate(pairs)]
        except UnusableEdits:
            # A list of plain values may be replaced as a whole.
            if not _is_plain(before):
                raise
    if not _is_plain(before):
        raise refused
    return after


def _is_plain(value: Any) -> bool:
    """Whether a value is JSON as it stands, all the way down."""
    if isinstance(value, Enum):
        return False
    if isinstance(value, (list, tuple)):
        return all(_is_plain(item) for item in value)
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    if value is None:
        return True
    return isinstance(value, (bool, int, float, str)) and jsonable(value) == value


def _edited_object(
    before: Any, shown: Mapping[str, Any], after: Mapping[str, Any], place: str
) -> Any:
    def at(name: str) -> str:
        return f"{place}.{name}" if place else name

    odd = sorted(set(after) ^ set(shown))
    if odd:
        raise UnusableEdits(f"{at(odd[0])} is unknown or missing")
    members = _members(before) or {}
    new = {
        key: _edited(value, shown[str(key)], after[str(key)], at(str(key)))
        for key, value in members.items()
        # Hidden members stay as they are.
        if str(key) in shown and not _equal(shown[str(key)], after[str(key)])
    }
    if isinstance(before, Mapping):
        return {**before, **new}
    replace: Callable[..., Any] = dataclasses.replace if _is_dataclass(before) else _revalidated
    try:
        return replace(before, **new)
    except (TypeError, ValueError) as error:
        name = place or ", ".join(map(str, new))
        raise UnusableEdits(f"{name} cannot have this value: {error}") from None


def _revalidated(model: Any, **new: Any) -> Any:
    """A Pydantic model with other values, checked by its own rules."""
    values = dict(model.model_extra or {})
    for name, field in type(model).model_fields.items():
        alias = field.validation_alias
        values[alias if isinstance(alias, str) else name] = getattr(model, name)
        if name in new:
            values[alias if isinstance(alias, str) else name] = new[name]
    values.update({name: value for name, value in new.items() if name in (model.model_extra or {})})
    return type(model).model_validate(values)


def _equal(a: Any, b: Any) -> bool:
    """Equal as JSON: `True` is not 1, and 1 is not 1.0."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)
