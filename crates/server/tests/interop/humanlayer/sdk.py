"""HumanLayer's Python SDK 0.7.9, unmodified, sync and async; people answer over Countersign's own API.

Requirements: A2H-001 to A2H-005, A2H-008, A2H-012, A2H-020, A2H-040 to A2H-046, A2H-051 to A2H-057,
A2H-065 to A2H-068, A2H-070, A2H-071, A2H-100, A2H-113, A2H-114.
"""

import asyncio
import datetime
import json
import os
import pathlib
import threading
import time

import requests
from humanlayer import (
    AsyncHumanLayer,
    ContactChannel,
    EmailContactChannel,
    FunctionCallSpec,
    HumanContactSpec,
    HumanLayer,
    ResponseOption,
    SlackContactChannel,
    SMSContactChannel,
    WhatsAppContactChannel,
)
from humanlayer.core.models import (
    EmailRecipient,
    Escalation,
    FunctionCallStatus,
    HumanContactStatus,
)
from humanlayer.core.models_agent_webhook import V1Beta2EmailEventReceived, V1Beta2SlackEventReceived
from humanlayer.core.protocol import HumanLayerException

SERVER = os.environ["COUNTERSIGN"]
OWNER = {"Authorization": "Bearer dev-human-token"}


def waiting(prompt):
    """The open request with these words, once it is there."""
    for _ in range(600):
        asks = requests.get(f"{SERVER}/api/v1/asks", headers=OWNER, timeout=30).json()["asks"]
        for ask in asks:
            if (ask.get("question") or {}).get("prompt") == prompt:
                return ask
        time.sleep(0.02)
    raise AssertionError(f"nobody asked {prompt!r}")


def act(prompt, verb, body):
    ask = waiting(prompt)
    said = requests.post(f"{SERVER}/api/v1/asks/{ask['id']}/{verb}", json=body, headers=OWNER, timeout=30)
    assert said.status_code == 200, said.text


def answers(prompt, answer, comment=None):
    """A person who answers that, meanwhile."""
    return doing(act, prompt, "answer", {"answer": answer, "comment": comment})


def doing(what, *words):
    thread = threading.Thread(target=what, args=words)
    thread.start()
    return thread


def advance(prompt):
    """The person never comes, and time passes."""
    waiting(prompt)
    moved = requests.post(f"{SERVER}/api/v1/dev/clock", json={"advance": "2h"}, headers=OWNER, timeout=30)
    assert moved.status_code == 200, moved.text


def hurried(_seconds):
    time.sleep(0.02)


