//! Promises held against the source: every route asks for a credential, every command leaves a
//! record.

mod settings;
mod task_commands;
mod tasks;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use kernel::actor::KeyScope;
use kernel::ask::answer::PasskeyAnswer;
use kernel::ask::{
    AskToken, Assignee, CallbackResult, Dialect, Labels, Priority, Route, TokenPurpose,
};
use kernel::audit::Digest;
use kernel::command::{NewAsk, NewOnExpiry, Nudge};
use kernel::directory::{
    CredentialKind, EscalationStep, HumanChange, NewAgent, NewGroup, NewHuman, NewKey, NewLink,
    NewPasskey, NewProject, NewRule, NewSession, PasskeyAuthority, PasskeyUse, Profile,
    SignInProof,
};
use kernel::passkey_evidence::{AnswerStatement, PasskeyEvidence};
use kernel::question::{Answer, Question, QuestionBody, Reply};
use kernel::task::TaskCommand;
use kernel::{
    Actor, AnswerInterface, AskCommand, AskId, Assurance, Command, DirectoryCommand, RuleId,
    WebhookId,
};
use reqwest::Method;
use store::JobOutcome;
use store::work_queue::DeliveryLogQuery;

use crate::client;
use crate::routes::Door::{Closed, OpenInDev, Public};
use crate::routes::{Door, ROUTES};
use crate::world::{World, eventually};

fn all_routes() -> impl Iterator<Item = (&'static str, &'static str, Door)> {
    let settings = settings::SETTINGS.iter().map(|(of, at)| (*of, *at, Closed));
    ROUTES.iter().copied().chain(settings).chain(tasks::TASKS.iter().copied())
}

/// HXPX-002, HXPX-003: without a credential, with a wrong one, with nonsense in the body.
#[tokio::test]
async fn every_route_asks_for_a_credential() {
    let world = World::dev().await;
    let id = world.agent().ask(client::approve("x")).await;
    for (method, pattern, door) in all_routes() {
        let own = match pattern.split('/').nth(1) {
            Some("hxp") => id.clone(),
            Some("hitl" | "review") => id.replace("hxp_", "review_"),
            _ => crate::routing::ask_id(&id),
        };
        let path = pattern
            .replace("{id}", &own)
            .replace("{call_id}", "call-1")
            .replace("{uid}", "uid-1")
            .replace("{seq}", "1")
            .replace("{digest}", &"0".repeat(64))
            .replace("{delivery}", "msg_x")
            .replace("{medium}", "slack")
            .replace("{name}", "events")
            .replace("{file}", "app.css")
            .replace("{scope}", "project:dev")
            .replace("{code}", "not-found");
        // What does not exist is not told from what does, with a token in the address or without.
        let unknown = path.replace(&own, &elsewhere(&own));
        let nonsense = path.replace(&own, "nonsense");
        let paths = [
            format!("{path}?token=nobody"),
            format!("{unknown}?token=nobody"),
            unknown,
            nonsense,
            path,
        ];
        let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
        let strangers = [
            world.anonymous(),
            world.bearer("nobody"),
            world.anonymous().header("cookie", "countersign=nobody; countersign-browser=nobody"),
        ];
        let calls = paths.iter().flat_map(|path| strangers.iter().map(move |who| (path, who)));
        for (path, stranger) in calls {
            let request = stranger.request(method.clone(), path).body("{");
            let reply = client::Reply::of(request).await;
            match door {
                OpenInDev => assert!(matches!(reply.status, 200 | 202 | 401), "{reply:?}"),
                Closed => assert_eq!(reply.status, 401, "{method} {path}: {}", reply.text),
                Public => {
                    // The body and the query are nonsense, which may be said to anybody.
                    let fine = matches!(reply.status, 200 | 303 | 400 | 404 | 422);
                    assert!(fine, "{method} {path}: {reply:?}");
                }
            }
        }
    }
    assert_eq!(world.agent().poll(&id).await["status"], "pending");
    world.end().await;
}

/// An id of the same kind that nothing has.
fn elsewhere(id: &str) -> String {
    let (kind, _) = id.split_once('_').unwrap();
    format!("{kind}_01JZ3V5Q8N6M4K2H0G9F7E5D3C")
}

