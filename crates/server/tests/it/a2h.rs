//! A2H over HTTP: calls from create to answer, whoever gives it.

use kernel::question::Answer;
use serde_json::{Value, json};
use server::config::Settings;

use crate::client::{Client, Reply};
use crate::native::ASKS;
use crate::receipts::{proven, receipt};
use crate::world::{World, dev};

pub(crate) const A2H: &str = "/a2h/v1";
const HUMANLAYER: &str = "/humanlayer/v1";

/// A function call of this name.
pub(crate) fn call(call_id: &str) -> Value {
    json!({"run_id": "run", "call_id": call_id, "spec": {"fn": "pay", "kwargs": {"amount": 7}}})
}

/// A human contact of this name.
pub(crate) fn contact(call_id: &str) -> Value {
    json!({"run_id": "run", "call_id": call_id, "spec": {"msg": "Which one?"}})
}

pub(crate) async fn make(agent: &Client, kind: &str, body: Value) -> Reply {
    agent.post(&format!("{A2H}/{kind}"), body).await.is(200)
}

/// The same ask under our own API.
pub(crate) fn native(made: &Reply) -> String {
    format!("{ASKS}/{}", made["status"]["ask_id"].as_str().unwrap())
}

/// Somebody answers it.
pub(crate) async fn answer(world: &World, made: &Reply, answer: Value, comment: Value) {
    let said = json!({ "answer": answer, "comment": comment });
    world.human().post(&format!("{}/answer", native(made)), said).await.is(200);
}

/// Asserts an error of this dialect: its status, its code, and the two shapes every error has
/// (A2H-008, A2H-013).
#[track_caller]
pub(crate) fn refused(reply: Reply, status: u16, code: &str) -> Reply {
    assert_eq!(reply.status, status, "{}", reply.text);
    assert_eq!(reply.header("content-type"), "application/json", "{}", reply.text);
    assert_eq!(reply["error"]["code"], code, "{}", reply.text);
    assert!(reply["error"]["message"].as_str().is_some_and(|text| !text.is_empty()));
    assert!(reply["detail"].is_string() || reply["detail"].is_array(), "{}", reply.text);
    reply
}

/// A2H-001, A2H-002, A2H-003, A2H-010, A2H-020, A2H-040, A2H-041, A2H-042, A2H-043, A2H-048: made
/// under one name, read under every other.
#[tokio::test]
async fn one_call_under_every_address() {
    let world = World::dev().await;
    let agent = world.agent();
    make(&agent, "function_calls", call("call-1")).await;
    for base in [A2H, HUMANLAYER] {
        for path in ["function_calls", "agent/function_calls"] {
            let got = agent.get(&format!("{base}/{path}/call-1")).await.is(200);
            assert_eq!((&got["call_id"], &got["spec"]["fn"]), (&json!("call-1"), &json!("pay")));
        }
    }
    let sdk = agent.post(&format!("{HUMANLAYER}/contact_requests"), contact("c")).await.is(200);
    for base in [A2H, HUMANLAYER] {
        for path in ["human_contacts", "contact_requests", "agent/human_contacts"] {
            let got = agent.get(&format!("{base}/{path}/c")).await.is(200);
            assert_eq!(got.json, sdk.json, "{base}/{path}");
        }
    }
    // The kinds have names of their own (A2H-060), and any ask can be read by its own id.
    refused(agent.get(&format!("{A2H}/function_calls/c")).await, 404, "not_found");
    make(&agent, "function_calls", call("c")).await;
    let id = sdk["status"]["ask_id"].as_str().unwrap();
    assert_eq!(agent.get(&format!("{A2H}/human_contacts/{id}")).await.is(200)["call_id"], "c");
    refused(agent.get(&format!("{A2H}/function_calls/{id}")).await, 404, "not_found");
    world.end().await;
}

