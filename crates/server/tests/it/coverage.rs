//! Promises held against the source: every route asks for a credential, every command leaves a
//! record.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use kernel::actor::Reach;
use kernel::ask::{CallbackResult, Dialect, Grant, Labels, Priority, Purpose, Route, Seat};
use kernel::audit::Digest;
use kernel::command::{NewAsk, Silence};
use kernel::directory::{
    Holder, NewAgent, NewGroup, NewHuman, NewKey, NewProject, NewRule, Profile, Step,
};
use kernel::question::{Answer, Body, Question, Reply};
use kernel::{Actor, AskId, Assurance, Command, RuleId, Via};
use reqwest::Method;
use server::web::paths;

use crate::client;
use crate::world::World;

/// Who may call.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Door {
    /// Anyone.
    Public,
    /// Whoever shows a credential; others get 401.
    Closed,
    /// Whoever shows none, with `--dev`; a wrong one gets 401 all the same.
    OpenInDev,
}
use Door::{Closed, OpenInDev, Public};

/// Every route with its method.
const ROUTES: &[(&str, &str, Door)] = &[
    ("get", "/hxp", Public),
    ("post", "/hxp/v1/requests", Closed),
    ("get", "/hxp/v1/requests", Closed),
    ("get", "/hxp/v1/requests/{id}", Closed),
    ("post", "/hxp/v1/requests/{id}/cancel", Closed),
    ("post", "/hxp/v1/requests/{id}/resolve", Closed),
    ("post", "/hxp/v1/requests/{id}/claim", Closed),
    ("get", "/hxp/v1/inbox", Closed),
    ("get", "/hxp/v1/delegation/rules", Closed),
    ("post", "/hxp/v1/delegation/rules", Closed),
    ("delete", "/hxp/v1/delegation/rules/{id}", Closed),
    ("post", "/hxp/v1/receipts/verify", Closed),
    ("get", "/hxp/v1/stats", OpenInDev),
    ("get", "/hxp/ws", Closed),
    ("get", "/hxp/ws/{id}", Closed),
    ("post", "/hitl/v1/cases", Closed),
    ("get", "/hitl/v1/callback-secret", Closed),
    ("get", "/hitl/v1/reviews/{id}/status", Closed),
    ("get", "/hitl/v1/reviews/{id}/events", Closed),
    ("post", "/hitl/v1/reviews/{id}/respond", Closed),
    ("post", "/hitl/v1/reviews/{id}/submit", Closed),
    ("post", "/hitl/v1/reviews/{id}/cancel", Closed),
    ("post", "/hitl/v1/reviews/{id}/files", Closed),
    ("get", "/hitl/v1/reviews/{id}/files/{digest}", Closed),
    ("get", "/.well-known/hitl.json", Public),
    ("get", "/skill.md", Public),
    ("post", "/api/demo", OpenInDev),
    ("post", "/api/v1/asks", Closed),
    ("get", "/api/v1/asks", Closed),
    ("get", "/api/v1/asks/count", Closed),
    ("post", "/api/v1/asks/answers", Closed),
    ("get", "/api/v1/history", Closed),
    ("get", "/api/v1/history/export", Closed),
    ("get", "/api/v1/search", Closed),
    ("put", "/api/v1/asks/{id}/snooze", Closed),
    ("delete", "/api/v1/asks/{id}/snooze", Closed),
    ("get", "/api/v1/snoozed", Closed),
    ("put", "/api/v1/asks/{id}/looking", Closed),
    ("delete", "/api/v1/asks/{id}/looking", Closed),
    ("get", "/api/v1/looking", Closed),
    ("get", "/api/v1/asks/{id}", Closed),
    ("post", "/api/v1/asks/{id}/answer", Closed),
    ("post", "/api/v1/asks/{id}/cancel", Closed),
    ("post", "/api/v1/asks/{id}/claim", Closed),
    ("post", "/api/v1/asks/{id}/assign", Closed),
    ("post", "/api/v1/asks/{id}/extend", Closed),
    ("get", "/api/v1/asks/{id}/thread", Closed),
    ("get", "/api/v1/asks/{id}/comments", Closed),
    ("post", "/api/v1/asks/{id}/comments", Closed),
    ("post", "/api/v1/asks/{id}/files", Closed),
    ("get", "/api/v1/asks/{id}/files/{digest}", Closed),
    ("get", "/api/v1/asks/{id}/callbacks", Closed),
    ("post", "/api/v1/asks/{id}/callbacks", Closed),
    ("post", "/api/v1/asks/{id}/acknowledge", Closed),
    ("post", "/api/v1/asks/{id}/erase", Closed),
    ("get", "/api/v1/asks/{id}/audit", Closed),
    ("get", "/api/v1/asks/{id}/audit/{seq}/proof", Closed),
    ("get", "/api/v1/audit/blocks", Closed),
    ("get", "/api/v1/audit/export", Closed),
    ("get", "/api/v1/asks/{id}/receipt", Closed),
    ("get", "/api/v1/asks/{id}/receipt/proof", Closed),
    ("post", "/api/v1/asks/{id}/revoke", Closed),
    // A receipt is its own credential, and anybody may learn which no longer count.
    ("post", "/api/v1/receipts/verify", Public),
    ("get", "/api/v1/receipts/revocations", Public),
    ("get", "/api/v1/asks/{id}/events", Closed),
    ("get", "/api/v1/events", Closed),
    ("get", "/api/v1/me", Closed),
    ("get", "/api/v1/projects", Closed),
    ("get", "/api/v1/projects/{id}", Closed),
    ("put", "/api/v1/projects/{id}", Closed),
    ("get", "/api/v1/agents", Closed),
    ("get", "/api/v1/agents/{id}", Closed),
    ("put", "/api/v1/agents/{id}", Closed),
    ("get", "/api/v1/people", Closed),
    ("get", "/api/v1/people/{id}", Closed),
    ("put", "/api/v1/people/{id}", Closed),
    ("get", "/api/v1/groups", Closed),
    ("get", "/api/v1/groups/{id}", Closed),
    ("put", "/api/v1/groups/{id}", Closed),
    ("get", "/api/v1/rules", Closed),
    ("post", "/api/v1/rules", Closed),
    ("delete", "/api/v1/rules/{id}", Closed),
    ("post", "/api/v1/people/{id}/link", Closed),
    ("get", "/api/v1/keys", Closed),
    ("post", "/api/v1/keys", Closed),
    ("get", "/api/v1/keys/{id}", Closed),
    ("delete", "/api/v1/keys/{id}", Closed),
    ("get", "/api/v1/dev/clock", Closed),
    ("post", "/api/v1/dev/clock", Closed),
    ("get", "/api/v1/dev/script", Closed),
    ("put", "/api/v1/dev/script", Closed),
    // The inbox shows strangers how to sign in, with 401.
    ("get", "/", Closed),
    ("get", "/asks/{id}", Closed),
    // These lead back to the question, whoever asks.
    ("get", "/asks/{id}/answer", Public),
    ("get", "/asks/{id}/claim", Public),
    ("get", "/asks/{id}/assign", Public),
    ("post", "/asks/{id}/answer", Closed),
    ("post", "/asks/{id}/claim", Closed),
    ("post", "/asks/{id}/assign", Closed),
    ("get", "/asks/{id}/comment", Public),
    ("get", "/asks/{id}/extend", Public),
    ("get", "/asks/{id}/snooze", Public),
    ("get", "/asks/{id}/looking", Public),
    ("post", "/asks/{id}/comment", Closed),
    ("post", "/asks/{id}/extend", Closed),
    ("post", "/asks/{id}/snooze", Closed),
    ("post", "/asks/{id}/looking", Closed),
    ("get", "/asks/{id}/end", Closed),
    ("get", "/asks/{id}/receipt", Closed),
    ("get", "/asks/{id}/files/{digest}", Closed),
    // The token in the link or in the form is the credential.
    ("get", "/review/{id}", Closed),
    ("post", "/review/{id}", Closed),
    ("get", "/review/{id}/end", Closed),
    // What comes back from a provider is its own credential, and only lies there.
    ("get", "/review/{id}/proof", Public),
    ("post", "/review/{id}/proof", Public),
    ("get", "/sign-in", Public),
    // The link in the form is the credential; without one it is 401.
    ("post", "/sign-in", Closed),
    ("post", "/sign-out", Closed),
    ("get", "/settings/tokens", Closed),
    ("post", "/settings/tokens", Closed),
    ("get", "/assets/{file}", Public),
    ("get", "/openapi.json", Public),
    ("get", "/docs", Public),
    ("get", "/healthz", Public),
    ("get", "/readyz", Public),
    ("get", "/metrics", Public),
    ("get", "/errors/{code}", Public),
    ("get", "/.well-known/jwks.json", Public),
];

