//! A server that dies with messages to people on their way: everybody is told of everything that
//! was acknowledged, and what a platform had taken comes again under the same id, or not at all
//! once that was noted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::agent::{AGENT, Caller, HUMAN, until};
use super::support::Server;
use super::test_storage::Place;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// What the platform does with a call.
#[derive(Clone, Copy, PartialEq)]
enum Mood {
    /// Takes it.
    Takes,
    /// Is down.
    Down,
    /// Takes it, and its answer never comes.
    Mute,
}

/// What it was told, by kind: the id of each message, and about which words.
struct Platform {
    mood: Mood,
    told: Vec<(String, String, String)>,
}

type Shared = Arc<Mutex<Platform>>;

fn held(platform: &Shared) -> MutexGuard<'_, Platform> {
    platform.lock().unwrap()
}

async fn hear(State(platform): State<Shared>, body: Bytes) -> StatusCode {
    let body: Value = serde_json::from_slice(&body).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mood = {
        let mut platform = held(&platform);
        if platform.mood != Mood::Down {
            let told = (text(&body["type"]), text(&body["id"]), text(&body["card"]["words"]));
            platform.told.push(told);
        }
        platform.mood
    };
    match mood {
        Mood::Takes => StatusCode::NO_CONTENT,
        Mood::Down => StatusCode::SERVICE_UNAVAILABLE,
        Mood::Mute => std::future::pending().await,
    }
}

/// A platform on loopback, and how to set it up.
struct Stand {
    platform: Shared,
    url: String,
    _serving: JoinSet<()>,
}

impl Stand {
    async fn open(mood: Mood) -> Self {
        let platform = Arc::new(Mutex::new(Platform { mood, told: Vec::new() }));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/told", listener.local_addr().unwrap());
        let app = Router::new().route("/told", post(hear)).with_state(Arc::clone(&platform));
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { platform, url, _serving: serving }
    }

    /// A server that tells people here.
    fn serve(&self, place: &Place) -> Server {
        let settings = ["--channel-webhook-url", &self.url, "--channel-webhook-secret", SECRET];
        Server::start(place.serve().arg("--dev").args(settings))
    }

    fn is(&self, mood: Mood) {
        held(&self.platform).mood = mood;
    }

    /// How often each message was told, by its id.
    fn told(&self, kind: &str) -> BTreeMap<String, usize> {
        let mut times = BTreeMap::new();
        for (what, id, _) in &held(&self.platform).told {
            if what == kind {
                *times.entry(id.clone()).or_default() += 1;
            }
        }
        times
    }

    /// The words people were asked.
    fn words(&self) -> BTreeSet<String> {
        let platform = held(&self.platform);
        let asked = platform.told.iter().filter(|(kind, ..)| kind == "asked");
        asked.map(|(_, _, words)| words.clone()).collect()
    }
}

/// Asks where the agent wants it put; the address of the ask.
async fn ask(caller: &Caller, words: &str) -> Option<String> {
    let body = json!({
        "question": { "kind": "approve", "prompt": words }, "place": { "to": "webhook:desk" },
    });
    let (status, made) = caller.post("/api/v1/asks", AGENT, &body).await.ok()?;
    (status == 201).then(|| format!("/api/v1/asks/{}", made["id"].as_str().unwrap()))
}

/// Time passes on the server's clock.
async fn pass(caller: &Caller, time: &str) {
    let (status, _) =
        caller.post("/api/v1/dev/clock", AGENT, &json!({ "advance": time })).await.unwrap();
    assert!(status < 300, "{status}");
}

async fn state_of(caller: &Caller, ask: &str) -> Value {
    let (_, seen) = caller.get(&format!("{ask}/messages"), HUMAN).await.unwrap();
    seen["messages"][0]["state"].clone()
}

