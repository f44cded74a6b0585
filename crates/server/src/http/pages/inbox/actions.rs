//! Actions on the rows of the list: answering where the row shows the whole question, snoozing,
//! ending a snooze, reassigning.

use std::sync::Arc;

use axum::extract::{Query, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect};
use gateway::{CommandCheck, Gateway};
use jiff::tz::TimeZone;
use kernel::ask::DisplayedContent;
use kernel::directory::Human;
use kernel::question::Reply;
use kernel::{Ask, AskCommand, AskId, HumanId, Refusal, Time};
use store::{AskListQuery, StoreError};
use views::SubmittedForm;
use views::answer_form::AnswerFormContext;
use views::answer_form::second_step::SecondStep;
use views::banner::ActionOutcome;
use views::components::query;
use views::inbox;
use views::inbox::bulk::{self, BulkRequest, SharedAnswer};
use views::inbox::row::is_answerable_in_list;
use views::inbox::snooze::{self, SnoozeProblem};
use views::site::paths;

use super::list::InboxFilter;
use super::return_to;
use crate::http::api::bulk::{BulkMode, MAX_BULK_ASKS, answer_one};
use crate::http::api::lists::page_of;
use crate::http::api::snooze::MAX_SNOOZE_SECONDS;
use crate::http::pages::inbox::inbox_page;
use crate::http::pages::request::answer_with_shown;
use crate::http::pages::sealed_values::SealedValues;
use crate::http::pages::visitor::Visitors;
use crate::http::pages::{PageError, PageResult, Visitor, html, parts};

/// The names of the buttons in rows.
const ANSWERS: [&str; 3] = ["approve", "reject", "choose"];

/// `POST /inbox/answer`: the button of a row. If the answer needs a confirmation, its second step
/// is shown first.
pub(super) async fn answer(
    State(visitors): State<Arc<Visitors>>,
    State(sealed_values): State<Arc<SealedValues>>,
    State(gateway): State<Gateway>,
    from: Request,
) -> PageResult {
    let (visitor, form) = visitors.visitor_and_form(from, paths::INBOX).await?;
    let back = back(&form);
    let pressed = form.pairs.iter().rfind(|(name, _)| ANSWERS.contains(&name.as_str()));
    let (name, value) = pressed.map_or(("", ""), |(name, value)| (name, value));
    let (id, option) = value.split_once(':').unwrap_or((value, ""));
    let ask = visitors.visible_ask(&visitor, id).await?;
    let meant = if name == "choose" { format!("choose:{option}") } else { name.to_owned() };
    let word = SharedAnswer::of(&ask).into_iter().find(|word| word.value == meant);
    // Only questions that a row shows in full are answered from it.
    let Some(word) = word.filter(|_| is_answerable_in_list(&ask)) else {
        let refusal = Refusal::Invalid { field: "answer", expected: "one of the row's buttons" };
        return refused(&gateway, &visitor, &back, refusal, StatusCode::UNPROCESSABLE_ENTITY).await;
    };
    let reply = Reply { answer: word.answer, comment: None };
    let pressed = match name {
        "choose" => ("choose", value.to_owned()),
        name => (if name == "approve" { "approve" } else { "reject" }, value.to_owned()),
    };
    if let Some(step) =
        second_step_of_row(&sealed_values, &visitor, &ask, &reply, pressed, &form, &back)
    {
        return Ok(html(StatusCode::OK, bulk::second_step_page(&visitor.frame, &ask, &step)));
    }
    let command = AskCommand::HoldAnswer(ask.id, Box::new(reply));
    let (shown, actor) = (DisplayedContent::Summary, &visitor.actor);
    match answer_with_shown(&gateway, shown, &visitor, actor, &ask, None, command).await {
        Ok(_) => Ok(return_to(Some(&back), ("sent", ask.id.to_string()))),
        Err(StoreError::Refused(refusal)) => {
            refused(&gateway, &visitor, &back, refusal, StatusCode::CONFLICT).await
        }
        Err(error) => Err(error.into()),
    }
}

