//! `countersign insights`: numbers about the claims of agents and the decisions of people.

use clap::Args;
use dialects::native::{AgentInsights, CalibrationView, InsightsView, WaitView};
use kernel::insight::LEAST_DECISIONS;
use kernel::{AgentId, ProjectId};

use super::Exit;
use super::output::{say, table};
use super::remote::RemoteArgs;

#[derive(Args)]
pub(super) struct InsightsArgs {
    /// Only of this project
    #[arg(long, value_name = "NAME")]
    project: Option<ProjectId>,
    /// Only of this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentId>,
    /// The first day, in UTC, such as 2026-02-01 [default: 30 days ago]
    #[arg(long, value_name = "DAY")]
    from: Option<String>,
    /// The last day, in UTC [default: today]
    #[arg(long, value_name = "DAY")]
    to: Option<String>,
    #[command(flatten)]
    remote: RemoteArgs,
}

impl InsightsArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.remote.human().await?;
        let wanted = client::Insights {
            project: self.project.map(|project| project.to_string()),
            agent: self.agent.map(|agent| agent.to_string()),
            from: self.from,
            to: self.to,
        };
        let found = server.client.insights(&wanted).await.map_err(server.with_advice())?;
        if self.remote.json {
            say!("{}", serde_json::to_string(&found)?);
        } else {
            show(&found);
        }
        Ok(Exit::Done)
    }
}

fn show(found: &InsightsView) {
    let InsightsView { ended, verdicts, reading, .. } = found;
    let ran_out = ended.defaulted + ended.expired + ended.failed;
    let decided = verdicts.followed + verdicts.edited + verdicts.overruled;
    let opened = reading.read + reading.hasty;
    let number = |name: &str, value: String| vec![name.to_owned(), value];
    let mut rows = vec![
        number("requests", found.asks.to_string()),
        number("answered", ended.answered.to_string()),
        number("expired", share(ran_out, ended.expiry_rate)),
        number("cancelled", ended.cancelled.to_string()),
        number("time to first view", wait(&found.first_view)),
        number("time to decision", wait(&found.decision)),
        number("recommendations decided on", decided.to_string()),
        number("  changed", share(verdicts.edited, verdicts.edit_rate)),
        number("  overruled", share(verdicts.overruled, verdicts.overrule_rate)),
        number("opened before deciding", opened.to_string()),
        number("  rushed decisions", share(reading.hasty, reading.hasty_rate)),
        number("refusals", share(found.refusals.n, found.refusals.rate)),
    ];
    let action = |name: &str, shown: u64, picked: u64, rate| {
        number(&format!("action {name}"), format!("{} of {shown} shown", share(picked, rate)))
    };
    rows.extend(
        found
            .intents
            .iter()
            .map(|one| number(&format!("intent {}", one.intent), one.n.to_string())),
    );
    rows.extend(found.actions.iter().map(|one| action(&one.kind, one.shown, one.picked, one.rate)));
    say!("{} to {}, days in UTC", found.from, found.to);
    say!("");
    table(&["WHAT", "NUMBER"], &rows);
    if !found.agents.is_empty() {
        say!("");
        let names =
            ["AGENT", "PROJECT", "DECIDED", "CHANGED", "OVERRULED", "CLAIMS OVERRULED", "RUSHED"];
        table(&names, &found.agents.iter().map(agent_row).collect::<Vec<_>>());
    }
}

fn agent_row(one: &AgentInsights) -> Vec<String> {
    let verdicts = &one.verdicts;
    let decided = verdicts.followed + verdicts.edited + verdicts.overruled;
    vec![
        one.agent.to_string(),
        one.project.to_string(),
        decided.to_string(),
        share(verdicts.edited, verdicts.edit_rate),
        share(verdicts.overruled, verdicts.overrule_rate),
        claims(&one.calibration),
        share(one.reading.hasty, one.reading.hasty_rate),
    ]
}

/// How often people overruled the agent where its confidence was highest.
fn claims(calibration: &CalibrationView) -> String {
    let Some(bins) = &calibration.bins else {
        return format!("after {LEAST_DECISIONS} decisions");
    };
    match bins.iter().rev().find(|bin| bin.decisions > 0) {
        None => "-".to_owned(),
        Some(bin) => {
            let (overruled, decisions) = (bin.overruled, bin.decisions);
            format!("{overruled} of {decisions} at {:.0}-{:.0}%", bin.from * 100.0, bin.to * 100.0)
        }
    }
}

fn share(n: u64, rate: Option<f64>) -> String {
    rate.map_or_else(|| n.to_string(), |rate| format!("{n} ({:.0}%)", rate * 100.0))
}

fn wait(whiles: &WaitView) -> String {
    match (whiles.median_seconds, whiles.p90_seconds) {
        (Some(half), Some(most)) => {
            format!("{half:.0} s median, {most:.0} s 90th percentile, of {}", whiles.n)
        }
        _ => "-".to_owned(),
    }
}
