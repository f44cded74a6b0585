//! What is measured, one file each.

mod create;
mod expiries;
mod idle;
mod nodes;
mod open;
mod poll;
mod start;
mod waiting;
mod wake;

use std::net::SocketAddr;

use anyhow::Context;
use serde_json::Value;

use crate::gateway::{AGENT, ASK};
use crate::report::Row;
use crate::scale::Scale;
use crate::wire::{Connection, Shot};

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scenario {
    Start,
    Create,
    Poll,
    Wake,
    Idle,
    Expiries,
    Open,
    Nodes,
}

impl Scenario {
    pub(crate) const ALL: [Self; 8] = [
        Self::Start,
        Self::Create,
        Self::Poll,
        Self::Wake,
        Self::Idle,
        Self::Expiries,
        Self::Open,
        Self::Nodes,
    ];

    /// Its name on the command line.
    fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scenario| scenario.name() == name)
    }

    pub(crate) fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    pub(crate) async fn run(self, scale: &Scale) -> anyhow::Result<Vec<Row>> {
        match self {
            Self::Start => start::run(scale).await,
            Self::Create => create::run(scale).await,
            Self::Poll => poll::run(scale).await,
            Self::Wake => wake::run(scale).await,
            Self::Idle => idle::run(scale).await,
            Self::Expiries => expiries::run(scale).await,
            Self::Open => open::run(scale).await,
            Self::Nodes => nodes::run(scale).await,
        }
    }
}

/// A create, as agents send it.
fn create_shot() -> Shot {
    Shot::post("/hxp/v1/requests", AGENT, ASK)
}

/// A poll of one ask by its request id.
fn poll_shot(request: &str) -> Shot {
    Shot::get(&format!("/hxp/v1/requests/{request}"), AGENT)
}

/// Makes an ask on a connection and gives its request id.
async fn create_one(connection: &mut Connection) -> anyhow::Result<String> {
    connection.call(&create_shot()).await?;
    let created: Value = serde_json::from_slice(&connection.body)?;
    Ok(created["request_id"].as_str().context("a request id")?.to_owned())
}

/// Makes an ask on a connection of its own.
async fn create_at(address: SocketAddr) -> anyhow::Result<String> {
    create_one(&mut Connection::open(address).await?).await
}
