//! HXP Execution 0.1: `/hxp`, `/hxp/v1/…`. Specification §5.1, §5.3, §6.
//!
//! Agents create, poll, list and cancel with an agent key. People read their inbox, resolve, claim
//! and set delegation rules with a human token. Every response is JSON.

pub mod error;
mod socket;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use dialects::hxp_execution::wire::{Stats, Status, Verified};
use dialects::hxp_execution::{
    self as hxp, Formula, HxpCursor, HxpWireError, InboxQuery, ListQuery, REQUEST_ID_HEADER,
    ReceiptDetail, STATUS_HEADER, Seal,
};
use gateway::auth::Denied;
use gateway::secrets::ServerSecrets;
use gateway::{CommandConditions, Gateway, bootstrap};
use kernel::actor::KeyScope;
use kernel::directory::Human;
use kernel::{Actor, Ask, AskCommand, AskId, Command, DirectoryCommand, Phase, Refusal, RuleId};
use store::{AskListQuery, Filter, ListScope, Order, StoreError};

use self::error::HxpError;
use crate::config::{Config, EvidenceForm};
use crate::http::callers::Callers;
use crate::http::path_param::PathParam;
use crate::http::posted_form::refuse_unverified_uploads;
use crate::http::{AppState, body, conditional_headers, envelope_headers};

pub fn routes() -> Router<AppState> {
    Router::new()
        .route("/hxp", get(|| async { Json(hxp::info()) }))
        .route("/hxp/v1/requests", post(create).get(list))
        .route("/hxp/v1/requests/{id}", get(poll))
        .route("/hxp/v1/requests/{id}/cancel", post(cancel))
        .route("/hxp/v1/requests/{id}/resolve", post(resolve))
        .route("/hxp/v1/requests/{id}/claim", post(claim))
        .route("/hxp/v1/inbox", get(inbox))
        .route("/hxp/v1/delegation/rules", get(rules).post(add_rules))
        .route("/hxp/v1/delegation/rules/{id}", delete(remove_rule))
        .route("/hxp/v1/receipts/verify", post(verify))
        .route("/hxp/v1/stats", get(stats))
        .merge(socket::routes())
}

type HxpResult = Result<Response, HxpError>;

/// `POST /hxp/v1/requests`
async fn create(
    State(requests): State<Arc<HxpRequests>>,
    headers: HeaderMap,
    body: Body,
) -> HxpResult {
    let actor = requests.agent(&headers)?;
    let bytes = body::read(body, requests.config.body_limit).await?;
    let mut new = hxp::parse_create(&bytes)?;
    new.claims = envelope_headers::apply(new.claims, &headers);
    let terms = CommandConditions {
        idempotency: conditional_headers::idempotency("hxp-execution", &actor, &headers, &bytes)?,
        ..CommandConditions::default()
    };
    let command = AskCommand::Create(Box::new(new));
    let outcome = requests.gateway.run_with_conditions(terms, actor, command).await?;
    let ask = outcome.ask.ok_or_else(HxpWireError::internal)?;
    let created = hxp::created(&ask, &requests.ws_base(&headers));
    let mut answer = (StatusCode::CREATED, Json(created)).into_response();
    conditional_headers::mark_replayed(&mut answer, outcome.replayed);
    Ok(about(&ask, answer))
}

/// `GET /hxp/v1/requests/{id}`
async fn poll(
    State(requests): State<Arc<HxpRequests>>,
    PathParam(id): PathParam<String>,
    headers: HeaderMap,
) -> HxpResult {
    let actor = requests.agent(&headers)?;
    let ask = requests.ask(&id, |ask| ask.is_visible_to_key(&actor)).await?;
    let ask = requests.gateway.with_secret_answers(ask).await?;
    Ok(about(
        &ask,
        Json(hxp::request(&ask, &requests.seal(), ReceiptDetail::Whole)).into_response(),
    ))
}

