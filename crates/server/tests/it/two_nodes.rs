//! Two servers on one PostgreSQL database: what ends at one ends at the other.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use server::config::{SecretString, Settings};
use tokio::task::JoinSet;
use tokio_postgres::NoTls;

use crate::authenticator::{Authenticator, PasskeyForm, enrol, post, step_up};
use crate::client::Reply;
use crate::ended_streams::cut;
use crate::hacp;
use crate::hitl::{CASES, Case, approval as case};
use crate::native::{approval, asked};
use crate::pages::{Browser, signed_in};
use crate::streams::Events;
use crate::world::{World, dev, eventually, soon};

const MASTER_KEY: &str = "0f0e0d0c0b0a09080706050403020100f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";
/// Where people reach both nodes, so that a passkey of one is a passkey of the other.
const ORIGIN: &str = "http://localhost:7341";

/// Two nodes on a database of their own.
struct Nodes {
    one: World,
    other: World,
    /// The server the database is dropped from in the end, and its name.
    database: (String, String),
}

impl Nodes {
    /// Nothing if there is no server. Says so, and in CI there must be one.
    #[expect(clippy::disallowed_methods, reason = "tests have no other way to be told")]
    async fn start() -> Option<Self> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let Ok(server) = std::env::var("DATABASE_URL") else {
            let why = "DATABASE_URL names no PostgreSQL server";
            assert!(std::env::var("CI").as_deref() != Ok("true"), "{why}");
            eprintln!("skipped: {why}");
            return None;
        };
        let n = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("two_nodes_{}_{n}", std::process::id());
        run(&server, &format!("CREATE DATABASE {name}")).await;
        let (before, _) = server.rsplit_once('/').unwrap();
        let settings = Settings {
            database: Some(format!("{before}/{name}").parse().unwrap()),
            master_key: Some(SecretString::new(MASTER_KEY)),
            public_url: Some(ORIGIN.parse().unwrap()),
            sign_in_limit: Some(50),
            ..dev()
        };
        let one = World::with(settings.clone()).await;
        let other = World::with(settings).await;
        Some(Self { one, other, database: (server, name) })
    }

    async fn end(self) {
        self.other.end().await;
        self.one.end().await;
        let (server, name) = self.database;
        run(&server, &format!("DROP DATABASE {name} WITH (FORCE)")).await;
    }
}

/// Runs a statement on a connection of its own.
async fn run(url: &str, sql: &str) {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::select! {
        done = client.batch_execute(sql) => done.unwrap(),
        ended = connection => panic!("the connection ended: {ended:?}"),
    }
}

/// The same browser, at the other node.
fn at(world: &World, browser: &Browser) -> Browser {
    let (session, bound) = (browser.session.clone(), browser.bound.clone());
    let cookies = format!("countersign={session}; countersign-browser={bound}");
    Browser { client: world.anonymous().header("cookie", &cookies), session, bound }
}

