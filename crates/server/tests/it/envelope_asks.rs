//! Envelopes of HXP eXperience on asks: sent in every protocol, kept, shown, bound to headers and
//! streams.

use scraper::{Html, Selector};
use serde_json::{Value, json};

use crate::a2h::{self, A2H};
use crate::client::{Reply, approve, with};
use crate::hacp::{begun, op};
use crate::hitl::{self, CASES, Case};
use crate::native::{ASKS, approval, asked, yes};
use crate::pages::{csrf, signed_in};
use crate::review_page::Page;
use crate::streams::Events;
use crate::world::World;

/// What a careful agent says of its message.
pub(crate) fn envelope() -> Value {
    json!({
        "version": "1.0.0",
        "intent": "decide",
        "delivery": { "verbosity": "low", "tone": "direct", "language": "en" },
        "cognition": { "load": 4, "estimated_read_seconds": 40 },
        "transparency": {
            "confidence": 0.7,
            "verification_needed": true,
            "assumptions": ["The invoice is genuine"],
            "limits": ["I cannot see the bank account"],
        },
        "actions": [
            { "type": "verify_sources", "label": "Show the invoice", "payload": { "invoice": 7 } },
            { "type": "simplify" },
        ],
        "negotiation": { "clarifying_questions": ["Is this the usual supplier?"] },
        "later": { "unknown": [3.0, null] },
    })
}

/// One create in each protocol: its address, its body, its status, and where the envelope stands in
/// the answer about it.
fn creates(hxp: &Value) -> [(&'static str, String, Value, u16, &'static str); 6] {
    let state = json!({ "n": 1, "hxp": hxp });
    let call = with(a2h::call("c1"), json!({ "spec": { "state": state } }));
    let contact =
        json!({ "run_id": "r", "call_id": "c1", "spec": { "msg": "Pay?", "state": state } });
    let message = json!({
        "apiVersion": "proto.a2h.dev/v1alpha1",
        "kind": "Message",
        "metadata": { "uid": "c1" },
        "spec": { "message": "Pay?", "state": state },
    });
    [
        ("native", ASKS.into(), with(approval(), json!({ "hxp": hxp })), 201, "/hxp"),
        (
            "hxp",
            "/hxp/v1/requests".into(),
            with(approve("Pay?"), json!({ "hxp": hxp })),
            201,
            "/hxp",
        ),
        (
            "hitl",
            CASES.into(),
            hitl::with(hitl::approval(), json!({ "hxp": hxp })),
            202,
            "/hitl/context/hxp",
        ),
        ("a2h", format!("{A2H}/function_calls"), call, 200, "/spec/state/hxp"),
        ("a2h contact", format!("{A2H}/human_contacts"), contact, 200, "/spec/state/hxp"),
        ("a2h message", format!("{A2H}/messages"), message, 200, "/spec/state/hxp"),
    ]
}

/// The id of what was made, in our own words.
fn id(way: &str, made: &Value) -> String {
    let id = match way {
        "native" => &made["id"],
        "hxp" => &made["request_id"],
        "hitl" => &made["hitl"]["case_id"],
        _ => &made["status"]["ask_id"],
    };
    let (_, ulid) = id.as_str().unwrap().rsplit_once('_').unwrap();
    format!("ask_{ulid}")
}

/// HXPE-005, HXPE-049, HXPE-058: sent in every protocol, kept as it came, shown in every other one,
/// and the verdict stands in the record without a word of the envelope.
#[tokio::test]
async fn every_protocol_takes_an_envelope_and_gives_it_back() {
    let world = World::dev().await;
    let agent = world.agent();
    for (way, path, body, status, place) in creates(&envelope()) {
        let made = agent.post(&path, body).await.is(status);
        if way != "hxp" {
            assert_eq!(made.json.pointer(place), Some(&envelope()), "{way}: {}", made.text);
        }
        let id = id(way, &made.json);
        let seen = agent.get(&format!("{ASKS}/{id}")).await.is(200);
        assert_eq!(seen["hxp"], envelope(), "{way}");
        let verdict = &seen["hxp_verdict"];
        assert_eq!((&verdict["valid"], &verdict["level"]), (&json!(true), &json!("core")));
        let polled = agent.poll(&id.replacen("ask_", "hxp_", 1)).await.is(200);
        assert_eq!((&polled["hxp"], &polled["hxp_verdict"]), (&envelope(), verdict), "{way}");
        let told = world.human().get(&format!("{ASKS}/{id}/audit")).await.is(200);
        let asked = &told["events"][0];
        assert_eq!(asked["event"], "asked", "{}", told.text);
        let body: Value = serde_json::from_str(asked["body"].as_str().unwrap()).unwrap();
        let found = &body["what"]["claims"]["finding"];
        assert_eq!((&found["level"], &found["errors"]), (&json!("core"), &json!(0)), "{body}");
        assert!(!body.to_string().contains("genuine"), "no word of it: {body}");
    }
    world.end().await;
}

