//! Payloads from Slack as the channel reads them. No payload causes a panic.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::testing::slack::inbound;

fn call(name: &'static str, body: &[u8]) -> Result<ParsedCall, UnreadableCall> {
    let (url, headers, now) = ("https://ask.example.com/", &[][..], Time::from_millis(0));
    parse(&WebhookCall { url, name, headers, body, now })
}

fn said(payload: &Value) -> Result<Vec<InboundMessage>, UnreadableCall> {
    let incoming = inbound::event(payload, Time::from_millis(0));
    parse(&incoming.call()).map(|parsed| parsed.inbound)
}

fn done(payload: &Value) -> Result<Vec<InboundMessage>, UnreadableCall> {
    let incoming = inbound::interaction(payload, Time::from_millis(0));
    parse(&incoming.call()).map(|parsed| parsed.inbound)
}

fn edited(mut payload: Value, pointer: &str, value: Value) -> Value {
    let (at, name) = pointer.rsplit_once('/').unwrap();
    match payload.pointer_mut(at).unwrap() {
        Value::Array(items) => items[name.parse::<usize>().unwrap()] = value,
        other => other[name] = value,
    }
    payload
}

#[test]
fn slack_is_answered_what_it_wants_to_hear() {
    let body = json!({ "type": "url_verification", "challenge": "abc", "token": "x" }).to_string();
    let parsed = call("events", body.as_bytes()).unwrap();
    assert_eq!(
        parsed,
        ParsedCall { inbound: vec![], answer: Some(("text/plain", "abc".to_owned())) }
    );
}

#[test]
fn a_reply_names_its_thread() {
    let payload = inbound::wrote("Ev1", "C0OPS", Some("1770000000.000001"), "U0ADA", "a < b & c");
    let inbound = said(&payload).unwrap();
    insta::assert_debug_snapshot!(inbound);
    assert_eq!(said(&payload).unwrap(), inbound, "the same however often it is said");
    let broadcast = edited(payload, "/event/subtype", json!("thread_broadcast"));
    assert_eq!(said(&broadcast).unwrap(), inbound, "also if the whole channel is to see it");
}

#[test]
fn words_to_us_alone_need_no_thread() {
    let inbound = said(&inbound::wrote("Ev1", "D0ADA", None, "U0ADA", "A7 yes")).unwrap();
    let text = "A7 yes".to_owned();
    assert_eq!(inbound[0].what, InboundContent::Wrote { text, about: InReplyTo::Nothing });
    let below = inbound::wrote("Ev1", "D0ADA", Some("1770000000.000001"), "U0ADA", "yes");
    let about = InReplyTo::Posted("D0ADA/1770000000.000001".to_owned());
    assert_eq!(
        said(&below).unwrap()[0].what,
        InboundContent::Wrote { text: "yes".to_owned(), about }
    );
}

/// A2H-114: a mention of the bot in a channel. Mentions in threads and direct messages also arrive
/// as messages, and are read once.
#[test]
fn a_mention_is_heard_once() {
    let inbound = said(&inbound::mentioned("Ev1", "C0OPS", "U0ADA", "agent_dev: a < b")).unwrap();
    let text = "agent_dev: a < b".to_owned();
    assert_eq!(inbound[0].what, InboundContent::Wrote { text, about: InReplyTo::Mention });
    assert_eq!(inbound[0].place["ts"], "1770000100.000200");
    for (text, inbound) in [
        ("<@U0BOT>: hi", Some("hi")),
        (" <@U0BOT|countersign>, hi", Some("hi")),
        ("so <@U0BOT> hi", Some("so @U0BOT hi")),
        ("<@U0BOT", Some("<@U0BOT")),
        ("<@U0BOT>", None),
    ] {
        let payload = inbound::mentioned("Ev1", "C0OPS", "U0ADA", "");
        let found = said(&edited(payload, "/event/text", json!(text))).unwrap();
        let what = found.first().map(|inbound| inbound.what.clone());
        let expected = inbound
            .map(|text| InboundContent::Wrote { text: text.to_owned(), about: InReplyTo::Mention });
        assert_eq!(what, expected, "{text}");
    }
    let mention = || inbound::mentioned("Ev1", "C0OPS", "U0ADA", "hi");
    for (what, payload) in [
        ("in a thread", edited(mention(), "/event/thread_ts", json!("1770000000.000001"))),
        ("to us alone", inbound::mentioned("Ev1", "D0ADA", "U0ADA", "hi")),
        ("a bot's", edited(mention(), "/event/bot_id", json!("B1"))),
        ("nobody's", edited(mention(), "/event/user", Value::Null)),
    ] {
        assert_eq!(said(&payload), Ok(Vec::new()), "{what}");
    }
}

