//! Actions on the rows of the list: answering where the row shows the whole question, snoozing,
//! ending a snooze, reassigning.

use std::sync::Arc;

use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, StatusCode};
use gateway::Gateway;
use jiff::tz::TimeZone;
use kernel::ask::Shown;
use kernel::directory::Human;
use kernel::question::Reply;
use kernel::{Ask, AskCommand, HumanId, Refusal};
use store::StoreError;
use views::answer_form::Desk;
use views::answer_form::second_step::SecondStep;
use views::banner::Notice;
use views::components::query;
use views::inbox::bulk::{self, Word};
use views::inbox::row::is_quick;
use views::inbox::snooze::{self, Wrong};
use views::site::paths;
use views::{Submitted, inbox};

use super::list::Wanted;
use super::return_to;
use crate::http::api::snooze::LONGEST;
use crate::http::pages::inbox::inbox_page;
use crate::http::pages::request::answer_seeing;
use crate::http::pages::sealed_values::SealedValues;
use crate::http::pages::visitors::Visitors;
use crate::http::pages::{Instead, Page, Visitor, html};

/// The names of the buttons in rows.
const ANSWERS: [&str; 3] = ["approve", "reject", "choose"];

/// `POST /inbox/answer`: the button of a row. If the answer needs a confirmation, its second step
/// is shown first.
pub(super) async fn answer(
    State(visitors): State<Arc<Visitors>>,
    State(sealed_values): State<Arc<SealedValues>>,
    State(gateway): State<Gateway>,
    from: Request,
) -> Page {
    let (visitor, form) = visitors.acting(from, paths::INBOX).await?;
    let back = back(&form);
    let pressed = form.pairs.iter().rfind(|(name, _)| ANSWERS.contains(&name.as_str()));
    let (name, value) = pressed.map_or(("", ""), |(name, value)| (name, value));
    let (id, option) = value.split_once(':').unwrap_or((value, ""));
    let ask = visitors.seen_by(&visitor, id).await?;
    let meant = if name == "choose" { format!("choose:{option}") } else { name.to_owned() };
    let word = Word::of(&ask).into_iter().find(|word| word.value == meant);
    // Only questions that a row shows in full are answered from it.
    let Some(word) = word.filter(|_| is_quick(&ask)) else {
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
        return Ok(html(StatusCode::OK, bulk::sure(&visitor.frame, &ask, &step)));
    }
    let command = AskCommand::HoldAnswer(ask.id, Box::new(reply));
    let (shown, actor) = (Shown::Summary, &visitor.actor);
    match answer_seeing(&gateway, shown, &visitor, actor, &ask, None, command).await {
        Ok(_) => Ok(return_to(Some(&back), ("sent", ask.id.to_string()))),
        Err(StoreError::Refused(refusal)) => {
            refused(&gateway, &visitor, &back, refusal, StatusCode::CONFLICT).await
        }
        Err(error) => Err(error.into()),
    }
}