/// Committed, and the platform was down: it is told once it is back, once.
async fn before_the_delivery(place: Place) {
    let stand = Stand::open(Mood::Down).await;
    let server = stand.serve(&place);
    let caller = Caller::of(&server);
    let asked = ask(&caller, "Deploy?").await.unwrap();
    until("a try", async || state_of(&caller, &asked).await == "waiting").await;
    server.kill();
    assert_eq!(stand.words().len(), 0);

    stand.is(Mood::Takes);
    let server = stand.serve(&place);
    let caller = Caller::of(&server);
    pass(&caller, "61s").await;
    until("it is told", async || state_of(&caller, &asked).await == "sent").await;
    until("nothing waits", async || caller.measured("countersign_outbox_waiting").await == 0).await;
    assert_eq!(stand.told("asked").into_values().collect::<Vec<_>>(), [1]);
    server.stop();
    place.sound().await;
}

/// Taken, and the server died before it could note so: told again under the same id. Noted, and it
/// died: not told again. That it is over is said once it is.
async fn after_the_delivery(place: Place) {
    let stand = Stand::open(Mood::Mute).await;
    let server = stand.serve(&place);
    let asked = ask(&Caller::of(&server), "Deploy?").await.unwrap();
    until("it is taken", async || stand.told("asked").len() == 1).await;
    server.kill();

    stand.is(Mood::Takes);
    let server = stand.serve(&place);
    let caller = Caller::of(&server);
    pass(&caller, "61s").await;
    until("it is noted", async || state_of(&caller, &asked).await == "sent").await;
    assert_eq!(stand.told("asked").into_values().collect::<Vec<_>>(), [2], "under one id");
    server.kill();

    let server = stand.serve(&place);
    let caller = Caller::of(&server);
    pass(&caller, "200s").await;
    until("nothing waits", async || caller.measured("countersign_outbox_waiting").await == 0).await;
    assert_eq!(stand.told("asked").into_values().collect::<Vec<_>>(), [2], "and no more");
    let yes = json!({ "answer": { "verdict": "approved" } });
    caller.post(&format!("{asked}/answer"), HUMAN, &yes).await.unwrap();
    until("it says so", async || stand.told("updated").len() == 1).await;
    until("nothing waits", async || caller.measured("countersign_outbox_waiting").await == 0).await;
    assert_eq!(
        stand.told("updated"),
        BTreeMap::from([(stand.told("asked").into_keys().next().unwrap(), 1)])
    );
    server.stop();
    place.sound().await;
}

/// Many at once, and the server dies among them: everything that was acknowledged is told, each
/// under one id.
async fn among_many(place: Place) {
    let stand = Stand::open(Mood::Takes).await;
    let server = stand.serve(&place);
    let mut asking = JoinSet::new();
    for n in 0..8 {
        let caller = Caller::of(&server);
        asking.spawn(async move {
            let mut asked = Vec::new();
            loop {
                let words = format!("Deploy {n}.{}?", asked.len());
                match ask(&caller, &words).await {
                    Some(_) => asked.push(words),
                    None => return asked,
                }
            }
        });
    }
    until("people are told", async || stand.words().len() > 20).await;
    server.kill();
    let asked: BTreeSet<String> = asking.join_all().await.into_iter().flatten().collect();

    let server = stand.serve(&place);
    let caller = Caller::of(&server);
    pass(&caller, "61s").await;
    until("everything was told", async || asked.is_subset(&stand.words())).await;
    until("nothing waits", async || caller.measured("countersign_outbox_waiting").await == 0).await;
    assert_eq!(caller.measured("countersign_outbox_dead").await, 0);
    let ids: usize = stand.told("asked").len();
    assert_eq!(ids, stand.words().len(), "a message has one id, however often it is told");
    server.stop();
    place.sound().await;
}

macro_rules! on_both {
    ($($story:ident: $alone:ident, $shared:ident;)*) => { $(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $alone() {
            $story(Place::sqlite()).await;
        }

        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $shared() {
            if let Some(place) = Place::postgres().await {
                $story(place).await;
            }
        }
    )* };
}

on_both! {
    before_the_delivery: what_was_asked_before_a_kill_is_told_after_it, what_was_asked_before_a_node_died_is_told_after_it;
    after_the_delivery: what_was_told_before_a_kill_is_told_under_one_id, what_was_told_before_a_node_died_is_told_under_one_id;
    among_many: messages_outlive_a_killed_server, messages_outlive_a_killed_node;
}
