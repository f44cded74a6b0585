//! Changes of the directory: people, agents, projects and groups, on a running server or a stopped
//! one.

use anyhow::anyhow;
use client::ClientError;
use kernel::{Actor, Command, Refusal};
use reqwest::Method;
use serde::Serialize;
use serde_json::Value;
use store::StoreError;

use super::admin_target::{AdminTarget, TargetArgs};
use super::output::report;

/// Creates or replaces an object.
pub(super) async fn save<B: Serialize>(
    place: TargetArgs,
    path: &str,
    body: &B,
    command: impl Into<Command>,
) -> anyhow::Result<()> {
    send(place, Method::PUT, path, body, command, None).await
}

/// The error for a new id that is taken.
pub(super) struct TakenId {
    /// The kind of object that exists already.
    pub(super) what: &'static str,
    /// The message for the operator.
    pub(super) message: String,
}

impl TakenId {
    /// The refusal of this id. A taken email address is refused with another one.
    fn refusal(&self) -> Refusal {
        Refusal::Exists { what: self.what }
    }
}

/// Sends a body to a running server, or runs the command on a stopped one.
pub(super) async fn send<B: Serialize>(
    place: TargetArgs,
    method: Method,
    path: &str,
    body: &B,
    command: impl Into<Command>,
    taken: Option<TakenId>,
) -> anyhow::Result<()> {
    let (admin, json) = place.open().await?;
    match &admin {
        AdminTarget::Remote(server) => {
            let call = server.client.call(method, path, Some(body));
            let _: Value = call.await.map_err(|error| match (&error, &taken) {
                (ClientError::Refused { code, message, .. }, Some(taken))
                    if code == "exists" && message.contains(&taken.refusal().to_string()) =>
                {
                    anyhow!("{}", taken.message)
                }
                _ => server.with_advice()(error),
            })?;
        }
        AdminTarget::Offline(offline) => {
            let done = offline.gateway.run(Actor::System, command).await;
            done.map_err(|error| match (&error, &taken) {
                (StoreError::Refused(refusal), Some(taken)) if *refusal == taken.refusal() => {
                    anyhow!("{}", taken.message)
                }
                _ => error.into(),
            })?;
        }
    }
    report(json, body, "Saved.")
}
