//! What someone wants to happen.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use ulid::Ulid;

use crate::actor::{Actor, Assurance};
use crate::ask::answer::PasskeyAnswer;
use crate::ask::{
    CallbackResult, Dialect, Grant, Labels, NewClaims, Place, Priority, Route, Shown,
};
use crate::audit::Salts;
use crate::directory::{
    Authority, Contact, HumanChange, Means, NewAgent, NewGroup, NewHuman, NewKey, NewLink,
    NewNotices, NewPasskey, NewProfile, NewProject, NewRule, NewSession, NewWebhook, Proof,
};
use crate::form::Progress;
use crate::ids::{AgentId, AskId, HumanId, KeyId, RuleId, Subject, WebhookId};
use crate::question::{Question, Reply, Stance};
use crate::task::TaskCommand;
use crate::time::Time;
use crate::verification::{Policy, Presented};

/// A command with everything that is not in the world: who, a fresh id, randomness.
///
/// The moment is not here: it is stamped when the decision is made, in
/// [`World::now`](crate::World).
#[derive(Debug, Clone)]
pub struct Envelope {
    /// Who wants it.
    pub actor: Actor,
    /// The id of what the command makes, if it makes something.
    pub fresh: Ulid,
    /// Randomness for commitments.
    pub salts: Salts,
    /// The version of the ask the actor has seen; any other refuses the command.
    pub expected: Option<u64>,
    /// What the server displayed of the question, if the command answers one.
    pub shown: Shown,
    /// What they want.
    pub command: Command,
}

impl Envelope {
    /// The ask it makes, or is about.
    pub fn subject(&self) -> Option<AskId> {
        if self.command.makes_ask() {
            return Some(AskId::new(self.fresh));
        }
        self.command.ask()
    }
}

/// Everything that can be wanted, one variant per verb.
#[derive(Debug, Clone)]
pub enum Command {
    /// An agent asks.
    Ask(Box<NewAsk>),
    /// A person writes to an agent: a conversation begins.
    Write(AgentId, Box<Written>),
    /// An agent goes on with a conversation a person began.
    Reply(AskId, Box<NewAsk>),
    /// A person looks at an ask.
    Open(AskId),
    /// A person began to answer.
    Progress(AskId, Option<Progress>),
    /// A person takes an ask from a pool.
    Claim(AskId),
    /// Hand an ask to someone, with a word.
    Assign(AskId, HumanId, Option<String>),
    /// Remark something on an ask.
    Comment(AskId, String),
    /// A person picks one of the agent's actions, by its place.
    Pick(AskId, usize),
    /// A person answers.
    Answer(AskId, Box<Reply>),
    /// The same, with proofs that a person is there.
    AnswerWithProofs(AskId, Box<Reply>, Vec<Presented>),
    /// The same, confirmed with a passkey.
    AnswerWithPasskey(AskId, Box<Reply>, Box<PasskeyAnswer>),
    /// A person answers, and can undo it for a moment: as long as their profile says.
    HoldAnswer(AskId, Box<Reply>),
    /// A person takes back their held answer.
    UndoAnswer(AskId),
    /// A held answer can no longer be undone and takes effect.
    CommitHeld(AskId),
    /// Withdraw an ask.
    Cancel(AskId, Option<String>),
    /// A deadline passed.
    Expire(AskId),
    /// A reminder is due.
    Remind(AskId),
    /// A rung of the ladder is due.
    Escalate(AskId),
    /// The agent cannot wait: tell whoever is asked once more, and more people.
    Urge(AskId, Urge),
    /// Move a deadline.
    Extend(AskId, Time),
    /// More tokens were drawn for an ask.
    Grant(AskId, Vec<Grant>),
    /// The agent was told, or could not be told, that its ask is over.
    NoteCallback(AskId, CallbackResult),
    /// Tell the agent once more that its ask is over.
    CallBack(AskId),
    /// Call back the receipt of an ask that is over.
    Revoke(AskId, String),
    /// Forget the words of an ask that is over.
    Erase(AskId),
    /// Erase what an erased person wrote on an ask, open or over.
    EraseWords(AskId, HumanId),
    /// Erase a person.
    EraseHuman(HumanId),
    /// Add a project or change its settings.
    SaveProject(NewProject),
    /// Add a project that does not exist yet.
    AddProject(NewProject),
    /// Add an agent or change it.
    SaveAgent(NewAgent),
    /// Add a person or change them.
    SaveHuman(NewHuman),
    /// Add a person who does not exist yet.
    AddHuman(NewHuman),
    /// Change the named fields of an existing person and nothing else.
    ChangeHuman(HumanId, Box<HumanChange>),
    /// Say what to call somebody, and what they say of themselves.
    SaveProfile(NewProfile),
    /// Say how somebody wants to be told.
    SaveNotices(NewNotices),
    /// Add a way to reach somebody.
    AddContact(HumanId, Contact),
    /// Remove one.
    RemoveContact(HumanId, Means),
    /// Somebody showed that they read what is sent there.
    VerifyContact(HumanId, Means),
    /// Say who is in a group.
    SaveGroup(NewGroup),
    /// Issue a credential.
    IssueKey(NewKey),
    /// Revoke a credential.
    RevokeKey(KeyId),
    /// Revoke an agent's key, together with the tokens of the open asks that were made with it.
    RevokeKeyWithTokens(KeyId),
    /// Send somebody a sign-in link by mail.
    MailLink(NewLink),
    /// Begin a session for whoever proved who they are.
    SignIn(Proof, NewSession),
    /// Enrol a passkey.
    EnrolPasskey(Box<NewPasskey>, Box<Authority>),
    /// Remove a passkey of one's own.
    RemovePasskey(KeyId, Box<Authority>),
    /// Vouch for a passkey that waits, as an administrator.
    ConfirmPasskey(KeyId),
    /// End all of a person's sessions, but for one.
    EndSessions(HumanId, Option<KeyId>),
    /// End everything that lets a person in: sessions, tokens, links, passkeys, channel identities.
    EndAccess(HumanId),
    /// Add delegation rules, under ids the shell drew.
    AddRules(Vec<(RuleId, NewRule)>),
    /// Remove a delegation rule.
    RemoveRule(RuleId),
    /// Add an endpoint or change it.
    SaveWebhook(NewWebhook),
    /// Replace the secret of an endpoint; the one before signs so many seconds longer.
    RotateWebhook(WebhookId, u64),
    /// Send an endpoint something that happened to nothing.
    TestWebhook(WebhookId),
    /// An endpoint said that it is gone.
    WebhookGone(WebhookId),
    /// Remove an endpoint.
    RemoveWebhook(WebhookId),
    /// Something is wanted of a task.
    Task(Box<TaskCommand>),
}

