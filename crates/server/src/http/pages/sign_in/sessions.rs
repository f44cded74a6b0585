//! The person's sessions: `/settings/sessions`.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use gateway::Gateway;
use gateway::sessions::Sessions;
use kernel::{DirectoryCommand, KeyId};
use views::ActionOutcome;
use views::sign_in::sessions::{self, Session};
use views::site::paths;

use crate::http::pages::sign_in::SignInPages;
use crate::http::pages::visitor::Visitors;
use crate::http::pages::{PageResult, Visitor, html};

pub(super) async fn show(
    State(gateway): State<Gateway>,
    State(sessions): State<Sessions>,
    visitor: Visitor,
) -> PageResult {
    sessions_page(&gateway, &sessions, &visitor, None).await
}

/// `POST /settings/sessions`: ends one session, or all others.
pub(super) async fn end(
    State(visitors): State<Arc<Visitors>>,
    State(sign_in): State<Arc<SignInPages>>,
    State(sessions): State<Sessions>,
    from: Request,
) -> PageResult {
    let (visitor, submitted) = visitors.visitor_and_form(from, paths::SESSIONS).await?;
    let named = submitted.value("end").and_then(|id| id.parse::<KeyId>().ok());
    let human = &visitor.human.id;
    let command = match (submitted.value("others"), named) {
        (Some(_), _) => DirectoryCommand::EndSessions(human.clone(), Some(visitor.session)),
        (None, Some(id))
            if sign_in.gateway.directory().sessions_of(human).any(|key| key.id == id) =>
        {
            DirectoryCommand::RevokeKey(id)
        }
        // A session that already ended, or is not theirs, changes nothing: the list is shown again.
        (None, _) => return sessions_page(&sign_in.gateway, &sessions, &visitor, None).await,
    };
    sign_in.gateway.run(visitor.actor.clone(), command).await?;
    if named == Some(visitor.session) {
        return Ok(sign_in.signed_out_page(visitor.session));
    }
    sessions_page(&sign_in.gateway, &sessions, &visitor, Some(&ActionOutcome::SignedOut)).await
}

async fn sessions_page(
    gateway: &Gateway,
    sessions: &Sessions,
    visitor: &Visitor,
    notice: Option<&ActionOutcome>,
) -> PageResult {
    let (directory, now) = (gateway.directory(), gateway.now());
    let mut shown = Vec::new();
    for key in directory.sessions_of(&visitor.human.id).rev().filter(|key| key.is_live(now)) {
        let used = sessions.last_used(key).await?;
        if !sessions.is_idle(used, now) {
            shown.push(Session { key, used, current: key.id == visitor.session });
        }
    }
    let page = sessions::page(&visitor.frame, &directory, &shown, notice);
    Ok(html(StatusCode::OK, page))
}
