//! `/settings`: personal settings for everyone, and those of the installation for administrators.
//!
//! A saved form redirects to its page, so that a reload saves nothing again. A refused form is
//! shown again with all its input.

mod agents;
mod devices;
mod first_steps;
mod notifications;
mod people;
mod profile;
mod projects;
mod rules;
mod signing;
mod webhooks;

use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use gateway::Gateway;
use kernel::Command;
use serde::Deserialize;
use store::StoreError;
use views::answer_form::problem::{FormProblems, ProblemLocation};
use views::components::wording::VisibleText;
use views::settings::controls::{FormDraft, refused};
use views::settings::{self, PAGE_SIZE, SettingsPage};
use views::site::paths;
use views::{SubmittedForm, message_page, t};

use super::{PageError, PageResult, Visitor, html, page};
use crate::config::Config;
use crate::http::AppState;

/// The routes of the settings.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route(paths::SETTINGS, get(overview))
        .route(paths::PROFILE, get(profile::show).post(profile::save))
        .route(paths::AWAY, get(profile::show_away).post(profile::save_away))
        .route(paths::DEVICES, get(devices::show).post(devices::change))
        .route(paths::NOTIFICATION_SETTINGS, get(notifications::show).post(notifications::change))
        .route(paths::PEOPLE, get(people::list).post(people::add))
        .route("/settings/people/{id}", get(people::show).post(people::save))
        .route("/settings/people/{id}/link", post(people::link))
        .route("/settings/people/{id}/passkey", post(people::confirm_passkey))
        .route("/settings/people/{id}/access", post(people::end_access))
        .route("/settings/people/{id}/erase", get(people::confirm_erase).post(people::erase))
        .route(paths::GROUPS, get(people::groups).post(people::add_group))
        .route("/settings/groups/{id}", get(people::group).post(people::save_group))
        .route(paths::AGENTS, get(agents::list).post(agents::add))
        .route("/settings/agents/{id}", get(agents::show).post(agents::save))
        .route("/settings/agents/{id}/keys", post(agents::make_key))
        .route(paths::REVOKE_KEY, get(agents::show_revoke).post(agents::revoke))
        .route(paths::PROJECTS, get(projects::list).post(projects::add))
        .route("/settings/projects/{id}", get(projects::show).post(projects::save))
        .route(paths::RULES, get(rules::show).post(rules::save))
        .route(paths::WEBHOOKS, get(webhooks::list).post(webhooks::add))
        .route("/settings/webhooks/{id}", get(webhooks::show).post(webhooks::save))
        .route("/settings/webhooks/{id}/rotate", post(webhooks::rotate))
        .route("/settings/webhooks/{id}/test", post(webhooks::test))
        .route("/settings/webhooks/{id}/redeliver", post(webhooks::redeliver))
        .route("/settings/webhooks/{id}/remove", get(webhooks::show_remove).post(webhooks::remove))
        .route(paths::SIGNING, get(signing::show))
        .route(paths::FIRST_KEY, post(first_steps::key))
        .route(paths::DEMO, post(first_steps::demo))
}

/// The query of a settings page.
#[derive(Deserialize)]
struct SettingsQuery {
    /// Set after a form was saved.
    saved: Option<String>,
    /// The position of the next page of a list.
    after: Option<String>,
    /// The id of a key.
    key: Option<String>,
}

impl SettingsQuery {
    fn done(&self) -> Option<String> {
        self.saved.as_ref().map(|_| t!("settings-saved"))
    }
}

async fn overview(visitor: Visitor) -> PageResult {
    Ok(framed(&visitor, &settings::overview(visitor.human.admin)))
}

/// A form without input.
fn empty_form() -> FormDraft<'static> {
    static NOTHING: FormProblems = FormProblems { problems: Vec::new() };
    FormDraft { form: None, problems: &NOTHING }
}

fn framed(visitor: &Visitor, shown: &SettingsPage) -> Response {
    let status = if shown.problems.problems.is_empty() {
        StatusCode::OK
    } else {
        StatusCode::UNPROCESSABLE_ENTITY
    };
    html(status, settings::page(&visitor.frame, visitor.human.admin, shown))
}

/// The page again, with the input of a form that was refused and its problems.
fn shown_again(
    visitor: &Visitor,
    form: &SubmittedForm,
    problems: &FormProblems,
    page: impl FnOnce(FormDraft<'_>) -> SettingsPage,
) -> Response {
    let shown = page(FormDraft { form: Some(form), problems });
    framed(visitor, &SettingsPage { problems: problems.clone(), ..shown })
}

/// The entries of one page of a list, and the address of the next page.
fn page_of<T>(
    found: impl Iterator<Item = T>,
    path: &str,
    id: impl FnOnce(&T) -> String,
) -> (Vec<T>, Option<String>) {
    let mut entries: Vec<T> = found.take(PAGE_SIZE + 1).collect();
    let more = entries.len() > PAGE_SIZE;
    entries.truncate(PAGE_SIZE);
    let last = entries.last().filter(|_| more);
    let next = last.map(|last| format!("{path}?after={}", id(last)));
    (entries, next)
}

fn saved(path: &str) -> Response {
    Redirect::to(&format!("{path}?saved=1")).into_response()
}

/// Executes the command of a form, if the form could be read. A refusal is reported at the field it
/// is about.
async fn run_form_command(
    gateway: &Gateway,
    visitor: &Visitor,
    command: Result<impl Into<Command>, FormProblems>,
    label: impl Fn(&str) -> Option<String>,
) -> Result<Result<(), FormProblems>, PageError> {
    let command = match command {
        Ok(command) => command,
        Err(problems) => return Ok(Err(problems)),
    };
    match gateway.run(visitor.actor.clone(), command).await {
        Ok(_) => Ok(Ok(())),
        Err(StoreError::Refused(refusal)) => Ok(Err(refused(&refusal, label))),
        Err(error) => Err(error.into()),
    }
}

/// Like [`run_form_command`], for a command that creates something; `taken` is the message if
/// the name is in use.
async fn run_create_command(
    gateway: &Gateway,
    visitor: &Visitor,
    taken: Option<String>,
    command: impl Into<Command>,
    label: impl Fn(&str) -> Option<String>,
) -> Result<Result<(), FormProblems>, PageError> {
    match taken {
        Some(message) => {
            let mut problem = FormProblems::default();
            let label = label("id").map(|label| VisibleText::of(&label));
            problem.add(ProblemLocation::Field("id".to_owned()), label, message);
            Ok(Err(problem))
        }
        None => run_form_command(gateway, visitor, Ok(command), label).await,
    }
}

/// The address by which agents and people reach this server.
fn public_address(config: &Config) -> &str {
    config.public_url.as_str().trim_end_matches('/')
}

fn not_found(visitor: &Visitor) -> PageError {
    page(StatusCode::NOT_FOUND, message_page::not_found(&visitor.frame))
}
