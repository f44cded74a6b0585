//! `POST /function_calls`, `POST /human_contacts`, `POST /contact_requests`, each of them by its
//! `call_id`, and the open calls: `GET /agent/…/pending`.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, Uri, header};
use axum::response::{IntoResponse, Response};
use dialects::a2h::{self, A2hWireError, CallContext, CallKind, CallRecipient, NewCall};
use gateway::CommandConditions;
use kernel::actor::{AttestedIdentity, KeyScope};
use kernel::ask::{PostingAddress, Route};
use kernel::command::Nudge;
use kernel::directory::{ContactMethod, CredentialKind};
use kernel::question::Reply;
use kernel::{Actor, AgentId, Ask, AskCommand, Phase, ProjectId};
use notify::people::slack_message_ts;
use serde_json::Value;
use store::{AskListQuery, Cursor, Filter, ListScope, Order};

use super::{A2hCaller, A2hError, A2hResult, ask_command};
use crate::http::a2h::A2hCalls;
use crate::http::envelope_headers;
use crate::http::path_param::PathParam;

/// How many open calls are listed at a time. If there are more, `Link` points to the next page.
const PENDING_PAGE_SIZE: usize = 100;

pub(super) async fn create_function_call(
    State(calls): State<Arc<A2hCalls>>,
    headers: HeaderMap,
    body: Body,
) -> A2hResult {
    let caller = calls.agent(&headers)?;
    let bytes = calls.body(&headers, body).await?;
    let mut new = a2h::parse_function_call(&bytes)?;
    new.ask.claims = envelope_headers::apply(new.ask.claims, &headers);
    calls.create(caller, CallKind::FunctionCall, new).await
}

pub(super) async fn create_human_contact(
    State(calls): State<Arc<A2hCalls>>,
    headers: HeaderMap,
    body: Body,
) -> A2hResult {
    let caller = calls.agent(&headers)?;
    let bytes = calls.body(&headers, body).await?;
    let mut new = a2h::parse_human_contact(&bytes)?;
    new.ask.claims = envelope_headers::apply(new.ask.claims, &headers);
    calls.create(caller, CallKind::HumanContact, new).await
}

pub(super) async fn function_call(
    State(calls): State<Arc<A2hCalls>>,
    PathParam(call_id): PathParam<String>,
    headers: HeaderMap,
) -> A2hResult {
    let caller = calls.agent(&headers)?;
    let ask = calls.call(&caller, CallKind::FunctionCall, &call_id).await?;
    calls.shown(&ask).await
}

pub(super) async fn human_contact(
    State(calls): State<Arc<A2hCalls>>,
    PathParam(call_id): PathParam<String>,
    headers: HeaderMap,
) -> A2hResult {
    let caller = calls.agent(&headers)?;
    let ask = calls.call(&caller, CallKind::HumanContact, &call_id).await?;
    calls.shown(&ask).await
}

pub(super) async fn pending_function_calls(
    State(calls): State<Arc<A2hCalls>>,
    uri: Uri,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
) -> A2hResult {
    calls.pending(CallKind::FunctionCall, &uri, &headers, &pairs).await
}

pub(super) async fn pending_human_contacts(
    State(calls): State<Arc<A2hCalls>>,
    uri: Uri,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
) -> A2hResult {
    calls.pending(CallKind::HumanContact, &uri, &headers, &pairs).await
}

impl A2hCalls {
    async fn create(&self, caller: A2hCaller, kind: CallKind, new: NewCall) -> A2hResult {
        let NewCall { mut ask, call_id, fingerprint, to, place, conversation, bot_token } = new;
        if bot_token.is_some() {
            self.require_own_app_permission(&caller.actor)?;
        }
        if conversation.is_none() {
            ask.route = self.routing(&caller.project, to, place.as_ref());
            // The server notifies a known person by their own contact methods (A2H-007).
            let known = matches!(ask.route, Route::Person { .. });
            ask.posting_address =
                place.filter(|place| !known && self.contacts.has_channel(&place.contact_method));
        }
        ask.timeout = self.config.a2h_timeout;
        let idempotency = Some(caller.call_idempotency(kind, &call_id, fingerprint));
        let terms = CommandConditions { idempotency, ..CommandConditions::default() };
        // The bot token is used only for messages in Slack, so it is not kept otherwise.
        let in_slack = ask
            .posting_address
            .as_ref()
            .is_some_and(|place| matches!(place.contact_method, ContactMethod::Slack(_)));
        let (command, actor) = (ask_command(ask, conversation), caller.actor.clone());
        let outcome = match bot_token.filter(|_| in_slack) {
            Some(lent) => {
                self.gateway.run_with_bot_token(terms, actor, command, lent.reveal()).await?
            }
            None => self.gateway.run_with_conditions(terms, actor, command).await?,
        };
        let made = outcome.ask.ok_or_else(A2hWireError::internal)?;
        // Another agent used this name for a call that this key may not see.
        if !made.is_visible_to_key(&caller.actor) {
            return Err(kernel::Refusal::IdempotencyMismatch.into());
        }
        if !outcome.replayed {
            return self.shown(&made).await;
        }
        let now = self.gateway.ask(made.id).await?;
        self.shown(now.as_deref().ok_or_else(A2hWireError::internal)?).await
    }

