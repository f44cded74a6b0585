//! The person's profile and absence: `/settings/profile`, `/settings/away`.

use std::sync::Arc;

use axum::extract::{Query, Request, State};
use axum::http::HeaderMap;
use gateway::Gateway;
use kernel::DirectoryCommand;
use views::settings::SettingsPage;
use views::settings::controls::Filled;
use views::settings::profile::{LABELS, away_page, page, read, read_away};
use views::site::paths;

use super::{Asked, framed, saved, untouched};
use crate::http::pages::Page;
use crate::http::pages::settings::attempt;
use crate::http::pages::visitors::Visitors;

pub(super) async fn show(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Page {
    let visitor = visitors.visitor(&headers).await?;
    let shown = page(&visitor.human, gateway.now(), untouched());
    Ok(framed(&visitor, &SettingsPage { done: asked.done(), ..shown }))
}

pub(super) async fn save(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    from: Request,
) -> Page {
    let (visitor, form) = visitors.acting(from, paths::PROFILE).await?;
    let done = match read(&form, &visitor.human) {
        Ok(new) => attempt(&gateway, &visitor, DirectoryCommand::SaveProfile(new), LABELS).await?,
        Err(problems) => Err(problems),
    };
    let Err(problems) = done else { return Ok(saved(paths::PROFILE)) };
    let filled = Filled { form: Some(&form), problems: &problems };
    let shown = page(&visitor.human, gateway.now(), filled);
    Ok(framed(&visitor, &SettingsPage { problems: problems.clone(), ..shown }))
}

pub(super) async fn show_away(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Page {
    let visitor = visitors.visitor(&headers).await?;
    let (directory, now) = (gateway.directory(), gateway.now());
    let shown = away_page(&visitor.human, &directory, now, untouched());
    Ok(framed(&visitor, &SettingsPage { done: asked.done(), ..shown }))
}

pub(super) async fn save_away(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    from: Request,
) -> Page {
    let (visitor, form) = visitors.acting(from, paths::AWAY).await?;
    let done = match read_away(&form, &visitor.human) {
        Ok(new) => attempt(&gateway, &visitor, DirectoryCommand::SaveProfile(new), LABELS).await?,
        Err(problems) => Err(problems),
    };
    let Err(problems) = done else { return Ok(saved(paths::AWAY)) };
    let (directory, now) = (gateway.directory(), gateway.now());
    let filled = Filled { form: Some(&form), problems: &problems };
    let shown = away_page(&visitor.human, &directory, now, filled);
    Ok(framed(&visitor, &SettingsPage { problems: problems.clone(), ..shown }))
}
