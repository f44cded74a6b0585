//! What an answer proves: links that agents were given and links that the server delivered, the
//! minimum assurance for approving what is irreversible, silence, and what was displayed where it
//! was answered.

use kernel::ask::DisplayedContent;
use kernel::directory::{IrreversibleSetting, NewProject};
use kernel::{Actor, Assurance, DirectoryCommand};
use serde_json::{Value, json};
use server::config::{SecretString, Settings};

use crate::client::{self, Client, with};
use crate::fake_platforms::{ADA, id, in_slack_as, office, posted, press};
use crate::fake_push_device::waits;
use crate::fake_smtp_server::Post;
use crate::hitl::{self, CASES, Case, inline, refused};
use crate::inbox_pages::texts;
use crate::native::{ASKS, approval, asked, yes};
use crate::notification_steps::verified;
use crate::pages::{csrf, signed_in};
use crate::review_page::{Page, find, main_text};
use crate::world::World;

/// Gives the project `dev` these minimum assurances.
async fn demand(world: &World, floor: Assurance, irreversible: Option<Assurance>) {
    let plain = NewProject::plain("dev".parse().unwrap());
    let irreversible_assurance = IrreversibleSetting::Set(irreversible);
    let project = NewProject { minimum_assurance: floor, irreversible_assurance, ..plain };
    world.gateway().run(Actor::System, DirectoryCommand::SaveProject(project)).await.unwrap();
}

async fn result(world: &World, ask: &str) -> Value {
    world.human().get(ask).await.is(200)["result"].clone()
}

/// What the receipt of an ask claims, and in words.
async fn receipt(world: &World, ask: &str) -> (dialects::proof::ReceiptClaims, String) {
    let receipt = world.human().get(&format!("{ask}/receipt")).await.is(200);
    let claims = dialects::proof::verify(&receipt.text, &world.keys()).unwrap();
    let words = dialects::proof::explain(&claims).join("\n");
    (claims, words)
}

fn native(case: &Case) -> String {
    format!("{ASKS}/{}", case.ask())
}

fn irreversible() -> Value {
    hitl::with(hitl::approval(), json!({ "context": { "irreversible": true } }))
}

/// HITL-068: the agent approves its own case with the token from its own response: that is the
/// agent's word and is recorded as that, in the record, on the page and on the receipt.
#[tokio::test]
async fn a_link_that_an_agent_was_given_is_the_agents_word() {
    let world = World::dev().await;
    let case = Case::make(&world, hitl::approval()).await;
    let (_, shown) = Page::open(&world, &case).await;
    assert!(main_text(&shown).contains("the agent was given this link too"), "{}", shown.text);
    case.respond(json!({ "action": "approve" })).await.is(200);
    let ask = native(&case);
    let seen = result(&world, &ask).await;
    assert_eq!(seen["by"], json!({ "kind": "link_holder" }));
    assert_eq!((&seen["via"], &seen["assurance"]), (&json!("link"), &json!("agent-attested")));
    let (claims, words) = receipt(&world, &ask).await;
    assert_eq!(claims.assurance, Some(Assurance::AgentAttested));
    assert!(words.contains("a review link that the agent received"), "{words}");
    assert!(!words.contains("review page"), "{words}");
    let page = world.anonymous().get(&case.path("review_url")).await.is(200);
    assert!(main_text(&page).contains("only the agent vouches"), "{}", page.text);
    let browser = signed_in(&world).await;
    let page = browser.client.get(&format!("/asks/{}", case.ask())).await.is(200);
    assert!(main_text(&page).contains("only the agent vouches"), "{}", page.text);
    world.end().await;
}

/// A minimum assurance of `link` leaves out the agent's copy: in the API, on the page, and
/// everywhere.
#[tokio::test]
async fn a_minimum_of_link_leaves_out_the_agents_copy() {
    let world = World::dev().await;
    demand(&world, Assurance::Link, None).await;
    let case = Case::make(&world, hitl::approval()).await;
    refused(case.respond(json!({ "action": "approve" })).await, 403, "forbidden");
    let (page, shown) = Page::open(&world, &case).await;
    assert!(main_text(&shown).contains("Sign in to answer"), "{}", shown.text);
    page.post(&[("action", "approve")]).await.is(403);
    assert_eq!(case.status().await["status"], "opened");
    world.end().await;
}

