"""One question of each kind, asked together and answered in any order."""

import asyncio

from countersign import AsyncCountersign, Form


async def main() -> None:
    """Ask everything at once."""
    form = (
        Form()
        .text("name", required=True)
        .number("budget", min=0, hint="In euros")
        .select("region", {"eu": "Europe", "as": "Asia"})
    )
    async with AsyncCountersign() as client:
        asks = await asyncio.gather(
            client.approve("Publish the page?", reject_requires_reason=True),
            client.choose("Which region first?", ["Europe", "Asia"], suggested="Europe"),
            client.provide("Who runs the launch?", form),
            client.confirm("Delete these files?", ["a.txt", "b.txt"], yes="Delete", no="Keep"),
            client.escalate("The import failed", error=OSError("disk full"), params={"batch": 10}),
            client.converse("Anything else I should know?"),
        )
        for ask in asks:
            answer = await ask.wait()
            print(f"{ask.kind}: {answer.reply()['answer']}")


asyncio.run(main())
