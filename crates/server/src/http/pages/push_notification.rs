//! The buttons of a push notification: `POST /push/answer`. No page is open when a person presses
//! one, so the service worker sends the sealed token of the notification together with the session
//! cookie of its browser. Neither decides anything alone: the token is bound to this session, and
//! the session cannot produce the token.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use gateway::{Gateway, Terms};
use kernel::ask::Shown;
use kernel::question::{Answer, Reply};
use kernel::{AskCommand, Refusal};
use notify::people::push::{OfferedAnswer, PURPOSE, push_actor};
use serde::Serialize;
use store::StoreError;
use views::inbox::bulk::why;
use views::push_notification::takes_buttons;

use super::sign_in::from_elsewhere;
use super::{Page, parts};
use crate::http::pages::sealed_values::SealedValues;
use crate::http::pages::visitors::Visitors;
use crate::http::submitted;

/// The text that replaces the notification.
#[derive(Serialize)]
struct Told {
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

fn told(status: StatusCode, title: &str, text: Option<String>) -> Response {
    (status, Json(Told { title: title.to_owned(), text })).into_response()
}

pub(super) async fn answer(
    State(visitors): State<Arc<Visitors>>,
    State(sealed_values): State<Arc<SealedValues>>,
    State(gateway): State<Gateway>,
    from: Request,
) -> Page {
    let (headers, body) = parts(from);
    let visitor = visitors.visitor(&headers).await?;
    let refused = |status, text: &str| Ok(told(status, "Not sent", Some(text.to_owned())));
    if from_elsewhere(&headers) {
        return refused(StatusCode::FORBIDDEN, "It came from another site.");
    }
    let form = submitted::small(body).await?;
    let token = form.value("token").unwrap_or_default();
    let holder = visitor.session.to_string();
    let Some(offered) = sealed_values.entrusted::<OfferedAnswer>(PURPOSE, &holder, token) else {
        return refused(
            StatusCode::FORBIDDEN,
            "This notice is too old, or not of this browser. Open it to answer.",
        );
    };
    let (answer, done) = match form.value("answer") {
        Some("approve") => (Answer::Approved { edits: None }, "You approved it"),
        Some("reject") => (Answer::Rejected { option: None }, "You rejected it"),
        Some(_) | None => {
            return refused(
                StatusCode::UNPROCESSABLE_ENTITY,
                "answer: expected approve or reject.",
            );
        }
    };
    let ask = visitors.seen_by(&visitor, &offered.ask.to_string()).await?;
    if ask.is_open() && !takes_buttons(&ask) {
        return refused(
            StatusCode::FORBIDDEN,
            "It is answered on its page only. Open it to answer.",
        );
    }
    let reply = Box::new(Reply { answer, comment: None });
    let actor = push_actor(visitor.human.id.clone());
    let terms = Terms { shown: Shown::Summary, ..Terms::default() };
    match gateway.run_on(terms, actor, AskCommand::Answer(ask.id, reply)).await {
        Ok(_) => {
            // The service worker updates the notification itself, so this device needs no update by
            // push.
            gateway.store().forget_told(ask.id, offered.device).await?;
            Ok(told(StatusCode::OK, done, None))
        }
        Err(StoreError::Refused(refusal)) => {
            let title = match &refusal {
                Refusal::AlreadyAnswered { .. } => "Somebody was faster",
                _ => "Not taken",
            };
            let text = why(&refusal, &gateway.directory(), gateway.now());
            Ok(told(StatusCode::CONFLICT, title, Some(text)))
        }
        Err(error) => Err(error.into()),
    }
}