/// `GET /inbox/aside`: the forms to snooze or reassign a request.
pub(super) async fn show_aside(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Page {
    let visitor = visitors.visitor(&headers).await?;
    let form = Submitted::new(pairs);
    let ask = named(&visitors, &visitor, &form).await?;
    Ok(aside_page(&gateway, &visitor, &ask, &back(&form), None, StatusCode::OK))
}

/// `POST /inbox/snooze`
pub(super) async fn snooze(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    from: Request,
) -> Page {
    let (visitor, form) = visitors.acting(from, paths::INBOX).await?;
    let (ask, back) = (named(&visitors, &visitor, &form).await?, back(&form));
    let now = gateway.now();
    let zone = form.value("zone").and_then(|name| TimeZone::get(name).ok());
    let zone = zone.unwrap_or(TimeZone::UTC);
    let choice = form.value("until").unwrap_or_default();
    let until = snooze::moment(choice, form.value("at"), &zone, now);
    let wrong = |wrong: Wrong| {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        Ok(aside_page(&gateway, &visitor, &ask, &back, Some(&wrong), status))
    };
    let Some(until) = until.filter(|at| *at > now && *at <= now.plus_seconds(LONGEST)) else {
        return wrong(Wrong::Time);
    };
    if gateway.store().snooze(visitor.human.id.clone(), ask.id, Some(until)).await? {
        return Ok(return_to(Some(&back), ("aside", until.millis().to_string())));
    }
    wrong(Wrong::Full)
}

/// `POST /inbox/wake`
pub(super) async fn wake(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    from: Request,
) -> Page {
    let (visitor, form) = visitors.acting(from, paths::INBOX).await?;
    let ask = named(&visitors, &visitor, &form).await?;
    gateway.store().snooze(visitor.human.id.clone(), ask.id, None).await?;
    Ok(return_to(Some(&back(&form)), ("woken", "1".to_owned())))
}

/// `POST /inbox/hand`
pub(super) async fn hand(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    from: Request,
) -> Page {
    let (visitor, form) = visitors.acting(from, paths::INBOX).await?;
    let (ask, back) = (named(&visitors, &visitor, &form).await?, back(&form));
    let note = form.text("note").unwrap_or_default();
    let refuse = |wrong: Wrong, status| {
        Ok(aside_page(&gateway, &visitor, &ask, &back, Some(&wrong), status))
    };
    let to = form.value("to").and_then(|to| to.parse::<HumanId>().ok());
    let Some(to) = to else {
        return refuse(Wrong::Person(note), StatusCode::UNPROCESSABLE_ENTITY);
    };
    let said = Some(note.clone()).filter(|note| !note.trim().is_empty());
    let command = AskCommand::Assign(ask.id, to.clone(), said);
    match gateway.run(visitor.actor.clone(), command).await {
        Ok(_) => Ok(return_to(Some(&back), ("handed", to.to_string()))),
        Err(StoreError::Refused(Refusal::Invalid { field: "to", .. })) => {
            refuse(Wrong::Person(note), StatusCode::UNPROCESSABLE_ENTITY)
        }
        Err(StoreError::Refused(refusal)) => {
            let why = bulk::why(&refusal, &gateway.directory(), gateway.now());
            refuse(Wrong::Refused(why), StatusCode::CONFLICT)
        }
        Err(error) => Err(error.into()),
    }
}

/// The query of the list that the form came from, validated.
pub(crate) fn back(form: &Submitted) -> String {
    query::Query::read(form.value("back").unwrap_or_default(), &inbox::KNOWN).text()
}

/// The second step for the button of a row, unless the answer needs none. `pressed` is the button.
fn second_step_of_row(
    sealed_values: &SealedValues,
    visitor: &Visitor,
    ask: &Ask,
    reply: &Reply,
    pressed: (&'static str, String),
    form: &Submitted,
    back: &str,
) -> Option<SecondStep> {
    // The button as the page of the request would send it.
    let option = pressed.1.split_once(':').map(|(_, option)| option);
    let card = match option {
        Some(option) => ("choose", option),
        None => ("action", pressed.0),
    };
    let sent = Submitted::new(vec![(card.0.to_owned(), card.1.to_owned())]);
    let desk = Desk { href: paths::QUICK.to_owned(), ..Desk::inbox(ask.id, &visitor.frame) };
    let before =
        sealed_values.before_step(&visitor.session.to_string(), ask, reply, form, !ask.is_open());
    let step = SecondStep::wanted(ask, reply, &sent, desk, before)?;
    let hidden =
        vec![("csrf".to_owned(), visitor.frame.csrf.clone()), ("back".to_owned(), back.to_owned())];
    Some(step.from_list(pressed, hidden, bulk::back_to(back)))
}

/// The request a form names.
async fn named(
    visitors: &Visitors,
    visitor: &Visitor,
    form: &Submitted,
) -> Result<Arc<Ask>, Instead> {
    visitors.seen_by(visitor, form.value("ask").unwrap_or_default()).await
}

/// The list again, with the reason for the refusal.
async fn refused(
    gateway: &Gateway,
    visitor: &Visitor,
    back: &str,
    refusal: Refusal,
    status: StatusCode,
) -> Page {
    let pairs: Vec<(String, String)> =
        url::form_urlencoded::parse(back.as_bytes()).into_owned().collect();
    let wanted = Wanted::of(&pairs, &visitor.human);
    let notice = Notice::Refused(refusal);
    Ok(inbox_page(gateway, visitor, &wanted, Some(&notice), status).await?)
}

fn aside_page(
    gateway: &Gateway,
    visitor: &Visitor,
    ask: &Ask,
    back: &str,
    wrong: Option<&Wrong>,
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
