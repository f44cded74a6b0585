//! Projects, for administrators: `/settings/projects`.

use std::sync::Arc;

use axum::extract::{Path, Query, Request, State};
use axum::http::HeaderMap;
use axum::response::Response;
use gateway::Gateway;
use kernel::{DirectoryCommand, ProjectId};
use views::settings::controls::Filled;
use views::settings::people::id as named;
use views::settings::{PAGE, SettingsPage, projects as view};
use views::site::paths;

use super::{Asked, framed, nothing_here, saved, untouched};
use crate::config::Config;
use crate::http::api::projects::new_project;
use crate::http::pages::settings::{attempt, attempt_new};
use crate::http::pages::visitors::Visitors;
use crate::http::pages::{Page, Visitor, parts};

pub(super) async fn list(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Page {
    let visitor = visitors.administrator(&headers).await?;
    let after = asked.after.and_then(|id| id.parse().ok());
    Ok(projects_page(&gateway, &visitor, after.as_ref(), untouched()))
}

pub(super) async fn add(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    from: Request,
) -> Page {
    let (headers, body) = parts(from);
    let visitor = visitors.administrator(&headers).await?;
    let form = visitors.submitted(&visitor, &headers, body, paths::PROJECTS).await?;
    let problems = match named(&form, "id", "Name of the project") {
        Ok(id) => {
            let path = paths::project(&id);
            let taken = gateway.directory().project(&id).map(|_| "a name no project has");
            let command = DirectoryCommand::AddProject(new_project(&config, id));
            match attempt_new(&gateway, &visitor, taken, command, view::LABELS).await? {
                Ok(()) => return Ok(saved(&path)),
                Err(problems) => problems,
            }
        }
        Err(problems) => problems,
    };
    Ok(projects_page(&gateway, &visitor, None, Filled { form: Some(&form), problems: &problems }))
}

pub(super) async fn show(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Page {
    let visitor = visitors.administrator(&headers).await?;
    let directory = gateway.directory();
    let known = id.parse().ok().and_then(|id: ProjectId| directory.project(&id));
    let project = known.ok_or_else(|| nothing_here(&visitor))?;
    let shown = view::page(project, &directory, untouched());
    Ok(framed(&visitor, &SettingsPage { done: asked.done(), ..shown }))
}

pub(super) async fn save(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    Path(id): Path<String>,
    from: Request,
) -> Page {
    let (headers, body) = parts(from);
    let visitor = visitors.administrator(&headers).await?;
    let directory = gateway.directory();
    let known = id.parse().ok().and_then(|id: ProjectId| directory.project(&id));
    let project = known.ok_or_else(|| nothing_here(&visitor))?;
    let path = paths::project(&project.id);
    let form = visitors.submitted(&visitor, &headers, body, &path).await?;
    let done = match view::read(&form, project.id.clone()) {
        Ok(new) => {
            attempt(&gateway, &visitor, DirectoryCommand::SaveProject(new), view::LABELS).await?
        }
        Err(problems) => Err(problems),
    };
    let Err(problems) = done else { return Ok(saved(&path)) };
    let filled = Filled { form: Some(&form), problems: &problems };
    let shown = view::page(project, &directory, filled);
    Ok(framed(&visitor, &SettingsPage { problems: problems.clone(), ..shown }))
}

fn projects_page(
    gateway: &Gateway,
    visitor: &Visitor,
    after: Option<&ProjectId>,
    filled: Filled<'_>,
) -> Response {
    let directory = gateway.directory();
    let mut projects: Vec<_> = directory.projects_after(after).take(PAGE + 1).collect();
    let more = projects.len() > PAGE;
    projects.truncate(PAGE);
    let last = projects.last().filter(|_| more);
    let next = last.map(|project| format!("{}?after={}", paths::PROJECTS, project.id));
    let shown = view::list(&projects, next, filled);
    framed(visitor, &SettingsPage { problems: filled.problems.clone(), ..shown })
}
