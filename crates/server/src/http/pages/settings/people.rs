//! People and groups, for administrators: `/settings/people`, `/settings/groups`.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use gateway::data_eraser::DataEraser;
use gateway::{Gateway, bootstrap};
use kernel::directory::{Directory, Human};
use kernel::ids::GroupId;
use kernel::{DirectoryCommand, HumanId, KeyId};
use store::StoreError;
use views::answer_form::problem::ProblemLocation;
use views::components::wording::VisibleText;
use views::settings::controls::FormDraft;
use views::settings::{self, SettingsPage, people as view};
use views::site::paths;
use views::{FormProblems, message_page, t};

use super::{SettingsQuery, empty_form, framed, not_found, page_of, saved, shown_again};
use crate::config::Config;
use crate::http::pages::settings::{run_create_command, run_form_command};
use crate::http::pages::visitor::{AdminVisitor, UnreadForm};
use crate::http::pages::{PageError, PageResult, Visitor, html, page as instead};

pub(super) async fn list(
    State(gateway): State<Gateway>,
    Query(asked): Query<SettingsQuery>,
    AdminVisitor(visitor): AdminVisitor,
) -> PageResult {
    let after = asked.after.and_then(|id| id.parse().ok());
    Ok(people_page(&gateway, &visitor, after.as_ref(), empty_form()))
}

pub(super) async fn add(
    State(gateway): State<Gateway>,
    AdminVisitor(visitor): AdminVisitor,
    posted: UnreadForm,
) -> PageResult {
    let form = posted.read(&visitor, paths::PEOPLE).await?;
    let problems = match view::read_new(&form) {
        Ok(new) => {
            let path = paths::person(&new.id);
            let taken = gateway.directory().human(&new.id).map(|_| t!("settings-people-id-taken"));
            let command = DirectoryCommand::AddHuman(new);
            match run_create_command(&gateway, &visitor, taken, command, view::label).await? {
                Ok(()) => return Ok(saved(&path)),
                Err(problems) => problems,
            }
        }
        Err(problems) => problems,
    };
    Ok(people_page(&gateway, &visitor, None, FormDraft { form: Some(&form), problems: &problems }))
}

pub(super) async fn show(
    State(gateway): State<Gateway>,
    Path(id): Path<String>,
    Query(asked): Query<SettingsQuery>,
    AdminVisitor(visitor): AdminVisitor,
) -> PageResult {
    let directory = gateway.directory();
    let human = known_person(&visitor, &directory, &id)?;
    let shown = view::page(human, &directory, gateway.now(), empty_form());
    Ok(framed(&visitor, &SettingsPage { done: asked.done(), ..shown }))
}

pub(super) async fn save(
    State(gateway): State<Gateway>,
    Path(id): Path<String>,
    AdminVisitor(visitor): AdminVisitor,
    posted: UnreadForm,
) -> PageResult {
    let directory = gateway.directory();
    let human = known_person(&visitor, &directory, &id)?;
    let path = paths::person(&human.id);
    let form = posted.read(&visitor, &path).await?;
    let command = view::read(&form, human.id.clone()).map(DirectoryCommand::SaveHuman);
    let done = run_form_command(&gateway, &visitor, command, view::label).await?;
    let Err(problems) = done else { return Ok(saved(&path)) };
    Ok(shown_again(&visitor, &form, &problems, |filled| {
        view::page(human, &directory, gateway.now(), filled)
    }))
}

/// A sign-in link, shown once.
pub(super) async fn link(
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    Path(id): Path<String>,
    AdminVisitor(visitor): AdminVisitor,
    posted: UnreadForm,
) -> PageResult {
    let directory = gateway.directory();
    let human = known_person(&visitor, &directory, &id)?;
    posted.read(&visitor, &paths::person(&human.id)).await?;
    let secret =
        bootstrap::create_sign_in_link(&gateway, visitor.actor.clone(), human.id.clone()).await?;
    let url = config.links().sign_in(&secret).map_err(|_| {
        let shown = message_page::server_error(&visitor.frame, &t!("settings-invite-broken"));
        instead(StatusCode::INTERNAL_SERVER_ERROR, shown)
    })?;
    let shown = view::link_created(human, &directory, url.as_str());
    Ok(html(StatusCode::CREATED, settings::page(&visitor.frame, true, &shown)))
}

