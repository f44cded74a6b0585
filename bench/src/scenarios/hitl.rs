//! HITL cases: creating them, compared with HXP requests; polling them, and polls without changes,
//! compared with the bare baseline. A case may be polled sixty times a minute, so there are many.

use std::net::SocketAddr;

use anyhow::Context;

use super::{create_many, create_shot};
use crate::gateway::AGENT;
use crate::http_client::{HttpConnection, PreparedRequest};
use crate::load::{LoadTarget, WARM_UP, in_turns};
use crate::report::{Goal, Measurement};
use crate::scale::Scale;
use crate::server_process::{ServerProcess, scratch};

const CONNECTIONS: usize = 32;
/// The number of cases that are polled at the same time, and how often each of them.
const CASES_AT_ONCE: usize = 5_000;
const ROUNDS: usize = 50;

/// The request that services send, as long as the one over HXP.
const CASE: &str = r#"{"type":"approval","prompt":"Refund €120.00 to Ada Lovelace for order 4711?","timeout":"1h","default_action":"abort","context":{"amount":"€120.00","recipient":"ada@example.com","order":4711,"reason":"The parcel was lost; the carrier confirmed it this morning."}}"#;

pub(super) async fn run(scale: &Scale) -> anyhow::Result<Vec<Measurement>> {
    let folder = scratch()?;
    let gateway = ServerProcess::gateway(&folder.path().join("gateway")).await?;
    let baseline = ServerProcess::start("baseline", &folder.path().join("baseline")).await?;
    let row = async |what: &str, ours: LoadTarget, bare: LoadTarget, goal: f64| {
        let (ours, bare) = in_turns(scale, CONNECTIONS, &ours, &bare).await?;
        let note = format!("{}; bare {}", ours.words(), bare.words());
        let row = Measurement::new(format!("{what}, {CONNECTIONS} connections"), ours.rate(), "/s");
        anyhow::Ok(row.against(bare.rate()).goal(Goal::AtLeast(goal)).note(note))
    };
    let fixed = || baseline.target(PreparedRequest::get("/fixed", AGENT));
    let (cases_made, requests_made) =
        in_turns(scale, CONNECTIONS, &gateway.target(case()), &gateway.target(create_shot()))
            .await?;
    let note = format!("{}; HXP {}", cases_made.words(), requests_made.words());
    let what = format!("HITL: durable create of a case, {CONNECTIONS} connections, of HXP");
    let create = Measurement::new(what, cases_made.rate(), "/s")
        .against(requests_made.rate())
        .goal(Goal::AtLeast(0.85))
        .note(note);
    let paths = cases(gateway.address, enough(scale)?).await?;
    let polls = in_rounds(paths.iter().map(|path| PreparedRequest::get(path, AGENT)));
    let poll = row("… poll of a case", gateway.targets(polls), fixed(), 0.50).await?;
    // Other cases, which were not polled yet this minute.
    let paths = cases(gateway.address, enough(scale)?).await?;
    let known = tag(gateway.address, paths.first().context("a case")?).await?;
    let known = format!("if-none-match: {known}\r\n");
    let polls = in_rounds(paths.iter().map(|path| PreparedRequest::get_with(path, AGENT, &known)));
    let same = row("… poll that finds nothing new", gateway.targets(polls), fixed(), 0.60).await?;
    Ok(vec![create, poll, same])
}

/// The number of cases so that none is polled more often than the limit of 60 in a minute allows, at
/// up to 240,000 polls a second.
fn enough(scale: &Scale) -> anyhow::Result<usize> {
    let millis = (scale.turn + WARM_UP).as_millis() * u128::from(scale.turns);
    Ok(usize::try_from(millis * 240)? / ROUNDS + 1)
}

fn case() -> PreparedRequest {
    PreparedRequest::post("/hitl/v1/cases", AGENT, CASE)
}

/// Creates cases. Returns their polling paths.
async fn cases(address: SocketAddr, many: usize) -> anyhow::Result<Vec<String>> {
    let ids = create_many(address, many, &case(), "/hitl/case_id").await?;
    Ok(ids.iter().map(|id| format!("/hitl/v1/reviews/{id}/status")).collect())
}

/// The polls of some cases, again and again, then those of the next ones. An agent polls a case for
/// minutes, and the server keeps it in memory from the second time on.
fn in_rounds(polls: impl Iterator<Item = PreparedRequest>) -> Vec<PreparedRequest> {
    let polls: Vec<PreparedRequest> = polls.collect();
    let rounds = polls.chunks(CASES_AT_ONCE).flat_map(|some| std::iter::repeat_n(some, ROUNDS));
    rounds.flatten().cloned().collect()
}

/// The `ETag` of an unchanged case, which is the same for all.
async fn tag(address: SocketAddr, path: &str) -> anyhow::Result<String> {
    let mut connection = HttpConnection::open(address).await?;
    connection.call(&PreparedRequest::get(path, AGENT)).await?;
    connection.header("etag").context("an etag")
}
