"""Following any service that answers "a person decides this first": HITL 0.7 and 0.8, for agents.

```python
import httpx
from countersign.hitl import Completed, Expired, Follower, case_of

response = httpx.post("https://jobs.example/search", json={...}, headers={"Authorization": KEY})
case = case_of(response)
if case is not None:
    follower = Follower(authorization=("https://jobs.example", KEY))
    outcome = follower.follow(case, lambda notice: send_to_chat(notice.text, notice.review_url))
    if isinstance(outcome, Completed):
        print(outcome.action, outcome.data)
    elif isinstance(outcome, Expired):
        print("nobody answered; do", outcome.default_action)
```

Nothing here decides for a person. A default is told, and it is the agent that carries it out.
"""

from ._callback import Callback, verify_callback
from ._case import Case, ReviewType, case_of, read_case, recognise
from ._errors import (
    BadSignature,
    HitlError,
    Malformed,
    NotInline,
    Refused,
    VerificationFailed,
    VerificationRequired,
)
from ._follow import Notice
from ._follower import Answered, AsyncFollower, Ended, Follower
from ._outcome import Cancelled, Completed, Expired, Outcome, RespondedBy
from ._submit import Submitted, SubmittedBy, button, pressed

__all__ = [
    "Answered",
    "AsyncFollower",
    "BadSignature",
    "Callback",
    "Cancelled",
    "Case",
    "Completed",
    "Ended",
    "Expired",
    "Follower",
    "HitlError",
    "Malformed",
    "NotInline",
    "Notice",
    "Outcome",
    "Refused",
    "RespondedBy",
    "ReviewType",
    "Submitted",
    "SubmittedBy",
    "VerificationFailed",
    "VerificationRequired",
    "button",
    "case_of",
    "pressed",
    "read_case",
    "recognise",
    "verify_callback",
]