def sync_story():
    hl = HumanLayer(run_id="py-run", sleep=hurried)

    @hl.require_approval()
    def add(x: int, y: int) -> int:
        """adds"""
        return x + y

    person = answers("add", {"verdict": "approved"})
    assert add(x=1, y=2) == 3
    person.join()

    person = answers("add", {"verdict": "rejected"}, "too much")
    assert add(x=1, y=2) == "User denied add with message: too much", "a denial reaches the model"
    person.join()

    # A person who says nothing: the SDK would fail on a denial without words (A2H-054).
    person = answers("add", {"verdict": "rejected"})
    assert add(x=1, y=2) == "User denied add with message: Denied without a comment."
    person.join()

    slack = ContactChannel(
        slack=SlackContactChannel(channel_or_user_id="C0123ABC", context_about_channel_or_user="the ops team")
    )

    @hl.require_approval(
        slack,
        reject_options=[
            ResponseOption(name="bad_time", title="Not now", prompt_fill="try again tomorrow"),
            ResponseOption(name="no_way", interactive=True),
        ],
    )
    def drop(table: str) -> str:
        """drops"""
        return f"dropped {table}"

    person = answers("drop", {"verdict": "rejected", "option": "bad_time"})
    assert drop(table="t") == "User in the ops team denied drop with message: try again tomorrow"
    person.join()
    person = answers("drop", {"verdict": "rejected", "option": "no_way"}, "over my dead body")
    assert drop(table="t").endswith("with message: over my dead body")
    person.join()

    # Nobody answers, and somebody withdraws it: the polling ends, and the model is told why.
    for prompt, meanwhile in (("drop", doing(advance, "drop")),):
        assert "This request expired at" in drop(table="t"), prompt
        meanwhile.join()
    meanwhile = doing(act, "add", "cancel", {"reason": "moot"})
    told = add(x=1, y=2)
    assert "A person cancelled this request" in told and "moot" in told, told
    meanwhile.join()

    tool = hl.human_as_tool()
    assert tool.__name__ == "contact_human"
    person = answers("What colour?", {"verdict": "replied", "text": "blue"})
    assert tool("What colour?") == "blue"
    person.join()
    mail = ContactChannel(email=EmailContactChannel(address="ap@example.com", subject="Invoice 7"))
    tool = hl.human_as_tool(mail)
    assert tool.__name__ == "contact_human_via_email_ap_example_com"
    person = answers("Invoice 7", {"verdict": "replied", "text": "paid"})
    assert tool("ignored", "Paid already?") == "paid"
    person.join()

    options = [
        ResponseOption(name="yes", title="Go on", prompt_fill="go on with the plan"),
        ResponseOption(name="no"),
    ]
    person = answers("Go on?", {"verdict": "chosen", "options": ["yes"]})
    done = hl.fetch_human_response(HumanContactSpec(msg="Go on?", response_options=options))
    assert done.as_completed() == "go on with the plan"
    assert done.contact.status.response_option_name == "yes"
    person.join()
    meanwhile = doing(advance, "Anybody?")
    done = hl.fetch_human_response(HumanContactSpec(msg="Anybody?"))
    assert "This request expired at" in done.as_completed()
    meanwhile.join()

    person = answers("deploy", {"verdict": "approved"}, "fine")
    state = {"nested": [1, None, 2.5]}
    completed = hl.fetch_approval(FunctionCallSpec(fn="deploy", kwargs={"to": "prod"}, state=state))
    assert completed.as_completed().approved is True
    assert completed.as_completed().comment == "fine"
    assert completed.call.spec.state == state
    person.join()

    call = hl.create_function_call(
        FunctionCallSpec(fn="pay", kwargs={"n": 1}, channel=mail, reject_options=options), call_id="my-own-id"
    )
    assert call.call_id == "my-own-id" and call.status.approved is None
    assert call.spec.channel.email.subject == "Invoice 7", "the SDK derives it from the older name"
    again = hl.create_function_call(
        FunctionCallSpec(fn="pay", kwargs={"n": 1}, channel=mail, reject_options=options), call_id="my-own-id"
    )
    assert again.status.requested_at == call.status.requested_at
    try:
        hl.create_function_call(FunctionCallSpec(fn="pay", kwargs={"n": 2}), call_id="my-own-id")
    except HumanLayerException as error:
        assert "a different spec" in str(error)
    else:
        raise AssertionError("another call took the name")

    escalated = hl.escalate_email_function_call(
        "my-own-id",
        Escalation(
            escalation_msg="the bank closes at five",
            additional_recipients=[EmailRecipient(address="boss@example.com", field="cc")],
            channel=mail,
        ),
    )
    assert escalated.status.approved is None
    said = hl.respond_to_function_call(
        "my-own-id", FunctionCallStatus(approved=False, comment="no", reject_option_name="no")
    )
    assert said.status.approved is False and said.status.reject_option_name == "no"
    assert said.status.requested_at == call.status.requested_at and said.status.responded_at
    try:
        hl.respond_to_function_call("my-own-id", FunctionCallStatus(approved=True))
    except HumanLayerException as error:
        assert "call already has a response" in str(error)
    else:
        raise AssertionError("a second answer was taken")

    contact = hl.create_human_contact(HumanContactSpec(msg="Which?", subject="A question"))
    hl.escalate_email_human_contact(contact.call_id, Escalation(escalation_msg="please"))
    said = hl.respond_to_human_contact(contact.call_id, HumanContactStatus(response="that one"))
    assert said.status.response == "that one"
    try:
        hl.get_function_call("nothing")
    except HumanLayerException as error:
        assert "404" in str(error) or "no such call" in str(error)