/// HXPE-004, HXPE-042, HXPE-058: what is wrong is kept with what was found, unless the project is
/// strict; then the request is refused by the place of what is wrong, and nothing is there.
#[tokio::test]
async fn a_strict_project_takes_only_what_is_specified() {
    let world = World::dev().await;
    let agent = world.agent();
    let wrong = with(envelope(), json!({ "transparency": { "confidence": "high" } }));
    let pointer = "/hxp/transparency/confidence";
    for (way, path, body, status, _) in creates(&wrong) {
        let made = agent.post(&path, body).await.is(status);
        assert!(made.text.contains(pointer), "{way} says what is wrong: {}", made.text);
        let seen = agent.get(&format!("{ASKS}/{}", id(way, &made.json))).await.is(200);
        assert_eq!((&seen["hxp"], &seen["hxp_verdict"]["valid"]), (&wrong, &json!(false)));
    }
    let strict = json!({ "id": "dev", "envelopes": "strict" });
    let saved = world.human().save("projects", strict).await.is(200);
    assert_eq!(saved["envelopes"], "strict");
    let before = agent.get(&format!("{ASKS}/count")).await.is(200);
    let mut codes = Vec::new();
    for (way, path, body, ..) in creates(&wrong) {
        let body = match way {
            "a2h" | "a2h contact" => with(body, json!({ "call_id": "c2" })),
            "a2h message" => with(body, json!({ "metadata": { "uid": "c2" } })),
            _ => body,
        };
        let refused = agent.post(&path, body).await;
        assert!(refused.text.contains(pointer), "{way}: {}", refused.text);
        codes.push((way, refused.status));
    }
    let a2h = [("a2h", 422), ("a2h contact", 422), ("a2h message", 422)];
    assert_eq!(codes, [&[("native", 422), ("hxp", 400), ("hitl", 400)], &a2h[..]].concat());
    let native = with(approval(), json!({ "hxp": wrong }));
    let refused = agent.post(ASKS, native).await.problem(422, "invalid-envelope");
    assert_eq!(refused["errors"][0]["field"], pointer);
    let after = agent.get(&format!("{ASKS}/count")).await.is(200);
    assert_eq!(after.json, before.json, "nothing was asked");
    // What has an unknown field is not what was specified either; without it, it is.
    agent.post(ASKS, with(approval(), json!({ "hxp": envelope() }))).await.is(422);
    let mut known = envelope();
    known.as_object_mut().unwrap().remove("later");
    let made = agent.post(ASKS, with(approval(), json!({ "hxp": known }))).await.is(201);
    assert_eq!(made["hxp_verdict"]["strict"], true);
    world.end().await;
}

/// What is no object is no envelope, and is refused by name.
#[tokio::test]
async fn what_is_no_object_is_refused_by_name() {
    let world = World::dev().await;
    let agent = world.agent();
    for odd in [json!("high"), json!(7), json!([]), json!(true)] {
        let refused = agent.post(ASKS, with(approval(), json!({ "hxp": odd }))).await;
        assert_eq!(refused.problem(422, "invalid-field")["errors"][0]["field"], "hxp");
        let refused = agent.post("/hxp/v1/requests", with(approve("x"), json!({ "hxp": odd })));
        assert_eq!(refused.await.error(400, "invalid_hxp")["details"]["field"], "hxp");
    }
    let made = agent.post(ASKS, with(approval(), json!({ "hxp": null }))).await.is(201);
    assert_eq!((&made["hxp"], &made["hxp_verdict"]), (&Value::Null, &Value::Null));
    world.end().await;
}

