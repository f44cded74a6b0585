//! What stands around a request: requests like it, rounds, people, a discussion, the record, the
//! receipt, and what was changed in a proposal.

use kernel::ask::Route;
use kernel::audit::Digest;
use kernel::command::NewAsk;
use kernel::question::{Answer, QuestionBody, Reply};
use kernel::{ActorRef, Ask, AskCommand, AskEvent, AskId, DomainEvent, Event, Subject};
use scraper::Html;
use serde_json::json;
use views::answer_form::AnswerFormContext;
use views::answer_form::second_step::{SecondStep, SecondStepContext};
use views::request::related::{RequestContext, SimilarOutcomes};
use views::request::timeline::{RequestEvents, TimelineEntry};
use views::request::{CheckResult, ReceiptVerification, ReceiptView};

use crate::every_page::{all, text};
use crate::fixture::{id, map, new_ask, question, say};
use crate::samples::{Gallery, HOSTILE, approve, pages, pairs};

fn refund(n: u32) -> NewAsk {
    new_ask(question(&format!("Refund order {n}?"), approve(json!({"amount": n}))))
}

/// Asks and answers several of a kind, and gives them newest first.
fn answered(g: &mut Gallery, answers: &[Answer]) -> Vec<Ask> {
    let mut asks: Vec<Ask> = Vec::new();
    for (n, answer) in (1..).zip(answers) {
        let ask = g.cast.ask(refund(n));
        g.cast.act("olga", AskCommand::Answer(ask, Box::new(say(answer.clone()))));
        asks.push(g.cast.seen(ask).clone());
    }
    asks.reverse();
    asks
}

fn entry(g: &Gallery, ask: AskId, seq: u64, by: ActorRef, what: DomainEvent) -> TimelineEntry {
    let event = Event { subject: Subject::Ask(ask), seq, at: g.cast.now, by, what };
    let block = (seq < 3).then_some(7);
    TimelineEntry { event, hash: Digest::of(&seq.to_be_bytes()), block }
}

pub(crate) fn gallery(g: &mut Gallery) {
    let yes = Answer::Approved { edits: None };
    let mut others = answered(g, &[yes.clone(), Answer::REJECTED, yes]);
    let odd = g.cast.ask(new_ask(question("Delete the account?", approve(json!({})))));
    others.push(g.cast.seen(odd).clone());

    let first = g.cast.ask(refund(900));
    let back = Reply { answer: Answer::CHANGES, comment: Some(HOSTILE.to_owned()) };
    g.cast.act("olga", AskCommand::Answer(first, Box::new(back)));
    let pool = Route::Pool { group: None };
    let ask = g.cast.ask(NewAsk { follows: Some(first), route: pool, ..refund(450) });
    g.cast.act("mark", AskCommand::Comment(ask, HOSTILE.to_owned()));
    let agent = ActorRef::Agent("release-bot".parse().unwrap());
    let entries = vec![
        entry(g, ask, 1, agent, AskEvent::Opened.into()),
        entry(g, ask, 2, ActorRef::Human(id("mark")), AskEvent::Claimed.into()),
        entry(g, ask, 3, ActorRef::System, AskEvent::Escalated { assignees: Vec::new() }.into()),
    ];
    let around = RequestContext {
        alike: SimilarOutcomes::of(g.cast.seen(ask), &others, false),
        earlier: vec![g.cast.seen(first).clone()],
        lookers: vec![id("mark")],
        hidden_until: Some(g.cast.now.plus_seconds(3600)),
        trail: RequestEvents { entries, more: true },
        ..RequestContext::default()
    };
    g.show_with("around-open", ask, "olga", &around, None);
    g.show_with("around-colleague", ask, "mark", &around, None);

    let details = json!({"to": "team@example.com", "body": "Hi all,\nv2.1.0 is out."});
    let body = QuestionBody::Approve {
        details: map(details.clone()),
        editable: true.into(),
        reject_requires_reason: false,
        reject_options: Vec::new(),
    };
    let ask = g.cast.ask(new_ask(question("Send the release notes?", body)));
    let mut edited = map(details.clone());
    edited.insert("to".to_owned(), json!(HOSTILE));
    edited.insert("body".to_owned(), json!("Hi all,\nv2.1.1 is out."));
    let sent = pairs(&[("action", "approve"), ("edits.0", HOSTILE), ("comment", "Typo")]);
    let comment = Some("Typo".to_owned());
    let reply = Reply { answer: Answer::Approved { edits: Some(edited) }, comment };
    let desk = AnswerFormContext::inbox(ask, &g.frame());
    let step = SecondStep::if_required(
        g.cast.seen(ask),
        &reply,
        &sent,
        desk,
        SecondStepContext::default(),
    )
    .unwrap();
    g.show_with("around-step", ask, "olga", &RequestContext::default(), Some(&step));
    let reply = Reply { comment: None, ..reply };
    g.cast.act("olga", AskCommand::Answer(ask, Box::new(reply)));
    let mut checked = ReceiptVerification::default();
    checked.add_check(CheckResult::Holds, "The signature is that of http://localhost:3402.");
    checked.add_check(CheckResult::Later, "The event is in no sealed block yet.");
    checked.words = vec!["olga approved it.".to_owned()];
    let proof = |checked| Some(ReceiptView::Signed { id: "rcpt_01".to_owned(), checked });
    let around =
        RequestContext { proof: proof(Some(checked.clone())), ..RequestContext::default() };
    g.show_with("around-over", ask, "olga", &around, None);
    checked.add_check(CheckResult::Fails, "It was revoked, and no longer counts.");
    let around = RequestContext { proof: proof(Some(checked)), ..RequestContext::default() };
    g.show_with("around-refuted", ask, "olga", &around, None);
    let around = RequestContext { proof: Some(ReceiptView::Erased), ..RequestContext::default() };
    g.show_with("around-erased", ask, "olga", &around, None);
}

