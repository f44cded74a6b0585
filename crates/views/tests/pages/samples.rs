//! One of everything: each kind of question, and each page in each state.

use std::sync::LazyLock;

use kernel::ask::{DefaultAction, Priority, Route};
use kernel::command::{NewAsk, NewOnExpiry};
use kernel::form::Form;
use kernel::question::{Answer, Choice, Options, PickMode, Question, QuestionBody, Reply};
use kernel::{Actor, Ask, AskCommand, AskId, Refusal};
use serde_json::json;
use views::answer_form::second_step::SecondStep;
use views::answer_form::submitted::{self, SubmittedForm};
use views::banner::ActionOutcome;
use views::components::query::PageQuery;
use views::inbox::row::InboxEntry;
use views::inbox::{self, InboxPage, SearchCount, Tab};
use views::locale::{self, Language, ReaderLocale};
use views::message_page::{self, NewToken};
use views::request::related::RequestContext;
use views::request::{self, RequestPage};
use views::{AnswerDraft, FormProblems, PageContext};

use crate::fixture::{PageFixture, id, map, new_ask, question, say};

pub(crate) const HOSTILE: &str = "Pay </script><script>alert(1)</script> <img src=x onerror=alert(1)> $& \"quoted\" 'so' \
     \u{202e}gpj.exe\u{200b} {{ 7*7 }} javascript:alert(1) &amp; done?";

pub(crate) fn form() -> Form {
    let yes_no =
        json!([{"value": "std", "label": "Standard"}, {"value": "exp", "label": "Express"}]);
    let form = json!({"steps": [
        {"title": "The shipment", "description": "As on the label.", "fields": [
            {"key": "name", "label": "Recipient", "type": "text", "required": true,
                "placeholder": "Ann Example", "hint": "As it stands on the parcel",
                "validation": {"minLength": 2, "maxLength": 60}},
            {"key": "notes", "label": "Notes", "type": "textarea", "default": "Ring twice\nThen wait"},
            {"key": "weight", "label": "Weight in kg", "type": "number", "required": true,
                "validation": {"min": 0.1, "max": 30}},
            {"key": "when", "label": "Pick-up day", "type": "date"},
            {"key": "mail", "label": "Email", "type": "email", "required": true},
            {"key": "site", "label": "Tracking page", "type": "url"},
        ]},
        {"title": "How", "fields": [
            {"key": "insured", "label": "Insured?", "type": "boolean", "required": true},
            {"key": "sum", "label": "Insured sum", "type": "number", "required": true,
                "conditional": {"field": "insured", "operator": "eq", "value": true}},
            {"key": "service", "label": "Service", "type": "select", "required": true,
                "options": yes_no},
            {"key": "extras", "label": "Extras", "type": "multiselect", "options": [
                {"value": "sig", "label": "Signature"}, {"value": "cold", "label": "Cooling"}]},
            {"key": "mood", "label": "How sure are you?", "type": "range", "required": true,
                "validation": {"min": 1, "max": 5}},
            {"key": "pin", "label": "Depot PIN", "type": "text", "sensitive": true, "required": true},
            {"key": "scan", "label": "Scan of the label", "type": "file"},
            {"key": "colour", "label": "Colour", "type": "x-colour"},
        ]},
    ]});
    serde_json::from_value(form).unwrap()
}

pub(crate) fn options(labels: &[&str], pick: PickMode) -> QuestionBody {
    let choices = labels.iter().map(|label| Choice::plain(*label)).collect();
    QuestionBody::Choose { options: Options::new(choices).unwrap(), pick, suggested: None }
}

pub(crate) fn approve(details: serde_json::Value) -> QuestionBody {
    QuestionBody::Approve {
        details: map(details),
        editable: false.into(),
        reject_requires_reason: false,
        reject_options: Vec::new(),
    }
}

