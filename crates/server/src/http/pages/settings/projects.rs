//! Projects, for administrators: `/settings/projects`.

use axum::extract::{Path, Query, Request, State};
use axum::http::HeaderMap;
use axum::response::Response;
use kernel::{DirectoryCommand, ProjectId};

use super::super::{Page, Visitor, parts};
use super::{Asked, framed, nothing_here, saved, untouched};
use crate::http::{App, Shared};
use views::settings::controls::Filled;
use views::settings::people::id as named;
use views::settings::projects as view;
use views::settings::{PAGE, SettingsPage};
use views::site::paths;

pub(super) async fn list(
    State(app): State<Shared>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Page {
    let visitor = app.administrator(&headers).await?;
    let after = asked.after.and_then(|id| id.parse().ok());
    Ok(app.projects(&visitor, after.as_ref(), untouched()))
}

pub(super) async fn add(State(app): State<Shared>, from: Request) -> Page {
    let (headers, body) = parts(from);
    let visitor = app.administrator(&headers).await?;
    let form = app.submitted(&visitor, &headers, body, paths::PROJECTS).await?;
    let problems = match named(&form, "id", "Name of the project") {
        Ok(id) => {
            let path = paths::project(&id);
            let taken = app.gateway.directory().project(&id).map(|_| "a name no project has");
            let command = DirectoryCommand::AddProject(app.new_project(id));
            match app.attempt_new(&visitor, taken, command, view::LABELS).await? {
                Ok(()) => return Ok(saved(&path)),
                Err(problems) => problems,
            }
        }
        Err(problems) => problems,
    };
    Ok(app.projects(&visitor, None, Filled { form: Some(&form), problems: &problems }))
}

pub(super) async fn show(
    State(app): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Page {
    let visitor = app.administrator(&headers).await?;
    let directory = app.gateway.directory();
    let known = id.parse().ok().and_then(|id: ProjectId| directory.project(&id));
    let project = known.ok_or_else(|| nothing_here(&visitor))?;
    let shown = view::page(project, &directory, untouched());
    Ok(framed(&visitor, &SettingsPage { done: asked.done(), ..shown }))
}

pub(super) async fn save(State(app): State<Shared>, Path(id): Path<String>, from: Request) -> Page {
    let (headers, body) = parts(from);
    let visitor = app.administrator(&headers).await?;
    let directory = app.gateway.directory();
    let known = id.parse().ok().and_then(|id: ProjectId| directory.project(&id));
    let project = known.ok_or_else(|| nothing_here(&visitor))?;
    let path = paths::project(&project.id);
    let form = app.submitted(&visitor, &headers, body, &path).await?;
    let done = match view::read(&form, project.id.clone()) {
        Ok(new) => app.attempt(&visitor, DirectoryCommand::SaveProject(new), view::LABELS).await?,
        Err(problems) => Err(problems),
    };
    let Err(problems) = done else { return Ok(saved(&path)) };
    let filled = Filled { form: Some(&form), problems: &problems };
    let shown = view::page(project, &directory, filled);
    Ok(framed(&visitor, &SettingsPage { problems: problems.clone(), ..shown }))
}

impl App {
    fn projects(
        &self,
        visitor: &Visitor,
        after: Option<&ProjectId>,
        filled: Filled<'_>,
    ) -> Response {
        let directory = self.gateway.directory();
        let mut projects: Vec<_> = directory.projects_after(after).take(PAGE + 1).collect();
        let more = projects.len() > PAGE;
        projects.truncate(PAGE);
        let last = projects.last().filter(|_| more);
        let next = last.map(|project| format!("{}?after={}", paths::PROJECTS, project.id));
        let shown = view::list(&projects, next, filled);
        framed(visitor, &SettingsPage { problems: filled.problems.clone(), ..shown })
    }
}