/// Confirms a waiting passkey of the person.
pub(super) async fn confirm_passkey(
    State(gateway): State<Gateway>,
    Path(id): Path<String>,
    AdminVisitor(visitor): AdminVisitor,
    posted: UnreadForm,
) -> PageResult {
    let directory = gateway.directory();
    let human = unerased_person(&visitor, &directory, &id)?;
    let path = paths::person(&human.id);
    let form = posted.read(&visitor, &path).await?;
    let key = form.value("key").and_then(|key| key.parse::<KeyId>().ok());
    let own = |key: &KeyId| directory.passkeys_of(&human.id).any(|one| one.id == *key);
    let key = key.filter(own).ok_or_else(|| not_found(&visitor))?;
    let command = DirectoryCommand::ConfirmPasskey(key);
    let done = run_form_command(&gateway, &visitor, Ok(command), view::label).await?;
    Ok(person_after(&gateway, &visitor, human, done))
}

/// Revokes all access of the person: their credentials, links and verified contact methods.
pub(super) async fn end_access(
    State(gateway): State<Gateway>,
    Path(id): Path<String>,
    AdminVisitor(visitor): AdminVisitor,
    posted: UnreadForm,
) -> PageResult {
    let directory = gateway.directory();
    let human = unerased_person(&visitor, &directory, &id)?;
    posted.read(&visitor, &paths::person(&human.id)).await?;
    let command = DirectoryCommand::EndAccess(human.id.clone());
    let done = run_form_command(&gateway, &visitor, Ok(command), view::label).await?;
    Ok(person_after(&gateway, &visitor, human, done))
}

/// The page of a person after an action on them, or the reason why it failed.
fn person_after(
    gateway: &Gateway,
    visitor: &Visitor,
    human: &Human,
    done: Result<(), FormProblems>,
) -> Response {
    let Err(problems) = done else { return saved(&paths::person(&human.id)) };
    let filled = FormDraft { form: None, problems: &problems };
    let shown = view::page(human, &gateway.directory(), gateway.now(), filled);
    framed(visitor, &SettingsPage { problems: problems.clone(), ..shown })
}

/// Shows what erasing a person removes and what stays, before the administrator confirms it.
pub(super) async fn confirm_erase(
    State(gateway): State<Gateway>,
    Path(id): Path<String>,
    AdminVisitor(visitor): AdminVisitor,
) -> PageResult {
    let directory = gateway.directory();
    let human = unerased_person(&visitor, &directory, &id)?;
    Ok(framed(&visitor, &view::erase(human, &directory, empty_form())))
}

pub(super) async fn erase(
    State(gateway): State<Gateway>,
    State(erasure): State<DataEraser>,
    Path(id): Path<String>,
    AdminVisitor(visitor): AdminVisitor,
    posted: UnreadForm,
) -> PageResult {
    let directory = gateway.directory();
    let human = unerased_person(&visitor, &directory, &id)?;
    let form = posted.read(&visitor, &paths::person_erase(&human.id)).await?;
    let problems = match view::check_confirmation(&form, &human.id) {
        Ok(()) => match erasure.erase_person(visitor.actor.clone(), &human.id).await {
            Ok(()) => return Ok(saved(&paths::person(&human.id))),
            Err(StoreError::Refused(refusal)) => settings::controls::refused(&refusal, |_| None),
            Err(error) => return Err(error.into()),
        },
        Err(problems) => problems,
    };
    Ok(shown_again(&visitor, &form, &problems, |filled| view::erase(human, &directory, filled)))
}

