//! What endpoints are told, byte for byte: every kind of question, every way it may end.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests too")]

use dialects::a2h::{self, CallContext};
use dialects::conversation_origin::{ConversationOrigin, EmailOrigin, SlackOrigin};
use dialects::native::Viewer;
use dialects::webhooks::{WebhookEvent, format};
use kernel::ask::{DefaultAction, Priority, Route};
use kernel::command::{NewAsk, NewOnExpiry, PersonMessage};
use kernel::directory::WebhookFormat;
use kernel::follow_up::WebhookMessage;
use kernel::question::{Answer, Choice, Options, PickMode, Question, QuestionBody, Reply};
use kernel::testing::{Cast, new_ask, no, yes};
use kernel::{Actor, ActorRef, Ask, AskCommand, AskId, Time, Topic};
use serde_json::{Map, Value, json};

const RECEIPT: &str = "eyJ.receipt";

/// What whoever answered is called, as the server would tell it.
fn name(ask: &Ask) -> Option<String> {
    let known = !ask.is_pooled() && matches!(ask.deciding_answer()?.by, ActorRef::Human(_));
    known.then(|| "Olga".to_owned())
}

/// What an endpoint of this format is sent of an ask as it is now.
fn told(cast: &Cast, wanted: WebhookFormat, id: AskId) -> Option<Value> {
    let ask = cast.seen(id);
    let ended = if ask.starts_conversation() { Some(Topic::Started) } else { Topic::ending(ask) };
    let topic = ended.unwrap_or(Topic::Created);
    let told = WebhookMessage::of(ask, topic, ask.head.seq, ask.head.at);
    let body = format(
        wanted,
        WebhookEvent {
            told: &told,
            ask: Some(ask),
            duty: None,
            viewer: Viewer::Agent(b"secret"),
            base: "https://gate.example",
            name: name(ask),
            receipt: ask.ending().map(|_| RECEIPT.to_owned()),
            slack_message_ts: None,
        },
    );
    body.map(|body| serde_json::from_slice(&body).unwrap())
}

fn question(prompt: &str, body: QuestionBody) -> NewAsk {
    let context = Some("It is late.".to_owned());
    let metadata = Map::from_iter([("thread".to_owned(), json!("t1"))]);
    NewAsk { question: Question::new(prompt, context, body).unwrap(), metadata, ..new_ask() }
}

fn approval() -> NewAsk {
    let details = Map::from_iter([("order".to_owned(), json!(7))]);
    let body = QuestionBody::Approve {
        details,
        editable: false.into(),
        reject_requires_reason: false,
        reject_options: Vec::new(),
    };
    question("refund", body)
}

/// A function call of HumanLayer's SDKs.
fn called() -> NewAsk {
    let spec = json!({
        "fn": "refund", "kwargs": { "order": 7 }, "state": { "thread": ["t1"] },
        "channel": { "slack": { "channel_or_user_id": "C1" } },
        "reject_options": [{ "name": "later", "title": "Not now" }],
    });
    let body = json!({ "run_id": "run-1", "call_id": "call-1", "spec": spec });
    a2h::parse_function_call(body.to_string().as_bytes()).unwrap().ask
}

/// A human contact of theirs.
fn contacted() -> NewAsk {
    let spec = json!({ "msg": "Which shop?", "subject": "Order 7", "state": { "thread": "t2" } });
    let body = json!({ "run_id": "run-1", "call_id": "call-2", "spec": spec });
    a2h::parse_human_contact(body.to_string().as_bytes()).unwrap().ask
}

fn choices() -> Vec<Choice> {
    let choice = |id: &str, label: &str| {
        let (id, label) = (id.to_owned(), label.to_owned());
        Choice { id, label, description: None }
    };
    vec![choice("a", "Ada"), choice("b", "Bea")]
}

