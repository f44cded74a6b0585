//! Statistics about the claims of agents and the decisions of people, as charts and tables.

use askama::Template;
use kernel::insight::summary::{Calibration, VerdictCounts};
use kernel::insight::{Day, Histogram, InsightSummary, LEAST_DECISIONS, Span};

use crate::components::charts::{
    Chart, ChartShape, ChartValue, WIDTH, bars, columns, grouped, number, trend,
};
use crate::components::query::{FilterField, PageQuery};
use crate::site::{assets, paths};
use crate::{PageContext, render};
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
            FilterField::new(("project", "Project", "Every project"), projects, view.query),
            FilterField::new(("agent", "Agent", "Every agent"), agents, view.query),
        ],
        days: view.query.get("days").map(str::to_owned),
        spans: SPANS.map(span).to_vec(),
        narrowed: view.query.pairs().iter().any(|(name, _)| *name != "days"),
        plain_href: view.query.without(&["project", "agent"]).href(paths::INSIGHTS),
        missing: view.found.is_none(),
        empty: summary.asks() == 0 && summary.ended.total() == 0,
        from: view.from.to_string(),
        to: view.to.to_string(),
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
    label: &'static str,
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
        return format!("after {LEAST_DECISIONS} decisions");
    };
    let mut sure = 0.0;
    let mut overruled = 0;
    for (middle, (decisions, against)) in (0_u8..).zip(tenths) {
        sure += number(decisions) * (f64::from(middle) + 0.5) / 10.0;
        overruled += against;
    }
    let all = number(calibration.decisions);
    let kept = 1.0 - number(overruled) / all;
    format!("claims {}, not overruled {}", percent(sure / all), percent(kept))
}

/// A part of a whole, in words.
fn share_of(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    let share = percent(number(part) / number(whole));
    format!("{share} ({} of {})", grouped(part), grouped(whole))
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// A count with its noun.
fn counted(n: u64, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{} {what}s", grouped(n)) }
}

/// A duration in words.
fn duration_words(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => "under 1 s".to_owned(),
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5_400.0 => format!("{:.0} min", s / 60.0),
        s if s < 129_600.0 => format!("{:.1} h", s / 3_600.0),
        s => format!("{:.1} days", s / 86_400.0),
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
        s if s < 60 => format!("{s}s"),
        s if s < 3_600 => format!("{}m", s / 60),
        s if s < 86_400 => format!("{}h", s / 3_600),
        s => format!("{}d", s / 86_400),
    }
}

fn tiles(summary: &InsightSummary) -> Vec<Tile> {
    let rate = |share: Option<f64>| share.map_or_else(|| "–".to_owned(), percent);
    let middle = |whiles: &Histogram| {
        let value = whiles.percentile(0.5).map_or_else(|| "–".to_owned(), duration_words);
        let most = whiles
            .percentile(0.9)
            .map(|most| format!("nine of ten within {}", duration_words(most)));
        (value, most.unwrap_or_default())
    };
    let (seen, seen_most) = middle(&summary.first_view);
    let (decided, decided_most) = middle(&summary.decision);
    let (ended, verdicts, reading) = (summary.ended, summary.verdicts, summary.reading);
    let tile = |label, value, more| Tile { label, value, more };
    let recommended =
        |n| format!("{} of {} recommendations", grouped(n), grouped(verdicts.decided()));
    let opened = reading.hasty + reading.read;
    vec![
        tile("Requests", grouped(summary.asks()), format!("{} ended", grouped(ended.total()))),
        tile("Until somebody looked", seen, seen_most),
        tile("Until somebody decided", decided, decided_most),
        tile(
            "Ran out unanswered",
            rate(ended.expiry_rate()),
            format!("{} of {}", grouped(ended.unanswered()), grouped(ended.total())),
        ),
        tile("Changed before saying yes", rate(verdicts.edit_rate()), recommended(verdicts.edited)),
        tile("Overruled", rate(verdicts.overrule_rate()), recommended(verdicts.overruled)),
        tile(
            "Decided faster than it can be read",
            rate(reading.hasty_rate()),
            format!("{} of {} that were opened", grouped(reading.hasty), grouped(opened)),
        ),
    ]
}

/// A chart from its drawing and its table.
fn chart(
    (id, title): (&'static str, &'static str),
    says: String,
    (height, marks): (u32, Vec<ChartShape>),
    head: Vec<&'static str>,
    rows: Vec<Vec<String>>,
) -> Chart {
    Chart { id, title, says, height, marks, head, rows }
}