pub(super) async fn groups(
    State(gateway): State<Gateway>,
    Query(asked): Query<SettingsQuery>,
    AdminVisitor(visitor): AdminVisitor,
) -> PageResult {
    let shown = view::groups(&gateway.directory(), empty_form());
    Ok(framed(&visitor, &SettingsPage { done: asked.done(), ..shown }))
}

pub(super) async fn add_group(
    State(gateway): State<Gateway>,
    AdminVisitor(visitor): AdminVisitor,
    posted: UnreadForm,
) -> PageResult {
    let form = posted.read(&visitor, paths::GROUPS).await?;
    let read = view::id(&form, "id", &t!("settings-groups-id")).and_then(|id: GroupId| {
        let new = view::read_group(&form, id)?;
        if new.members.is_empty() {
            let mut nobody = FormProblems::default();
            nobody.add(
                ProblemLocation::Field("members".to_owned()),
                Some(VisibleText::of(&t!("settings-groups-members"))),
                t!("settings-groups-members-none"),
            );
            return Err(nobody);
        }
        Ok(new)
    });
    let command = read.map(DirectoryCommand::SaveGroup);
    let done = run_form_command(&gateway, &visitor, command, view::group_label).await?;
    let Err(problems) = done else { return Ok(saved(paths::GROUPS)) };
    Ok(shown_again(&visitor, &form, &problems, |filled| view::groups(&gateway.directory(), filled)))
}

pub(super) async fn group(
    State(gateway): State<Gateway>,
    Path(id): Path<String>,
    AdminVisitor(visitor): AdminVisitor,
) -> PageResult {
    let id: GroupId = id.parse().map_err(|_| not_found(&visitor))?;
    let directory = gateway.directory();
    directory.members(&id).next().ok_or_else(|| not_found(&visitor))?;
    let shown = view::group(&id, &directory, empty_form());
    Ok(framed(&visitor, &shown))
}

pub(super) async fn save_group(
    State(gateway): State<Gateway>,
    Path(id): Path<String>,
    AdminVisitor(visitor): AdminVisitor,
    posted: UnreadForm,
) -> PageResult {
    let id: GroupId = id.parse().map_err(|_| not_found(&visitor))?;
    let form = posted.read(&visitor, &paths::group(&id)).await?;
    let command = view::read_group(&form, id.clone()).map(DirectoryCommand::SaveGroup);
    let done = run_form_command(&gateway, &visitor, command, view::group_label).await?;
    let Err(problems) = done else { return Ok(saved(paths::GROUPS)) };
    Ok(shown_again(&visitor, &form, &problems, |filled| {
        view::group(&id, &gateway.directory(), filled)
    }))
}

fn people_page(
    gateway: &Gateway,
    visitor: &Visitor,
    after: Option<&HumanId>,
    filled: FormDraft<'_>,
) -> Response {
    let directory = gateway.directory();
    let found = directory.humans_after(after);
    let (people, next) = page_of(found, paths::PEOPLE, |human| human.id.to_string());
    let shown = view::list(&people, next, gateway.now(), filled);
    framed(visitor, &SettingsPage { problems: filled.problems.clone(), ..shown })
}

fn known_person<'a>(
    visitor: &Visitor,
    directory: &'a Directory,
    id: &str,
) -> Result<&'a Human, PageError> {
    let known = id.parse().ok().and_then(|id| directory.human(&id));
    known.ok_or_else(|| not_found(visitor))
}

/// Like [`known_person`], but someone whose data was erased does not exist.
fn unerased_person<'a>(
    visitor: &Visitor,
    directory: &'a Directory,
    id: &str,
) -> Result<&'a Human, PageError> {
    let known = id.parse().ok().and_then(|id| directory.existing_human(&id));
    known.ok_or_else(|| not_found(visitor))
}
