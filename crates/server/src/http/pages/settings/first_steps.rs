//! The first steps from an empty inbox: creating a key, and a demonstration.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect};
use dialects::native::IssueKey;
use gateway::Gateway;
use kernel::actor::KeyScope;
use kernel::ask::{Dialect, Labels, Priority, Route};
use kernel::command::{NewAsk, NewOnExpiry};
use kernel::directory::{Agent, NewAgent, NewProject};
use kernel::question::{Editable, Question, QuestionBody};
use kernel::{Actor, AgentId, AskCommand, DirectoryCommand, Phase, ProjectId};
use serde_json::{Map, Value};
use store::{AskListQuery, Filter, ListScope, Order};
use views::site::paths;
use views::{message_page, t};

use crate::config::Config;
use crate::http::api::projects::new_project;
use crate::http::pages::settings::agents::new_key;
use crate::http::pages::visitor::{AdminVisitor, UnreadForm, Visitors};
use crate::http::pages::{PageError, PageResult, Visitor, page};

/// After this time an unanswered demonstration expires.
const DEMO_SECONDS: u64 = 60 * 60;

/// `POST /settings/first-key`: a key for an agent of the visitor, with three examples of its use.
pub(super) async fn key(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    from: Request,
) -> PageResult {
    let (visitor, _) = visitors.visitor_and_form(from, paths::INBOX).await?;
    let agent = own_agent(&gateway, &config, &visitor).await?;
    let new = IssueKey {
        agent: Some(agent.id.clone()),
        reach: None,
        respond: false,
        own_app: false,
        human: None,
        label: t!("settings-key-first"),
        expires_at: None,
    };
    Ok(new_key(&gateway, &config, &visitor, &agent, new).await?)
}

/// `POST /settings/demo`: a demonstration agent asks the administrator who pressed the button.
///
/// The agent has its own project, so it does not mix with real requests, and no key, so no one else
/// can ask as this agent. Its request says that it is a demonstration, has no callback, and fails
/// when it expires.
pub(super) async fn demo(
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    AdminVisitor(visitor): AdminVisitor,
    posted: UnreadForm,
) -> PageResult {
    posted.read(&visitor, paths::INBOX).await?;
    let (agent, project) = demo_names(&visitor)?;
    let directory = gateway.directory();
    if directory.project(&project).is_none() {
        let new = NewProject { default_on_silence: false, ..new_project(&config, project.clone()) };
        gateway.run(visitor.actor.clone(), DirectoryCommand::SaveProject(new)).await?;
    }
    if directory.agent(&agent).is_none() {
        let owner = visitor.human.id.clone();
        let new =
            NewAgent { id: agent.clone(), project: project.clone(), owner, conversations: None };
        gateway.run(visitor.actor.clone(), DirectoryCommand::SaveAgent(new)).await?;
    }
    let open = AskListQuery {
        scopes: vec![ListScope::Agent(agent.clone())],
        phases: Phase::OPEN.to_vec(),
        filter: Filter::default(),
        order: Order::Age,
        after: None,
        limit: 1,
    };
    // One demonstration at a time: the button leads to the open one.
    if let Some(waiting) = gateway.list(open).await?.asks.first() {
        return Ok(Redirect::to(&paths::request(waiting.id)).into_response());
    }
    let asks = Actor::Agent { id: agent, project, key: visitor.session, scope: KeyScope::Agent };
    let question = demonstration().ok_or_else(|| broken(&visitor))?;
    let asked = gateway.run(asks, AskCommand::Create(Box::new(question))).await?;
    let to = asked.ask.map_or_else(|| paths::INBOX.to_owned(), |ask| paths::request(ask.id));
    Ok(Redirect::to(&to).into_response())
}

fn demo_names(visitor: &Visitor) -> Result<(AgentId, ProjectId), PageError> {
    let agent = format!("demo-{}", visitor.human.id).parse();
    let project = "demo".parse();
    agent.ok().zip(project.ok()).ok_or_else(|| broken(visitor))
}

fn broken(visitor: &Visitor) -> PageError {
    let shown = message_page::server_error(&visitor.frame, &t!("settings-demo-broken"));
    page(StatusCode::INTERNAL_SERVER_ERROR, shown)
}

/// The request of the demonstration, in the language of the person who asked for it.
fn demonstration() -> Option<NewAsk> {
    let details = [
        (t!("settings-demo-amount"), t!("settings-demo-amount-value")),
        (t!("settings-demo-recipient"), t!("settings-demo-recipient-value")),
        (t!("settings-demo-effect"), t!("settings-demo-effect-value")),
    ];
    let body = QuestionBody::Approve {
        details: details.into_iter().map(|(name, value)| (name, Value::String(value))).collect(),
        editable: Editable::Flag(false),
        reject_requires_reason: false,
        reject_options: Vec::new(),
    };
    Some(NewAsk {
        dialect: Dialect::Native,
        question: Question::new(
            t!("settings-demo-prompt"),
            Some(t!("settings-demo-context")),
            body,
        )
        .ok()?,
        metadata: Map::new(),
        labels: Labels::default(),
        tags: BTreeSet::from(["demonstration".to_owned()]),
        priority: Priority::Normal,
        route: Route::Owner,
        timeout: Some(DEMO_SECONDS),
        on_expiry: NewOnExpiry::Fail,
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
    })
}

/// The first agent that the visitor owns; an administrator without one gets one.
async fn own_agent(
    gateway: &Gateway,
    config: &Config,
    visitor: &Visitor,
) -> Result<Agent, PageError> {
    let (directory, me) = (gateway.directory(), &visitor.human);
    let demo = demo_names(visitor)?.0;
    let mut mine = directory.agents_of(&me.id);
    if let Some(agent) = mine.find(|agent| agent.id != demo) {
        return Ok(agent.clone());
    }
    if !me.admin {
        return Err(page(StatusCode::FORBIDDEN, message_page::forbidden(&visitor.frame)));
    }
    let project = match me.projects.first() {
        Some(project) => project.clone(),
        None => "default".parse().map_err(|_| broken(visitor))?,
    };
    if directory.project(&project).is_none() {
        let new = DirectoryCommand::SaveProject(new_project(config, project.clone()));
        gateway.run(visitor.actor.clone(), new).await?;
    }
    let names = ["agent".to_owned(), format!("agent-{}", me.id)];
    let free = names.iter().filter_map(|name| name.parse::<AgentId>().ok());
    let id = free.into_iter().find(|id| directory.agent(id).is_none());
    let id = id.ok_or_else(|| broken(visitor))?;
    let new = NewAgent {
        id: id.clone(),
        project: project.clone(),
        owner: me.id.clone(),
        conversations: None,
    };
    gateway.run(visitor.actor.clone(), DirectoryCommand::SaveAgent(new)).await?;
    Ok(Agent { id, project, owner: me.id.clone(), conversations: false })
}