/// `GET /hxp/v1/requests`
async fn list(
    State(requests): State<Arc<HxpRequests>>,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
) -> HxpResult {
    let actor = requests.agent(&headers)?;
    let query = ListQuery::parse(pairs)?;
    let list = AskListQuery {
        scopes: vec![request_scope(&actor)?],
        phases: query.phase.map_or_else(|| Phase::ALL.to_vec(), |phase| vec![phase]),
        order: Order::Age,
        filter: Filter {
            agent_label: query.agent_id,
            project_label: query.project_id,
            ..Filter::default()
        },
        after: query.cursor.map(|cursor| store::Cursor { rank: 0, ask: cursor.ask }),
        limit: query.limit as usize,
    };
    let page = requests.gateway.list(list.clone()).await?;
    let total = requests.gateway.count(AskListQuery { after: None, ..list }).await?.n;
    let next = page.next.map(cursor);
    Ok(Json(hxp::list(&page.asks, total, next, &requests.seal())).into_response())
}

/// `POST /hxp/v1/requests/{id}/cancel`
async fn cancel(
    State(requests): State<Arc<HxpRequests>>,
    PathParam(id): PathParam<String>,
    headers: HeaderMap,
    body: Body,
) -> HxpResult {
    let actor = requests.agent(&headers)?;
    let ask = requests.ask(&id, |ask| ask.is_visible_to_key(&actor)).await?;
    let withdrawn = async {
        let bytes = body::read(body, requests.config.body_limit).await?;
        let command = AskCommand::Cancel(ask.id, hxp::parse_cancel(&bytes)?);
        requests
            .act(actor, command, |refusal| HxpWireError::cancel_refused(refusal, ask.is_pooled()))
            .await
    };
    let ask = requests.error_about(ask.id, withdrawn.await).await?;
    Ok(about(&ask, Json(hxp::cancelled(&ask)).into_response()))
}

/// `GET /hxp/v1/inbox`
async fn inbox(
    State(requests): State<Arc<HxpRequests>>,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
) -> HxpResult {
    let (_, human) = requests.human(&headers).await?;
    let query = InboxQuery::parse(pairs)?;
    let list = AskListQuery {
        scopes: ListScope::inbox(&human),
        phases: query.phases,
        order: Order::Urgency,
        filter: Filter {
            kinds: query.action.map_or(Vec::new(), |action| action.kinds().to_vec()),
            priority: query.priority,
            ..Filter::default()
        },
        after: query.cursor.map(|cursor| store::Cursor { rank: cursor.rank, ask: cursor.ask }),
        limit: query.limit as usize,
    };
    let page = requests.gateway.inbox(&human, list.clone()).await?;
    let whole = AskListQuery { after: None, ..list.clone() };
    // A list that fits on its first page is counted there, which leaves out the asks of a pool that
    // this person may not see.
    let total = match (list.after, page.next) {
        (None, None) => page.asks.len() as u64,
        _ => requests.gateway.count(whole.clone()).await?.n,
    };
    let open =
        AskListQuery { phases: Phase::OPEN.to_vec(), filter: Filter::default(), ..whole.clone() };
    let unresolved = if open == whole { total } else { requests.gateway.count(open).await?.n };
    let next = page.next.map(cursor);
    Ok(Json(hxp::inbox(&page.asks, total, unresolved, next, &requests.seal())).into_response())
}