#[test]
fn what_no_person_says_to_us_is_not_heard() {
    let reply = || inbound::wrote("Ev1", "C0OPS", Some("1770000000.000001"), "U0ADA", "yes");
    for (what, payload) in [
        ("nobody's thread", inbound::wrote("Ev1", "C0OPS", None, "U0ADA", "yes")),
        ("its own beginning", edited(reply(), "/event/thread_ts", json!("1770000100.000200"))),
        ("a bot", edited(reply(), "/event/bot_id", json!("B1"))),
        ("Slackbot", edited(reply(), "/event/user", json!("USLACKBOT"))),
        ("nobody", edited(reply(), "/event/user", Value::Null)),
        ("an edit", edited(reply(), "/event/subtype", json!("message_changed"))),
        ("a deletion", edited(reply(), "/event/subtype", json!("message_deleted"))),
        ("joining", edited(reply(), "/event/subtype", json!("channel_join"))),
        ("a bot's", edited(reply(), "/event/subtype", json!("bot_message"))),
        ("nothing", edited(reply(), "/event/text", json!(" "))),
        ("no words", edited(reply(), "/event/text", Value::Null)),
        ("another event", edited(reply(), "/event/type", json!("reaction_added"))),
        ("another kind", edited(reply(), "/type", json!("app_rate_limited"))),
    ] {
        assert_eq!(said(&payload), Ok(Vec::new()), "{what}");
    }
}

fn press() -> Value {
    json!({
        "type": "block_actions", "team": { "id": "T1" }, "trigger_id": "1.2.3",
        "user": { "id": "U0ADA", "username": "ada" }, "response_url": "https://hooks.slack.com/x",
        "container": { "type": "message", "channel_id": "C0OPS", "message_ts": "1.5" },
        "actions": [{ "type": "button", "action_id": "press.0", "action_ts": "1770000200.123456",
                      "value": "tok.yes" }],
    })
}

#[test]
fn a_press_says_what_and_where() {
    let inbound = done(&press()).unwrap();
    insta::assert_debug_snapshot!(inbound);
    let chosen = json!({ "type": "static_select", "action_ts": "1770000200.123456",
                         "selected_option": { "value": "tok.yes", "text": {} } });
    assert_eq!(done(&edited(press(), "/actions/0", chosen)).unwrap(), inbound, "or a choice");
    let older = edited(press(), "/container", json!({}));
    let older = edited(older, "/channel", json!({ "id": "C0OPS" }));
    let older = edited(older, "/message", json!({ "ts": "1.5" }));
    assert_eq!(done(&older).unwrap(), inbound, "or where Slack said it formerly");
}

#[test]
fn a_press_that_says_nothing() {
    let link = json!({ "type": "button", "action_id": "page", "action_ts": "1.1" });
    for (what, payload) in [
        ("a link", edited(press(), "/actions/0", link)),
        ("not a token of ours", edited(press(), "/actions/0/value", json!("{\"a\":1}"))),
        ("too long", edited(press(), "/actions/0/value", json!("x".repeat(65)))),
        ("empty", edited(press(), "/actions/0/value", json!(""))),
        ("closed", json!({ "type": "view_closed", "user": { "id": "U1" } })),
        ("a shortcut", json!({ "type": "shortcut" })),
    ] {
        assert_eq!(done(&payload), Ok(Vec::new()), "{what}");
    }
}

fn sheet() -> Value {
    let values = json!({
        "name": { "text": { "type": "plain_text_input", "value": "Ada <L>" } },
        "empty": { "text": { "type": "plain_text_input", "value": null } },
        "count": { "number": { "type": "number_input", "value": "2.5" } },
        "whole": { "number": { "type": "number_input", "value": "12" } },
        "day": { "date": { "type": "datepicker", "selected_date": "2026-03-01" } },
        "at": { "datetime": { "type": "datetimepicker", "selected_date_time": 1_772_359_200 } },
        "sure": { "boolean": { "type": "radio_buttons", "selected_option": { "value": "false" } } },
        "one": { "select": { "type": "static_select", "selected_option": { "value": "=YiA8" } } },
        "none": { "select": { "type": "static_select", "selected_option": null } },
        "some": { "several": { "type": "checkboxes",
                               "selected_options": [{ "value": "a" }, { "value": "=YiA8" }] } },
        "nothing": { "several": { "type": "checkboxes", "selected_options": [] } },
    });
    json!({
        "type": "view_submission", "team": { "id": "T1" }, "user": { "id": "W0ADA", "name": "ada" },
        "view": {
            "id": "V1", "hash": "1.abc", "callback_id": "countersign",
            "private_metadata": "{\"token\":\"tok.form\",\"channel\":\"C0OPS\"}",
            "state": { "values": values },
        },
    })
}