/// The link in an email to this address.
async fn mailed(world: &World, post: &Post, to: &str) -> (String, String) {
    let had = post.letters().len();
    let placed = with(approval(), json!({ "place": { "to": format!("email:{to}") } }));
    let ask = asked(&world.agent(), placed).await;
    let letter = post.letter(had + 1).await;
    assert_eq!(letter.to, to);
    waits(world, 0).await;
    let source = letter.source();
    let path = source.split_once("/review/").unwrap().1;
    let end = path.find(|c: char| !(c.is_ascii_alphanumeric() || "_-?=.".contains(c)));
    (ask, format!("/review/{}", &path[..end.unwrap_or(path.len())]))
}

/// A link counts as `link` where the server sent it to an address that a person verified. An
/// address that the agent chose and nobody verified is the agent's.
#[tokio::test]
async fn a_link_counts_where_the_server_sent_it_to_a_verified_address() {
    let post = Post::open(&[]).await;
    let world = post.world().await;
    verified(&world.human(), &post, "ada@example.com").await;
    for (to, assurance, says) in [
        ("ada@example.com", "link", "sent this link to a verified address of a person"),
        ("stranger@example.org", "agent-attested", "a review link that the agent received"),
    ] {
        let (ask, link) = mailed(&world, &post, to).await;
        let (path, token) = link.split_once("?token=").unwrap();
        let shown = world.anonymous().get(&link).await.is(200);
        let proves = main_text(&shown);
        assert_eq!(
            proves.contains("sent it to a verified address"),
            assurance == "link",
            "{proves}"
        );
        let form = [("token", token), ("action", "approve")];
        world.anonymous().post_form(path, &form).await.is(200);
        let seen = result(&world, &ask).await;
        assert_eq!(seen["by"], json!({ "kind": "link_holder" }), "{to}");
        assert_eq!(seen["assurance"], assurance, "{to}");
        let (claims, words) = receipt(&world, &ask).await;
        assert_eq!(claims.shown, Some(DisplayedContent::Question));
        assert!(words.contains(says), "{words}");
    }
    world.end().await;
}

/// A case that cannot be undone is not approved with the agent's word or a link where the project
/// wants a session. Rejecting it is never blocked, and what can be undone is answered as ever.
#[tokio::test]
async fn approving_what_is_irreversible_needs_a_sign_in() {
    let world = World::dev().await;
    demand(&world, Assurance::AgentAttested, Some(Assurance::Session)).await;
    let case = Case::make(&world, irreversible()).await;
    let refusal = refused(case.respond(json!({ "action": "approve" })).await, 403, "forbidden");
    assert!(refusal.text.contains("requires assurance session"), "{}", refusal.text);
    // The agent may pass on a rejection, and is not offered to pass on an approval.
    assert_eq!(case.hitl["inline_actions"], json!(["reject"]));
    let relay = world.anonymous().bearer(&case.submit_token());
    relay.post(&case.at("submit"), inline("approve")).await.is(403);
    let (page, shown) = Page::open(&world, &case).await;
    let text = main_text(&shown);
    assert!(text.contains("Sign in to approve"), "{text}");
    let refusal = page.post(&[("action", "approve")]).await.is(403);
    assert!(main_text(&refusal).contains("Sign in to approve it"), "{}", refusal.text);
    assert_eq!(case.status().await["status"], "opened");
    case.respond(json!({ "action": "reject" })).await.is(200);
    // Somebody who is signed in approves.
    let case = Case::make(&world, irreversible()).await;
    world.human().post(&format!("{}/answer", native(&case)), yes()).await.is(200);
    // By the page, rejecting works, and so does everything that can be undone.
    let case = Case::make(&world, irreversible()).await;
    let (page, _) = Page::open(&world, &case).await;
    let done = page.post(&[("action", "reject")]).await;
    assert!(done.status == 200 || done.status == 303, "{}", done.status);
    assert_eq!(case.status().await["result"]["action"], "reject");
    let case = Case::make(&world, hitl::approval()).await;
    case.respond(json!({ "action": "approve" })).await.is(200);
    let case = Case::make(&world, hitl::approval()).await;
    assert!(case.hitl["inline_actions"].as_array().unwrap().contains(&json!("approve")));
    world.end().await;
}

