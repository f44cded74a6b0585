//! The inbox in its other shapes, what is done from it, and the history.

use kernel::ask::{Priority, Route};
use kernel::command::NewAsk;
use kernel::question::{Answer, PickMode, Reply};
use kernel::{Ask, AskCommand, AskId, Refusal, Time};
use scraper::Html;
use serde_json::json;
use views::SubmittedForm;
use views::answer_form::AnswerFormContext;
use views::answer_form::second_step::{SecondStep, SecondStepContext};
use views::banner::ActionOutcome;
use views::components::query::PageQuery;
use views::history::{self, AuditLogStatus, HistoryPage};
use views::inbox::SearchCount;
use views::inbox::bulk::{self, BulkRequest, SharedAnswer};
use views::inbox::row::InboxEntry;
use views::inbox::snooze::{self, SnoozeProblem};
use views::message_page;

use crate::every_page::{all, text};
use crate::fixture::{id, map, new_ask, question};
use crate::samples::{Gallery, HOSTILE, approve, options, pages};

/// Refunds that differ in a number only.
fn similar_requests(g: &mut Gallery, n: usize) -> Vec<Ask> {
    let ids: Vec<AskId> = (1..=n)
        .map(|n| {
            let prompt = format!("Refund order {n} of Ada?");
            let details = json!({"amount": format!("{n}.10"), "currency": "EUR"});
            g.cast.ask(new_ask(question(&prompt, approve(details))))
        })
        .collect();
    ids.into_iter().map(|id| g.cast.seen(id).clone()).collect()
}

fn final_one(g: &mut Gallery) -> Ask {
    let drop = question("Delete the old database?", approve(json!({"database": "orders-2019"})));
    let metadata = map(json!({ "irreversible": true }));
    let id = g.cast.ask(NewAsk { metadata, priority: Priority::High, ..new_ask(drop) });
    g.cast.seen(id).clone()
}