async def async_story():
    async def soon(_seconds):
        await asyncio.sleep(0.02)

    hl = AsyncHumanLayer(run_id="py-async", sleep=soon)
    person = answers("deploy_async", {"verdict": "approved"})
    completed = await hl.fetch_approval(FunctionCallSpec(fn="deploy_async", kwargs={}))
    assert completed.as_completed().approved is True
    person.join()
    person = answers("Async?", {"verdict": "replied", "text": "sure"})
    done = await hl.fetch_human_response(HumanContactSpec(msg="Async?"))
    assert done.as_completed() == "sure"
    person.join()
    person = answers("How?", {"verdict": "replied", "text": "so"})
    assert await hl.human_as_tool()("How?") == "so"
    person.join()
    meanwhile = doing(advance, "late_async")
    completed = await hl.fetch_approval(FunctionCallSpec(fn="late_async", kwargs={}))
    assert completed.as_completed().approved is False
    assert "This request expired at" in completed.as_completed().comment
    meanwhile.join()
    call = await hl.create_function_call(FunctionCallSpec(fn="said_async", kwargs={}))
    said = await hl.respond_to_function_call(call.call_id, FunctionCallStatus(approved=True))
    assert said.status.approved is True
    try:
        await hl.get_function_call("nothing")
    except HumanLayerException:
        pass
    else:
        raise AssertionError("what is not there was found")


def polling():
    """A2H-012: it asks every three seconds, for the first time three seconds after it called, and for as
    long as nobody answers; that is never too often."""
    slept = []

    def patient(seconds):
        slept.append(seconds)
        if len(slept) == 100:
            act("patience", "answer", {"answer": {"verdict": "replied", "text": "at last"}})

    hl = HumanLayer(run_id="py-patient", sleep=patient)
    done = hl.fetch_human_response(HumanContactSpec(msg="patience"))
    assert done.as_completed() == "at last"
    assert slept == [3] * 100, slept


def moments():
    """A2H-053: it cannot say when somebody answered. It fails before it calls, and the call stays open."""
    hl = HumanLayer(run_id="py-moments", sleep=hurried)
    now = datetime.datetime.now(datetime.timezone.utc)
    call = hl.create_function_call(FunctionCallSpec(fn="when", kwargs={}))
    try:
        hl.respond_to_function_call(call.call_id, FunctionCallStatus(approved=True, responded_at=now))
    except TypeError as error:
        assert "datetime" in str(error), error
    else:
        raise AssertionError("a moment was sent")
    assert hl.get_function_call(call.call_id).status.approved is None
    said = hl.respond_to_function_call(call.call_id, FunctionCallStatus(approved=True))
    assert said.status.responded_at, "the moment is the server's"


def names_of_tools():
    """A2H-071: what a model calls the tool says whom it reaches; each of them reaches somebody here."""
    hl = HumanLayer(run_id="py-tools", sleep=hurried)
    slack = {"channel_or_user_id": "C0123ABC"}
    for channel, name in (
        (ContactChannel(slack=SlackContactChannel(**slack)), "contact_human_in_slack"),
        (
            ContactChannel(slack=SlackContactChannel(**slack, context_about_channel_or_user="the ops team")),
            "contact_human_in_slack_in_the_ops_team",
        ),
        (ContactChannel(sms=SMSContactChannel(phone_number="+15005550006")), "contact_human"),
        (ContactChannel(whatsapp=WhatsAppContactChannel(phone_number="+15005550006")), "contact_human"),
        (
            ContactChannel(email=EmailContactChannel(address="a.p@example.com")),
            "contact_human_via_email_a_p_example_com",
        ),
    ):
        tool = hl.human_as_tool(channel)
        assert tool.__name__ == name, tool.__name__
        person = answers(f"{name}?", {"verdict": "replied", "text": "here"})
        assert tool(message=f"{name}?") == "here"
        person.join()


def golden(name):
    """What an endpoint is told, byte for byte, as the tests of the dialect keep it."""
    folder = pathlib.Path(os.environ["GOLDEN"])
    return json.loads((folder / f"webhooks__{name}.snap").read_text().split("---\n", 2)[2])


def what_was_received():
    """A2H-113, A2H-114: letters and threads are read by the models of the SDK."""
    letter = V1Beta2EmailEventReceived.model_validate(golden("letter"), strict=True).event
    assert letter.to_address == "ask@example.com" and letter.previous_thread == []
    assert letter.body in letter.raw_email.replace("\r\n", "\n") and letter.is_test is False
    thread = V1Beta2SlackEventReceived.model_validate(golden("thread"), strict=True).event
    assert thread.events[0].message_id == thread.thread_ts
    assert thread.events[0].channel_id == thread.channel_id


sync_story()
asyncio.run(async_story())
polling()
moments()
names_of_tools()
what_was_received()
print("humanlayer 0.7.9 (Python): ok")
