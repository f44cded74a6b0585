//! `POST /agent/function_calls/{call_id}/respond`, `POST /agent/human_contacts/{call_id}/respond`:
//! an agent relays an answer that it attributes to a person.
//!
//! Agents do not answer. This exception of the vendor's API is for keys that were issued for it.
//! The answer is recorded as attested by the agent alone, and a project may refuse such answers.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use dialects::a2h::{self, Kind, WireError};
use kernel::actor::Attested;
use kernel::directory::Holder;
use kernel::question::Reply;
use kernel::{Actor, AgentId, Ask, AskCommand};

use super::{A2hError, Answer};
use crate::http::a2h::A2hCalls;
use crate::http::name::Named;

pub(super) async fn function_call(
    State(calls): State<Arc<A2hCalls>>,
    Named(call_id): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    let read = |bytes: &[u8], ask: &Ask, agent: &AgentId| {
        let question = ask.question.value().ok_or_else(WireError::gone)?;
        a2h::read_function_response(bytes, question, agent)
    };
    calls.respond(Kind::FunctionCall, &call_id, &headers, body, read).await
}

pub(super) async fn human_contact(
    State(calls): State<Arc<A2hCalls>>,
    Named(call_id): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    let read = a2h::read_contact_response;
    calls.respond(Kind::HumanContact, &call_id, &headers, body, read).await
}

impl A2hCalls {
    async fn respond(
        &self,
        kind: Kind,
        call_id: &str,
        headers: &HeaderMap,
        body: Body,
        read: impl Fn(&[u8], &Ask, &AgentId) -> Result<(Reply, Attested), WireError>,
    ) -> Answer {
        let caller = self.agent(headers)?;
        let agent = self.responds(&caller.actor)?;
        let bytes = self.body(headers, body).await?;
        let ask = self.call(&caller, kind, call_id).await?;
        // Checked before the answer is validated against the question: a late answer is refused as
        // late, whatever it says.
        ask.still_open(self.gateway.now())?;
        let (reply, attested) = read(&bytes, &ask, &agent)?;
        let relay = Actor::Relay { ask: ask.id, attested };
        let outcome = self.gateway.run(relay, AskCommand::Answer(ask.id, Box::new(reply))).await?;
        self.shown(&outcome.ask.ok_or_else(WireError::internal)?).await
    }

    /// The agent, if its key may relay answers.
    fn responds(&self, actor: &Actor) -> Result<AgentId, A2hError> {
        let Actor::Agent { id, key, .. } = actor else {
            return Err(WireError::unauthorized().into());
        };
        let directory = self.gateway.directory();
        let holder = directory.key(*key).map(|key| &key.holder);
        match holder {
            Some(Holder::Agent { respond: true, .. }) => Ok(id.clone()),
            Some(_) | None => Err(WireError::no_respond_scope().into()),
        }
    }
}