/// Every page of this file.
pub(crate) fn gallery(g: &mut Gallery, over: &[Ask]) {
    let folded = InboxEntry { asks: similar_requests(g, 12), ..InboxEntry::default() };
    let more =
        InboxEntry { open_ended: true, asks: similar_requests(g, 3), ..InboxEntry::default() };
    let last = InboxEntry::one(final_one(g));
    let hostile = g.cast.ask(new_ask(question(HOSTILE, approve(json!({"to": HOSTILE})))));
    let hostile = InboxEntry::one(g.cast.seen(hostile).clone());
    let watched =
        question("Merge it?", options(&["Merge", "Squash", "Rebase", "Wait"], PickMode::One));
    let watched = g.cast.ask(NewAsk { route: Route::Pool { group: None }, ..new_ask(watched) });
    let watched =
        InboxEntry { lookers: vec![id("mark")], ..InboxEntry::one(g.cast.seen(watched).clone()) };
    let items = [last.clone(), folded.clone(), more, watched.clone(), hostile.clone()];
    g.list("inbox-folded", "", &items, &[], Some("/?after=2.01J"), None);
    g.list(
        "inbox-members",
        "agent=release-bot&fold=0011223344556677",
        &items[..1],
        &[],
        None,
        None,
    );
    g.list("inbox-narrowed", "view=mine&project=shop&kind=choose", &items[3..4], &[], None, None);
    g.list("inbox-search", "q=refund+%22ada%22", &items, &[], None, None);
    g.list("inbox-no-match", "q=nothing&within=3600", &[], &[], None, None);
    let until = g.cast.now.plus_seconds(7_200);
    let aside = InboxEntry { aside_until: Some(until), ..watched.clone() };
    g.list("inbox-aside", "view=aside", &[aside], &[], None, Some(&ActionOutcome::Back));
    g.list("inbox-aside-empty", "view=aside", &[], &[], None, Some(&ActionOutcome::Aside(until)));

    let frame = g.frame();
    let directory = &g.cast.directory;
    let considered = |item: &InboxEntry| {
        let ask = item.asks[0].clone();
        let unread = Refusal::NotAllowed { why: bulk::DOES_NOT_FIT };
        let whole = if bulk::fits_in_summary(&ask) { Ok(()) } else { Err(unread) };
        let fits = ask.allows_bulk().and(whole).map(|()| SharedAnswer::of(&ask));
        BulkRequest { ask, fits }
    };
    let mut many: Vec<BulkRequest> =
        vec![considered(&last), considered(&watched), considered(&hostile)];
    many.extend(
        folded
            .asks
            .iter()
            .cloned()
            .map(|ask| BulkRequest { fits: Ok(SharedAnswer::of(&ask)), ask }),
    );
    let confirm = |many: &[BulkRequest]| bulk::confirm(&frame, many, directory, "view=mine");
    let refusal =
        Refusal::AlreadyAnswered { by: kernel::ActorRef::Human(id("mark")), at: frame.now };
    let lost = (Some(folded.asks[0].clone()), refusal);
    let gone = (None, Refusal::NotFound { what: "request" });
    let shop = last.asks[0].clone();
    let people = [id("mark")];
    let wrong = SnoozeProblem::Person("you know them".to_owned());
    let page = |wrong| snooze::page(&frame, &shop, directory, &people, "view=mine", wrong);
    let reply = Reply { answer: Answer::Approved { edits: None }, comment: None };
    let sent = SubmittedForm::new(vec![("action".to_owned(), "approve".to_owned())]);
    let desk = AnswerFormContext::inbox(shop.id, &frame);
    let sure =
        SecondStep::if_required(&shop, &reply, &sent, desk, SecondStepContext::default()).unwrap();
    let csrf = vec![("csrf".to_owned(), frame.csrf.clone())];
    let sure = sure.from_list(("approve", "ask_x".to_owned()), csrf, "/".to_owned());
    let pages = [
        ("bulk-confirm", confirm(&many)),
        ("bulk-confirm-total", confirm(&many[3..])),
        ("bulk-confirm-nothing", confirm(&[])),
        ("bulk-confirm-none", confirm(&many[..1])),
        ("bulk-result", bulk::result(&frame, over, &[lost, gone], directory, "")),
        ("bulk-sure", bulk::second_step_page(&frame, &shop, &sure)),
        ("aside", page(None)),
        ("aside-no-time", page(Some(&SnoozeProblem::Time))),
        ("aside-full", page(Some(&SnoozeProblem::Full))),
        ("aside-nobody", page(Some(&wrong))),
        ("no-receipt", message_page::no_receipt(&frame)),
    ];
    let pages = pages.map(|(name, html)| (name.to_owned(), html));
    g.pages.extend(pages);

    let sealed = |holds| AuditLogStatus { sealed: Some((42, frame.now, holds)), waiting: 3 };
    for (name, address, asks, chain) in [
        ("history", "", over, sealed(true)),
        ("history-narrowed", "by=olga&outcome=completed&since=2026-02-01", over, sealed(false)),
        ("history-search", "q=refund", over, sealed(true)),
        ("history-empty", "", &[], AuditLogStatus { sealed: None, waiting: 7 }),
        ("history-no-match", "kind=choose", &[], sealed(true)),
    ] {
        let query = PageQuery::read(address, &history::QUERY_PARAMETERS);
        let found = query.get("q").map(|_| SearchCount { n: asks.len(), more: true });
        let shown = HistoryPage {
            me: g.cast.human("olga"),
            directory: &g.cast.directory,
            query: &query,
            asks,
            found,
            next: Some("/history?after=0.01J").filter(|_| !asks.is_empty()),
            later_page: false,
            chain: &chain,
        };
        g.pages.push((name.to_owned(), history::page(&frame, &shown)));
    }
}

fn page(name: &str) -> Html {
    let pages = pages();
    Html::parse_document(&pages.iter().find(|(n, _)| n == name).expect(name).1)
}

fn main_of(name: &str) -> String {
    text(all(&page(name), "main")[0])
}

