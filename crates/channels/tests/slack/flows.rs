//! From a card to an answer.

use channels::inbound::{InReplyTo, InboundContent};
use channels::testing::slack::inbound::{event, interaction, wrote};
use channels::testing::slack::{BOT_TOKEN, OTHER_TOKEN, person};
use channels::{Channel, DeliveryError, InboundMessage, OutboundMessage};
use kernel::directory::ContactMethod;
use kernel::form::Form;
use serde_json::{Value, json};
use views::message_card::{
    AnswerOptions, ButtonTone, CardStage, DialogFields, FormDialog, MessageCard, TEXT_KEY,
};

use super::*;

#[tokio::test]
async fn an_approval_is_pressed_answered_and_locked() {
    let workspace = workspace().await;
    let slack = slack(workspace.settings());
    let posted = delivered(&slack, "U0ADA", &approval()).await;
    assert!(posted.id.starts_with("D0ADA/"), "a person's id is their conversation: {}", posted.id);
    let sent = workspace.message(&posted.id).unwrap();
    assert_eq!(sent.body["metadata"]["event_payload"], json!({ "key": "key-1" }));

    let press = workspace.pressed(&posted.id, "Approve", "U0ADA").unwrap();
    let inbound = inbound(&slack, &interaction(&press, now()));
    let [inbound] = &inbound[..] else { panic!("{inbound:?}") };
    assert_eq!(inbound.from, ContactMethod::Slack("U0ADA".to_owned()));
    let expected =
        InboundContent::Pressed { token: "tok.yes".to_owned(), posted: Some(posted.id.clone()) };
    assert_eq!(inbound.what, expected);

    slack.reply(inbound, " ").await.unwrap();
    assert_eq!(workspace.calls_of("response_url"), [], "there is nothing to say");
    slack.reply(inbound, "Thank you. <!channel>").await.unwrap();
    let said = workspace.calls_of("response_url");
    let [said] = &said[..] else { panic!("{said:?}") };
    assert_eq!(said.body["response_type"], "ephemeral");
    assert_eq!(said.body["replace_original"], false);
    assert_eq!(said.body["text"], "Thank you. &lt;!channel&gt;");

    let stage = CardStage::Closed {
        headline: "Approved by Ada Lovelace".to_owned(),
        at: "10:00".to_owned(),
        comment: None,
    };
    let over = slack.render(&MessageCard { stage, ..approval() });
    slack.update(&posted, &over, None).await.unwrap();
    let locked = workspace.message(&posted.id).unwrap().body.to_string();
    assert!(locked.contains("Approved by Ada Lovelace"), "{locked}");
    assert_eq!(workspace.pressed(&posted.id, "Approve", "U0ADA"), None);
}

#[tokio::test]
async fn one_of_many_is_chosen_in_a_menu_and_a_link_says_nothing() {
    let workspace = workspace().await;
    let slack = slack(workspace.settings());
    let buttons =
        (1..=8).map(|i| button(&format!("Plan <{i}>"), &format!("tok.{i}"), ButtonTone::Plain));
    let card = card(AnswerOptions { buttons: buttons.collect(), ..AnswerOptions::default() });
    let posted = delivered(&slack, "C0OPS", &card).await;
    let press = workspace.pressed(&posted.id, "Plan <7>", "U0ADA").unwrap();
    let chosen = inbound(&slack, &interaction(&press, now()));
    assert!(matches!(&chosen[0].what, InboundContent::Pressed { token, .. } if token == "tok.7"));
    let link = workspace.pressed(&posted.id, "Open the request", "U0ADA").unwrap();
    assert_eq!(inbound(&slack, &interaction(&link, now())), []);
}

#[tokio::test]
async fn threads() {
    let workspace = workspace().await;
    let slack = slack(workspace.settings());
    let first = delivered(
        &slack,
        "C0OPS",
        &card(AnswerOptions { reply: true, ..AnswerOptions::default() }),
    )
    .await;
    let (_, ts) = first.id.split_once('/').unwrap();

    // a reply below a message names it
    let reply = wrote("Ev1", "C0OPS", Some(ts), "U0ADA", "yes & no");
    let said = inbound(&slack, &event(&reply, now()));
    let about = InReplyTo::Posted(first.id.clone());
    assert_eq!(said[0].what, InboundContent::Wrote { text: "yes & no".to_owned(), about });
    slack.reply(&said[0], "Taken.").await.unwrap();
    let whispered = &workspace.calls_of("chat.postEphemeral")[0].body;
    assert_eq!((&whispered["user"], &whispered["thread_ts"]), (&json!("U0ADA"), &json!(ts)));

    // below another message, as Slack or as we call it
    for thread in [ts, &first.id] {
        let message = slack.render(&approval());
        let below = OutboundMessage { thread: Some(thread), ..outbound("C0OPS", &message) };
        let posted = slack.deliver(below).await.unwrap();
        assert_eq!(workspace.message(&posted.id).unwrap().thread_ts.as_deref(), Some(ts));
        assert_eq!(posted.thread.as_ref(), Some(&first.id), "replies name that one");
        // what is said about a press there stays there
        let press = workspace.pressed(&posted.id, "Approve", "U0ADA").unwrap();
        let pressed = inbound(&slack, &interaction(&press, now()));
        slack.reply(&pressed[0], "Thank you.").await.unwrap();
        let said = workspace.calls_of("response_url").pop().unwrap();
        assert_eq!(said.body["thread_ts"], ts);
    }
    let message = slack.render(&approval());
    let nowhere = OutboundMessage { thread: Some("<!channel>"), ..outbound("C0OPS", &message) };
    assert!(matches!(slack.deliver(nowhere).await, Err(DeliveryError::Never { .. })));
}

