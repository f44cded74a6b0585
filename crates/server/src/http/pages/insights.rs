//! `GET /insights`: statistics of the projects and agents of the person who is signed in.

use axum::extract::{Query, State};
use axum::http::StatusCode;
use gateway::Gateway;
use gateway::insights::{self, InsightsError};
use kernel::insight::Day;
use kernel::insight::access::{self, InsightsQuery};
use views::components::query::PageQuery as Narrowed;
use views::insights::{DEFAULT_SPAN, InsightsPage, QUERY_PARAMETERS, SPANS, page};

use super::{PageResult, html};
use crate::http::pages::visitor::Visitor;

pub(super) async fn show(
    State(gateway): State<Gateway>,
    Query(pairs): Query<Vec<(String, String)>>,
    visitor: Visitor,
) -> PageResult {
    let mut query = Narrowed::of(&pairs, &QUERY_PARAMETERS);
    let days = query.take("days", |text| SPANS.into_iter().find(|days| days.to_string() == text));
    let to = Day::of(gateway.now());
    let wanted = InsightsQuery {
        project: query.parsed("project"),
        agent: query.parsed("agent"),
        from: to.before(days.unwrap_or(DEFAULT_SPAN) - 1),
        to,
    };
    let found = match insights::read(&**gateway.store(), &wanted, &visitor.actor).await {
        Ok(found) => Some(found),
        Err(InsightsError::Refused(_)) => None,
        Err(InsightsError::Store(error)) => return Err(error.into()),
    };
    let directory = gateway.directory();
    let choices = access::filter_choices(&visitor.actor, &directory, wanted.project.as_ref());
    let (from, found) = (wanted.from, found.as_ref());
    let view = InsightsPage { query: &query, choices: &choices, from, to, found };
    Ok(html(StatusCode::OK, page(&visitor.frame, &view)))
}
