//! `POST /hacp/v1/ops/{operation}`: the route of all operations.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use dialects::hacp::{
    self, HacpCall, HacpCaller, HacpError, HacpVersion, Operation, OperationParams, PROFILE_HEADER,
    SCHEMA_HEADER, VERSION_HEADER,
};
use kernel::Actor;
use kernel::task::TaskCommand;
use serde::Serialize;
use serde_json::Value;

use super::history::EventPage;
use super::{HacpFailure, version_of};
use crate::http::hacp::HacpOperations;
use crate::http::path_param::PathParam;
use crate::http::{body, envelope_headers};

/// The result of an operation: an object or a list, and the cursor of the next page.
pub(super) struct OperationResult {
    pub(super) value: Value,
    pub(super) next: Option<String>,
    /// The envelope headers of a checkpoint.
    pub(super) said: HeaderMap,
}

impl OperationResult {
    /// A list, with the cursor of the next page.
    pub(super) fn list(value: Value, next: Option<String>) -> Self {
        Self { next, ..value.into() }
    }
}

impl From<Value> for OperationResult {
    fn from(value: Value) -> Self {
        Self { value, next: None, said: HeaderMap::new() }
    }
}

pub(super) async fn call(
    State(hacp): State<Arc<HacpOperations>>,
    PathParam(operation): PathParam<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, HacpFailure> {
    let version = version_of(&headers)?;
    let answer = hacp.operation(&operation, version, &headers, body).await;
    answer.map_err(|failure| failure.in_version(version))
}

impl HacpOperations {
    async fn operation(
        &self,
        operation: &str,
        version: HacpVersion,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<Response, HacpFailure> {
        let actor = self.callers.anyone(headers).await?;
        let operation = Operation::named(operation, version)?;
        let bytes = body::read(body, self.config.body_limit).await?;
        let directory = self.gateway.directory();
        let caller = HacpCaller { actor: &actor, directory: &directory, version };
        let mut call = hacp::read(operation, &bytes, caller)?;
        if let OperationParams::Command(command) = &mut call.params
            && let TaskCommand::Raise(_, new) = &mut **command
        {
            new.claims = envelope_headers::apply(new.claims.take(), headers);
        }
        if let OperationParams::Audit(_) | OperationParams::Replay(_) = &call.params {
            let told = self.answer_history(&actor, version, call.params).await?;
            return Ok(answered(&told.text, told.next.as_deref(), version));
        }
        let shown = self.call(&actor, version, call).await?;
        let mut answer = answered(&shown.value, shown.next.as_deref(), version);
        answer.headers_mut().extend(shown.said);
        Ok(answer)
    }

    /// The events of a history as JSON text.
    async fn answer_history(
        &self,
        actor: &Actor,
        version: HacpVersion,
        params: OperationParams,
    ) -> Result<EventPage, HacpFailure> {
        let task = params.task();
        let told = Box::pin(self.history(actor, version, params)).await;
        told.map_err(|failure| failure.maybe_about(task))
    }

    /// Runs a call, whether it came over HTTP or WebSocket.
    pub(super) async fn call(
        &self,
        actor: &Actor,
        version: HacpVersion,
        call: HacpCall,
    ) -> Result<OperationResult, HacpFailure> {
        let task = call.params.task();
        let shown = match &call.params {
            OperationParams::Command(_)
            | OperationParams::Commit(_)
            | OperationParams::Comment { .. } => {
                Box::pin(self.run_command(actor, version, call)).await
            }
            OperationParams::Peek(_) | OperationParams::Ack(_) | OperationParams::Outbox { .. } => {
                Box::pin(self.runtime(actor, version, call.params)).await
            }
            OperationParams::Audit(_) | OperationParams::Replay(_) => {
                let EventPage { text, next } =
                    self.answer_history(actor, version, call.params).await?;
                let value = serde_json::from_str(text.get()).map_err(|_| HacpError::internal())?;
                Ok(OperationResult::list(value, next))
            }
            OperationParams::Task(_)
            | OperationParams::Tasks(_)
            | OperationParams::Artifact { .. }
            | OperationParams::Entry { .. }
            | OperationParams::History { .. }
            | OperationParams::Inbox(_) => Box::pin(self.query(actor, version, call.params)).await,
        };
        shown.map_err(|failure| failure.maybe_about(task))
    }
}

/// A result with its protocol version: an object contains it, a list has it in the headers.
fn answered(value: &impl Serialize, next: Option<&str>, version: HacpVersion) -> Response {
    let mut answer = Json(value).into_response();
    let headers = answer.headers_mut();
    for (name, value) in [
        (VERSION_HEADER, version.spec()),
        (SCHEMA_HEADER, version.schema()),
        (PROFILE_HEADER, version.profile()),
    ] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if let Some(next) = next
        && let Ok(next) = HeaderValue::from_str(next)
    {
        headers.insert(HeaderName::from_static("hacp-next-cursor"), next);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

impl HacpFailure {
    /// The same error with the id of the task, if there is one.
    fn maybe_about(mut self, task: Option<kernel::TaskId>) -> Self {
        let Some(task) = task else { return self };
        let error = std::mem::replace(&mut self.error.error, HacpError::internal());
        self.error.error = error.about(task);
        self
    }
}