#[tokio::test]
async fn a_token_that_was_brought_is_used_and_shown_nowhere() {
    let workspace = workspace().await;
    let slack = slack(workspace.settings());
    let (message, brought) = (slack.render(&approval()), secret(OTHER_TOKEN));
    let given = OutboundMessage { token: Some(&brought), ..outbound("C0OPS", &message) };
    assert!(!format!("{given:?} {slack:?}").contains("xoxb"), "{given:?}");
    let posted = slack.deliver(given).await.unwrap();
    assert_eq!(workspace.calls()[0].token.as_deref(), Some(OTHER_TOKEN));
    assert!(!workspace.calls()[0].body.to_string().contains("xoxb"));
    assert!(!serde_json::to_string(&posted).unwrap().contains("xoxb"));
    // only who sent a message may change it, and who may not does nothing
    slack.update(&posted, &json!({ "text": "other" }), None).await.unwrap();
    assert_ne!(workspace.message(&posted.id).unwrap().body["text"], "other");
    slack.update(&posted, &json!({ "text": "other" }), Some(&brought)).await.unwrap();
    assert_eq!(workspace.message(&posted.id).unwrap().body["text"], "other");
    // a message that is gone cannot be changed, which harms nobody
    workspace.delete(&posted.id);
    slack.update(&posted, &json!({ "text": "more" }), Some(&brought)).await.unwrap();

    for bad in ["xoxb-wrong", "xoxb-1-played\r\nx-more: 1", "", "xoxb-é"] {
        let bad = secret(bad);
        let given = OutboundMessage { token: Some(&bad), ..outbound("C0OPS", &message) };
        let refused = slack.deliver(given).await;
        let Err(DeliveryError::Never { why }) = refused else { panic!("{refused:?}") };
        assert!(why.contains("the agent's bot token") && !why.contains("xoxb"), "{why}");
    }
}

fn form() -> Form {
    let options = json!([{ "value": "a & b", "label": "A & B" }, { "value": "c", "label": "C" }]);
    let fields = json!([
        { "key": "name", "label": "Name", "type": "text", "required": true },
        { "key": "count", "label": "Count", "type": "number" },
        { "key": "day", "label": "Day", "type": "date" },
        { "key": "at", "label": "At", "type": "date", "validation": { "min": "2026-01-01T00:00:00Z" } },
        { "key": "mail", "label": "Mail", "type": "email" },
        { "key": "page", "label": "Page", "type": "url" },
        { "key": "sure", "label": "Sure", "type": "boolean" },
        { "key": "one", "label": "One", "type": "select", "options": options },
        { "key": "some", "label": "Some", "type": "multiselect", "options": options },
        { "key": "left", "label": "Left", "type": "textarea" },
    ]);
    serde_json::from_value(json!({ "fields": fields })).unwrap()
}

/// Somebody who pressed what opens a form.
async fn about_to_fill(workspace: &Workspace, slack: &Slack) -> InboundMessage {
    let ways =
        AnswerOptions { form: Some(("tok.form".to_owned(), form())), ..AnswerOptions::default() };
    let posted = delivered(slack, "C0OPS", &card(ways)).await;
    let press = workspace.pressed(&posted.id, "Fill in the form", "U0ADA").unwrap();
    inbound(slack, &interaction(&press, now())).remove(0)
}

fn sheet(fields: DialogFields) -> FormDialog {
    FormDialog {
        token: "tok.sheet".to_owned(),
        title: "Supply a value".to_owned(),
        words: "What shall it be?".to_owned(),
        send: "Send".to_owned(),
        fields,
    }
}