/// `GET /inbox/aside`: the forms to snooze or reassign a request.
pub(super) async fn show_snooze(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    Query(pairs): Query<Vec<(String, String)>>,
    visitor: Visitor,
) -> PageResult {
    let form = SubmittedForm::new(pairs);
    let ask = named_request(&visitors, &visitor, &form).await?;
    Ok(snooze_page(&gateway, &visitor, &ask, &back(&form), None, StatusCode::OK))
}

/// `POST /inbox/snooze`
pub(super) async fn snooze(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    from: Request,
) -> PageResult {
    let (visitor, form) = visitors.visitor_and_form(from, paths::INBOX).await?;
    let (ask, back) = (named_request(&visitors, &visitor, &form).await?, back(&form));
    let now = gateway.now();
    let zone = form.value("zone").and_then(|name| TimeZone::get(name).ok());
    let zone = zone.unwrap_or(TimeZone::UTC);
    let choice = form.value("until").unwrap_or_default();
    let until = snooze::snooze_until(choice, form.value("at"), &zone, now);
    let wrong = |wrong: SnoozeProblem| {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        Ok(snooze_page(&gateway, &visitor, &ask, &back, Some(&wrong), status))
    };
    let Some(until) = until.filter(|at| *at > now && *at <= now.plus_seconds(MAX_SNOOZE_SECONDS))
    else {
        return wrong(SnoozeProblem::Time);
    };
    if gateway.store().snooze(visitor.human.id.clone(), ask.id, Some(until)).await? {
        return Ok(return_to(Some(&back), ("aside", until.millis().to_string())));
    }
    wrong(SnoozeProblem::Full)
}

/// `POST /inbox/wake`
pub(super) async fn wake(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    from: Request,
) -> PageResult {
    let (visitor, form) = visitors.visitor_and_form(from, paths::INBOX).await?;
    let ask = named_request(&visitors, &visitor, &form).await?;
    gateway.store().snooze(visitor.human.id.clone(), ask.id, None).await?;
    Ok(return_to(Some(&back(&form)), ("woken", "1".to_owned())))
}

/// `POST /inbox/hand`
pub(super) async fn reassign(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    from: Request,
) -> PageResult {
    let (visitor, form) = visitors.visitor_and_form(from, paths::INBOX).await?;
    let (ask, back) = (named_request(&visitors, &visitor, &form).await?, back(&form));
    let note = form.text("note").unwrap_or_default();
    let refuse = |wrong: SnoozeProblem, status| {
        Ok(snooze_page(&gateway, &visitor, &ask, &back, Some(&wrong), status))
    };
    let to = form.value("to").and_then(|to| to.parse::<HumanId>().ok());
    let Some(to) = to else {
        return refuse(SnoozeProblem::Person(note), StatusCode::UNPROCESSABLE_ENTITY);
    };
    let said = Some(note.clone()).filter(|note| !note.trim().is_empty());
    let command = AskCommand::Assign(ask.id, to.clone(), said);
    match gateway.run(visitor.actor.clone(), command).await {
        Ok(_) => Ok(return_to(Some(&back), ("handed", to.to_string()))),
        Err(StoreError::Refused(Refusal::Invalid { field: "to", .. })) => {
            refuse(SnoozeProblem::Person(note), StatusCode::UNPROCESSABLE_ENTITY)
        }
        Err(StoreError::Refused(refusal)) => {
            let why = bulk::refusal_reason(&refusal, &gateway.directory(), gateway.now());
            refuse(SnoozeProblem::Refused(why), StatusCode::CONFLICT)
        }
        Err(error) => Err(error.into()),
    }
}

/// The query of the list that the form came from, validated.
pub(crate) fn back(form: &SubmittedForm) -> String {
    query::PageQuery::read(form.value("back").unwrap_or_default(), &inbox::QUERY_PARAMETERS).text()
}