/// HXPX-002, HXPX-003: without a credential, with a wrong one, with nonsense in the body.
#[tokio::test]
async fn every_route_asks_for_a_credential() {
    let world = World::dev().await;
    let id = world.agent().ask(client::approve("x")).await;
    for (method, pattern, door) in ROUTES {
        let own = match pattern.split('/').nth(1) {
            Some("hxp") => id.clone(),
            Some("hitl" | "review") => id.replace("hxp_", "review_"),
            _ => crate::routing::ask_id(&id),
        };
        let path = pattern
            .replace("{id}", &own)
            .replace("{seq}", "1")
            .replace("{digest}", &"0".repeat(64))
            .replace("{file}", "app.css")
            .replace("{code}", "not-found");
        let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
        let strangers = [
            world.anonymous(),
            world.bearer("nobody"),
            world.anonymous().header("cookie", "countersign=nobody"),
        ];
        for stranger in strangers {
            let request = stranger.request(method.clone(), &path).body("{");
            let reply = client::Reply::of(request).await;
            match door {
                OpenInDev => assert!(matches!(reply.status, 200 | 202 | 401), "{reply:?}"),
                Closed => assert_eq!(reply.status, 401, "{method} {path}: {}", reply.text),
                Public => {
                    // The body is nonsense, which may be said to anybody.
                    let fine = matches!(reply.status, 200 | 303 | 400 | 404);
                    assert!(fine, "{method} {path}: {reply:?}");
                }
            }
        }
    }
    assert_eq!(world.agent().poll(&id).await["status"], "pending");
    world.end().await;
}

