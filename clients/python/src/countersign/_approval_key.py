"""The idempotency key of a call that needs an approval.

`clients/vectors/approvals.json` holds examples; the TypeScript client derives the same keys.
"""

from __future__ import annotations

import hashlib
import re
from urllib.parse import quote

LONGEST = 255
"""The longest `Idempotency-Key` that the server takes."""

_COUNTING = re.compile(
    r"\d{1,6}|(?:[A-Za-z]+[-_.: ]+)+\d{1,6}|(?:call|tool|function)\d{1,6}"
    r"|functions\.[\w.-]+:\d+|pyd_ai_tool_call_id__.*",
    re.ASCII | re.DOTALL,
)


def explicit(namespace: str, tool: str, key: str) -> str:
    """The key of a call that the caller named."""
    return _joined(namespace, tool, key)


def of_tool_call(namespace: str, tool: str, thread_id: str, tool_call_id: str) -> str:
    """The key of a call that the framework named."""
    return _joined(namespace, tool, thread_id, tool_call_id)


def only_counts(tool_call_id: str) -> bool:
    """Whether an id is likely to be the same in another conversation, such as `call_1`.

    Such an id must not stand for a call: the person's answer to one call would be taken for the
    answer to another one.
    """
    return _COUNTING.fullmatch(tool_call_id) is not None


def _joined(*parts: str) -> str:
    # Encoded parts hold no colon, so two different lists of parts give two different texts.
    text = ":".join(["approval", *(quote(part, safe="") for part in parts)])
    if len(text) <= LONGEST:
        return text
    return f"approval:sha256:{hashlib.sha256(text.encode()).hexdigest()}"
