"""Forms: what a person is asked to fill in.

```python
Form().text("name", required=True).number("amount", min=0).select("currency", ["EUR", "USD"])
```
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Callable, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import Unpack

Choices = Union[Mapping[str, str], Iterable[str]]
"""What can be chosen: values with their labels, or texts that are both."""


class FieldOptions(TypedDict, total=False):
    """What every field may have."""

    label: str
    required: bool
    placeholder: str
    hint: str
    default: Any
    sensitive: bool
    show_if: tuple[str, str, Any]
    """`(key of an earlier field, "eq" | "neq" | "in" | "gt" | "lt", value)`."""


class Form:
    """A form, field by field. Every method returns the form, so that calls chain."""

    def __init__(self) -> None:
        self._fields: list[dict[str, Any]] = []
        self._steps: list[dict[str, Any]] = []

    def text(
        self,
        key: str,
        *,
        min_length: int | None = None,
        max_length: int | None = None,
        pattern: str | None = None,
        **options: Unpack[FieldOptions],
    ) -> Form:
        """One line of text."""
        limits = {"minLength": min_length, "maxLength": max_length, "pattern": pattern}
        return self._add(key, "text", options, limits)

    def textarea(
        self,
        key: str,
        *,
        min_length: int | None = None,
        max_length: int | None = None,
        **options: Unpack[FieldOptions],
    ) -> Form:
        """Several lines of text."""
        limits = {"minLength": min_length, "maxLength": max_length}
        return self._add(key, "textarea", options, limits)

    def email(self, key: str, **options: Unpack[FieldOptions]) -> Form:
        """A mail address."""
        return self._add(key, "email", options)

    def url(self, key: str, **options: Unpack[FieldOptions]) -> Form:
        """A URL with a host."""
        return self._add(key, "url", options)

    def number(
        self,
        key: str,
        *,
        min: float | None = None,
        max: float | None = None,
        **options: Unpack[FieldOptions],
    ) -> Form:
        """A number."""
        return self._add(key, "number", options, {"min": min, "max": max})

    def range(
        self,
        key: str,
        *,
        min: float,
        max: float,
        **options: Unpack[FieldOptions],
    ) -> Form:
        """A number between two known ends."""
        return self._add(key, "range", options, {"min": min, "max": max})

    def date(
        self,
        key: str,
        *,
        min: str | None = None,
        max: str | None = None,
        **options: Unpack[FieldOptions],
    ) -> Form:
        """A date, with ISO dates as its ends."""
        return self._add(key, "date", options, {"min": min, "max": max})

    def boolean(self, key: str, **options: Unpack[FieldOptions]) -> Form:
        """Yes or no."""
        return self._add(key, "boolean", options)

    def select(self, key: str, choices: Choices, **options: Unpack[FieldOptions]) -> Form:
        """One of several."""
        return self._add(key, "select", options, choices=choices)

    def multiselect(self, key: str, choices: Choices, **options: Unpack[FieldOptions]) -> Form:
        """Some of several."""
        return self._add(key, "multiselect", options, choices=choices)

    def file(self, key: str, **options: Unpack[FieldOptions]) -> Form:
        """An uploaded file; its value names it, `ask.file(value)` fetches it."""
        return self._add(key, "file", options)

    def step(self, title: str, *, description: str | None = None) -> Form:
        """Begins a new page; the fields that follow are on it."""
        if self._fields and not self._steps:
            raise ValueError(
                "a form with steps must start with step(); call it before the first field"
            )
        page: dict[str, Any] = {"title": title, "fields": []}
        if description is not None:
            page["description"] = description
        self._steps.append(page)
        return self

    def to_dict(self) -> dict[str, Any]:
        """The form on the wire."""
        if self._steps:
            return {"steps": self._steps}
        if not self._fields:
            raise ValueError("a form needs at least one field")
        return {"fields": self._fields}

    def _add(
        self,
        key: str,
        kind: str,
        options: FieldOptions,
        limits: Mapping[str, Any] | None = None,
        choices: Choices | None = None,
    ) -> Form:
        refuse_unknown(options, FieldOptions)
        known: dict[str, Any] = dict(options)
        condition = known.pop("show_if", None)
        label = known.pop("label", None) or key.replace("_", " ").capitalize()
        made: dict[str, Any] = {"key": key, "label": label, "type": kind, **known}
        if choices is not None:
            pairs = choices.items() if isinstance(choices, Mapping) else ((c, c) for c in choices)
            made["options"] = [{"value": value, "label": shown} for value, shown in pairs]
        validation = {name: limit for name, limit in (limits or {}).items() if limit is not None}
        if validation:
            made["validation"] = validation
        if condition is not None:
            made["conditional"] = dict(zip(("field", "operator", "value"), condition))
        (self._steps[-1]["fields"] if self._steps else self._fields).append(made)
        return self


def refuse_unknown(
    options: Mapping[str, Any], kind: Any, function: Callable[..., Any] | None = None
) -> None:
    """A misspelt option must not be dropped in silence.

    `kind` has the options that are shared; `function` takes them, and others by their own names.
    """
    unknown = sorted(set(options) - set(kind.__annotations__))
    if not unknown:
        return
    own = inspect.signature(function).parameters.values() if function else ()
    keywords = {one.name for one in own if one.kind is inspect.Parameter.KEYWORD_ONLY}
    known = sorted({*kind.__annotations__, *keywords})
    near = [match for name in unknown for match in difflib.get_close_matches(name, known, 1)]
    named = ", ".join(f'"{name}"' for name in unknown)
    hint = f" (did you mean {', '.join(near)}?)" if near else ""
    raise TypeError(f"unknown option {named}{hint}; allowed options: {', '.join(known)}")
