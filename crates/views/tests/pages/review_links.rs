//! The review page: what whoever holds a link sees, state by state.

use kernel::ask::DefaultAction;
use kernel::command::{NewAsk, NewOnExpiry};
use kernel::form::{FileRef, Form};
use kernel::question::{Answer, Question, QuestionBody, Reply};
use kernel::{Actor, AskCommand, AskId, Refusal};
use scraper::Html;
use serde_json::json;
use views::answer_form::problem::ProblemLocation;
use views::answer_form::submitted;
use views::answer_form::{ProofProvider, ProofStep};
use views::banner::ActionOutcome;
use views::components::wording::VisibleText;
use views::message_page;
use views::review::ReviewDraft;
use views::review::{self, ReviewPage};
use views::{AnswerDraft, FormProblems, PageContext, SubmittedForm};

use crate::every_page::{all, text};
use crate::fixture::{new_ask, question, say};
use crate::samples::{Gallery, HOSTILE, approve, kinds, options, pages, pairs};

const CASE: &str = "review_01KGRT0000000000000000000";

fn frame(g: &Gallery) -> PageContext {
    PageContext::guest(g.cast.now, "bm9uY2U".to_owned())
}

fn show(
    g: &mut Gallery,
    name: &str,
    ask: AskId,
    step: usize,
    notice: Option<&ActionOutcome>,
    draft: Option<&AnswerDraft>,
) {
    show_with(g, name, ask, (step, notice, draft), None);
}

fn show_with(
    g: &mut Gallery,
    name: &str,
    ask: AskId,
    (step, notice, draft): (usize, Option<&ActionOutcome>, Option<&AnswerDraft>),
    confirm: Option<&ProofStep>,
) {
    let frame = frame(g);
    let review = ReviewPage {
        ask: g.cast.seen(ask),
        case_id: CASE,
        token: "link-token",
        holder: &Actor::link_holder(ask),
        directory: &g.cast.directory,
        step,
        notice,
        draft,
        confirm,
        second: None,
    };
    let html = review::page(&frame, &review);
    g.pages.push((format!("link-{name}"), html));
}

fn steps() -> Form {
    let form = json!({"steps": [
        {"title": "You", "description": "Who travels.", "fields": [
            {"key": "name", "label": "Full name", "type": "text", "required": true,
                "hint": "As in your passport", "placeholder": "Ann Example"},
            {"key": "passport", "label": "Passport number", "type": "text", "required": true,
                "sensitive": true},
            {"key": "abroad", "label": "Do you travel abroad?", "type": "boolean", "required": true},
            {"key": "country", "label": "Country", "type": "text", "required": true,
                "conditional": {"field": "abroad", "operator": "eq", "value": true}},
        ]},
        {"title": "Visa", "fields": [
            {"key": "visa", "label": "Visa number", "type": "text",
                "conditional": {"field": "abroad", "operator": "eq", "value": true}},
        ]},
        {"title": "Trip", "fields": [
            {"key": "from", "label": "First day", "type": "date", "required": true},
            {"key": "scan", "label": "Booking", "type": "file", "required": true},
            {"key": "days", "label": "How many days?", "type": "range", "required": true,
                "validation": {"min": 1, "max": 10}},
        ]},
        {"title": "Check what you entered", "fields": []},
    ]});
    serde_json::from_value(form).unwrap()
}

fn kept(question: &Question, rounds: &[&[(&str, &str)]]) -> ReviewDraft {
    let mut kept = ReviewDraft::default();
    for round in rounds {
        kept.merge(question, pairs(round));
    }
    kept
}

/// Every state of the page, for the rules that hold on all pages and for looking at them.
pub(crate) fn gallery(g: &mut Gallery) {
    for (name, question, reply) in kinds() {
        let new = || NewAsk {
            on_expiry: NewOnExpiry::Report(DefaultAction::Skip),
            ..new_ask(question.clone())
        };
        let ask = g.cast.ask(new());
        g.cast.advance(181);
        show(g, &format!("{name}-open"), ask, 0, None, None);
        let holder = Actor::link_holder(ask);
        g.cast.run(holder, AskCommand::Answer(ask, Box::new(reply)));
        g.cast.advance(65);
        show(g, &format!("{name}-answered"), ask, 0, Some(&ActionOutcome::Sent), None);
        let ask = g.cast.ask(new());
        g.cast.advance(1_801);
        g.cast.run(Actor::System, AskCommand::Expire(ask));
        show(g, &format!("{name}-expired"), ask, 0, None, None);
        let ask = g.cast.ask(new());
        let holder = Actor::link_holder(ask);
        g.cast.run(holder, AskCommand::Cancel(ask, Some("I left the company".to_owned())));
        show(g, &format!("{name}-closed"), ask, 0, Some(&ActionOutcome::TurnedDown), None);
    }
    stepping(g);
    confirming(g);
    races(g);
    hostile(g);
    let frame = frame(g);
    let notes = [
        ("link-nothing", message_page::no_such_link(&frame)),
        ("link-too-fast", message_page::too_fast(&frame, "/review/x")),
    ];
    g.pages.extend(notes.map(|(name, html)| (name.to_owned(), html)));
}