#[test]
fn a_sheet_comes_back_with_values_of_their_type() {
    insta::assert_debug_snapshot!(done(&sheet()).unwrap());
    let theirs = edited(sheet(), "/view/callback_id", json!("another"));
    assert_eq!(done(&theirs), Ok(Vec::new()), "another app's modal");
}

#[test]
fn what_cannot_be_read_says_what_was_expected() {
    let text = |payload: &Value| payload.to_string();
    let form = |payload: &Value| {
        String::from_utf8(inbound::interaction(payload, Time::from_millis(0)).body).unwrap()
    };
    let reply = inbound::wrote("Ev1", "C0OPS", Some("1.1"), "U0ADA", "yes");
    let seen: Vec<String> = [
        ("elsewhere", "{}".to_owned()),
        ("events", String::new()),
        ("events", "[]".to_owned()),
        ("events", "{\"type\":1}".to_owned()),
        ("events", text(&edited(reply.clone(), "/event_id", Value::Null))),
        ("events", text(&edited(reply.clone(), "/event/text", json!(5)))),
        ("events", text(&edited(reply.clone(), "/event/user", json!("ada")))),
        ("events", text(&edited(reply.clone(), "/event/user", json!("C0OPS")))),
        ("events", text(&edited(reply, "/event/ts", Value::Null))),
        ("interactions", String::new()),
        ("interactions", "payload={}&payload={}".to_owned()),
        ("interactions", "payload=x".to_owned()),
        ("interactions", "payload=5".to_owned()),
        ("interactions", form(&json!({ "type": "block_actions" }))),
        ("interactions", form(&edited(press(), "/user/id", json!("<!channel>")))),
        ("interactions", form(&edited(press(), "/actions", json!("all")))),
        ("interactions", form(&edited(sheet(), "/view/private_metadata", json!("tok")))),
        (
            "interactions",
            form(&edited(sheet(), "/view/private_metadata", json!("{\"token\":\"\"}"))),
        ),
        (
            "interactions",
            form(&edited(sheet(), "/view/state/values/sure/boolean/type", json!("x"))),
        ),
        (
            "interactions",
            form(&edited(
                sheet(),
                "/view/state/values/at/datetime/selected_date_time",
                json!(1e300),
            )),
        ),
    ]
    .into_iter()
    .map(|(name, body)| call(name, body.as_bytes()).unwrap_err().to_string())
    .collect();
    insta::assert_snapshot!(seen.join("\n"));
}

#[test]
fn moments() {
    for (ts, millis) in [
        ("1503435956.000247", Some(1_503_435_956_000)),
        ("1503435956.987654", Some(1_503_435_956_987)),
        ("1503435956.5", Some(1_503_435_956_500)),
        ("1503435956", Some(1_503_435_956_000)),
        ("", None),
        (".5", None),
        ("1.", None),
        ("-1.0", None),
        ("1.é", None),
        ("99999999999999999999.0", None),
        ("9223372036854775807.0", None),
    ] {
        assert_eq!(moment(ts), millis.map(Time::from_millis), "{ts}");
    }
}

/// Payloads with one part replaced.
fn broken() -> impl Strategy<Value = String> {
    let reply = inbound::wrote("Ev1", "C0OPS", Some("1770000000.000001"), "U0ADA", "yes");
    let whole = prop_oneof![Just(reply), Just(press()), Just(sheet())];
    (whole, any::<prop::sample::Index>(), "\\PC{0,12}").prop_map(|(payload, at, put)| {
        let text = payload.to_string();
        let at = at.index(text.len());
        let at = (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        format!("{}{put}{}", &text[..at], &text[(at + 1).min(text.len())..])
    })
}

proptest! {
    #[test]
    fn nothing_breaks_us(bytes in prop::collection::vec(any::<u8>(), 0..200), text in broken()) {
        for name in ["events", "interactions", "x"] {
            let _ = call(name, &bytes);
            let _ = call(name, text.as_bytes());
            let mut form = url::form_urlencoded::Serializer::new(String::new());
            let _ = call(name, form.append_pair("payload", &text).finish().as_bytes());
        }
    }
}