/// Every kind of question with an answer to it.
pub(crate) fn kinds() -> Vec<(&'static str, Question, Reply)> {
    let refund = approve(json!({
        "amount": 1250.5, "currency": "EUR", "recipient": "ann@example.com", "order": "A-1007",
        "reason": "Parcel lost in transit, carrier confirmed",
        "lines": [{"sku": "LAMP-2", "qty": 1, "price": 950}, {"sku": "CABLE", "qty": 3, "price": 100}],
    }));
    let context = "The carrier confirmed the loss on Tuesday. Refund policy allows up to 2,000 EUR \
                   without a manager.\nThe customer wrote twice.";
    let editable = QuestionBody::Approve {
        details: map(
            json!({"to": "team@example.com", "subject": "Release notes", "body": "Hi all,\nv2.1.0 is out."}),
        ),
        editable: true.into(),
        reject_requires_reason: true,
        reject_options: Vec::new(),
    };
    let described = |id: &str, label: &str, note: &str| Choice {
        id: id.to_owned(),
        label: label.to_owned(),
        description: Some(note.to_owned()),
    };
    let choices = Options::new(vec![
        described("rollback", "Roll back to v2.0.9", "Users lose the new search for now"),
        described("hotfix", "Ship a hotfix", "About 40 minutes, errors go on meanwhile"),
        described("wait", "Wait and watch", "Error rate is 2 % and steady"),
    ])
    .unwrap();
    let items = vec![
        described("1", "Delete 3 snapshots older than 90 days", "12 GB in eu-west-1"),
        Choice::plain("Rotate the deploy key"),
    ];
    let escalate = QuestionBody::Escalate {
        error: map(
            json!({"message": "Connection refused", "host": "db-1.internal:5432", "attempts": 3,
            "trace": "Error: connect ECONNREFUSED\n    at TCPConnectWrap.afterConnect\n    at run (job.js:42)"}),
        ),
        params: map(json!({"timeout": 30, "retries": 3})),
    };
    let filled =
        submitted::reply(&question("x", QuestionBody::Provide { form: form() }), &filled())
            .unwrap();
    vec![
        (
            "approve",
            Question::new("Should I refund order A-1007?", Some(context.to_owned()), refund)
                .unwrap(),
            say(Answer::Approved { edits: None }),
        ),
        (
            "edit",
            question("Send the release notes to the whole team?", editable),
            Reply {
                answer: Answer::REJECTED,
                comment: Some("Not before Monday: the docs are not out yet.".to_owned()),
            },
        ),
        (
            "choose",
            question(
                "Error rate is up after v2.1.0. What should I do?",
                QuestionBody::Choose { options: choices, pick: PickMode::One, suggested: None },
            ),
            say(Answer::Chosen { options: vec!["rollback".to_owned()] }),
        ),
        (
            "choose-long",
            question(
                "Which region?",
                options(
                    &[
                        "eu-west-1",
                        "eu-north-1",
                        "us-east-1",
                        "us-west-2",
                        "ap-south-1",
                        "sa-east-1",
                        "af-south-1",
                    ],
                    PickMode::One,
                ),
            ),
            say(Answer::Chosen { options: vec!["eu-north-1".to_owned()] }),
        ),
        (
            "choose-many",
            question(
                "Whom should I invite?",
                options(&["Design", "Legal", "Sales"], PickMode::Many),
            ),
            say(Answer::Chosen { options: vec!["Design".to_owned(), "Legal".to_owned()] }),
        ),
        (
            "provide",
            question("I need the details of the shipment.", QuestionBody::Provide { form: form() }),
            filled,
        ),
        (
            "confirm",
            question(
                "Clean up before the release",
                QuestionBody::Confirm {
                    items,
                    yes: "Clean up now".into(),
                    no: "Leave everything".into(),
                },
            ),
            say(Answer::Declined),
        ),
        (
            "escalate",
            question("The nightly import failed three times.", escalate),
            say(Answer::Abort),
        ),
        (
            "converse",
            question(
                "I am done with the draft. Anything you would change?",
                QuestionBody::Converse,
            ),
            say(Answer::Replied { text: "Shorter intro.\nThen ship it.".to_owned() }),
        ),
    ]
}

pub(crate) fn pairs(list: &[(&str, &str)]) -> SubmittedForm {
    SubmittedForm::new(list.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect())
}

pub(crate) fn filled() -> SubmittedForm {
    let mut submitted = pairs(&[
        ("action", "provide"),
        ("field.name", "Ann"),
        ("field.notes", "a\r\nb"),
        ("field.weight", "2.50"),
        ("field.when", "2026-03-01"),
        ("field.mail", "ann@example.com"),
        ("field.site", ""),
        ("field.insured", "false"),
        ("field.sum", ""),
        ("field.service", "exp"),
        ("field.extras", "cold"),
        ("field.extras", "sig"),
        ("field.mood", "4"),
        ("field.pin", "hunter2"),
        ("field.colour", "teal"),
    ]);
    let file =
        kernel::form::FileRef::new("ab".repeat(32), "label.png", 1_204, "image/png").unwrap();
    submitted.files.push(("field.scan".to_owned(), file));
    submitted
}