#[test]
fn every_route_is_in_the_table() {
    let known: BTreeSet<(String, String)> =
        ROUTES.iter().map(|(method, path, _)| ((*method).to_owned(), (*path).to_owned())).collect();
    assert_eq!(known.len(), ROUTES.len(), "a route stands in the table twice");
    let mut found = BTreeSet::new();
    for file in sources(&source("http")) {
        found.extend(routes(&std::fs::read_to_string(file).unwrap()));
    }
    assert_eq!(found, known, "in the source on the left, in the table on the right");
}

/// The routes of the table below an address.
pub(crate) fn routes_under(prefix: &str) -> BTreeSet<(String, String)> {
    let under = ROUTES.iter().filter(|(_, path, _)| path.starts_with(prefix));
    under.map(|(method, path, _)| ((*method).to_owned(), (*path).to_owned())).collect()
}

/// Whether the table says that a route needs no credential.
pub(crate) fn is_public(method: &str, path: &str) -> bool {
    ROUTES.iter().any(|(of, at, kind)| (*of, *at) == (method, path) && matches!(kind, Public))
}

fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(path)
}

/// Every Rust file under a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|kind| kind == "rs"))
        .collect()
}

/// The methods and patterns of every `.route(…)` and of every described handler of a source file.
fn routes(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for handler in text.split("#[utoipa::path(").skip(1) {
        let (method, rest) = handler.split_once(',').unwrap();
        let path = rest.split("path = \"").nth(1).unwrap().split('"').next().unwrap();
        found.push((method.trim().to_owned(), path.to_owned()));
    }
    for call in text.split(".route(").skip(1) {
        let mut depth = 1;
        let end = call.find(|c| {
            depth += match c {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            depth == 0
        });
        let (pattern, handlers) = call[..end.unwrap()].split_once(',').unwrap();
        let pattern = match pattern.trim() {
            "paths::INBOX" => paths::INBOX,
            "paths::SIGN_IN" => paths::SIGN_IN,
            "paths::SIGN_OUT" => paths::SIGN_OUT,
            "paths::TOKENS" => paths::TOKENS,
            quoted => quoted.strip_prefix('"').unwrap().strip_suffix('"').unwrap(),
        };
        let handlers = format!(".{}", handlers.trim());
        let methods = ["get", "post", "put", "patch", "delete", "any"];
        let named = methods.iter().filter(|method| handlers.contains(&format!(".{method}(")));
        let named: Vec<_> = named.collect();
        assert!(!named.is_empty(), "no method in {handlers}");
        found.extend(named.into_iter().map(|method| ((*method).to_owned(), pattern.to_owned())));
    }
    found
}

/// What each command leaves behind, at the least.
const RECORDS: &[(&str, &str)] = &[
    ("Ask", "asked"),
    ("Open", "opened"),
    ("Progress", "progressed"),
    ("Claim", "claimed"),
    ("Assign", "assigned"),
    ("Answer", "answered"),
    ("AnswerWithProofs", "answered"),
    ("Cancel", "cancelled"),
    ("Expire", "failed"),
    ("Remind", "reminded"),
    ("Escalate", "escalated"),
    ("Extend", "extended"),
    ("Comment", "commented"),
    ("Grant", "granted"),
    ("NoteCallback", "called_back"),
    ("CallBack", "callback_wanted"),
    ("Revoke", "revoked"),
    ("Erase", "erased"),
    ("SaveProject", "project_saved"),
    ("SaveAgent", "agent_saved"),
    ("SaveHuman", "human_saved"),
    ("SaveGroup", "human_saved"),
    ("IssueKey", "key_issued"),
    ("RevokeKey", "key_revoked"),
    ("SignIn", "key_issued"),
    ("AddRules", "rule_added"),
    ("RemoveRule", "rule_removed"),
];

#[test]
fn every_command_is_in_the_table() {
    let text = std::fs::read_to_string(source("../../kernel/src/command.rs")).unwrap();
    let body = text.split_once("pub enum Command {").unwrap().1.split_once("\n}").unwrap().0;
    let found: BTreeSet<&str> = body
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with(char::is_uppercase))
        .map(|line| line.split(['(', ' ', ',', '{']).next().unwrap())
        .collect();
    let known: BTreeSet<&str> = RECORDS.iter().map(|(command, _)| *command).collect();
    assert_eq!(found, known, "in the source on the left, in the table on the right");
}