#[test]
fn every_route_is_in_the_table() {
    let known: BTreeSet<(String, String)> =
        all_routes().map(|(method, path, _)| (method.to_owned(), path.to_owned())).collect();
    assert_eq!(known.len(), all_routes().count(), "a route stands in the table twice");
    let mut found = BTreeSet::new();
    for file in sources(&source("http")) {
        found.extend(routes(&std::fs::read_to_string(file).unwrap()));
    }
    assert_eq!(found, known, "in the source on the left, in the table on the right");
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
    let named = std::fs::read_to_string(source("../../views/src/site/paths.rs")).unwrap();
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
        let quoted = match pattern.trim().strip_prefix("paths::") {
            Some(name) => named.split_once(&format!("const {name}: &str = ")).unwrap().1,
            None => pattern.trim(),
        };
        let pattern = quoted.split('"').nth(1).unwrap();
        // What stands under several names stands under each of them.
        let names = text.split_once("const BASES").filter(|_| quoted.starts_with("&at("));
        let bases: Vec<&str> = match names {
            Some((_, rest)) => {
                rest.split(';').nth(1).unwrap().split('"').skip(1).step_by(2).collect()
            }
            None => vec![""],
        };
        let handlers = format!(".{}", handlers.trim());
        let methods = ["get", "post", "put", "patch", "delete", "any"];
        let is_there = |of: &&&str| handlers.contains(&format!(".{of}("));
        let taken: Vec<_> = methods.iter().filter(is_there).collect();
        assert!(!taken.is_empty(), "{handlers}");
        for base in bases {
            let at = |method: &&&str| ((**method).to_owned(), format!("{base}{pattern}"));
            found.extend(taken.iter().map(at));
        }
    }
    found
}

/// What each command leaves behind, at the least.
const RECORDS: &[(&str, &str)] = &[
    ("Ask::Create", "asked"),
    ("Ask::Write", "answered"),
    ("Ask::Reply", "followed"),
    ("Ask::Open", "opened"),
    ("Ask::Progress", "progressed"),
    ("Ask::Claim", "claimed"),
    ("Ask::Assign", "assigned"),
    ("Ask::Pick", "action_picked"),
    ("Ask::Answer", "answered"),
    ("Ask::AnswerWithProofs", "answered"),
    ("Ask::HoldAnswer", "answer_held"),
    ("Ask::UndoAnswer", "answer_withdrawn"),
    ("Ask::CommitHeld", "answered"),
    ("Ask::Cancel", "cancelled"),
    ("Ask::Expire", "failed"),
    ("Ask::Remind", "reminded"),
    ("Ask::Escalate", "escalated"),
    ("Ask::Nudge", "commented"),
    ("Ask::Extend", "extended"),
    ("Ask::Comment", "commented"),
    ("Ask::Grant", "granted"),
    ("Ask::NoteCallback", "called_back"),
    ("Ask::CallBack", "callback_wanted"),
    ("Ask::Revoke", "revoked"),
    ("Ask::Erase", "erased"),
    ("Ask::EraseWords", "words_erased"),
    ("Directory::EraseHuman", "human_erased"),
    ("Directory::SaveProject", "project_saved"),
    ("Directory::AddProject", "project_saved"),
    ("Directory::SaveAgent", "agent_saved"),
    ("Directory::SaveHuman", "human_saved"),
    ("Directory::AddHuman", "human_saved"),
    ("Directory::ChangeHuman", "human_saved"),
    ("Directory::SaveProfile", "human_saved"),
    ("Directory::SaveNotices", "human_saved"),
    ("Directory::AddContact", "human_saved"),
    ("Directory::RemoveContact", "human_saved"),
    ("Directory::VerifyContact", "human_saved"),
    ("Directory::SaveGroup", "human_saved"),
    ("Directory::IssueKey", "key_issued"),
    ("Directory::RevokeKey", "key_revoked"),
    ("Directory::RevokeKeyWithTokens", "key_revoked_with_tokens"),
    ("Directory::MailLink", "key_issued"),
    ("Directory::SignIn", "key_issued"),
    ("Directory::EnrolPasskey", "key_issued"),
    ("Directory::ConfirmPasskey", "passkey_confirmed"),
    ("Ask::AnswerWithPasskey", "passkey_used"),
    ("Directory::RemovePasskey", "key_revoked"),
    ("Directory::EndSessions", "key_revoked"),
    ("Directory::EndAccess", "key_revoked"),
    ("Directory::DestroySigningKey", "signing_key_destroyed"),
    ("Directory::AddRules", "rule_added"),
    ("Directory::RemoveRule", "rule_removed"),
    ("Directory::SaveWebhook", "webhook_saved"),
    ("Directory::RotateWebhook", "webhook_rotated"),
    ("Directory::TestWebhook", "webhook_tested"),
    ("Directory::WebhookGone", "webhook_gone"),
    ("Directory::RemoveWebhook", "webhook_removed"),
    ("Task::Create", "task_created"),
    ("Task::Assign", "task_assigned"),
    ("Task::Start", "task_started"),
    ("Task::Cancel", "task_cancelled"),
    ("Task::Interrupt", "task_interrupted"),
    ("Task::Amend", "task_amended"),
    ("Task::Grant", "task_granted"),
    ("Task::Raise", "checkpoint_raised"),
    ("Task::Resolve", "checkpoint_resolved"),
    ("Task::Lapse", "checkpoint_expired"),
    ("Task::Transfer", "ownership_transferred"),
    ("Task::Delegate", "ownership_delegated"),
    ("Task::Review", "review_submitted"),
    ("Task::Remark", "review_commented"),
    ("Task::Commit", "artifact_committed"),
    ("Task::Reference", "artifact_referenced"),
    ("Task::Share", "artifact_shared"),
    ("Task::Write", "ledger_written"),
    ("Task::Erase", "erased"),
    ("Task::EraseWords", "task_words_erased"),
    ("Task::EraseArtifact", "artifact_erased"),
];