/// A cast, a frame for Olga, and pages by name.
pub(crate) struct Gallery {
    pub(crate) cast: PageFixture,
    pub(crate) pages: Vec<(String, String)>,
}

impl Gallery {
    pub(crate) fn new() -> Self {
        Self { cast: PageFixture::new(), pages: Vec::new() }
    }

    pub(crate) fn frame(&self) -> PageContext {
        let person = Some("Olga Petrova".to_owned());
        let csrf = "csrf-value".to_owned();
        PageContext { now: self.cast.now, person, csrf, waiting: Some(3), nonce: None }
    }

    pub(crate) fn show(
        &mut self,
        name: &str,
        ask: AskId,
        me: &str,
        notice: Option<&ActionOutcome>,
        draft: Option<&AnswerDraft>,
    ) {
        let frame = self.frame();
        let people = if me == "olga" { vec![id("mark")] } else { Vec::new() };
        let around = RequestContext::default();
        let request = RequestPage {
            ask: self.cast.seen(ask),
            me: self.cast.human(me),
            directory: &self.cast.directory,
            people: &people,
            notice,
            draft,
            around: &around,
            step: None,
        };
        let html = request::page(&frame, &request);
        self.pages.push((name.to_owned(), html));
    }

    /// The page with what stands around the request.
    pub(crate) fn show_with(
        &mut self,
        name: &str,
        ask: AskId,
        me: &str,
        around: &RequestContext,
        step: Option<&SecondStep>,
    ) {
        let request = RequestPage {
            ask: self.cast.seen(ask),
            me: self.cast.human(me),
            directory: &self.cast.directory,
            people: &[],
            notice: None,
            draft: None,
            around,
            step,
        };
        let html = request::page(&self.frame(), &request);
        self.pages.push((name.to_owned(), html));
    }

    pub(crate) fn inbox(
        &mut self,
        name: &str,
        waiting: &[Ask],
        recent: &[Ask],
        next: Option<&str>,
        notice: Option<&ActionOutcome>,
    ) {
        let items: Vec<InboxEntry> = waiting.iter().cloned().map(InboxEntry::one).collect();
        self.list(name, "", &items, recent, next, notice);
    }

    /// Any list, narrowed as an address says.
    pub(crate) fn list(
        &mut self,
        name: &str,
        address: &str,
        items: &[InboxEntry],
        recent: &[Ask],
        next: Option<&str>,
        notice: Option<&ActionOutcome>,
    ) {
        let frame = self.frame();
        let total = items.len().to_string();
        let query = PageQuery::read(address, &inbox::QUERY_PARAMETERS);
        let tab = query.get("view").and_then(Tab::named).unwrap_or_default();
        let counts = [(Tab::Inbox, total.clone()), (Tab::Mine, "2".to_owned())];
        let found = query.get("q").map(|_| SearchCount { n: items.len(), more: items.len() > 1 });
        let inbox = InboxPage {
            me: self.cast.human("olga"),
            directory: &self.cast.directory,
            tab,
            query: &query,
            counts: &counts,
            total: &total,
            found,
            items,
            next,
            later_page: false,
            live: "/inbox/live",
            recent,
            notice,
        };
        let html = inbox::page(&frame, &inbox);
        self.pages.push((name.to_owned(), html));
    }
}

/// Every page there is, by name.
pub(crate) fn pages() -> &'static [(String, String)] {
    static PAGES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| gallery().pages);
    &PAGES
}

/// The same pages for a reader of German.
pub(crate) fn german_pages() -> &'static [(String, String)] {
    static PAGES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
        let german = ReaderLocale { language: Language::German, time_zone: None };
        locale::with(german, || gallery().pages)
    });
    &PAGES
}

