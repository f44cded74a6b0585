//! `GET /api/v1/insights`: statistics about agents' claims and people's answers.

use std::collections::BTreeMap;

use kernel::insight::summary::{Calibration, EndingCounts, ReadingCounts, VerdictCounts};
use kernel::insight::{Day, Histogram, InsightSummary};
use kernel::{AgentId, ProjectId};
use serde::{Deserialize, Serialize};

/// The figures of a range of days.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Insights))]
pub struct InsightsView {
    /// The first day, in UTC.
    #[cfg_attr(feature = "openapi", schema(format = Date))]
    pub from: String,
    /// The last day, inclusive.
    #[cfg_attr(feature = "openapi", schema(format = Date))]
    pub to: String,
    /// Only of this project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// Only of this agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// The number of asks.
    pub asks: u64,
    /// The number of asks by protocol.
    pub dialects: BTreeMap<String, u64>,
    /// The number of asks by the level of their envelope: `none`, `invalid`, `core`, `standard`,
    /// `full`.
    pub envelopes: BTreeMap<String, u64>,
    /// The intents of messages, in the order of the specification; `other` is everything else.
    pub intents: Vec<IntentCount>,
    /// The claimed confidence, in tenths.
    pub confidence: Vec<ShareCount>,
    /// The claimed cognitive load.
    pub load: Vec<LoadCount>,
    /// Day by day.
    pub days: Vec<DayView>,
    /// The messages in which agents refuse.
    pub refusals: RefusalsView,
    /// The actions that agents offered and people picked, by type; `other` is everything else.
    pub actions: Vec<ActionView>,
    /// The time from the ask to its first view.
    pub first_view: WaitView,
    /// The time from the ask to a person's decision.
    pub decision: WaitView,
    /// The outcomes of asks.
    pub ended: EndedView,
    /// How people decided on the agents' recommendations.
    pub verdicts: VerdictsView,
    /// The claimed confidence compared with how often people overruled it.
    pub calibration: CalibrationView,
    /// Whether the people who decided had enough time to read.
    pub reading: ReadingView,
    /// The figures of each agent, if agents are compared; the first hundred by name.
    pub agents: Vec<AgentInsights>,
}

/// One intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct IntentCount {
    /// The intent.
    pub intent: String,
    /// The number of occurrences.
    pub n: u64,
}

/// One bin of shares.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ShareCount {
    /// The lower bound.
    pub from: f64,
    /// The upper bound.
    pub to: f64,
    /// The number of occurrences.
    pub n: u64,
}

/// One load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LoadCount {
    /// From 1 to 10.
    pub load: u64,
    /// The number of occurrences.
    pub n: u64,
}

/// One day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DayView {
    /// The day, in UTC.
    #[cfg_attr(feature = "openapi", schema(format = Date))]
    pub day: String,
    /// The number of new asks.
    pub asked: u64,
    /// The number of asks that were closed.
    pub ended: u64,
    /// The mean of the claimed load; `null` without any claims.
    pub load: Option<f64>,
}

/// Refusals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RefusalsView {
    /// The number.
    pub n: u64,
    /// The share among messages with an envelope.
    pub rate: Option<f64>,
    /// The reasons by type and severity.
    pub reasons: Vec<RefusalReason>,
}

/// A reason for which agents refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RefusalReason {
    /// `safety`, `legal`, `capability`, `policy`, `unknown`, or `unsaid`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `soft`, `hard`, or `unsaid`.
    pub severity: String,
    /// The number of occurrences.
    pub n: u64,
}

/// One type of action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ActionCount))]
pub struct ActionView {
    /// The type.
    #[serde(rename = "type")]
    pub kind: String,
    /// How often such an action was offered when an ask was first viewed.
    pub shown: u64,
    /// How often such an action was picked.
    pub picked: u64,
    /// The share that was picked.
    pub rate: Option<f64>,
}

/// The distribution of a duration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Wait))]
pub struct WaitView {
    /// The number.
    pub n: u64,
    /// The median in seconds, estimated from the bins.
    pub median_seconds: Option<f64>,
    /// The 90th percentile in seconds, estimated from the bins.
    pub p90_seconds: Option<f64>,
    /// The number per bin.
    pub bins: Vec<WaitCount>,
}

/// One bin of durations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WaitCount {
    /// The lower bound in seconds, exclusive.
    pub from: u64,
    /// The upper bound in seconds, inclusive; `null` in the last bin.
    pub to: Option<u64>,
    /// The number.
    pub n: u64,
}

/// The outcomes of asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = EndedCounts))]
pub struct EndedView {
    /// A person answered.
    pub answered: u64,
    /// There was no answer, and the agent's default was taken.
    pub defaulted: u64,
    /// There was no answer, and the agent was instructed what to do.
    pub expired: u64,
    /// There was no answer, which counts as a failure.
    pub failed: u64,
    /// The ask was cancelled.
    pub cancelled: u64,
    /// The share without an answer in time.
    pub expiry_rate: Option<f64>,
}

/// How people decided on the agents' recommendations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = VerdictCounts))]
pub struct VerdictsView {
    /// Decided as recommended.
    pub followed: u64,
    /// Approved with changes.
    pub edited: u64,
    /// Rejected, sent back, or something else chosen.
    pub overruled: u64,
    /// Answered without a recommendation.
    pub open: u64,
    /// The share that was changed.
    pub edit_rate: Option<f64>,
    /// The share that was overruled.
    pub overrule_rate: Option<f64>,
}

/// The claimed confidence compared with how often people overruled it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Calibration))]
pub struct CalibrationView {
    /// Decisions on recommendations with a claimed confidence.
    pub decisions: u64,
    /// The bins by claimed confidence; `null` with fewer than 20 decisions.
    pub bins: Option<Vec<CalibrationBin>>,
}