/// A chart whose table has one number per part.
fn count_chart(
    named: (&'static str, &'static str),
    says: String,
    drawn: (u32, Vec<ChartShape>),
    head: [&'static str; 2],
    parts: &[ChartValue],
) -> Chart {
    let rows = parts.iter().map(|part| vec![part.label.clone(), part.shown.clone()]).collect();
    chart(named, says, drawn, head.to_vec(), rows)
}

/// The most frequent value, as a sentence.
fn most_frequent(parts: &[ChartValue], of: &str) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    let total = grouped(parts.iter().map(|part| part.n).sum::<f64>() as u64);
    let most = parts.iter().filter(|part| part.n > 0.0).max_by(|a, b| a.n.total_cmp(&b.n));
    match most {
        None => "Nothing was counted in these days.".to_owned(),
        Some(most) => format!("Most: {}, {} of {total} {of}.", most.label, most.shown),
    }
}

fn charts(summary: &InsightSummary) -> Vec<Chart> {
    let mut charts = vec![per_day(summary), endings(summary)];
    charts.extend([intents(summary), confidence(summary), load(summary), refusals(summary)]);
    charts.push(actions(summary));
    charts
        .push(durations(("first-view", "From the request to the first look"), &summary.first_view));
    charts.push(durations(("decision", "From the request to the decision"), &summary.decision));
    charts.extend([verdicts(summary), reading(summary)]);
    charts.extend(calibration(&summary.calibration));
    charts
}

fn per_day(summary: &InsightSummary) -> Chart {
    let days: Vec<ChartValue> =
        summary.days.iter().map(|day| ChartValue::count(day.day.to_string(), day.asked)).collect();
    let busiest = days.iter().max_by(|a, b| a.n.total_cmp(&b.n)).filter(|day| day.n > 0.0);
    let says = busiest.map_or_else(
        || "No request in these days.".to_owned(),
        |day| {
            let many = counted(summary.asks(), "request");
            format!("{many}; most on {}, {}.", day.label, day.shown)
        },
    );
    let rows = summary
        .days
        .iter()
        .filter(|day| day.asked + day.ended > 0)
        .map(|day| vec![day.day.to_string(), grouped(day.asked), grouped(day.ended)]);
    // The label omits the year, because there is no room for it.
    let short: Vec<ChartValue> = days
        .iter()
        .map(|day| ChartValue { label: day.label.chars().skip(5).collect(), ..day.clone() })
        .collect();
    let drawn = columns(&short, None);
    chart(
        ("per-day", "Requests a day"),
        says,
        drawn,
        vec!["Day (UTC)", "Requests", "Ended"],
        rows.collect(),
    )
}

fn endings(summary: &InsightSummary) -> Chart {
    let ended = summary.ended;
    let parts = [
        ChartValue::count("Answered", ended.answered).toned("yes"),
        ChartValue::count("Ran out: the agent went on with its default", ended.defaulted)
            .toned("warn"),
        ChartValue::count("Ran out: the agent was told what to do", ended.expired).toned("warn"),
        ChartValue::count("Ran out: failed", ended.failed).toned("no"),
        ChartValue::count("Withdrawn", ended.cancelled),
    ];
    let says = most_frequent(&parts, "requests");
    count_chart(
        ("ended", "How requests ended"),
        says,
        bars(&parts, None),
        ["How", "Requests"],
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
    let says = most_frequent(&parts, "messages that say what they are for");
    let named = ("intents", "What agents say their messages are for");
    count_chart(named, says, bars(&parts, None), ["Intent", "Messages"], &parts)
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
    format!("{}–{} %", n * 10, n * 10 + 10)
}

fn confidence(summary: &InsightSummary) -> Chart {
    let parts: Vec<ChartValue> = (0_u32..)
        .zip(summary.confidence)
        .map(|(n, count)| ChartValue::count(tenth(n), count).toned("agents"))
        .collect();
    let says = most_frequent(&parts, "messages that say how sure the agent is");
    // There is only room for the lower bound below a column.
    let short: Vec<ChartValue> = (0_u32..)
        .zip(&parts)
        .map(|(n, part)| ChartValue { label: format!("{}", n * 10), ..part.clone() })
        .collect();
    let named = ("confidence", "How sure agents say they are, in percent");
    count_chart(named, says, columns(&short, None), ["How sure", "Messages"], &parts)
}

fn load(summary: &InsightSummary) -> Chart {
    let days: Vec<(Day, Option<f64>)> =
        summary.days.iter().map(|day| (day.day, day.load)).collect();
    let known: Vec<f64> = days.iter().filter_map(|(_, load)| *load).collect();
    let says = match (known.first(), known.last()) {
        (Some(first), Some(last)) => {
            format!("From {first:.1} on the first day with any to {last:.1} on the last, of 10.")
        }
        _ => "No message said how hard it is.".to_owned(),
    };
    let rows = summary
        .days
        .iter()
        .filter_map(|day| Some(vec![day.day.to_string(), format!("{:.1}", day.load?)]));
    let head = vec!["Day (UTC)", "Average effort, 1 to 10"];
    let named = ("load", "How hard agents say their messages are, on average");
    chart(named, says, trend(&days, 1.0, 10.0), head, rows.collect())
}

fn refusals(summary: &InsightSummary) -> Chart {
    let reason = |kind: &str, severity: &str| {
        let kind =
            if kind == "unsaid" { "No reason given".to_owned() } else { readable_name(kind) };
        match severity {
            "soft" => format!("{kind}, but open to other ways"),
            "hard" => format!("{kind}, firmly"),
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
            let (many, rate) = (counted(summary.refused(), "refusal"), percent(rate));
            format!("{many}, {rate} of the messages that say what they are.")
        }
        _ => "No agent refused.".to_owned(),
    };
    let named = ("refusals", "What agents refuse, and why");
    count_chart(named, says, bars(&parts, None), ["Reason", "Messages"], &parts)
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
        "Nobody saw an action in these days.".to_owned()
    } else {
        format!("{} were shown, {} were picked.", grouped(shown), grouped(picked))
    };
    let rows = summary.actions.iter().map(|action| {
        vec![readable_name(action.kind), grouped(action.shown), grouped(action.picked)]
    });
    let head = vec!["Action", "Shown", "Picked"];
    let named = ("actions", "What agents offer as a next step, and how often people pick it");
    chart(named, says, bars(&parts, Some(1.0)), head, rows.collect())
}

