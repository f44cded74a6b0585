//! Text that reads from right to left, wherever an agent or a person may have written it.

use kernel::command::NewAsk;
use kernel::directory::{NewHuman, Profile};
use kernel::form::Form;
use kernel::question::{Answer, Choice, Options, PickMode, Question, QuestionBody, Reply};
use kernel::task::{PayloadKind, Severity, Verdict};
use kernel::{Actor, Ask, AskCommand, AskId, DirectoryCommand};
use scraper::{ElementRef, Html, Node};
use serde_json::json;
use views::answer_form::AnswerFormContext;
use views::answer_form::second_step::{SecondStep, SecondStepContext};
use views::components::query::PageQuery;
use views::history::{self, AuditLogStatus, HistoryPage};
use views::inbox::bulk::{self, BulkRequest, SharedAnswer};
use views::inbox::row::InboxEntry;
use views::request::related::RequestContext;

use crate::every_page::all;
use crate::fixture::{id, map, new_ask};
use crate::samples::{Gallery, pairs};
use crate::task_scenario::{TaskScenario, comment, content, new};

const ASK: &str = "هل أرسل المبلغ؟";
const WHY: &str = "لأن العميل طلب ذلك 3 مرات.";
const NAME: &str = "ليلى حداد";
const WORD: &str = "كلمة";

fn choice(id: &str) -> Choice {
    Choice { id: id.to_owned(), label: WORD.to_owned(), description: Some(WHY.to_owned()) }
}

fn question(body: QuestionBody) -> Question {
    Question::new(ASK, Some(WHY.to_owned()), body).unwrap()
}

fn form() -> Form {
    let options = json!([{"value": "a", "label": WORD}, {"value": "b", "label": WORD}]);
    serde_json::from_value(json!({"steps": [{"title": WORD, "description": WHY, "fields": [
        {"key": "name", "label": WORD, "type": "text", "hint": WHY, "default": WORD},
        {"key": "notes", "label": WORD, "type": "textarea", "default": WHY},
        {"key": "one", "label": WORD, "type": "select", "options": options},
        {"key": "many", "label": WORD, "type": "multiselect", "options": options},
    ]}]}))
    .unwrap()
}

/// Every kind of question, and an answer to it.
fn kinds() -> Vec<(Question, Answer)> {
    let approve = |editable: bool| QuestionBody::Approve {
        details: map(json!({"المبلغ": "مئة", "to": NAME, "text": format!("{WHY}\n{WHY}")})),
        editable: editable.into(),
        reject_requires_reason: false,
        reject_options: vec![choice("late")],
    };
    let options = || Options::new(vec![choice("a"), choice("b")]).unwrap();
    let choose = |pick| QuestionBody::Choose { options: options(), pick, suggested: None };
    let items = vec![choice("1"), choice("2")];
    let values = serde_json::from_value(json!({"name": WORD, "notes": WHY})).unwrap();
    vec![
        (question(approve(false)), Answer::Approved { edits: None }),
        (question(approve(true)), Answer::Approved { edits: Some(map(json!({"to": WORD}))) }),
        (question(choose(PickMode::One)), Answer::Chosen { options: vec!["a".to_owned()] }),
        (question(choose(PickMode::Many)), Answer::Chosen { options: vec!["a".to_owned()] }),
        (question(QuestionBody::Provide { form: form() }), Answer::Provided { values }),
        (
            question(QuestionBody::Confirm { items, yes: WORD.to_owned(), no: WHY.to_owned() }),
            Answer::Declined,
        ),
        (
            question(QuestionBody::Escalate {
                error: map(json!({"message": WHY})),
                params: map(json!({"المهلة": WORD})),
            }),
            Answer::Skip,
        ),
        (question(QuestionBody::Converse), Answer::Replied { text: WHY.to_owned() }),
    ]
}

fn gallery() -> Gallery {
    let mut g = Gallery::new();
    for human in ["olga", "mark"] {
        let profile = Profile { name: NAME.to_owned(), ..Profile::default() };
        let known = g.cast.human(human).clone();
        let new = NewHuman {
            id: id(human),
            profile,
            admin: false,
            active: true,
            projects: known.projects,
            groups: known.groups,
            skills: known.skills,
        };
        g.cast.run(Actor::System, DirectoryCommand::SaveHuman(new));
    }
    let mut open: Vec<Ask> = Vec::new();
    let mut over: Vec<Ask> = Vec::new();
    for (n, (question, answer)) in kinds().into_iter().enumerate() {
        let asked = |g: &mut Gallery| g.cast.ask(new_ask(question.clone()));
        let ask = asked(&mut g);
        g.cast.act("olga", AskCommand::Comment(ask, WHY.to_owned()));
        g.show(&format!("{n}-open"), ask, "olga", None, None);
        open.push(g.cast.seen(ask).clone());
        let reply = Reply { answer, comment: Some(WHY.to_owned()) };
        g.cast.act("olga", AskCommand::Answer(ask, Box::new(reply)));
        g.show(&format!("{n}-answered"), ask, "olga", None, None);
        over.push(g.cast.seen(ask).clone());
        let claimed = asked(&mut g);
        g.cast.act("olga", AskCommand::Assign(claimed, id("mark"), Some(WHY.to_owned())));
        g.show(&format!("{n}-claimed"), claimed, "olga", None, None);
        open.push(g.cast.seen(claimed).clone());
    }
    changed(&mut g);
    let short = |g: &mut Gallery| -> AskId {
        let body = QuestionBody::Approve {
            details: map(json!({"to": NAME})),
            editable: false.into(),
            reject_requires_reason: false,
            reject_options: Vec::new(),
        };
        g.cast
            .ask(NewAsk { timeout: Some(300), ..new_ask(Question::new(ASK, None, body).unwrap()) })
    };
    let quick = short(&mut g);
    let quick = g.cast.seen(quick).clone();
    open.push(quick.clone());
    let items: Vec<InboxEntry> = open.iter().cloned().map(InboxEntry::one).collect();
    g.list("inbox", &format!("q={WORD}"), &items, &over, None, None);
    let considered: Vec<BulkRequest> = [&quick, &open[0]]
        .map(|ask| BulkRequest { ask: ask.clone(), fits: Ok(SharedAnswer::of(ask)) })
        .into();
    let frame = g.frame();
    let html = bulk::confirm(&frame, &considered, &g.cast.directory, "");
    g.pages.push(("bulk".to_owned(), html));
    let html = bulk::result(&frame, &over, &[], &g.cast.directory, "");
    g.pages.push(("bulk-result".to_owned(), html));
    let (query, chain) = (PageQuery::default(), AuditLogStatus { sealed: None, waiting: 0 });
    let shown = HistoryPage {
        me: g.cast.human("olga"),
        directory: &g.cast.directory,
        query: &query,
        asks: &over,
        found: None,
        next: None,
        later_page: false,
        chain: &chain,
    };
    let html = history::page(&frame, &shown);
    g.pages.push(("history".to_owned(), html));
    task(&mut g);
    g
}

