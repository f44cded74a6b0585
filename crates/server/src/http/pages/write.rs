//! `/write`: a person writes to an agent.

use axum::extract::{Query, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect};
use gateway::Terms;
use kernel::audit::Digest;
use kernel::{AgentId, AskCommand, Refusal};
use serde::Deserialize;
use store::{Idempotency, StoreError};

use super::{Page, Visitor, html};
use crate::http::{App, Shared};
use views::Submitted;
use views::conversation::write::{self, Draft};
use views::site::paths;

#[derive(Deserialize)]
pub(super) struct To {
    agent: Option<String>,
}

pub(super) async fn show(State(app): State<Shared>, Query(to): Query<To>, from: Request) -> Page {
    let visitor = app.visitor(from.headers()).await?;
    let draft = Draft { agent: to.agent.unwrap_or_default(), ..Draft::default() };
    Ok(html(StatusCode::OK, app.write_page(&visitor, &draft)))
}

/// What is sent twice, by an impatient thumb or a browser, is written once: the form carries a token.
pub(super) async fn send(State(app): State<Shared>, from: Request) -> Page {
    let (visitor, form) = app.acting(from, paths::WRITE).await?;
    let text = form.text("text").unwrap_or_default();
    let name = form.value("agent").unwrap_or_default().to_owned();
    let sent = match name.parse::<AgentId>() {
        Ok(agent) => {
            let idempotency = once(&visitor, &form, &agent, &text);
            let terms = Terms { idempotency, ..Terms::default() };
            let command = AskCommand::Write(agent, text.clone().into());
            app.gateway.run_on(terms, visitor.actor.clone(), command).await
        }
        Err(_) => Err(StoreError::Refused(Refusal::NotFound { what: "agent" })),
    };
    match sent {
        Ok(outcome) => {
            let to = outcome.ask.map_or_else(|| paths::INBOX.to_owned(), |a| paths::request(a.id));
            Ok(Redirect::to(&to).into_response())
        }
        Err(StoreError::Refused(refusal)) => {
            let draft = Draft { agent: name, text, refused: Some(refusal) };
            Ok(html(StatusCode::UNPROCESSABLE_ENTITY, app.write_page(&visitor, &draft)))
        }
        Err(error) => Err(error.into()),
    }
}

fn once(visitor: &Visitor, form: &Submitted, agent: &AgentId, text: &str) -> Option<Idempotency> {
    let key = form.value("once").filter(|key| (1..=64).contains(&key.len()))?.to_owned();
    let scope = format!("write-page/{}", visitor.human.id);
    let fingerprint = Digest::of(format!("{agent}\0{text}").as_bytes());
    Some(Idempotency { scope, key, fingerprint, lasting: false })
}

impl App {
    fn write_page(&self, visitor: &Visitor, draft: &Draft) -> String {
        let directory = self.gateway.directory();
        let once = self.gateway.ids().ulid().to_string();
        let me = &visitor.human;
        let mail = |agent: &AgentId| self.notifier.inbound.invitation(agent, &me.id);
        write::page(&visitor.frame, me, &directory, &once, draft, mail)
    }
}
