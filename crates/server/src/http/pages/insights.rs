//! `GET /insights`: statistics of the projects and agents of the person who is signed in.

use axum::extract::{Query, State};
use axum::http::StatusCode;
use gateway::Gateway;
use gateway::insights::{self, Unseen};
use kernel::insight::Day;
use kernel::insight::access::{self, Wanted};
use views::components::query::Query as Narrowed;
use views::insights::{KNOWN, SPANS, USUAL, View, page};

use super::{Page, html};
use crate::http::pages::visitors::Visitor;

pub(super) async fn show(
    State(gateway): State<Gateway>,
    Query(pairs): Query<Vec<(String, String)>>,
    visitor: Visitor,
) -> Page {
    let mut query = Narrowed::of(&pairs, &KNOWN);
    let days = query.take("days", |text| SPANS.into_iter().find(|days| days.to_string() == text));
    let to = Day::of(gateway.now());
    let wanted = Wanted {
        project: query.parsed("project"),
        agent: query.parsed("agent"),
        from: to.before(days.unwrap_or(USUAL) - 1),
        to,
    };
    let found = match insights::read(&**gateway.store(), &wanted, &visitor.actor).await {
        Ok(found) => Some(found),
        Err(Unseen::Refused(_)) => None,
        Err(Unseen::Store(error)) => return Err(error.into()),
    };
    let directory = gateway.directory();
    let choices = access::choices(&visitor.actor, &directory, wanted.project.as_ref());
    let (from, found) = (wanted.from, found.as_ref());
    let view = View { query: &query, choices: &choices, from, to, found };
    Ok(html(StatusCode::OK, page(&visitor.frame, &view)))
}
