//! The report of a run: a table in Markdown, and the observations of the subject of each violation.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::check::{CheckReport, Invariant, Violation};
use crate::observations::{Observation, ObservationKind};

/// The most violations of each invariant that are reported with their observations.
const REPORTED: usize = 3;
/// The most events of one subject that are shown: the first and the last ones.
const SHOWN: usize = 40;

/// One campaign and its result.
pub struct Campaign {
    /// The name of the backend: `sqlite` or `postgres`.
    pub backend: &'static str,
    /// The fault of each window. Window 0 is the start, before any fault.
    pub faults: Vec<&'static str>,
    /// The observations of all windows, in the order in which they were recorded.
    pub events: Vec<Observation>,
    /// The result of the check.
    pub verdict: CheckReport,
}

#[derive(Default)]
struct CampaignRow {
    times: usize,
    acknowledged: usize,
    lost: usize,
    double: usize,
    other: usize,
}

impl Campaign {
    /// Whether there were no violations, and at least one acknowledgement.
    pub fn passed(&self) -> bool {
        self.verdict.violations.is_empty() && self.verdict.acknowledged.values().sum::<usize>() > 0
    }

    /// The number of violations of an invariant.
    pub fn violated(&self, invariant: Invariant) -> usize {
        self.verdict.violations.iter().filter(|found| found.invariant == invariant).count()
    }

    fn rows(&self) -> BTreeMap<&'static str, CampaignRow> {
        let mut rows: BTreeMap<&'static str, CampaignRow> = BTreeMap::new();
        let fault = |window: usize| self.faults.get(window).copied().unwrap_or("none");
        for name in &self.faults {
            rows.entry(name).or_default().times += 1;
        }
        for (window, acknowledged) in &self.verdict.acknowledged {
            rows.entry(fault(*window)).or_default().acknowledged += acknowledged;
        }
        for violation in &self.verdict.violations {
            let row = rows.entry(fault(violation.window)).or_default();
            match violation.invariant {
                Invariant::Lost => row.lost += 1,
                Invariant::Double => row.double += 1,
                _ => row.other += 1,
            }
        }
        rows
    }
}

/// The table of all campaigns, in Markdown.
pub fn table(campaigns: &[Campaign]) -> String {
    let mut text = String::from(
        "| backend | fault | injected | acknowledged | lost | double | other violations |\n\
         |---|---|---:|---:|---:|---:|---:|\n",
    );
    for campaign in campaigns {
        let mut all = CampaignRow::default();
        for (fault, row) in campaign.rows() {
            let CampaignRow { times, acknowledged, lost, double, other } = row;
            let injected = if fault == "none" { String::new() } else { times.to_string() };
            let backend = campaign.backend;
            let _ = writeln!(
                text,
                "| {backend} | {fault} | {injected} | {acknowledged} | {lost} | {double} | {other} |"
            );
            all.times += if fault == "none" { 0 } else { times };
            all.acknowledged += acknowledged;
            all.lost += lost;
            all.double += double;
            all.other += other;
        }
        let CampaignRow { times, acknowledged, lost, double, other } = all;
        let _ = writeln!(
            text,
            "| {} | **all** | **{times}** | **{acknowledged}** | **{lost}** | **{double}** | **{other}** |",
            campaign.backend
        );
    }
    text
}

/// Each violation with the observations of its subject. Empty if there are none.
pub fn violations(campaign: &Campaign) -> String {
    let mut text = String::new();
    let found = &campaign.verdict.violations;
    let mut reported: BTreeMap<Invariant, usize> = BTreeMap::new();
    for violation in found {
        let times = reported.entry(violation.invariant).or_default();
        *times += 1;
        if *times > REPORTED {
            continue;
        }
        let Violation { invariant, subject, window, found } = violation;
        let fault = campaign.faults.get(*window).copied().unwrap_or("none");
        let of = subject.as_deref().unwrap_or("the server");
        let _ = writeln!(
            text,
            "{}: {invariant:?}: {of}: {found} (window {window}, {fault})",
            campaign.backend
        );
        if let Some(subject) = subject {
            history(campaign, subject, &mut text);
        }
    }
    for (invariant, times) in reported.into_iter().filter(|(_, times)| *times > REPORTED) {
        let _ = writeln!(text, "{}: {invariant:?}: {times} times in all", campaign.backend);
    }
    text
}

fn history(campaign: &Campaign, subject: &str, text: &mut String) {
    let about: Vec<&Observation> = campaign
        .events
        .iter()
        .filter(|event| {
            event.what.subject() == Some(subject) || matches!(event.what, ObservationKind::Fault(_))
        })
        .collect();
    // Faults far from the events of the subject are irrelevant to it.
    let own = |event: &&&Observation| event.what.subject() == Some(subject);
    let first = about.iter().find(own).map_or(0, |event| event.window);
    let last = about.iter().rev().find(own).map_or(0, |event| event.window);
    let about: Vec<&&Observation> = about
        .iter()
        .filter(|event| (first.saturating_sub(1)..=last.saturating_add(1)).contains(&event.window))
        .collect();
    let skipped = about.len().saturating_sub(SHOWN);
    for (n, event) in about.iter().enumerate() {
        if n == SHOWN / 2 && skipped > 0 {
            let _ = writeln!(text, "    … {skipped} more …");
        }
        if n < SHOWN / 2 || n >= SHOWN / 2 + skipped {
            let _ = writeln!(text, "    {event}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::check;
    use crate::observations::ObservationLog;

    #[test]
    fn a_violation_is_counted_under_its_fault_and_reported_with_its_history() {
        let history = ObservationLog::default();
        history.next_window();
        history.add(ObservationKind::Fault("power loss".to_owned()));
        let (ask, key) = ("ask_1".to_owned(), "k".to_owned());
        history.add(ObservationKind::Created { ask, key, prompt: "Deploy?".to_owned() });
        let events = history.events();
        let verdict = check(&events);
        let faults = vec!["none", "power-loss"];
        let campaign = Campaign { backend: "sqlite", faults, events, verdict };
        assert!(!campaign.passed());
        assert!(violations(&campaign).contains("sqlite: Lost: ask_1: the ask is gone"));
        assert!(violations(&campaign).contains("Created { ask: \"ask_1\""));
        let campaigns = [campaign];
        assert!(table(&campaigns).contains("| sqlite | power-loss | 1 | 1 | 1 | 0 | 0 |"));
        assert!(table(&campaigns).contains("| sqlite | **all** | **1** | **1** | **1** |"));
    }

    #[test]
    fn a_run_without_work_does_not_pass() {
        let (events, verdict) = (Vec::new(), CheckReport::default());
        assert!(!Campaign { backend: "sqlite", faults: Vec::new(), events, verdict }.passed());
    }
}
