//! Server-sent events: everything that happens, in order, once, to those whom it concerns.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use server::config::Settings;
use tokio::task::JoinSet;

use crate::client::{Client, Reply};
use crate::native::{ASKS, approval, asked, yes};
use crate::world::{World, dev, eventually, soon};

const EVENTS: &str = "/api/v1/events";

/// A stream that is open.
pub(crate) struct Events {
    response: reqwest::Response,
    text: String,
}

/// One frame of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Frame {
    pub(crate) id: u64,
    pub(crate) event: String,
    pub(crate) data: Value,
}

impl Events {
    pub(crate) async fn open(client: &Client, path: &str) -> Self {
        let response = client.request(Method::GET, path).send().await.unwrap();
        let status = response.status();
        assert!(status == 200, "{status}: {}", response.text().await.unwrap());
        let kind = response.headers()["content-type"].to_str().unwrap();
        assert_eq!(kind, "text/event-stream");
        assert_eq!(response.headers()["cache-control"], "no-store");
        Self { response, text: String::new() }
    }

    /// Resumes after an event.
    pub(crate) async fn after(client: &Client, id: u64) -> Self {
        Self::open(&client.clone().header("last-event-id", &id.to_string()), EVENTS).await
    }

    /// The next block of lines; `None` at the end.
    pub(crate) async fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                return Some(block);
            }
            let chunk = soon("a piece of the stream", self.response.chunk()).await.unwrap()?;
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// The next frame; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Frame> {
        loop {
            let block = self.block().await?;
            if block.starts_with(':') {
                continue;
            }
            let field = |name: &str| {
                let line = block.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
                line.unwrap_or_default().to_owned()
            };
            return Some(Frame {
                id: field("id").parse().unwrap(),
                event: field("event"),
                data: serde_json::from_str(&field("data")).unwrap(),
            });
        }
    }

    /// The next frame, which must be this.
    pub(crate) async fn expect(&mut self, event: &str) -> Frame {
        let frame = self.next().await.unwrap_or_else(|| panic!("ended before {event}"));
        assert_eq!(frame.event, event, "{frame:?}");
        assert_eq!(frame.data["position"], frame.id);
        frame
    }

    pub(crate) async fn ended(&mut self) {
        assert_eq!(self.next().await, None);
    }
}

/// The story of one ask, to its agent: each event with the ask it led to.
#[tokio::test]
async fn an_agent_hears_of_its_asks_and_of_no_others() {
    let world = World::dev().await;
    let before = asked(&world.agent(), approval()).await;
    let mut events = Events::open(&world.agent(), EVENTS).await;
    let ready = events.expect("ready").await;
    let path = asked(&world.agent(), approval()).await;
    asked(&world.agent_2(), approval()).await;
    world.human().post(&format!("{path}/claim"), json!({})).await.is(200);
    world.advance(3);
    world.human().post(&format!("{path}/answer"), yes()).await.is(200);
    let first = events.expect("asked").await;
    assert!(first.id > ready.id);
    assert_eq!((&first.data["version"], &first.data["event"]), (&json!(1), &json!("asked")));
    assert_eq!(events.expect("claimed").await.data["version"], 2);
    let answered = events.expect("answered").await;
    let seen = world.agent().get(&path).await.is(200);
    assert_eq!(
        answered.data,
        json!({
            "position": answered.id, "event": "answered", "at": "2026-03-01T09:00:03.000Z",
            "version": 3, "ask": seen.json,
        })
    );
    // What was there before the stream began is not told; what happens to it is.
    world.agent().post(&format!("{before}/cancel"), json!({})).await.is(200);
    let cancelled = events.expect("cancelled").await;
    assert_eq!(cancelled.data["ask"]["result"]["outcome"], "cancelled");
    world.end().await;
}

