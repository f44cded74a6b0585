//! What else a person does on the page of a request: `POST /asks/{id}/comment`, `…/pick`, `…/extend`,
//! `…/snooze`, `…/looking`; and what the page loads: `GET /asks/{id}/end`, `…/receipt`,
//! `…/files/{digest}`.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use gateway::auth::Lane;
use gateway::streams::Wire;
use gateway::wake::Topic;
use kernel::{AskCommand, AskId, Refusal, Subject};
use serde::{Deserialize, Serialize};
use store::StoreError;

use super::review_watch::{Watched, Watcher};
use super::{Page, page};
use crate::http::pass::Pass;
use crate::http::{Shared, sse};
use gateway::files::Unread;
use views::banner::Notice;
use views::message_page;
use views::request::related;

/// By how many seconds the page moves a deadline or hides a request: an hour, a day, a week.
const SPANS: [u64; 3] = [3600, 86_400, 604_800];

/// `POST /asks/{id}/comment`
pub(super) async fn comment(
    State(app): State<Shared>,
    Path(id): Path<String>,
    from: Request,
) -> Page {
    let (visitor, ask, submitted) = app.acting_on(&id, from).await?;
    let text = submitted.text("text").unwrap_or_default();
    let command = AskCommand::Comment(ask.id, text.clone());
    match app.gateway.run(visitor.actor.clone(), command).await {
        Ok(outcome) => {
            let ask = outcome.ask.map_or(ask, Arc::new);
            app.request_page(&visitor, &ask, StatusCode::OK, Some(&Notice::Commented), None).await
        }
        Err(StoreError::Refused(refusal)) => {
            let notice = Notice::Unsaid(refusal, text);
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            app.request_page(&visitor, &ask, status, Some(&notice), None).await
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /asks/{id}/pick`: one of the agent's actions, by its place.
pub(super) async fn pick(State(app): State<Shared>, Path(id): Path<String>, from: Request) -> Page {
    let (visitor, ask, submitted) = app.acting_on(&id, from).await?;
    let place = submitted.value("pick").and_then(|place| place.parse().ok());
    // A place nobody offered is refused by the kernel.
    let command = AskCommand::Pick(ask.id, place.unwrap_or(usize::MAX));
    app.acted(&visitor, &ask, command, Notice::Picked).await
}

/// `POST /asks/{id}/extend`: `by` seconds more, counted from the deadline.
pub(super) async fn extend(
    State(app): State<Shared>,
    Path(id): Path<String>,
    from: Request,
) -> Page {
    let (visitor, ask, submitted) = app.acting_on(&id, from).await?;
    let by = submitted.value("by").and_then(|by| by.parse().ok()).filter(|by| SPANS.contains(by));
    let (Some(by), Some(deadline)) = (by, ask.expires_at) else {
        let refusal = match ask.expires_at {
            None => Refusal::NoDeadline,
            Some(_) => Refusal::Invalid { field: "by", expected: "one of the buttons" },
        };
        let notice = Notice::Refused(refusal);
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        return app.request_page(&visitor, &ask, status, Some(&notice), None).await;
    };
    let until = deadline.max(app.gateway.now()).plus_seconds(by);
    app.acted(&visitor, &ask, AskCommand::Extend(ask.id, until), Notice::Extended(until)).await
}

/// `POST /asks/{id}/snooze`: out of one's own inbox `for` seconds, or with 0 back into it.
pub(super) async fn snooze(
    State(app): State<Shared>,
    Path(id): Path<String>,
    from: Request,
) -> Page {
    let (visitor, ask, submitted) = app.acting_on(&id, from).await?;
    let span = submitted.value("for").and_then(|text| text.parse::<u64>().ok());
    let invalid = |expected| Notice::Refused(Refusal::Invalid { field: "for", expected });
    let until = span.filter(|span| SPANS.contains(span));
    let until = until.map(|span| app.gateway.now().plus_seconds(span));
    let human = visitor.human.id.clone();
    let (status, notice) = match (until, span) {
        (None, Some(0)) => {
            app.gateway.store().snooze(human, ask.id, None).await?;
            (StatusCode::OK, Notice::Back)
        }
        (None, _) => (StatusCode::UNPROCESSABLE_ENTITY, invalid("one of the buttons")),
        (Some(until), _) => {
            if app.gateway.store().snooze(human, ask.id, Some(until)).await? {
                (StatusCode::OK, Notice::Aside(until))
            } else {
                let expected = "no more than 500 requests hidden at once";
                (StatusCode::UNPROCESSABLE_ENTITY, invalid(expected))
            }
        }
    };
    app.request_page(&visitor, &ask, status, Some(&notice), None).await
}

/// Who looks, for a page that is open.
#[derive(Serialize)]
pub(super) struct Looking {
    pub(super) text: Option<String>,
}

/// `POST /asks/{id}/looking`: the page says that it is still open, or with `leave` that it closes, and
/// hears who else looks.
pub(super) async fn looking(
    State(app): State<Shared>,
    Path(id): Path<String>,
    from: Request,
) -> Page {
    let (visitor, ask, submitted) = app.acting_on(&id, from).await?;
    let stays = submitted.value("leave").is_none() && ask.is_open();
    app.note_look(&visitor, ask.id, stays).await?;
    let others = app.others_looking(&visitor.human.id, ask.id).await?;
    let text = related::looking(&others, &app.gateway.directory());
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(Looking { text })).into_response())
}

/// The claim a page shows.
#[derive(Deserialize)]
pub(super) struct Claim {
    holder: Option<String>,
}

/// `GET /asks/{id}/end`: who claims the request and how it ends, told when it happens.
pub(super) async fn watch(
    State(app): State<Shared>,
    Path(id): Path<String>,
    Query(shown): Query<Claim>,
    headers: HeaderMap,
) -> Result<Response, StatusCode> {
    let visitor = app.visitor(&headers).await.map_err(|_| StatusCode::UNAUTHORIZED)?;
    let id: AskId = id.parse().map_err(|_| StatusCode::NOT_FOUND)?;
    let pass = Pass::of_session(visitor.actor.clone(), visitor.session);
    // Read after the subscription: an end in between is not missed.
    let own = Topic::Subject(Subject::Ask(id));
    let waiter = app.gateway.wake().subscribe(pass.topics().chain([own]));
    let seen = app.seen_by(&visitor, &id.to_string()).await;
    seen.map_err(|_| StatusCode::NOT_FOUND)?;
    app.authenticator.count(id, Lane::Watch).map_err(|_| StatusCode::TOO_MANY_REQUESTS)?;
    let me = visitor.human.id;
    let who = Some(Subject::Human(me.clone()));
    let held = app.watchers.open(who, Wire::Events);
    let held = held.map_err(|_| StatusCode::TOO_MANY_REQUESTS)?;
    let holder = shown.holder.and_then(|holder| holder.parse().ok());
    let returned = headers.contains_key("last-event-id");
    let by = Watcher::Person(me, pass);
    let watched = Watched::new(app, id, by, waiter, held).showing(holder, returned);
    Ok(sse::respond(watched).into_response())
}

/// `GET /asks/{id}/receipt`: the receipt as a file.
pub(super) async fn receipt(
    State(app): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Page {
    let visitor = app.visitor(&headers).await?;
    let ask = app.seen_by(&visitor, &id).await?;
    let missing = || page(StatusCode::NOT_FOUND, message_page::no_receipt(&visitor.frame));
    let receipt = app.receipts.receipt_for(&ask, &visitor.actor).await?.ok_or_else(missing)?;
    let name = format!("attachment; filename=\"receipt-{}.jws\"", ask.id);
    let kind = [
        (header::CONTENT_TYPE, "application/jose".to_owned()),
        (header::CONTENT_DISPOSITION, name),
        (header::CACHE_CONTROL, "no-store".to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
    ];
    Ok((kind, receipt).into_response())
}

/// `GET /asks/{id}/files/{digest}`: a file that answered the request.
pub(super) async fn file(
    State(app): State<Shared>,
    Path((id, digest)): Path<(String, String)>,
    headers: HeaderMap,
) -> Page {
    let visitor = app.visitor(&headers).await?;
    let ask = app.seen_by(&visitor, &id).await?;
    let kept = app.kept_file(&ask, &digest).await.map_err(|unread| match unread {
        Unread::Away => {
            page(StatusCode::SERVICE_UNAVAILABLE, message_page::unavailable(&visitor.frame))
        }
        Unread::Damaged => {
            let shown = message_page::server_error(&visitor.frame, "the file cannot be read");
            page(StatusCode::INTERNAL_SERVER_ERROR, shown)
        }
    })?;
    kept.ok_or_else(|| page(StatusCode::NOT_FOUND, message_page::not_found(&visitor.frame)))
}
