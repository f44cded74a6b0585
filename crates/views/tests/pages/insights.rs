//! The page of numbers: full, with little, empty, and of what is not there.

use kernel::insight::access::{FilterChoices, Insights};
use kernel::insight::summary::StoredCount;
use kernel::insight::{CountScope, Day, InsightSummary, Measure};
use scraper::Html;
use views::components::query::PageQuery;
use views::insights::{self, InsightsPage};

use crate::every_page::{all, text};
use crate::samples::{Gallery, pages};

/// Counts of thirty days, and what they say.
fn counted(from: Day, to: Day) -> InsightSummary {
    let line = |measure, day, bin: &str, n| {
        let (whose, bin) = (CountScope::All, bin.to_owned());
        StoredCount { scope: whose, measure, day, bin, n }
    };
    let mut lines = Vec::new();
    for (n, days) in (0_u64..).zip(0..30) {
        let day = to.before(days);
        lines.push(line(Measure::Asked, day, "native", n * 7 % 23));
        lines.push(line(Measure::Load, day, if n.is_multiple_of(3) { "4" } else { "7" }, n % 5));
    }
    for (measure, bins) in [
        (Measure::Envelope, vec!["none", "core", "full"]),
        (Measure::Intent, vec!["plan", "decide", "refuse", "other"]),
        (Measure::Confidence, vec!["0", "5", "9"]),
        (Measure::Refusal, vec!["safety/hard", "policy/soft", "unsaid/unsaid"]),
        (Measure::Shown, vec!["expand", "verify_sources", "other"]),
        (Measure::Picked, vec!["expand"]),
        (Measure::FirstView, vec!["5", "60", "3600", "more"]),
        (Measure::Decision, vec!["15", "900", "86400"]),
        (Measure::Ended, vec!["answered", "defaulted", "expired", "failed", "cancelled"]),
        (Measure::Verdict, vec!["followed", "edited", "overruled", "open"]),
        (Measure::Claimed, vec!["5", "9"]),
        (Measure::Overruled, vec!["9"]),
        (Measure::Reading, vec!["read", "hasty", "unopened"]),
    ] {
        lines.extend((1..).zip(bins).map(|(n, bin)| line(measure, to, bin, n * 12)));
    }
    InsightSummary::of(&lines, from, to)
}

/// Every page of this file.
pub(crate) fn gallery(g: &mut Gallery) {
    let frame = g.frame();
    let to = Day::of(frame.now);
    let from = to.before(29);
    let summary = counted(from, to);
    let bot = |n: u32| {
        let (project, agent) = ("shop".parse().unwrap(), format!("bot-{n}").parse().unwrap());
        (project, agent, summary.clone())
    };
    let full = Insights { summary: summary.clone(), agents: (0..100).map(bot).collect() };
    let asked = StoredCount {
        scope: CountScope::All,
        measure: Measure::Asked,
        day: to,
        bin: "hitl".to_owned(),
        n: 1,
    };
    let little = Insights { summary: InsightSummary::of([&asked], from, to), agents: Vec::new() };
    let empty = Insights { summary: InsightSummary::of(&[], from, to), agents: Vec::new() };
    let projects = ["shop", "bank"].map(|id| id.parse().unwrap()).to_vec();
    let agents = (0..50).map(|n| format!("bot-{n}").parse().unwrap()).collect();
    let choices = FilterChoices { projects, agents };
    for (name, address, found) in [
        ("insights", "", Some(&full)),
        ("insights-narrowed", "project=shop&agent=bot-7&days=90", Some(&little)),
        ("insights-empty", "days=7", Some(&empty)),
        ("insights-missing", "project=elsewhere", None),
    ] {
        let query = PageQuery::read(address, &insights::QUERY_PARAMETERS);
        let view = InsightsPage { query: &query, choices: &choices, from, to, found };
        g.pages.push((name.to_owned(), insights::page(&frame, &view)));
    }
}

fn page(name: &str) -> Html {
    let pages = pages();
    Html::parse_document(&pages.iter().find(|(n, _)| n == name).expect(name).1)
}

/// UX 9: whoever does not see a chart is told what it says, and has its numbers.
#[test]
fn every_chart_can_be_read_without_seeing_it() {
    let shown = page("insights");
    let charts = all(&shown, ".chart");
    assert_eq!(charts.len(), 12);
    for chart in charts {
        let html = Html::parse_fragment(&chart.html());
        let (title, desc) = (all(&html, "svg > title")[0], all(&html, "svg > desc")[0]);
        let named = all(&html, "svg[role=img]")[0].attr("aria-labelledby").unwrap();
        let ids = [title.attr("id").unwrap(), desc.attr("id").unwrap()].join(" ");
        assert_eq!(named, ids);
        assert!(!text(title).is_empty() && text(desc).ends_with('.'), "{}", chart.html());
        assert!(!all(&html, "details table th[scope=col]").is_empty());
        assert!(!all(&html, "details tbody th[scope=row]").is_empty());
        assert!(!all(&html, "rect, polyline").is_empty());
    }
}

#[test]
fn numbers_read_as_sentences_and_shares() {
    let main = text(all(&page("insights"), "main")[0]);
    for said in [
        "Expired unanswered",
        "72 refusals",
        "Most: Other, 48 of 120 messages.",
        "33 % (24 of 72)",
        "12 of 36 were overruled",
        "claims 82 %, not overruled 67 %",
        "These are the first agents by name.",
    ] {
        assert!(main.contains(said), "{said}: {main}");
    }
    let little = text(all(&page("insights-narrowed"), "main")[0]);
    assert!(little.contains("there are 0 so far") && little.contains("Clear filter"));
    assert!(little.contains("No agent refused.") && !little.contains("NaN"), "{little}");
    let empty = text(all(&page("insights-empty"), "main")[0]);
    assert!(empty.contains("No data for this period"));
    let missing = text(all(&page("insights-missing"), "main")[0]);
    assert!(missing.contains("can't see such a project or agent"));
}

#[test]
fn what_it_is_narrowed_to_is_kept_from_span_to_span() {
    let shown = page("insights-narrowed");
    let hrefs: Vec<_> =
        all(&shown, ".tabs a").iter().map(|a| a.attr("href").unwrap().to_owned()).collect();
    assert_eq!(hrefs.len(), 4);
    assert!(hrefs.iter().all(|href| href.contains("project=shop") && href.contains("agent=bot-7")));
    let current = all(&shown, ".tabs a[aria-current=page]");
    assert_eq!(current.iter().map(|a| text(*a)).collect::<Vec<_>>(), ["90 days"]);
    assert_eq!(all(&shown, "input[type=hidden][name=days][value='90']").len(), 1);
}