/// `POST /hxp/v1/requests/{id}/resolve`
async fn resolve(
    State(requests): State<Arc<HxpRequests>>,
    PathParam(id): PathParam<String>,
    headers: HeaderMap,
    body: Body,
) -> HxpResult {
    let (actor, human) = requests.human(&headers).await?;
    let bytes = body::read(body, requests.config.body_limit).await?;
    let ask = requests.ask(&id, |ask| ask.may_be_answered_by(&human)).await?;
    let refused = |refusal: &Refusal| HxpWireError::refused(refusal, ask.is_pooled());
    let answered = async {
        let resolve = hxp::read_resolve(&bytes)?;
        // Checked before the result is validated against the question: a late answer is a conflict,
        // whatever it says.
        ask.check_open(requests.gateway.now()).map_err(|refusal| refused(&refusal))?;
        let question = ask.question.value().ok_or_else(HxpWireError::no_request)?;
        let reply = resolve.reply(question)?;
        refuse_unverified_uploads(&reply).map_err(|refusal| refused(&refusal))?;
        let command = AskCommand::Answer(ask.id, Box::new(reply));
        requests.act(actor, command, refused).await
    };
    let ask = requests.error_about(ask.id, answered.await).await?;
    let resolved = hxp::resolved(&ask, &requests.seal()).ok_or_else(HxpWireError::internal)?;
    Ok(about(&ask, Json(resolved).into_response()))
}

/// `POST /hxp/v1/requests/{id}/claim`, an extension: claims a request, so that the agent sees
/// `assigned` and no other member of a pool works on it.
async fn claim(
    State(requests): State<Arc<HxpRequests>>,
    PathParam(id): PathParam<String>,
    headers: HeaderMap,
) -> HxpResult {
    let (actor, human) = requests.human(&headers).await?;
    let ask = requests.ask(&id, |ask| ask.may_be_answered_by(&human)).await?;
    let refused = |refusal: &Refusal| HxpWireError::refused(refusal, ask.is_pooled());
    let taken = requests.act(actor, AskCommand::Claim(ask.id), refused).await;
    let ask = requests.error_about(ask.id, taken).await?;
    Ok(about(
        &ask,
        Json(hxp::request(&ask, &requests.seal(), ReceiptDetail::Whole)).into_response(),
    ))
}

/// `GET /hxp/v1/delegation/rules`
async fn rules(State(requests): State<Arc<HxpRequests>>, headers: HeaderMap) -> HxpResult {
    let (_, human) = requests.human(&headers).await?;
    let directory = requests.gateway.directory();
    Ok(Json(hxp::rules::rules_view(directory.rules_of(&human.id))).into_response())
}

/// `POST /hxp/v1/delegation/rules`: one rule, or `{rules: […]}` as in §6.2.
async fn add_rules(
    State(requests): State<Arc<HxpRequests>>,
    headers: HeaderMap,
    body: Body,
) -> HxpResult {
    let (actor, human) = requests.human(&headers).await?;
    let bytes = body::read(body, requests.config.body_limit).await?;
    let new = hxp::parse_rules(&bytes)?;
    let rules: Vec<_> = new
        .rules
        .into_iter()
        .map(|rule| (RuleId::new(requests.gateway.ids().ulid()), rule))
        .collect();
    let ids: Vec<RuleId> = rules.iter().map(|(id, _)| *id).collect();
    requests.gateway.run(actor, DirectoryCommand::AddRules(rules)).await?;
    let directory = requests.gateway.directory();
    let mut added = directory.rules_of(&human.id).filter(|rule| ids.contains(&rule.id));
    let answer = if new.listed {
        Json(hxp::rules::rules_view(added)).into_response()
    } else {
        let rule = added.next().ok_or_else(HxpWireError::internal)?;
        Json(hxp::rules::rule_view(rule)).into_response()
    };
    Ok((StatusCode::CREATED, answer).into_response())
}

