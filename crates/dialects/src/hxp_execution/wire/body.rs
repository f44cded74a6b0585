//! The bodies around the objects of HXP Execution 0.1: lists, responses, rules, frames, errors.
//! Sections 5 and 6.

use kernel::ask::Priority;
use kernel::question::Kind;
use kernel::{HumanId, RuleId, Time};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::names::{Action, Status};
use super::request::{Receipt, Request};
use crate::hxp_experience::claims::Verdict;

/// The response to a create, sent with 201 (section 5.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Created {
    pub request_id: String,
    /// Always `pending`.
    pub status: Status,
    pub created_at: Time,
    pub expires_at: Option<Time>,
    /// The status URL, relative to the server.
    pub poll_url: String,
    /// The WebSocket URL, absolute.
    pub ws_url: String,
    /// A Countersign extension: the findings about the envelope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hxp_verdict: Option<Verdict>,
}

/// A list for an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct List {
    /// Newest first.
    pub requests: Vec<Request>,
    /// The number of matching requests.
    pub total: u64,
    /// The cursor of the next page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A list for a person (section 5.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inbox {
    /// Most urgent first, then newest.
    pub requests: Vec<InboxItem>,
    /// The number of matching requests.
    pub total: u64,
    /// The number of pending or assigned requests.
    pub unresolved: u64,
    /// The cursor of the next page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A request in an inbox, with a sentence that says who asks (section 7, transparency).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InboxItem {
    #[serde(flatten)]
    pub request: Request,
    /// A plain sentence for the person.
    pub notice: String,
}

/// The body of a resolve (section 5.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Resolve {
    /// The answer.
    pub result: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The response to a resolve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Resolved {
    pub receipt: Receipt,
}

/// The response to a cancel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancelled {
    pub request_id: String,
    /// Always `cancelled`.
    pub status: Status,
}

/// A delegation rule in a response (section 6.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    pub rule_id: RuleId,
    /// The action; any if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    /// The kinds of question, if they do not correspond to one action.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<Kind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// A Countersign extension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// The person who gets matching requests.
    pub delegate_to: HumanId,
}

/// A list of delegation rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// The rules, in the order in which the server applies them.
    pub rules: Vec<Rule>,
}

/// The body of `GET /hxp`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Info {
    /// Always `hxp`.
    pub protocol: &'static str,
    pub name: &'static str,
    pub version: &'static str,
    pub description: &'static str,
    /// The supported actions.
    pub actions: [Action; 3],
    /// The entry points.
    pub endpoints: Endpoints,
}

/// The entry point of each kind of caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Endpoints {
    pub agent: &'static str,
    pub human: &'static str,
    pub admin: &'static str,
}

/// The body of `GET /hxp/v1/stats`. `pending` counts every open request, assigned or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    pub total: u64,
    pub pending: u64,
    pub completed: u64,
    /// Requests that expired without a failure receipt.
    pub expired: u64,
    /// Requests that expired with a failure receipt.
    pub failed: u64,
    /// The mean duration of completed requests, rounded.
    pub avg_duration_seconds: u64,
}

/// The response to `POST /hxp/v1/receipts/verify`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    /// Whether this server issued the receipt, unchanged.
    pub valid: bool,
}

/// A frame of the WebSocket (section 5.2).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "event")]
pub enum Frame {
    /// A person took the request.
    Assigned {
        /// The person; a pseudonym for pools.
        assigned_to: String,
    },
    /// The request was answered.
    Completed {
        /// The receipt of the answer.
        receipt: Receipt,
    },
    /// The request expired.
    Expired,
    /// The request expired with a failure receipt.
    Failed {
        /// The failure receipt.
        receipt: Receipt,
    },
    /// The request was withdrawn.
    Cancelled {
        /// The receipt of the cancellation.
        receipt: Receipt,
    },
}

/// The body of every error (section 5.3).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorBody {
    pub error: String,
    pub message: String,
    /// The field, and the expected value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}
