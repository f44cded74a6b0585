//! `/write`: a person writes to an agent.

use std::sync::Arc;

use axum::extract::{Query, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect};
use gateway::{CommandConditions, Gateway};
use kernel::audit::Digest;
use kernel::{AgentId, AskCommand, Refusal};
use notify::inbound::InboundProcessor;
use serde::Deserialize;
use store::{Idempotency, StoreError};
use views::SubmittedForm;
use views::conversation::new_message::{self, MessageDraft};
use views::site::paths;

use super::{PageResult, Visitor, html};
use crate::http::pages::visitor::Visitors;

#[derive(Deserialize)]
pub(super) struct ConversationQuery {
    agent: Option<String>,
}

pub(super) async fn show(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    State(inbound): State<InboundProcessor>,
    Query(to): Query<ConversationQuery>,
    from: Request,
) -> PageResult {
    let visitor = visitors.visitor(from.headers()).await?;
    let draft = MessageDraft { agent: to.agent.unwrap_or_default(), ..MessageDraft::default() };
    Ok(html(StatusCode::OK, write_page(&gateway, &inbound, &visitor, &draft)))
}

/// The form carries an idempotency token, so a form that is sent twice creates one message.
pub(super) async fn send(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    State(inbound): State<InboundProcessor>,
    from: Request,
) -> PageResult {
    let (visitor, form) = visitors.visitor_and_form(from, paths::WRITE).await?;
    let text = form.text("text").unwrap_or_default();
    let name = form.value("agent").unwrap_or_default().to_owned();
    let sent = match name.parse::<AgentId>() {
        Ok(agent) => {
            let idempotency = form_idempotency(&visitor, &form, &agent, &text);
            let terms = CommandConditions { idempotency, ..CommandConditions::default() };
            let command = AskCommand::Write(agent, text.clone().into());
            gateway.run_with_conditions(terms, visitor.actor.clone(), command).await
        }
        Err(_) => Err(StoreError::Refused(Refusal::NotFound { what: "agent" })),
    };
    match sent {
        Ok(outcome) => {
            let to = outcome.ask.map_or_else(|| paths::INBOX.to_owned(), |a| paths::request(a.id));
            Ok(Redirect::to(&to).into_response())
        }
        Err(StoreError::Refused(refusal)) => {
            let draft = MessageDraft { agent: name, text, refused: Some(refusal) };
            Ok(html(
                StatusCode::UNPROCESSABLE_ENTITY,
                write_page(&gateway, &inbound, &visitor, &draft),
            ))
        }
        Err(error) => Err(error.into()),
    }
}

fn form_idempotency(
    visitor: &Visitor,
    form: &SubmittedForm,
    agent: &AgentId,
    text: &str,
) -> Option<Idempotency> {
    let key = form.value("once").filter(|key| (1..=64).contains(&key.len()))?.to_owned();
    let scope = format!("write-page/{}", visitor.human.id);
    let fingerprint = Digest::of(format!("{agent}\0{text}").as_bytes());
    Some(Idempotency { scope, key, fingerprint, lasting: false })
}

fn write_page(
    gateway: &Gateway,
    inbound: &InboundProcessor,
    visitor: &Visitor,
    draft: &MessageDraft,
) -> String {
    let directory = gateway.directory();
    let once = gateway.ids().ulid().to_string();
    let me = &visitor.human;
    let mail = |agent: &AgentId| inbound.invitation(agent, &me.id);
    new_message::page(&visitor.frame, me, &directory, &once, draft, mail)
}