/// The enums of commands: what each stands under in `Command`, its name and its file.
const COMMANDS: [(&str, &str, &str); 3] = [
    ("Ask", "AskCommand", "ask/command.rs"),
    ("Directory", "DirectoryCommand", "directory/command.rs"),
    ("Task", "TaskCommand", "task/command.rs"),
];

#[test]
fn every_command_is_in_the_table() {
    let outer = variants("Command", "command.rs");
    let groups: BTreeSet<String> = COMMANDS.iter().map(|(group, ..)| (*group).to_owned()).collect();
    assert_eq!(outer, groups, "in the source on the left, in the list of enums on the right");
    let found: BTreeSet<String> = COMMANDS
        .iter()
        .flat_map(|(group, name, file)| {
            variants(name, file).into_iter().map(move |variant| format!("{group}::{variant}"))
        })
        .collect();
    let known: BTreeSet<String> =
        RECORDS.iter().map(|(command, _)| (*command).to_owned()).collect();
    assert_eq!(found, known, "in the source on the left, in the table on the right");
}

/// The variants of a public enum, read from its file in the kernel.
fn variants(name: &str, file: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(source("../../kernel/src").join(file)).unwrap();
    let start = format!("pub enum {name} {{");
    let body = text.split_once(&start).unwrap().1.split_once("\n}").unwrap().0;
    body.lines()
        .map(str::trim)
        .filter(|line| line.starts_with(char::is_uppercase))
        .map(|line| line.split(['(', ' ', ',', '{']).next().unwrap().to_owned())
        .collect()
}

/// The row of a command in the table.
fn row(command: &Command) -> (&'static str, &'static str) {
    let shown = format!("{command:?}");
    let mut names = shown.split(['(', ' ', ')']);
    let name = format!("{}::{}", names.next().unwrap(), names.next().unwrap());
    let row = RECORDS.iter().find(|(known, _)| *known == name);
    *row.unwrap_or_else(|| panic!("{name} is not in the table"))
}

/// A server on which commands are run one by one, each seen to leave its record.
struct Recorder {
    world: World,
    position: u64,
    seen: BTreeSet<&'static str>,
}

