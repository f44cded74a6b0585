//! Statistics about the claims of agents and the decisions of people, as charts and tables.

use askama::Template;
use kernel::insight::summary::{Calibration, VerdictCounts};
use kernel::insight::{Day, Histogram, InsightSummary, LEAST_DECISIONS, Span};

use crate::components::charts::{
    Chart, ChartShape, ChartValue, WIDTH, bars, columns, day_label, grouped, number, percent,
    short_day_label, trend,
};
use crate::components::query::{FilterField, PageQuery};
use crate::site::{assets, paths};
use crate::{PageContext, locale, render};
use kernel::insight::access::{FilterChoices, Insights, MOST_AGENTS};

/// The query parameters of the page, in the order of its form.
pub const QUERY_PARAMETERS: [&str; 3] = ["project", "agent", "days"];
/// The selectable periods, in days.
pub const SPANS: [u16; 4] = [7, 30, 90, 365];
/// The default period, in days.
pub const DEFAULT_SPAN: u16 = 30;

/// The input of the page.
#[derive(Debug, Clone, Copy)]
pub struct InsightsPage<'a> {
    /// The filter of the page.
    pub query: &'a PageQuery,
    /// The available filter values.
    pub choices: &'a FilterChoices,
    pub from: Day,
    pub to: Day,
    /// The statistics; `None` if the person may not see any.
    pub found: Option<&'a Insights>,
}

/// Renders the page as HTML.
pub fn page(frame: &PageContext, view: &InsightsPage<'_>) -> String {
    let none = Insights { summary: InsightSummary::default(), agents: Vec::new() };
    let found = view.found.unwrap_or(&none);
    let summary = &found.summary;
    let span = |days: u16| {
        let chosen =
            view.query.get("days").map_or(days == DEFAULT_SPAN, |text| text == days.to_string());
        let href = view.query.with("days", days.to_string()).href(paths::INSIGHTS);
        (href, days, chosen)
    };
    let choices = &view.choices;
    let named = |id: String| (id.clone(), id);
    let projects = choices.projects.iter().map(|id| named(id.to_string()));
    let agents = choices.agents.iter().map(|id| named(id.to_string()));
    render(&InsightsTemplate {
        frame,
        pickers: vec![
            FilterField::new(
                ("project", t!("common-project"), t!("filter-every-project")),
                projects,
                view.query,
            ),
            FilterField::new(
                ("agent", t!("common-agent"), t!("filter-every-agent")),
                agents,
                view.query,
            ),
        ],
        days: view.query.get("days").map(str::to_owned),
        spans: SPANS.map(span).to_vec(),
        narrowed: view.query.pairs().iter().any(|(name, _)| *name != "days"),
        plain_href: view.query.without(&["project", "agent"]).href(paths::INSIGHTS),
        missing: view.found.is_none(),
        empty: summary.asks() == 0 && summary.ended.total() == 0,
        from: day_label(view.from),
        to: day_label(view.to),
        tiles: tiles(summary),
        charts: charts(summary),
        agents: found
            .agents
            .iter()
            .map(|(project, agent, own)| AgentInsightsRow::of(project, agent, own))
            .collect(),
        hidden: calibration_hint(&summary.calibration),
    })
}

#[derive(Template)]
#[template(path = "insights/insights.html")]
struct InsightsTemplate<'a> {
    frame: &'a PageContext,
    pickers: Vec<FilterField>,
    days: Option<String>,
    spans: Vec<(String, u16, bool)>,
    narrowed: bool,
    plain_href: String,
    missing: bool,
    empty: bool,
    from: String,
    to: String,
    tiles: Vec<Tile>,
    charts: Vec<Chart>,
    agents: Vec<AgentInsightsRow>,
    hidden: Option<String>,
}

/// A single number with its label.
struct Tile {
    label: String,
    value: String,
    more: String,
}

/// One agent in the comparison.
struct AgentInsightsRow {
    agent: String,
    project: String,
    cells: [String; 6],
}

