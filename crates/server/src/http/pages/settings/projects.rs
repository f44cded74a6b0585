//! Projects, for administrators: `/settings/projects`.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::Response;
use gateway::Gateway;
use kernel::{DirectoryCommand, ProjectId};
use views::settings::controls::FormDraft;
use views::settings::people::id as named;
use views::settings::{SettingsPage, projects as view};
use views::site::paths;
use views::t;

use super::{SettingsQuery, empty_form, framed, not_found, page_of, saved, shown_again};
use crate::config::Config;
use crate::http::api::projects::new_project;
use crate::http::pages::settings::{run_create_command, run_form_command};
use crate::http::pages::visitor::{AdminVisitor, UnreadForm};
use crate::http::pages::{PageResult, Visitor};

pub(super) async fn list(
    State(gateway): State<Gateway>,
    Query(asked): Query<SettingsQuery>,
    AdminVisitor(visitor): AdminVisitor,
) -> PageResult {
    let after = asked.after.and_then(|id| id.parse().ok());
    Ok(projects_page(&gateway, &visitor, after.as_ref(), empty_form()))
}

pub(super) async fn add(
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    AdminVisitor(visitor): AdminVisitor,
    posted: UnreadForm,
) -> PageResult {
    let form = posted.read(&visitor, paths::PROJECTS).await?;
    let problems = match named(&form, "id", &t!("settings-projects-id")) {
        Ok(id) => {
            let path = paths::project(&id);
            let taken = gateway.directory().project(&id).map(|_| t!("settings-projects-id-taken"));
            let command = DirectoryCommand::AddProject(new_project(&config, id));
            match run_create_command(&gateway, &visitor, taken, command, view::label).await? {
                Ok(()) => return Ok(saved(&path)),
                Err(problems) => problems,
            }
        }
        Err(problems) => problems,
    };
    Ok(projects_page(
        &gateway,
        &visitor,
        None,
        FormDraft { form: Some(&form), problems: &problems },
    ))
}

pub(super) async fn show(
    State(gateway): State<Gateway>,
    Path(id): Path<String>,
    Query(asked): Query<SettingsQuery>,
    AdminVisitor(visitor): AdminVisitor,
) -> PageResult {
    let directory = gateway.directory();
    let known = id.parse().ok().and_then(|id: ProjectId| directory.project(&id));
    let project = known.ok_or_else(|| not_found(&visitor))?;
    let shown = view::page(project, &directory, empty_form());
    Ok(framed(&visitor, &SettingsPage { done: asked.done(), ..shown }))
}

pub(super) async fn save(
    State(gateway): State<Gateway>,
    Path(id): Path<String>,
    AdminVisitor(visitor): AdminVisitor,
    posted: UnreadForm,
) -> PageResult {
    let directory = gateway.directory();
    let known = id.parse().ok().and_then(|id: ProjectId| directory.project(&id));
    let project = known.ok_or_else(|| not_found(&visitor))?;
    let path = paths::project(&project.id);
    let form = posted.read(&visitor, &path).await?;
    let command = view::read(&form, project.id.clone()).map(DirectoryCommand::SaveProject);
    let done = run_form_command(&gateway, &visitor, command, view::label).await?;
    let Err(problems) = done else { return Ok(saved(&path)) };
    Ok(shown_again(&visitor, &form, &problems, |filled| view::page(project, &directory, filled)))
}

fn projects_page(
    gateway: &Gateway,
    visitor: &Visitor,
    after: Option<&ProjectId>,
    filled: FormDraft<'_>,
) -> Response {
    let directory = gateway.directory();
    let found = directory.projects_after(after);
    let (projects, next) = page_of(found, paths::PROJECTS, |project| project.id.to_string());
    let shown = view::list(&projects, next, filled);
    framed(visitor, &SettingsPage { problems: filled.problems.clone(), ..shown })
}
