//! The person's profile and absence: `/settings/profile`, `/settings/away`.

use std::sync::Arc;

use axum::extract::{Query, Request, State};
use gateway::Gateway;
use kernel::DirectoryCommand;
use views::settings::SettingsPage;
use views::settings::controls::Filled;
use views::settings::profile::{LABELS, away_page, page, read, read_away};
use views::site::paths;

use super::{Asked, framed, saved, shown_again, untouched};
use crate::http::pages::Page;
use crate::http::pages::settings::attempt;
use crate::http::pages::visitors::{Visitor, Visitors};

pub(super) async fn show(
    State(gateway): State<Gateway>,
    Query(asked): Query<Asked>,
    visitor: Visitor,
) -> Page {
    let shown = page(&visitor.human, gateway.now(), untouched());
    Ok(framed(&visitor, &SettingsPage { done: asked.done(), ..shown }))
}

pub(super) async fn save(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    from: Request,
) -> Page {
    let (visitor, form) = visitors.acting(from, paths::PROFILE).await?;
    let command = read(&form, &visitor.human).map(DirectoryCommand::SaveProfile);
    let done = attempt(&gateway, &visitor, command, LABELS).await?;
    let Err(problems) = done else { return Ok(saved(paths::PROFILE)) };
    let again = |filled: Filled<'_>| page(&visitor.human, gateway.now(), filled);
    Ok(shown_again(&visitor, &form, &problems, again))
}

pub(super) async fn show_away(
    State(gateway): State<Gateway>,
    Query(asked): Query<Asked>,
    visitor: Visitor,
) -> Page {
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
    let command = read_away(&form, &visitor.human).map(DirectoryCommand::SaveProfile);
    let done = attempt(&gateway, &visitor, command, LABELS).await?;
    let Err(problems) = done else { return Ok(saved(paths::AWAY)) };
    let (directory, now) = (gateway.directory(), gateway.now());
    let again = |filled: Filled<'_>| away_page(&visitor.human, &directory, now, filled);
    Ok(shown_again(&visitor, &form, &problems, again))
}
