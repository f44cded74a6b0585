//! Agents and keys: `/settings/agents`, `/settings/keys/revoke`. People see the agents they own,
//! administrators see all.

use std::sync::Arc;

use axum::extract::{Path, Query, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use dialects::native::IssueKey;
use gateway::auth::Authenticator;
use gateway::{Gateway, bootstrap};
use kernel::actor::KeyScope;
use kernel::directory::{Agent, CredentialKind, Directory, Key, NewAgent};
use kernel::{AgentId, DirectoryCommand, KeyId};
use store::StoreError;
use views::settings::agents::{self as view, KeyUsage};
use views::settings::controls::{FormDraft, refused};
use views::settings::{self, SettingsPage};
use views::site::paths;
use views::t;

use super::{SettingsQuery, empty_form, framed, not_found, page_of, saved};
use crate::config::Config;
use crate::http::pages::settings::{public_address, run_create_command, run_form_command};
use crate::http::pages::visitor::{AdminVisitor, UnreadForm, Visitors};
use crate::http::pages::{PageError, PageResult, Visitor, html};

/// The most keys of an agent that are shown, the newest first.
const KEYS: usize = 100;

pub(super) async fn list(
    State(gateway): State<Gateway>,
    Query(asked): Query<SettingsQuery>,
    visitor: Visitor,
) -> PageResult {
    let after = asked.after.and_then(|id| id.parse().ok());
    Ok(agents_page(&gateway, &visitor, after.as_ref(), empty_form()))
}

pub(super) async fn add(
    State(gateway): State<Gateway>,
    AdminVisitor(visitor): AdminVisitor,
    posted: UnreadForm,
) -> PageResult {
    let form = posted.read(&visitor, paths::AGENTS).await?;
    let problems = match view::read(&form) {
        Ok(new) => {
            let path = paths::agent(&new.id);
            let taken = gateway.directory().agent(&new.id).map(|_| t!("settings-agents-id-taken"));
            let command = DirectoryCommand::SaveAgent(new);
            match run_create_command(&gateway, &visitor, taken, command, view::label).await? {
                Ok(()) => return Ok(saved(&path)),
                Err(problems) => problems,
            }
        }
        Err(problems) => problems,
    };
    Ok(agents_page(&gateway, &visitor, None, FormDraft { form: Some(&form), problems: &problems }))
}

pub(super) async fn show(
    State(gateway): State<Gateway>,
    State(authenticator): State<Arc<Authenticator>>,
    Path(id): Path<String>,
    Query(asked): Query<SettingsQuery>,
    visitor: Visitor,
) -> PageResult {
    let directory = gateway.directory();
    let agent = managed_agent(&visitor, &directory, &id)?;
    let filled = empty_form();
    agent_page(&gateway, &authenticator, &visitor, &directory, agent, asked.done(), filled).await
}

/// Changes the owner, or whether people may write to the agent. An agent never
/// moves to another project.
pub(super) async fn save(
    State(gateway): State<Gateway>,
    State(authenticator): State<Arc<Authenticator>>,
    Path(id): Path<String>,
    visitor: Visitor,
    posted: UnreadForm,
) -> PageResult {
    let directory = gateway.directory();
    let agent = managed_agent(&visitor, &directory, &id)?;
    let path = paths::agent(&agent.id);
    let form = posted.read(&visitor, &path).await?;
    // The form of an owner who is no administrator has no field for another owner.
    let owner = match form.value("owner") {
        None if !visitor.human.admin => Ok(agent.owner.clone()),
        Some(_) | None => settings::people::id(&form, "owner", &t!("settings-agents-owner")),
    };
    let command = owner.map(|owner| {
        let (id, project) = (agent.id.clone(), agent.project.clone());
        let conversations = Some(form.value("conversations").is_some());
        DirectoryCommand::SaveAgent(NewAgent { id, project, owner, conversations })
    });
    let done = run_form_command(&gateway, &visitor, command, view::label).await?;
    let Err(problems) = done else { return Ok(saved(&path)) };
    let filled = FormDraft { form: Some(&form), problems: &problems };
    agent_page(&gateway, &authenticator, &visitor, &directory, agent, None, filled).await
}

/// Creates a key for an agent and shows it once, with three examples of its use.
pub(super) async fn make_key(
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    State(authenticator): State<Arc<Authenticator>>,
    Path(id): Path<String>,
    visitor: Visitor,
    posted: UnreadForm,
) -> PageResult {
    let directory = gateway.directory();
    let agent = managed_agent(&visitor, &directory, &id)?;
    let form = posted.read(&visitor, &paths::agent(&agent.id)).await?;
    let label = form.value("label").unwrap_or_default().trim().to_owned();
    let wide = form.value("project_wide").is_some();
    let new = IssueKey {
        agent: Some(agent.id.clone()),
        reach: wide.then_some(KeyScope::Project),
        respond: false,
        own_app: false,
        human: None,
        label,
        expires_at: None,
    };
    match new_key(&gateway, &config, &visitor, agent, new).await {
        Ok(shown) => Ok(shown),
        Err(StoreError::Refused(refusal)) => {
            let problems = refused(&refusal, view::label);
            let filled = FormDraft { form: Some(&form), problems: &problems };
            agent_page(&gateway, &authenticator, &visitor, &directory, agent, None, filled).await
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn show_revoke(
    State(gateway): State<Gateway>,
    Query(asked): Query<SettingsQuery>,
    visitor: Visitor,
) -> PageResult {
    let directory = gateway.directory();
    let (key, agent) = managed_key(&visitor, &directory, view::parse_key_id(asked.key.as_deref()))?;
    Ok(framed(&visitor, &view::revoke(key, agent)))
}

pub(super) async fn revoke(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    from: Request,
) -> PageResult {
    let (visitor, form) = visitors.visitor_and_form(from, paths::AGENTS).await?;
    let directory = gateway.directory();
    let (key, agent) = managed_key(&visitor, &directory, view::parse_key_id(form.value("key")))?;
    let command = if form.value("end_tokens").is_some() {
        DirectoryCommand::RevokeKeyWithTokens(key.id)
    } else {
        DirectoryCommand::RevokeKey(key.id)
    };
    gateway.run(visitor.actor.clone(), command).await?;
    Ok(saved(&paths::agent(agent)))
}

/// An agent that the visitor may manage. For anyone else it does not exist.
fn managed_agent<'a>(
    visitor: &Visitor,
    directory: &'a Directory,
    id: &str,
) -> Result<&'a Agent, PageError> {
    let known = id.parse().ok().and_then(|id: AgentId| directory.agent(&id));
    let mine = |agent: &&Agent| visitor.human.admin || agent.owner == visitor.human.id;
    known.filter(mine).ok_or_else(|| not_found(visitor))
}

/// An agent's key that the visitor may revoke.
fn managed_key<'a>(
    visitor: &Visitor,
    directory: &'a Directory,
    id: Option<KeyId>,
) -> Result<(&'a Key, &'a AgentId), PageError> {
    let key = id.and_then(|id| directory.key(id));
    let key = key.filter(|key| directory.manages(&visitor.actor, &key.kind));
    match key.map(|key| (key, &key.kind)) {
        Some((key, CredentialKind::Agent { agent, .. })) => Ok((key, agent)),
        Some((
            _,
            CredentialKind::Token { .. }
            | CredentialKind::Link { .. }
            | CredentialKind::Session { .. }
            | CredentialKind::Passkey { .. },
        ))
        | None => Err(not_found(visitor)),
    }
}

fn agents_page(
    gateway: &Gateway,
    visitor: &Visitor,
    after: Option<&AgentId>,
    filled: FormDraft<'_>,
) -> Response {
    let (directory, admin) = (gateway.directory(), visitor.human.admin);
    let id = |agent: &&Agent| agent.id.to_string();
    let (agents, next) = if admin {
        page_of(directory.agents_after(after), paths::AGENTS, id)
    } else {
        let mine = directory.agents_of(&visitor.human.id);
        let mine = mine.filter(|agent| after.is_none_or(|id| agent.id > *id));
        page_of(mine, paths::AGENTS, id)
    };
    let shown = view::list(&agents, &directory, next, admin, filled);
    framed(visitor, &SettingsPage { problems: filled.problems.clone(), ..shown })
}

async fn agent_page(
    gateway: &Gateway,
    authenticator: &Authenticator,
    visitor: &Visitor,
    directory: &Directory,
    agent: &Agent,
    done: Option<String>,
    filled: FormDraft<'_>,
) -> PageResult {
    let mut keys = Vec::new();
    for key in directory.keys_of(&agent.id).rev().take(KEYS) {
        let written = gateway.store().key_used(key.id).await?;
        keys.push(KeyUsage { key, at: written.max(authenticator.just_used(key.id)) });
    }
    let (now, admin) = (gateway.now(), visitor.human.admin);
    let shown = view::page(agent, &keys, directory, now, admin, filled);
    let problems = filled.problems.clone();
    Ok(framed(visitor, &SettingsPage { done, problems, ..shown }))
}

/// Creates a key and shows it once.
pub(super) async fn new_key(
    gateway: &Gateway,
    config: &Config,
    visitor: &Visitor,
    agent: &Agent,
    new: IssueKey,
) -> Result<Response, StoreError> {
    let issued = bootstrap::issue_key(gateway, visitor.actor.clone(), new).await?;
    let shown = view::key_created(agent, &issued.secret, public_address(config));
    let page = settings::page(&visitor.frame, visitor.human.admin, &shown);
    Ok(html(StatusCode::CREATED, page))
}
