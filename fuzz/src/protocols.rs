//! Inputs from agents and people over the protocols.

use dialects::a2h::{self, channel};
use dialects::hacp::{self, Operation};
use dialects::native;
use dialects::{hitl, hxp_execution as hxp};
use kernel::Actor;
use kernel::actor::{AnswerInterface, Assurance};
use kernel::directory::Directory;
use serde::de::DeserializeOwned;

use crate::twice;

/// HXP Execution: requests, answers, cancellations, rules, receipts to be verified.
pub(crate) fn hxp(bytes: &[u8]) {
    twice(|| hxp::parse_create(bytes));
    twice(|| hxp::read_resolve(bytes));
    twice(|| hxp::parse_cancel(bytes));
    twice(|| hxp::parse_rules(bytes));
    if let Ok(receipt) = hxp::parse_verify(bytes) {
        assert!(!hxp::verify(&receipt, b"a secret nobody knows"), "a forged receipt is taken");
    }
}

/// HITL: cases, responses, cancellations.
pub(crate) fn hitl(bytes: &[u8]) {
    twice(|| hitl::parse_create(bytes));
    twice(|| hitl::read_respond(bytes));
    twice(|| hitl::parse_cancel(bytes));
}

/// A2H: function calls, contacts, people, messages, escalations, channels.
pub(crate) fn a2h(bytes: &[u8]) {
    twice(|| a2h::parse_function_call(bytes));
    twice(|| a2h::parse_human_contact(bytes));
    twice(|| a2h::parse_human(bytes));
    twice(|| a2h::parse_message(bytes));
    twice(|| a2h::parse_escalation(bytes));
    twice(|| channel::validate_channel(bytes, &[]));
}

/// HACP: the first byte selects the operation, the rest is its body. Also all of it as JSON-RPC.
pub(crate) fn hacp(bytes: &[u8]) {
    if let Some((first, body)) = bytes.split_first() {
        let operation = Operation::ALL.get(usize::from(*first) % Operation::ALL.len());
        let directory = Directory::default();
        for actor in actors() {
            let version = hacp::HacpVersion::default();
            let caller = hacp::HacpCaller { actor: &actor, directory: &directory, version };
            if let Some(operation) = operation {
                twice(|| hacp::read(*operation, body, caller));
            }
        }
    }
    twice(|| hacp::negotiate(bytes));
    for version in [hacp::HacpVersion::V01, hacp::HacpVersion::V02] {
        twice(|| hacp::rpc::parse(bytes, version));
    }
}

/// A person, and the server itself.
fn actors() -> Vec<Actor> {
    let human = "user_dev".parse().ok().map(|id| Actor::Human {
        id,
        via: AnswerInterface::Api,
        assurance: Assurance::Session,
    });
    human.into_iter().chain([Actor::System]).collect()
}

/// The native API: the body of every call that has one.
pub(crate) fn native(bytes: &[u8]) {
    if let Ok(create) = serde_json::from_slice::<native::CreateAsk>(bytes) {
        twice(|| create.clone().into_ask(None));
    }
    read::<native::BulkAnswer>(bytes);
    read::<native::CancelBody>(bytes);
    read::<native::AssignBody>(bytes);
    read::<native::ExtendBody>(bytes);
    read::<native::CommentBody>(bytes);
    read::<native::WriteBody>(bytes);
    read::<native::SnoozeBody>(bytes);
    read::<native::WebhookBody>(bytes);
    read::<native::NotificationSettingsBody>(bytes);
    read::<native::IssueKey>(bytes);
    read::<native::RuleBody>(bytes);
    read::<native::ProjectBody>(bytes);
    read::<native::AgentBody>(bytes);
    read::<kernel::question::Reply>(bytes);
}

fn read<T: DeserializeOwned + std::fmt::Debug>(bytes: &[u8]) {
    twice(|| serde_json::from_slice::<T>(bytes).map_err(|error| error.to_string()));
}
