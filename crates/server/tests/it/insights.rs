//! Numbers: what agents claim and what people do with it, counted from what happened in every
//! protocol; the same by API, on the page and for operators.

use kernel::insight::Day;
use scraper::{Html, Selector};
use serde_json::{Value, json};
use server::workers::retention;

use crate::a2h::{self, A2H};
use crate::client::{Client, Reply, approve, with};
use crate::hitl::{self, Case};
use crate::native::{ASKS, approval, asked, yes};
use crate::pages::signed_in;
use crate::world::{World, eventually};

const INSIGHTS: &str = "/api/v1/insights";
const DAY: u64 = 24 * 60 * 60;

/// An envelope that says so.
fn saying(intent: &str, confidence: f64, more: Value) -> Value {
    let hxp = json!({
        "version": "1.0.0",
        "intent": intent,
        "delivery": { "verbosity": "low" },
        "transparency": { "confidence": confidence },
        "actions": [{ "type": "expand" }, { "type": "call_my_lawyer" }],
    });
    json!({ "hxp": with(hxp, more) })
}

fn no() -> Value {
    json!({ "answer": { "verdict": "rejected" }, "comment": "Not that." })
}

/// The numbers, once so many asks are counted and so many of them as ended.
async fn counted(client: &Client, query: &str, asks: u64, ended: u64) -> Reply {
    let mut last = None;
    eventually(&format!("{asks} asks and {ended} ends to be counted"), async || {
        let now = client.get(&format!("{INSIGHTS}{query}")).await.is(200);
        let sum = |of: &Value| {
            ["answered", "defaulted", "expired", "failed", "cancelled"]
                .iter()
                .map(|how| of[how].as_u64().unwrap())
                .sum::<u64>()
        };
        let done = now["asks"] == asks && sum(&now["ended"]) == ended;
        last = Some(now);
        done
    })
    .await;
    last.unwrap()
}