fn durations(named: (&'static str, &'static str), whiles: &Histogram) -> Chart {
    let parts: Vec<ChartValue> =
        whiles.bins().map(|(span, n)| ChartValue::count(span_label(span), n)).collect();
    let says = match (whiles.percentile(0.5), whiles.percentile(0.9)) {
        (Some(half), Some(most)) => {
            format!(
                "Half within {}, nine of ten within {}.",
                duration_words(half),
                duration_words(most)
            )
        }
        _ => "Nothing was counted in these days.".to_owned(),
    };
    count_chart(named, says, columns(&parts, None), ["How long", "Requests"], &parts)
}

fn verdicts(summary: &InsightSummary) -> Chart {
    let verdicts = summary.verdicts;
    let parts = [
        ChartValue::count("Done as recommended", verdicts.followed).toned("yes"),
        ChartValue::count("Done with changes", verdicts.edited).toned("warn"),
        ChartValue::count("Rejected, sent back, or decided otherwise", verdicts.overruled)
            .toned("no"),
        ChartValue::count("Nothing was recommended", verdicts.open),
    ];
    let says = most_frequent(&parts, "answers");
    let named = ("verdicts", "What people made of recommendations");
    count_chart(named, says, bars(&parts, None), ["What", "Answers"], &parts)
}

fn reading(summary: &InsightSummary) -> Chart {
    let reading = summary.reading;
    let parts = [
        ChartValue::count("Time enough to read it", reading.read).toned("yes"),
        ChartValue::count("Decided faster than it can be read", reading.hasty).toned("warn"),
        ChartValue::count("Answered without opening it", reading.unopened),
    ];
    let says = most_frequent(&parts, "answers of people");
    let named = ("reading", "Time to read before deciding");
    count_chart(named, says, bars(&parts, None), ["What", "Answers"], &parts)
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
    let says = format!(
        "{} of {} were overruled. Where claims hold, the columns fall to the right.",
        grouped(overruled),
        grouped(calibration.decisions)
    );
    let named = ("calibration", "How often people overruled it, by how sure the agent said it was");
    let head = vec!["How sure", "Decisions", "Overruled"];
    Some(chart(named, says, columns(&parts, Some(1.0)), head, rows))
}

/// Why there is no calibration chart, if there is none.
fn calibration_hint(calibration: &Calibration) -> Option<String> {
    let n = calibration.decisions;
    calibration.tenths.is_none().then(|| {
        format!(
            "How well what agents claim holds is shown from {LEAST_DECISIONS} decisions on; there \
             {} so far.",
            if n == 1 { "is 1".to_owned() } else { format!("are {n}") }
        )
    })
}
