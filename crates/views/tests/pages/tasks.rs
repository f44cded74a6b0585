//! The board, the room of a task in every state, and ledgers.

use std::collections::BTreeSet;

use kernel::task::{
    GrantDecision, GrantDuration, Handover, Intent, NewEntry, NewGrant, NewTask, Party,
    PayloadKind, Severity, TaskCommand, Verdict,
};
use kernel::{AskCommand, Refusal, Task, TaskId};
use scraper::Html;
use serde_json::json;
use views::FormProblems;
use views::components::query::PageQuery;
use views::ledger::{self, LedgerSummary};
use views::request::RequestTask;
use views::request::related::RequestContext as Surrounding;
use views::tasks::new::{self, NewTaskInput};
use views::tasks::room::{TaskActionResult, TaskContext};
use views::tasks::versions::VersionContent;
use views::tasks::{self, BoardColumn, ColumnTasks, TaskBoardPage};

use crate::every_page::{all, text};
use crate::samples::{Gallery, HOSTILE, pages, pairs};
use crate::task_scenario::{NEW, OLD, TaskScenario, comment, content, new};

/// Every page of this file.
pub(crate) fn gallery(g: &mut Gallery) {
    let mut shown: Vec<Task> = Vec::new();
    let mut story = TaskScenario::begin(
        g,
        new("Summarise the tickets of this week", &["Every ticket is in it", "At most one page"]),
    );
    story.show("task-created").started().show("task-working");
    let id = story.id;
    story.olga(TaskCommand::Amend(
        id,
        "Only those of paying customers".to_owned(),
        Intent::Constrain,
    ));
    let deny = NewGrant {
        scope: "net:*".to_owned(),
        decision: GrantDecision::Deny,
        until: GrantDuration::At(story.g.cast.now.plus_seconds(90_000)),
    };
    story.olga(TaskCommand::Grant(id, deny)).raise("May I read the archive?").show("task-blocked");
    let asked = story.task().pending().unwrap().ask;
    let around = Surrounding {
        task: Some(RequestTask::new(story.task(), story.g.cast.seen(asked))),
        ..Surrounding::default()
    };
    story.g.show_with("checkpoint-request", asked, "olga", &around, None);
    let row = views::inbox::row::InboxEntry::one(story.g.cast.seen(asked).clone());
    story.g.list("inbox-task", "", &[row], &[], None, None);
    let yes = kernel::question::Answer::Approved { edits: None };
    let reply =
        kernel::question::Reply { answer: yes, comment: Some("But not the old one".to_owned()) };
    story.g.cast.act("olga", AskCommand::Answer(asked, Box::new(reply)));
    story.deliver(PayloadKind::Inline, Some("text/markdown"), true).show("task-delivered");
    let sent = pairs(&[
        ("changes", "  "),
        ("place.1", "3"),
        ("severity.1", "major"),
        ("body.1", "Which sum?"),
        ("plan", "yes"),
    ]);
    let wrong = TaskActionResult::Wrong("Enter what has to change; the agent needs it".to_owned());
    let around = story.around(None, Some(content(OLD)));
    story.show_with("task-verdict-wrong", "olga", &around, Some(&wrong), Some(("review", &sent)));
    story.show_with("task-delivered-others", "mark", &around, None, None);
    let lines = vec![
        comment(Some("L3"), Severity::Blocker, "Wrong sum"),
        comment(Some("notes.md:4"), Severity::Nit, HOSTILE),
        comment(None, Severity::Minor, "Good otherwise"),
    ];
    story.judge(Verdict::ChangesRequested, lines, &["The sum", HOSTILE]);
    let review = story.task().reviews[0].id;
    story.olga(TaskCommand::Remark(
        id,
        review,
        comment(Some("6"), Severity::Minor, "And say hello"),
    ));
    story.deliver(PayloadKind::Inline, Some("text/markdown"), true);
    let around = story.around(Some(content(OLD)), Some(content(NEW)));
    story.show_with("task-compared", "olga", &around, None, None);
    let then = TaskContext { last: Some(99), ..story.around(None, Some(content(OLD))) };
    story.show_with("task-as-it-was", "olga", &then, None, None);
    shown.push(story.task().clone());
    story.judge(Verdict::Approved, Vec::new(), &[]).show("task-done");
    shown.push(story.task().clone());

    let soon = g.cast.now.plus_seconds(7_200);
    let mut story =
        TaskScenario::begin(g, NewTask { deadline: Some(soon), ..new(HOSTILE, &[HOSTILE]) });
    story.started().raise(HOSTILE);
    shown.push(story.task().clone());
    story.show("task-hostile");
    let around = story.around(None, None);
    let sent = pairs(&[("scope", "no scope"), ("decision", "deny"), ("until", "task")]);
    let refusal = Refusal::Invalid { field: "scope", expected: "\"*\", or namespace:target" };
    story.show_with(
        "task-refused",
        "olga",
        &around,
        Some(&TaskActionResult::Refused(refusal)),
        Some(("grant", &sent)),
    );
    let gone = TaskActionResult::Refused(Refusal::Precondition { why: "x".to_owned() });
    story.show_with("task-gone-on", "olga", &around, Some(&gone), None);
    let id = story.id;
    story.olga(TaskCommand::Cancel(id, Some("No longer needed".to_owned()))).show("task-cancelled");

    for (name, kind, media, held, content) in [
        ("picture", PayloadKind::Blob, Some("image/png"), true, VersionContent::Picture),
        ("bytes", PayloadKind::Blob, None, true, VersionContent::Bytes),
        ("elsewhere", PayloadKind::Ref, None, false, VersionContent::Elsewhere),
        ("missing", PayloadKind::Blob, None, true, VersionContent::Missing),
        ("patch", PayloadKind::Diff, None, true, content("--- a\n+++ b\n-old\n+new \u{202e}\n")),
        (
            "json",
            PayloadKind::Inline,
            Some("application/json"),
            true,
            content("{\"b\":1,\"a\":[1,2]}"),
        ),
        (
            "long",
            PayloadKind::Blob,
            Some("text/plain"),
            true,
            content(&"line of a long text\n".repeat(4_000)),
        ),
        ("markup", PayloadKind::Inline, Some("text/markdown"), true, content(HOSTILE)),
    ] {
        let mut story = TaskScenario::begin(g, new("Draw the chart\nwith everything in it", &[]));
        story.started().deliver(kind, media, held);
        let around = story.around(None, Some(content));
        story.show_with(&format!("task-{name}"), "olga", &around, None, None);
        if name == "patch" {
            story.judge(Verdict::Rejected, Vec::new(), &[]).show("task-rejected");
            shown.push(story.task().clone());
        }
    }
    let mut story = TaskScenario::begin(g, new("Something I do myself", &[]));
    let id = story.id;
    story.started().olga(TaskCommand::Transfer(
        id,
        Party::Human("olga".parse().unwrap()),
        Handover::Handoff,
    ));
    story.show("task-taken-over");
    boards(g, &shown);
    ledgers(g, shown[0].id);
}