/// From any event on, by header or by query, nothing is left out and nothing comes twice.
#[tokio::test]
async fn a_stream_resumes_exactly() {
    let world = World::dev().await;
    let mut events = Events::open(&world.agent(), EVENTS).await;
    let ready = events.expect("ready").await;
    for _ in 0..3 {
        let path = asked(&world.agent(), approval()).await;
        asked(&world.agent_2(), approval()).await;
        world.human().post(&format!("{path}/answer"), yes()).await.is(200);
    }
    let mut whole = vec![ready];
    for _ in 0..6 {
        whole.push(events.next().await.unwrap());
    }
    for (n, left) in whole.iter().enumerate() {
        let mut again = Events::after(&world.agent(), left.id).await;
        assert_eq!(again.expect("ready").await.id, left.id);
        for frame in &whole[n + 1..] {
            let found = again.next().await.unwrap();
            assert_eq!((found.id, &found.event), (frame.id, &frame.event));
            assert_eq!(found.data["version"], frame.data["version"]);
        }
        let query = format!("{EVENTS}?after={}", left.id);
        assert_eq!(Events::open(&world.agent(), &query).await.expect("ready").await.id, left.id);
    }
    // From a position nobody has been at, there is only one way on.
    let last = world.gateway().store().last_position().await.unwrap();
    let mut lost = Events::after(&world.agent(), last + 1).await;
    assert_eq!(lost.expect("ready").await.id, last);
    assert_eq!(lost.expect("reset").await.id, last);
    for (header, query, field) in
        [("x", "", "Last-Event-ID"), ("-1", "", "Last-Event-ID"), ("", "?after=x", "after")]
    {
        let caller = world.agent().header("last-event-id", header);
        let refused = caller.get(&format!("{EVENTS}{query}")).await.problem(400, "invalid-field");
        assert_eq!(refused["errors"][0]["field"], field);
    }
    world.end().await;
}

/// Many write, and the reader breaks off again and again, also over a restart of the server.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_between_two_connections() {
    let mut world = World::dev().await;
    let mut told: Vec<(u64, String)> = Vec::new();
    let mut last = world.gateway().store().last_position().await.unwrap();
    let start = last;
    for round in 0..3 {
        let mut writers = JoinSet::new();
        for n in 0..30 {
            let agent = if n % 3 == 0 { world.agent_2() } else { world.agent() };
            let human = world.human();
            writers.spawn(async move {
                let path = asked(&agent, approval()).await;
                human.post(&format!("{path}/answer"), yes()).await.is(200);
            });
        }
        let wanted = (round + 1) * 40;
        while told.len() < wanted {
            let mut events = Events::after(&world.agent(), last).await;
            assert_eq!(events.expect("ready").await.id, last);
            for _ in 0..7_usize.min(wanted - told.len()) {
                let frame = events.next().await.unwrap();
                last = frame.id;
                told.push((frame.id, frame.event));
            }
        }
        writers.join_all().await;
        world.restart().await;
    }
    let store = world.gateway().store();
    let kept = store
        .changes(store::FeedQuery::Agents(vec!["agent_dev".parse().unwrap()], start), 1000)
        .await
        .unwrap();
    let kept: Vec<_> = kept.into_iter().map(|change| (change.position, change.what)).collect();
    assert_eq!(told, kept);
    world.end().await;
}

/// A key that sees its project hears of all its agents, also of one that comes later.
#[tokio::test]
async fn a_project_wide_key_hears_of_every_agent() {
    let world = World::dev().await;
    let admin = world.human();
    let body = json!({ "agent": "agent_dev", "reach": "project" });
    let issued = admin.post("/api/v1/keys", body).await.is(201);
    let wide = world.bearer(issued["secret"].as_str().unwrap());
    let mut events = Events::open(&wide, EVENTS).await;
    let ready = events.expect("ready").await;
    asked(&world.agent_2(), approval()).await;
    asked(&world.agent(), approval()).await;
    assert_eq!(events.expect("asked").await.data["ask"]["agent"], "agent_dev");
    world.add_agent("late", "dev", "user_dev").await;
    let issued = admin.post("/api/v1/keys", json!({ "agent": "late" })).await.is(201);
    let late = world.bearer(issued["secret"].as_str().unwrap());
    asked(&late, approval()).await;
    assert_eq!(events.expect("asked").await.data["ask"]["agent"], "late");
    let mut own = Events::after(&late, ready.id).await;
    own.expect("ready").await;
    assert_eq!(own.expect("asked").await.data["ask"]["agent"], "late");
    let mut again = Events::after(&wide, ready.id).await;
    again.expect("ready").await;
    let agents = [again.expect("asked").await, again.expect("asked").await];
    let agents = agents.map(|frame| frame.data["ask"]["agent"].clone());
    assert_eq!(agents, [json!("agent_dev"), json!("late")]);
    world.end().await;
}