impl Command {
    /// The verb, as logs and metrics name it.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Ask(_) => "ask",
            Self::Write(..) => "write",
            Self::Reply(..) => "reply",
            Self::Open(_) => "open",
            Self::Progress(..) => "progress",
            Self::Claim(_) => "claim",
            Self::Assign(..) => "assign",
            Self::Comment(..) => "comment",
            Self::Pick(..) => "pick",
            Self::Answer(..) | Self::AnswerWithProofs(..) | Self::AnswerWithPasskey(..) => "answer",
            Self::HoldAnswer(..) => "hold_answer",
            Self::UndoAnswer(_) => "undo_answer",
            Self::CommitHeld(_) => "commit_held",
            Self::Cancel(..) => "cancel",
            Self::Expire(_) => "expire",
            Self::Remind(_) => "remind",
            Self::Escalate(_) => "escalate",
            Self::Urge(..) => "urge",
            Self::Extend(..) => "extend",
            Self::Grant(..) => "grant",
            Self::NoteCallback(..) => "note_callback",
            Self::CallBack(_) => "call_back",
            Self::Revoke(..) => "revoke",
            Self::Erase(_) => "erase",
            Self::EraseWords(..) => "erase_words",
            Self::EraseHuman(_) => "erase_human",
            Self::SaveProject(_) => "save_project",
            Self::AddProject(_) => "add_project",
            Self::SaveAgent(_) => "save_agent",
            Self::SaveHuman(_) => "save_human",
            Self::AddHuman(_) => "add_human",
            Self::ChangeHuman(..) => "change_human",
            Self::SaveProfile(_) => "save_profile",
            Self::SaveNotices(_) => "save_notices",
            Self::AddContact(..) => "add_contact",
            Self::RemoveContact(..) => "remove_contact",
            Self::VerifyContact(..) => "verify_contact",
            Self::SaveGroup(_) => "save_group",
            Self::IssueKey(_) => "issue_key",
            Self::RevokeKey(_) | Self::RevokeKeyWithTokens(_) => "revoke_key",
            Self::MailLink(_) => "mail_link",
            Self::SignIn(..) => "sign_in",
            Self::EnrolPasskey(..) => "enrol_passkey",
            Self::RemovePasskey(..) => "remove_passkey",
            Self::ConfirmPasskey(_) => "confirm_passkey",
            Self::EndSessions(..) => "end_sessions",
            Self::EndAccess(_) => "end_access",
            Self::AddRules(_) => "add_rules",
            Self::RemoveRule(_) => "remove_rule",
            Self::SaveWebhook(_) => "save_webhook",
            Self::RotateWebhook(..) => "rotate_webhook",
            Self::TestWebhook(_) => "test_webhook",
            Self::WebhookGone(_) => "webhook_gone",
            Self::RemoveWebhook(_) => "remove_webhook",
            Self::Task(command) => command.verb(),
        }
    }

    /// Whether it makes an ask, under the fresh id.
    pub fn makes_ask(&self) -> bool {
        matches!(self, Self::Ask(_) | Self::Write(..) | Self::Reply(..))
            || matches!(self, Self::Task(command) if command.makes_ask())
    }

    /// What of the directory it changes, as logs name it: the kind and the id. `fresh` is the id of
    /// what it makes.
    pub fn directory_object(&self, fresh: Ulid) -> Option<(&'static str, String)> {
        let subject = match self {
            Self::SaveProject(new) | Self::AddProject(new) => {
                Some(Subject::Project(new.id.clone()))
            }
            Self::SaveAgent(new) => Some(Subject::Agent(new.id.clone())),
            Self::SaveHuman(new) | Self::AddHuman(new) => Some(Subject::Human(new.id.clone())),
            Self::SaveProfile(new) => Some(Subject::Human(new.human.clone())),
            Self::SaveNotices(new) => Some(Subject::Human(new.human.clone())),
            Self::ChangeHuman(human, _)
            | Self::AddContact(human, _)
            | Self::RemoveContact(human, _)
            | Self::VerifyContact(human, _)
            | Self::EndSessions(human, _)
            | Self::EndAccess(human)
            | Self::EraseHuman(human) => Some(Subject::Human(human.clone())),
            Self::IssueKey(_) | Self::MailLink(_) | Self::SignIn(..) | Self::EnrolPasskey(..) => {
                Some(Subject::Key(KeyId::new(fresh)))
            }
            Self::RevokeKey(key)
            | Self::RevokeKeyWithTokens(key)
            | Self::RemovePasskey(key, _)
            | Self::ConfirmPasskey(key) => Some(Subject::Key(*key)),
            Self::AddRules(rules) => {
                let ids: Vec<String> = rules.iter().map(|(id, _)| id.to_string()).collect();
                return Some(("rule", ids.join(" ")));
            }
            Self::RemoveRule(rule) => Some(Subject::Rule(*rule)),
            Self::SaveWebhook(new) => Some(Subject::Webhook(new.id)),
            Self::RotateWebhook(webhook, _)
            | Self::TestWebhook(webhook)
            | Self::WebhookGone(webhook)
            | Self::RemoveWebhook(webhook) => Some(Subject::Webhook(*webhook)),
            Self::SaveGroup(new) => return Some(("group", new.id.to_string())),
            Self::Ask(_)
            | Self::Write(..)
            | Self::Reply(..)
            | Self::Open(_)
            | Self::Progress(..)
            | Self::Claim(_)
            | Self::Assign(..)
            | Self::Comment(..)
            | Self::Pick(..)
            | Self::Answer(..)
            | Self::AnswerWithProofs(..)
            | Self::AnswerWithPasskey(..)
            | Self::HoldAnswer(..)
            | Self::UndoAnswer(_)
            | Self::CommitHeld(_)
            | Self::Cancel(..)
            | Self::Expire(_)
            | Self::Remind(_)
            | Self::Escalate(_)
            | Self::Urge(..)
            | Self::Extend(..)
            | Self::Grant(..)
            | Self::NoteCallback(..)
            | Self::CallBack(_)
            | Self::Revoke(..)
            | Self::Erase(_)
            | Self::EraseWords(..)
            | Self::Task(_) => None,
        };
        subject.map(|subject| (subject.kind(), subject.id()))
    }

    /// The ask it is about, if it is about one that exists.
    pub fn ask(&self) -> Option<AskId> {
        match self {
            Self::Open(id)
            | Self::Progress(id, _)
            | Self::Claim(id)
            | Self::Assign(id, ..)
            | Self::Comment(id, _)
            | Self::Pick(id, _)
            | Self::Answer(id, _)
            | Self::AnswerWithProofs(id, ..)
            | Self::AnswerWithPasskey(id, ..)
            | Self::HoldAnswer(id, _)
            | Self::UndoAnswer(id)
            | Self::CommitHeld(id)
            | Self::Cancel(id, _)
            | Self::Expire(id)
            | Self::Remind(id)
            | Self::Escalate(id)
            | Self::Urge(id, _)
            | Self::Extend(id, _)
            | Self::Grant(id, _)
            | Self::NoteCallback(id, _)
            | Self::CallBack(id)
            | Self::Revoke(id, _)
            | Self::EraseWords(id, _)
            | Self::Erase(id) => Some(*id),
            Self::Task(command) => command.checkpoint(),
            Self::Ask(_)
            | Self::Write(..)
            | Self::Reply(..)
            | Self::EraseHuman(_)
            | Self::SaveProject(_)
            | Self::AddProject(_)
            | Self::SaveAgent(_)
            | Self::SaveHuman(_)
            | Self::AddHuman(_)
            | Self::ChangeHuman(..)
            | Self::SaveProfile(_)
            | Self::SaveNotices(_)
            | Self::AddContact(..)
            | Self::RemoveContact(..)
            | Self::VerifyContact(..)
            | Self::SaveGroup(_)
            | Self::IssueKey(_)
            | Self::RevokeKey(_)
            | Self::MailLink(_)
            | Self::SignIn(..)
            | Self::RevokeKeyWithTokens(_)
            | Self::EnrolPasskey(..)
            | Self::RemovePasskey(..)
            | Self::ConfirmPasskey(_)
            | Self::EndSessions(..)
            | Self::EndAccess(_)
            | Self::AddRules(_)
            | Self::RemoveRule(_)
            | Self::SaveWebhook(_)
            | Self::RotateWebhook(..)
            | Self::TestWebhook(_)
            | Self::WebhookGone(_)
            | Self::RemoveWebhook(_) => None,
        }
    }
}