#[test]
fn near_identical_requests_are_one_row_with_one_way_to_answer_them() {
    let shown = page("inbox-folded");
    let rows = all(&shown, ".row");
    assert_eq!(rows.len(), 5);
    let sum = "12 similar requests, 79.20 EUR in total";
    assert!(text(rows[1]).contains(sum), "{}", text(rows[1]));
    let more = "3 or more similar requests";
    assert!(text(rows[2]).contains(more), "a part is no total: {}", text(rows[2]));
    let answer = all(&shown, ".row a[href^='/inbox/bulk?agent=release-bot&fold=']");
    assert_eq!(answer.len(), 2);
    assert_eq!(text(answer[0]), "Review together…");
    let ids = all(&shown, ".row .tick input")[1].attr("value").unwrap();
    assert_eq!(ids.split(' ').count(), 12, "ticking it ticks all of them");
    assert!(all(&shown, ".row a[href^='/?agent=release-bot&fold=']").len() >= 2);
}

#[test]
fn rows_say_who_looks_and_what_is_final() {
    let shown = page("inbox-folded");
    let rows = all(&shown, ".row");
    assert!(text(rows[0]).contains("This can't be undone"));
    assert!(text(rows[3]).contains("Mark Osei is looking at it"));
    let names: Vec<&str> =
        all(&shown, ".row button").iter().filter_map(|b| b.attr("name")).collect();
    assert_eq!(names, ["approve", "reject", "choose", "choose", "choose", "choose"]);
    assert!(all(&shown, "#rows script, #rows img").is_empty());
    assert!(text(rows[4]).contains("⟨U+202E⟩"));
}

#[test]
fn every_list_has_words_when_there_is_nothing() {
    for (name, expected) in [
        ("inbox-no-match", "No open requests match"),
        ("inbox-no-match", "search the history"),
        ("inbox-aside-empty", "Nothing snoozed"),
        ("inbox-aside-empty", "Snoozed, back in 2 h"),
        ("inbox-aside", "comes back in 2 h"),
        ("inbox-aside", "Move back to the inbox"),
        ("inbox-search", "These are the newest 5. Add a word"),
        ("inbox-members", "1 similar request"),
        ("inbox-narrowed", "1 request matches"),
        ("history-empty", "No request is closed yet"),
        ("history-empty", "7 events wait for the first block"),
        ("history-no-match", "No closed requests match"),
        ("bulk-confirm-nothing", "You selected nothing"),
        ("aside-no-time", "Choose a time in the future"),
        ("aside-full", "500 requests"),
        ("no-receipt", "There is no receipt"),
    ] {
        assert!(main_of(name).contains(expected), "{name}: {}", main_of(name));
    }
}

/// Exact, in one currency, and every one of them can be left out.
#[test]
fn a_summary_says_what_all_of_it_amounts_to() {
    let shown = page("bulk-confirm-total");
    assert_eq!(text(all(&shown, ".total")[0]), "12 requests · total 79.20 EUR");
    let units: Vec<&str> =
        all(&shown, "#answers [data-units]").iter().filter_map(|e| e.attr("data-units")).collect();
    assert_eq!((units.len(), units[0], units[11]), (12, "110", "1210"));
    assert_eq!(all(&shown, "[data-total][data-scale='2'][data-currency=EUR]").len(), 1);
}