/// A2H-004: a base that ends in a slash.
#[tokio::test]
async fn slashes_too_many_change_nothing() {
    let world = World::dev().await;
    let agent = world.agent();
    agent.post(&format!("{HUMANLAYER}//function_calls"), call("s")).await.is(200);
    agent.get("//humanlayer/v1///function_calls//s").await.is(200);
    let listed = agent.get("/a2h//v1//agent/function_calls/pending?cursor=odd").await;
    assert_eq!(
        refused(listed, 422, "invalid_field")["detail"][0]["loc"],
        json!(["body", "cursor"])
    );
    refused(agent.get("/a2h/v1//nothing").await, 404, "not_found");
    refused(agent.delete("/a2h/v1//function_calls").await, 405, "method_not_allowed");
    refused(world.anonymous().get("/a2h/v1//function_calls/s").await, 401, "unauthorized");
    world.end().await;
}

/// A2H-006, A2H-008, A2H-009, A2H-011, A2H-013, A2H-016: whatever is wrong, it is said as JSON.
#[tokio::test]
async fn every_answer_is_json() {
    let world = World::dev().await;
    let (agent, at) = (world.agent(), |path: &str| format!("{A2H}{path}"));
    refused(world.anonymous().post(&at("/function_calls"), call("x")).await, 401, "unauthorized");
    refused(world.bearer("nobody").get(&at("/project")).await, 401, "unauthorized");
    refused(world.human().post(&at("/function_calls"), call("x")).await, 401, "unauthorized");
    refused(agent.get("/humanlayer/v2/x").await, 404, "not_found");
    refused(agent.get("/humanlayer").await, 404, "not_found");
    refused(agent.put(&at("/function_calls"), json!({})).await, 405, "method_not_allowed");
    refused(agent.get(&at("/function_calls/%FF")).await, 404, "not_found");
    refused(agent.post_raw(&at("/function_calls"), "{").await, 422, "invalid_json");
    refused(
        agent.post_form(&at("/function_calls"), &[("a", "b")]).await,
        415,
        "unsupported_media_type",
    );
    refused(agent.post_raw(&at("/function_calls"), "x".repeat(1 << 21)).await, 413, "too_large");
    let large = call("large");
    let state = json!({"text": "x".repeat(700_000)});
    let mut large = large;
    large["spec"]["state"] = state.clone();
    assert_eq!(make(&agent, "function_calls", large).await["spec"]["state"], state);
    // A client that says what it sends though it sends nothing.
    let got = agent.header("content-type", "application/json");
    got.get(&at("/function_calls/large")).await.is(200);
    let status = world.anonymous().get(&at("/status")).await.is(200);
    assert_eq!(
        (status.header("content-type"), &status["status"]),
        ("application/json", &json!("ok"))
    );
    assert!(world.anonymous().get("/version").await.is(200)["version"].is_string());
    world.end().await;
}

/// A2H-023, A2H-051, A2H-052, A2H-054, A2H-056, A2H-063, A2H-070, A2H-086: a person answers, and
/// the receipt says what they said.
#[tokio::test]
async fn a_person_answers_a_function_call() {
    let world = World::dev().await;
    let agent = world.agent();
    let mut body = call("r");
    body["spec"]["reject_options"] =
        json!([{"name": "later", "title": "Not now", "prompt_fill": "try tomorrow"}]);
    let made = make(&agent, "function_calls", body).await;
    assert_eq!(made["status"].get("approved"), None);
    let asked = world.human().get(&native(&made)).await.is(200);
    assert_eq!(asked["question"]["prompt"], "pay");
    assert_eq!(asked["question"]["details"], json!({"amount": 7}));
    let odd = json!({ "answer": { "verdict": "rejected", "option": "odd" } });
    world.human().post(&format!("{}/answer", native(&made)), odd).await.is(422);
    let reason = json!({ "verdict": "rejected", "option": "later" });
    world.advance(5);
    answer(&world, &made, reason, Value::Null).await;
    let got = agent.get(&format!("{A2H}/function_calls/r")).await.is(200);
    let status = &got["status"];
    assert_eq!((&status["approved"], &status["comment"]), (&json!(false), &json!("try tomorrow")));
    assert_eq!(status["reject_option_name"], "later");
    assert_eq!(status["requested_at"], "2026-03-01T09:00:00.000000Z");
    assert_eq!(status["responded_at"], "2026-03-01T09:00:05.000000Z");
    assert_eq!(status["user_info"]["name"], "user_dev");
    let receipt = receipt(&agent, made["status"]["ask_id"].as_str().unwrap()).await;
    let claims = proven(&world, &receipt).await;
    assert_eq!(claims.answer, Some(Answer::Rejected { option: Some("later".to_owned()) }));
    world.end().await;
}

