//! A store with many open asks, compared with one page of them. Both are filled directly through
//! the store, for speed.

use std::time::Duration;

use anyhow::bail;

use super::{create_at, create_shot, page, poll_shot};
use crate::fill::fill;
use crate::gateway::{AGENT, PERSON};
use crate::http_client::{HttpConnection, PreparedRequest};
use crate::load::in_turns;
use crate::report::{Goal, Measurement};
use crate::scale::Scale;
use crate::server_process::{ServerProcess, scratch};

const CONNECTIONS: usize = 32;
/// Few, so that a percentile shows the work and not the queue.
const READERS: usize = 4;
/// The size of the small store: enough to fill its pages and search results.
const A_PAGE: usize = 250;
/// A request with a rare word, sent once to each store. The search for it skips everything else.
const RARE: &str = r#"{"action":"APPROVE","payload":{"item":"Ship it to Zanzibar?"}}"#;

pub(super) async fn run(scale: &Scale) -> anyhow::Result<Vec<Measurement>> {
    let folder = scratch()?;
    let (full, empty) = (folder.path().join("full"), folder.path().join("empty"));
    for (data, asks) in [(&full, scale.open), (&empty, A_PAGE)] {
        std::fs::create_dir_all(data)?;
        fill(data, asks, None)?;
    }
    let full = ServerProcess::gateway(&full).await?;
    let empty = ServerProcess::gateway(&empty).await?;
    let many = scale.open;
    let started =
        Measurement::new(format!("{many} open asks: start"), full.started.as_secs_f64(), "s");
    let mut rows = vec![started.goal(Goal::AtMost(2.0))];

    let (ours, theirs) = (create_at(full.address).await?, create_at(empty.address).await?);
    let reads = [
        ("… poll: p99", poll_shot(&ours), poll_shot(&theirs)),
        ("… page of the inbox with totals (HXP): p99", inbox(HXP), inbox(HXP)),
        ("… page of the inbox: p99", inbox(NATIVE), inbox(NATIVE)),
        ("… the inbox as a page: p99", page(&full, "/").await?, page(&empty, "/").await?),
        ("… search for a word in all: p99", inbox(COMMON), inbox(COMMON)),
        ("… search for a word in one: p99", rare(&full).await?, rare(&empty).await?),
    ];
    for (what, ours, theirs) in reads {
        if !is_there(&full, &ours).await? {
            rows.push(Measurement::missing(what, "the server does not have it yet"));
            continue;
        }
        let ours = full.target(ours);
        let theirs = empty.target(theirs);
        let (ours, theirs) = in_turns(scale, READERS, &ours, &theirs).await?;
        let row = Measurement::new(what, ours.answers.p99(), "ms").against(theirs.answers.p99());
        let note =
            format!("p50 {:.2} ms against {:.2} ms", ours.answers.p50(), theirs.answers.p50());
        rows.push(row.goal(Goal::AtMost(1.5)).note(note));
    }

    let ours = full.target(create_shot());
    let theirs = empty.target(create_shot());
    let (ours, theirs) = in_turns(scale, CONNECTIONS, &ours, &theirs).await?;
    let row =
        Measurement::new("… creates, 32 connections", ours.rate(), "/s").against(theirs.rate());
    let note = format!("{}; empty {}", ours.words(), theirs.words());
    rows.push(row.goal(Goal::AtLeast(0.8)).note(note));
    let memory = Measurement::new("… memory after all that", full.rss()? / 1024.0, "MiB");
    rows.push(memory.goal(Goal::AtMost(200.0)));
    Ok(rows)
}

const HXP: &str = "/hxp/v1/inbox?limit=20";
const NATIVE: &str = "/api/v1/asks?limit=20";
const COMMON: &str = "/api/v1/search?q=refund";

fn inbox(path: &str) -> PreparedRequest {
    PreparedRequest::get(path, PERSON)
}

/// The search for the rare word, after it was indexed.
async fn rare(served: &ServerProcess) -> anyhow::Result<PreparedRequest> {
    let mut connection = HttpConnection::open(served.address).await?;
    connection.call(&PreparedRequest::post("/hxp/v1/requests", AGENT, RARE)).await?;
    let shot = inbox("/api/v1/search?q=zanzibar");
    for _ in 0..500 {
        connection.call(&shot).await?;
        if connection.body.windows(8).any(|part| part == b"Zanzibar") {
            return Ok(shot);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    bail!("what was asked is not found by its word")
}

async fn is_there(served: &ServerProcess, shot: &PreparedRequest) -> anyhow::Result<bool> {
    let mut connection = HttpConnection::open(served.address).await?;
    connection.send(shot).await?;
    Ok(connection.answer().await? == 200)
}