/// HXPE-050, HXPE-051, HXPE-052: headers in say what the envelope leaves out and make none by
/// themselves; headers out say what it says, on one line.
#[tokio::test]
async fn headers_say_the_same_in_short() {
    let world = World::dev().await;
    let hinting = world.agent().header("HXP-CogLoad", "9").header("HXP-Intent", "sell");
    let mut bare = envelope();
    bare.as_object_mut().unwrap().remove("cognition");
    for (way, path, body, status, _) in creates(&bare) {
        let made = hinting.post(&path, body).await.is(status);
        let told = ["hxp-intent", "hxp-verbosity", "hxp-confidence", "hxp-cogload"];
        assert_eq!(told.map(|name| made.header(name)), ["decide", "low", "0.7", "9"], "{way}");
        let seen = world.agent().get(&format!("{ASKS}/{}", id(way, &made.json))).await.is(200);
        assert_eq!(seen["hxp"]["cognition"], json!({ "load": 9 }));
        assert_eq!(seen["hxp"]["intent"], "decide", "the envelope counts");
        let rules = seen["hxp_verdict"]["rules"].as_array().unwrap();
        assert!(rules.contains(&json!("HXPE-051")), "the difference is noted: {rules:?}");
    }
    let none = hinting.post(ASKS, approval()).await.is(201);
    assert_eq!((&none["hxp"], none.header("hxp-intent")), (&Value::Null, ""));
    let hostile = with(bare, json!({ "intent": "a\r\nSet-Cookie: b=c" }));
    let made = world.agent().post(ASKS, with(approval(), json!({ "hxp": hostile }))).await.is(201);
    assert_eq!(made.header("hxp-intent"), "a%0D%0ASet-Cookie:%20b=c");
    assert_eq!(made.header("set-cookie"), "");
    world.end().await;
}

/// HXPE-005, HXPE-050, HXPE-058: a checkpoint takes an envelope as any ask does, headers included.
#[tokio::test]
async fn a_checkpoint_takes_an_envelope() {
    let world = World::dev().await;
    let task = begun(&world, json!({})).await;
    let raise = |task: &str, hxp: Value| json!({ "task_id": task, "kind": "approval", "prompt": "May I?", "hxp": hxp });
    let mut bare = envelope();
    bare.as_object_mut().unwrap().remove("cognition");
    let hinting = world.agent().header("HXP-CogLoad", "9").header("HXP-Intent", "sell");
    let made = op(&hinting, "checkpoint.raise", raise(&task, bare.clone())).await.is(200);
    let heard = with(bare, json!({ "cognition": { "load": 9 } }));
    assert_eq!(made["hxp"], heard, "{}", made.text);
    let told = ["hxp-intent", "hxp-verbosity", "hxp-confidence", "hxp-cogload"];
    assert_eq!(told.map(|name| made.header(name)), ["decide", "low", "0.7", "9"]);
    let id = made["id"].as_str().unwrap().replacen("ckpt_", "ask_", 1);
    let seen = world.agent().get(&format!("{ASKS}/{id}")).await.is(200);
    assert_eq!((&seen["hxp"], &seen["hxp_verdict"]["valid"]), (&heard, &json!(true)));

    let strict = json!({ "id": "dev", "envelopes": "strict" });
    world.human().save("projects", strict).await.is(200);
    let wrong = with(envelope(), json!({ "transparency": { "confidence": "high" } }));
    let another = begun(&world, json!({})).await;
    let refused = op(&world.agent(), "checkpoint.raise", raise(&another, wrong)).await;
    let refused = crate::hacp::refused(refused, 400, "INVALID_SPEC");
    assert!(refused.text.contains("/hxp/transparency/confidence"), "{}", refused.text);
    world.end().await;
}

