//! People and groups, for administrators: `/settings/people`, `/settings/groups`.

use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use gateway::bootstrap;
use kernel::directory::Human;
use kernel::ids::GroupId;
use kernel::{DirectoryCommand, HumanId, KeyId};
use store::StoreError;

use super::super::{Page, Visitor, html, page as instead, parts};
use super::{Asked, framed, nothing_here, saved, untouched};
use crate::http::{App, Shared};
use views::settings::controls::Filled;
use views::settings::people as view;
use views::settings::{self, PAGE, SettingsPage};
use views::site::paths;
use views::{FormProblem, message_page};

pub(super) async fn list(
    State(app): State<Shared>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Page {
    let visitor = app.administrator(&headers).await?;
    let after = asked.after.and_then(|id| id.parse().ok());
    Ok(app.people(&visitor, after.as_ref(), untouched()))
}

pub(super) async fn add(State(app): State<Shared>, from: Request) -> Page {
    let (headers, body) = parts(from);
    let visitor = app.administrator(&headers).await?;
    let form = app.submitted(&visitor, &headers, body, paths::PEOPLE).await?;
    let problems = match view::read_new(&form) {
        Ok(new) => {
            let path = paths::person(&new.id);
            let taken = app.gateway.directory().human(&new.id).map(|_| "a name nobody has");
            let command = DirectoryCommand::AddHuman(new);
            match app.attempt_new(&visitor, taken, command, view::LABELS).await? {
                Ok(()) => return Ok(saved(&path)),
                Err(problems) => problems,
            }
        }
        Err(problems) => problems,
    };
    Ok(app.people(&visitor, None, Filled { form: Some(&form), problems: &problems }))
}

pub(super) async fn show(
    State(app): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Page {
    let visitor = app.administrator(&headers).await?;
    let directory = app.gateway.directory();
    let known = id.parse().ok().and_then(|id: HumanId| directory.human(&id));
    let human = known.ok_or_else(|| nothing_here(&visitor))?;
    let shown = view::page(human, &directory, app.gateway.now(), untouched());
    Ok(framed(&visitor, &SettingsPage { done: asked.done(), ..shown }))
}

pub(super) async fn save(State(app): State<Shared>, Path(id): Path<String>, from: Request) -> Page {
    let (headers, body) = parts(from);
    let visitor = app.administrator(&headers).await?;
    let directory = app.gateway.directory();
    let known = id.parse().ok().and_then(|id: HumanId| directory.human(&id));
    let human = known.ok_or_else(|| nothing_here(&visitor))?;
    let path = paths::person(&human.id);
    let form = app.submitted(&visitor, &headers, body, &path).await?;
    let done = match view::read(&form, human.id.clone()) {
        Ok(new) => app.attempt(&visitor, DirectoryCommand::SaveHuman(new), view::LABELS).await?,
        Err(problems) => Err(problems),
    };
    let Err(problems) = done else { return Ok(saved(&path)) };
    let filled = Filled { form: Some(&form), problems: &problems };
    let shown = view::page(human, &directory, app.gateway.now(), filled);
    Ok(framed(&visitor, &SettingsPage { problems: problems.clone(), ..shown }))
}

/// A sign-in link, shown once.
pub(super) async fn link(State(app): State<Shared>, Path(id): Path<String>, from: Request) -> Page {
    let (headers, body) = parts(from);
    let visitor = app.administrator(&headers).await?;
    let directory = app.gateway.directory();
    let known = id.parse().ok().and_then(|id: HumanId| directory.human(&id));
    let human = known.ok_or_else(|| nothing_here(&visitor))?;
    app.submitted(&visitor, &headers, body, &paths::person(&human.id)).await?;
    let secret = bootstrap::link(&app.gateway, visitor.actor.clone(), human.id.clone()).await?;
    let url = app.config.links().sign_in(&secret).map_err(|_| {
        let shown =
            message_page::server_error(&visitor.frame, "the sign-in address cannot be built");
        instead(StatusCode::INTERNAL_SERVER_ERROR, shown)
    })?;
    let shown = view::link_made(human, &directory, url.as_str());
    Ok(html(StatusCode::CREATED, settings::page(&visitor.frame, true, &shown)))
}

/// Confirms a passkey of theirs that waits.
pub(super) async fn confirm_passkey(
    State(app): State<Shared>,
    Path(id): Path<String>,
    from: Request,
) -> Page {
    let (headers, body) = parts(from);
    let visitor = app.administrator(&headers).await?;
    let directory = app.gateway.directory();
    let known = id.parse().ok().and_then(|id: HumanId| directory.living(&id));
    let human = known.ok_or_else(|| nothing_here(&visitor))?;
    let path = paths::person(&human.id);
    let form = app.submitted(&visitor, &headers, body, &path).await?;
    let key = form.value("key").and_then(|key| key.parse::<KeyId>().ok());
    let own = |key: &KeyId| directory.passkeys_of(&human.id).any(|one| one.id == *key);
    let key = key.filter(own).ok_or_else(|| nothing_here(&visitor))?;
    let done = app.attempt(&visitor, DirectoryCommand::ConfirmPasskey(key), view::LABELS).await?;
    Ok(app.person_after(&visitor, human, done))
}

/// Ends everything that lets them in.
pub(super) async fn end_access(
    State(app): State<Shared>,
    Path(id): Path<String>,
    from: Request,
) -> Page {
    let (headers, body) = parts(from);
    let visitor = app.administrator(&headers).await?;
    let directory = app.gateway.directory();
    let known = id.parse().ok().and_then(|id: HumanId| directory.living(&id));
    let human = known.ok_or_else(|| nothing_here(&visitor))?;
    app.submitted(&visitor, &headers, body, &paths::person(&human.id)).await?;
    let command = DirectoryCommand::EndAccess(human.id.clone());
    let done = app.attempt(&visitor, command, view::LABELS).await?;
    Ok(app.person_after(&visitor, human, done))
}

impl App {
    /// The page of a person after something was done about them, or what was wrong with it.
    fn person_after(
        &self,
        visitor: &Visitor,
        human: &Human,
        done: Result<(), FormProblem>,
    ) -> Response {
        let Err(problems) = done else { return saved(&paths::person(&human.id)) };
        let filled = Filled { form: None, problems: &problems };
        let shown = view::page(human, &self.gateway.directory(), self.gateway.now(), filled);
        framed(visitor, &SettingsPage { problems: problems.clone(), ..shown })
    }
}

/// What erasing a person removes and what stays, before it is done.
pub(super) async fn confirm_erase(
    State(app): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Page {
    let visitor = app.administrator(&headers).await?;
    let directory = app.gateway.directory();
    let known = id.parse().ok().and_then(|id: HumanId| directory.living(&id));
    let human = known.ok_or_else(|| nothing_here(&visitor))?;
    Ok(framed(&visitor, &view::erase(human, &directory, untouched())))
}

pub(super) async fn erase(
    State(app): State<Shared>,
    Path(id): Path<String>,
    from: Request,
) -> Page {
    let (headers, body) = parts(from);
    let visitor = app.administrator(&headers).await?;
    let directory = app.gateway.directory();
    let known = id.parse().ok().and_then(|id: HumanId| directory.living(&id));
    let human = known.ok_or_else(|| nothing_here(&visitor))?;
    let form = app.submitted(&visitor, &headers, body, &paths::person_erase(&human.id)).await?;
    let problems = match view::confirmed(&form, &human.id) {
        Ok(()) => match app.erasure.erase_person(visitor.actor.clone(), &human.id).await {
            Ok(()) => return Ok(saved(&paths::person(&human.id))),
            Err(StoreError::Refused(refusal)) => settings::controls::refused(&refusal, &[]),
            Err(error) => return Err(error.into()),
        },
        Err(problems) => problems,
    };
    let filled = Filled { form: Some(&form), problems: &problems };
    let shown = view::erase(human, &directory, filled);
    Ok(framed(&visitor, &SettingsPage { problems: problems.clone(), ..shown }))
}

pub(super) async fn groups(
    State(app): State<Shared>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Page {
    let visitor = app.administrator(&headers).await?;
    let shown = view::groups(&app.gateway.directory(), untouched());
    Ok(framed(&visitor, &SettingsPage { done: asked.done(), ..shown }))
}

pub(super) async fn add_group(State(app): State<Shared>, from: Request) -> Page {
    let (headers, body) = parts(from);
    let visitor = app.administrator(&headers).await?;
    let form = app.submitted(&visitor, &headers, body, paths::GROUPS).await?;
    let read = view::id(&form, "id", "Name of the group").and_then(|id: GroupId| {
        let new = view::read_group(&form, id)?;
        if new.members.is_empty() {
            let nobody =
                kernel::Refusal::Invalid { field: "members", expected: "at least one person" };
            return Err(settings::controls::refused(&nobody, view::GROUP_LABELS));
        }
        Ok(new)
    });
    let done = match read {
        Ok(new) => {
            app.attempt(&visitor, DirectoryCommand::SaveGroup(new), view::GROUP_LABELS).await?
        }
        Err(problems) => Err(problems),
    };
    let Err(problems) = done else { return Ok(saved(paths::GROUPS)) };
    let filled = Filled { form: Some(&form), problems: &problems };
    let shown = view::groups(&app.gateway.directory(), filled);
    Ok(framed(&visitor, &SettingsPage { problems: problems.clone(), ..shown }))
}

pub(super) async fn group(
    State(app): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Page {
    let visitor = app.administrator(&headers).await?;
    let id: GroupId = id.parse().map_err(|_| nothing_here(&visitor))?;
    let directory = app.gateway.directory();
    directory.members(&id).next().ok_or_else(|| nothing_here(&visitor))?;
    let shown = view::group(&id, &directory, untouched());
    Ok(framed(&visitor, &shown))
}

pub(super) async fn save_group(
    State(app): State<Shared>,
    Path(id): Path<String>,
    from: Request,
) -> Page {
    let (headers, body) = parts(from);
    let visitor = app.administrator(&headers).await?;
    let id: GroupId = id.parse().map_err(|_| nothing_here(&visitor))?;
    let form = app.submitted(&visitor, &headers, body, &paths::group(&id)).await?;
    let done = match view::read_group(&form, id.clone()) {
        Ok(new) => {
            app.attempt(&visitor, DirectoryCommand::SaveGroup(new), view::GROUP_LABELS).await?
        }
        Err(problems) => Err(problems),
    };
    let Err(problems) = done else { return Ok(saved(paths::GROUPS)) };
    let filled = Filled { form: Some(&form), problems: &problems };
    let shown = view::group(&id, &app.gateway.directory(), filled);
    Ok(framed(&visitor, &SettingsPage { problems: problems.clone(), ..shown }))
}

impl App {
    fn people(&self, visitor: &Visitor, after: Option<&HumanId>, filled: Filled<'_>) -> Response {
        let directory = self.gateway.directory();
        let mut people: Vec<_> = directory.humans_after(after).take(PAGE + 1).collect();
        let more = people.len() > PAGE;
        people.truncate(PAGE);
        let last = people.last().filter(|_| more);
        let next = last.map(|human| format!("{}?after={}", paths::PEOPLE, human.id));
        let shown = view::list(&people, next, self.gateway.now(), filled);
        framed(visitor, &SettingsPage { problems: filled.problems.clone(), ..shown })
    }
}
