//! `POST /agent/…/{call_id}/escalate_email`: the agent escalates a call.
//!
//! The server notifies the people who are asked again, and also asks the people the escalation
//! names by email address. The agent's text is added to the thread of the request, with the
//! addresses that belong to no person here.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use dialects::a2h::{self, Kind, WireError};
use kernel::AskCommand;
use kernel::command::Urge;

use super::Answer;
use crate::http::a2h::A2hCalls;
use crate::http::name::Named;

pub(super) async fn function_call(
    State(calls): State<Arc<A2hCalls>>,
    Named(call_id): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    calls.escalate(Kind::FunctionCall, &call_id, &headers, body).await
}

pub(super) async fn human_contact(
    State(calls): State<Arc<A2hCalls>>,
    Named(call_id): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    calls.escalate(Kind::HumanContact, &call_id, &headers, body).await
}

impl A2hCalls {
    async fn escalate(&self, kind: Kind, call_id: &str, headers: &HeaderMap, body: Body) -> Answer {
        let caller = self.agent(headers)?;
        let bytes = self.body(headers, body).await?;
        let ask = self.call(&caller, kind, call_id).await?;
        ask.still_open(self.gateway.now())?;
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
        let original = a2h::escalate::addresses(&ask);
        let known = original.iter().filter_map(|address| directory.human_by_email(address));
        people.extend(known.map(|human| human.id.clone()));
        people.sort_unstable();
        people.dedup();
        let urge = Urge { text: escalation.words(&strangers), people };
        let outcome = self.gateway.run(caller.actor, AskCommand::Nudge(ask.id, urge)).await?;
        self.shown(&outcome.ask.ok_or_else(WireError::internal)?).await
    }
}