/// HXPE-060: asked in four protocols, looked at, picked from, answered, run out: the numbers are
/// what happened.
#[tokio::test]
async fn the_numbers_are_what_happened() {
    let world = World::dev().await;
    let (agent, human, browser) = (world.agent(), world.human(), signed_in(&world).await.client);
    let load = |n: u64| json!({ "cognition": { "load": n } });
    // Looked at after 40 seconds, picked from, approved after 100.
    let first = asked(&agent, with(approval(), saying("decide", 0.95, load(3)))).await;
    world.advance(40);
    browser.get(&first.replace("/api/v1", "")).await.is(200);
    human.post(&format!("{first}/pick"), json!({ "action": 0 })).await.is(200);
    world.advance(60);
    human.post(&format!("{first}/answer"), yes()).await.is(200);
    // Rejected within the second it was looked at, although it is long.
    let long = json!({ "prompt": "word ".repeat(100), "kind": "approve" });
    let body = with(json!({ "question": long }), saying("haggle", 0.9, load(6)));
    let hasty = asked(&agent, body).await;
    browser.get(&hasty.replace("/api/v1", "")).await.is(200);
    human.post(&format!("{hasty}/answer"), no()).await.is(200);
    // In HITL, refused by the agent, and withdrawn.
    let refusal = json!({ "refusal": { "type": "safety", "severity": "hard" } });
    let body = hitl::with(hitl::approval(), saying("refuse", 0.2, refusal));
    let case = Case::make(&world, body).await;
    agent.post(&format!("{ASKS}/{}/cancel", case.ask()), json!({})).await.is(200);
    // In HXP, where nobody answers; in A2H, without a word about itself.
    let body = with(approve("Pay?"), saying("plan", 0.5, json!({})));
    let body = with(body, json!({ "timeout_seconds": 60, "fallback": "fail" }));
    agent.post("/hxp/v1/requests", body).await.is(201);
    agent.post(&format!("{A2H}/function_calls"), a2h::call("c1")).await.is(200);
    world.advance(61);
    world.run_timers().await;

    let told = counted(&human, "", 5, 4).await;
    assert_eq!(told["dialects"], json!({ "native": 2, "hitl": 1, "hxp_execution": 1, "a2h": 1 }));
    assert_eq!(told["envelopes"], json!({ "core": 4, "none": 1 }));
    let intents = json!([
        { "intent": "plan", "n": 1 }, { "intent": "decide", "n": 1 },
        { "intent": "refuse", "n": 1 }, { "intent": "other", "n": 1 },
    ]);
    assert_eq!(told["intents"], intents, "HXPE-061: the agent's own word is one of `other`");
    let sure: Vec<u64> = told["confidence"]
        .as_array()
        .unwrap()
        .iter()
        .map(|bin| bin["n"].as_u64().unwrap())
        .collect();
    assert_eq!(sure, [0, 0, 1, 0, 0, 1, 0, 0, 0, 2]);
    assert_eq!((&told["load"][2]["n"], &told["load"][5]["n"]), (&json!(1), &json!(1)));
    let today = told["days"].as_array().unwrap().last().unwrap();
    assert_eq!(*today, json!({ "day": "2026-03-01", "asked": 5, "ended": 4, "load": 4.5 }));
    let reasons = json!([{ "type": "safety", "severity": "hard", "n": 1 }]);
    assert_eq!(told["refusals"], json!({ "n": 1, "rate": 0.25, "reasons": reasons }));
    let actions = json!([
        { "type": "expand", "shown": 2, "picked": 1, "rate": 0.5 },
        { "type": "other", "shown": 2, "picked": 0, "rate": 0.0 },
    ]);
    assert_eq!(told["actions"], actions);
    let ended = json!({
        "answered": 2, "defaulted": 0, "expired": 0, "failed": 1, "cancelled": 1,
        "expiry_rate": 0.25,
    });
    assert_eq!(told["ended"], ended);
    let verdicts = &told["verdicts"];
    assert_eq!((&verdicts["followed"], &verdicts["overruled"]), (&json!(1), &json!(1)));
    assert_eq!(told["reading"], json!({ "read": 1, "hasty": 1, "unopened": 0, "hasty_rate": 0.5 }));
    let views = &told["first_view"];
    assert_eq!(
        (&views["n"], &views["bins"][4]),
        (&json!(2), &json!({ "from": 30, "to": 60, "n": 1 }))
    );
    assert_eq!(told["decision"]["n"], 2);
    assert_eq!(told["calibration"], json!({ "decisions": 2, "bins": null }), "too few to say");
    let own = &told["agents"][0];
    assert_eq!(
        (&own["agent"], &own["verdicts"]["overrule_rate"]),
        (&json!("agent_dev"), &json!(0.5))
    );

    // The page says the same, and so does what operators read.
    let page = browser.get("/insights").await.is(200);
    let html = Html::parse_document(&page.text);
    let find = |selector: &str| html.select(&Selector::parse(selector).unwrap()).count();
    assert!(find("svg[role=img] > title") > 9 && find("svg > desc") == find("svg > title"));
    assert_eq!(find("svg"), find(".chart table"), "a table behind each");
    assert!(page.text.contains("1 refusal, 25 %"), "{}", page.text);
    let metrics = world.anonymous().get("/metrics").await.is(200).text;
    let line = "countersign_insights_total{measure=\"intent\",bin=\"refuse\"}";
    assert!(metrics.contains(line), "{metrics}");
    world.end().await;
}

/// A repeated request is one request, and what is counted stays counted over a restart.
#[tokio::test]
async fn nothing_is_counted_twice() {
    let mut world = World::dev().await;
    let keyed = world.agent().header("idempotency-key", "once");
    for _ in 0..3 {
        keyed.post(ASKS, with(approval(), saying("plan", 0.5, json!({})))).await.is(201);
    }
    counted(&world.human(), "", 1, 0).await;
    world.restart().await;
    asked(&world.agent(), approval()).await;
    let told = counted(&world.human(), "", 2, 0).await;
    assert_eq!(told["intents"], json!([{ "intent": "plan", "n": 1 }]));
    world.end().await;
}

