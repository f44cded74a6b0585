//! My delegation rules: `/settings/rules`.

use axum::extract::{Query, Request, State};
use axum::http::HeaderMap;
use kernel::{DirectoryCommand, RuleId};

use super::super::Page;
use super::{Asked, framed, saved, untouched};
use crate::http::Shared;
use views::settings::SettingsPage;
use views::settings::controls::Filled;
use views::settings::rules::{LABELS, page, read};
use views::site::paths;

pub(super) async fn show(
    State(app): State<Shared>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Page {
    let visitor = app.visitor(&headers).await?;
    let filled = untouched();
    let shown = page(&visitor.human, &app.gateway.directory(), filled);
    Ok(framed(&visitor, &SettingsPage { done: asked.done(), ..shown }))
}

/// Adds a rule, or removes one.
pub(super) async fn save(State(app): State<Shared>, from: Request) -> Page {
    let (visitor, form) = app.acting(from, paths::RULES).await?;
    let command = match form.value("remove").and_then(|id| id.parse::<RuleId>().ok()) {
        Some(id) => Ok(DirectoryCommand::RemoveRule(id)),
        None => read(&form).map(|new| {
            let id = RuleId::new(app.gateway.ids().ulid());
            DirectoryCommand::AddRules(vec![(id, new)])
        }),
    };
    let done = match command {
        Ok(command) => app.attempt(&visitor, command, LABELS).await?,
        Err(problems) => Err(problems),
    };
    let Err(problems) = done else { return Ok(saved(paths::RULES)) };
    let filled = Filled { form: Some(&form), problems: &problems };
    let shown = page(&visitor.human, &app.gateway.directory(), filled);
    Ok(framed(&visitor, &SettingsPage { problems: problems.clone(), ..shown }))
}
