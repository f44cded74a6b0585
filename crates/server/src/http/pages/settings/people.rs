//! People and groups, for administrators: `/settings/people`, `/settings/groups`.

use std::sync::Arc;

use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use gateway::erasure::Erasure;
use gateway::{Gateway, bootstrap};
use kernel::directory::Human;
use kernel::ids::GroupId;
use kernel::{DirectoryCommand, HumanId, KeyId};
use store::StoreError;
use views::settings::controls::Filled;
use views::settings::{self, PAGE, SettingsPage, people as view};
use views::site::paths;
use views::{FormProblem, message_page};

use super::{Asked, framed, nothing_here, saved, untouched};
use crate::config::Config;
use crate::http::pages::settings::{attempt, attempt_new};
use crate::http::pages::visitors::Visitors;
use crate::http::pages::{Page, Visitor, html, page as instead, parts};

pub(super) async fn list(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Page {
    let visitor = visitors.administrator(&headers).await?;
    let after = asked.after.and_then(|id| id.parse().ok());
    Ok(people_page(&gateway, &visitor, after.as_ref(), untouched()))
}

pub(super) async fn add(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    from: Request,
) -> Page {
    let (headers, body) = parts(from);
    let visitor = visitors.administrator(&headers).await?;
    let form = visitors.submitted(&visitor, &headers, body, paths::PEOPLE).await?;
    let problems = match view::read_new(&form) {
        Ok(new) => {
            let path = paths::person(&new.id);
            let taken = gateway.directory().human(&new.id).map(|_| "a name nobody has");
            let command = DirectoryCommand::AddHuman(new);
            match attempt_new(&gateway, &visitor, taken, command, view::LABELS).await? {
                Ok(()) => return Ok(saved(&path)),
                Err(problems) => problems,
            }
        }
        Err(problems) => problems,
    };
    Ok(people_page(&gateway, &visitor, None, Filled { form: Some(&form), problems: &problems }))
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
    let known = id.parse().ok().and_then(|id: HumanId| directory.human(&id));
    let human = known.ok_or_else(|| nothing_here(&visitor))?;
    let shown = view::page(human, &directory, gateway.now(), untouched());
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
    let known = id.parse().ok().and_then(|id: HumanId| directory.human(&id));
    let human = known.ok_or_else(|| nothing_here(&visitor))?;
    let path = paths::person(&human.id);
    let form = visitors.submitted(&visitor, &headers, body, &path).await?;
    let done = match view::read(&form, human.id.clone()) {
        Ok(new) => {
            attempt(&gateway, &visitor, DirectoryCommand::SaveHuman(new), view::LABELS).await?
        }
        Err(problems) => Err(problems),
    };
    let Err(problems) = done else { return Ok(saved(&path)) };
    let filled = Filled { form: Some(&form), problems: &problems };
    let shown = view::page(human, &directory, gateway.now(), filled);
    Ok(framed(&visitor, &SettingsPage { problems: problems.clone(), ..shown }))
}

/// A sign-in link, shown once.
pub(super) async fn link(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    Path(id): Path<String>,
    from: Request,
) -> Page {
    let (headers, body) = parts(from);
    let visitor = visitors.administrator(&headers).await?;
    let directory = gateway.directory();
    let known = id.parse().ok().and_then(|id: HumanId| directory.human(&id));
    let human = known.ok_or_else(|| nothing_here(&visitor))?;
    visitors.submitted(&visitor, &headers, body, &paths::person(&human.id)).await?;
    let secret = bootstrap::link(&gateway, visitor.actor.clone(), human.id.clone()).await?;
    let url = config.links().sign_in(&secret).map_err(|_| {
        let shown =
            message_page::server_error(&visitor.frame, "the sign-in address cannot be built");
        instead(StatusCode::INTERNAL_SERVER_ERROR, shown)
    })?;
    let shown = view::link_made(human, &directory, url.as_str());
    Ok(html(StatusCode::CREATED, settings::page(&visitor.frame, true, &shown)))
}

/// Confirms a waiting passkey of the person.
pub(super) async fn confirm_passkey(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    Path(id): Path<String>,
    from: Request,
) -> Page {
    let (headers, body) = parts(from);
    let visitor = visitors.administrator(&headers).await?;
    let directory = gateway.directory();
    let known = id.parse().ok().and_then(|id: HumanId| directory.living(&id));
    let human = known.ok_or_else(|| nothing_here(&visitor))?;
    let path = paths::person(&human.id);
    let form = visitors.submitted(&visitor, &headers, body, &path).await?;
    let key = form.value("key").and_then(|key| key.parse::<KeyId>().ok());
    let own = |key: &KeyId| directory.passkeys_of(&human.id).any(|one| one.id == *key);
    let key = key.filter(own).ok_or_else(|| nothing_here(&visitor))?;
    let done =
        attempt(&gateway, &visitor, DirectoryCommand::ConfirmPasskey(key), view::LABELS).await?;
    Ok(person_after(&gateway, &visitor, human, done))
}

/// Revokes all access of the person: their credentials, links and verified contact methods.
pub(super) async fn end_access(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    Path(id): Path<String>,
    from: Request,
) -> Page {
    let (headers, body) = parts(from);
    let visitor = visitors.administrator(&headers).await?;
    let directory = gateway.directory();
    let known = id.parse().ok().and_then(|id: HumanId| directory.living(&id));
    let human = known.ok_or_else(|| nothing_here(&visitor))?;
    visitors.submitted(&visitor, &headers, body, &paths::person(&human.id)).await?;
    let command = DirectoryCommand::EndAccess(human.id.clone());
    let done = attempt(&gateway, &visitor, command, view::LABELS).await?;
    Ok(person_after(&gateway, &visitor, human, done))
}

/// The page of a person after an action on them, or the reason why it failed.
fn person_after(
    gateway: &Gateway,
    visitor: &Visitor,
    human: &Human,
    done: Result<(), FormProblem>,
) -> Response {
    let Err(problems) = done else { return saved(&paths::person(&human.id)) };
    let filled = Filled { form: None, problems: &problems };
    let shown = view::page(human, &gateway.directory(), gateway.now(), filled);
    framed(visitor, &SettingsPage { problems: problems.clone(), ..shown })
}

/// Shows what erasing a person removes and what stays, before the administrator confirms it.
pub(super) async fn confirm_erase(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Page {
    let visitor = visitors.administrator(&headers).await?;
    let directory = gateway.directory();
    let known = id.parse().ok().and_then(|id: HumanId| directory.living(&id));
    let human = known.ok_or_else(|| nothing_here(&visitor))?;
    Ok(framed(&visitor, &view::erase(human, &directory, untouched())))
}

pub(super) async fn erase(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    State(erasure): State<Erasure>,
    Path(id): Path<String>,
    from: Request,
) -> Page {
    let (headers, body) = parts(from);
    let visitor = visitors.administrator(&headers).await?;
    let directory = gateway.directory();
    let known = id.parse().ok().and_then(|id: HumanId| directory.living(&id));
    let human = known.ok_or_else(|| nothing_here(&visitor))?;
    let form =
        visitors.submitted(&visitor, &headers, body, &paths::person_erase(&human.id)).await?;
    let problems = match view::confirmed(&form, &human.id) {
        Ok(()) => match erasure.erase_person(visitor.actor.clone(), &human.id).await {
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
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Page {
    let visitor = visitors.administrator(&headers).await?;
    let shown = view::groups(&gateway.directory(), untouched());
    Ok(framed(&visitor, &SettingsPage { done: asked.done(), ..shown }))
}

pub(super) async fn add_group(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    from: Request,
) -> Page {
    let (headers, body) = parts(from);
    let visitor = visitors.administrator(&headers).await?;
    let form = visitors.submitted(&visitor, &headers, body, paths::GROUPS).await?;
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
            attempt(&gateway, &visitor, DirectoryCommand::SaveGroup(new), view::GROUP_LABELS)
                .await?
        }
        Err(problems) => Err(problems),
    };
    let Err(problems) = done else { return Ok(saved(paths::GROUPS)) };
    let filled = Filled { form: Some(&form), problems: &problems };
    let shown = view::groups(&gateway.directory(), filled);
    Ok(framed(&visitor, &SettingsPage { problems: problems.clone(), ..shown }))
}

pub(super) async fn group(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Page {
    let visitor = visitors.administrator(&headers).await?;
    let id: GroupId = id.parse().map_err(|_| nothing_here(&visitor))?;
    let directory = gateway.directory();
    directory.members(&id).next().ok_or_else(|| nothing_here(&visitor))?;
    let shown = view::group(&id, &directory, untouched());
    Ok(framed(&visitor, &shown))
}

pub(super) async fn save_group(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    Path(id): Path<String>,
    from: Request,
) -> Page {
    let (headers, body) = parts(from);
    let visitor = visitors.administrator(&headers).await?;
    let id: GroupId = id.parse().map_err(|_| nothing_here(&visitor))?;
    let form = visitors.submitted(&visitor, &headers, body, &paths::group(&id)).await?;
    let done = match view::read_group(&form, id.clone()) {
        Ok(new) => {
            attempt(&gateway, &visitor, DirectoryCommand::SaveGroup(new), view::GROUP_LABELS)
                .await?
        }
        Err(problems) => Err(problems),
    };
    let Err(problems) = done else { return Ok(saved(paths::GROUPS)) };
    let filled = Filled { form: Some(&form), problems: &problems };
    let shown = view::group(&id, &gateway.directory(), filled);
    Ok(framed(&visitor, &SettingsPage { problems: problems.clone(), ..shown }))
}

fn people_page(
    gateway: &Gateway,
    visitor: &Visitor,
    after: Option<&HumanId>,
    filled: Filled<'_>,
) -> Response {
    let directory = gateway.directory();
    let mut people: Vec<_> = directory.humans_after(after).take(PAGE + 1).collect();
    let more = people.len() > PAGE;
    people.truncate(PAGE);
    let last = people.last().filter(|_| more);
    let next = last.map(|human| format!("{}?after={}", paths::PEOPLE, human.id));
    let shown = view::list(&people, next, gateway.now(), filled);
    framed(visitor, &SettingsPage { problems: filled.problems.clone(), ..shown })
}