/// The step before an approval with changes.
fn changed(g: &mut Gallery) {
    let (question, _) = kinds().remove(1);
    let ask = g.cast.ask(new_ask(question.clone()));
    let edits = Some(map(json!({"to": WORD, "text": WHY, "المبلغ": "مئتان"})));
    let reply = Reply { answer: Answer::Approved { edits }, comment: Some(WHY.to_owned()) };
    let sent = pairs(&[("action", "approve"), ("comment", WHY)]);
    let desk = AnswerFormContext::inbox(ask, &g.frame());
    let step = SecondStep::if_required(
        g.cast.seen(ask),
        &reply,
        &sent,
        desk,
        SecondStepContext::default(),
    )
    .unwrap();
    g.show_with("step", ask, "olga", &RequestContext::default(), Some(&step));
}

fn task(g: &mut Gallery) {
    let mut story = TaskScenario::begin(g, new(ASK, &[WHY, WORD]));
    story.started().raise(ASK).show("task");
    let mut story = TaskScenario::begin(g, new(ASK, &[WHY, WORD]));
    story.started().deliver(PayloadKind::Inline, Some("text/markdown"), true);
    let note = comment(None, Severity::Minor, WHY);
    story.judge(Verdict::ChangesRequested, vec![note], &[WHY]);
    let text = format!("# {WORD}\n\n{WHY}\n\n- {WORD}\n");
    let around = story.around(None, Some(content(&text)));
    story.show_with("task-delivered", "olga", &around, None, None);
}

fn is_arabic(c: char) -> bool {
    ('\u{600}'..='\u{6ff}').contains(&c)
}

/// The first letter of a text says which way it reads.
fn reads_right_to_left(text: &str) -> bool {
    text.chars().find(|c| c.is_alphabetic()).is_some_and(is_arabic)
}

fn words(element: ElementRef<'_>) -> String {
    element.text().collect()
}

/// Every text that begins with a word from right to left lies in an element that reads that way.
#[test]
fn text_from_right_to_left_reads_from_right_to_left() {
    let g = gallery();
    let mut seen = 0;
    for (name, html) in &g.pages {
        let page = Html::parse_document(html);
        for node in all(&page, "body")[0].descendants() {
            let Node::Text(text) = node.value() else { continue };
            if !reads_right_to_left(text) {
                continue;
            }
            seen += 1;
            let above: Vec<ElementRef<'_>> =
                node.ancestors().filter_map(ElementRef::wrap).collect();
            // What only screen readers say has no direction to be seen.
            if above.iter().any(|e| e.value().classes().any(|class| class == "vh")) {
                continue;
            }
            let around =
                above.iter().find(|e| e.attr("dir") == Some("auto") || e.value().name() == "bdi");
            let around = around.unwrap_or_else(|| panic!("{name}: {}", above[0].html()));
            let first = words(*around);
            let first = first.trim_start_matches("Error: ");
            assert!(reads_right_to_left(first), "{name}: {}", around.html());
        }
        for field in all(&page, "input[value], textarea") {
            let value = field.attr("value").map_or_else(|| words(field), str::to_owned);
            let hidden = ["hidden", "checkbox", "radio"];
            if value.chars().any(is_arabic) && !hidden.contains(&field.attr("type").unwrap_or("")) {
                assert_eq!(field.attr("dir"), Some("auto"), "{name}: {}", field.html());
            }
        }
        for field in all(&page, "textarea:not([readonly]), input[type=text], input[type=search]") {
            assert_eq!(field.attr("dir"), Some("auto"), "{name}: {}", field.html());
        }
    }
    assert!(seen > 300, "only {seen} texts were looked at");
}

/// The owner of the agent is warned before answering over a claim, and says so with a tick.
#[test]
fn a_claim_is_shown_and_its_owner_is_asked_first() {
    let g = gallery();
    let (_, html) = g.pages.iter().find(|(name, _)| name == "0-claimed").unwrap();
    let page = Html::parse_document(html);
    let note = all(&page, "#claimed")[0];
    assert!(words(note).contains(&format!("Claimed by {NAME}")), "{}", words(note));
    let tick = all(&page, "#claimed input[type=checkbox][form=answer][required]")[0];
    assert_eq!((tick.attr("name"), tick.attr("value")), (Some("over"), Some("mark")));
    assert_eq!(all(&page, "#claimed ~ form#answer").len(), 1, "it stands before the answer");
}