/// Every ask of the story, by name.
fn story() -> (Cast, Vec<(&'static str, AskId)>) {
    let mut cast = Cast::new();
    let mut made = Vec::new();
    let mut answered = |name: &'static str, new: NewAsk, reply: Box<Reply>| {
        let id = cast.ask(new);
        cast.advance(60);
        let olga = cast.human("olga");
        cast.run(olga, AskCommand::Answer(id, reply));
        made.push((name, id));
    };
    let said = |answer: Answer| Box::new(Reply { answer, comment: None });
    let remarked =
        |answer: Answer, words: &str| Box::new(Reply { answer, comment: Some(words.to_owned()) });
    answered("approved", approval(), yes());
    answered("rejected", approval(), no());
    answered(
        "rejected, with a word",
        approval(),
        remarked(Answer::Rejected { option: None }, "too much"),
    );
    answered("changes", approval(), remarked(Answer::CHANGES, "smaller"));
    let options = Options::new(choices()).unwrap();
    let choose = QuestionBody::Choose { options, pick: PickMode::Many, suggested: None };
    let both = vec!["a".to_owned(), "b".to_owned()];
    answered("chosen", question("Which?", choose), said(Answer::Chosen { options: both }));
    let (yes_label, no_label) = ("Send".to_owned(), "Keep".to_owned());
    let confirm = QuestionBody::Confirm { items: choices(), yes: yes_label, no: no_label };
    let items = vec!["a".to_owned()];
    answered("confirmed", question("Send?", confirm.clone()), said(Answer::Confirmed { items }));
    answered("declined", question("Send?", confirm), said(Answer::Declined));
    let text = "Later.".to_owned();
    answered("replied", question("When?", QuestionBody::Converse), said(Answer::Replied { text }));
    answered("a call", called(), remarked(Answer::REJECTED, "too dear"));
    let text = "Ask the other shop.".to_owned();
    answered("a contact", contacted(), said(Answer::Replied { text }));
    let failed = QuestionBody::Escalate { error: Map::new(), params: Map::new() };
    answered("skipped", question("It broke", failed), said(Answer::Skip));

    let open = cast.ask(approval());
    made.push(("open", open));
    let withdrawn = cast.ask(approval());
    cast.run(cast.agent("bot"), AskCommand::Cancel(withdrawn, Some("moot".to_owned())));
    made.push(("cancelled", withdrawn));
    let on_expiry = NewOnExpiry::Report(DefaultAction::Reject);
    let lapsed = cast.ask(NewAsk { timeout: Some(5), on_expiry, ..approval() });
    cast.advance(5);
    cast.run(Actor::System, AskCommand::Expire(lapsed));
    made.push(("expired", lapsed));
    (cast, made)
}

/// A2H-110, A2H-111, A2H-115, A2H-117, A2H-037: every ending as HumanLayer tells it, which is what
/// its SDKs read; nothing before the end.
#[test]
fn as_humanlayer_tells_it() {
    let (cast, made) = story();
    let all: Map<String, Value> = (made.iter())
        .map(|(name, id)| ((*name).to_owned(), json!(told(&cast, WebhookFormat::Humanlayer, *id))))
        .collect();
    insta::assert_json_snapshot!("humanlayer", all);
    for (which, id) in &made {
        let bare = told(&cast, WebhookFormat::HumanlayerV1beta1, *id);
        // A2H-112: the same without what is around it.
        assert_eq!(bare.as_ref(), all[*which].get("event"), "{which}");
        let ask = cast.seen(*id);
        let read = ask.ending().and_then(|_| {
            a2h::call(
                ask,
                CallContext {
                    name: name(ask),
                    receipt: Some(RECEIPT.to_owned()),
                    slack_message_ts: None,
                },
            )
        });
        assert_eq!(bare, read, "{which}");
    }
}