fn stepping(g: &mut Gallery) {
    let asked =
        question("I book your trip. What should I know?", QuestionBody::Provide { form: steps() });
    let ask = g.cast.ask(new_ask(asked.clone()));
    show(g, "step-1", ask, 0, None, None);
    let first = [
        ("step", "0"),
        ("field.name", "Ann"),
        ("field.passport", "X123456"),
        ("field.abroad", "false"),
    ];
    let mut so_far = kept(&asked, &[&first]);
    let draft = so_far.draft(&asked, FormProblems::default());
    show(g, "step-1-again", ask, 0, Some(&ActionOutcome::Saved), Some(&draft));
    let file = FileRef::new("ab".repeat(32), "booking.pdf", 20_480, "application/pdf").unwrap();
    let mut sent = pairs(&[("step", "2"), ("field.from", "2026-03-01"), ("field.days", "4")]);
    sent.files.push(("field.scan".to_owned(), file));
    so_far.merge(&asked, sent);
    let draft = so_far.draft(&asked, FormProblems::default());
    show(g, "step-3-again", ask, 2, None, Some(&draft));
    show(g, "step-4", ask, 3, None, Some(&draft));
    let wrong = kept(&asked, &[&[("step", "0"), ("field.name", ""), ("field.abroad", "true")]]);
    let mut whole = wrong.form.clone();
    whole.pairs.push(("action".to_owned(), "provide".to_owned()));
    let problem = submitted::reply(&asked, &whole).unwrap_err();
    let problem = problem.for_fields(|key| ["name", "passport", "country"].contains(&key));
    let draft = wrong.draft(&asked, problem);
    show(g, "step-1-refused", ask, 0, None, Some(&draft));
}

/// The step for a proof of a person: a page to go to, a field to paste into, nobody to ask; what
/// came back, and what was wrong with it. Names of providers are the operator's, words all the
/// same.
fn confirming(g: &mut Gallery) {
    let asked = question("Pay out 4,000?", approve(json!({"amount": 4000})));
    let ask = g.cast.ask(new_ask(asked));
    let reply = say(Answer::Approved { edits: None });
    let way = |name: &str, title: &str, href: Option<&str>| ProofProvider {
        name: name.to_owned(),
        title: VisibleText::of(title),
        href: href.map(|href| href.parse().unwrap()),
    };
    let acme = way("acme", "Acme ID", Some("https://id.example/start?a=1&b=%3Cx%3E"));
    let notary = way("notary", HOSTILE, None);
    let seen = g.cast.seen(ask).clone();
    let confirm = |ways: Vec<ProofProvider>| ProofStep {
        made_for: vec![
            ("Request".to_owned(), CASE.to_owned()),
            ("Challenge".to_owned(), "c".repeat(43)),
        ],
        ..ProofStep::new(&seen, &reply, ways)
    };
    let mut returned = confirm(vec![acme.clone()]);
    returned.confirmed = vec!["Acme ID".to_owned()];
    let mut wrong = confirm(vec![acme.clone(), notary.clone()]);
    wrong.problem =
        FormProblems::one(ProblemLocation::Proof("notary".to_owned()), "It is not fresh");
    for (name, step) in [
        ("confirm-page", confirm(vec![acme])),
        ("confirm-paste", confirm(vec![notary])),
        ("confirm-nobody", confirm(Vec::new())),
        ("confirm-returned", returned),
        ("confirm-wrong", wrong),
    ] {
        show_with(g, name, ask, (0, None, None), Some(&step));
    }
}