/// A2H-059, A2H-060: a name is given once, in each project and for each kind, for ever.
#[tokio::test]
async fn a_name_is_given_once() {
    let mut world = World::dev().await;
    let first = make(&world.agent(), "function_calls", call("one")).await;
    world.advance(3 * 24 * 3600);
    world.tidy().await;
    world.restart().await;
    let agent = world.agent();
    let again = make(&agent, "function_calls", call("one")).await;
    assert_eq!(again.json, first.json);
    let mut other = call("one");
    other["spec"]["kwargs"] = json!({"amount": 8});
    refused(agent.post(&format!("{A2H}/function_calls"), other.clone()).await, 409, "call_exists");
    make(&agent, "human_contacts", contact("one")).await;
    // Another project has its own names, and sees none of ours.
    refused(world.agent_2().get(&format!("{A2H}/function_calls/one")).await, 404, "not_found");
    let theirs = make(&world.agent_2(), "function_calls", other).await;
    assert_ne!(theirs["status"]["ask_id"], first["status"]["ask_id"]);
    // An agent of the same project whose key sees only its own learns no more than that it is
    // taken.
    world.add_agent("clerk", "dev", "user_dev").await;
    let key = world.human().post("/api/v1/keys", json!({ "agent": "clerk" })).await.is(201);
    let clerk = world.bearer(key["secret"].as_str().unwrap());
    refused(clerk.post(&format!("{A2H}/function_calls"), call("one")).await, 409, "call_exists");
    refused(clerk.get(&format!("{A2H}/function_calls/one")).await, 404, "not_found");
    // Once it is answered it is still the same call.
    answer(&world, &first, json!({ "verdict": "approved" }), Value::Null).await;
    assert_eq!(make(&agent, "function_calls", call("one")).await["status"]["approved"], true);
    world.end().await;
}

/// A2H-044, A2H-045, A2H-052, A2H-055, A2H-056, A2H-057, A2H-058: only with a key that was issued
/// for it, once, and recorded as what it is.
#[tokio::test]
async fn an_agent_passes_on_what_a_person_said() {
    let world = World::dev().await;
    let agent = world.agent();
    let made = make(&agent, "function_calls", call("p")).await;
    let respond = format!("{A2H}/agent/function_calls/p/respond");
    let plain = world.human().post("/api/v1/keys", json!({ "agent": "agent_dev" })).await.is(201);
    assert_eq!(plain.json.get("respond"), None);
    let plain = world.bearer(plain["secret"].as_str().unwrap());
    refused(plain.post(&respond, json!({"approved": true})).await, 403, "forbidden");
    refused(agent.post(&respond, json!({"approved": null})).await, 422, "invalid_field");
    let said = json!({
        "requested_at": null, "responded_at": null, "approved": true, "comment": null,
        "reject_option_name": null, "slack_message_ts": null,
    });
    let over = agent.post(&respond, said).await.is(200);
    assert_eq!(over["status"]["approved"], true);
    assert_eq!(over["status"]["requested_at"], made["status"]["requested_at"]);
    let late = agent.post(&respond, json!({"approved": "nonsense"})).await;
    let late = refused(late, 409, "already_responded");
    assert!(late["detail"].as_str().unwrap().contains("call already has a response"));
    let native = agent.get(&native(&made)).await.is(200);
    assert_eq!(native["result"]["assurance"], "agent-attested");
    let contacted = make(&agent, "human_contacts", contact("q")).await;
    let respond = format!("{A2H}/agent/human_contacts/q/respond");
    refused(agent.post(&respond, json!({"response": ""})).await, 422, "invalid_field");
    let over = agent.post(&respond, json!({"response": "that one"})).await.is(200);
    assert_eq!(over["status"]["response"], "that one");
    assert_eq!(over["status"]["ask_id"], contacted["status"]["ask_id"]);
    let nothing = format!("{A2H}/agent/human_contacts/nothing/respond");
    refused(agent.post(&nothing, json!({"response": "x"})).await, 404, "not_found");
    world.end().await;
}

