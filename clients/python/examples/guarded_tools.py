"""Tools for a language model: one that needs an approval, and a person to ask.

The loop below stands for your framework's. It calls tools by name and hands their text back.
"""

from typing import Any, Callable

from countersign import human_as_tool, require_approval


@require_approval(on_denied="return", prompt="Send €{amount} to {to}?", editable=True, timeout=600)
def send_money(to: str, amount: float) -> str:
    """Send money from the company's account. This cannot be undone."""
    return f"sent {amount} to {to}"


tools: dict[str, Callable[..., Any]] = {
    "send_money": send_money,
    "ask_human": human_as_tool(timeout=600),
}
calls: list[tuple[str, dict[str, Any]]] = [
    ("ask_human", {"question": "Whom do we owe money?"}),
    ("send_money", {"to": "Ada", "amount": 120.0}),
    ("send_money", {"to": "Mallory", "amount": 9999.0}),
]
for name, arguments in calls:
    print(f"{name}: {tools[name](**arguments)}")
