"""Ask people from your agent.

```python
from countersign import Countersign

if Countersign().approve("Refund €120?", details={"order": 4711}).wait():
    ...
```
"""

from ._tool_call import ToolCall
from ._version import __version__
from .answers import (
    Abort,
    Answer,
    Approved,
    By,
    ChangesRequested,
    Chosen,
    Confirmed,
    Declined,
    Defaulted,
    Outcome,
    Provided,
    Rejected,
    Replied,
    Retry,
    Revocation,
    Revoked,
    Skip,
)
from .approval import require_approval
from .asks import Ask, AskView, AsyncAsk, Comment, File
from .canonical import canonical_json
from .client import AsyncCountersign, Countersign
from .errors import (
    ApiError,
    Cancelled,
    ConfigurationError,
    Conflict,
    ConnectionFailed,
    CountersignError,
    Denied,
    Erased,
    Expired,
    Failed,
    FieldProblem,
    Forbidden,
    InvalidEvidence,
    InvalidReceipt,
    InvalidRequest,
    KeyReused,
    NoAnswer,
    NotFound,
    ProtocolError,
    RateLimited,
    ServerError,
    StillOpen,
    TaskError,
    Unauthorized,
)
from .events import Event
from .forms import Form
from .insights import Insights
from .passkeys import verify_evidence
from .questions import AskOptions
from .receipts import Receipt, fetch_jwks, fetch_revocations, verify_receipt
from .tasks import AsyncTasks, Duty, Page, TaskEvent, Tasks
from .tools import human_as_tool

__all__ = [
    "Abort",
    "Answer",
    "ApiError",
    "Approved",
    "Ask",
    "AskOptions",
    "AskView",
    "AsyncAsk",
    "AsyncCountersign",
    "AsyncTasks",
    "By",
    "Cancelled",
    "ChangesRequested",
    "Chosen",
    "Comment",
    "ConfigurationError",
    "Confirmed",
    "Conflict",
    "ConnectionFailed",
    "Countersign",
    "CountersignError",
    "Declined",
    "Defaulted",
    "Denied",
    "Duty",
    "Erased",
    "Event",
    "Expired",
    "Failed",
    "FieldProblem",
    "File",
    "Forbidden",
    "Form",
    "Insights",
    "InvalidEvidence",
    "InvalidReceipt",
    "InvalidRequest",
    "KeyReused",
    "NoAnswer",
    "NotFound",
    "Outcome",
    "Page",
    "ProtocolError",
    "Provided",
    "RateLimited",
    "Receipt",
    "Rejected",
    "Replied",
    "Retry",
    "Revocation",
    "Revoked",
    "ServerError",
    "Skip",
    "StillOpen",
    "TaskError",
    "TaskEvent",
    "Tasks",
    "ToolCall",
    "Unauthorized",
    "__version__",
    "canonical_json",
    "fetch_jwks",
    "fetch_revocations",
    "human_as_tool",
    "require_approval",
    "verify_evidence",
    "verify_receipt",
]
