"""Follow everything that happens to this agent's asks, and survive restarts of both sides."""

import sys
from pathlib import Path

from countersign import Countersign

bookmark = Path(sys.argv[1] if len(sys.argv) > 1 else "watch.position")
after = bookmark.read_text() if bookmark.exists() else None

with Countersign() as client:
    ask = client.converse("Are you there?")
    for event in client.events(after=after or 0):
        if event.position is not None:
            bookmark.write_text(event.position)
        if event.ask is None:
            print("missed too much; looking at what is open")
            continue
        print(f"{event.name}: {event.ask.id}")
        if event.ask.id == ask.id and event.name == "answered":
            break