/// An assertion that was used at one node is refused at the other, at once: to sign in, and to
/// confirm an answer.
#[tokio::test]
async fn an_assertion_is_not_replayed_at_another_node() {
    let Some(nodes) = Nodes::start().await else { return };
    let Nodes { one, other, .. } = &nodes;
    let browser = signed_in(one).await;
    let mut device = Authenticator::new(1);
    enrol(&browser, &mut device, ORIGIN).await.is(200);

    let door = one.anonymous().get("/sign-in").await.is(200);
    let cookie = door.header("set-cookie").split(';').next().unwrap().to_owned();
    let fields = device.fill(&PasskeyForm::of(&door).unwrap(), ORIGIN);
    let sign_in = async |world: &World| -> Reply {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(k, v)| (&**k, &**v)).collect();
        let visitor = world.anonymous().header("cookie", &cookie);
        visitor.post_form("/sign-in/passkey", &fields).await
    };
    sign_in(one).await.is(303);
    sign_in(other).await.is(401);
    sign_in(one).await.is(401);

    let strict = json!({
        "question": { "kind": "approve", "prompt": "Wire it?" }, "assurance": "passkey",
    });
    let path = asked(&one.agent(), strict).await;
    let id = path.rsplit('/').next().unwrap();
    let page = step_up(&browser, id).await.is(200);
    let fields = device.fill(&PasskeyForm::of(&page).unwrap(), ORIGIN);
    // Both nodes are given it at the same moment: one of them takes it.
    let confirm = format!("/asks/{id}/confirm");
    let there = at(other, &browser);
    let (here, elsewhere) =
        tokio::join!(post(&browser, &confirm, &fields), post(&there, &confirm, &fields));
    let mut statuses = [here.status, elsewhere.status];
    statuses.sort_unstable();
    assert_eq!(statuses[0], 303, "{statuses:?}");
    assert!(matches!(statuses[1], 403 | 409), "{statuses:?}");
    for again in [&there, &browser] {
        let refused = post(again, &confirm, &fields).await;
        assert!(matches!(refused.status, 403 | 409), "{}", refused.text);
    }
    let seen = other.agent().get(&path).await.is(200);
    assert_eq!(seen["result"]["assurance"], "passkey");
    nodes.end().await;
}

/// Every kind of stream at one node ends when its credential is ended at the other.
#[tokio::test]
async fn streams_end_with_a_credential_that_is_ended_at_another_node() {
    let Some(nodes) = Nodes::start().await else { return };
    let Nodes { one, other, .. } = &nodes;
    let (admin, near) = (one.human(), other.anonymous());
    let issued = async |body: Value| {
        let issued = admin.post("/api/v1/keys", body).await.is(201);
        let secret = issued["secret"].as_str().unwrap().to_owned();
        let client = near.clone().bearer(&secret);
        // The other node learns of it through the database.
        eventually("the key at the other node", async || {
            client.get("/api/v1/asks").await.status != 401
        })
        .await;
        (client, issued["id"].as_str().unwrap().to_owned())
    };
    let path = asked(&one.agent(), approval()).await;
    let id = path.rsplit('/').next().unwrap();
    let task = hacp::begun(one, json!({})).await;

    let (agent, key) = issued(json!({ "agent": "agent_dev" })).await;
    let made = agent.post(CASES, case()).await.is(202);
    let case = Case::of(other, &made);
    let mut open = Vec::new();
    for stream in ["/api/v1/events".to_owned(), format!("{path}/events"), case.at("events")] {
        open.push(Events::open(&agent, &stream).await);
    }
    open.push(Events::open(&agent, "/hacp/v1/events").await);
    open.push(Events::open(&near, &case.path("events_url")).await);
    let watch = format!("/review/{}/end?token={}", case.id, case.review_token());
    open.push(Events::open(&near, &watch).await);
    let waiting = agent.clone().header("prefer", "wait=60");
    let polled = path.clone();
    let mut poll = JoinSet::new();
    poll.spawn(async move { waiting.get(&polled).await });
    for stream in &mut open {
        stream.block().await.unwrap();
    }
    admin.delete(&format!("/api/v1/keys/{key}?tokens=end")).await.is(204);
    for stream in &mut open {
        cut(stream).await;
    }
    soon("the end of the poll", poll.join_next())
        .await
        .unwrap()
        .unwrap()
        .problem(401, "unauthorized");

    let browser = signed_in(one).await;
    let browser = at(other, &browser);
    eventually("the session at the other node", async || {
        browser.client.get("/").await.status == 200
    })
    .await;
    let mut open = Vec::new();
    for page in
        ["/inbox/live", "/tasks/live", &format!("/asks/{id}/end"), &format!("/tasks/{task}/live")]
    {
        open.push(Events::open(&browser.client, page).await);
    }
    for page in &mut open {
        page.block().await.unwrap();
    }
    admin.delete("/api/v1/people/user_dev/sessions").await.is(204);
    for page in &mut open {
        cut(page).await;
    }
    nodes.end().await;
}