/// Nothing is offered that would be refused: what lets the agent go ahead is replaced by the way to
/// sign in, for every kind of question. What stops the agent stays.
#[tokio::test]
async fn a_link_that_may_not_approve_is_offered_to_sign_in_instead() {
    let world = World::dev().await;
    demand(&world, Assurance::AgentAttested, Some(Assurance::Session)).await;
    for (kind, offer, stays) in [
        ("approval", "Sign in to approve", &["reject", "changes"][..]),
        ("selection", "Sign in to answer", &[]),
        ("input", "Sign in to answer", &[]),
        ("confirmation", "Sign in to confirm", &["decline"]),
        ("escalation", "Sign in to answer", &["abort"][..]),
    ] {
        let mut body = hitl::of(kind);
        body["context"]["irreversible"] = json!(true);
        let case = Case::make(&world, body).await;
        let (page, shown) = Page::open(&world, &case).await;
        let here = format!("/asks/{}", case.ask());
        let link = format!("#answer a.act[href='{here}']");
        assert_eq!(find(&shown, &link), 1, "{kind}: {}", shown.text);
        assert_eq!(find(&shown, &format!("a.act[href='{here}']")), 1, "{kind}: {}", shown.text);
        let text = main_text(&shown);
        assert!(text.contains(offer), "{kind}: {text}");
        let why = "be undone. Only people who are signed in can";
        assert_eq!(text.matches(why).count(), 1, "the reason is given once: {text}");
        let buttons = texts(&shown, "#answer button[name]").len();
        let values: Vec<String> =
            crate::task_pages::values(&shown, "#answer button[name]", "value");
        assert_eq!(values, stays, "{kind}");
        assert_eq!(buttons, stays.len());
        // It is only not offered; who sends it anyway is refused as before.
        if kind == "approval" {
            page.post(&[("action", "approve")]).await.is(403);
        }
    }
    // What is critical says so.
    let case =
        Case::make(&world, hitl::with(hitl::approval(), json!({ "priority": "critical" }))).await;
    let (_, shown) = Page::open(&world, &case).await;
    let text = main_text(&shown);
    assert!(text.contains("is critical. Only people who are signed in can"), "{text}");
    world.end().await;
}

/// The other protocols say the same in their own shape.
#[tokio::test]
async fn every_protocol_refuses_an_approval_that_proves_too_little() {
    let world = World::dev().await;
    demand(&world, Assurance::AgentAttested, Some(Assurance::Passkey)).await;
    let (agent, human) = (world.agent(), world.human());
    let marked = json!({ "metadata": { "irreversible": true } });
    // The native API, with a personal token where a passkey is wanted.
    let ask = asked(&agent, with(approval(), marked.clone())).await;
    let refusal = human.post(&format!("{ask}/answer"), yes()).await;
    let refusal = refusal.problem(403, "assurance-too-low");
    assert!(refusal.text.contains("irreversible or critical"), "{}", refusal.text);
    let no = json!({ "answer": { "verdict": "rejected" } });
    human.post(&format!("{ask}/answer"), no).await.is(200);
    // HXP Execution.
    let hxp = with(client::approve("all of it"), json!({ "priority": "critical" }));
    let request = agent.ask(hxp).await;
    human.resolve(&request, json!({ "result": "approved" })).await.error(403, "forbidden");
    human.resolve(&request, json!({ "result": "rejected" })).await.is(200);
    // A2H: an agent that passes on an answer.
    let call = json!({
        "run_id": "run", "call_id": "c1", "spec": { "fn": "drop", "kwargs": { "irreversible": true } },
    });
    agent.post("/a2h/v1/function_calls", call).await.is(200);
    let said = json!({ "approved": true });
    let refusal = agent.post("/a2h/v1/agent/function_calls/c1/respond", said).await;
    assert_eq!(refusal.status, 403, "{}", refusal.text);
    assert!(refusal.text.contains("irreversible or critical"), "{}", refusal.text);
    world.end().await;
}