/// A2H-115, A2H-132, A2H-133: a conversation somebody began, under every name a receiver reads.
#[test]
fn a_conversation_that_began() {
    let mut cast = Cast::new();
    let id = cast.write("mark", "bot", "Please refund order 7");
    let enveloped = told(&cast, WebhookFormat::Humanlayer, id).unwrap();
    insta::assert_json_snapshot!("conversation", enveloped);
    let bare = told(&cast, WebhookFormat::HumanlayerV1beta1, id);
    assert_eq!(bare.as_ref(), enveloped.get("event"), "A2H-112: the bare object");
    let standard = told(&cast, WebhookFormat::Standard, id).unwrap();
    assert_eq!(standard["type"], "conversation.started");
    let ask = &standard["data"]["ask"];
    let said = json!({ "verdict": "replied", "text": "Please refund order 7" });
    assert_eq!(ask["result"]["answer"], said);
    assert_eq!(ask["conversation"], json!({ "id": id, "with": "mark", "latest": null }));
    cast.run(Actor::System, AskCommand::Erase(id));
    assert_eq!(told(&cast, WebhookFormat::Humanlayer, id), None);
}

/// Somebody begins a conversation elsewhere, and the agent goes on with it.
fn elsewhere(origin: &ConversationOrigin, text: &str) -> (Cast, AskId) {
    let mut cast = Cast::new();
    cast.write("mark", "bot", "so that it is open");
    let written = Box::new(PersonMessage { text: text.to_owned(), metadata: origin.to_metadata() });
    cast.run(cast.human("mark"), AskCommand::Write("bot".parse().unwrap(), written));
    let id = cast.newest();
    (cast, id)
}

fn letter() -> ConversationOrigin {
    ConversationOrigin::Email(EmailOrigin {
        from: "mark@example.com".to_owned(),
        to: "ask@example.com".to_owned(),
        subject: "Order 7".to_owned(),
        message_id: "<1@example.com>".to_owned(),
    })
}

fn post() -> ConversationOrigin {
    ConversationOrigin::Slack(SlackOrigin {
        team: Some("T0TEAM".to_owned()),
        channel: "D0MARK".to_owned(),
        user: "U0MARK".to_owned(),
        ts: "1770000100.000200".to_owned(),
    })
}

/// A2H-110, A2H-113: a letter to an agent in every form. Nothing in it lets anybody write as
/// whoever wrote it.
#[test]
fn a_letter_that_was_received() {
    let (mut cast, id) = elsewhere(&letter(), "Order 7\n\nPlease refund it.\nMark");
    let forms = WebhookFormat::ALL.map(|form| told(&cast, form, id).unwrap());
    insta::assert_json_snapshot!("letter", forms[1]);
    insta::assert_json_snapshot!("letter_v1beta3", forms[3]);
    assert_eq!(forms[2], forms[1]["event"], "A2H-112: the bare object");
    // Our own words have the ask, and where it came from.
    let ask = &forms[0]["data"]["ask"];
    assert_eq!(ask["metadata"], json!({ "origin": letter() }));
    assert_eq!(ask["result"]["via"], "api");
    // A2H-115: what the agent goes on with names the conversation, once it is over.
    let reply = cast.reply(id, question("All of it?", QuestionBody::Converse));
    let said = Answer::Replied { text: "yes".to_owned() };
    let said = Box::new(Reply { answer: said, comment: None });
    cast.run(cast.human("mark"), AskCommand::Answer(reply, said));
    let over = |form| told(&cast, form, reply).unwrap();
    assert_eq!(over(WebhookFormat::HumanlayerV1beta3)["event"]["contact_channel_id"], json!(id));
    let mut newer = over(WebhookFormat::HumanlayerV1beta3);
    newer["event"].as_object_mut().unwrap().remove("contact_channel_id");
    assert_eq!(newer, over(WebhookFormat::Humanlayer));
    cast.run(Actor::System, AskCommand::Erase(id));
    for form in WebhookFormat::ALL {
        let left = told(&cast, form, id).unwrap_or_default().to_string();
        assert!(!left.contains("example.com") && !left.contains("Order"), "{left}");
    }
}

