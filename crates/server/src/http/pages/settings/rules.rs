//! The person's delegation rules: `/settings/rules`.

use std::sync::Arc;

use axum::extract::{Query, Request, State};
use gateway::Gateway;
use kernel::{DirectoryCommand, RuleId};
use views::settings::SettingsPage;
use views::settings::controls::FormDraft;
use views::settings::rules::{label, page, read};
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
    let filled = empty_form();
    let shown = page(&visitor.human, &gateway.directory(), filled);
    Ok(framed(&visitor, &SettingsPage { done: asked.done(), ..shown }))
}

/// Adds a rule, or removes one.
pub(super) async fn save(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    from: Request,
) -> PageResult {
    let (visitor, form) = visitors.visitor_and_form(from, paths::RULES).await?;
    let command = match form.value("remove").and_then(|id| id.parse::<RuleId>().ok()) {
        Some(id) => Ok(DirectoryCommand::RemoveRule(id)),
        None => read(&form).map(|new| {
            let id = RuleId::new(gateway.ids().ulid());
            DirectoryCommand::AddRules(vec![(id, new)])
        }),
    };
    let done = run_form_command(&gateway, &visitor, command, label).await?;
    let Err(problems) = done else { return Ok(saved(paths::RULES)) };
    let again = |filled: FormDraft<'_>| page(&visitor.human, &gateway.directory(), filled);
    Ok(shown_again(&visitor, &form, &problems, again))
}