fn races(g: &mut Gallery) {
    let asked = question("Deploy v2.1.0?", approve(json!({"environment": "production"})));
    let ask = g.cast.ask(new_ask(asked.clone()));
    let reply = Reply { answer: Answer::REJECTED, comment: Some("Not on a Friday".to_owned()) };
    g.cast.act("olga", AskCommand::Answer(ask, Box::new(reply)));
    g.cast.advance(70);
    let Err(refusal) = g.cast.attempt_as(
        Actor::link_holder(ask),
        AskCommand::Answer(ask, Box::new(say(Answer::Approved { edits: None }))),
    ) else {
        panic!()
    };
    let mine = pairs(&[("comment", "Fine with me"), ("action", "approve")]);
    let draft = AnswerDraft::new(&asked, &mine, FormProblems::default());
    show(g, "lost-race", ask, 0, Some(&ActionOutcome::Refused(refusal)), Some(&draft));

    let edited = pairs(&[("edits.0", "staging"), ("action", "approve")]);
    let ask = g.cast.ask(new_ask(asked.clone()));
    let problem = submitted::reply(&asked, &edited).unwrap_err();
    let draft = AnswerDraft::new(&asked, &edited, problem);
    show(g, "approved-with-edits", ask, 0, None, Some(&draft));
    let late = ActionOutcome::Refused(Refusal::TimedOut { at: g.cast.now });
    g.cast.advance(1_801);
    show(g, "too-late", ask, 0, Some(&late), Some(&draft));
}

fn hostile(g: &mut Gallery) {
    let field = json!({"key": "why", "label": HOSTILE.chars().take(200).collect::<String>(),
        "type": "x-unheard-of", "hint": HOSTILE, "placeholder": HOSTILE,
        "default": format!("{HOSTILE}{}", "x".repeat(10_000))});
    let form: Form = serde_json::from_value(json!({"fields": [field]})).unwrap();
    let prompt: String = HOSTILE.chars().cycle().take(500).collect();
    let context = format!("{HOSTILE}\n{}", "long ".repeat(4_000));
    let asked = Question::new(prompt, Some(context), QuestionBody::Provide { form }).unwrap();
    let ask = g.cast.ask(new_ask(asked));
    show(g, "hostile", ask, 0, None, None);
    let labels: Vec<String> = (1..=60).map(|n| format!("Option {n} \u{202e}{HOSTILE}")).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let many = question("Which of these?", options(&labels, kernel::question::PickMode::Many));
    let ask = g.cast.ask(new_ask(many));
    show(g, "hostile-options", ask, 0, None, None);
}

fn page(name: &str) -> Html {
    let pages = pages();
    Html::parse_document(&pages.iter().find(|(n, _)| n == name).expect(name).1)
}

fn main_of(name: &str) -> String {
    text(all(&page(name), "main")[0])
}

/// HITL-222: what is kept, who can confirm it, and what to press; nothing to press where nothing
/// could come of it.
#[test]
fn the_step_for_a_proof_says_what_is_needed() {
    let sends = |name: &str| all(&page(name), "button[value=verify]").len();
    for (name, send) in [
        ("link-confirm-page", 0),
        ("link-confirm-paste", 1),
        ("link-confirm-nobody", 0),
        ("link-confirm-returned", 1),
        ("link-confirm-wrong", 1),
    ] {
        let said = main_of(name);
        assert!(said.contains("was not sent yet: Approved"), "{name}: {said}");
        assert_eq!(sends(name), send, "{name}");
        assert_eq!(all(&page(name), "button[value=change]").len(), 1, "{name}");
        assert!(all(&page(name), "#comment").is_empty(), "{name}: the card is not there as well");
    }
    assert!(main_of("link-confirm-returned").contains("Confirmed by Acme ID."));
    let wrong = page("link-confirm-wrong");
    assert_eq!(all(&wrong, "#problems a[href='#proof-notary']").len(), 1);
    assert_eq!(all(&wrong, "textarea#proof-notary[aria-invalid=true]").len(), 1);
    let away = all(&page("link-confirm-page"), "a[href^='https://id.example']").len();
    assert_eq!(away, 1);
}

/// HITL-040, HITL-044: every form posts to the page itself and carries the token; nothing leads to
/// a place that needs an account.
#[test]
fn the_token_is_all_it_takes() {
    for (name, html) in pages().iter().filter(|(name, _)| name.starts_with("link-")) {
        let page = Html::parse_document(html);
        for form in all(&page, "form") {
            assert_eq!(form.attr("action"), Some(format!("/review/{CASE}").as_str()), "{name}");
        }
        // Only to whom the operator named does a link lead away, and it tells nothing.
        let links = all(&page, "a:not([rel=noreferrer])");
        let links: Vec<_> = links.iter().filter_map(|a| a.attr("href")).collect();
        let local = |href: &&str| href.starts_with('#') || href.starts_with("/review/");
        assert!(links.iter().all(local), "{name}: {links:?}");
        assert_eq!(all(&page, "script[nonce]").len(), 2, "{name}");
    }
}

