//! The clients of a run: each repeats the actions of a real client and records the responses.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::client::{AGENT, CallResult, NodeClient, OWNER, PEOPLE, reply};
use crate::observations::{ObservationKind, ObservationLog};
use crate::random::SeededRandom;
use crate::tasks::DrivenTask;

/// The number of clients that create asks and have them answered. There is one of each other kind.
const CREATORS: usize = 4;
const OBSERVERS: usize = 2;
/// The number of people who answer the same ask concurrently.
const RACING: usize = 3;
/// The longest pause between two rounds of one client.
const PAUSE: Duration = Duration::from_millis(40);
/// The largest upload.
const LARGEST: u64 = 200_000;

/// The clients and their shared state.
#[derive(Clone)]
pub struct ClientLoad {
    bases: Vec<String>,
    history: ObservationLog,
    asks: Arc<Mutex<Vec<String>>>,
    stop: CancellationToken,
}

impl ClientLoad {
    /// Clients of these base URLs.
    pub fn new(bases: Vec<String>, history: ObservationLog) -> Self {
        Self { bases, history, asks: Arc::default(), stop: CancellationToken::new() }
    }

    /// Starts all clients. They end soon after [`ClientLoad::stop`].
    pub fn start(&self, dice: &mut SeededRandom) -> anyhow::Result<JoinSet<()>> {
        let mut clients = JoinSet::new();
        let mut number = 0;
        let mut client = |dice: &mut SeededRandom| -> anyhow::Result<LoadClient> {
            number += 1;
            let caller = NodeClient::new(&self.bases, number)?;
            Ok(LoadClient { load: self.clone(), caller, dice: dice.split(), number, rounds: 0 })
        };
        for _ in 0..CREATORS {
            let one = client(dice)?;
            clients.spawn(one.run(async |one: &mut LoadClient| one.ask().await));
        }
        for _ in 0..OBSERVERS {
            let one = client(dice)?;
            clients.spawn(one.run(async |one: &mut LoadClient| one.observe().await));
        }
        let one = client(dice)?;
        clients.spawn(one.run(async |one: &mut LoadClient| one.upload().await));
        let one = client(dice)?;
        clients.spawn(one.run(async |one: &mut LoadClient| one.task().await));
        Ok(clients)
    }

    /// Stops the clients.
    pub fn stop(&self) {
        self.stop.cancel();
    }
}

/// A single client.
struct LoadClient {
    load: ClientLoad,
    caller: NodeClient,
    dice: SeededRandom,
    /// The number of the client, which its observations carry.
    number: usize,
    rounds: u64,
}

impl LoadClient {
    async fn run(mut self, mut round: impl AsyncFnMut(&mut Self)) {
        while !self.stopped() {
            self.rounds += 1;
            round(&mut self).await;
            self.pause(Duration::ZERO).await;
        }
    }

    fn stopped(&self) -> bool {
        self.load.stop.is_cancelled()
    }

    fn note(&self, what: ObservationKind) {
        self.load.history.add(what);
    }

    /// Waits at least this long.
    async fn pause(&mut self, least: Duration) {
        let pause = self.dice.between(least, least + PAUSE);
        tokio::time::sleep(pause).await;
    }

    /// A name that is unique to this round of this client.
    fn name(&self, what: &str) -> String {
        format!("{what}-{}-{}", self.number, self.rounds)
    }

    /// Creates an ask, comments on it, and has people race to answer it.
    async fn ask(&mut self) {
        if self.dice.one_in(8) {
            self.ask_for_file().await;
            return;
        }
        let prompt = self.name("Deploy");
        let question = json!({ "kind": "approve", "prompt": prompt });
        let Some(ask) = self.create(prompt, question).await else { return };
        if self.dice.one_in(2) {
            self.comment(&ask).await;
        }
        // Some stay open, because unanswered asks must not be lost either.
        if self.dice.one_in(10) {
            return;
        }
        let mut attempt = 0;
        while !self.stopped() && !self.race(&ask, attempt).await {
            attempt += 1;
            self.pause(Duration::from_millis(50)).await;
        }
        self.receipt(&ask).await;
    }