fn gallery() -> Gallery {
    let mut g = Gallery::new();
    let (mut open, mut over) = (Vec::new(), Vec::new());
    for (n, (name, question, reply)) in kinds().into_iter().enumerate() {
        let priority = Priority::ALL[n % 4];
        let new = || NewAsk { priority, ..new_ask(question.clone()) };
        let ask = g.cast.ask(new());
        g.cast.advance(181);
        g.show(&format!("{name}-open"), ask, "olga", None, None);
        open.push(g.cast.seen(ask).clone());
        g.cast.act("olga", AskCommand::Answer(ask, Box::new(reply)));
        g.cast.advance(75);
        g.show(&format!("{name}-answered"), ask, "olga", None, None);
        over.push(g.cast.seen(ask).clone());

        let ask =
            g.cast.ask(NewAsk { on_expiry: NewOnExpiry::Report(DefaultAction::Skip), ..new() });
        g.cast.act("olga", AskCommand::Claim(ask));
        g.show(&format!("{name}-claimed-by-other"), ask, "mark", None, None);
        g.cast.advance(1_801);
        g.show(&format!("{name}-lapsed"), ask, "olga", None, None);
        g.cast.run(Actor::System, AskCommand::Expire(ask));
        g.show(&format!("{name}-expired"), ask, "olga", None, None);

        let ask = g.cast.ask(new());
        g.cast.advance(1_801);
        g.cast.run(Actor::System, AskCommand::Expire(ask));
        g.show(&format!("{name}-failed"), ask, "olga", None, None);

        let ask = g.cast.ask(new());
        g.cast.run(Actor::System, AskCommand::Cancel(ask, Some("Not needed any more".to_owned())));
        g.show(&format!("{name}-cancelled"), ask, "olga", None, None);
        g.cast.run(Actor::System, AskCommand::Erase(ask));
        g.show(&format!("{name}-erased"), ask, "olga", None, None);
    }
    states(&mut g);
    let fresh = |ask: &Ask, g: &mut Gallery| {
        let new = new_ask(ask.question.value().unwrap().clone());
        let (timeout, on_expiry) = match ask.priority {
            Priority::Low => (None, NewOnExpiry::StayOpen),
            Priority::Critical => (Some(420), new.on_expiry),
            Priority::Normal | Priority::High => (Some(5_000), new.on_expiry),
        };
        g.cast.ask(NewAsk { priority: ask.priority, timeout, on_expiry, ..new })
    };
    let simple = question(
        "Deploy v2.1.0 to production?",
        approve(json!({"environment": "production", "version": "v2.1.0"})),
    );
    let quick = [
        NewAsk { priority: Priority::High, ..new_ask(simple) },
        new_ask(question(
            "Keep the beta running?",
            options(&["Keep it", "Stop it"], PickMode::One),
        )),
    ];
    let mut ids: Vec<AskId> = open.iter().map(|ask| fresh(ask, &mut g)).collect();
    ids.extend(quick.into_iter().map(|new| g.cast.ask(new)));
    g.cast.advance(200);
    let mut waiting: Vec<Ask> = ids.iter().map(|id| g.cast.seen(*id).clone()).collect();
    waiting.sort_by_key(|ask| ask.priority.rank());
    g.inbox("inbox", &waiting, &over, Some("/?after=2.01J"), Some(&ActionOutcome::Sent));
    g.inbox("inbox-empty", &[], &[], None, None);
    crate::inbox_and_history::gallery(&mut g, &over);
    messages(&mut g);
    crate::insights::gallery(&mut g);
    crate::review_links::gallery(&mut g);
    crate::sign_in_and_devices::gallery(&mut g);
    crate::related_requests::gallery(&mut g);
    crate::webhooks::gallery(&mut g);
    crate::conversations::gallery(&mut g);
    crate::tasks::gallery(&mut g);
    g
}