impl Recorder {
    async fn run(&mut self, actor: Actor, command: impl Into<Command>) -> Option<AskId> {
        self.outcome(actor, command).await.ask.map(|ask| ask.id)
    }

    async fn outcome(&mut self, actor: Actor, command: impl Into<Command>) -> JobOutcome {
        let command = command.into();
        let (name, event) = row(&command);
        let outcome = self.world.gateway().run(actor, command).await;
        let outcome = outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
        self.recorded(name, event).await;
        outcome
    }

    /// Lets a timer fire and sees its record.
    async fn due(&mut self, seconds: u64, command: impl Into<Command>) {
        let (name, event) = row(&command.into());
        self.world.advance(seconds);
        // The worker may have claimed it and not committed it yet.
        eventually(&format!("the record of {name}"), async || {
            self.world.run_timers().await;
            let store = self.world.gateway().store();
            let records =
                store.records(store::FeedQuery::After(self.position), 1000).await.unwrap();
            records.iter().any(|(_, record)| record.what == event)
        })
        .await;
        self.recorded(name, event).await;
    }

    /// Sees that an event was recorded since the last command.
    async fn recorded(&mut self, name: &'static str, event: &str) {
        let store = self.world.gateway().store();
        let records = store.records(store::FeedQuery::After(self.position), 1000).await.unwrap();
        let happened: Vec<&str> = records.iter().map(|(_, record)| record.what).collect();
        assert!(happened.contains(&event), "{name} left {happened:?}");
        self.position = records.last().unwrap().0;
        self.seen.insert(name);
    }
}

/// A passkey is enrolled, confirmed, confirms an answer and is removed.
async fn passkeys(story: &mut Recorder, clerk: Actor) {
    let session = story.world.gateway().directory().key_by_hash(&Digest::of(b"c")).unwrap().id;
    let new = NewPasskey {
        hash: Digest::of(b"p"),
        credential_id: "p".to_owned(),
        public_key: "cose".to_owned(),
        public: "0".to_owned(),
        label: String::new(),
        wait: 60,
    };
    let enrol =
        DirectoryCommand::EnrolPasskey(Box::new(new), Box::new(PasskeyAuthority::SignIn(session)));
    story.run(person("ada"), enrol).await;
    let key = story.world.gateway().directory().key_by_hash(&Digest::of(b"p")).unwrap().id;
    story.run(Actor::System, DirectoryCommand::ConfirmPasskey(key)).await;
    let route = Route::Person { human: "ada".parse().unwrap() };
    let asked =
        story.run(clerk, AskCommand::Create(Box::new(NewAsk { route, ..question() }))).await;
    let ask = story.world.gateway().ask(asked.unwrap()).await.unwrap().unwrap();
    let reply = Reply { answer: Answer::Replied { text: "Go".to_owned() }, comment: None };
    let human = "ada".parse().unwrap();
    let statement = AnswerStatement::of(&ask, &human, &reply, Digest::ZERO).unwrap();
    let used = |challenge, counter| PasskeyUse { key, public: "1".to_owned(), challenge, counter };
    let evidence = PasskeyEvidence {
        key,
        credential_id: "p".to_owned(),
        public_key: "cose".to_owned(),
        authenticator_data: "data".to_owned(),
        client_data_json: "client".to_owned(),
        signature: "signature".to_owned(),
        rp_id: "localhost".to_owned(),
        origin: "http://localhost".to_owned(),
        statement,
    };
    let given = PasskeyAnswer { used: used(evidence.statement.challenge(), 1), evidence };
    let answer = AskCommand::AnswerWithPasskey(ask.id, Box::new(reply), Box::new(given));
    story.run(person("ada"), answer).await;
    let authority = PasskeyAuthority::Passkey(used(Digest::of(b"remove"), 2));
    story.run(person("ada"), DirectoryCommand::RemovePasskey(key, Box::new(authority))).await;
}

fn person(id: &str) -> Actor {
    Actor::Human {
        id: id.parse().unwrap(),
        via: AnswerInterface::Web,
        assurance: Assurance::Session,
    }
}

