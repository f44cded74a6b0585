//! What I say of myself: `/settings/profile`, `/settings/away`.

use axum::extract::{Query, Request, State};
use axum::http::HeaderMap;
use kernel::DirectoryCommand;

use super::super::Page;
use super::{Asked, framed, saved, untouched};
use crate::http::Shared;
use views::settings::SettingsPage;
use views::settings::controls::Filled;
use views::settings::profile::{LABELS, away_page, page, read, read_away};
use views::site::paths;

pub(super) async fn show(
    State(app): State<Shared>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Page {
    let visitor = app.visitor(&headers).await?;
    let shown = page(&visitor.human, app.gateway.now(), untouched());
    Ok(framed(&visitor, &SettingsPage { done: asked.done(), ..shown }))
}

pub(super) async fn save(State(app): State<Shared>, from: Request) -> Page {
    let (visitor, form) = app.acting(from, paths::PROFILE).await?;
    let done = match read(&form, &visitor.human) {
        Ok(new) => app.attempt(&visitor, DirectoryCommand::SaveProfile(new), LABELS).await?,
        Err(problems) => Err(problems),
    };
    let Err(problems) = done else { return Ok(saved(paths::PROFILE)) };
    let filled = Filled { form: Some(&form), problems: &problems };
    let shown = page(&visitor.human, app.gateway.now(), filled);
    Ok(framed(&visitor, &SettingsPage { problems: problems.clone(), ..shown }))
}

pub(super) async fn show_away(
    State(app): State<Shared>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Page {
    let visitor = app.visitor(&headers).await?;
    let (directory, now) = (app.gateway.directory(), app.gateway.now());
    let shown = away_page(&visitor.human, &directory, now, untouched());
    Ok(framed(&visitor, &SettingsPage { done: asked.done(), ..shown }))
}

pub(super) async fn save_away(State(app): State<Shared>, from: Request) -> Page {
    let (visitor, form) = app.acting(from, paths::AWAY).await?;
    let done = match read_away(&form, &visitor.human) {
        Ok(new) => app.attempt(&visitor, DirectoryCommand::SaveProfile(new), LABELS).await?,
        Err(problems) => Err(problems),
    };
    let Err(problems) = done else { return Ok(saved(paths::AWAY)) };
    let (directory, now) = (app.gateway.directory(), app.gateway.now());
    let filled = Filled { form: Some(&form), problems: &problems };
    let shown = away_page(&visitor.human, &directory, now, filled);
    Ok(framed(&visitor, &SettingsPage { problems: problems.clone(), ..shown }))
}
