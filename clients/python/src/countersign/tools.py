"""A person as a tool: a plain function that frameworks for language models can offer."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Callable, overload

from .answers import Defaulted, Outcome, Replied, Revoked
from .client import AsyncCountersign, Countersign
from .errors import NoAnswer
from .questions import AskOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

DESCRIPTION = """Ask a person, and wait for the answer.

Use it when something is not yours to decide or not yours to know. Ask one clear question and say
what you need the answer for.

Args:
    question: What to ask.
"""


@overload
def human_as_tool(
    client: Countersign | None = None,
    *,
    name: str = "ask_human",
    description: str = DESCRIPTION,
    **options: Unpack[AskOptions],
) -> Callable[[str], str]: ...


@overload
def human_as_tool(
    client: AsyncCountersign,
    *,
    name: str = "ask_human",
    description: str = DESCRIPTION,
    **options: Unpack[AskOptions],
) -> Callable[[str], Awaitable[str]]: ...


def human_as_tool(
    client: Any = None,
    *,
    name: str = "ask_human",
    description: str = DESCRIPTION,
    **options: Unpack[AskOptions],
) -> Any:
    """A function `question -> answer` with name, docstring and types for a framework to read.

    With an `AsyncCountersign` it is a coroutine function. If nobody answers, it says so in words,
    because a model can go on from a sentence and not from an exception.
    """
    if isinstance(client, AsyncCountersign):

        async def ask_async(question: str) -> str:
            ask = await client.converse(question, **options)
            try:
                return _said(await ask.wait())
            except NoAnswer as silence:
                return f"No answer: {silence}"

        return _named(ask_async, name, description)

    def ask(question: str) -> str:
        used = client or Countersign()
        try:
            return _said(used.converse(question, **options).wait())
        except NoAnswer as silence:
            return f"No answer: {silence}"
        finally:
            if used is not client:
                used.close()

    return _named(ask, name, description)


def _said(answer: Outcome) -> str:
    if isinstance(answer, Defaulted):
        return f"No answer: there was no answer in time. The default is: {_said(answer.answer)}"
    if isinstance(answer, Revoked):
        reason = f": {answer.reason}" if answer.reason else ""
        return f"No answer: the person's answer was revoked{reason}"
    if isinstance(answer, Replied):
        return answer.text
    return answer.comment or "The person answered without a comment."


def _named(tool: Any, name: str, description: str) -> Any:
    tool.__name__ = tool.__qualname__ = name
    tool.__doc__ = inspect.cleandoc(description)
    # Real types, not their names: some frameworks read them without resolving.
    tool.__annotations__ = {"question": str, "return": str}
    return tool