/// People hear of what they may see: theirs, what they were handed, what their pool holds.
#[tokio::test]
async fn people_hear_of_what_they_may_see() {
    let world = World::dev().await;
    let mut owner = Events::open(&world.human(), EVENTS).await;
    let mut member = Events::open(&world.member(), EVENTS).await;
    owner.expect("ready").await;
    let ready = member.expect("ready").await;
    let path = asked(&world.agent(), approval()).await;
    owner.expect("asked").await;
    world.human().post(&format!("{path}/assign"), json!({ "to": "user_dev_2" })).await.is(200);
    owner.expect("assigned").await;
    let handed = member.expect("assigned").await;
    assert_eq!(handed.data["ask"]["id"], path.rsplit_once('/').unwrap().1);
    // A pool with tags this person does not know.
    let pooled = |tags: Value| {
        json!({ "question": { "prompt": "Deploy?", "kind": "approve" },
                "route": { "to": "pool" }, "tags": tags })
    };
    asked(&world.agent(), pooled(json!(["law"]))).await;
    let open = asked(&world.agent(), pooled(json!([]))).await;
    let heard = member.expect("asked").await;
    assert_eq!(heard.data["ask"]["id"], open.rsplit_once('/').unwrap().1);
    // Who was away cannot be told what happened, only that something did.
    let mut late = Events::after(&world.member(), ready.id).await;
    let now = late.expect("ready").await;
    assert_eq!(late.expect("reset").await.id, now.id);
    let mut same = Events::after(&world.member(), now.id).await;
    same.expect("ready").await;
    asked(&world.agent(), pooled(json!([]))).await;
    same.expect("asked").await;
    late.expect("asked").await;
    world.end().await;
}

/// Whoever enters a pool is told to look at what is in it, and hears of it from then on.
#[tokio::test]
async fn new_lists_are_looked_at_first() {
    let world = World::dev().await;
    let mut member = Events::open(&world.member(), EVENTS).await;
    member.expect("ready").await;
    let pooled = json!({ "question": { "prompt": "Deploy?", "kind": "approve" },
                         "route": { "to": "pool", "group": "ops" } });
    world.add_to_group("user_dev_2", "ops").await;
    member.expect("reset").await;
    asked(&world.agent(), pooled).await;
    member.expect("asked").await;
    world.end().await;
}

/// A key that is revoked and a person who may no longer sign in hear no more, at once.
#[tokio::test]
async fn streams_end_with_the_credential() {
    let world = World::dev().await;
    let admin = world.human();
    let issue = async |body: Value| {
        let issued = admin.post("/api/v1/keys", body).await.is(201);
        let id = issued["id"].as_str().unwrap().to_owned();
        (world.bearer(issued["secret"].as_str().unwrap()), id)
    };
    let path = asked(&world.agent(), approval()).await;
    let of_ask = format!("{path}/events");
    let (agent, agent_key) = issue(json!({ "agent": "agent_dev" })).await;
    let (person, token) = issue(json!({ "human": "user_dev" })).await;
    for (who, key) in [(&agent, agent_key), (&person, token)] {
        let mut all = Events::open(who, EVENTS).await;
        let mut one = Events::open(who, &of_ask).await;
        all.expect("ready").await;
        one.expect("asked").await;
        admin.delete(&format!("/api/v1/keys/{key}")).await.is(204);
        all.ended().await;
        one.ended().await;
        who.get(EVENTS).await.problem(401, "unauthorized");
    }
    let mut member = Events::open(&world.member(), EVENTS).await;
    member.expect("ready").await;
    world.deactivate("user_dev_2").await;
    member.ended().await;
    eventually("nobody listening", async || world.gateway().wake().is_empty()).await;
    world.end().await;
}

