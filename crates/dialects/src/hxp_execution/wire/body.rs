//! The bodies around the objects of HXP Execution 0.1: lists, answers, rules, frames, errors.
//! Sections 5 and 6.

use kernel::ask::Priority;
use kernel::question::Kind;
use kernel::{HumanId, RuleId, Time};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::names::{Action, Status};
use super::request::{Receipt, Request};
use crate::hxp_experience::claims::Verdict;

/// The answer to a create, sent with 201 (section 5.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Created {
    /// The new request.
    pub request_id: String,
    /// `pending`.
    pub status: Status,
    /// When it was asked.
    pub created_at: Time,
    /// When it runs out.
    pub expires_at: Option<Time>,
    /// Where to poll, relative to the server.
    pub poll_url: String,
    /// Where to subscribe, absolute.
    pub ws_url: String,
    /// Our extension: what was found about the envelope it came with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hxp_verdict: Option<Verdict>,
}

/// A list for an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct List {
    /// Newest first.
    pub requests: Vec<Request>,
    /// How many match.
    pub total: u64,
    /// Where the next page begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A list for a person (section 5.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inbox {
    /// Most urgent first, then newest.
    pub requests: Vec<InboxItem>,
    /// How many match.
    pub total: u64,
    /// How many are pending or assigned.
    pub unresolved: u64,
    /// Where the next page begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A request in an inbox, with the sentence that says who asks (section 7, transparency).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InboxItem {
    /// The request.
    #[serde(flatten)]
    pub request: Request,
    /// A plain sentence for the person.
    pub notice: String,
}

/// What a person sends to answer (section 5.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Resolve {
    /// The answer.
    pub result: Value,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The answer to a resolve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Resolved {
    /// The proof.
    pub receipt: Receipt,
}

/// The answer to a cancel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancelled {
    /// Which request.
    pub request_id: String,
    /// `cancelled`.
    pub status: Status,
}

/// A delegation rule as it is shown (section 6.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// Its id.
    pub rule_id: RuleId,
    /// Which action; any if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    /// Which kinds of question, where no single action says it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<Kind>,
    /// Which project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// Which tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Which priority; our extension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// To whom.
    pub delegate_to: HumanId,
}

/// Delegation rules as they are listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// In the order they are tried.
    pub rules: Vec<Rule>,
}

/// What `GET /hxp` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Info {
    /// `hxp`.
    pub protocol: &'static str,
    /// The protocol's name.
    pub name: &'static str,
    /// The version spoken.
    pub version: &'static str,
    /// One sentence.
    pub description: &'static str,
    /// The actions understood.
    pub actions: [Action; 3],
    /// Where to begin.
    pub endpoints: Endpoints,
}

/// Where each kind of caller begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Endpoints {
    /// Agents.
    pub agent: &'static str,
    /// People.
    pub human: &'static str,
    /// Owners.
    pub admin: &'static str,
}

/// What `GET /hxp/v1/stats` says. `pending` counts every open request, assigned or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// All requests.
    pub total: u64,
    /// Open ones.
    pub pending: u64,
    /// Answered ones.
    pub completed: u64,
    /// Those that ran out.
    pub expired: u64,
    /// Those that ran out as a failure.
    pub failed: u64,
    /// The mean duration of completed ones, rounded.
    pub avg_duration_seconds: u64,
}

/// The answer to `POST /hxp/v1/receipts/verify`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    /// Whether this server issued the receipt, word for word.
    pub valid: bool,
}

/// What the WebSocket sends (section 5.2).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "event")]
pub enum Frame {
    /// Somebody took it up.
    Assigned {
        /// Who, a pseudonym for pools.
        assigned_to: String,
    },
    /// Answered.
    Completed {
        /// The proof.
        receipt: Receipt,
    },
    /// Ran out.
    Expired,
    /// Ran out as a failure.
    Failed {
        /// The failure receipt.
        receipt: Receipt,
    },
    /// Withdrawn.
    Cancelled {
        /// The proof.
        receipt: Receipt,
    },
}

/// The body of every error (section 5.3).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorBody {
    /// A stable code.
    pub error: String,
    /// A sentence.
    pub message: String,
    /// Which field, and what was expected there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}