#[tokio::test]
async fn a_form_is_filled_in() {
    let workspace = workspace().await;
    let slack = slack(workspace.settings());
    let pressed = about_to_fill(&workspace, &slack).await;
    slack.open_form(&pressed, &sheet(DialogFields::Form(form()))).await.unwrap();
    let filled = [
        ("Name", json!("Ada <L>")),
        ("Count", json!("2.50")),
        ("Day", json!("2026-03-01")),
        ("At", json!(1_772_359_200)),
        ("Mail", json!("ada@example.com")),
        ("Page", json!("https://a.example/?x=1&y=2")),
        ("Sure", json!("No")),
        ("One", json!("A & B")),
        ("Some", json!(["C", "A & B"])),
    ];
    assert_eq!(workspace.submitted("U0ADA", &filled[1..]), None, "the name is needed");
    let submitted = workspace.submitted("U0ADA", &filled).unwrap();
    let sent = inbound(&slack, &interaction(&submitted, now())).remove(0);
    let InboundContent::Submitted { token, values } = &sent.what else { panic!("{sent:?}") };
    assert_eq!(token, "tok.sheet");
    // the form takes every value, and takes none for something else
    let expected = json!({
        "name": "Ada <L>", "count": 2.5, "day": "2026-03-01", "at": "2026-03-01T10:00:00Z",
        "mail": "ada@example.com", "page": "https://a.example/?x=1&y=2", "sure": false,
        "one": "a & b", "some": ["c", "a & b"],
    });
    assert_eq!(Value::from(form().validate(values).unwrap().into_map()), expected);
    assert_eq!(Value::from(values.clone()), expected);

    // there is nothing to answer at in a modal but the channel it was opened from
    slack.reply(&sent, "Thank you.").await.unwrap();
    let whispered = &workspace.calls_of("chat.postEphemeral")[0].body;
    assert_eq!((&whispered["channel"], &whispered["user"]), (&json!("C0OPS"), &json!("U0ADA")));

    // what opens a form does so once
    let again = slack.open_form(&pressed, &sheet(DialogFields::Form(form()))).await;
    assert!(matches!(again, Err(DeliveryError::Never { .. })), "{again:?}");
}

#[tokio::test]
async fn words_are_asked_for() {
    let workspace = workspace().await;
    let slack = slack(workspace.settings());
    let pressed = about_to_fill(&workspace, &slack).await;
    let fields = DialogFields::Words {
        label: "Why not?".to_owned(),
        filled: String::new(),
        optional: false,
    };
    slack.open_form(&pressed, &sheet(fields)).await.unwrap();
    let submitted = workspace.submitted("U0ADA", &[("Why not?", json!("too\nmuch"))]).unwrap();
    let sent = inbound(&slack, &interaction(&submitted, now())).remove(0);
    let InboundContent::Submitted { values, .. } = &sent.what else { panic!("{sent:?}") };
    assert_eq!(values[TEXT_KEY], "too\nmuch");
}

#[tokio::test]
async fn what_slack_cannot_show_is_not_opened() {
    let workspace = workspace().await;
    let slack = slack(workspace.settings());
    let pressed = about_to_fill(&workspace, &slack).await;
    let secret = json!({ "fields": [
        { "key": "pin", "label": "PIN", "type": "text", "sensitive": true },
    ] });
    let fields = DialogFields::Form(serde_json::from_value(secret).unwrap());
    let refused = slack.open_form(&pressed, &sheet(fields)).await;
    assert!(matches!(refused, Err(DeliveryError::Never { .. })), "{refused:?}");
    assert_eq!(workspace.views(), Vec::<Value>::new());
    let nobody_pressed = InboundMessage { place: json!({}), ..pressed };
    let refused = slack.open_form(&nobody_pressed, &sheet(DialogFields::Form(form()))).await;
    assert!(matches!(refused, Err(DeliveryError::Never { .. })), "{refused:?}");
}

/// Whom the gateway takes for whom hangs on this.
#[tokio::test]
async fn only_an_address_that_was_confirmed_counts() {
    let workspace = workspace().await;
    let slack = slack(workspace.settings());
    let with = |id: &str, more: Value| {
        let mut user = person(id, "eve@example.com");
        user.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        workspace.person(user);
    };
    with("U0NEW", json!({ "is_email_confirmed": false }));
    with("U0OLD", json!({ "deleted": true }));
    with("U0BOT", json!({ "is_bot": true }));
    with("U0STRANGE", json!({ "is_stranger": true }));
    with("U0OTHER", json!({ "team_id": "T0002" }));
    with("U0NONE", json!({ "profile": {} }));
    with("U0ODD", json!({ "profile": { "email": "not an address" } }));
    with("U0UNSAID", json!({ "is_email_confirmed": null }));
    with("U0GUEST", json!({ "is_restricted": true }));
    with("U0GRID", json!({ "team_id": "T0002", "enterprise_user": { "enterprise_id": "E1" } }));
    for (id, expected) in [
        ("U0ADA", Some("ada@example.com")),
        ("U0GUEST", Some("eve@example.com")),
        ("U0NEW", None),
        ("U0OLD", None),
        ("U0BOT", None),
        ("U0STRANGE", None),
        ("U0OTHER", None),
        ("U0NONE", None),
        ("U0ODD", None),
        ("U0UNSAID", None),
        ("U0GRID", None),
        ("U0NOBODY", None),
    ] {
        let inbound = InboundMessage {
            id: "1".to_owned(),
            from: ContactMethod::Slack(id.to_owned()),
            name: None,
            place: json!({}),
            what: InboundContent::Stopped,
            at: None,
        };
        assert_eq!(slack.verified_email(&inbound).await.unwrap().as_deref(), expected, "{id}");
    }
    assert_eq!(workspace.calls_of("auth.test").len(), 1, "who we are is asked once");
    assert_eq!(workspace.calls()[0].token.as_deref(), Some(BOT_TOKEN));
}