/// One ask from where it stands to its end.
#[tokio::test]
async fn one_ask_is_followed_to_its_end() {
    let world = World::dev().await;
    let path = asked(&world.agent(), approval()).await;
    let of_ask = format!("{path}/events");
    world.human().post(&format!("{path}/claim"), json!({})).await.is(200);
    let mut agent = Events::open(&world.agent(), &of_ask).await;
    let now = agent.expect("claimed").await;
    let seen = world.agent().get(&path).await.is(200).json;
    assert_eq!((&now.data["version"], &now.data["ask"]), (&json!(2), &seen));
    let mut human = Events::open(&world.human(), &of_ask).await;
    human.expect("claimed").await;
    world.human().post(&format!("{path}/assign"), json!({ "to": "user_dev_2" })).await.is(200);
    agent.expect("assigned").await;
    human.expect("assigned").await;
    let mut member = Events::open(&world.member(), &of_ask).await;
    member.expect("assigned").await;
    world.human().post(&format!("{path}/answer"), yes()).await.is(200);
    let mut end = 0;
    for events in [&mut agent, &mut human, &mut member] {
        let answered = events.expect("answered").await;
        assert_eq!(answered.data["ask"]["result"]["answer"]["verdict"], "approved");
        end = answered.id;
        events.ended().await;
    }
    // Whoever comes later is told how it ended; whoever knows is told not to come back.
    let mut late = Events::open(&world.agent(), &of_ask).await;
    late.expect("answered").await;
    late.ended().await;
    let knows = world.agent().header("last-event-id", &end.to_string());
    knows.get(&of_ask).await.is(204);
    world.agent_2().get(&of_ask).await.problem(404, "not-found");
    world.agent().get(&format!("{ASKS}/ask_x/events")).await.problem(404, "not-found");
    world.end().await;
}

/// Time that runs out ends a stream too, and whoever looks late sees it the same way.
#[tokio::test]
async fn a_deadline_ends_the_stream() {
    let world = World::dev().await;
    let timed = json!({
        "question": { "prompt": "Deploy?", "kind": "approve" },
        "timeout_seconds": 5, "on_expiry": "fail",
    });
    let path = asked(&world.agent(), timed).await;
    let mut events = Events::open(&world.agent(), &format!("{path}/events")).await;
    events.expect("asked").await;
    world.advance(5);
    world.run_timers().await;
    let failed = events.expect("failed").await;
    assert_eq!(failed.data["ask"]["state"], "failed");
    events.ended().await;
    world.end().await;
}

/// Streams of both kinds count together, for each key by itself.
#[tokio::test]
async fn one_key_has_only_so_many_streams() {
    let world = World::with(Settings { stream_limit: Some(2), ..dev() }).await;
    let path = asked(&world.agent(), approval()).await;
    let mut one = Events::open(&world.agent(), EVENTS).await;
    let two = Events::open(&world.agent(), &format!("{path}/events")).await;
    let refused = world.agent().get(EVENTS).await.problem(429, "too-many-streams");
    assert_eq!(refused.header("retry-after"), "5");
    let id = path.rsplit_once('_').unwrap().1;
    let socket = world
        .agent()
        .header("connection", "upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
    let upgrade = || socket.request(Method::GET, &format!("/hxp/ws/hxp_{id}"));
    Reply::of(upgrade()).await.error(429, "rate_limited");
    Events::open(&world.agent_2(), EVENTS).await.expect("ready").await;
    one.expect("ready").await;
    drop(two);
    // The server notices when it next writes: something happens.
    asked(&world.agent(), approval()).await;
    world.human().post(&format!("{path}/claim"), json!({})).await.is(200);
    eventually("a free place", async || {
        upgrade().send().await.unwrap().status() == reqwest::StatusCode::SWITCHING_PROTOCOLS
    })
    .await;
    world.end().await;
}

/// A server that stops does not wait for those who listen.
#[tokio::test]
async fn streams_end_when_the_server_stops() {
    let mut world = World::dev().await;
    let path = asked(&world.agent(), approval()).await;
    let mut open = Vec::new();
    for (who, address) in [
        (world.agent(), EVENTS.to_owned()),
        (world.human(), EVENTS.to_owned()),
        (world.agent(), format!("{path}/events")),
    ] {
        let mut events = Events::open(&who, &address).await;
        events.next().await.unwrap();
        open.push(events);
    }
    let begun = std::time::Instant::now();
    world.stop().await;
    let took = begun.elapsed();
    for events in &mut open {
        events.ended().await;
    }
    assert!(took.as_secs() < 8, "stopping took {took:?}");
    world.start().await;
    world.end().await;
}

/// A comment every fifteen seconds.
#[tokio::test]
async fn an_idle_stream_shows_that_it_lives() {
    let world = World::dev().await;
    let mut events = Events::open(&world.agent(), EVENTS).await;
    let first = events.block().await.unwrap();
    assert!(first.starts_with("retry: 2000\nid: "), "{first}");
    let passing = async {
        loop {
            tokio::time::pause();
            tokio::time::advance(Duration::from_secs(15)).await;
            tokio::time::resume();
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::select! {
        piece = events.response.chunk() => assert_eq!(piece.unwrap().unwrap(), ":\n\n"),
        () = passing => {}
    }
    world.end().await;
}