/// A2H-110, A2H-114: the same in Slack, under the names of both models.
#[test]
fn a_thread_that_was_begun() {
    let (cast, id) = elsewhere(&post(), "Please refund order 7");
    let forms = WebhookFormat::ALL.map(|form| told(&cast, form, id).unwrap());
    insta::assert_json_snapshot!("thread", forms[1]);
    insta::assert_json_snapshot!("thread_v1beta3", forms[3]);
    assert_eq!(forms[2], forms[1]["event"]);
    assert_eq!(forms[0]["data"]["ask"]["metadata"], json!({ "origin": post() }));
}

/// A line of a head is a line, whatever stands in it.
#[test]
fn no_letter_has_more_of_a_head_than_we_give_it() {
    let odd = ConversationOrigin::Email(EmailOrigin {
        from: "mark@example.com\r\nBcc: eve@example.com".to_owned(),
        to: "ask@example.com".to_owned(),
        subject: "a\nX-Odd: 1".to_owned(),
        message_id: "<1@example.com>\n\nbody".to_owned(),
    });
    let (cast, id) = elsewhere(&odd, "a\nX-Odd: 1\n\nhi");
    let told = told(&cast, WebhookFormat::Humanlayer, id).unwrap();
    let raw = told["event"]["raw_email"].as_str().unwrap();
    let (head, body) = raw.split_once("\r\n\r\n").unwrap();
    assert_eq!((head.lines().count(), body), (5, "hi\r\n"), "{raw}");
}

/// What an agent keeps with its own asks is no origin.
#[test]
fn only_a_person_begins_a_conversation() {
    let mut cast = Cast::new();
    let id = cast.ask(NewAsk { metadata: letter().to_metadata(), ..approval() });
    cast.run(cast.human("olga"), AskCommand::Answer(id, yes()));
    assert_eq!(ConversationOrigin::of(cast.seen(id)), None);
    let told = told(&cast, WebhookFormat::HumanlayerV1beta3, id).unwrap();
    assert_eq!(told["type"], "function_call.completed");
}

#[test]
fn as_the_standard_has_it() {
    let (mut cast, made) = story();
    let id = made[0].1;
    insta::assert_json_snapshot!("standard", told(&cast, WebhookFormat::Standard, id));
    let open = made.iter().find(|(name, _)| *name == "open").unwrap().1;
    assert_eq!(told(&cast, WebhookFormat::Standard, open).unwrap()["type"], "ask.created");
    cast.run(Actor::System, AskCommand::Erase(id));
    let erased = told(&cast, WebhookFormat::Standard, id).unwrap();
    assert_eq!(erased["data"]["ask"]["question"], Value::Null);
    assert_eq!(told(&cast, WebhookFormat::Humanlayer, id), None, "nothing is left to say there");
}

/// What a pool answers is nobody's name to an endpoint.
#[test]
fn no_names_of_a_pool() {
    let mut cast = Cast::new();
    let route = Route::Pool { group: None };
    let id = cast.ask(NewAsk { route, priority: Priority::High, ..approval() });
    cast.run(cast.human("nina"), AskCommand::Answer(id, yes()));
    for wanted in WebhookFormat::ALL {
        assert!(!told(&cast, wanted, id).unwrap().to_string().contains("nina"), "{wanted:?}");
    }
}

/// A2H-118.
#[test]
fn a_test_says_that_it_is_one() {
    let at: Time = "2026-03-01T09:00:00Z".parse().unwrap();
    let told =
        WebhookMessage { id: "msg_1".to_owned(), topic: None, ask: None, at, contract: None };
    let news = || WebhookEvent {
        told: &told,
        ask: None,
        duty: None,
        viewer: Viewer::Agent(b"secret"),
        base: "https://gate.example",
        name: None,
        receipt: None,
        slack_message_ts: None,
    };
    let bodies: Vec<Value> = WebhookFormat::ALL
        .map(|wanted| serde_json::from_slice(&format(wanted, news()).unwrap()).unwrap())
        .to_vec();
    insta::assert_json_snapshot!("test", bodies);
}
