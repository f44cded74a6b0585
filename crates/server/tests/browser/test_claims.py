"""What agents say of their messages, as people meet it: on the page of a request, behind a link and in
the inbox."""

import pytest
from axe import check
from conftest import DESK, PHONE, start
from looks import looks_right

ENVELOPE = {
    "version": "1.0.0",
    "intent": "refuse",
    "delivery": {"verbosity": "low", "language": "de"},
    "cognition": {"load": 8, "estimated_read_seconds": 150},
    "transparency": {
        "confidence": 0.35,
        "verification_needed": True,
        "assumptions": ["Die Rechnung ist echt", "x" * 300],
        "limits": ["Das Konto sehe ich nicht"],
    },
    "actions": [
        {"type": "verify_sources", "label": "Zeig die Rechnung", "payload": {"invoice": 7}},
        {"type": "simplify"},
        {"type": "expand", "label": "y" * 200},
    ],
    "negotiation": {"clarifying_questions": ["Ist das der übliche Lieferant?"]},
    "refusal": {"type": "policy", "severity": "soft", "redirect_available": True},
    "safety": {"harm_risk": "high", "safety_flag": True},
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    with start(tmp_path_factory.mktemp("claims"), "127.0.0.1") as server:
        yield server


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_claims_look_right(desk, visit, size, scheme):
    """HXPE-058: to be read on a phone and on a desk, in light and dark."""
    ask = desk.ask("Rechnung 7 bezahlen?", hxp=ENVELOPE)
    page = desk.sign_in(visit, size=size, color_scheme=scheme)
    looks_right(page, f"claims-inbox-{scheme}", size)
    page.goto(f"{desk.url}/asks/{ask['id']}")
    looks_right(page, f"claims-request-{scheme}", size)
    check(page)
    case = desk.case(type="approval", prompt="Rechnung 7 bezahlen?", hxp=ENVELOPE)
    page = visit(case["review_url"], size, color_scheme=scheme)
    looks_right(page, f"claims-review-{scheme}", size)
    check(page)


@pytest.mark.parametrize("script", [True, False])
def test_an_action_goes_back_to_the_agent(desk, visit, script):
    """HXPE-060: it is asked for with one press, and the request still waits."""
    ask = desk.ask("Rechnung 7 bezahlen?", hxp=ENVELOPE)
    page = desk.sign_in(visit, java_script_enabled=script)
    page.goto(f"{desk.url}/asks/{ask['id']}")
    assert page.get_by_text("Verify this first.").is_visible()
    page.get_by_role("button", name="Zeig die Rechnung").click()
    page.get_by_text("The agent was notified").wait_for()
    state = desk.state(ask, "dev-agent-key")
    assert [pick["payload"] for pick in state["hxp_picked"]] == [{"invoice": 7}]
    assert state["result"] is None
    page.get_by_label("Tell the agent").fill("Ja, seit Jahren.")
    page.get_by_role("button", name="Send to the agent").click()
    page.get_by_text("Your comment was added").wait_for()