/// A project may take nobody's word but people's own.
#[tokio::test]
async fn a_strict_project_takes_no_agents_word() {
    let world = World::dev().await;
    world.human().put("/api/v1/projects/dev", json!({ "floor": "session" })).await.saved();
    make(&world.agent(), "function_calls", call("strict")).await;
    let respond = format!("{A2H}/agent/function_calls/strict/respond");
    refused(world.agent().post(&respond, json!({"approved": true})).await, 403, "forbidden");
    // Nor can whoever owns an agent give its key that word.
    world.add_agent("clerk", "dev", "user_dev_2").await;
    let member = world.member();
    member.post("/api/v1/keys", json!({ "agent": "clerk" })).await.is(201);
    member.post("/api/v1/keys", json!({ "agent": "clerk", "respond": true })).await.is(403);
    let issued = json!({ "agent": "clerk", "respond": true });
    assert_eq!(world.human().post("/api/v1/keys", issued).await.is(201)["respond"], true);
    world
        .human()
        .post("/api/v1/keys", json!({ "human": "user_dev", "respond": true }))
        .await
        .is(422);
    world.end().await;
}

/// A2H-046, A2H-100, A2H-101, A2H-102, A2H-103, A2H-104, A2H-105: it is told again, to more people,
/// and stays as open as it was.
#[tokio::test]
async fn an_escalation_reaches_more_people() {
    let world = World::dev().await;
    let agent = world.agent();
    let person = json!({ "projects": ["dev"], "email": "member@example.com" });
    world.human().put("/api/v1/people/user_dev_2", person).await.saved();
    let made = make(&agent, "function_calls", call("e")).await;
    world.member().get(&native(&made)).await.is(404);
    let escalate = format!("{A2H}/agent/function_calls/e/escalate_email");
    let urgent = json!({
        "escalation_msg": "the bank closes at five",
        "additional_recipients": [{"address": "member@example.com"}, {"address": "boss@example.com"}],
        "channel": null,
    });
    for _ in ["once", "and again"] {
        let still = agent.post(&escalate, urgent.clone()).await.is(200);
        assert_eq!(still["status"], made["status"]);
    }
    let said = world.member().get(&format!("{}/comments", native(&made))).await.is(200);
    let text = said["comments"][0]["text"].as_str().unwrap();
    assert_eq!(text, "the bank closes at five\n\nAlso meant for: boss@example.com");
    refused(agent.post(&escalate, json!({})).await, 422, "invalid_field");
    let nothing = format!("{A2H}/agent/function_calls/nothing/escalate_email");
    refused(agent.post(&nothing, urgent.clone()).await, 404, "not_found");
    let yes = json!({ "answer": { "verdict": "approved" } });
    world.member().post(&format!("{}/answer", native(&made)), yes).await.is(200);
    refused(agent.post(&escalate, urgent).await, 409, "already_responded");
    world.end().await;
}