fn boards(g: &mut Gallery, shown: &[Task]) {
    // A task stands on a board once, as it was last.
    let mut last: Vec<Task> = shown.to_vec();
    last.reverse();
    let mut ids = BTreeSet::new();
    last.retain(|task| ids.insert(task.id));
    let shown = &last[..];
    let frame = g.frame();
    let (me, directory) = (g.cast.human("olga"), &g.cast.directory);
    let filling = |column: BoardColumn, tasks: &[Task], more: bool| {
        let stands = |task: &&Task| column.states().contains(&task.state);
        let tasks: Vec<Task> = tasks.iter().filter(stands).cloned().collect();
        let next = more.then(|| format!("/tasks?column={}&after=task_x", column.name()));
        ColumnTasks { column, count: tasks.len().to_string(), tasks, next }
    };
    let board = |address: &str, columns: &[ColumnTasks]| {
        let query = PageQuery::read(address, &tasks::QUERY_PARAMETERS);
        tasks::page(&frame, &TaskBoardPage { me, directory, query: &query, columns })
    };
    let every = |tasks: &[Task], more| BoardColumn::ALL.map(|column| filling(column, tasks, more));
    let nothing = FormProblems::default();
    let sent = pairs(&[
        ("goal", " "),
        ("deadline", "soon"),
        ("project", "a b"),
        ("criteria", HOSTILE),
        ("inputs", HOSTILE),
    ]);
    let wrong = new::parse_new_task(&sent, me).unwrap_err();
    let new = |sent, problems| {
        let begun = NewTaskInput { once: "once", parent: "", sent };
        new::page(&frame, me, directory, begun, problems)
    };
    let made = [
        ("tasks", board("", &every(shown, true))),
        ("tasks-empty", board("", &every(&[], false))),
        ("tasks-narrowed", board("view=mine&project=shop&agent=release-bot", &every(&[], false))),
        ("tasks-column", board("column=over", &[filling(BoardColumn::Over, shown, true)])),
        ("task-new", new(None, &nothing)),
        ("task-new-wrong", new(Some(&sent), &wrong)),
    ];
    g.pages.extend(made.map(|(name, html)| (name.to_owned(), html)));
}

