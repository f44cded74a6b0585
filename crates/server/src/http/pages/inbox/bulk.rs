//! Bulk actions: many requests get the same answer, after a summary. Each is answered by itself.

use std::sync::Arc;

use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect};
use gateway::{Considering, Gateway};
use kernel::question::Reply;
use kernel::{Ask, AskCommand, AskId, Refusal, Time};
use store::List;
use views::inbox::bulk::{self, Considered, Word};
use views::site::paths;

use super::actions::back;
use super::list::Wanted;
use crate::http::api::bulk::{How, MOST, one_of_many};
use crate::http::api::filters::page_of;
use crate::http::pages::visitors::Visitors;
use crate::http::pages::{Page, Visitor, html, parts};

/// `GET /inbox/bulk`: the summary of all similar requests. It decides nothing.
pub(super) async fn show(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Page {
    let visitor = visitors.visitor(&headers).await?;
    let wanted = Wanted::of(&pairs, &visitor.human);
    if wanted.filter.fold.is_none() {
        return Ok(Redirect::to(paths::INBOX).into_response());
    }
    let whole = Wanted::view(wanted.tab).whole(&visitor.human);
    let (mut ids, mut after) = (Vec::new(), None);
    // At most as many as one bulk action takes; the others stay open.
    while ids.len() < MOST {
        let limit = (MOST - ids.len()).min(100);
        let page = page_of(&gateway, &whole, List { after, limit, ..wanted.open(&whole) }).await?;
        ids.extend(page.asks.iter().map(|ask| ask.id));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let back = wanted.query.without(&["fold", "agent"]).text();
    summary(&gateway, &visitor, ids, &back).await
}

/// `POST /inbox/bulk`: the summary of the selected requests. It decides nothing either.
pub(super) async fn confirm(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    from: Request,
) -> Page {
    let (visitor, form) = visitors.acting(from, paths::INBOX).await?;
    let ids = ticked(form.values("ask"));
    summary(&gateway, &visitor, ids, &back(&form)).await
}

/// `POST /inbox/bulk/answer`: gives each request this answer, or reports why it was refused.
pub(super) async fn answer(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    from: Request,
) -> Page {
    let (headers, body) = parts(from);
    let visitor = visitors.visitor(&headers).await?;
    let form = visitors.submitted(&visitor, &headers, body, paths::INBOX).await?;
    let (ids, back) = (ticked(form.values("ask")), back(&form));
    let comment = form.text("comment").unwrap_or_default();
    let word = form.value("word").unwrap_or_default();
    let (mut answered, mut refused) = (Vec::new(), Vec::new());
    let directory = gateway.directory();
    for id in ids {
        let found = gateway.ask(id).await?;
        let ask = found.filter(|ask| ask.is_shown_to(&visitor.actor, &directory));
        let Some(ask) = ask.map(Arc::unwrap_or_clone) else {
            refused.push((None, Refusal::NotFound { what: "request" }));
            continue;
        };
        if let Err(refusal) = on_this_page(&visitor, &ask, gateway.now()) {
            refused.push((Some(ask), refusal));
            continue;
        }
        let meant = Word::of(&ask).into_iter().find(|one| one.value == word);
        let Some(meant) = meant else {
            let why = "it takes another kind of answer";
            refused.push((Some(ask), Refusal::NotAllowed { why }));
            continue;
        };
        let said = Some(comment.clone()).filter(|text| !text.trim().is_empty());
        let reply = Reply { answer: meant.answer, comment: said };
        match one_of_many(&gateway, &visitor.actor, id, &reply, How::Held).await? {
            Ok(ask) => answered.push(ask),
            Err(refusal) => {
                let now = gateway.ask(id).await?.map_or(ask, Arc::unwrap_or_clone);
                refused.push((Some(now), refusal));
            }
        }
    }
    let frame = visitors.visitor(&headers).await?.frame;
    let shown = bulk::result(&frame, &answered, &refused, &directory, &back);
    Ok(html(StatusCode::OK, shown))
}

/// The requests that a form names, without duplicates and up to the limit of one bulk action.
fn ticked<'a>(values: impl Iterator<Item = &'a str>) -> Vec<AskId> {
    let mut ids: Vec<AskId> = Vec::new();
    for id in values.flat_map(str::split_whitespace).filter_map(|id| id.parse().ok()) {
        if ids.len() < MOST && !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

/// The summary of the selected requests, with the answers that each accepts.
async fn summary(gateway: &Gateway, visitor: &Visitor, ids: Vec<AskId>, back: &str) -> Page {
    let directory = gateway.directory();
    let mut considered = Vec::with_capacity(ids.len());
    for id in ids {
        let found = gateway.ask(id).await?;
        let Some(ask) = found.filter(|ask| ask.is_shown_to(&visitor.actor, &directory)) else {
            continue;
        };
        let considering = gateway.considering(&ask).await?;
        let fits = fitting(&considering, visitor, &ask, gateway.now());
        considered.push(Considered { ask: Arc::unwrap_or_clone(ask), fits });
    }
    let shown = bulk::confirm(&visitor.frame, &considered, &directory, back);
    Ok(html(StatusCode::OK, shown))
}

/// The refusal for a request that cannot be answered from a summary: the summary cannot show all of
/// it, or another person has claimed it.
fn on_this_page(visitor: &Visitor, ask: &Ask, now: Time) -> Result<(), Refusal> {
    ask.still_open(now)?;
    ask.allows_bulk()?;
    if let Some(by) = ask.held_by().filter(|by| **by != visitor.human.id) {
        return Err(Refusal::BeingAnswered { by: by.clone() });
    }
    if let Some(by) = ask.claimed_by_other(&visitor.human) {
        return Err(Refusal::TakenBy { by: by.clone() });
    }
    if !bulk::is_whole(ask) {
        return Err(Refusal::NotAllowed { why: bulk::UNREAD });
    }
    Ok(())
}

/// The answers that a request accepts now, or why it accepts none.
fn fitting(
    considering: &Considering<'_>,
    visitor: &Visitor,
    ask: &Ask,
    now: Time,
) -> Result<Vec<Word>, Refusal> {
    on_this_page(visitor, ask, now)?;
    let mut last = Refusal::NotAllowed { why: "it cannot be answered with one word" };
    let mut fits = Vec::new();
    for word in Word::of(ask) {
        let reply = Reply { answer: word.answer.clone(), comment: None };
        let command = |reply| AskCommand::Answer(ask.id, Box::new(reply));
        let taken =
            ask.bulk(&reply).and_then(|reply| considering.takes(&visitor.actor, command(reply)));
        match taken {
            Ok(()) => fits.push(word),
            Err(refusal) => last = refusal,
        }
    }
    if fits.is_empty() { Err(last) } else { Ok(fits) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ticked_is_named_once_and_no_more_than_can_be_answered() {
        let id = |n: u128| AskId::new(ulid::Ulid::from(n)).to_string();
        let two = format!("{} {}", id(1), id(2));
        assert_eq!(ticked([two.as_str(), &id(2), "nonsense", ""].into_iter()).len(), 2);
        let many: Vec<String> = (0..300).map(id).collect();
        assert_eq!(ticked(many.iter().map(String::as_str)).len(), MOST);
    }
}
