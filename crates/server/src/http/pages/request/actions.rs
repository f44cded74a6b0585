//! Further actions on the page of a request: `POST /asks/{id}/comment`, `…/pick`, `…/extend`,
//! `…/snooze`, `…/looking`; and the files that the page loads: `GET /asks/{id}/receipt`,
//! `…/files/{digest}`.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use gateway::Gateway;
use gateway::files::FileReadError;
use gateway::receipts::Receipts;
use kernel::{AskCommand, Refusal};
use store::StoreError;
use views::banner::ActionOutcome;
use views::message_page;
use views::request::related;

use super::live::ViewersUpdate;
use crate::http::pages::request::RequestPages;
use crate::http::pages::request::related::{note_viewing, other_viewers};
use crate::http::pages::visitor::{AskForm, VisibleRequest};
use crate::http::pages::{PageResult, page};
use crate::http::uploads::AnswerUploads;

/// The seconds by which the page extends a deadline or snoozes a request: an hour, a day, a week.
const SPANS: [u64; 3] = [3600, 86_400, 604_800];

/// `POST /asks/{id}/comment`
pub(super) async fn comment(
    State(request_pages): State<Arc<RequestPages>>,
    AskForm { visitor, ask, form: submitted }: AskForm,
) -> PageResult {
    let text = submitted.text("text").unwrap_or_default();
    let command = AskCommand::Comment(ask.id, text.clone());
    match request_pages.gateway.run(visitor.actor.clone(), command).await {
        Ok(outcome) => {
            let ask = outcome.ask.map_or(ask, Arc::new);
            request_pages
                .page(&visitor, &ask, StatusCode::OK, Some(&ActionOutcome::Commented), None)
                .await
        }
        Err(StoreError::Refused(refusal)) => {
            let notice = ActionOutcome::Unsaid(refusal, text);
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            request_pages.page(&visitor, &ask, status, Some(&notice), None).await
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /asks/{id}/pick`: one of the agent's actions, by its index.
pub(super) async fn pick(
    State(request_pages): State<Arc<RequestPages>>,
    AskForm { visitor, ask, form: submitted }: AskForm,
) -> PageResult {
    let place = submitted.value("pick").and_then(|place| place.parse().ok());
    // The kernel refuses an index that the agent did not offer.
    let command = AskCommand::Pick(ask.id, place.unwrap_or(usize::MAX));
    request_pages.run_and_show(&visitor, &ask, command, ActionOutcome::Picked).await
}

/// `POST /asks/{id}/extend`: extends the deadline by `by` seconds.
pub(super) async fn extend(
    State(request_pages): State<Arc<RequestPages>>,
    AskForm { visitor, ask, form: submitted }: AskForm,
) -> PageResult {
    let by = submitted.value("by").and_then(|by| by.parse().ok()).filter(|by| SPANS.contains(by));
    let (Some(by), Some(deadline)) = (by, ask.expires_at) else {
        let refusal = match ask.expires_at {
            None => Refusal::NoDeadline,
            Some(_) => Refusal::Invalid { field: "by", expected: "one of the buttons" },
        };
        let notice = ActionOutcome::Refused(refusal);
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        return request_pages.page(&visitor, &ask, status, Some(&notice), None).await;
    };
    let until = deadline.max(request_pages.gateway.now()).plus_seconds(by);
    request_pages
        .run_and_show(
            &visitor,
            &ask,
            AskCommand::Extend(ask.id, until),
            ActionOutcome::Extended(until),
        )
        .await
}

/// `POST /asks/{id}/snooze`: hides the request from the person's inbox for `for` seconds;
/// 0 ends the snooze.
pub(super) async fn snooze(
    State(request_pages): State<Arc<RequestPages>>,
    AskForm { visitor, ask, form: submitted }: AskForm,
) -> PageResult {
    let span = submitted.value("for").and_then(|text| text.parse::<u64>().ok());
    let invalid = |expected| ActionOutcome::Refused(Refusal::Invalid { field: "for", expected });
    let until = span.filter(|span| SPANS.contains(span));
    let until = until.map(|span| request_pages.gateway.now().plus_seconds(span));
    let human = visitor.human.id.clone();
    let (status, notice) = match (until, span) {
        (None, Some(0)) => {
            request_pages.gateway.store().snooze(human, ask.id, None).await?;
            (StatusCode::OK, ActionOutcome::Back)
        }
        (None, _) => (StatusCode::UNPROCESSABLE_ENTITY, invalid("one of the buttons")),
        (Some(until), _) => {
            if request_pages.gateway.store().snooze(human, ask.id, Some(until)).await? {
                (StatusCode::OK, ActionOutcome::Aside(until))
            } else {
                let expected = "no more than 500 requests hidden at once";
                (StatusCode::UNPROCESSABLE_ENTITY, invalid(expected))
            }
        }
    };
    request_pages.page(&visitor, &ask, status, Some(&notice), None).await
}

/// `POST /asks/{id}/looking`: the page reports that it is still open, or with `leave` that it
/// closes. The response lists the other viewers.
pub(super) async fn looking(
    State(gateway): State<Gateway>,
    AskForm { visitor, ask, form: submitted }: AskForm,
) -> PageResult {
    let stays = submitted.value("leave").is_none() && ask.is_open();
    note_viewing(&gateway, &visitor, ask.id, stays).await?;
    let others = other_viewers(&gateway, &visitor.human.id, ask.id).await?;
    let text = related::viewers_sentence(&others, &gateway.directory());
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(ViewersUpdate { text })).into_response())
}

/// `GET /asks/{id}/receipt`: the receipt as a file.
pub(super) async fn receipt(
    State(receipts): State<Receipts>,
    VisibleRequest { visitor, ask }: VisibleRequest,
) -> PageResult {
    let missing = || page(StatusCode::NOT_FOUND, message_page::no_receipt(&visitor.frame));
    let receipt = receipts.receipt_for(&ask, &visitor.actor).await?.ok_or_else(missing)?;
    let name = format!("attachment; filename=\"receipt-{}.jws\"", ask.id);
    let kind = [
        (header::CONTENT_TYPE, "application/jose".to_owned()),
        (header::CONTENT_DISPOSITION, name),
        (header::CACHE_CONTROL, "no-store".to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
    ];
    Ok((kind, receipt).into_response())
}

/// `GET /asks/{id}/files/{digest}`: a file of the answer.
pub(super) async fn file(
    State(uploads): State<Arc<AnswerUploads>>,
    Path((_, digest)): Path<(String, String)>,
    VisibleRequest { visitor, ask }: VisibleRequest,
) -> PageResult {
    let kept = uploads.stored_file(&ask, &digest).await.map_err(|unread| match unread {
        FileReadError::Away => {
            page(StatusCode::SERVICE_UNAVAILABLE, message_page::unavailable(&visitor.frame))
        }
        FileReadError::Damaged => {
            let shown = message_page::server_error(&visitor.frame, "the file cannot be read");
            page(StatusCode::INTERNAL_SERVER_ERROR, shown)
        }
    })?;
    kept.ok_or_else(|| page(StatusCode::NOT_FOUND, message_page::not_found(&visitor.frame)))
}
