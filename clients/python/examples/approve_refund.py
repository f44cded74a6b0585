"""The smallest agent: ask, wait, act on the answer."""

from countersign import Approved, Countersign, NoAnswer

with Countersign() as client:
    ask = client.approve(
        "Refund €120 to Ada?",
        details={"order": 4711, "amount": 120, "currency": "EUR"},
        editable=True,
        timeout=3600,
    )
    print(f"Waiting for an answer at {ask.url}")
    try:
        answer = ask.wait()
    except NoAnswer as nothing:
        print(f"Not refunded: {nothing}")
    else:
        if isinstance(answer, Approved):
            print(f"Refunding: {answer.edits or 'as asked'}")
        else:
            print(f"Not refunded: {answer.comment}")