    /// Refuses a key that may not send its calls with the agent's own Slack app (A2H-084).
    fn require_own_app_permission(&self, actor: &Actor) -> Result<(), A2hError> {
        let Actor::Agent { key, .. } = actor else {
            return Err(A2hWireError::unauthorized().into());
        };
        let directory = self.gateway.directory();
        match directory.key(*key).map(|key| &key.kind) {
            Some(CredentialKind::Agent { own_app: true, .. }) => Ok(()),
            Some(_) | None => Err(A2hWireError::no_own_app_scope().into()),
        }
    }

    /// Who is asked: the person the channel names, else the owner of the agent (A2H-062, A2H-129).
    /// An address that belongs to no person here stays with the call and is used for delivery.
    fn routing(
        &self,
        project: &ProjectId,
        to: CallRecipient,
        place: Option<&PostingAddress>,
    ) -> Route {
        let directory = self.gateway.directory();
        let known = match to {
            CallRecipient::Human(human) => return Route::Person { human },
            CallRecipient::Address(address) => directory.human_by_email(&address),
            CallRecipient::Nobody => {
                place.and_then(|place| directory.human_by_contact_method(&place.contact_method))
            }
        };
        let known = known.filter(|human| human.active && human.projects.contains(project));
        known.map_or(Route::Owner, |human| Route::Person { human: human.id.clone() })
    }

    /// The response for a call in its current state.
    pub(super) async fn shown(&self, ask: &Ask) -> A2hResult {
        let name = self.receipts.respondent_name(ask);
        let receipt = self.receipts.receipt_for(ask, &Actor::System).await?;
        let slack_message_ts = slack_message_ts(&**self.gateway.store(), ask).await?;
        let beside = CallContext { name, receipt, slack_message_ts };
        let shown = a2h::call(ask, beside).ok_or_else(A2hWireError::gone)?;
        let mut answer = Json(shown).into_response();
        envelope_headers::write(ask, answer.headers_mut());
        Ok(answer)
    }

    async fn pending(
        &self,
        kind: CallKind,
        uri: &Uri,
        headers: &HeaderMap,
        pairs: &[(String, String)],
    ) -> A2hResult {
        let caller = self.agent(headers)?;
        let cursor = pairs.iter().rfind(|(key, _)| key == "cursor").map(|(_, value)| value);
        let after = cursor.map(|cursor| {
            let ask = a2h::ask_id(cursor);
            ask.ok_or_else(|| A2hWireError::field("cursor", "the next_cursor of the previous page"))
        });
        let list = AskListQuery {
            scopes: vec![call_scope(&caller.actor)?],
            phases: Phase::OPEN.to_vec(),
            order: Order::Age,
            filter: Filter { kinds: kind.questions().to_vec(), ..Filter::default() },
            after: after.transpose()?.map(|ask| Cursor { rank: 0, ask }),
            limit: PENDING_PAGE_SIZE,
        };
        let page = self.gateway.list(list).await?;
        let calls: Vec<Value> = page
            .asks
            .iter()
            .filter(|ask| CallKind::of(ask) == kind)
            .filter_map(|ask| a2h::call(ask, CallContext::default()))
            .collect();
        let mut answer = Json(calls).into_response();
        if let Some(next) = page.next {
            let link = format!("<{}?cursor={}>; rel=\"next\"", uri.path(), next.ask);
            link_to(&mut answer, &link);
        }
        Ok(answer)
    }
}

/// Adds the `Link` to the next page.
pub(super) fn link_to(answer: &mut Response, link: &str) {
    if let Ok(link) = HeaderValue::from_str(link) {
        answer.headers_mut().insert(header::LINK, link);
    }
}

fn call_scope(actor: &Actor) -> Result<ListScope, A2hError> {
    match actor {
        Actor::Agent { id, scope: KeyScope::Agent, .. } => Ok(ListScope::Agent(id.clone())),
        Actor::Agent { project, scope: KeyScope::Project, .. } => {
            Ok(ListScope::Project(project.clone()))
        }
        Actor::Human { .. }
        | Actor::LinkHolder { .. }
        | Actor::Relay { .. }
        | Actor::Guest { .. }
        | Actor::System => Err(A2hWireError::unauthorized().into()),
    }
}

// `POST /agent/…/{call_id}/escalate_email`: the agent escalates a call.
//
// The server notifies the people who are asked again, and also asks the people the escalation
// names by email address. The agent's text is added to the thread of the request, with the
// addresses that belong to no person here.