/// The decisions on recommendations with such a confidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CalibrationBin {
    /// The lower bound.
    pub from: f64,
    /// The upper bound.
    pub to: f64,
    /// The number.
    pub decisions: u64,
    /// How many of them overruled the agent.
    pub overruled: u64,
}

/// Whether the people who decided had enough time to read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ReadingCounts))]
pub struct ReadingView {
    /// Decided after enough time to read.
    pub read: u64,
    /// Decided sooner after the first view than the text can be read.
    pub hasty: u64,
    /// Answered without a view, from a message or by a program.
    pub unopened: u64,
    /// The share of hasty decisions among the viewed asks.
    pub hasty_rate: Option<f64>,
}

/// The figures of one agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AgentInsights {
    /// The ID of the agent.
    pub agent: AgentId,
    /// The project of the agent.
    pub project: ProjectId,
    /// The outcomes of its asks.
    pub ended: EndedView,
    /// How people decided on its recommendations.
    pub verdicts: VerdictsView,
    /// Its claims compared with the decisions of people.
    pub calibration: CalibrationView,
    /// Whether people had enough time to read.
    pub reading: ReadingView,
}

impl InsightsView {
    /// The summary of these days, without personal data.
    pub fn of(summary: &InsightSummary, from: Day, to: Day) -> Self {
        let texts = |counts: &[(&'static str, u64)]| {
            counts.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect()
        };
        let load = (1..).zip(summary.load).map(|(load, n)| LoadCount { load, n });
        let day = |day: &kernel::insight::summary::DaySummary| DayView {
            day: day.day.to_string(),
            asked: day.asked,
            ended: day.ended,
            load: day.load,
        };
        let action = |action: &kernel::insight::summary::ActionSummary| ActionView {
            kind: action.kind.to_owned(),
            shown: action.shown,
            picked: action.picked,
            rate: action.rate(),
        };
        let reason = |(kind, severity, n): &(&str, &str, u64)| RefusalReason {
            kind: (*kind).to_owned(),
            severity: (*severity).to_owned(),
            n: *n,
        };
        let intent =
            |(intent, n): &(&str, u64)| IntentCount { intent: (*intent).to_owned(), n: *n };
        Self {
            from: from.to_string(),
            to: to.to_string(),
            project: None,
            agent: None,
            asks: summary.asks(),
            dialects: summary.asked.iter().cloned().collect(),
            envelopes: texts(&summary.envelopes),
            intents: summary.intents.iter().map(intent).collect(),
            confidence: tenths()
                .zip(summary.confidence)
                .map(|((from, to), n)| ShareCount { from, to, n })
                .collect(),
            load: load.collect(),
            days: summary.days.iter().map(day).collect(),
            refusals: RefusalsView {
                n: summary.refused(),
                rate: summary.refusal_rate(),
                reasons: summary.refusals.iter().map(reason).collect(),
            },
            actions: summary.actions.iter().map(action).collect(),
            first_view: WaitView::of(&summary.first_view),
            decision: WaitView::of(&summary.decision),
            ended: EndedView::of(&summary.ended),
            verdicts: VerdictsView::of(&summary.verdicts),
            calibration: CalibrationView::of(&summary.calibration),
            reading: ReadingView::of(&summary.reading),
            agents: Vec::new(),
        }
    }
}

impl AgentInsights {
    /// The summary of one agent.
    pub fn of(project: ProjectId, agent: AgentId, summary: &InsightSummary) -> Self {
        Self {
            agent,
            project,
            ended: EndedView::of(&summary.ended),
            verdicts: VerdictsView::of(&summary.verdicts),
            calibration: CalibrationView::of(&summary.calibration),
            reading: ReadingView::of(&summary.reading),
        }
    }
}

/// The bounds of each tenth.
fn tenths() -> impl Iterator<Item = (f64, f64)> {
    (0_u8..10).map(|n| (f64::from(n) / 10.0, f64::from(n + 1) / 10.0))
}

impl WaitView {
    fn of(whiles: &Histogram) -> Self {
        let bin =
            |(span, n): (kernel::insight::Span, u64)| WaitCount { from: span.from, to: span.to, n };
        Self {
            n: whiles.total(),
            median_seconds: whiles.percentile(0.5),
            p90_seconds: whiles.percentile(0.9),
            bins: whiles.bins().map(bin).collect(),
        }
    }
}

impl EndedView {
    fn of(ended: &EndingCounts) -> Self {
        let EndingCounts { answered, defaulted, expired, failed, cancelled } = *ended;
        let expiry_rate = ended.expiry_rate();
        Self { answered, defaulted, expired, failed, cancelled, expiry_rate }
    }
}

impl VerdictsView {
    fn of(verdicts: &VerdictCounts) -> Self {
        let VerdictCounts { followed, edited, overruled, open } = *verdicts;
        let (edit_rate, overrule_rate) = (verdicts.edit_rate(), verdicts.overrule_rate());
        Self { followed, edited, overruled, open, edit_rate, overrule_rate }
    }
}

impl CalibrationView {
    fn of(calibration: &Calibration) -> Self {
        let bin = |((from, to), (decisions, overruled)): ((f64, f64), (u64, u64))| CalibrationBin {
            from,
            to,
            decisions,
            overruled,
        };
        let bins = calibration.tenths.map(|counts| tenths().zip(counts).map(bin).collect());
        Self { decisions: calibration.decisions, bins }
    }
}

impl ReadingView {
    fn of(reading: &ReadingCounts) -> Self {
        let ReadingCounts { read, hasty, unopened } = *reading;
        Self { read, hasty, unopened, hasty_rate: reading.hasty_rate() }
    }
}