    /// Repeats a create with its idempotency key until it is acknowledged.
    async fn create(&mut self, prompt: String, question: Value) -> Option<String> {
        let key = self.name("key");
        let body = json!({ "question": question, "route": { "to": "pool" } });
        while !self.stopped() {
            let request = self.caller.request(Method::POST, "/api/v1/asks", AGENT);
            let request = request.header("idempotency-key", &key).json(&body);
            match reply(request).await {
                CallResult::Done(ask) => {
                    let id = text(&ask, "/id");
                    let created = ObservationKind::Created { ask: id.clone(), key, prompt };
                    self.note(created);
                    self.seen(&id, &ask);
                    self.load.asks.lock().unwrap_or_else(PoisonError::into_inner).push(id.clone());
                    return Some(id);
                }
                CallResult::Unknown => self.pause(Duration::from_millis(50)).await,
                other => {
                    self.unexpected("create", &other);
                    return None;
                }
            }
        }
        None
    }

    /// People answer the same ask concurrently, at different nodes. Returns whether it is known
    /// to be answered.
    async fn race(&mut self, ask: &str, attempt: usize) -> bool {
        let path = format!("/api/v1/asks/{ask}/answer");
        let mut racing = JoinSet::new();
        for n in 0..RACING {
            let comment = format!("{}-{attempt}-{n}", self.name("answer"));
            let verdict = if self.dice.one_in(2) { "approved" } else { "rejected" };
            let body = json!({ "answer": { "verdict": verdict }, "comment": comment });
            let credential = PEOPLE.get(n % PEOPLE.len()).copied().unwrap_or_default();
            let request = self.caller.request(Method::POST, &path, credential).json(&body);
            self.note(ObservationKind::AnswerSent {
                ask: ask.to_owned(),
                comment: comment.clone(),
            });
            racing.spawn(async move { (comment, reply(request).await) });
        }
        let mut known = false;
        while let Some(done) = racing.join_next().await {
            let Ok((comment, reply)) = done else { continue };
            match reply {
                CallResult::Done(said) => {
                    self.note(ObservationKind::Answered { ask: ask.to_owned(), comment });
                    self.seen(ask, &said);
                    known = true;
                }
                CallResult::Conflict(_) => known = true,
                CallResult::Unknown => {}
                other => self.lost_or_unexpected("answer", ask, other),
            }
        }
        known
    }

    async fn comment(&mut self, ask: &str) {
        let text = self.name("comment");
        self.note(ObservationKind::CommentSent { ask: ask.to_owned(), text: text.clone() });
        let credential = self.dice.pick(&PEOPLE).copied().unwrap_or_default();
        let path = format!("/api/v1/asks/{ask}/comments");
        match self.caller.post(&path, credential, &json!({ "text": text })).await {
            CallResult::Done(said) => {
                self.note(ObservationKind::Commented { ask: ask.to_owned(), text });
                self.seen(ask, &said);
            }
            CallResult::Unknown | CallResult::Conflict(_) => {}
            other => self.lost_or_unexpected("comment", ask, other),
        }
    }

    /// Creates an ask that is answered with a file.
    async fn ask_for_file(&mut self) {
        let prompt = self.name("File");
        let form = json!({ "fields": [
            { "key": "file", "label": "File", "type": "file", "required": true }] });
        let question = json!({ "kind": "provide", "prompt": prompt, "form": form });
        let Some(ask) = self.create(prompt, question).await else { return };
        let (bytes, sha256) = self.drawn();
        let path = format!("/api/v1/asks/{ask}/files?name=file.bin");
        let person = OWNER;
        let file = loop {
            let request = self.caller.request(Method::POST, &path, person);
            let request = request.header("content-type", "application/octet-stream");
            match reply(request.body(bytes.clone())).await {
                CallResult::Done(file) => break file,
                CallResult::Unknown if !self.stopped() => {
                    self.pause(Duration::from_millis(50)).await;
                }
                CallResult::Unknown => return,
                other => return self.lost_or_unexpected("a file for an ask", &ask, other),
            }
        };
        let comment = self.name("answer");
        self.note(ObservationKind::AnswerSent { ask: ask.clone(), comment: comment.clone() });
        let answer = json!({ "verdict": "provided", "values": { "file": file } });
        let body = json!({ "answer": answer, "comment": comment });
        match self.caller.post(&format!("/api/v1/asks/{ask}/answer"), person, &body).await {
            CallResult::Done(said) => {
                self.note(ObservationKind::Answered { ask: ask.clone(), comment });
                let path = format!("/api/v1/asks/{ask}/files/{sha256}");
                self.note(ObservationKind::Uploaded { path, sha256 });
                self.seen(&ask, &said);
                self.receipt(&ask).await;
            }
            CallResult::Unknown => {}
            other => self.lost_or_unexpected("answer with a file", &ask, other),
        }
    }