pub(super) async fn escalate_function_call(
    State(calls): State<Arc<A2hCalls>>,
    PathParam(call_id): PathParam<String>,
    headers: HeaderMap,
    body: Body,
) -> A2hResult {
    calls.escalate(CallKind::FunctionCall, &call_id, &headers, body).await
}

pub(super) async fn escalate_human_contact(
    State(calls): State<Arc<A2hCalls>>,
    PathParam(call_id): PathParam<String>,
    headers: HeaderMap,
    body: Body,
) -> A2hResult {
    calls.escalate(CallKind::HumanContact, &call_id, &headers, body).await
}

impl A2hCalls {
    async fn escalate(
        &self,
        kind: CallKind,
        call_id: &str,
        headers: &HeaderMap,
        body: Body,
    ) -> A2hResult {
        let caller = self.agent(headers)?;
        let bytes = self.body(headers, body).await?;
        let ask = self.call(&caller, kind, call_id).await?;
        ask.check_open(self.gateway.now())?;
        let escalation = a2h::parse_escalation(&bytes)?;
        let directory = self.gateway.directory();
        let (mut people, mut strangers) = (Vec::new(), Vec::new());
        for address in &escalation.addresses {
            match directory.human_by_email(address) {
                Some(human) if human.projects.contains(&caller.project) => {
                    people.push(human.id.clone());
                }
                Some(_) | None => strangers.push(address.as_str()),
            }
        }
        let original = a2h::respond::addresses(&ask);
        let known = original.iter().filter_map(|address| directory.human_by_email(address));
        people.extend(known.map(|human| human.id.clone()));
        people.sort_unstable();
        people.dedup();
        let urge = Nudge { text: escalation.recorded_text(&strangers), people };
        let outcome = self.gateway.run(caller.actor, AskCommand::Nudge(ask.id, urge)).await?;
        self.shown(&outcome.ask.ok_or_else(A2hWireError::internal)?).await
    }
}

// `POST /agent/function_calls/{call_id}/respond`, `POST /agent/human_contacts/{call_id}/respond`:
// an agent relays an answer that it attributes to a person.
//
// Agents do not answer. This exception of the vendor's API is for keys that were issued for it.
// The answer is recorded as attested by the agent alone, and a project may refuse such answers.

pub(super) async fn respond_function_call(
    State(calls): State<Arc<A2hCalls>>,
    PathParam(call_id): PathParam<String>,
    headers: HeaderMap,
    body: Body,
) -> A2hResult {
    let read = |bytes: &[u8], ask: &Ask, agent: &AgentId| {
        let question = ask.question.value().ok_or_else(A2hWireError::gone)?;
        a2h::read_function_response(bytes, question, agent)
    };
    calls.respond(CallKind::FunctionCall, &call_id, &headers, body, read).await
}

pub(super) async fn respond_human_contact(
    State(calls): State<Arc<A2hCalls>>,
    PathParam(call_id): PathParam<String>,
    headers: HeaderMap,
    body: Body,
) -> A2hResult {
    let read = a2h::read_contact_response;
    calls.respond(CallKind::HumanContact, &call_id, &headers, body, read).await
}

impl A2hCalls {
    async fn respond(
        &self,
        kind: CallKind,
        call_id: &str,
        headers: &HeaderMap,
        body: Body,
        read: impl Fn(&[u8], &Ask, &AgentId) -> Result<(Reply, AttestedIdentity), A2hWireError>,
    ) -> A2hResult {
        let caller = self.agent(headers)?;
        let agent = self.relaying_agent(&caller.actor)?;
        let bytes = self.body(headers, body).await?;
        let ask = self.call(&caller, kind, call_id).await?;
        // Checked before the answer is validated against the question: a late answer is refused as
        // late, whatever it says.
        ask.check_open(self.gateway.now())?;
        let (reply, attested) = read(&bytes, &ask, &agent)?;
        let relay = Actor::Relay { ask: ask.id, attested };
        let outcome = self.gateway.run(relay, AskCommand::Answer(ask.id, Box::new(reply))).await?;
        self.shown(&outcome.ask.ok_or_else(A2hWireError::internal)?).await
    }

    /// The agent, if its key may relay answers.
    fn relaying_agent(&self, actor: &Actor) -> Result<AgentId, A2hError> {
        let Actor::Agent { id, key, .. } = actor else {
            return Err(A2hWireError::unauthorized().into());
        };
        let directory = self.gateway.directory();
        let holder = directory.key(*key).map(|key| &key.kind);
        match holder {
            Some(CredentialKind::Agent { respond: true, .. }) => Ok(id.clone()),
            Some(_) | None => Err(A2hWireError::no_respond_scope().into()),
        }
    }
}