/// People see their projects and administrators all; an agent key sees what it may read. Whatever
/// else there is, is not there.
#[tokio::test]
async fn everybody_sees_what_is_theirs() {
    let world = World::dev().await;
    for agent in [world.agent(), world.agent_2()] {
        asked(&agent, approval()).await;
    }
    counted(&world.human(), "", 2, 0).await;
    counted(&world.human(), "?project=dev2", 1, 0).await;
    counted(&world.human(), "?agent=agent_dev", 1, 0).await;
    for (client, own, other) in [
        (world.member(), "dev", "dev2"),
        (world.agent(), "dev", "dev2"),
        (world.agent_2(), "dev2", "dev"),
    ] {
        assert_eq!(client.get(INSIGHTS).await.is(200)["asks"], 1, "{own}");
        let seen = client.get(&format!("{INSIGHTS}?project={own}")).await.is(200);
        assert_eq!((&seen["asks"], &seen["project"]), (&json!(1), &json!(own)));
        client.get(&format!("{INSIGHTS}?project={other}")).await.problem(404, "not-found");
    }
    world.member().get(&format!("{INSIGHTS}?agent=agent_dev_2")).await.problem(404, "not-found");
    let member = world.member().get(INSIGHTS).await.is(200);
    assert_eq!(member["agents"].as_array().unwrap().len(), 0, "nothing ended yet");
    let browser = signed_in(&world).await.client;
    let page = browser.get("/insights?project=nowhere").await.is(200);
    assert!(page.text.contains("see such a project or agent."));
    world.end().await;
}

#[tokio::test]
async fn days_and_names_are_checked() {
    let world = World::dev().await;
    let human = world.human();
    for (query, status, field) in [
        ("?from=tomorrow", 400, "from"),
        ("?to=2026-02-30", 400, "to"),
        ("?project=a%20b", 400, "project"),
        ("?agent=%00", 400, "agent"),
        ("?people=ada", 400, "people"),
        ("?from=2026-03-02&to=2026-03-01", 422, "from"),
        ("?from=2020-01-01&to=2026-03-01", 422, "from"),
        ("?from=-009999-01-01", 400, "from"),
    ] {
        let refused = human.get(&format!("{INSIGHTS}{query}")).await;
        let refused = refused.problem(status, "invalid-field");
        assert_eq!(refused["errors"][0]["field"], field, "{query}");
    }
    let told = human.get(&format!("{INSIGHTS}?from=2026-02-28&to=2026-03-01")).await.is(200);
    assert_eq!(told["days"].as_array().unwrap().len(), 2);
    assert_eq!(human.get(INSIGHTS).await.is(200)["days"].as_array().unwrap().len(), 30);
    world.end().await;
}

/// Each day is its own, and what an agent claims is held against what people did from twenty
/// decisions on.
#[tokio::test]
async fn claims_are_compared_after_twenty_decisions() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let decide = async |answer: Value| {
        let path = asked(&agent, with(approval(), saying("decide", 0.95, json!({})))).await;
        human.post(&format!("{path}/answer"), answer).await.is(200);
    };
    for n in 0..19 {
        decide(if n < 5 { no() } else { yes() }).await;
    }
    let few = counted(&human, "", 19, 19).await;
    assert_eq!(few["calibration"], json!({ "decisions": 19, "bins": null }));
    let page = signed_in(&world).await.client.get("/insights?days=7").await.is(200);
    assert!(page.text.contains("from 20 decisions on; there are 19 so far"), "{}", page.text);
    world.advance(DAY);
    decide(yes()).await;
    let enough = counted(&human, "", 20, 20).await;
    let bins = &enough["calibration"]["bins"];
    let last = json!({ "from": 0.9, "to": 1.0, "decisions": 20, "overruled": 5 });
    assert_eq!(bins[9], last);
    assert_eq!(enough["agents"][0]["calibration"]["bins"][9], last);
    let today = counted(&human, "?from=2026-03-02", 1, 1).await;
    assert_eq!(today["calibration"], json!({ "decisions": 1, "bins": null }));
    world.end().await;
}

/// Counts go when they are old enough, where somebody says so; what was counted since stays.
#[tokio::test]
async fn old_counts_go() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    asked(&agent, approval()).await;
    let today = || Day::of(world.gateway().now()).number();
    let first = today();
    let about = |day: i64| {
        let (from, to) = (Day::from_number(day - 2), Day::from_number(day + 2));
        format!("?from={from}&to={to}")
    };
    counted(&human, &about(first), 1, 0).await;
    world.advance(400 * DAY);
    asked(&agent, approval()).await;
    counted(&human, &about(today()), 1, 0).await;
    counted(&human, &about(first), 1, 0).await;
    let before = Day::from_number(today() - 365);
    retention::delete_old_counts(world.gateway().store(), before).await.unwrap();
    counted(&human, &about(first), 0, 0).await;
    counted(&human, &about(today()), 1, 0).await;
    world.end().await;
}
