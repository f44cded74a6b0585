//! Where I am signed in: `/settings/sessions`.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use kernel::{DirectoryCommand, KeyId};

use super::{Page, Visitor, html};
use crate::http::{App, Shared};
use views::Notice;
use views::sign_in::sessions::{self, Session};
use views::site::paths;

pub(super) async fn show_sessions(State(app): State<Shared>, headers: HeaderMap) -> Page {
    let visitor = app.visitor(&headers).await?;
    app.sessions_page(&visitor, None).await
}

/// `POST /settings/sessions`: ends one, or all others.
pub(super) async fn end_sessions(State(app): State<Shared>, from: Request) -> Page {
    let (visitor, submitted) = app.acting(from, paths::SESSIONS).await?;
    let named = submitted.value("end").and_then(|id| id.parse::<KeyId>().ok());
    let human = &visitor.human.id;
    let command = match (submitted.value("others"), named) {
        (Some(_), _) => DirectoryCommand::EndSessions(human.clone(), Some(visitor.session)),
        (None, Some(id)) if app.gateway.directory().sessions_of(human).any(|key| key.id == id) => {
            DirectoryCommand::RevokeKey(id)
        }
        // Ended already, or none of theirs: the list shows what there is.
        (None, _) => return app.sessions_page(&visitor, None).await,
    };
    app.gateway.run(visitor.actor.clone(), command).await?;
    if named == Some(visitor.session) {
        return Ok(app.goodbye(visitor.session));
    }
    app.sessions_page(&visitor, Some(&Notice::SignedOut)).await
}

impl App {
    async fn sessions_page(&self, visitor: &Visitor, notice: Option<&Notice>) -> Page {
        let (directory, now) = (self.gateway.directory(), self.gateway.now());
        let mut shown = Vec::new();
        for key in directory.sessions_of(&visitor.human.id).rev().filter(|key| key.is_live(now)) {
            let used = self.sessions.last_used(key).await?;
            if !self.sessions.is_idle(used, now) {
                shown.push(Session { key, used, current: key.id == visitor.session });
            }
        }
        let page = sessions::page(&visitor.frame, &directory, &shown, notice);
        Ok(html(StatusCode::OK, page))
    }
}