impl AgentInsightsRow {
    fn of(project: &kernel::ProjectId, agent: &kernel::AgentId, own: &InsightSummary) -> Self {
        let VerdictCounts { edited, overruled, .. } = own.verdicts;
        let decided = own.verdicts.decided();
        let ended = own.ended;
        let opened = own.reading.read + own.reading.hasty;
        Self {
            agent: agent.to_string(),
            project: project.to_string(),
            cells: [
                grouped(decided),
                share_of(edited, decided),
                share_of(overruled, decided),
                calibration_words(&own.calibration),
                share_of(own.reading.hasty, opened),
                share_of(ended.unanswered(), ended.total()),
            ],
        }
    }
}

/// An agent's stated confidence, compared with the share of its requests that people
/// did not overrule.
fn calibration_words(calibration: &Calibration) -> String {
    let Some(tenths) = calibration.tenths else {
        return t!("insights-after-decisions", n = LEAST_DECISIONS);
    };
    let mut sure = 0.0;
    let mut overruled = 0;
    for (middle, (decisions, against)) in (0_u8..).zip(tenths) {
        sure += number(decisions) * (f64::from(middle) + 0.5) / 10.0;
        overruled += against;
    }
    let all = number(calibration.decisions);
    let kept = 1.0 - number(overruled) / all;
    t!("insights-calibration", claimed = percent(sure / all), kept = percent(kept))
}

/// A part of a whole, in words.
fn share_of(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    let share = percent(number(part) / number(whole));
    t!("insights-share-of", share = share, part = part, whole = whole)
}

/// A duration in words.
fn duration_words(seconds: f64) -> String {
    let whole = |n: f64| format!("{n:.0}");
    let tenths = |n: f64| {
        let n = format!("{n:.1}");
        locale::decimal(&n).unwrap_or(n)
    };
    match seconds {
        s if s < 1.0 => t!("duration-under-a-second"),
        s if s < 90.0 => t!("duration-seconds", n = whole(s)),
        s if s < 5_400.0 => t!("duration-minutes", n = whole(s / 60.0)),
        s if s < 129_600.0 => t!("duration-hours", n = tenths(s / 3_600.0)),
        s => t!("duration-days", n = tenths(s / 86_400.0)),
    }
}

fn span_label(span: Span) -> String {
    match span.to {
        Some(to) => format!("≤ {}", short(to)),
        None => format!("> {}", short(span.from)),
    }
}

fn short(seconds: u64) -> String {
    match seconds {
        s if s < 60 => t!("duration-short-seconds", n = s),
        s if s < 3_600 => t!("duration-short-minutes", n = s / 60),
        s if s < 86_400 => t!("duration-short-hours", n = s / 3_600),
        s => t!("duration-short-days", n = s / 86_400),
    }
}

fn tiles(summary: &InsightSummary) -> Vec<Tile> {
    let rate = |share: Option<f64>| share.map_or_else(|| "–".to_owned(), percent);
    let middle = |whiles: &Histogram| {
        let value = whiles.percentile(0.5).map_or_else(|| "–".to_owned(), duration_words);
        let most = whiles
            .percentile(0.9)
            .map(|most| t!("insights-nine-of-ten", duration = duration_words(most)));
        (value, most.unwrap_or_default())
    };
    let (seen, seen_most) = middle(&summary.first_view);
    let (decided, decided_most) = middle(&summary.decision);
    let (ended, verdicts, reading) = (summary.ended, summary.verdicts, summary.reading);
    let tile = |label, value, more| Tile { label, value, more };
    let recommended = |n: u64| t!("insights-of-recommendations", n = n, all = verdicts.decided());
    let opened = reading.hasty + reading.read;
    vec![
        tile(
            t!("insights-requests"),
            grouped(summary.asks()),
            t!("insights-closed", n = ended.total()),
        ),
        tile(t!("insights-first-view"), seen, seen_most),
        tile(t!("insights-decision"), decided, decided_most),
        tile(
            t!("insights-expired"),
            rate(ended.expiry_rate()),
            t!("insights-of", n = ended.unanswered(), all = ended.total()),
        ),
        tile(t!("insights-edited"), rate(verdicts.edit_rate()), recommended(verdicts.edited)),
        tile(
            t!("insights-overruled"),
            rate(verdicts.overrule_rate()),
            recommended(verdicts.overruled),
        ),
        tile(
            t!("insights-rushed"),
            rate(reading.hasty_rate()),
            t!("insights-of-opened", n = reading.hasty, all = opened),
        ),
    ]
}