fn page(name: &str) -> Html {
    Html::parse_document(&pages().iter().find(|(n, _)| n == name).expect(name).1)
}

fn main_of(name: &str) -> String {
    text(all(&page(name), "main")[0])
}

#[test]
fn requests_like_it_are_counted() {
    let main = main_of("around-open");
    assert!(main.contains("Asked 3 times in 30 days: 2 approved, 1 rejected"), "{main}");
    assert!(main.contains("4 in 30 days: 2 approved, 1 rejected, 1 still open"), "{main}");
    assert!(main_of("approve-open").contains("First of its kind in 30 days"));
    let mut g = Gallery::new();
    let others = answered(&mut g, &[Answer::REJECTED, Answer::REJECTED]);
    let ask = g.cast.ask(refund(3));
    let alike = SimilarOutcomes::of(g.cast.seen(ask), &others, true);
    let kind = alike.kind().unwrap();
    assert_eq!(kind, "More than 2 in 30 days. Of the newest 2: 2 rejected");
    assert_eq!(alike.same().unwrap(), "2 of the newest 2: 2 rejected");
    assert_eq!(SimilarOutcomes::of(g.cast.seen(ask), &[], false), SimilarOutcomes::default());
}

/// Whoever answers for the agent learns whom it reaches; a colleague only that there is a pool.
#[test]
fn members_of_a_pool_are_named_to_who_may_know() {
    let seats = |name: &str| text(all(&page(name), ".seats")[0]);
    assert_eq!(seats("around-open"), "Anyone qualified in the project Mark Osei, Olga Petrova");
    assert_eq!(seats("around-colleague"), "Anyone qualified in the project");
}

#[test]
fn the_key_is_told() {
    let main = main_of("around-open");
    assert!(main.contains("Key key_00000000000000000000000001"), "{main}");
}

#[test]
fn rounds_remarks_and_the_record_are_told_and_hostile_words_are_inert() {
    let main = main_of("around-open");
    assert!(main.contains("2 revisions") && main.contains("Revision 1. Refund order 900?"));
    assert!(main.contains("Mark Osei is looking at this too."));
    assert!(main.contains("It comes back in 1 h"));
    assert!(main.contains("The agent release-bot opened it first"), "{main}");
    assert!(main.contains("Mark Osei claimed it") && main.contains("sealed in block 7"));
    assert!(main.contains("Countersign asked more people") && main.contains("not sealed yet"));
    assert!(main.contains("There are more events."));
    for name in ["around-open", "around-step", "around-over"] {
        assert!(all(&page(name), "main script, main img").is_empty(), "{name}");
        // What a hidden field sends back is as it came; what is read is in sight.
        let read = main_of(name);
        assert!(!read.contains('\u{202e}') && !read.contains('\u{200b}'), "{name}");
    }
}

#[test]
fn a_changed_proposal_is_shown_against_the_agents() {
    let shown = page("around-step");
    let button = text(all(&shown, ".act.yes")[0]);
    assert!(button.starts_with("Approve with changes"), "{button}");
    assert!(
        !button.contains("Send the release notes"),
        "the question's values do not hold: {button}"
    );
    let diff = text(all(&shown, ".diff")[0]);
    assert!(diff.contains("The agent proposed: team@example.com Changed to: Pay"), "{diff}");
    assert!(diff.contains("removed: v2.1.0 is out.") && diff.contains("added: v2.1.1 is out."));
    assert!(all(&shown, "input[name='edits.0'][type=hidden]").len() == 1);
    assert!(main_of("around-over").contains("Changes to the proposal"));
}

#[test]
fn a_receipt_says_what_holds() {
    let over = main_of("around-over");
    assert!(over.contains("Receipt verified") && over.contains("Not yet: The event is in no"));
    let refuted = main_of("around-refuted");
    assert!(refuted.contains("Receipt not valid"));
    assert!(refuted.contains("Not valid: It was revoked"));
    assert!(main_of("around-erased").contains("its receipt can no longer be created"));
    assert!(!main_of("approve-open").contains("Download the receipt"));
}