/// What an agent sends when it asks.
#[derive(Debug, Clone)]
pub struct NewAsk {
    /// The protocol it speaks.
    pub dialect: Dialect,
    /// What it asks.
    pub question: Question,
    /// Free data.
    pub metadata: Map<String, Value>,
    /// Its own names.
    pub labels: Labels,
    /// What it is about.
    pub tags: BTreeSet<String>,
    /// How urgent.
    pub priority: Priority,
    /// How people are picked.
    pub route: Route,
    /// After how many seconds it runs out; `None` for never.
    pub timeout: Option<u64>,
    /// What then.
    pub on_expiry: Silence,
    /// When to remind.
    pub reminders: Vec<Time>,
    /// The ask it continues.
    pub follows: Option<AskId>,
    /// The tokens that were drawn for it.
    pub grants: Vec<Grant>,
    /// Which answers the agent may pass on with a submit token; `None` for none at all.
    pub inline: Option<BTreeSet<Stance>>,
    /// Where to tell the agent that it is over.
    pub callback: Option<String>,
    /// Which proofs of a person it wants.
    pub verification: Option<Box<Policy>>,
    /// The least assurance an answer needs, if that is more than the project wants.
    pub assurance: Option<Assurance>,
    /// Where the agent wants it put, besides to people.
    pub place: Option<Place>,
    /// What it says of its message.
    pub claims: Option<Box<NewClaims>>,
}

/// What a person writes to an agent of their own accord.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// Their words.
    pub text: String,
    /// What is kept beside them for the agent, such as where they wrote; erased with them.
    pub metadata: Map<String, Value>,
}

impl From<String> for Box<Written> {
    fn from(text: String) -> Self {
        Self::new(Written { text, metadata: Map::new() })
    }
}

/// Why an agent cannot wait, and who else should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Urge {
    /// What it says.
    pub text: String,
    /// Whom it wants asked as well; who is not of its project is not.
    pub people: Vec<HumanId>,
}

/// What the agent wants when nobody answers; becomes an
/// [`OnExpiry`](crate::ask::OnExpiry) once checked.
#[derive(Debug, Clone, PartialEq)]
pub enum Silence {
    /// Stay open.
    StayOpen,
    /// Fail.
    Fail,
    /// Take this answer.
    Answer(Reply),
    /// Expire, and tell the agent what to do.
    Report(crate::ask::DefaultAction),
}
