//! The measurements, one file each.

mod channels;
mod create;
mod critical;
mod expiries;
mod hitl;
mod idle;
mod insights;
mod nodes;
mod open;
mod people;
mod poll;
mod start;
mod tasks;
mod waiting;
mod wake;
mod webhooks;

use std::net::SocketAddr;

use anyhow::{Context, ensure};
use serde_json::Value;
use tokio::task::JoinSet;

use crate::gateway::{AGENT, ASK, PERSON};
use crate::http_client::{HttpConnection, PreparedRequest};
use crate::report::Measurement;
use crate::scale::Scale;
use crate::server_process::ServerProcess;

/// The number of concurrent connections.
const AT_ONCE: usize = 64;

/// A measurement that can be selected on the command line. Each has its own file.
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
    Hitl,
    Webhooks,
    People,
    Channels,
    Critical,
    Tasks,
    Insights,
}

impl Scenario {
    pub(crate) const ALL: [Self; 15] = [
        Self::Start,
        Self::Create,
        Self::Poll,
        Self::Wake,
        Self::Idle,
        Self::Expiries,
        Self::Open,
        Self::Nodes,
        Self::Hitl,
        Self::Webhooks,
        Self::People,
        Self::Channels,
        Self::Critical,
        Self::Tasks,
        Self::Insights,
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

    pub(crate) async fn run(self, scale: &Scale) -> anyhow::Result<Vec<Measurement>> {
        match self {
            Self::Start => start::run(scale).await,
            Self::Create => create::run(scale).await,
            Self::Poll => poll::run(scale).await,
            Self::Wake => wake::run(scale).await,
            Self::Idle => idle::run(scale).await,
            Self::Expiries => expiries::run(scale).await,
            Self::Open => open::run(scale).await,
            Self::Nodes => nodes::run(scale).await,
            Self::Hitl => hitl::run(scale).await,
            Self::Webhooks => webhooks::run(scale).await,
            Self::People => people::run(scale).await,
            Self::Channels => channels::run(scale).await,
            Self::Critical => critical::run(scale).await,
            Self::Tasks => tasks::run(scale).await,
            Self::Insights => insights::run(scale).await,
        }
    }
}

/// A page request with the session of a signed-in person.
async fn page(served: &ServerProcess, path: &str) -> anyhow::Result<PreparedRequest> {
    let mut connection = HttpConnection::open(served.address).await?;
    connection.call(&PreparedRequest::post("/api/v1/people/user_dev/link", PERSON, "{}")).await?;
    let link: Value = serde_json::from_slice(&connection.body)?;
    let token = link["url"].as_str().and_then(|url| url.split_once("token=")).context("no link")?.1;
    connection.call(&PreparedRequest::get(&format!("/sign-in?token={token}"), "")).await?;
    let shown = str::from_utf8(&connection.body)?;
    let csrf =
        shown.split_once("name=\"csrf\" value=\"").and_then(|(_, rest)| rest.split_once('"'));
    let (csrf, _) = csrf.context("no form token")?;
    let form = format!("csrf={csrf}&token={token}");
    connection.send(&PreparedRequest::form("/sign-in", &connection.cookies()?, &form)).await?;
    ensure!(connection.answer().await? == 303, "nobody was signed in");
    Ok(PreparedRequest::get_with(path, "", &connection.cookies()?))
}

/// A create, as agents send it.
fn create_shot() -> PreparedRequest {
    PreparedRequest::post("/hxp/v1/requests", AGENT, ASK)
}

/// A poll of one request by its id.
fn poll_shot(request: &str) -> PreparedRequest {
    PreparedRequest::get(&format!("/hxp/v1/requests/{request}"), AGENT)
}

/// The JSON pointer to the id in the answer to a create.
const REQUEST_ID: &str = "/request_id";

/// Creates an ask on a connection and returns its request id.
async fn create_one(connection: &mut HttpConnection) -> anyhow::Result<String> {
    create_as(connection, &create_shot(), REQUEST_ID).await
}

/// Sends this create, and returns the id at a JSON pointer of the answer.
async fn create_as(
    connection: &mut HttpConnection,
    shot: &PreparedRequest,
    id: &str,
) -> anyhow::Result<String> {
    connection.call(shot).await?;
    let created: Value = serde_json::from_slice(&connection.body)?;
    Ok(created.pointer(id).and_then(Value::as_str).context("an id")?.to_owned())
}

/// Creates many, several concurrently.
async fn create_many(
    address: SocketAddr,
    many: usize,
    shot: &PreparedRequest,
    id: &'static str,
) -> anyhow::Result<Vec<String>> {
    let mut making = JoinSet::new();
    for n in 0..AT_ONCE {
        let share = many / AT_ONCE + usize::from(n < many % AT_ONCE);
        let shot = shot.clone();
        making.spawn(async move {
            let mut connection = HttpConnection::open(address).await?;
            let mut ids = Vec::with_capacity(share);
            for _ in 0..share {
                ids.push(create_as(&mut connection, &shot, id).await?);
            }
            anyhow::Ok(ids)
        });
    }
    let mut ids = Vec::with_capacity(many);
    while let Some(made) = making.join_next().await {
        ids.extend(made??);
    }
    Ok(ids)
}

/// Creates an ask on a new connection.
async fn create_at(address: SocketAddr) -> anyhow::Result<String> {
    create_one(&mut HttpConnection::open(address).await?).await
}
