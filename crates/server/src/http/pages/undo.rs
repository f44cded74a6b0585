//! Undoing an answer: `POST /asks/{id}/undo` on the page of a request, `POST /inbox/undo` for one
//! or more answers given from the list. Also the banner after an answer: when the time to undo it
//! has passed, `GET /inbox/sent?ask=…` returns the outcome.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect};
use gateway::Gateway;
use kernel::{ActorRef, Ask, AskCommand, AskId, Refusal};
use serde::Serialize;
use store::StoreError;
use views::answer_form::prefill;
use views::banner::ActionOutcome;
use views::banner::{AnswersSent, NextRequest, RecentAnswer, UndoForm, UnsentAnswer};
use views::components::query;
use views::site::paths;
use views::{AnswerDraft, FormProblems, PageContext, SubmittedForm, inbox, render};

use super::inbox::actions::back;
use super::inbox::list::InboxFilter;
use super::{PageResult, Visitor};
use crate::http::api::bulk::MAX_BULK_ASKS;
use crate::http::pages::inbox::list::listed;
use crate::http::pages::request::RequestPages;
use crate::http::pages::visitor::{AskForm, Visitors};

/// Undoes one answer and shows the request again, with the person's input restored.
pub(super) async fn undo_one(
    State(visitors): State<Arc<Visitors>>,
    State(request_pages): State<Arc<RequestPages>>,
    State(gateway): State<Gateway>,
    Path(id): Path<String>,
    AskForm { visitor, ask, .. }: AskForm,
) -> PageResult {
    let held = ask.held.as_ref().and_then(|held| held.vote.reply.value());
    let draft = ask.question.value().zip(held).map(|(question, reply)| {
        AnswerDraft::new(question, &prefill::of(question, reply), FormProblems::default())
    });
    match undo_answer(&gateway, &visitor, ask.id).await? {
        Ok(()) => {
            let now = visitors.visible_ask(&visitor, &id).await?;
            let notice = ActionOutcome::Undone(1, 0);
            request_pages.page(&visitor, &now, StatusCode::OK, Some(&notice), draft.as_ref()).await
        }
        Err(refusal) => {
            let now = visitors.visible_ask(&visitor, &id).await?;
            let notice = if is_own_answer(&refusal, &visitor) {
                ActionOutcome::Undone(0, 1)
            } else {
                ActionOutcome::Refused(refusal)
            };
            request_pages.page(&visitor, &now, StatusCode::CONFLICT, Some(&notice), None).await
        }
    }
}

/// Undoes answers given from the list and returns to it with their number.
pub(super) async fn undo_from_list(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    from: Request,
) -> PageResult {
    let (visitor, form) = visitors.visitor_and_form(from, paths::INBOX).await?;
    let ids = form.values("ask").filter_map(|id| id.parse::<AskId>().ok()).take(MAX_BULK_ASKS);
    let (mut undone, mut late) = (0_usize, 0_usize);
    for id in ids {
        match undo_answer(&gateway, &visitor, id).await? {
            Ok(()) => undone += 1,
            Err(_) => late += 1,
        }
    }
    let list = query::PageQuery::read(&back(&form), &inbox::QUERY_PARAMETERS);
    let list = list.with("undone", undone.to_string()).with("late", late.to_string());
    Ok(Redirect::to(&list.href(paths::INBOX)).into_response())
}

/// The text that replaces an ended countdown.
#[derive(Serialize)]
struct CountdownReplacement {
    html: String,
}