fn ledgers(g: &mut Gallery, task: TaskId) {
    let mut story = TaskScenario { id: task, g };
    for value in [json!("https://example.com/v1"), json!({"sum": 42, "note": HOSTILE}), json!(null)]
    {
        let new = NewEntry {
            scope: "project:shop".parse().unwrap(),
            key: "report.sum".to_owned(),
            value,
            expected: None,
        };
        story.bot(TaskCommand::Write(task, Box::new(new)));
    }
    let frame = g.frame();
    let entries: Vec<_> = g.cast.loaded.entries.values().flatten().cloned().collect();
    let scope: kernel::task::LedgerScope = "project:shop".parse().unwrap();
    let me = g.cast.human("olga");
    let listed = ledger::listed_ledgers(me, &g.cast.directory);
    let listed: Vec<_> = listed
        .into_iter()
        .map(|scope| LedgerSummary { written: scope.as_str() != "org:all", scope })
        .collect();
    let made = [
        ("ledgers", ledger::list(&frame, &listed, false)),
        ("ledgers-wrong", ledger::list(&frame, &listed, true)),
        (
            "ledger",
            ledger::page(&frame, &scope, &entries, Some("/ledger/project:shop?after=x"), false),
        ),
        ("ledger-empty", ledger::page(&frame, &scope, &[], None, false)),
        ("ledger-key", ledger::history(&frame, &scope, HOSTILE, &entries, None)),
    ];
    g.pages.extend(made.map(|(name, html)| (name.to_owned(), html)));
}

fn page(name: &str) -> Html {
    let (_, html) = pages().iter().find(|(known, _)| known == name).unwrap();
    Html::parse_document(html)
}

fn words(page: &Html, selector: &str) -> Vec<String> {
    all(page, selector).into_iter().map(text).collect()
}

/// The state is a line of steps, and what was not needed on the way is said.
#[test]
fn a_room_says_how_far_its_task_has_come() {
    for (name, now, state) in [
        ("task-created", "Created, now", "Not assigned"),
        ("task-working", "In progress, now", "In progress"),
        ("task-blocked", "Blocked, now", "Blocked"),
        ("task-delivered", "Delivered, now", "Ready for review"),
        ("task-done", "Done, now", "Done"),
        ("task-cancelled", "Cancelled, now", "Cancelled"),
        ("task-rejected", "Rejected, now", "Rejected"),
    ] {
        let page = page(name);
        assert_eq!(words(&page, "[aria-current=step]"), [now], "{name}");
        assert_eq!(words(&page, "#stands"), [state], "{name}");
        assert_eq!(all(&page, ".stages li").len(), 6, "{name}");
    }
    let skipped = words(&page("task-cancelled"), ".stages .skipped");
    assert_eq!(skipped, ["Delivered, not needed", "Reviewed, not needed"]);
}

/// Criteria are a checklist that sends nothing.
#[test]
fn criteria_are_ticked_by_whoever_reads() {
    let page = page("task-created");
    assert_eq!(words(&page, ".criteria .say"), ["Every ticket is in it", "At most one page"]);
    assert!(all(&page, "[data-tick]").iter().all(|tick| tick.attr("name").is_none()));
}

