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

/// The label of a field of an agent or of a key.
pub fn label(field: &str) -> Option<String> {
    Some(match field {
        "id" => t!("settings-agents-id"),
        "project" => t!("settings-agents-project"),
        "owner" => t!("settings-agents-owner"),
        "label" => t!("settings-agents-key-label"),
        _ => return None,
    })
}

fn labeled(field: &str) -> String {
    label(field).unwrap_or_default()
}

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
        let act =
            RowAction::Go { href: paths::agent(&agent.id), label: t!("settings-agents-keys") };
        SettingsRow {
            title: VisibleText::of(agent.id.as_str()),
            href: Some(paths::agent(&agent.id)),
            mark: None,
            facts: VisibleText::of(&t!(
                "settings-agents-facts",
                project = agent.project.as_str(),
                owner = owner
            )),
            act: Some(act),
        }
    };
    let mut blocks = Vec::new();
    if agents.is_empty() {
        let text =
            if admin { t!("settings-agents-none") } else { t!("settings-agents-none-yours") };
        blocks.push(SettingsBlock::Text(text));
    } else {
        blocks.push(SettingsBlock::Rows(agents.iter().map(row).collect()));
    }
    blocks.extend(next.map(|href| SettingsBlock::Link { href, label: t!("settings-agents-more") }));
    if admin {
        let fields = vec![
            filled
                .text("id", &labeled("id"), "")
                .hint(t!("settings-agents-id-hint"))
                .mark_required(),
            filled.one_of("project", &labeled("project"), &projects(directory), ""),
            filled.one_of("owner", &labeled("owner"), &owners(directory, None), ""),
        ];
        let add = FormView::new(paths::AGENTS, fields, t!("settings-agents-add"))
            .titled(t!("settings-agents-add-title"));
        blocks.push(SettingsBlock::Form(add));
    }
    SettingsPage {
        at: paths::AGENTS,
        title: t!("settings-agents"),
        lead: t!("settings-agents-lead"),
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
        blocks.push(SettingsBlock::Text(t!("settings-agents-no-key")));
    } else {
        blocks.push(SettingsBlock::Rows(keys.iter().map(|used| key_row(used, now)).collect()));
    }
    let mut fields = vec![
        filled.text("label", &labeled("label"), "").hint(t!("settings-agents-key-label-hint")),
    ];
    if admin {
        let all = t!("settings-agents-key-wide-yes");
        fields.push(filled.flag("project_wide", &t!("settings-agents-key-wide"), &all, false));
    }
    let make = FormView::new(paths::agent_keys(&agent.id), fields, t!("settings-agents-key-add"));
    blocks.push(SettingsBlock::Form(make.titled(t!("settings-agents-key-add-title"))));
    let mut fields = Vec::new();
    if admin {
        let owners = owners(directory, Some(&agent.owner));
        let owner = filled
            .one_of("owner", &labeled("owner"), &owners, agent.owner.as_str())
            .hint(t!("settings-agents-owner-hint"));
        fields.push(owner);
    }
    let takes = t!("settings-agents-conversations-yes");
    let conversations = t!("settings-agents-conversations");
    fields.push(filled.flag("conversations", &conversations, &takes, agent.conversations));
    let change = FormView::new(paths::agent(&agent.id), fields, t!("settings-save"));
    let title = if admin { t!("settings-agents-owner-title") } else { conversations };
    blocks.push(SettingsBlock::Form(change.titled(title)));
    blocks.push(SettingsBlock::Link {
        href: paths::AGENTS.to_owned(),
        label: t!("settings-agents-back"),
    });
    let owner = wording::person_name(directory, &agent.owner);
    SettingsPage {
        at: paths::AGENTS,
        title: agent.id.to_string(),
        lead: t!("settings-agents-page-lead", project = agent.project.as_str(), owner = owner),
        blocks,
        ..SettingsPage::default()
    }
}

fn key_row(used: &KeyUsage<'_>, now: Time) -> SettingsRow {
    let key = used.key;
    let when = |at: Time| RelativeTime::new(at, now).words;
    let made = match used.at {
        None => {
            t!("settings-agents-key-unused", id = key.id.to_string(), created = when(key.issued_at))
        }
        Some(at) => t!(
            "settings-agents-key-used",
            id = key.id.to_string(),
            created = when(key.issued_at),
            used = when(at)
        ),
    };
    let wide = matches!(key.kind, CredentialKind::Agent { scope: KeyScope::Project, .. });
    let (mark, live) = match (key.revoked_at, key.expires_at) {
        (Some(_), _) => (Some(t!("settings-agents-key-revoked")), false),
        (None, Some(end)) if end <= now => (Some(t!("settings-agents-key-expired")), false),
        (None, _) if wide => (Some(t!("settings-agents-key-whole-project")), true),
        (None, _) => (None, true),
    };
    let href = format!("{}?key={}", paths::REVOKE_KEY, key.id);
    let act = live.then_some(RowAction::Go { href, label: t!("settings-agents-key-revoke") });
    let label =
        if key.label.is_empty() { t!("settings-agents-key-unnamed") } else { key.label.clone() };
    SettingsRow {
        title: VisibleText::of(&label),
        href: None,
        mark,
        facts: VisibleText::of(&made),
        act,
    }
}

/// A new key, and three ways to ask with it.
pub fn key_created(agent: &Agent, secret: &str, server_url: &str) -> SettingsPage {
    let QuickStart { curl, python, cli } = QuickStart::with(server_url, secret);
    let code = |label, text| SettingsBlock::Code { label, text };
    SettingsPage {
        at: paths::AGENTS,
        title: t!("settings-key-new"),
        lead: t!("settings-key-new-lead", agent = agent.id.as_str()),
        blocks: vec![
            SettingsBlock::Secret { label: t!("settings-key-label"), value: secret.to_owned() },
            SettingsBlock::Heading(t!("settings-key-examples")),
            code(t!("settings-key-curl"), curl),
            code(t!("settings-key-python"), python),
            code(t!("settings-key-terminal"), cli),
            SettingsBlock::Link {
                href: paths::INBOX.to_owned(),
                label: t!("settings-key-to-inbox"),
            },
            SettingsBlock::Link { href: paths::agent(&agent.id), label: t!("settings-key-all") },
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
        &t!("settings-key-revoke-tokens"),
        &t!("settings-key-revoke-tokens-yes"),
        false,
    );
    let mut form = FormView::new(paths::REVOKE_KEY, vec![tokens], t!("settings-key-revoke-button"));
    form.hidden.push(("key", key.id.to_string()));
    for button in &mut form.buttons {
        button.tone = "no";
    }
    let name = if key.label.is_empty() { key.id.to_string() } else { key.label.clone() };
    SettingsPage {
        at: paths::AGENTS,
        title: t!("settings-key-revoke-title"),
        lead: t!("settings-key-revoke-lead", key = VisibleText::of(&name), agent = agent.as_str()),
        blocks: vec![
            SettingsBlock::Form(form),
            SettingsBlock::Link { href: paths::agent(agent), label: t!("settings-key-keep") },
        ],
        ..SettingsPage::default()
    }
}

/// Parses the form for a new agent.
pub fn read(form: &SubmittedForm) -> Result<NewAgent, FormProblems> {
    Ok(NewAgent {
        id: id(form, "id", &labeled("id"))?,
        project: id(form, "project", &labeled("project"))?,
        owner: id(form, "owner", &labeled("owner"))?,
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