/// A server on which commands are run one by one, each seen to leave its record.
struct Recorder {
    world: World,
    position: u64,
    seen: BTreeSet<&'static str>,
}

impl Recorder {
    async fn run(&mut self, actor: Actor, command: Command) -> Option<AskId> {
        let shown = format!("{command:?}");
        let name = shown.split('(').next().unwrap();
        let (name, event) = RECORDS.iter().find(|(known, _)| *known == name).unwrap();
        let outcome = self.world.gateway().run(actor, command).await;
        let outcome = outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
        let store = self.world.gateway().store();
        let records = store.all_records(self.position, 1000).await.unwrap();
        let happened: Vec<&str> = records.iter().map(|(_, record)| record.what).collect();
        assert!(happened.contains(event), "{name} left {happened:?}");
        self.position = records.last().unwrap().0;
        self.seen.insert(name);
        outcome.ask.map(|ask| ask.id)
    }
}

fn person(id: &str) -> Actor {
    Actor::Human { id: id.parse().unwrap(), via: Via::Web, assurance: Assurance::Session }
}

fn question() -> NewAsk {
    NewAsk {
        dialect: Dialect::Native,
        question: Question::new("Go?", None, Body::Converse).unwrap(),
        metadata: serde_json::Map::new(),
        labels: Labels::default(),
        tags: BTreeSet::new(),
        priority: Priority::Normal,
        route: Route::Owner,
        timeout: None,
        on_expiry: Silence::StayOpen,
        reminders: Vec::new(),
        follows: None,
        grants: Vec::new(),
        inline: None,
        callback: None,
        verification: None,
    }
}