/// `GET /inbox/sent`: the outcome of answers. The page cannot know it: the agent may have cancelled
/// the request, or another page may have undone or changed the answer.
pub(super) async fn sent(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    Query(pairs): Query<Vec<(String, String)>>,
    visitor: Visitor,
) -> PageResult {
    let form = SubmittedForm::new(pairs);
    let mut asks = Vec::new();
    for id in form.values("ask").take(MAX_BULK_ASKS) {
        asks.push(visitors.visible_ask(&visitor, id).await?);
    }
    let me = ActorRef::Human(visitor.human.id.clone());
    let directory = gateway.directory();
    let frame = PageContext { now: gateway.now(), ..visitor.frame.clone() };
    let unsent = asks.iter().filter(|ask| !has_answer_of(ask, &me));
    let unsent = unsent.map(|ask| UnsentAnswer::of(ask, &directory, frame.now)).collect();
    let mut shown = AnswersSent { banner: None, undo: None, total: asks.len(), unsent };
    let list = form
        .value("list")
        .map(|list| query::PageQuery::read(list, &inbox::QUERY_PARAMETERS).text());
    match asks.as_slice() {
        [ask] if form.value("summary").is_none() => {
            let visitor = Visitor { frame, ..visitor };
            let notice = answered_notice(&gateway, &visitor, ask, list.as_deref()).await?;
            shown.banner = notice.map(|notice| notice.banner(&directory, visitor.frame.now, None));
        }
        _ => {
            let held = asks.iter().map(|ask| &**ask).filter(|ask| has_answer_of(ask, &me));
            shown.undo = UndoForm::of(&frame, held, &list.unwrap_or_default());
        }
    }
    let sent = CountdownReplacement { html: render(&shown) };
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(sent)).into_response())
}

/// Whether the person's answer was sent, or is still held.
fn has_answer_of(ask: &Ask, person: &ActorRef) -> bool {
    let mut held = ask.held.iter().map(|held| &held.vote);
    held.any(|vote| vote.by == *person) || ask.votes.iter().any(|vote| vote.by == *person)
}

/// Whether the refusal is due to the visitor's own answer.
fn is_own_answer(refusal: &Refusal, visitor: &Visitor) -> bool {
    let me = ActorRef::Human(visitor.human.id.clone());
    matches!(refusal, Refusal::AlreadyAnswered { by, .. } if *by == me)
}

async fn undo_answer(
    gateway: &Gateway,
    visitor: &Visitor,
    id: AskId,
) -> Result<Result<(), Refusal>, StoreError> {
    match gateway.run(visitor.actor.clone(), AskCommand::UndoAnswer(id)).await {
        Ok(_) => Ok(Ok(())),
        Err(StoreError::Refused(refusal)) => Ok(Err(refusal)),
        Err(error) => Err(error),
    }
}

/// The outcome to show to the person who just answered; `None` for anyone else. With the query of
/// a list, the inbox shows it.
pub(super) async fn answered_notice(
    gateway: &Gateway,
    visitor: &Visitor,
    ask: &Ask,
    list: Option<&str>,
) -> Result<Option<ActionOutcome>, StoreError> {
    let me = ActorRef::Human(visitor.human.id.clone());
    let held = ask.held.as_ref().map(|held| &held.vote).filter(|vote| vote.by == me);
    let given = held.or_else(|| ask.votes.iter().rfind(|vote| vote.by == me));
    let Some(vote) = given else { return Ok(None) };
    let next = next_request(gateway, visitor, ask.id).await?;
    let answered = RecentAnswer::new(&visitor.frame, ask, vote, next, list);
    Ok(Some(ActionOutcome::Answered(Box::new(answered))))
}

/// The first request in the order of the inbox that this person can answer now.
async fn next_request(
    gateway: &Gateway,
    visitor: &Visitor,
    answered: AskId,
) -> Result<Option<NextRequest>, StoreError> {
    let me = &visitor.human;
    let listed = listed(gateway, me, &InboxFilter::from_query(&[], me)).await?;
    let free = |ask: &&Ask| {
        let taken = ask.claim.as_ref().is_some_and(|claim| claim.human != me.id);
        ask.id != answered && ask.held.is_none() && !taken
    };
    let mut asks = listed.items.iter().flat_map(|item| &item.asks);
    Ok(asks.find(free).map(NextRequest::of))
}
