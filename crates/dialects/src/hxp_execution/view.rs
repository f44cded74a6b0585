//! `GET /hxp/v1/requests/{request_id}`, `GET /hxp/v1/requests`, `GET /hxp/v1/inbox`, `GET /hxp`.
//! Sections 3 and 5.1.
//!
//! An ask of any dialect can be shown. A view shows the stored state. The caller must first expire
//! an ask whose deadline has passed.

use kernel::ask::{Ask, Dialect, OnExpiry, Route};
use kernel::{AskId, Phase};

use super::evidence::Seal;
use super::query::HxpCursor;
use super::receipt::{ReceiptDetail, receipt};
use super::wire::{
    Action, Cancelled, Created, Endpoints, Fallback, Inbox, InboxItem, Info, List, Payload,
    Request, Resolved, Role, Status,
};
use super::{PREFIX, VERSION, projection};
use crate::hxp_experience::claims::{EnvelopeVerdict, PickedActionView};

/// The request id of an ask.
pub fn request_id(ask: AskId) -> String {
    ask.with_prefix(PREFIX)
}

/// The ask that a request id names.
pub fn ask_id(request_id: &str) -> Option<AskId> {
    AskId::parse_with_prefix(PREFIX, request_id)
}

/// The body of a 201. `ws_base` is the public URL without a path, such as `wss://example.com`.
pub fn created(ask: &Ask, ws_base: &str) -> Created {
    let request_id = request_id(ask.id);
    Created {
        status: status(ask),
        created_at: ask.created_at,
        expires_at: ask.expires_at,
        poll_url: format!("/hxp/v1/requests/{request_id}"),
        ws_url: format!("{}/hxp/ws/{request_id}", ws_base.trim_end_matches('/')),
        request_id,
        hxp_verdict: EnvelopeVerdict::of(ask),
    }
}

/// The whole request, with its receipt once it is closed.
pub fn request(ask: &Ask, seal: &Seal<'_>, detail: ReceiptDetail) -> Request {
    let timeout_seconds = ask.expires_at.map_or(0, |at| at.seconds_since(ask.created_at));
    let payload = ask.question.value().map_or(Payload::Erased {}, projection::payload);
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
        hxp_verdict: EnvelopeVerdict::of(ask),
        hxp_picked: PickedActionView::all(ask),
    }
}

/// A page of an agent's requests; provided values are hidden.
pub fn list<'a>(
    asks: impl IntoIterator<Item = &'a Ask>,
    total: u64,
    next: Option<HxpCursor>,
    seal: &Seal<'_>,
) -> List {
    let show = |ask| request(ask, seal, ReceiptDetail::Redacted);
    let cursor = next.map(|cursor| cursor.to_string());
    List { requests: asks.into_iter().map(show).collect(), total, cursor }
}

/// A page of a person's inbox; provided values are hidden.
pub fn inbox<'a>(
    asks: impl IntoIterator<Item = &'a Ask>,
    total: u64,
    unresolved: u64,
    next: Option<HxpCursor>,
    seal: &Seal<'_>,
) -> Inbox {
    let show = |ask: &Ask| InboxItem {
        request: request(ask, seal, ReceiptDetail::Redacted),
        notice: format!("An AI agent ({}) is asking you.", ask.agent),
    };
    let cursor = next.map(|cursor| cursor.to_string());
    Inbox { requests: asks.into_iter().map(show).collect(), total, unresolved, cursor }
}

/// The response to a resolve; `None` while more votes are needed.
pub fn resolved(ask: &Ask, seal: &Seal<'_>) -> Option<Resolved> {
    receipt(ask, seal, ReceiptDetail::Whole).map(|receipt| Resolved { receipt })
}

/// The response to a cancel.
pub fn cancelled(ask: &Ask) -> Cancelled {
    Cancelled { request_id: request_id(ask.id), status: Status::from(Phase::Cancelled) }
}

/// The body of `GET /hxp`.
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

/// The status of an ask. If a person requested changes to a question that is no approval, the
/// request failed with their comment as the reason. The server no longer accepts this; older
/// records have it.
pub fn status(ask: &Ask) -> Status {
    if ask.changes_request().is_some() { Status::Failed } else { ask.phase().into() }
}

/// The action of an ask; for an erased question, the action of its kind.
pub(super) fn action(ask: &Ask) -> Action {
    ask.question.value().map_or_else(|| Action::of_kind(ask.kind), projection::action)
}

fn role(route: &Route) -> Role {
    match route {
        Route::Owner => Role::Owner,
        // The agent named a person; no rule did.
        Route::Delegate | Route::Person { .. } => Role::Delegate,
        Route::Pool { .. } => Role::Pool,
    }
}

fn fallback(on_expiry: &OnExpiry) -> Fallback {
    match on_expiry {
        OnExpiry::StayOpen => Fallback::Pause,
        // In other dialects too, expiry ends the request without an answer.
        OnExpiry::Fail | OnExpiry::Report { .. } => Fallback::Fail,
        OnExpiry::Answer { .. } => Fallback::Default,
    }
}

/// The name that the agent gave itself. In this protocol the default is `unknown`; in others it is
/// the agent's registered name.
fn agent_id(ask: &Ask) -> String {
    ask.labels.agent.clone().unwrap_or_else(|| match ask.dialect {
        Dialect::HxpExecution => "unknown".to_owned(),
        Dialect::Native | Dialect::Hitl | Dialect::A2h | Dialect::Hacp => ask.agent.to_string(),
    })
}