/// Two versions stand side by side, and comments beside the lines they are about.
#[test]
fn versions_are_compared_line_by_line() {
    let shown = page("task-compared");
    assert_eq!(words(&shown, "#sheet-title"), ["v1 beside v2"]);
    assert_eq!(
        words(&shown, ".ln.both .was, .ln.gone .was"),
        ["removed: The sum is 40.", "removed: The date is open."]
    );
    let come = words(&shown, ".ln.both .is, .ln.come .is");
    assert_eq!(come[0], "added: The sum is 42.");
    let verdict = page("task-verdict-wrong");
    assert!(words(&verdict, ".error")[0].contains("Enter what has to change"));
    assert_eq!(words(&verdict, "#body-1"), ["Which sum?"], "nothing is lost");
}

/// Markdown is drawn, and nothing in it is obeyed.
#[test]
fn markdown_is_read_and_not_obeyed() {
    let notes = page("task-compared");
    assert_eq!(words(&notes, ".reads h4"), ["Notes"]);
    assert!(words(&notes, ".reads a.away")[0].starts_with("https://example.com/t"));
    let hostile = page("task-markup");
    assert!(all(&hostile, ".reads script, .reads img").is_empty());
    assert!(words(&hostile, ".reads")[0].contains("<script>alert(1)</script>"));
    assert!(words(&hostile, ".reads")[0].contains("⟨U+202E⟩"));
}

/// What cannot be drawn is said, with a way to all of it.
#[test]
fn every_kind_of_delivery_has_its_page() {
    assert_eq!(all(&page("task-picture"), "figure img").len(), 1);
    assert!(words(&page("task-elsewhere"), ".versions")[0].contains("files.example.com"));
    assert!(words(&page("task-json"), ".leaf")[0].contains("\"b\": 1"));
    assert_eq!(words(&page("task-patch"), ".ln.come .is"), ["added: +new ⟨U+202E⟩"]);
    let long = page("task-long");
    let more = words(&long, ".sheets > p").pop().unwrap();
    assert!(more.starts_with("3,500 more lines are not shown here."), "{more}");
    for name in ["task-bytes", "task-missing"] {
        assert_eq!(all(&page(name), ".leaf").len(), 0, "{name}");
    }
}

/// Only whoever decides is offered to, and nothing is offered on a task as it was.
#[test]
fn acts_are_offered_to_whoever_may() {
    let forms = |name: &str| all(&page(name), "main form[method=post]").len();
    assert!(forms("task-delivered") > 0 && forms("task-blocked") > 0);
    assert_eq!(forms("task-delivered-others"), 0);
    assert_eq!(forms("task-as-it-was"), 0);
    assert_eq!(forms("task-cancelled"), 0);
    assert!(words(&page("task-as-it-was"), ".banner")[0].contains("as it was"));
    assert_eq!(all(&page("task-delivered"), "#judge").len(), 1);
    assert!(all(&page("task-as-it-was"), "[data-live]").is_empty());
}

/// A request says which task it belongs to, and so does its row in the inbox.
#[test]
fn a_request_of_a_task_says_so() {
    let request = page("checkpoint-request");
    assert!(words(&request, ".banner")[0].contains("Summarise the tickets of this week"));
    assert_eq!(all(&request, ".banner a[href^='/tasks/task_']").len(), 1);
    assert!(words(&page("inbox-task"), ".row .overline")[0].starts_with("Task · "));
}

/// The board has a column for every state, and says what waits for whoever looks.
#[test]
fn the_board_stands_in_columns() {
    let board = page("tasks");
    assert_eq!(all(&board, ".column").len(), 5);
    assert!(words(&board, ".row.here").iter().all(|row| row.starts_with("Waits for you")));
    assert!(words(&page("tasks-empty"), ".empty")[0].contains("No task is here yet"));
    let wrong = words(&page("task-new-wrong"), ".banner li");
    assert_eq!(wrong.len(), 4, "{wrong:?}");
}

/// A ledger shows what was written last, and everything a key ever said.
#[test]
fn ledgers_are_read_by_key() {
    assert_eq!(words(&page("ledger"), ".entry h2"), ["report.sum"]);
    assert!(words(&page("ledger"), ".entry .hint")[0].starts_with("Written 3 times, last"));
    assert!(words(&page("ledger-key"), "h1")[0].contains("⟨U+202E⟩"));
}
