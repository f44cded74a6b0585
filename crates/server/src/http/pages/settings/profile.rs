//! The person's profile and absence: `/settings/profile`, `/settings/away`.

use std::sync::Arc;

use axum::extract::{Query, Request, State};
use gateway::Gateway;
use kernel::DirectoryCommand;
use views::settings::SettingsPage;
use views::settings::controls::FormDraft;
use views::settings::profile::{absence_page, label, page, read, read_absence};
use views::site::paths;

use super::{SettingsQuery, empty_form, framed, saved, shown_again};
use crate::http::pages::PageResult;
use crate::http::pages::settings::run_form_command;
use crate::http::pages::visitor::{Visitor, Visitors};

pub(super) async fn show(
    State(gateway): State<Gateway>,
    Query(asked): Query<SettingsQuery>,
    visitor: Visitor,
) -> PageResult {
    let shown = page(&visitor.human, gateway.now(), empty_form());
    Ok(framed(&visitor, &SettingsPage { done: asked.done(), ..shown }))
}

pub(super) async fn save(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    from: Request,
) -> PageResult {
    let (visitor, form) = visitors.visitor_and_form(from, paths::PROFILE).await?;
    let command = read(&form, &visitor.human).map(DirectoryCommand::SaveProfile);
    let done = run_form_command(&gateway, &visitor, command, label).await?;
    let Err(problems) = done else { return Ok(saved(paths::PROFILE)) };
    let again = |filled: FormDraft<'_>| page(&visitor.human, gateway.now(), filled);
    Ok(shown_again(&visitor, &form, &problems, again))
}

pub(super) async fn show_away(
    State(gateway): State<Gateway>,
    Query(asked): Query<SettingsQuery>,
    visitor: Visitor,
) -> PageResult {
    let (directory, now) = (gateway.directory(), gateway.now());
    let shown = absence_page(&visitor.human, &directory, now, empty_form());
    Ok(framed(&visitor, &SettingsPage { done: asked.done(), ..shown }))
}

pub(super) async fn save_away(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    from: Request,
) -> PageResult {
    let (visitor, form) = visitors.visitor_and_form(from, paths::AWAY).await?;
    let command = read_absence(&form, &visitor.human).map(DirectoryCommand::SaveProfile);
    let done = run_form_command(&gateway, &visitor, command, label).await?;
    let Err(problems) = done else { return Ok(saved(paths::AWAY)) };
    let (directory, now) = (gateway.directory(), gateway.now());
    let again = |filled: FormDraft<'_>| absence_page(&visitor.human, &directory, now, filled);
    Ok(shown_again(&visitor, &form, &problems, again))
}