fn states(g: &mut Gallery) {
    let [(_, approve_q, yes), (_, edit_q, _), ..] = &kinds()[..] else { panic!() };
    let pool =
        g.cast.ask(NewAsk { route: Route::Pool { group: None }, ..new_ask(approve_q.clone()) });
    g.show("pool", pool, "mark", None, None);

    let default = NewOnExpiry::Answer(say(Answer::REJECTED));
    let ask = g.cast.ask(NewAsk { on_expiry: default, ..new_ask(approve_q.clone()) });
    g.show("default-promised", ask, "olga", None, None);
    g.cast.advance(1_801);
    g.cast.run(Actor::System, AskCommand::Expire(ask));
    g.show("default-taken", ask, "olga", None, None);

    let ask = g.cast.ask(new_ask(edit_q.clone()));
    let approval = g.cast.ask(new_ask(approve_q.clone()));
    let sent = pairs(&[("action", "reject"), ("comment", ""), ("edits.0", "me@example.com")]);
    let problem = submitted::reply(edit_q, &sent).unwrap_err();
    let draft = AnswerDraft::new(edit_q, &sent, problem);
    g.show("reject-without-reason", ask, "olga", None, Some(&draft));
    let sent = pairs(&[("action", "approve"), ("edits.0", "1,250"), ("edits.5", "[oops")]);
    let problem = submitted::reply(approve_q, &sent).unwrap_err();
    let draft = AnswerDraft::new(approve_q, &sent, problem);
    g.show("bad-edits", approval, "olga", None, Some(&draft));

    let provide =
        question("I need the details of the shipment.", QuestionBody::Provide { form: form() });
    let ask = g.cast.ask(new_ask(provide.clone()));
    let sent = pairs(&[
        ("action", "provide"),
        ("field.name", "A"),
        ("field.notes", "kept <b>"),
        ("field.weight", "99"),
        ("field.mail", "nope"),
        ("field.insured", "true"),
        ("field.pin", "hunter2"),
        ("field.extras", "cold"),
        ("field.service", "exp"),
        ("comment", "hello"),
    ]);
    let problem = submitted::reply(&provide, &sent).unwrap_err();
    let draft = AnswerDraft::new(&provide, &sent, problem);
    g.show("form-refused", ask, "olga", None, Some(&draft));

    let ask =
        g.cast.ask(NewAsk { route: Route::Pool { group: None }, ..new_ask(approve_q.clone()) });
    g.cast.act("mark", AskCommand::Answer(ask, Box::new(yes.clone())));
    g.cast.advance(65);
    let refusal =
        g.cast.attempt("olga", AskCommand::Answer(ask, Box::new(yes.clone()))).unwrap_err();
    assert!(matches!(refusal, Refusal::AlreadyAnswered { .. }));
    let sent = pairs(&[("action", "reject"), ("comment", "I would rather not, because…")]);
    let draft = AnswerDraft::new(approve_q, &sent, FormProblems::default());
    g.show("lost-race", ask, "olga", Some(&ActionOutcome::Refused(refusal)), Some(&draft));

    let details =
        json!({"amount": "12", "$&": HOSTILE, "</dl><script>": {"deep": [HOSTILE]}, "to": HOSTILE});
    let hostile = Question::new(HOSTILE, Some(HOSTILE.to_owned()), approve(details)).unwrap();
    let labels = kernel::ask::Labels { agent: Some(HOSTILE[..100].to_owned()), project: None };
    let ask =
        g.cast.ask(NewAsk { labels, metadata: map(json!({"note": HOSTILE})), ..new_ask(hostile) });
    g.show("hostile", ask, "olga", None, None);

    let log = (1..=412)
        .map(|n| format!("{n:>3}  rm -rf /var/cache/build/{n}"))
        .collect::<Vec<_>>()
        .join("\n");
    let body =
        approve(json!({"host": "build-7.internal", "command": "cleanup.sh --all", "script": log}));
    let long = Question::new("x".repeat(10_000), None, body).unwrap();
    let ask =
        g.cast.ask(NewAsk { priority: Priority::Critical, timeout: Some(200), ..new_ask(long) });
    g.show("long", ask, "olga", None, None);
}

fn messages(g: &mut Gallery) {
    let frame = g.frame();
    let nobody = PageContext::anonymous(frame.now);
    let token = NewToken {
        token: "cs_human_3f9a0c77d1e84b2a9d55",
        label: "work laptop",
        expires: Some(frame.now.plus_seconds(90 * 86_400)),
        server_url: "http://localhost:3402/",
    };
    let pages = [
        ("not-found", message_page::not_found(&frame)),
        ("forbidden", message_page::forbidden(&frame)),
        ("stale-page", message_page::stale_page(&frame, "/asks/x")),
        ("too-large", message_page::too_large(&frame, "/asks/x", 10 << 20)),
        ("server-error", message_page::server_error(&frame, "req_7")),
        ("unavailable", message_page::unavailable(&nobody)),
        ("token-form", message_page::token_form(&frame)),
        ("token-made", message_page::token_created(&frame, &token)),
    ];
    g.pages.extend(pages.map(|(name, html)| (name.to_owned(), html)));
}