/// The page of a signed-in person asks for the passkey where approving needs one.
#[tokio::test]
async fn the_request_page_asks_for_a_passkey_where_approving_needs_one() {
    let world = World::dev().await;
    demand(&world, Assurance::AgentAttested, Some(Assurance::Passkey)).await;
    let browser = signed_in(&world).await;
    let marked = with(approval(), json!({ "metadata": { "irreversible": true } }));
    let ask = asked(&world.agent(), marked).await;
    let id = ask.rsplit_once('/').unwrap().1;
    let page = browser.client.get(&format!("/asks/{id}")).await.is(200);
    let token = csrf(&page);
    let form = [("csrf", token.as_str()), ("action", "approve")];
    let step = browser.client.post_form(&format!("/asks/{id}/answer"), &form).await;
    assert!(main_text(&step).contains("passkey"), "{}", step.text);
    let form = [("csrf", token.as_str()), ("action", "reject")];
    browser.client.post_form(&format!("/asks/{id}/answer"), &form).await.is(303);
    world.let_answers_stand();
    assert_eq!(result(&world, &ask).await["answer"]["verdict"], "rejected");
    world.end().await;
}

/// New projects have the rule, projects of a development server do not, and a project keeps what it
/// has until somebody changes it.
#[tokio::test]
async fn new_projects_want_a_sign_in_for_what_is_irreversible() {
    let tokens = Some(vec![SecretString::new("admin")]);
    let world = World::with(Settings { human_tokens: tokens, ..Settings::default() }).await;
    let admin = world.bearer("admin");
    let rule = async |admin: &Client, id: &str| {
        let project = admin.get(&format!("/api/v1/projects/{id}")).await.is(200);
        project["irreversible_assurance"].clone()
    };
    assert_eq!(rule(&admin, "default").await, "session", "made on the first start");
    admin.post("/api/v1/projects", json!({ "id": "one" })).await.is(201);
    assert_eq!(rule(&admin, "one").await, "session");
    admin.put("/api/v1/projects/two", json!({})).await.is(201);
    assert_eq!(rule(&admin, "two").await, "session");
    admin.put("/api/v1/projects/two", json!({ "irreversible_assurance": null })).await.is(200);
    assert_eq!(rule(&admin, "two").await, Value::Null);
    admin.put("/api/v1/projects/two", json!({ "reminders": [60] })).await.is(200);
    assert_eq!(rule(&admin, "two").await, Value::Null, "not named, not changed");
    let passkey = json!({ "irreversible_assurance": "passkey" });
    admin.put("/api/v1/projects/two", passkey).await.is(200);
    assert_eq!(rule(&admin, "two").await, "passkey");
    let wrong =
        admin.put("/api/v1/projects/two", json!({ "irreversible_assurance": "pass" })).await;
    assert_eq!(wrong.status, 422, "{}", wrong.text);
    assert!(wrong.text.contains("irreversible_assurance"), "{}", wrong.text);
    world.end().await;
    let world = World::dev().await;
    assert_eq!(rule(&world.human(), "dev").await, Value::Null);
    world.human().post("/api/v1/projects", json!({ "id": "one" })).await.is(201);
    assert_eq!(rule(&world.human(), "one").await, Value::Null);
    world.end().await;
}

