//! Agents and their keys, and how to ask the first question.

use kernel::actor::KeyScope;
use kernel::directory::{Agent, CredentialKind, Directory, Key, NewAgent};
use kernel::{AgentId, HumanId, KeyId, Time};

use super::controls::{FormDraft, SelectOption};
use super::people::id;
use super::{FormView, MAX_LIST_OPTIONS, RowAction, SettingsBlock, SettingsPage, SettingsRow};
use crate::answer_form::problem::FormProblems;
use crate::answer_form::submitted::SubmittedForm;
use crate::components::relative_time::RelativeTime;
use crate::components::wording::{self, VisibleText};
use crate::inbox::QuickStart;
use crate::site::paths;

/// The labels of the fields of an agent and of a key, for problems.
pub const LABELS: &[(&str, &str)] = &[
    ("id", "Name of the agent"),
    ("project", "Project"),
    ("owner", "Who answers for it"),
    ("label", "What the key is for"),
];

/// A key, and when it was last used.
#[derive(Debug, Clone, Copy)]
pub struct KeyUsage<'a> {
    pub key: &'a Key,
    /// The time to the minute; `None` if it was never used.
    pub at: Option<Time>,
}

/// The list of agents.
pub fn list(
    agents: &[&Agent],
    directory: &Directory,
    next: Option<String>,
    admin: bool,
    filled: FormDraft<'_>,
) -> SettingsPage {
    let row = |agent: &&Agent| {
        let owner = wording::person_name(directory, &agent.owner);
        let act = RowAction::Go { href: paths::agent(&agent.id), label: "Keys" };
        SettingsRow {
            title: VisibleText::of(agent.id.as_str()),
            href: Some(paths::agent(&agent.id)),
            mark: None,
            facts: VisibleText::of(&format!("in {} · {owner} answers for it", agent.project)),
            act: Some(act),
        }
    };
    let mut blocks = Vec::new();
    if agents.is_empty() {
        let text = if admin {
            "There is no agent yet."
        } else {
            "No agent is yours yet. An administrator can add one for you."
        };
        blocks.push(SettingsBlock::Text(text.to_owned()));
    } else {
        blocks.push(SettingsBlock::Rows(agents.iter().map(row).collect()));
    }
    blocks.extend(
        next.map(|href| SettingsBlock::Link { href, label: "Show more agents".to_owned() }),
    );
    if admin {
        let fields = vec![
            filled.text("id", "Name of the agent", "").hint("Such as refund-bot.").mark_required(),
            filled.one_of("project", "Project", &projects(directory), ""),
            filled.one_of("owner", "Who answers for it", &owners(directory, None), ""),
        ];
        let add = FormView::new(paths::AGENTS, fields, "Add this agent").titled("Add an agent");
        blocks.push(SettingsBlock::Form(add));
    }
    SettingsPage {
        at: paths::AGENTS,
        title: "Agents and keys".to_owned(),
        lead: "Programs that may ask. Each asks in one project, and somebody answers for it."
            .to_owned(),
        blocks,
        ..SettingsPage::default()
    }
}

