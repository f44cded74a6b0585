"""Somebody shows that they are a person, after they have chosen and before it is sent."""

import json

import cases
import pytest
from conftest import PHONE, start
from looks import looks_right
from provider import AUDIENCE, ISSUER, Provider

CASE = {
    **cases.APPROVAL,
    "spec_version": "0.8",
    "verification_policy": {
        "mode": "required",
        "required_for": ["inline_submit", "browser_submit"],
        "requirements": {"any_of": [{"all_of": [{"proof_type": "proof_of_human"}]}]},
        "binding": {"case_id": True, "action": True, "freshness_seconds": 300, "single_use": True},
        "fallback": {"on_missing": "browser_review", "on_invalid": "browser_review"},
    },
}


@pytest.fixture(scope="module")
def provider():
    return Provider()


@pytest.fixture(scope="module")
def serving(provider, tmp_path_factory):
    """Servers that know the provider: one sends people to its page, the other lets them paste."""
    folder = tmp_path_factory.mktemp("proofs")
    (folder / "jwks.json").write_text(json.dumps(provider.jwks()))
    table = {
        "issuer": ISSUER, "audience": AUDIENCE, "jwks": str(folder / "jwks.json"), "title": "Acme ID",
    }
    both = {}
    for name, more in (("page", {"start_url": f"{provider.url}/start"}), ("paste", {})):
        lines = [f"{key} = {json.dumps(value)}" for key, value in {**table, **more}.items()]
        (folder / f"{name}.toml").write_text("\n".join(["[verification.acme]", *lines]))
        (folder / name).mkdir()
        settings = ("--config", str(folder / f"{name}.toml"))
        both[name] = start(folder / name, "127.0.0.1", args=settings)
    with both["page"] as page, both["paste"] as paste:
        yield {"page": page, "paste": paste}


def chosen(server, visit, **options):
    case = server.case(**CASE)
    page = visit(case["review_url"], **options)
    page.get_by_label("Comment").fill("As agreed")
    page.get_by_role("button", name="Approve").click()
    page.get_by_role("heading", name="Confirm that you are a person").wait_for()
    assert "was not sent yet: Approved" in page.inner_text("#answer")
    assert server.poll(case)["status"] == "in_progress"
    return case, page


def verified(server, case):
    over = server.poll(case)
    assert over["result"]["data"] == {"feedback": "As agreed"}
    context = over["submission_context"]
    assert (context["mode"], context["verification_result"]["satisfied"]) == ("browser_submit", True)


@pytest.mark.parametrize("script", [True, False])
def test_the_provider_has_a_page(serving, provider, visit, script):
    """HITL-222: to another site and back, where the browser's cookie is still good for looking."""
    server = serving["page"]
    options = {"java_script_enabled": script, "also": provider.url}
    case, page = chosen(server, visit, **options)
    assert page.get_by_role("button", name="Send my answer").count() == 0
    page.get_by_role("link", name="Confirm with Acme ID").click()
    page.get_by_role("button", name="I am a person").click()
    page.get_by_text("Confirmed by Acme ID").wait_for()
    assert server.poll(case)["status"] == "in_progress"
    page.get_by_role("button", name="Send my answer").click()
    page.get_by_text("Your answer was sent").wait_for()
    verified(server, case)


def test_a_proof_is_pasted(serving, provider, visit):
    """HITL-222: what is wrong is said beside the field; the answer can be changed on the way."""
    server = serving["paste"]
    case, page = chosen(server, visit)
    looks_right(page, "proof", PHONE)
    field = page.get_by_label("Confirmation from Acme ID")
    field.fill("nonsense")
    page.get_by_role("button", name="Send my answer").click()
    page.get_by_text("is not valid").first.wait_for()
    assert field.get_attribute("aria-invalid") == "true"
    looks_right(page, "proof-wrong", PHONE)
    page.get_by_role("button", name="Change my answer").click()
    assert page.get_by_label("Comment").input_value() == "As agreed"
    page.get_by_role("button", name="Approve").click()
    challenge = case["verification_policy"]["binding"]["challenge"]
    proof = provider.proof(case["case_id"], "approve", challenge)
    page.get_by_label("Confirmation from Acme ID").fill(proof)
    page.get_by_role("button", name="Send my answer").click()
    page.get_by_text("Your answer was sent").wait_for()
    verified(server, case)