/// Every command is run, and each leaves its record in a chain that holds.
#[tokio::test]
async fn every_command_leaves_a_record() {
    let world = World::dev().await;
    let begin = world.gateway().store().all_records(0, 1000).await.unwrap().last().unwrap().0;
    let mut story = Recorder { world, position: begin, seen: BTreeSet::new() };
    let system = || Actor::System;
    let owner = || person("user_dev");
    let human = "user_dev".parse().unwrap();
    let pool = Step { after: 20, seat: Seat::Pool { group: None } };
    let plain = NewProject::plain("dev".parse().unwrap());
    story.run(system(), Command::SaveProject(NewProject { ladder: vec![pool], ..plain })).await;
    let ada = NewHuman {
        id: "ada".parse().unwrap(),
        profile: Profile { name: "Ada".to_owned(), email: None },
        admin: false,
        active: true,
        projects: ["dev".parse().unwrap()].into(),
        groups: BTreeSet::new(),
        skills: BTreeSet::new(),
    };
    story.run(owner(), Command::SaveHuman(ada)).await;
    let members = ["ada".parse().unwrap()].into();
    let group = NewGroup { id: "legal".parse().unwrap(), members };
    story.run(owner(), Command::SaveGroup(group)).await;
    let clerk =
        NewAgent { id: "clerk".parse().unwrap(), project: "dev".parse().unwrap(), owner: human };
    story.run(owner(), Command::SaveAgent(clerk)).await;
    let key = |secret: &str, holder| NewKey {
        hash: Digest::of(secret.as_bytes()),
        holder,
        label: String::new(),
        expires_at: None,
    };
    let of = |secret: &str, world: &World| {
        let hash = Digest::of(secret.as_bytes());
        world.gateway().directory().key_by_hash(&hash).unwrap().id
    };
    let agent = Holder::Agent { agent: "clerk".parse().unwrap(), reach: Reach::Agent };
    story.run(owner(), Command::IssueKey(key("a", agent))).await;
    let clerk = Actor::Agent {
        id: "clerk".parse().unwrap(),
        project: "dev".parse().unwrap(),
        key: of("a", &story.world),
        reach: Reach::Agent,
    };
    let link = Holder::Link { human: "ada".parse().unwrap() };
    story.run(system(), Command::IssueKey(key("b", link))).await;
    let session = Holder::Session { human: "ada".parse().unwrap() };
    let link = of("b", &story.world);
    story.run(system(), Command::SignIn(link, key("c", session))).await;
    let rule = NewRule {
        kinds: BTreeSet::new(),
        project: None,
        tag: None,
        priority: None,
        delegate_to: "ada".parse().unwrap(),
    };
    let id = RuleId::new(story.world.gateway().ids().ulid());
    story.run(owner(), Command::AddRules(vec![(id, rule)])).await;
    story.run(owner(), Command::RemoveRule(id)).await;

    let timed = NewAsk {
        timeout: Some(60),
        on_expiry: Silence::Fail,
        reminders: vec![story.world.now().plus_seconds(10)],
        ..question()
    };
    let ask = |new: NewAsk| Command::Ask(Box::new(new));
    let id = story.run(clerk.clone(), ask(timed.clone())).await.unwrap();
    story.run(owner(), Command::Open(id)).await;
    story.run(owner(), Command::Progress(id, None)).await;
    story.run(owner(), Command::Claim(id)).await;
    story.run(owner(), Command::Assign(id, "ada".parse().unwrap(), None)).await;
    let until = story.world.now().plus_seconds(120);
    story.run(clerk.clone(), Command::Extend(id, until)).await;
    let reply = Reply { answer: Answer::Replied { text: "yes".to_owned() }, comment: None };
    story.run(clerk.clone(), Command::Comment(id, "soon, please".to_owned())).await;
    story.run(person("ada"), Command::Answer(id, Box::new(reply.clone()))).await;
    story.run(owner(), Command::Revoke(id, "a mistake".to_owned())).await;
    story.run(system(), Command::Erase(id)).await;
    let ask_again = story.run(clerk.clone(), ask(question())).await.unwrap();
    let (holder, bare) = (Actor::LinkHolder { ask: ask_again }, Vec::new());
    story.run(holder, Command::AnswerWithProofs(ask_again, Box::new(reply), bare)).await;
    let callback = Some("https://127.0.0.1:9/hook".to_owned());
    let id = story.run(clerk.clone(), ask(NewAsk { callback, ..question() })).await.unwrap();
    let grant = Grant { purpose: Purpose::Review, hash: Digest::of(b"token") };
    story.run(clerk.clone(), Command::Grant(id, vec![grant])).await;
    story.run(clerk.clone(), Command::Cancel(id, None)).await;
    let refused = CallbackResult::Refused { status: 503 };
    story.run(system(), Command::NoteCallback(id, refused)).await;
    story.run(clerk.clone(), Command::CallBack(id)).await;
    // Nobody listens there; without its words it is given up as done.
    story.run(system(), Command::Erase(id)).await;
    let id = story.run(clerk, ask(timed)).await.unwrap();
    let due = [(10, Command::Remind(id)), (10, Command::Escalate(id)), (40, Command::Expire(id))];
    for (seconds, command) in due {
        // The worker looks too, so whichever of us comes first leaves the record.
        story.due(seconds, command).await;
    }
    story.run(owner(), Command::RevokeKey(of("a", &story.world))).await;

    let all: BTreeSet<&str> = RECORDS.iter().map(|(command, _)| *command).collect();
    assert_eq!(story.seen, all);
    story.world.end().await;
}

impl Recorder {
    /// Lets a timer fire and sees its record.
    async fn due(&mut self, seconds: u64, command: Command) {
        let shown = format!("{command:?}");
        let name = shown.split('(').next().unwrap();
        let (name, event) = RECORDS.iter().find(|(known, _)| *known == name).unwrap();
        self.world.advance(seconds);
        self.world.run_timers().await;
        let store = self.world.gateway().store();
        let records = store.all_records(self.position, 1000).await.unwrap();
        let happened: Vec<&str> = records.iter().map(|(_, record)| record.what).collect();
        assert!(happened.contains(event), "{name} left {happened:?}");
        self.position = records.last().unwrap().0;
        self.seen.insert(name);
    }
}