/// The second step for the button of a row, unless the answer needs none. `pressed` is the button.
fn second_step_of_row(
    sealed_values: &SealedValues,
    visitor: &Visitor,
    ask: &Ask,
    reply: &Reply,
    pressed: (&'static str, String),
    form: &SubmittedForm,
    back: &str,
) -> Option<SecondStep> {
    // The button as the page of the request would send it.
    let option = pressed.1.split_once(':').map(|(_, option)| option);
    let card = match option {
        Some(option) => ("choose", option),
        None => ("action", pressed.0),
    };
    let sent = SubmittedForm::new(vec![(card.0.to_owned(), card.1.to_owned())]);
    let desk = AnswerFormContext {
        href: paths::QUICK_ANSWER.to_owned(),
        ..AnswerFormContext::inbox(ask.id, &visitor.frame)
    };
    let before =
        sealed_values.before_step(&visitor.session.to_string(), ask, reply, form, !ask.is_open());
    let step = SecondStep::if_required(ask, reply, &sent, desk, before)?;
    let hidden =
        vec![("csrf".to_owned(), visitor.frame.csrf.clone()), ("back".to_owned(), back.to_owned())];
    Some(step.from_list(pressed, hidden, bulk::list_path(back)))
}

/// The request a form names.
async fn named_request(
    visitors: &Visitors,
    visitor: &Visitor,
    form: &SubmittedForm,
) -> Result<Arc<Ask>, PageError> {
    visitors.visible_ask(visitor, form.value("ask").unwrap_or_default()).await
}

/// The list again, with the reason for the refusal.
async fn refused(
    gateway: &Gateway,
    visitor: &Visitor,
    back: &str,
    refusal: Refusal,
    status: StatusCode,
) -> PageResult {
    let pairs: Vec<(String, String)> =
        url::form_urlencoded::parse(back.as_bytes()).into_owned().collect();
    let wanted = InboxFilter::from_query(&pairs, &visitor.human);
    let notice = ActionOutcome::Refused(refusal);
    Ok(inbox_page(gateway, visitor, &wanted, Some(&notice), status).await?)
}

fn snooze_page(
    gateway: &Gateway,
    visitor: &Visitor,
    ask: &Ask,
    back: &str,
    wrong: Option<&SnoozeProblem>,
    status: StatusCode,
) -> axum::response::Response {
    let directory = gateway.directory();
    let me = &visitor.human;
    let colleague =
        |human: &&Human| human.active && human.id != me.id && human.projects.contains(&ask.project);
    let people: Vec<HumanId> =
        directory.humans().filter(colleague).map(|human| human.id.clone()).collect();
    html(status, snooze::page(&visitor.frame, ask, &directory, &people, back, wrong))
}

// Bulk actions: many requests get the same answer, after a summary. Each is answered by itself.

/// `GET /inbox/bulk`: the summary of all similar requests. It decides nothing.
pub(super) async fn show(
    State(gateway): State<Gateway>,
    Query(pairs): Query<Vec<(String, String)>>,
    visitor: Visitor,
) -> PageResult {
    let wanted = InboxFilter::from_query(&pairs, &visitor.human);
    if wanted.filter.fold.is_none() {
        return Ok(Redirect::to(paths::INBOX).into_response());
    }
    let whole = InboxFilter::view(wanted.tab).list_scopes(&visitor.human);
    let (mut ids, mut after) = (Vec::new(), None);
    // At most as many as one bulk action takes; the others stay open.
    while ids.len() < MAX_BULK_ASKS {
        let limit = (MAX_BULK_ASKS - ids.len()).min(100);
        let page =
            page_of(&gateway, &whole, AskListQuery { after, limit, ..wanted.open(&whole) }).await?;
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
) -> PageResult {
    let (visitor, form) = visitors.visitor_and_form(from, paths::INBOX).await?;
    let ids = selected_requests(form.values("ask"));
    summary(&gateway, &visitor, ids, &back(&form)).await
}

/// `POST /inbox/bulk/answer`: gives each request this answer, or reports why it was refused.
pub(super) async fn answer_all(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    from: Request,
) -> PageResult {
    let (headers, body) = parts(from);
    let visitor = visitors.visitor(&headers).await?;
    let form = visitors.submitted(&visitor, &headers, body, paths::INBOX).await?;
    let (ids, back) = (selected_requests(form.values("ask")), back(&form));
    let comment = form.text("comment").unwrap_or_default();
    let word = form.value("word").unwrap_or_default();
    let (mut answered, mut refused) = (Vec::new(), Vec::new());
    let directory = gateway.directory();
    for id in ids {
        let found = gateway.ask(id).await?;
        let ask = found.filter(|ask| ask.is_visible_to(&visitor.actor, &directory));
        let Some(ask) = ask.map(Arc::unwrap_or_clone) else {
            refused.push((None, Refusal::NotFound { what: "request" }));
            continue;
        };
        if let Err(refusal) = refuse_if_not_summarizable(&visitor, &ask, gateway.now()) {
            refused.push((Some(ask), refusal));
            continue;
        }
        let meant = SharedAnswer::of(&ask).into_iter().find(|one| one.value == word);
        let Some(meant) = meant else {
            let why = "it takes another kind of answer";
            refused.push((Some(ask), Refusal::NotAllowed { why }));
            continue;
        };
        let said = Some(comment.clone()).filter(|text| !text.trim().is_empty());
        let reply = Reply { answer: meant.answer, comment: said };
        match answer_one(&gateway, &visitor.actor, id, &reply, BulkMode::Held).await? {
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
fn selected_requests<'a>(values: impl Iterator<Item = &'a str>) -> Vec<AskId> {
    let mut ids: Vec<AskId> = Vec::new();
    for id in values.flat_map(str::split_whitespace).filter_map(|id| id.parse().ok()) {
        if ids.len() < MAX_BULK_ASKS && !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

/// The summary of the selected requests, with the answers that each accepts.
async fn summary(gateway: &Gateway, visitor: &Visitor, ids: Vec<AskId>, back: &str) -> PageResult {
    let directory = gateway.directory();
    let mut considered = Vec::with_capacity(ids.len());
    for id in ids {
        let found = gateway.ask(id).await?;
        let Some(ask) = found.filter(|ask| ask.is_visible_to(&visitor.actor, &directory)) else {
            continue;
        };
        let considering = gateway.command_check(&ask).await?;
        let fits = accepted_answers(&considering, visitor, &ask, gateway.now());
        considered.push(BulkRequest { ask: Arc::unwrap_or_clone(ask), fits });
    }
    let shown = bulk::confirm(&visitor.frame, &considered, &directory, back);
    Ok(html(StatusCode::OK, shown))
}

/// The refusal for a request that cannot be answered from a summary: the summary cannot show all of
/// it, or another person has claimed it.
fn refuse_if_not_summarizable(visitor: &Visitor, ask: &Ask, now: Time) -> Result<(), Refusal> {
    ask.check_open(now)?;
    ask.allows_bulk()?;
    if let Some(by) = ask.held_by().filter(|by| **by != visitor.human.id) {
        return Err(Refusal::BeingAnswered { by: by.clone() });
    }
    if let Some(by) = ask.claimed_by_other(&visitor.human) {
        return Err(Refusal::TakenBy { by: by.clone() });
    }
    if !bulk::fits_in_summary(ask) {
        return Err(Refusal::NotAllowed { why: bulk::DOES_NOT_FIT });
    }
    Ok(())
}

/// The answers that a request accepts now, or why it accepts none.
fn accepted_answers(
    considering: &CommandCheck<'_>,
    visitor: &Visitor,
    ask: &Ask,
    now: Time,
) -> Result<Vec<SharedAnswer>, Refusal> {
    refuse_if_not_summarizable(visitor, ask, now)?;
    let mut last = Refusal::NotAllowed { why: "it cannot be answered with one word" };
    let mut fits = Vec::new();
    for word in SharedAnswer::of(ask) {
        let reply = Reply { answer: word.answer.clone(), comment: None };
        let command = |reply| AskCommand::Answer(ask.id, Box::new(reply));
        let taken = ask
            .bulk_reply(&reply)
            .and_then(|reply| considering.accepts(&visitor.actor, command(reply)));
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
        assert_eq!(selected_requests([two.as_str(), &id(2), "nonsense", ""].into_iter()).len(), 2);
        let many: Vec<String> = (0..300).map(id).collect();
        assert_eq!(selected_requests(many.iter().map(String::as_str)).len(), MAX_BULK_ASKS);
    }
}