/// `DELETE /hxp/v1/delegation/rules/{id}`, an extension.
async fn remove_rule(
    State(requests): State<Arc<HxpRequests>>,
    PathParam(id): PathParam<String>,
    headers: HeaderMap,
) -> HxpResult {
    let (actor, _) = requests.human(&headers).await?;
    let id: RuleId = id.parse().map_err(|_| HxpWireError::no_route())?;
    requests.gateway.run(actor, DirectoryCommand::RemoveRule(id)).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// `POST /hxp/v1/receipts/verify`: the agent does not have the secret, so the server verifies for
/// it. Any credential is accepted.
async fn verify(
    State(requests): State<Arc<HxpRequests>>,
    headers: HeaderMap,
    body: Body,
) -> HxpResult {
    match requests.callers.agent(&headers) {
        Ok(_) => {}
        Err(Denied::Unknown) => requests.human(&headers).await.map(|_| ())?,
        Err(denied) => return Err(denied.into()),
    }
    let bytes = body::read(body, requests.config.body_limit).await?;
    let receipt = hxp::parse_verify(&bytes)?;
    let valid = hxp::verify(&receipt, requests.secrets.evidence.reveal().as_bytes());
    Ok(Json(Verified { valid }).into_response())
}

/// `GET /hxp/v1/stats`: counts of the requests the key may see. The average is that of the newest
/// hundred.
async fn stats(State(requests): State<Arc<HxpRequests>>, headers: HeaderMap) -> HxpResult {
    // The reference server needs no credential for this; with `--dev` neither does this one.
    let anonymous = !headers.contains_key(header::AUTHORIZATION);
    let scope = match bootstrap::dev_project() {
        Some(project) if requests.config.dev && anonymous => ListScope::Project(project),
        _ => request_scope(&requests.agent(&headers)?)?,
    };
    let of = |phases: &[Phase]| AskListQuery {
        scopes: vec![scope.clone()],
        phases: phases.to_vec(),
        order: Order::Age,
        filter: Filter::default(),
        after: None,
        limit: 100,
    };
    let count = async |phases: &[Phase]| -> Result<u64, HxpError> {
        Ok(requests.gateway.count(of(phases)).await?.n)
    };
    let newest = requests.gateway.list(of(&[Phase::Completed])).await?.asks;
    let seal = requests.seal();
    let seconds: Vec<u64> = newest
        .iter()
        .filter_map(|ask| hxp::receipt(ask, &seal, ReceiptDetail::Redacted))
        .map(|receipt| receipt.duration_seconds)
        .collect();
    let average = u64::try_from(seconds.len())
        .ok()
        .filter(|n| *n > 0)
        .map_or(0, |n| seconds.iter().sum::<u64>() / n);
    let stats = Stats {
        total: count(&Phase::ALL).await?,
        pending: count(&Phase::OPEN).await?,
        completed: count(&[Phase::Completed]).await?,
        expired: count(&[Phase::Expired]).await?,
        failed: count(&[Phase::Failed]).await?,
        avg_duration_seconds: average,
    };
    Ok(Json(stats).into_response())
}

/// The response for an unknown path under `/hxp`.
pub fn no_route() -> Response {
    HxpError::from(HxpWireError::no_route()).into_response()
}

/// The response for a request that a library rejected, or for a panic.
pub fn unreadable(broken: bool) -> Response {
    let error = if broken {
        HxpWireError::internal()
    } else {
        let message = "the path, the query or the headers cannot be parsed";
        HxpWireError::new(400, hxp::errors::code::INVALID_BODY, message)
    };
    HxpError::from(error).into_response()
}

/// The response for a method that a path does not support.
pub fn wrong_method() -> Response {
    HxpError::from(HxpWireError::method_not_allowed()).into_response()
}

/// Requests of HXP Execution: who may see them and how they are rendered.
pub struct HxpRequests {
    pub(in crate::http) gateway: Gateway,
    pub(in crate::http) config: Arc<Config>,
    pub(in crate::http) secrets: Arc<ServerSecrets>,
    pub(in crate::http) callers: Callers,
}

impl HxpRequests {
    pub(super) fn agent(&self, headers: &HeaderMap) -> Result<Actor, HxpError> {
        Ok(self.callers.agent(headers)?)
    }

    async fn human(&self, headers: &HeaderMap) -> Result<(Actor, Human), HxpError> {
        let directory = self.gateway.directory();
        let actor = self.callers.human(headers).await?;
        let Actor::Human { id, .. } = &actor else { return Err(Denied::Unknown.into()) };
        let human = directory.human(id).ok_or(Denied::Unknown)?.clone();
        Ok((actor, human))
    }

    /// The ask of a request id, if the caller may see it.
    pub(super) async fn ask(
        &self,
        request_id: &str,
        admitted: impl FnOnce(&Ask) -> bool,
    ) -> Result<Arc<Ask>, HxpError> {
        let id: AskId = hxp::ask_id(request_id).ok_or_else(HxpWireError::no_request)?;
        let found = self.gateway.ask(id).await?.filter(|ask| admitted(ask));
        Ok(found.ok_or_else(HxpWireError::no_request)?)
    }

    async fn act(
        &self,
        actor: Actor,
        command: impl Into<Command>,
        refused: impl FnOnce(&Refusal) -> HxpWireError,
    ) -> Result<Ask, HxpError> {
        match self.gateway.run(actor, command).await {
            Ok(outcome) => Ok(outcome.ask.ok_or_else(HxpWireError::internal)?),
            Err(StoreError::Refused(refusal)) => Err(refused(&refusal).into()),
            Err(error) => Err(error.into()),
        }
    }

    /// Adds the request's id and current status to an error about a request the caller may see.
    async fn error_about(&self, id: AskId, done: Result<Ask, HxpError>) -> Result<Ask, HxpError> {
        let mut error = match done {
            Ok(ask) => return Ok(ask),
            Err(error) => error,
        };
        if error.error.status != 404
            && let Ok(Some(ask)) = self.gateway.ask(id).await
        {
            name(&mut error.headers, id, hxp::status(&ask));
        }
        Err(error)
    }

    pub(super) fn seal(&self) -> Seal<'_> {
        let formula = match self.config.evidence_form {
            EvidenceForm::Seed => Formula::Seed,
            EvidenceForm::Upstream => Formula::Upstream,
        };
        Seal { secret: self.secrets.evidence.reveal().as_bytes(), formula }
    }

    /// The base URL of WebSockets: the public URL, or on loopback the host the caller used.
    fn ws_base(&self, headers: &HeaderMap) -> String {
        let public = &self.config.public_url;
        let scheme = if public.scheme() == "https" { "wss" } else { "ws" };
        let given = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let local = self.config.listen.iter().all(|address| address.ip().is_loopback());
        let host = match given.filter(|host| local && is_loopback(host)) {
            Some(host) => host.to_owned(),
            None => public.authority().to_owned(),
        };
        format!("{scheme}://{host}{}", public.path().trim_end_matches('/'))
    }
}

