//! The buttons of a push notification: `POST /push/answer`. No page is open when a person presses
//! one, so the service worker sends the sealed token of the notification together with the session
//! cookie of its browser. Neither decides anything alone: the token is bound to this session, and
//! the session cannot produce the token.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use gateway::{CommandConditions, Gateway};
use kernel::ask::DisplayedContent;
use kernel::question::{Answer, Reply};
use kernel::{AskCommand, Refusal};
use notify::people::push::{ANSWER_TOKEN_PURPOSE, OfferedAnswer, push_actor};
use serde::Serialize;
use store::StoreError;
use views::inbox::bulk::refusal_reason;
use views::push_notification::allows_buttons;
use views::t;

use super::sign_in::is_cross_site;
use super::{PageResult, parts};
use crate::http::pages::sealed_values::SealedValues;
use crate::http::pages::visitor::Visitors;
use crate::http::posted_form;

/// The text that replaces the notification.
#[derive(Serialize)]
struct ReplacementText {
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

fn replacement(status: StatusCode, title: String, text: Option<String>) -> Response {
    (status, Json(ReplacementText { title, text })).into_response()
}

pub(super) async fn answer(
    State(visitors): State<Arc<Visitors>>,
    State(sealed_values): State<Arc<SealedValues>>,
    State(gateway): State<Gateway>,
    from: Request,
) -> PageResult {
    let (headers, body) = parts(from);
    let visitor = visitors.visitor(&headers).await?;
    let refused = |status, text: String| Ok(replacement(status, t!("worker-unsent"), Some(text)));
    if is_cross_site(&headers) {
        return refused(StatusCode::FORBIDDEN, t!("push-cross-site"));
    }
    let form = posted_form::small(body).await?;
    let token = form.value("token").unwrap_or_default();
    let holder = visitor.session.to_string();
    let Some(offered) = sealed_values.open::<OfferedAnswer>(ANSWER_TOKEN_PURPOSE, &holder, token)
    else {
        return refused(StatusCode::FORBIDDEN, t!("push-stale"));
    };
    let (answer, done) = match form.value("answer") {
        Some("approve") => (Answer::Approved { edits: None }, t!("push-approved")),
        Some("reject") => (Answer::Rejected { option: None }, t!("push-rejected")),
        Some(_) | None => {
            return refused(
                StatusCode::UNPROCESSABLE_ENTITY,
                "answer: expected approve or reject.".to_owned(),
            );
        }
    };
    let ask = visitors.visible_ask(&visitor, &offered.ask.to_string()).await?;
    if ask.is_open() && !allows_buttons(&ask) {
        return refused(StatusCode::FORBIDDEN, t!("push-own-page"));
    }
    let reply = Box::new(Reply { answer, comment: None });
    let actor = push_actor(visitor.human.id.clone());
    let terms =
        CommandConditions { shown: DisplayedContent::Summary, ..CommandConditions::default() };
    match gateway.run_with_conditions(terms, actor, AskCommand::Answer(ask.id, reply)).await {
        Ok(_) => {
            // The service worker updates the notification itself, so this device needs no update by
            // push.
            gateway.store().forget_notified(ask.id, offered.device).await?;
            Ok(replacement(StatusCode::OK, done, None))
        }
        Err(StoreError::Refused(refusal)) => {
            let title = match &refusal {
                Refusal::AlreadyAnswered { .. } => t!("push-already-answered"),
                _ => t!("push-not-accepted"),
            };
            let text = refusal_reason(&refusal, &gateway.directory(), gateway.now());
            Ok(replacement(StatusCode::CONFLICT, title, Some(text)))
        }
        Err(error) => Err(error.into()),
    }
}