/// HITL-042, HITL-043, HITL-047, HITL-066: what is over shows how, and no form.
#[test]
fn what_is_over_can_only_be_read() {
    for (name, ..) in kinds() {
        for (state, says) in [
            ("answered", "Answered by someone with the link. The agent was given this link"),
            ("expired", "Expired No one answered in time. What happens now. The agent continues"),
            ("closed", "Withdrawn by someone with the link."),
        ] {
            let page = page(&format!("link-{name}-{state}"));
            assert!(all(&page, "form").is_empty(), "{name} {state}");
            assert!(text(all(&page, "main")[0]).contains(says), "{name} {state}");
        }
    }
    assert!(main_of("link-approve-closed").contains("I left the company"));
    assert!(main_of("link-edit-answered").contains("Not before Monday"));
    assert!(!main_of("link-provide-answered").contains("hunter2"));
}

/// HITL-062: who was first, what they said, and what this person had written.
#[test]
fn a_lost_race_shows_the_winner_and_loses_nothing() {
    let page = page("link-lost-race");
    let main = text(all(&page, "main")[0]);
    assert!(main.contains("Already answered by Olga Petrova, 1 min ago"), "{main}");
    assert!(main.contains("Not on a Friday"), "{main}");
    assert_eq!(text(all(&page, "textarea#written")[0]), "Fine with me");
    let late = main_of("link-too-late");
    assert!(late.contains("Expired") && late.contains("staging"), "{late}");
}

/// HITL-120: only an approval comes back with changes; everything can be turned down (HITL-113).
#[test]
fn each_kind_offers_what_its_type_allows() {
    for (name, question, _) in kinds() {
        let page = page(&format!("link-{name}-open"));
        let changes = matches!(question.body(), QuestionBody::Approve { .. });
        assert_eq!(!all(&page, "button[value=changes]").is_empty(), changes, "{name}");
        assert_eq!(all(&page, ".hand button[value=cancel]").len(), 1, "{name}");
    }
    assert!(all(&page("link-provide-open"), "#comment").is_empty());
}

/// HITL-131, HITL-135, HITL-139: one step at a time; what cannot apply is not there, what may apply
/// comes with its condition; a summary at the end.
#[test]
fn forms_come_step_by_step() {
    let first = page("link-step-1");
    assert!(text(all(&first, ".answer")[0]).contains("Step 1 of 4"));
    assert_eq!(all(&first, ".answer input[name=step][value='0']").len(), 1);
    assert_eq!(all(&first, "[data-if='field.abroad'][data-op=eq] #field-country").len(), 1);
    assert!(all(&first, "#field-from, button[value=back], button[value=provide]").is_empty());
    assert_eq!(all(&first, "button[value=next]").len(), 1);
    // The visa does not apply, so its step is skipped.
    assert_eq!(text(all(&page("link-step-3-again"), "button[value=back]")[0]), "Go back: You");
    let last = main_of("link-step-4");
    for part in
        ["Step 4 of 4", "Full name Ann", "abroad? no", "booking.pdf", "(secret, not shown again)"]
    {
        assert!(last.contains(part), "{part}: {last}");
    }
    assert_eq!(all(&page("link-step-4"), "button[value=provide]").len(), 1);
}

/// HITL-048, HITL-137: what is kept comes back; secrets and uploads are said to be there and never
/// shown.
#[test]
fn what_is_kept_comes_back_and_secrets_do_not() {
    let again = page("link-step-1-again");
    assert_eq!(all(&again, "#field-name")[0].attr("value"), Some("Ann"));
    let secret = all(&again, "#field-passport")[0];
    assert_eq!((secret.attr("value"), secret.attr("required")), (Some(""), None));
    assert!(!again.html().contains("X123456"));
    assert!(text(all(&again, "#field-passport-held")[0]).contains("entered this already"));
    let upload = page("link-step-3-again");
    assert!(text(all(&upload, "#field-scan-held")[0]).contains("booking.pdf is uploaded"));
    assert!(all(&upload, "#field-scan[required]").is_empty());
    let refused = page("link-step-1-refused");
    let links: Vec<_> =
        all(&refused, "#problems a").iter().filter_map(|a| a.attr("href")).collect();
    assert_eq!(links, ["#field-name", "#field-passport", "#field-country"]);
}