/// Whether a `Host` header names this machine.
pub fn is_loopback(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, port)| {
        if port.bytes().all(|byte| byte.is_ascii_digit()) { name } else { host }
    });
    matches!(name, "localhost" | "127.0.0.1" | "[::1]")
}

fn request_scope(actor: &Actor) -> Result<ListScope, HxpError> {
    match actor {
        Actor::Agent { id, scope: KeyScope::Agent, .. } => Ok(ListScope::Agent(id.clone())),
        Actor::Agent { project, scope: KeyScope::Project, .. } => {
            Ok(ListScope::Project(project.clone()))
        }
        Actor::Human { .. }
        | Actor::LinkHolder { .. }
        | Actor::Relay { .. }
        | Actor::Guest { .. }
        | Actor::System => Err(Denied::Unknown.into()),
    }
}

fn cursor(at: store::Cursor) -> HxpCursor {
    HxpCursor { rank: at.rank, ask: at.ask }
}

/// HXPX-010: every response about one request has its id and its status.
fn about(ask: &Ask, mut answer: Response) -> Response {
    name(answer.headers_mut(), ask.id, hxp::status(ask));
    envelope_headers::write(ask, answer.headers_mut());
    answer
}

fn name(headers: &mut HeaderMap, id: AskId, status: Status) {
    headers.insert(STATUS_HEADER, HeaderValue::from_static(status.as_str()));
    if let Ok(id) = HeaderValue::from_str(&hxp::request_id(id)) {
        headers.insert(REQUEST_ID_HEADER, id);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
}