fn question() -> NewAsk {
    NewAsk {
        dialect: Dialect::Native,
        question: Question::new("Go?", None, QuestionBody::Converse).unwrap(),
        metadata: serde_json::Map::new(),
        labels: Labels::default(),
        tags: BTreeSet::new(),
        priority: Priority::Normal,
        route: Route::Owner,
        timeout: None,
        on_expiry: NewOnExpiry::StayOpen,
        reminders: Vec::new(),
        follows: None,
        grants: Vec::new(),
        inline: None,
        callback: None,
        verification: None,
        assurance: None,
        posting_address: None,
        copies: Vec::new(),
        claims: None,
    }
}

/// Every command is run, and each leaves its record in a chain that holds.
#[tokio::test]
async fn every_command_leaves_a_record() {
    let world = World::dev().await;
    let begin = world
        .gateway()
        .store()
        .records(store::FeedQuery::After(0), 1000)
        .await
        .unwrap()
        .last()
        .unwrap()
        .0;
    let mut story = Recorder { world, position: begin, seen: BTreeSet::new() };
    let system = || Actor::System;
    let owner = || person("user_dev");
    let human = "user_dev".parse().unwrap();
    let pool = EscalationStep { after: 20, assignee: Assignee::Pool { group: None } };
    let plain = NewProject::plain("dev".parse().unwrap());
    story
        .run(
            system(),
            DirectoryCommand::SaveProject(NewProject { escalation_steps: vec![pool], ..plain }),
        )
        .await;
    let ada = NewHuman {
        id: "ada".parse().unwrap(),
        profile: Profile {
            name: "Ada".into(),
            email: Some("ada@example.com".into()),
            ..Profile::default()
        },
        admin: false,
        active: true,
        projects: ["dev".parse().unwrap()].into(),
        groups: BTreeSet::new(),
        skills: BTreeSet::new(),
    };
    let grace =
        NewHuman { id: "grace".parse().unwrap(), profile: Profile::default(), ..ada.clone() };
    story.run(owner(), DirectoryCommand::SaveHuman(ada)).await;
    story.run(owner(), DirectoryCommand::AddHuman(grace)).await;
    let change = Box::new(HumanChange { admin: Some(true), ..HumanChange::default() });
    story.run(owner(), DirectoryCommand::ChangeHuman("grace".parse().unwrap(), change)).await;
    let fresh = NewProject::plain("fresh".parse().unwrap());
    story.run(owner(), DirectoryCommand::AddProject(fresh)).await;
    story.run(owner(), DirectoryCommand::SaveProfile(settings::renamed("ada"))).await;
    for command in settings::told() {
        story.run(person("ada"), command).await;
    }
    let members = ["ada".parse().unwrap()].into();
    let group = NewGroup { id: "legal".parse().unwrap(), members };
    story.run(owner(), DirectoryCommand::SaveGroup(group)).await;
    let clerk = NewAgent {
        id: "clerk".parse().unwrap(),
        project: "dev".parse().unwrap(),
        owner: human,
        conversations: Some(true),
    };
    story.run(owner(), DirectoryCommand::SaveAgent(clerk)).await;
    let key = |secret: &str, kind| NewKey {
        hash: Digest::of(secret.as_bytes()),
        kind,
        label: String::new(),
        expires_at: None,
    };
    let of = |secret: &str, world: &World| {
        let hash = Digest::of(secret.as_bytes());
        world.gateway().directory().key_by_hash(&hash).unwrap().id
    };
    let agent = CredentialKind::Agent {
        agent: "clerk".parse().unwrap(),
        scope: KeyScope::Agent,
        respond: false,
        own_app: false,
    };
    story.run(owner(), DirectoryCommand::IssueKey(key("a", agent))).await;
    let clerk = Actor::Agent {
        id: "clerk".parse().unwrap(),
        project: "dev".parse().unwrap(),
        key: of("a", &story.world),
        scope: KeyScope::Agent,
    };
    let link = CredentialKind::Link { human: "ada".parse().unwrap(), mailed: false };
    story.run(system(), DirectoryCommand::IssueKey(key("b", link))).await;
    let mailed = NewLink {
        human: "ada".parse().unwrap(),
        hash: Digest::of(b"mailed"),
        seed: Digest::of(b"seed"),
        expires_at: story.world.now().plus_seconds(60),
    };
    story.run(system(), DirectoryCommand::MailLink(mailed)).await;
    // Without a mail server the email is given up. Later commands end the link, and an email about
    // a link that has ended counts as done.
    eventually("the email to be given up", async || {
        story.world.gateway().store().backlog().await.unwrap().dead == 1
    })
    .await;
    let session = NewSession {
        hash: Digest::of(b"c"),
        browser: Digest::of(b"browser"),
        label: String::new(),
        expires_at: story.world.now().plus_seconds(60),
    };
    let link = SignInProof::Link(of("b", &story.world));
    story.run(system(), DirectoryCommand::SignIn(link, session)).await;
    passkeys(&mut story, clerk.clone()).await;
    let task = task_commands::all(&mut story, clerk.clone()).await;
    story.run(system(), DirectoryCommand::EndSessions("ada".parse().unwrap(), None)).await;
    let token = CredentialKind::Token { human: "ada".parse().unwrap() };
    story.run(system(), DirectoryCommand::IssueKey(key("t", token))).await;
    story.run(system(), DirectoryCommand::EndAccess("ada".parse().unwrap())).await;
    let agent = CredentialKind::Agent {
        agent: "clerk".parse().unwrap(),
        scope: KeyScope::Agent,
        respond: false,
        own_app: false,
    };
    story.run(owner(), DirectoryCommand::IssueKey(key("r", agent))).await;
    story.run(owner(), DirectoryCommand::RevokeKeyWithTokens(of("r", &story.world))).await;
    let rule = NewRule {
        kinds: BTreeSet::new(),
        project: None,
        tag: None,
        priority: None,
        delegate_to: "ada".parse().unwrap(),
    };
    let id = RuleId::new(story.world.gateway().ids().ulid());
    story.run(owner(), DirectoryCommand::AddRules(vec![(id, rule)])).await;
    story.run(owner(), DirectoryCommand::RemoveRule(id)).await;
    let id = WebhookId::new(story.world.gateway().ids().ulid());
    story.run(owner(), DirectoryCommand::SaveWebhook(settings::endpoint(id))).await;
    story.run(owner(), DirectoryCommand::RotateWebhook(id, 60)).await;
    story.run(owner(), DirectoryCommand::TestWebhook(id)).await;
    // Nobody listens there. Had the endpoint ended before the first attempt, the delivery would be
    // given up.
    let query = DeliveryLogQuery { webhook: id, status: None, after: None, limit: 1 };
    eventually("an attempt to deliver", async || {
        let logged = story.world.gateway().store().delivery_log(query.clone()).await.unwrap();
        logged.iter().any(|logged| !logged.attempts.is_empty())
    })
    .await;
    story.run(system(), DirectoryCommand::WebhookGone(id)).await;
    story.run(owner(), DirectoryCommand::RemoveWebhook(id)).await;

    let timed = NewAsk {
        timeout: Some(60),
        on_expiry: NewOnExpiry::Fail,
        reminders: vec![story.world.now().plus_seconds(10)],
        claims: dialects::hxp_experience::claims::read_envelope(
            br#"{"hxp":{"actions":[{"type":"expand"}]}}"#,
            &["hxp"],
        )
        .unwrap(),
        ..question()
    };
    let ask = |new: NewAsk| AskCommand::Create(Box::new(new));
    let id = story.run(clerk.clone(), ask(timed.clone())).await.unwrap();
    story.run(owner(), AskCommand::Open(id)).await;
    story.run(owner(), AskCommand::Progress(id, None)).await;
    story.run(owner(), AskCommand::Pick(id, 0)).await;
    story.run(owner(), AskCommand::Claim(id)).await;
    story.run(owner(), AskCommand::Assign(id, "ada".parse().unwrap(), None)).await;
    let until = story.world.now().plus_seconds(120);
    story.run(clerk.clone(), AskCommand::Extend(id, until)).await;
    let reply = Reply { answer: Answer::Replied { text: "yes".to_owned() }, comment: None };
    story.run(clerk.clone(), AskCommand::Comment(id, "soon, please".to_owned())).await;
    let urge = Nudge { text: "now, please".to_owned(), people: Vec::new() };
    story.run(clerk.clone(), AskCommand::Nudge(id, urge)).await;
    story.run(person("ada"), AskCommand::Answer(id, Box::new(reply.clone()))).await;
    story.run(owner(), AskCommand::Revoke(id, "a mistake".to_owned())).await;
    story.run(system(), AskCommand::Erase(id)).await;
    let ask_again = story.run(clerk.clone(), ask(question())).await.unwrap();
    let (holder, bare) = (Actor::link_holder(ask_again), Vec::new());
    let again = reply.clone();
    story.run(holder, AskCommand::AnswerWithProofs(ask_again, Box::new(reply), bare)).await;
    let callback = Some("https://127.0.0.1:9/hook".to_owned());
    let id = story.run(clerk.clone(), ask(NewAsk { callback, ..question() })).await.unwrap();
    let grant = AskToken::to_agent(TokenPurpose::Review, Digest::of(b"token"));
    story.run(clerk.clone(), AskCommand::Grant(id, vec![grant])).await;
    story.run(clerk.clone(), AskCommand::Cancel(id, None)).await;
    let refused = CallbackResult::Refused { status: 503 };
    story.run(system(), AskCommand::NoteCallback(id, refused)).await;
    story.run(clerk.clone(), AskCommand::CallBack(id)).await;
    // Nobody listens there; without its words it is given up as done.
    story.run(system(), AskCommand::Erase(id)).await;
    let wrote = AskCommand::Write("clerk".parse().unwrap(), "hello".to_owned().into());
    let opening = story.run(person("ada"), wrote).await.unwrap();
    story.run(clerk.clone(), AskCommand::Reply(opening, Box::new(question()))).await;
    let said = story.run(clerk.clone(), ask(question())).await.unwrap();
    story.run(owner(), AskCommand::Assign(said, "ada".parse().unwrap(), None)).await;
    story.run(person("ada"), AskCommand::Comment(said, "hello".to_owned())).await;
    let id = story.run(clerk.clone(), ask(timed)).await.unwrap();
    let due = [
        (10, AskCommand::Remind(id)),
        (10, AskCommand::Escalate(id)),
        (40, AskCommand::Expire(id)),
    ];
    for (seconds, command) in due {
        // The worker looks too, so whichever of us comes first leaves the record.
        story.due(seconds, command).await;
    }
    let held = story.run(clerk, ask(question())).await.unwrap();
    story.run(owner(), AskCommand::HoldAnswer(held, Box::new(again.clone()))).await;
    story.run(owner(), AskCommand::UndoAnswer(held)).await;
    story.run(owner(), AskCommand::HoldAnswer(held, Box::new(again))).await;
    story.due(5, AskCommand::CommitHeld(held)).await;
    story.run(owner(), DirectoryCommand::RevokeKey(of("a", &story.world))).await;
    story.run(owner(), DirectoryCommand::DestroySigningKey("kid".to_owned())).await;

    // The worker does the same by itself; whichever of us comes first leaves the record.
    let ada: kernel::HumanId = "ada".parse().unwrap();
    story.world.gateway().run(system(), DirectoryCommand::EraseHuman(ada.clone())).await.unwrap();
    story.run(system(), AskCommand::EraseWords(said, ada.clone())).await;
    story.run(system(), TaskCommand::EraseWords(task, ada)).await;
    story.run(system(), DirectoryCommand::EraseHuman("user_dev_2".parse().unwrap())).await;

    let all: BTreeSet<&str> = RECORDS.iter().map(|(command, _)| *command).collect();
    assert_eq!(story.seen, all);
    // A delivery that was under way while its words were erased fails once more and waits again.
    let deliveries = &story.world.app().notifier.deliveries;
    eventually("an hour after which no delivery waits", async || {
        story.world.advance(3600);
        deliveries.drain().await.unwrap();
        story.world.gateway().store().backlog().await.unwrap().waiting == 0
    })
    .await;
    story.world.end_with_dead(1).await;
}