/// The page of one agent.
pub fn page(
    agent: &Agent,
    keys: &[KeyUsage<'_>],
    directory: &Directory,
    now: Time,
    admin: bool,
    filled: FormDraft<'_>,
) -> SettingsPage {
    let mut blocks = Vec::new();
    if keys.is_empty() {
        blocks.push(SettingsBlock::Text("It has no key yet, so it cannot ask.".to_owned()));
    } else {
        blocks.push(SettingsBlock::Rows(keys.iter().map(|used| key_row(used, now)).collect()));
    }
    let mut fields = vec![
        filled
            .text("label", "What the key is for", "")
            .hint("To recognise it later, such as staging or Ada\u{2019}s laptop."),
    ];
    if admin {
        let all = "It may read and withdraw all requests of its project, not only its own";
        fields.push(filled.flag("project_wide", "How far it sees", all, false));
    }
    let make = FormView::new(paths::agent_keys(&agent.id), fields, "Make a key and show it once");
    blocks.push(SettingsBlock::Form(make.titled("Make a key")));
    let mut fields = Vec::new();
    if admin {
        let owners = owners(directory, Some(&agent.owner));
        let owner = filled
            .one_of("owner", "Who answers for it", &owners, agent.owner.as_str())
            .hint("They are asked unless the agent says otherwise.");
        fields.push(owner);
    }
    let takes = "People of its project may write to it first";
    fields.push(filled.flag("conversations", "Conversations", takes, agent.conversations));
    let change = FormView::new(paths::agent(&agent.id), fields, "Save");
    let title = if admin { "Its owner, and conversations" } else { "Conversations" };
    blocks.push(SettingsBlock::Form(change.titled(title)));
    blocks.push(SettingsBlock::Link {
        href: paths::AGENTS.to_owned(),
        label: "Back to all agents".to_owned(),
    });
    let owner = wording::person_name(directory, &agent.owner);
    SettingsPage {
        at: paths::AGENTS,
        title: agent.id.to_string(),
        lead: format!("Asks in {}. {owner} answers for it.", agent.project),
        blocks,
        ..SettingsPage::default()
    }
}

fn key_row(used: &KeyUsage<'_>, now: Time) -> SettingsRow {
    let key = used.key;
    let when = |at: Time| RelativeTime::new(at, now).words;
    let last =
        used.at.map_or_else(|| "never used".to_owned(), |at| format!("last used {}", when(at)));
    let made = format!("{} · made {} · {last}", key.id, when(key.issued_at));
    let wide = matches!(key.kind, CredentialKind::Agent { scope: KeyScope::Project, .. });
    let (mark, live) = match (key.revoked_at, key.expires_at) {
        (Some(_), _) => (Some("revoked"), false),
        (None, Some(end)) if end <= now => (Some("ran out"), false),
        (None, _) if wide => (Some("sees its whole project"), true),
        (None, _) => (None, true),
    };
    let href = format!("{}?key={}", paths::REVOKE_KEY, key.id);
    let act = live.then_some(RowAction::Go { href, label: "Revoke" });
    let label = if key.label.is_empty() { "without a name" } else { &key.label };
    SettingsRow {
        title: VisibleText::of(label),
        href: None,
        mark,
        facts: VisibleText::of(&made),
        act,
    }
}

/// A new key, and three ways to ask with it.
pub fn key_created(agent: &Agent, secret: &str, server_url: &str) -> SettingsPage {
    let QuickStart { curl, python, cli } = QuickStart::with(server_url, secret);
    let code = |label: &str, text| SettingsBlock::Code { label: label.to_owned(), text };
    SettingsPage {
        at: paths::AGENTS,
        title: "Your new key".to_owned(),
        lead: format!("For the agent {}. Whoever has it can ask as this agent.", agent.id),
        blocks: vec![
            SettingsBlock::Secret { label: "Agent key".to_owned(), value: secret.to_owned() },
            SettingsBlock::Heading("Ask with it: three ways".to_owned()),
            code("With curl", curl),
            code("With Python", python),
            code("In the terminal", cli),
            SettingsBlock::Link {
                href: paths::INBOX.to_owned(),
                label: "Go to your inbox: the question appears there".to_owned(),
            },
            SettingsBlock::Link {
                href: paths::agent(&agent.id),
                label: "All keys of this agent".to_owned(),
            },
        ],
        ..SettingsPage::default()
    }
}

/// The confirmation before a key is revoked.
pub fn revoke(key: &Key, agent: &AgentId) -> SettingsPage {
    let none = FormProblems::default();
    let filled = FormDraft { form: None, problems: &none };
    let tokens = filled.flag(
        "end_tokens",
        "Tokens of its open requests",
        "Also end the review, submit and poll tokens of the open requests made with this key",
        false,
    );
    let mut form = FormView::new(paths::REVOKE_KEY, vec![tokens], "Revoke this key now");
    form.hidden.push(("key", key.id.to_string()));
    for button in &mut form.buttons {
        button.tone = "no";
    }
    let name = if key.label.is_empty() { key.id.to_string() } else { key.label.clone() };
    SettingsPage {
        at: paths::AGENTS,
        title: "Revoke a key".to_owned(),
        lead: format!(
            "{} of the agent {agent}. Whatever uses it cannot ask any more, from this moment on. It \
             cannot be taken back; you can make another key.",
            VisibleText::of(&name)
        ),
        blocks: vec![
            SettingsBlock::Form(form),
            SettingsBlock::Link { href: paths::agent(agent), label: "Keep it".to_owned() },
        ],
        ..SettingsPage::default()
    }
}

/// Parses the form for a new agent.
pub fn read(form: &SubmittedForm) -> Result<NewAgent, FormProblems> {
    Ok(NewAgent {
        id: id(form, "id", "Name of the agent")?,
        project: id(form, "project", "Project")?,
        owner: id(form, "owner", "Who answers for it")?,
        conversations: None,
    })
}

/// The key that a form or a URL names.
pub fn parse_key_id(text: Option<&str>) -> Option<KeyId> {
    text.and_then(|text| text.parse().ok())
}

fn projects(directory: &Directory) -> Vec<SelectOption> {
    let choice = |id: &str| (id.to_owned(), id.to_owned());
    directory.projects().take(MAX_LIST_OPTIONS).map(|project| choice(project.id.as_str())).collect()
}

fn owners(directory: &Directory, named: Option<&HumanId>) -> Vec<SelectOption> {
    let choice =
        |id: &HumanId| (id.to_string(), format!("{} ({id})", wording::person_name(directory, id)));
    let active = directory.humans().filter(|human| human.active && Some(&human.id) != named);
    let others = active.take(MAX_LIST_OPTIONS).map(|human| &human.id);
    named.into_iter().chain(others).map(choice).collect()
}
