//! `GET /api/v1/insights`: statistics about agents' claims and people's answers.

use std::collections::BTreeMap;

use kernel::insight::summary::{Calibration, EndingCounts, ReadingCounts, VerdictCounts};
use kernel::insight::{Day, Histogram, InsightSummary};
use kernel::{AgentId, ProjectId};
use serde::{Deserialize, Serialize};

/// Numbers of some days.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Insights))]
pub struct InsightsView {
    /// The first day, in UTC.
    #[cfg_attr(feature = "openapi", schema(format = Date))]
    pub from: String,
    /// The last day; it counts too.
    #[cfg_attr(feature = "openapi", schema(format = Date))]
    pub to: String,
    /// Only of this project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// Only of this agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// How many asks.
    pub asks: u64,
    /// How many, by the protocol they came in.
    pub dialects: BTreeMap<String, u64>,
    /// How many, by what their envelope tells: `none`, `invalid`, `core`, `standard`, `full`.
    pub envelopes: BTreeMap<String, u64>,
    /// What messages are for, in the order of the specification; `other` is everything else.
    pub intents: Vec<IntentCount>,
    /// Claimed confidence, in tenths.
    pub confidence: Vec<ShareCount>,
    /// Claimed cognitive load.
    pub load: Vec<LoadCount>,
    /// Day by day.
    pub days: Vec<DayView>,
    /// Messages by which agents refuse.
    pub refusals: RefusalsView,
    /// What agents offered and people picked, by type; `other` is everything else.
    pub actions: Vec<ActionView>,
    /// From the ask to the first look.
    pub first_view: WaitView,
    /// From the ask to the decision of a person.
    pub decision: WaitView,
    /// How asks ended.
    pub ended: EndedView,
    /// What people made of what agents recommended.
    pub verdicts: VerdictsView,
    /// Claimed confidence against how often people overruled it.
    pub calibration: CalibrationView,
    /// Whether whoever decided had the time to read.
    pub reading: ReadingView,
    /// The same by agent, as far as agents are compared; the first hundred by name.
    pub agents: Vec<AgentInsights>,
}

/// One intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct IntentCount {
    /// Which.
    pub intent: String,
    /// How often.
    pub n: u64,
}

/// One bin of shares.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ShareCount {
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// How often.
    pub n: u64,
}

/// One load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LoadCount {
    /// From 1 to 10.
    pub load: u64,
    /// How often.
    pub n: u64,
}

/// One day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DayView {
    /// Which, in UTC.
    #[cfg_attr(feature = "openapi", schema(format = Date))]
    pub day: String,
    /// How many asks.
    pub asked: u64,
    /// How many ended.
    pub ended: u64,
    /// The mean of the claimed load; none if none was claimed.
    pub load: Option<f64>,
}

/// Refusals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RefusalsView {
    /// How many.
    pub n: u64,
    /// The share among messages with an envelope.
    pub rate: Option<f64>,
    /// Why, and how firmly.
    pub reasons: Vec<RefusalReason>,
}

/// Why agents refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RefusalReason {
    /// `safety`, `legal`, `capability`, `policy`, `unknown`, or `unsaid`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `soft`, `hard`, or `unsaid`.
    pub severity: String,
    /// How often.
    pub n: u64,
}

/// One type of action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ActionCount))]
pub struct ActionView {
    /// Which.
    #[serde(rename = "type")]
    pub kind: String,
    /// How often one stood on an ask when somebody first looked.
    pub shown: u64,
    /// How often one of them was picked.
    pub picked: u64,
    /// The share that was picked.
    pub rate: Option<f64>,
}

/// How long something took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Wait))]
pub struct WaitView {
    /// How many.
    pub n: u64,
    /// What half of them did not exceed, as near as the bins tell.
    pub median_seconds: Option<f64>,
    /// What nine of ten did not exceed, as near as the bins tell.
    pub p90_seconds: Option<f64>,
    /// By how long.
    pub bins: Vec<WaitCount>,
}

/// One bin of whiles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WaitCount {
    /// Seconds where it begins; just there belongs to the one before.
    pub from: u64,
    /// Seconds where it ends; the last one has no end.
    pub to: Option<u64>,
    /// How many.
    pub n: u64,
}

/// How asks ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = EndedCounts))]
pub struct EndedView {
    /// A person answered.
    pub answered: u64,
    /// Nobody answered, and the agent's default was taken.
    pub defaulted: u64,
    /// Nobody answered; the agent was told what to do then.
    pub expired: u64,
    /// Nobody answered, which was a failure.
    pub failed: u64,
    /// Withdrawn.
    pub cancelled: u64,
    /// The share nobody answered in time.
    pub expiry_rate: Option<f64>,
}

/// What people made of what agents recommended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = VerdictCounts))]
pub struct VerdictsView {
    /// Done as recommended.
    pub followed: u64,
    /// Done with changes.
    pub edited: u64,
    /// Rejected, sent back, or something else chosen.
    pub overruled: u64,
    /// Answered where nothing was recommended.
    pub open: u64,
    /// The share that was changed.
    pub edit_rate: Option<f64>,
    /// The share that was overruled.
    pub overrule_rate: Option<f64>,
}

/// Claimed confidence against how often people overruled it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Calibration))]
pub struct CalibrationView {
    /// Decisions on recommendations with a claimed confidence.
    pub decisions: u64,
    /// By claimed confidence; none below 20 decisions.
    pub bins: Option<Vec<CalibrationBin>>,
}

/// Decisions on what was claimed with such a confidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CalibrationBin {
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// How many.
    pub decisions: u64,
    /// How many of them overruled the agent.
    pub overruled: u64,
}

/// Whether whoever decided had the time to read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ReadingCounts))]
pub struct ReadingView {
    /// They had.
    pub read: u64,
    /// Decided sooner after the first look than the text can be read.
    pub hasty: u64,
    /// Nobody opened it: it was answered from a message or by a program.
    pub unopened: u64,
    /// The share of hasty ones among those somebody opened.
    pub hasty_rate: Option<f64>,
}

/// One agent beside others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AgentInsights {
    /// Which.
    pub agent: AgentId,
    /// Of which project.
    pub project: ProjectId,
    /// How its asks ended.
    pub ended: EndedView,
    /// What people made of what it recommended.
    pub verdicts: VerdictsView,
    /// Its claims against what people did.
    pub calibration: CalibrationView,
    /// Whether people had the time to read.
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
