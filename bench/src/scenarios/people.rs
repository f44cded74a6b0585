//! Finding people among many, compared with a thousand: by a word that one in eight has, by its
//! prefix, by a name, by a word that one person has, and by words that no person has.

use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::{Value, json};

use crate::gateway::{AGENT, PERSON};
use crate::http_client::{HttpConnection, PreparedRequest};
use crate::latency::Latencies;
use crate::load::in_turns;
use crate::people::{RARE, fill};
use crate::report::{Goal, Measurement};
use crate::scale::Scale;
use crate::server_process::{ServerProcess, scratch};

/// Few, so that a percentile shows the work and not the queue.
const READERS: usize = 4;
/// The size of the small directory: large enough for answers of the same length.
const A_THOUSAND: usize = 1_000;
/// The number of changes to a person.
const CHANGES: usize = 40;

pub(super) async fn run(scale: &Scale) -> anyhow::Result<Vec<Measurement>> {
    let folder = scratch()?;
    let (many, few) = (folder.path().join("many"), folder.path().join("few"));
    for (data, people) in [(&many, scale.people), (&few, A_THOUSAND)] {
        std::fs::create_dir_all(data)?;
        fill(data, people)?;
    }
    let many = ServerProcess::gateway(&many).await?;
    let few = ServerProcess::gateway(&few).await?;
    let started = many.started.as_secs_f64();
    let mut rows = vec![Measurement::new(format!("{} people: start", scale.people), started, "s")];

    let searches = [
        ("… search for a word that one in eight has: p99", "who+knows+about+refunds", 100),
        ("… for its beginning: p99", "ref", 100),
        ("… for a name: p99", "ada+lovelace", 100),
        ("… for a word that one has: p99", RARE, 1),
        ("… for words nobody has: p99", "quantum+gravity", 0),
    ];
    for (what, words, found) in searches {
        let shot = PreparedRequest::get(&format!("/a2h/v1/humans/search?q={words}"), AGENT);
        for served in [&many, &few] {
            let has = count(served, &shot).await?;
            ensure!(has == found, "{has} people are found by {words}, not {found}");
        }
        let (ours, theirs) = (many.target(shot.clone()), few.target(shot));
        let (ours, theirs) = in_turns(scale, READERS, &ours, &theirs).await?;
        let row = Measurement::new(what, ours.answers.p99(), "ms").against(theirs.answers.p99());
        let (ours, theirs) = (ours.answers.p50(), theirs.answers.p50());
        let note = format!("p50 {ours:.2} ms against {theirs:.2} ms");
        rows.push(row.goal(Goal::AtMost(3.0)).note(note));
    }
    let (ours, theirs) = (changes(&many).await?, changes(&few).await?);
    let changed = Measurement::new("… one of them changed: p50", ours.p50(), "ms");
    rows.push(changed.against(theirs.p50()).note("one after the other, on one connection"));
    rows.push(Measurement::new("… memory with so many people", many.rss()? / 1024.0, "MiB"));
    Ok(rows)
}

/// The number of people that a search returns.
async fn count(served: &ServerProcess, shot: &PreparedRequest) -> anyhow::Result<usize> {
    let mut connection = HttpConnection::open(served.address).await?;
    connection.call(shot).await?;
    let found: Value = serde_json::from_slice(&connection.body)?;
    Ok(found["humans"].as_array().map_or(0, Vec::len))
}

/// The latency of changes to a person.
async fn changes(served: &ServerProcess) -> anyhow::Result<Latencies> {
    let mut connection = HttpConnection::open(served.address).await?;
    let mut took = Latencies::new()?;
    for n in 0..CHANGES {
        let body = json!({ "name": "Grace", "description": format!("Knows about change {n}") });
        let shot = PreparedRequest::put("/a2h/v1/humans/person_000002", PERSON, &body.to_string());
        let began = Instant::now();
        connection.call(&shot).await?;
        took.add(began.elapsed());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(took)
}