/// HXPE-054: our own stream of an ask begins with its envelope, exactly once; HITL's does for
/// whoever asks for it.
#[tokio::test]
async fn streams_begin_with_the_envelope() {
    let world = World::dev().await;
    let agent = world.agent();
    let path = asked(&agent, with(approval(), json!({ "hxp": envelope() }))).await;
    let mut events = Events::open(&agent, &format!("{path}/events")).await;
    let first = events.block().await.unwrap();
    let line = first.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    assert!(first.contains("event: hxp\n") && !first.contains("id: "), "{first}");
    let told: Value = serde_json::from_str(line).unwrap();
    assert_eq!(told, json!({ "hxp": envelope() }));
    assert_eq!(events.expect("asked").await.data["ask"]["hxp"], envelope());
    // Without one, there is none.
    let plain = asked(&agent, approval()).await;
    Events::open(&agent, &format!("{plain}/events")).await.expect("asked").await;

    let case = Case::make(&world, hitl::with(hitl::approval(), json!({ "hxp": envelope() }))).await;
    // Something to tell of.
    world.anonymous().get(&case.path("review_url")).await.is(200);
    let stream = format!("/hitl/v1/reviews/{}/events", case.id);
    for (query, prelude) in [("", false), ("?prelude=1", true), ("?prelude=0", false)] {
        let mut events = Events::open(&agent, &format!("{stream}{query}")).await;
        let begin = events.block().await.unwrap();
        assert!(begin.starts_with(':'), "{begin}");
        let next = events.block().await.unwrap();
        let first = if prelude { "event: hxp\n" } else { "id: " };
        assert!(next.starts_with(first), "{query}: {next}");
    }
    world.end().await;
}

/// The words are forgotten with those of the request; what was found stays.
#[tokio::test]
async fn an_envelope_is_erased_with_its_ask() {
    let world = World::dev().await;
    let agent = world.agent();
    let path = asked(&agent, with(approval(), json!({ "hxp": envelope() }))).await;
    agent.post(&format!("{path}/cancel"), json!({})).await.is(200);
    world.human().post(&format!("{path}/erase"), json!({})).await.is(200);
    let seen = agent.get(&path).await.is(200);
    assert_eq!((&seen["hxp"], &seen["hxp_verdict"]["valid"]), (&Value::Null, &json!(true)));
    assert!(!seen.text.contains("genuine"), "{}", seen.text);
    assert_eq!(seen.header("hxp-intent"), "");
    world.end().await;
}

/// The text of what a page has under a selector.
fn seen(page: &Reply, selector: &str) -> String {
    let html = Html::parse_document(&page.text);
    let selector = Selector::parse(selector).unwrap();
    let text: String = html.select(&selector).flat_map(|element| element.text()).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn attribute(page: &Reply, selector: &str, name: &str) -> Option<String> {
    let html = Html::parse_document(&page.text);
    let found = html.select(&Selector::parse(selector).unwrap()).next();
    found.and_then(|element| element.attr(name)).map(str::to_owned)
}

/// HXPE-015, HXPE-022, HXPE-023, HXPE-058: the agent's claims stand on the page as claims, in the
/// language they are in; what should be verified is hard to miss and is not answered from the list.
#[tokio::test]
async fn pages_show_what_the_agent_claims() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let hostile = "<b>bold</b> \u{202e}gpj.exe";
    let german = with(
        envelope(),
        json!({ "delivery": { "language": "de" }, "transparency": { "limits": [hostile, "none"] } }),
    );
    let sure = json!({ "version": "1.0.0", "transparency": { "confidence": 1 } });
    let page_of = async |hxp: &Value| {
        let path = asked(&world.agent(), with(approval(), json!({ "hxp": hxp }))).await;
        browser.client.get(&path.replace("/api/v1", "")).await.is(200)
    };
    let page = page_of(&german).await;
    let claims = seen(&page, ".claims");
    for words in [
        "Agent's claims (unverified)",
        "Confidence 70 %",
        "complexity 4/10, 40 s to read",
        "The invoice is genuine",
        "Is this the usual supplier?",
        "<b>bold</b>",
    ] {
        assert!(claims.contains(words), "{words}: {claims}");
    }
    assert!(!claims.contains('\u{202e}'), "what is hidden is shown");
    assert!(seen(&page, ".paper > .verify").contains("Verify this first."));
    assert!(seen(&page, ".card .verify").contains("Verify first."));
    assert_eq!(attribute(&page, ".agent", "lang").as_deref(), Some("de"));
    assert_eq!(attribute(&page, ".agent .voice", "lang").as_deref(), Some("en"));
    let offers: Vec<_> = ["Show the invoice", "Simplify it"].into();
    assert!(offers.iter().all(|offer| seen(&page, ".offers button").contains(offer)));
    // In the list a line of it, and no button that would decide at once.
    let list = browser.client.get("/").await.is(200);
    assert!(seen(&list, ".row .says").contains("Verify this The agent says: confidence 70 %"));
    assert_eq!(seen(&list, ".row .quick button"), "");
    // Nothing is claimed for whoever claims nothing.
    let plain = page_of(&Value::Null).await;
    assert_eq!(seen(&plain, ".claims, .verify"), "");
    assert_eq!(attribute(&plain, ".agent", "lang"), None);
    let brief = page_of(&sure).await;
    assert!(seen(&brief, ".claims").contains("Confidence 100 %"));
    let refusing =
        json!({ "intent": "refuse", "refusal": { "type": "policy", "severity": "hard" } });
    let page = page_of(&refusing).await;
    assert!(seen(&page, ".claims").contains("because of a policy. It will not do it in any form."));
    world.end().await;
}

