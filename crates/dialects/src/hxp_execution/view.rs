//! `GET /hxp/v1/requests/{request_id}`, `GET /hxp/v1/requests`, `GET /hxp/v1/inbox`, `GET /hxp`.
//! Sections 3 and 5.1.
//!
//! Any ask can be shown, whichever dialect it came in by. A view shows the ask as it is stored: who
//! shows one past its deadline lets it expire first.

use kernel::ask::{Ask, Dialect, OnExpiry, Route};
use kernel::{AskId, Phase};

use super::evidence::Seal;
use super::query::Cursor;
use super::receipt::{Detail, receipt};
use super::wire::{
    Action, Cancelled, Created, Endpoints, Fallback, Inbox, InboxItem, Info, List, Payload,
    Request, Resolved, Role, Status,
};
use super::{PREFIX, VERSION, project};
use crate::hxp_experience::claims::{Picked, Verdict};

/// How this protocol spells the id of an ask.
pub fn request_id(ask: AskId) -> String {
    ask.shown_as(PREFIX)
}

/// The ask behind a request id.
pub fn ask_id(request_id: &str) -> Option<AskId> {
    AskId::read_as(PREFIX, request_id)
}

/// The body of a 201. `ws_base` is the public address without a path, such as `wss://example.com`.
pub fn created(ask: &Ask, ws_base: &str) -> Created {
    let request_id = request_id(ask.id);
    Created {
        status: status(ask),
        created_at: ask.created_at,
        expires_at: ask.expires_at,
        poll_url: format!("/hxp/v1/requests/{request_id}"),
        ws_url: format!("{}/hxp/ws/{request_id}", ws_base.trim_end_matches('/')),
        request_id,
        hxp_verdict: Verdict::of(ask),
    }
}

/// The whole request, with its receipt once it is over.
pub fn request(ask: &Ask, seal: &Seal<'_>, detail: Detail) -> Request {
    let timeout_seconds = ask.expires_at.map_or(0, |at| at.seconds_since(ask.created_at));
    let payload = ask.question.value().map_or(Payload::Erased {}, project::payload);
    Request {
        request_id: request_id(ask.id),
        action: action(ask),
        role: role(&ask.route),
        priority: ask.priority,
        timeout_seconds,
        fallback: fallback(&ask.on_expiry),
        agent_id: agent_id(ask),
        project_id: ask.labels.project.clone(),
        metadata: ask.metadata.value().cloned().unwrap_or_default(),
        created_at: ask.created_at,
        expires_at: ask.expires_at,
        payload,
        status: status(ask),
        receipt: receipt(ask, seal, detail),
        previous_request_id: ask.follows.map(request_id),
        next_request_id: ask.followed_by.map(request_id),
        hxp: ask.envelope().cloned(),
        hxp_verdict: Verdict::of(ask),
        hxp_picked: Picked::all(ask),
    }
}

/// A page of an agent's requests; provided values are hidden.
pub fn list<'a>(
    asks: impl IntoIterator<Item = &'a Ask>,
    total: u64,
    next: Option<Cursor>,
    seal: &Seal<'_>,
) -> List {
    let show = |ask| request(ask, seal, Detail::Redacted);
    let cursor = next.map(|cursor| cursor.to_string());
    List { requests: asks.into_iter().map(show).collect(), total, cursor }
}

/// A page of a person's inbox; provided values are hidden.
pub fn inbox<'a>(
    asks: impl IntoIterator<Item = &'a Ask>,
    total: u64,
    unresolved: u64,
    next: Option<Cursor>,
    seal: &Seal<'_>,
) -> Inbox {
    let show = |ask: &Ask| InboxItem {
        request: request(ask, seal, Detail::Redacted),
        notice: format!("An AI agent ({}) is asking you.", ask.agent),
    };
    let cursor = next.map(|cursor| cursor.to_string());
    Inbox { requests: asks.into_iter().map(show).collect(), total, unresolved, cursor }
}

/// The answer to a resolve; none while more votes are needed.
pub fn resolved(ask: &Ask, seal: &Seal<'_>) -> Option<Resolved> {
    receipt(ask, seal, Detail::Whole).map(|receipt| Resolved { receipt })
}

/// The answer to a cancel.
pub fn cancelled(ask: &Ask) -> Cancelled {
    Cancelled { request_id: request_id(ask.id), status: Status::from(Phase::Cancelled) }
}

/// What `GET /hxp` says.
pub fn info() -> Info {
    Info {
        protocol: "hxp",
        name: "Human Execution Protocol",
        version: VERSION,
        description: "Agents ask, people answer, a receipt comes back.",
        actions: Action::ALL,
        endpoints: Endpoints {
            agent: "/hxp/v1/requests",
            human: "/hxp/v1/inbox",
            admin: "/hxp/v1/delegation/rules",
        },
    }
}

/// Where an ask stands. A request for changes of what is no approval was neither an option nor a value:
/// such a request failed, with what was said as the reason. It cannot come about any more.
pub fn status(ask: &Ask) -> Status {
    if ask.sent_back().is_some() { Status::Failed } else { ask.phase().into() }
}

/// The action an ask is shown as; of an erased question only the kind is known.
pub(super) fn action(ask: &Ask) -> Action {
    ask.question.value().map_or_else(|| Action::of_kind(ask.kind), project::action)
}

fn role(route: &Route) -> Role {
    match route {
        Route::Owner => Role::Owner,
        // Somebody was named, though not by a rule.
        Route::Delegate | Route::Person { .. } => Role::Delegate,
        Route::Pool { .. } => Role::Pool,
    }
}

fn fallback(on_expiry: &OnExpiry) -> Fallback {
    match on_expiry {
        OnExpiry::StayOpen => Fallback::Pause,
        // Another dialect's expiry ends the request without an answer too.
        OnExpiry::Fail | OnExpiry::Report { .. } => Fallback::Fail,
        OnExpiry::Answer { .. } => Fallback::Default,
    }
}

/// The name the agent gave itself. In this protocol one that gave none is `unknown`; elsewhere
/// agents are known by their registered name.
fn agent_id(ask: &Ask) -> String {
    ask.labels.agent.clone().unwrap_or_else(|| match ask.dialect {
        Dialect::HxpExecution => "unknown".to_owned(),
        Dialect::Native | Dialect::Hitl | Dialect::A2h | Dialect::Hacp => ask.agent.to_string(),
    })
}