/// UX 1 and 6: what is narrowed stays, what was written stays, and buttons say how many.
#[test]
fn a_summary_comes_before_many_answers() {
    let shown = page("bulk-confirm");
    let says: Vec<String> = all(&shown, "#answers button .say").iter().map(|e| text(*e)).collect();
    assert_eq!(says[..2], ["Approve the selected requests", "Reject the selected requests"]);
    assert!(says.contains(&"Choose “Squash” for the selected requests".to_owned()), "{says:?}");
    let so = text(all(&shown, "#answers button .so")[0]);
    assert_eq!(so, "1 of them needs another answer and stays open.");
    assert_eq!(all(&shown, "#answers input[type=checkbox][name=ask][checked]").len(), 13);
    assert_eq!(text(all(&shown, ".total")[0]), "13 requests", "one of them has no amount");
    let left = text(all(&shown, "[aria-labelledby=alone]")[0]);
    assert!(left.contains("2 requests are left out"), "{left}");
    for why in ["It is irreversible", "This list can't show all of it: open it"] {
        assert!(left.contains(why), "{left}");
    }
    assert!(all(&page("bulk-confirm-none"), "#answers").is_empty());
    let result = main_of("bulk-result");
    assert!(result.contains("Already answered by Mark Osei, just now"), "{result}");
    assert!(result.contains("2 were not answered") && result.contains("Receipt"), "{result}");
    let sure = page("bulk-sure");
    assert_eq!(text(all(&sure, "form .danger .say")[0]), "Approve: Delete the old database");
    assert_eq!(all(&sure, "form input[name=sure]").len(), 1);
    let nobody = page("aside-nobody");
    assert_eq!(text(all(&nobody, "#note")[0]), "you know them");
    assert_eq!(all(&nobody, "#to[aria-invalid=true]").len(), 1);
    let narrowed = page("inbox-narrowed");
    assert_eq!(all(&narrowed, "option[selected]").len(), 2);
    assert_eq!(all(&narrowed, "form.narrow input[name=view][value=mine]").len(), 1);
    assert_eq!(all(&narrowed, "form.narrow details[open]").len(), 1);
}

#[test]
fn the_history_says_who_how_and_how_the_record_stands() {
    let shown = page("history");
    let first = text(all(&shown, ".ended")[0]);
    assert!(first.contains("by Olga Petrova on the web page"), "{first}");
    assert_eq!(all(&shown, ".ended a[href$='/receipt']").len(), all(&shown, ".ended").len());
    let chain = text(all(&shown, ".banner.yes[aria-labelledby=chain]")[0]);
    assert!(chain.contains("Sealed up to block 42") && chain.contains("3 events wait"), "{chain}");
    assert!(
        text(all(&page("history-narrowed"), ".banner.no[aria-labelledby=chain]")[0])
            .contains("is not valid")
    );
    let exported = page("history-narrowed");
    let csv = all(&exported, "a[href^='/history/export?']")[0].attr("href").unwrap();
    assert_eq!(csv, "/history/export?by=olga&outcome=completed&since=2026-02-01&format=csv");
    assert_eq!(all(&exported, "#since")[0].attr("value"), Some("2026-02-01"));
}

/// A row that says the same has the same version, however long ago it was drawn.
#[test]
fn versions_tell_what_changed_and_not_how_late_it_is() {
    let mut g = Gallery { cast: crate::fixture::PageFixture::new(), pages: Vec::new() };
    let asks = similar_requests(&mut g, 1);
    let version = |g: &mut Gallery, item: &InboxEntry| {
        g.list("one", "", std::slice::from_ref(item), &[], None, None);
        let shown = Html::parse_document(&g.pages.pop().unwrap().1);
        let row = all(&shown, ".row")[0];
        let digest = all(&shown, "#rows")[0].attr("data-digest").unwrap().to_owned();
        (row.attr("data-v").unwrap().to_owned(), digest)
    };
    let item = InboxEntry::one(asks[0].clone());
    let first = version(&mut g, &item);
    g.cast.advance(600);
    assert_eq!(version(&mut g, &item), first);
    let seen = InboxEntry { lookers: vec![id("mark")], ..item.clone() };
    assert_ne!(version(&mut g, &seen), first);
    g.cast.act("olga", AskCommand::Claim(asks[0].id));
    let taken = InboxEntry::one(g.cast.seen(asks[0].id).clone());
    assert_ne!(version(&mut g, &taken), first);
    let aside = InboxEntry { aside_until: Some(Time::from_millis(0)), ..item };
    assert_ne!(version(&mut g, &aside), first);
}