/// The settings page shows and changes the rule.
#[tokio::test]
async fn the_rule_is_set_on_the_settings_page() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let at = "/settings/projects/dev";
    let page = browser.client.get(at).await.is(200);
    let text = main_text(&page);
    assert!(
        text.contains("Required identity check for irreversible or critical approvals"),
        "{text}"
    );
    assert!(text.contains("review links that agents were given"), "{text}");
    let token = csrf(&page);
    for (sent, saved) in [("session", json!("session")), ("none", Value::Null)] {
        let form = [
            ("csrf", token.as_str()),
            ("floor", "agent_attested"),
            ("irreversible_assurance", sent),
        ];
        browser.client.post_form(at, &form).await.is(303);
        let project = world.human().get("/api/v1/projects/dev").await.is(200);
        assert_eq!(project["irreversible_assurance"], saved);
        let page = browser.client.get(at).await.is(200);
        let chosen = format!("[name=irreversible_assurance][value={sent}][checked]");
        let option = format!("[name=irreversible_assurance] option[value={sent}][selected]");
        let found = find(&page, &chosen) + find(&page, &option);
        assert_eq!(found, 1, "{sent}");
    }
    world.end().await;
}

/// Where an answer needs more than the agent's word, silence gives none: refused when it is asked,
/// in the words of each protocol.
#[tokio::test]
async fn silence_is_bound_by_the_minimum_assurance() {
    let world = World::dev().await;
    demand(&world, Assurance::Passkey, None).await;
    let agent = world.agent();
    let default = json!({ "answer": yes() });
    let silent = with(approval(), json!({ "timeout_seconds": 1, "on_expiry": default }));
    let refusal = agent.post(ASKS, silent.clone()).await.problem(403, "default-forbidden");
    assert!(refusal.text.contains("requires assurance passkey"), "{}", refusal.text);
    let case = hitl::with(hitl::approval(), json!({ "default_action": "approve" }));
    let refusal = agent.post(CASES, case).await;
    assert_eq!((refusal.status, &refusal["field"]), (400, &json!("default_action")));
    assert!(refusal.text.contains("requires assurance passkey"), "{}", refusal.text);
    let hxp = with(
        client::approve("x"),
        json!({ "timeout_seconds": 1, "fallback": "default", "default": "approved" }),
    );
    let refusal = agent.post("/hxp/v1/requests", hxp).await;
    assert_eq!(refusal.status, 400, "{}", refusal.text);
    // What stops, or waits, is taken as ever.
    for on_expiry in ["fail", "stay_open"] {
        let new = with(approval(), json!({ "timeout_seconds": 60, "on_expiry": on_expiry }));
        agent.post(ASKS, new).await.is(201);
    }
    // A minimum that is raised later binds the silence that comes after it.
    demand(&world, Assurance::AgentAttested, None).await;
    let ask = asked(&agent, silent).await;
    demand(&world, Assurance::Passkey, None).await;
    world.advance(2);
    world.run_timers().await;
    let ended = agent.get(&ask).await.is(200);
    let (state, answer) = (&ended["state"], &ended["result"]["answer"]);
    assert_eq!((state, answer), (&json!("failed"), &Value::Null), "{ended:?}");
    world.end().await;
}

