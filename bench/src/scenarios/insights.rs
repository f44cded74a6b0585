//! Insights after ten million counted messages, compared with a hundredth of them, of as many
//! agents over the same days: for everything, one project and one agent; for a month and a year; as
//! a page and over the API.

use anyhow::ensure;
use serde_json::Value;

use super::page;
use crate::gateway::PERSON;
use crate::http_client::{HttpConnection, PreparedRequest};
use crate::insights::{DAYS, ONE_AGENT, PROJECT, fill};
use crate::load::in_turns;
use crate::report::{Goal, Measurement};
use crate::scale::Scale;
use crate::server_process::{ServerProcess, scratch};

/// Few, so that a percentile shows the work and not the queue.
const READERS: usize = 2;
/// The size of the smaller store, as a fraction.
const PART: u64 = 100;

pub(super) async fn run(scale: &Scale) -> anyhow::Result<Vec<Measurement>> {
    let folder = scratch()?;
    let (many, few) = (folder.path().join("many"), folder.path().join("few"));
    let part = scale.counted / PART;
    let (large, small) = (fill(&many, scale.counted)?, fill(&few, part)?);
    let (many, few) = (ServerProcess::gateway(&many).await?, ServerProcess::gateway(&few).await?);
    let sized =
        Measurement::new(format!("{} messages counted: on disk", scale.counted), mib(large), "MiB");
    let mut rows = vec![sized.note(format!("of {part} messages {:.1} MiB", mib(small)))];

    // The scope, and the number of days up to today. Pages have names for a month and a year.
    let whose = [
        ("everything", String::new()),
        ("a project", format!("project={PROJECT}&")),
        ("an agent", format!("agent={ONE_AGENT}&")),
    ];
    for (name, whose) in &whose {
        for days in [30, DAYS] {
            let query = format!("/api/v1/insights?{whose}{}", since(days)?);
            let shot = PreparedRequest::get(&query, PERSON);
            if whose.is_empty() && days == DAYS {
                for (served, expected) in [(&many, scale.counted), (&few, part)] {
                    let asks = asks(served, &shot).await?;
                    ensure!(asks == Some(expected), "{asks:?} messages were counted");
                }
            }
            let what = format!("… {name}, {days} days: p99");
            rows.push(compared(scale, what, (&many, shot.clone()), (&few, shot)).await?);
            let path = format!("/insights?{whose}days={days}");
            let (ours, theirs) = (page(&many, &path).await?, page(&few, &path).await?);
            let what = format!("… {name}, {days} days, as a page: p99");
            rows.push(compared(scale, what, (&many, ours), (&few, theirs)).await?);
        }
    }
    Ok(rows)
}

async fn compared(
    scale: &Scale,
    what: String,
    (many, ours): (&ServerProcess, PreparedRequest),
    (few, theirs): (&ServerProcess, PreparedRequest),
) -> anyhow::Result<Measurement> {
    let (ours, theirs) = (many.target(ours), few.target(theirs));
    let (ours, theirs) = in_turns(scale, READERS, &ours, &theirs).await?;
    let row = Measurement::new(what, ours.answers.p99(), "ms").against(theirs.answers.p99());
    let note = format!("p50 {:.2} ms against {:.2} ms", ours.answers.p50(), theirs.answers.p50());
    Ok(row.goal(Goal::AtMost(1.5)).note(note))
}

/// The first of this many days.
fn since(days: i64) -> anyhow::Result<String> {
    use kernel::insight::Day;
    use store::Clock as _;
    let today = Day::of(gateway::clock::OsClock.now());
    Ok(format!("from={}", today.before(u16::try_from(days - 1)?)))
}

async fn asks(served: &ServerProcess, shot: &PreparedRequest) -> anyhow::Result<Option<u64>> {
    let mut connection = HttpConnection::open(served.address).await?;
    connection.call(shot).await?;
    let found: Value = serde_json::from_slice(&connection.body)?;
    Ok(found["asks"].as_u64())
}

#[expect(clippy::cast_precision_loss, reason = "no database is that large")]
fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