/// A chart from its drawing and its table.
fn chart(
    (id, title): (&'static str, String),
    says: String,
    (height, marks): (u32, Vec<ChartShape>),
    head: Vec<String>,
    rows: Vec<Vec<String>>,
) -> Chart {
    Chart { id, title, says, height, marks, head, rows }
}

/// A chart whose table has one number per part.
fn count_chart(
    named: (&'static str, String),
    says: String,
    drawn: (u32, Vec<ChartShape>),
    head: [String; 2],
    parts: &[ChartValue],
) -> Chart {
    let rows = parts.iter().map(|part| vec![part.label.clone(), part.shown.clone()]).collect();
    chart(named, says, drawn, Vec::from(head), rows)
}

/// The most frequent value, in the sentence of `says`: its label, its number, and the total.
fn most_frequent(parts: &[ChartValue], says: impl Fn(&str, &str, u64) -> String) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    let total = parts.iter().map(|part| part.n).sum::<f64>() as u64;
    let most = parts.iter().filter(|part| part.n > 0.0).max_by(|a, b| a.n.total_cmp(&b.n));
    match most {
        None => t!("insights-nothing-counted"),
        Some(most) => says(&most.label, &most.shown, total),
    }
}

fn most_requests(label: &str, n: &str, total: u64) -> String {
    t!("insights-most-requests", label = label, n = n, total = total)
}

fn most_messages(label: &str, n: &str, total: u64) -> String {
    t!("insights-most-messages", label = label, n = n, total = total)
}

fn most_answers(label: &str, n: &str, total: u64) -> String {
    t!("insights-most-answers", label = label, n = n, total = total)
}

fn charts(summary: &InsightSummary) -> Vec<Chart> {
    let mut charts = vec![per_day(summary), endings(summary)];
    charts.extend([intents(summary), confidence(summary), load(summary), refusals(summary)]);
    charts.push(actions(summary));
    charts.push(durations(("first-view", t!("insights-first-view")), &summary.first_view));
    charts.push(durations(("decision", t!("insights-decision")), &summary.decision));
    charts.extend([verdicts(summary), reading(summary)]);
    charts.extend(calibration(&summary.calibration));
    charts
}

fn per_day(summary: &InsightSummary) -> Chart {
    let days: Vec<ChartValue> =
        summary.days.iter().map(|day| ChartValue::count(day_label(day.day), day.asked)).collect();
    let busiest = days.iter().max_by(|a, b| a.n.total_cmp(&b.n)).filter(|day| day.n > 0.0);
    let says = busiest.map_or_else(
        || t!("insights-no-requests"),
        |day| t!("insights-per-day-says", n = summary.asks(), day = day.label, most = day.shown),
    );
    let rows = summary
        .days
        .iter()
        .filter(|day| day.asked + day.ended > 0)
        .map(|day| vec![day_label(day.day), grouped(day.asked), grouped(day.ended)]);
    // The label omits the year, because there is no room for it.
    let short: Vec<ChartValue> = summary
        .days
        .iter()
        .map(|day| ChartValue::count(short_day_label(day.day), day.asked))
        .collect();
    let drawn = columns(&short, None);
    chart(
        ("per-day", t!("insights-per-day")),
        says,
        drawn,
        vec![t!("insights-day"), t!("insights-requests"), t!("insights-closed-column")],
        rows.collect(),
    )
}

fn endings(summary: &InsightSummary) -> Chart {
    let ended = summary.ended;
    let parts = [
        ChartValue::count(t!("insights-ended-answered"), ended.answered).toned("yes"),
        ChartValue::count(t!("insights-ended-defaulted"), ended.defaulted).toned("warn"),
        ChartValue::count(t!("insights-ended-expired"), ended.expired).toned("warn"),
        ChartValue::count(t!("insights-ended-failed"), ended.failed).toned("no"),
        ChartValue::count(t!("insights-ended-withdrawn"), ended.cancelled),
    ];
    let says = most_frequent(&parts, most_requests);
    count_chart(
        ("ended", t!("insights-ended")),
        says,
        bars(&parts, None),
        [t!("insights-outcome"), t!("insights-requests")],
        &parts,
    )
}

fn intents(summary: &InsightSummary) -> Chart {
    let mut parts: Vec<ChartValue> = summary
        .intents
        .iter()
        .map(|(name, n)| ChartValue::count(readable_name(name), *n).toned("agents"))
        .collect();
    parts.sort_by(|a, b| b.n.total_cmp(&a.n));
    let says = most_frequent(&parts, most_messages);
    let named = ("intents", t!("insights-intents"));
    let head = [t!("insights-intent"), t!("insights-messages")];
    count_chart(named, says, bars(&parts, None), head, &parts)
}

/// A protocol's name as people read it.
fn readable_name(name: &str) -> String {
    let mut words = name.replace('_', " ");
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    words
}

fn tenth(n: u32) -> String {
    t!("percent", n = format!("{}–{}", n * 10, n * 10 + 10))
}

fn confidence(summary: &InsightSummary) -> Chart {
    let parts: Vec<ChartValue> = (0_u32..)
        .zip(summary.confidence)
        .map(|(n, count)| ChartValue::count(tenth(n), count).toned("agents"))
        .collect();
    let says = most_frequent(&parts, most_messages);
    // There is only room for the lower bound below a column.
    let short: Vec<ChartValue> = (0_u32..)
        .zip(&parts)
        .map(|(n, part)| ChartValue { label: format!("{}", n * 10), ..part.clone() })
        .collect();
    let named = ("confidence", t!("insights-confidence"));
    let head = [t!("claims-confidence"), t!("insights-messages")];
    count_chart(named, says, columns(&short, None), head, &parts)
}

fn load(summary: &InsightSummary) -> Chart {
    let shown = |load: f64| {
        let load = format!("{load:.1}");
        locale::decimal(&load).unwrap_or(load)
    };
    let days: Vec<(Day, Option<f64>)> =
        summary.days.iter().map(|day| (day.day, day.load)).collect();
    let known: Vec<f64> = days.iter().filter_map(|(_, load)| *load).collect();
    let says = match (known.first(), known.last()) {
        (Some(first), Some(last)) => {
            t!("insights-complexity-says", first = shown(*first), last = shown(*last))
        }
        _ => t!("insights-no-complexity"),
    };
    let rows =
        summary.days.iter().filter_map(|day| Some(vec![day_label(day.day), shown(day.load?)]));
    let head = vec![t!("insights-day"), t!("insights-average-complexity")];
    let named = ("load", t!("insights-complexity"));
    chart(named, says, trend(&days, 1.0, 10.0), head, rows.collect())
}

fn refusals(summary: &InsightSummary) -> Chart {
    let reason = |kind: &str, severity: &str| {
        let kind =
            if kind == "unsaid" { t!("insights-refusal-no-reason") } else { readable_name(kind) };
        match severity {
            "soft" => t!("insights-refusal-soft", kind = kind),
            "hard" => t!("insights-refusal-hard", kind = kind),
            _ => kind,
        }
    };
    let parts: Vec<ChartValue> = summary
        .refusals
        .iter()
        .map(|(kind, severity, n)| ChartValue::count(reason(kind, severity), *n).toned("agents"))
        .collect();
    let says = match summary.refusal_rate() {
        Some(rate) if summary.refused() > 0 => {
            t!("insights-refusals-says", n = summary.refused(), rate = percent(rate))
        }
        _ => t!("insights-no-refusals"),
    };
    let named = ("refusals", t!("insights-refusals"));
    let head = [t!("insights-reason"), t!("insights-messages")];
    count_chart(named, says, bars(&parts, None), head, &parts)
}

fn actions(summary: &InsightSummary) -> Chart {
    let part = |action: &kernel::insight::summary::ActionSummary| {
        let share = action.rate().unwrap_or_default();
        let shown = share_of(action.picked, action.shown.max(action.picked));
        ChartValue::share(readable_name(action.kind), share, shown)
    };
    let parts: Vec<ChartValue> = summary.actions.iter().map(part).collect();
    let picked: u64 = summary.actions.iter().map(|action| action.picked).sum();
    let shown: u64 = summary.actions.iter().map(|action| action.shown).sum();
    let says = if shown + picked == 0 {
        t!("insights-no-actions")
    } else {
        t!("insights-actions-says", shown = shown, picked = picked)
    };
    let rows = summary.actions.iter().map(|action| {
        vec![readable_name(action.kind), grouped(action.shown), grouped(action.picked)]
    });
    let head = vec![t!("insights-action"), t!("insights-shown"), t!("insights-picked")];
    let named = ("actions", t!("insights-actions"));
    chart(named, says, bars(&parts, Some(1.0)), head, rows.collect())
}

fn durations(named: (&'static str, String), whiles: &Histogram) -> Chart {
    let parts: Vec<ChartValue> =
        whiles.bins().map(|(span, n)| ChartValue::count(span_label(span), n)).collect();
    let says = match (whiles.percentile(0.5), whiles.percentile(0.9)) {
        (Some(half), Some(most)) => {
            let (half, most) = (duration_words(half), duration_words(most));
            t!("insights-durations-says", half = half, most = most)
        }
        _ => t!("insights-nothing-counted"),
    };
    let head = [t!("insights-duration"), t!("insights-requests")];
    count_chart(named, says, columns(&parts, None), head, &parts)
}

fn verdicts(summary: &InsightSummary) -> Chart {
    let verdicts = summary.verdicts;
    let parts = [
        ChartValue::count(t!("insights-verdict-followed"), verdicts.followed).toned("yes"),
        ChartValue::count(t!("insights-verdict-edited"), verdicts.edited).toned("warn"),
        ChartValue::count(t!("insights-verdict-overruled"), verdicts.overruled).toned("no"),
        ChartValue::count(t!("insights-verdict-open"), verdicts.open),
    ];
    let says = most_frequent(&parts, most_answers);
    let named = ("verdicts", t!("insights-verdicts"));
    let head = [t!("insights-decision-column"), t!("insights-answers")];
    count_chart(named, says, bars(&parts, None), head, &parts)
}

fn reading(summary: &InsightSummary) -> Chart {
    let reading = summary.reading;
    let parts = [
        ChartValue::count(t!("insights-reading-read"), reading.read).toned("yes"),
        ChartValue::count(t!("insights-rushed"), reading.hasty).toned("warn"),
        ChartValue::count(t!("insights-reading-unopened"), reading.unopened),
    ];
    let says = most_frequent(&parts, most_answers);
    let named = ("reading", t!("insights-reading"));
    let head = [t!("insights-reading-column"), t!("insights-answers")];
    count_chart(named, says, bars(&parts, None), head, &parts)
}

fn calibration(calibration: &Calibration) -> Option<Chart> {
    let tenths = calibration.tenths?;
    let mut parts = Vec::new();
    let mut rows = Vec::new();
    for (n, (decisions, overruled)) in (0_u32..).zip(tenths) {
        let share = if decisions == 0 { 0.0 } else { number(overruled) / number(decisions) };
        let shown = if decisions == 0 { String::new() } else { percent(share) };
        parts.push(ChartValue::share(format!("{}", n * 10), share, shown).toned("no"));
        rows.push(vec![tenth(n), grouped(decisions), grouped(overruled)]);
    }
    let overruled: u64 = tenths.iter().map(|(_, overruled)| overruled).sum();
    let says = t!("insights-calibration-says", n = overruled, all = calibration.decisions);
    let named = ("calibration", t!("insights-calibration-title"));
    let head = vec![t!("claims-confidence"), t!("insights-decisions"), t!("insights-overruled")];
    Some(chart(named, says, columns(&parts, Some(1.0)), head, rows))
}

/// Why there is no calibration chart, if there is none.
fn calibration_hint(calibration: &Calibration) -> Option<String> {
    let n = calibration.decisions;
    calibration
        .tenths
        .is_none()
        .then(|| t!("insights-calibration-hint", least = LEAST_DECISIONS, n = n))
}