/// HXPE-060: a pick goes back to the agent, counts once, and decides nothing, whichever page it
/// comes from.
#[tokio::test]
async fn a_picked_action_goes_back_to_the_agent() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let agent = world.agent();
    let path = asked(&agent, with(approval(), json!({ "hxp": envelope() }))).await;
    let mut events = Events::open(&agent, &format!("{path}/events")).await;
    events.block().await.unwrap();
    events.expect("asked").await;
    let page = path.replace("/api/v1", "");
    let token = csrf(&browser.client.get(&page).await.is(200));
    for _ in 0..2 {
        let pairs = [("csrf", &*token), ("action", "pick"), ("pick", "0")];
        let told = browser.client.post_form(&format!("{page}/pick"), &pairs).await.is(200);
        assert!(seen(&told, ".banner").contains("The agent was notified"));
        assert!(seen(&told, ".offers button").contains("Show the invoice requested"));
    }
    let picked = json!([{
        "action": 0, "type": "verify_sources", "payload": { "invoice": 7 },
        "at": agent.get(&path).await["hxp_picked"][0]["at"],
    }]);
    let shown = agent.get(&path).await.is(200);
    assert_eq!((&shown["hxp_picked"], &shown["result"]), (&picked, &Value::Null));
    events.expect("opened").await;
    let told = events.expect("action_picked").await;
    assert_eq!(told.data["ask"]["hxp_picked"], picked);
    // Over the API too; what nobody offered is refused.
    world.human().post(&format!("{path}/pick"), json!({ "action": 1 })).await.is(200);
    for odd in [json!(2), json!(-1), json!("0")] {
        let refused = world.human().post(&format!("{path}/pick"), json!({ "action": odd })).await;
        assert_eq!(refused.status, 422, "{odd}");
    }
    agent.post(&format!("{path}/pick"), json!({ "action": 1 })).await.problem(403, "not-allowed");
    let nonsense = [("csrf", &*token), ("pick", "x")];
    browser.client.post_form(&format!("{page}/pick"), &nonsense).await.is(409);
    let id = path.rsplit_once("ask_").unwrap().1;
    let polled = agent.poll(&format!("hxp_{id}")).await.is(200);
    assert_eq!(polled["hxp_picked"].as_array().unwrap().len(), 2);
    // Whoever holds a link picks as well.
    let case = Case::make(&world, hitl::with(hitl::approval(), json!({ "hxp": envelope() }))).await;
    let (link, shown) = Page::open(&world, &case).await;
    assert!(seen(&shown, ".claims").contains("Confidence 70 %"));
    link.post(&[("action", "pick"), ("pick", "1")]).await.is(303);
    let again = link.client.get(&format!("{}?done=picked", link.path)).await.is(200);
    assert!(seen(&again, ".banner").contains("This is not an answer"));
    let native = format!("{ASKS}/{}", case.id.replacen("review_", "ask_", 1));
    assert_eq!(agent.get(&native).await["hxp_picked"][0]["type"], "simplify");
    world.human().post(&format!("{path}/answer"), yes()).await.is(200);
    world.human().post(&format!("{path}/pick"), json!({ "action": 0 })).await.is(409);
    world.end().await;
}