/// A2H-047, A2H-049, A2H-051: what waits, of the kind, in pages.
#[tokio::test]
async fn what_waits_is_listed() {
    let world = World::dev().await;
    let agent = world.agent();
    let pending = |kind: &str| format!("{A2H}/agent/{kind}/pending");
    assert_eq!(agent.get(&pending("function_calls")).await.is(200).json, json!([]));
    let first = make(&agent, "function_calls", call("w0")).await;
    answer(&world, &first, json!({ "verdict": "approved" }), Value::Null).await;
    for n in 1..=101 {
        make(&agent, "function_calls", call(&format!("w{n}"))).await;
    }
    make(&agent, "human_contacts", contact("c")).await;
    make(&world.agent_2(), "function_calls", call("theirs")).await;
    // Asked in another dialect, watched in this one.
    world
        .agent()
        .post(ASKS, json!({"question": {"kind": "converse", "prompt": "Hm?"}}))
        .await
        .is(201);
    let page = agent.get(&pending("function_calls")).await.is(200);
    let names = |page: &Reply| -> Vec<String> {
        let calls = page.json.as_array().unwrap().iter();
        calls.map(|call| call["call_id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!((names(&page).len(), names(&page)[0].as_str()), (100, "w101"));
    let next = page.header("link").split(['<', '>']).nth(1).unwrap().to_owned();
    let rest = agent.get(&next).await.is(200);
    assert_eq!((names(&rest), rest.headers.get("link")), (vec!["w1".to_owned()], None));
    let contacts = agent.get(&pending("human_contacts")).await.is(200);
    assert_eq!(contacts.json.as_array().unwrap().len(), 2);
    world.end().await;
}

/// A2H-061: only where the operator wants it does a call run out; then the SDKs' polling ends.
#[tokio::test]
async fn what_nobody_answers_ends_where_the_operator_says_so() {
    let world = World::with(Settings { a2h_timeout: Some(3600), ..dev() }).await;
    let agent = world.agent();
    make(&agent, "function_calls", call("late")).await;
    make(&agent, "human_contacts", contact("late")).await;
    let withdrawn = make(&agent, "function_calls", call("moot")).await;
    agent.post(&format!("{}/cancel", native(&withdrawn)), json!({"reason": "moot"})).await.is(200);
    let moot = agent.get(&format!("{A2H}/function_calls/moot")).await.is(200);
    assert_eq!(
        (&moot["status"]["approved"], &moot["status"]["outcome"]),
        (&json!(false), &json!("cancelled"))
    );
    assert!(moot["status"]["comment"].as_str().unwrap().contains("(moot)"));
    world.advance(3599);
    assert_eq!(
        agent.get(&format!("{A2H}/function_calls/late")).await["status"].get("approved"),
        None
    );
    world.advance(1);
    let late = agent.get(&format!("{A2H}/function_calls/late")).await.is(200);
    assert_eq!(
        (&late["status"]["approved"], &late["status"]["outcome"]),
        (&json!(false), &json!("expired"))
    );
    let late = agent.get(&format!("{A2H}/human_contacts/late")).await.is(200);
    assert!(late["status"]["response"].as_str().unwrap().starts_with("This request expired at"));
    let respond = format!("{A2H}/agent/function_calls/late/respond");
    refused(agent.post(&respond, json!({"approved": true})).await, 409, "already_responded");
    world.end().await;
    let world = World::dev().await;
    let patient = make(&world.agent(), "function_calls", call("patient")).await;
    world.advance(400 * 24 * 3600);
    let still = world.agent().get(&format!("{A2H}/function_calls/patient")).await.is(200);
    assert_eq!(still["status"], patient["status"]);
    world.end().await;
}

/// A2H-031, A2H-062, A2H-129: who is asked, and that a bot token is nowhere.
#[tokio::test]
async fn a_channel_may_name_who_is_asked() {
    let world = World::dev().await;
    let agent = world.agent();
    let person = json!({ "projects": ["dev"], "email": "member@example.com" });
    world.human().put("/api/v1/people/user_dev_2", person).await.saved();
    for (n, (channel, theirs)) in [
        (json!({"email": {"address": "member@example.com"}}), true),
        (json!({"email": {"address": "stranger@example.com"}}), false),
        (json!({"human_id": "user_dev_2"}), true),
        (json!({"slack": {"channel_or_user_id": "C0123", "bot_token": "xoxb-hush-hush"}}), false),
    ]
    .into_iter()
    .enumerate()
    {
        let mut body = contact(&format!("to-{n}"));
        body["spec"]["channel"] = channel.clone();
        let made = make(&agent, "human_contacts", body).await;
        let seen = world.member().get(&native(&made)).await.status == 200;
        assert_eq!(seen, theirs, "{channel}");
        assert!(!made.text.contains("xoxb"), "{}", made.text);
    }
    let mut nobody = contact("to-nobody");
    nobody["spec"]["channel"] = json!({"human_id": "ghost"});
    let told = agent.post(&format!("{A2H}/human_contacts"), nobody).await;
    let told = refused(told, 422, "invalid_field");
    assert_eq!(told["detail"][0]["loc"], json!(["body", "spec", "channel", "human_id"]));
    assert!(!crate::world::logged().contains("xoxb-hush-hush"));
    for (_, record) in
        world.gateway().store().records(store::FeedQuery::After(0), 1000).await.unwrap()
    {
        let kept: String = record.contents.iter().map(ToString::to_string).collect();
        assert!(!record.body.contains("xoxb") && !kept.contains("xoxb"));
    }
    world.end().await;
}

/// A2H-019, A2H-120, A2H-125.
#[tokio::test]
async fn what_the_server_says_of_itself() {
    let world = World::dev().await;
    let agent = world.agent();
    let project = agent.get(&format!("{A2H}/project")).await.is(200);
    for key in ["name", "slug", "project_slug"] {
        assert_eq!(project[key], "dev", "{key}");
    }
    assert_eq!(project["organization"], project["org_slug"]);
    let channels = agent.get(&format!("{A2H}/channels")).await.is(200);
    assert_eq!(channels.json, json!({"channels": {}}), "none is set up yet");
    let validate = format!("{A2H}/channels/validate");
    let good = agent.post(&validate, json!({"email": {"address": "a@example.com"}})).await.is(200);
    assert_eq!(good.json, json!({"valid": true, "errors": [], "configured": false}));
    let bad = agent.post(&validate, json!({"email": {"address": "a"}})).await.is(200);
    assert_eq!(bad["errors"][0]["field"], "email.address");
    world.end().await;
}

/// The words of what is over can be erased; that is said, and the name stays taken.
#[tokio::test]
async fn what_was_erased_is_gone() {
    let world = World::dev().await;
    let agent = world.agent();
    let made = make(&agent, "function_calls", call("gone")).await;
    answer(&world, &made, json!({ "verdict": "approved" }), Value::Null).await;
    world.human().post(&format!("{}/erase", native(&made)), json!({})).await.is(200);
    refused(agent.get(&format!("{A2H}/function_calls/gone")).await, 410, "gone");
    refused(agent.post(&format!("{A2H}/function_calls"), call("gone")).await, 410, "gone");
    world.end().await;
}

/// A2H-095: what a page could make of a key and somebody's name is neither a key nor a person.
#[tokio::test]
async fn a_token_made_from_a_key_opens_nothing() {
    use base64::Engine;
    use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
    use hmac::{Hmac, KeyInit, Mac};
    let world = World::dev().await;
    let exp = world.now().millis() / 1000 + 3600;
    let claims =
        json!({ "user_id": "user_dev", "sub": "user_dev", "tenant_id": "dev", "exp": exp });
    let head = BASE64.encode(json!({ "alg": "HS256", "typ": "JWT" }).to_string());
    let signed = format!("{head}.{}", BASE64.encode(claims.to_string()));
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(b"dev-agent-key").unwrap();
    mac.update(signed.as_bytes());
    let token = format!("{signed}.{}", BASE64.encode(mac.finalize().into_bytes()));
    let embedded = world.bearer(&token);
    for path in ["/humanlayer/v1/project", "/a2h/v1/agent/function_calls/pending", "/a2h/v1/humans"]
    {
        refused(embedded.get(path).await, 401, "unauthorized");
    }
    embedded.get("/api/v1/me").await.problem(401, "unauthorized");
    world.end().await;
}

/// A choice with an option that cannot be undone is confirmed in a second step, as everywhere.
#[tokio::test]
async fn an_option_that_cannot_be_undone_needs_a_second_step() {
    let world = World::dev().await;
    let mut body = contact("c1");
    body["spec"]["response_options"] =
        json!([{ "name": "keep" }, { "name": "drop", "irreversible": true }]);
    let made = make(&world.agent(), "human_contacts", body).await;
    let ask = world.human().get(&native(&made)).await.is(200);
    assert_eq!((&ask["irreversible"], &ask["needs_confirmation"]), (&json!(true), &json!(true)));
    let browser = crate::pages::signed_in(&world).await;
    let page = format!("/asks/{}", ask["id"].as_str().unwrap());
    let shown = browser.client.get(&page).await.is(200);
    assert!(
        shown.text.contains("This can't be undone") || shown.text.contains("can&#39;t be undone")
    );
    let form = [("csrf", &*crate::pages::csrf(&shown)), ("choose", "drop")];
    let step = browser.client.post_form(&format!("{page}/answer"), &form).await.is(200);
    assert!(step.text.contains("name=\"sure\""), "{}", step.text);
    let state = world.human().get(&native(&made)).await.is(200)["state"].clone();
    assert_ne!(state, "completed");
    world.end().await;
}