    /// Reads an acknowledged ask of any client. Half of the time it is a recent one.
    async fn observe(&mut self) {
        let ask = {
            let asks = self.load.asks.lock().unwrap_or_else(PoisonError::into_inner);
            let from = if self.dice.one_in(2) { asks.len().saturating_sub(20) } else { 0 };
            self.dice.pick(asks.get(from..).unwrap_or_default()).cloned()
        };
        let Some(ask) = ask else { return };
        match self.caller.get(&format!("/api/v1/asks/{ask}"), AGENT).await {
            CallResult::Done(said) => {
                self.seen(&ask, &said);
                if text(&said, "/state") == "completed" {
                    self.receipt(&ask).await;
                }
            }
            CallResult::Unknown => {}
            other => self.lost_or_unexpected("read", &ask, other),
        }
    }

    async fn receipt(&mut self, ask: &str) {
        match self.caller.bytes(&format!("/api/v1/asks/{ask}/receipt"), AGENT).await {
            Ok(bytes) => {
                let receipt = String::from_utf8_lossy(&bytes).into_owned();
                self.note(ObservationKind::Receipt { ask: ask.to_owned(), receipt });
            }
            // It was not answered: the round ended because the run did.
            Err(CallResult::Unknown | CallResult::Conflict(_)) => {}
            Err(other) => self.lost_or_unexpected("receipt", ask, other),
        }
    }

    /// Uploads bytes in one call.
    async fn upload(&mut self) {
        let (bytes, sha256) = self.drawn();
        let request = self.caller.request(Method::PUT, "/hacp/v1/uploads", AGENT).body(bytes);
        match reply(request).await {
            CallResult::Done(said) => {
                let path = format!("/hacp/v1/uploads/{}/content", text(&said, "/upload"));
                self.note(ObservationKind::Uploaded { path, sha256 });
            }
            CallResult::Unknown => {}
            other => self.unexpected("upload", &other),
        }
        self.pause(Duration::from_millis(100)).await;
    }

    /// Runs a task from its creation to its end.
    async fn task(&mut self) {
        let mut driven = DrivenTask::new(self.name("task"));
        while let Some((path, credential, body)) = driven.next() {
            if self.stopped() {
                return;
            }
            match self.caller.post(&path, credential, &body).await {
                CallResult::Done(said) => {
                    if let Some(action) = driven.acknowledged(&said) {
                        let task = driven.task.as_str().unwrap_or_default().to_owned();
                        let (name, action) = (driven.name.clone(), action.to_owned());
                        self.note(ObservationKind::TaskStep { name, task, action });
                    }
                }
                CallResult::Unknown => self.pause(Duration::from_millis(50)).await,
                other => {
                    let task = driven.task.as_str().unwrap_or_default().to_owned();
                    return self.lost_or_unexpected(&path, &task, other);
                }
            }
        }
    }

    fn drawn(&mut self) -> (Vec<u8>, String) {
        let length = self.dice.below(LARGEST);
        let bytes = self.dice.bytes(usize::try_from(length).unwrap_or(1));
        let sha256 = sha256(&bytes);
        (bytes, sha256)
    }

    fn seen(&self, ask: &str, said: &Value) {
        let Some(version) = said.get("version").and_then(Value::as_u64) else { return };
        let (ask, observer, state) = (ask.to_owned(), self.number, text(said, "/state"));
        self.note(ObservationKind::Seen { ask, observer, version, state });
    }

    fn lost_or_unexpected(&self, doing: &str, subject: &str, reply: CallResult) {
        match reply {
            CallResult::Missing(said) => {
                self.note(ObservationKind::Missing {
                    what: subject.to_owned(),
                    said: format!("{doing}: {said}"),
                });
            }
            other => self.unexpected(doing, &other),
        }
    }

    fn unexpected(&self, doing: &str, reply: &CallResult) {
        self.note(ObservationKind::Unexpected {
            doing: doing.to_owned(),
            said: format!("{reply:?}"),
        });
    }
}

/// The SHA-256 of some bytes, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// The text at a JSON pointer, or an empty one.
pub fn text(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}