/// Whatever was displayed where it was answered is what the receipt claims, and nothing else.
#[tokio::test]
async fn a_receipt_claims_what_was_displayed() {
    let world = World::dev().await;
    let (agent, human, browser) = (world.agent(), world.human(), signed_in(&world).await);
    let inbox = browser.client.get("/").await.is(200);
    let token = csrf(&inbox);
    let of = |ask: &str| ask.rsplit_once('/').unwrap().1.to_owned();
    let api = asked(&agent, approval()).await;
    human.post(&format!("{api}/answer"), yes()).await.is(200);
    let page = asked(&agent, approval()).await;
    let form = [("csrf", token.as_str()), ("action", "approve")];
    browser.client.post_form(&format!("/asks/{}/answer", of(&page)), &form).await.is(303);
    let row = asked(&agent, approval()).await;
    let pressed = of(&row);
    let form = [("csrf", token.as_str()), ("back", ""), ("approve", pressed.as_str())];
    browser.client.post_form("/inbox/answer", &form).await.is(303);
    let bulk = asked(&agent, approval()).await;
    let ticked = of(&bulk);
    let form =
        [("csrf", token.as_str()), ("back", ""), ("ask", ticked.as_str()), ("word", "approve")];
    let answered = browser.client.post_form("/inbox/bulk/answer", &form).await.is(200);
    assert_eq!(texts(&answered, "h1"), ["1 request is answered"]);
    let case = Case::make(&world, hitl::approval()).await;
    let (link, _) = Page::open(&world, &case).await;
    link.post(&[("action", "approve")]).await;
    let by_api = Case::make(&world, hitl::approval()).await;
    by_api.respond(json!({ "action": "approve" })).await.is(200);
    let relayed = Case::make(&world, hitl::approval()).await;
    let relay = world.anonymous().bearer(&relayed.submit_token());
    relay.post(&relayed.at("submit"), inline("approve")).await.is(200);
    let default = json!({ "answer": yes() });
    let silent = with(approval(), json!({ "timeout_seconds": 1, "on_expiry": default }));
    let silent = asked(&agent, silent).await;
    world.advance(60);
    world.let_answers_stand();
    world.run_timers().await;
    for (ask, shown) in [
        (api, DisplayedContent::Nothing),
        (page, DisplayedContent::Question),
        (row, DisplayedContent::Summary),
        (bulk, DisplayedContent::Summary),
        (native(&case), DisplayedContent::Question),
        (native(&by_api), DisplayedContent::Nothing),
        (native(&relayed), DisplayedContent::Nothing),
        (silent, DisplayedContent::Nothing),
    ] {
        assert_eq!(world.human().get(&ask).await.is(200)["state"], "completed", "{ask}");
        let (claims, words) = receipt(&world, &ask).await;
        assert_eq!(claims.shown, Some(shown), "{words}");
        let whole = shown == DisplayedContent::Question;
        assert_eq!(words.contains("displayed all of it"), whole, "{words}");
        assert_eq!(words.contains(&claims.shown_sha256.to_string()), whole, "{words}");
        let nothing = kernel::receipt::QuestionDigests::null_digest();
        assert_eq!(claims.shown_sha256 == nothing, !whole, "{words}");
    }
    world.end().await;
}

/// A chat message is not the page, so its receipt does not claim that the question was displayed.
#[tokio::test]
async fn an_answer_in_a_chat_claims_no_more_than_the_message() {
    let (slack, world) = office().await;
    in_slack_as(&world.human(), &slack, ADA).await;
    let ask = asked(&world.agent(), approval()).await;
    let message = id(&posted(&slack, 2).await);
    waits(&world, 0).await;
    press(&world, &slack, &message, "Approve", ADA).await;
    let (claims, words) = receipt(&world, &ask).await;
    assert_eq!(
        (claims.assurance, claims.shown),
        (Some(Assurance::Channel), Some(DisplayedContent::Summary))
    );
    assert!(words.contains("makes no claim about the displayed text"), "{words}");
    world.end().await;
}

/// What was answered before this was recorded keeps its assurance and its receipt.
#[tokio::test]
async fn answers_of_before_keep_their_assurance_and_their_receipt() {
    let world = World::dev().await;
    let case = Case::make(&world, hitl::approval()).await;
    case.respond(json!({ "action": "approve" })).await.is(200);
    let ask = world.gateway().ask(case.ask_id()).await.unwrap().unwrap();
    // As it was stored before it was recorded where links went and what was displayed.
    let stored = serde_json::to_string(&*ask).unwrap();
    let before = stored.replace(",\"shown\":\"nothing\"", "");
    let before = before.replace("\"agent-attested\",\"at\"", "\"link\",\"at\"");
    assert_ne!(before, stored);
    let before: kernel::Ask = serde_json::from_str(&before).unwrap();
    let names = dialects::proof::NameDisclosure::Shown;
    let claims = dialects::proof::ReceiptClaims::of(&before, "https://a.example", names).unwrap();
    let exhibit = kernel::receipt::QuestionDigests::of(&before).unwrap();
    assert_eq!((claims.shown, claims.shown_sha256), (None, exhibit.shown));
    assert_eq!(claims.assurance, Some(Assurance::Link));
    let words = dialects::proof::explain(&claims).join("\n");
    assert!(words.contains("the link may have been forwarded"), "{words}");
    world.end().await;
}
