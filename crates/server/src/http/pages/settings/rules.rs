//! The person's delegation rules: `/settings/rules`.

use std::sync::Arc;

use axum::extract::{Query, Request, State};
use gateway::Gateway;
use kernel::{DirectoryCommand, RuleId};
use views::settings::SettingsPage;
use views::settings::controls::Filled;
use views::settings::rules::{LABELS, page, read};
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
    let filled = untouched();
    let shown = page(&visitor.human, &gateway.directory(), filled);
    Ok(framed(&visitor, &SettingsPage { done: asked.done(), ..shown }))
}

/// Adds a rule, or removes one.
pub(super) async fn save(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    from: Request,
) -> Page {
    let (visitor, form) = visitors.acting(from, paths::RULES).await?;
    let command = match form.value("remove").and_then(|id| id.parse::<RuleId>().ok()) {
        Some(id) => Ok(DirectoryCommand::RemoveRule(id)),
        None => read(&form).map(|new| {
            let id = RuleId::new(gateway.ids().ulid());
            DirectoryCommand::AddRules(vec![(id, new)])
        }),
    };
    let done = attempt(&gateway, &visitor, command, LABELS).await?;
    let Err(problems) = done else { return Ok(saved(paths::RULES)) };
    let again = |filled: Filled<'_>| page(&visitor.human, &gateway.directory(), filled);
    Ok(shown_again(&visitor, &form, &problems, again))
}
