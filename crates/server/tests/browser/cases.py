"""One case of each type, and one that means harm."""

HOSTILE = "Pay </script><script>alert(1)</script> <img src=x onerror=alert(1)> $& \u202egpj.exe\u200b "


def field(key, label, kind="text", **more):
    return {"key": key, "label": label, "type": kind, **more}


def choice(*pairs):
    return [{"value": value, "label": label} for value, label in pairs]


ABROAD = {"field": "abroad", "operator": "eq", "value": True}

APPROVAL = {
    "type": "approval",
    "prompt": "Should I send the release notes to all customers?",
    "context": {
        "recipient": "all-customers@example.com",
        "amount": 1250.5,
        "artifact": {"title": "Release 2.1", "content": "Hello,\n\nit is out.\n\nYours"},
    },
}
SELECTION = {
    "type": "selection",
    "prompt": "Which jobs should I apply to?",
    "context": {
        "items": [
            {"id": f"job-{n}", "title": f"Engineer {n}, remote", "description": f"{n}0,000 EUR"}
            for n in range(1, 31)
        ]
    },
}
INPUT = {
    "type": "input",
    "prompt": "I book your trip. What should I know?",
    "context": {
        "form": {
            "session_id": "trip",
            "steps": [
                {
                    "title": "You",
                    "description": "Who travels.",
                    "fields": [
                        field("name", "Full name", required=True, hint="As in your passport"),
                        field("passport", "Passport number", required=True, sensitive=True),
                        field("abroad", "Do you travel abroad?", "boolean", required=True),
                        field("country", "Country", required=True, conditional=ABROAD),
                    ],
                },
                {"title": "Visa", "fields": [field("visa", "Visa number", conditional=ABROAD)]},
                {
                    "title": "Trip",
                    "fields": [
                        field("start", "First day", "date", required=True),
                        field("mail", "Email", "email", required=True),
                        field("site", "Hotel page", "url"),
                        field("budget", "Budget", "number", validation={"min": 1, "max": 9000}),
                        field("days", "How many days?", "range", validation={"min": 1, "max": 99}),
                        field("extras", "Extras", "multiselect", options=choice(("b", "Breakfast"))),
                        field("room", "Room", "select", options=choice(("s", "Single"))),
                        field("notes", "Notes", "textarea"),
                        field("colour", "Colour", "x-colour"),
                        field("scan", "Booking", "file"),
                    ],
                },
                {"title": "Check what you entered", "fields": []},
            ],
        }
    },
}
CONFIRMATION = {
    "type": "confirmation",
    "prompt": "Clean up before the release",
    "context": {
        "description": "These are about to be deleted.",
        "items": [{"id": "s", "label": "3 old snapshots"}, {"id": "k", "label": "The old key"}],
    },
}
ESCALATION = {
    "type": "escalation",
    "prompt": "The nightly import failed three times.",
    "context": {
        "error": {"title": "Connection refused", "details": "ECONNREFUSED\n  at job.js:42"},
        "params": {"timeout": 30, "verbose": False},
    },
}
HARM = {
    "type": "approval",
    "prompt": (HOSTILE * 9)[:500],
    "context": {
        "note": "x" * 10_000,
        "log": "\n".join(f"{n} rm -rf /var/{n}" for n in range(400)),
        HOSTILE: HOSTILE,
    },
}
ALL = {
    "approval": APPROVAL,
    "selection": SELECTION,
    "input": INPUT,
    "confirmation": CONFIRMATION,
    "escalation": ESCALATION,
    "harm": HARM,
}