/// HITL-137: of a step that is saved as it is typed, only what was on the page changes.
#[test]
fn a_step_replaces_what_was_kept_of_it() {
    let tags = json!([{"value": "a", "label": "A"}, {"value": "b", "label": "B"}]);
    let form = json!({"steps": [
        {"title": "1", "fields": [{"key": "tags", "label": "T", "type": "multiselect", "options": tags},
            {"key": "pin", "label": "P", "type": "text", "sensitive": true}]},
        {"title": "2", "fields": [{"key": "note", "label": "N", "type": "text"}]},
    ]});
    let asked =
        question("?", QuestionBody::Provide { form: serde_json::from_value(form).unwrap() });
    let both: &[(&str, &str)] =
        &[("step", "0"), ("field.tags", "a"), ("field.tags", "b"), ("field.pin", "7")];
    let of = |kept: &ReviewDraft, name: &str| -> Vec<String> {
        kept.form.values(name).map(str::to_owned).collect()
    };
    let so_far = kept(&asked, &[both, &[("step", "1"), ("field.note", "n"), ("token", "t")]]);
    assert_eq!((of(&so_far, "field.tags"), so_far.step), (vec!["a".into(), "b".into()], 1));
    let fewer = kept(&asked, &[both, &[("step", "0"), ("field.pin", "")]]);
    assert_eq!(of(&fewer, "field.tags"), [""]);
    assert_eq!(of(&fewer, "field.pin"), ["7"]);
    assert!(of(&so_far, "token").is_empty());
    // A step beyond the form is no step.
    let beyond = kept(&asked, &[&[("step", "99"), ("field.note", "n")]]);
    assert!(beyond.is_empty());
    assert_eq!(beyond.nearest_step(&asked, 99), 1);
    assert_eq!(SubmittedForm::default().values("x").count(), 0);
}

/// HITL-132: the agent's default is there until the person has had the field before them.
#[test]
fn defaults_wait_for_their_step() {
    let one = json!([{"value": "a", "label": "A"}]);
    let form = json!({"steps": [
        {"title": "1", "fields": [{"key": "name", "label": "N", "type": "text"},
            {"key": "tags", "label": "T", "type": "multiselect", "options": one, "default": ["a"]}]},
        {"title": "2", "fields": [{"key": "days", "label": "D", "type": "number", "default": 3}]},
    ]});
    let asked =
        question("?", QuestionBody::Provide { form: serde_json::from_value(form).unwrap() });
    let mut g = Gallery { cast: crate::fixture::PageFixture::new(), pages: Vec::new() };
    let ask = g.cast.ask(new_ask(asked.clone()));
    show(&mut g, "fresh", ask, 0, None, None);
    let so_far = kept(&asked, &[&[("step", "0"), ("field.name", "Ann")]]);
    let draft = so_far.draft(&asked, FormProblems::default());
    show(&mut g, "again", ask, 0, None, Some(&draft));
    show(&mut g, "next", ask, 1, None, Some(&draft));
    let [fresh, again, next] = [0, 1, 2].map(|n: usize| Html::parse_document(&g.pages[n].1));
    assert_eq!(all(&fresh, "#field-tags [checked]").len(), 1);
    assert_eq!(all(&again, "#field-tags [checked]").len(), 0);
    assert_eq!(all(&next, "#field-days")[0].attr("value"), Some("3"));
}

/// UX 2–4: hostile words are inert, whole and in sight, in a form too.
#[test]
fn hostile_words_stay_words() {
    for name in ["link-hostile", "link-hostile-options"] {
        let page = page(name);
        assert!(all(&page, "main script, main img").is_empty(), "{name}");
        assert_eq!(all(&page, "script").len(), 2, "{name}");
        // Values of options go back as they came; what is read is in sight.
        let read = text(all(&page, "html")[0]);
        assert!(!read.contains('\u{202e}') && !read.contains('\u{200b}'), "{name}");
        assert!(read.contains("⟨U+202E⟩"), "{name}");
    }
    let main = main_of("link-hostile");
    assert!(main.contains("</script><script>alert(1)</script>") && main.contains("$&"), "{main}");
    assert!(main.contains(&"x".repeat(10_000)));
    assert_eq!(all(&page("link-hostile"), "#field-why")[0].attr("value"), Some(""));
}
