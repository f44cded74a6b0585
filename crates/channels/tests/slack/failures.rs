//! What goes wrong, and what is said about it.

use channels::DeliveryError;
use channels::testing::slack::inbound::interaction;
use channels::testing::slack::{Fault, person};
use serde_json::json;
use url::Url;

use super::*;

#[tokio::test]
async fn what_may_work_later_is_tried_later() {
    let workspace = workspace().await;
    let (slack, hasty) = (slack(workspace.settings()), hasty(workspace.settings()));
    let message = slack.render(&approval());
    for (fault, wait) in [
        (Fault::Slower(7), Some(7)),
        (Fault::Slower(1_000_000), Some(3600)),
        (Fault::Status(500), None),
        (Fault::Status(503), None),
        (Fault::Status(404), None),
        (Fault::Refusal("fatal_error"), None),
        (Fault::Refusal("internal_error"), None),
        (Fault::Refusal("ratelimited"), None),
        (Fault::Silence, None),
        (Fault::Drop, None),
    ] {
        workspace.next(fault);
        let slack = if fault == Fault::Silence { &hasty } else { &slack };
        let failed = slack.deliver(outbound("C0OPS", &message)).await.unwrap_err();
        let DeliveryError::Later { why, after } = &failed else { panic!("{fault:?}: {failed:?}") };
        assert_eq!(*after, wait.map(Duration::from_secs), "{fault:?}");
        assert!(why.contains("Slack") && !why.contains("xoxb") && !why.contains("127."), "{why}");
    }
    assert_eq!(workspace.messages(), [], "nothing of it was posted");
    assert!(slack.deliver(outbound("C0OPS", &message)).await.is_ok());
}

#[tokio::test]
async fn what_never_works_says_what_to_do() {
    let workspace = workspace().await;
    let mut bot = person("U0ROBOT", "bot@example.com");
    bot["is_bot"] = json!(true);
    workspace.person(bot);
    let slack = slack(workspace.settings());
    let message = slack.render(&approval());
    for (to, said) in [
        ("C0SECRET", "not a member of that Slack channel; invite it"),
        ("C0OLD", "archived"),
        ("C0NONE", "check the ID"),
        ("U0NOBODY", "check the ID"),
        ("U0ROBOT", "choose a person"),
    ] {
        let failed = slack.deliver(outbound(to, &message)).await.unwrap_err();
        assert!(
            matches!(&failed, DeliveryError::Never { why } if why.contains(said)),
            "{to}: {failed}"
        );
    }
    workspace.next(Fault::Refusal("missing_scope"));
    let failed = slack.deliver(outbound("C0OPS", &message)).await.unwrap_err();
    assert!(failed.to_string().contains("is missing the scope chat:write"), "{failed}");
    // what we would make wrong is refused by Slack, so that a test would see it
    let failed = slack.deliver(outbound("C0OPS", &json!({ "text": "<!channel>" }))).await;
    assert!(matches!(failed, Err(DeliveryError::Never { .. })), "{failed:?}");
}

#[tokio::test]
async fn an_answer_finds_another_way() {
    let workspace = workspace().await;
    let slack = slack(workspace.settings());
    let posted = delivered(&slack, "C0OPS", &approval()).await;
    let press = workspace.pressed(&posted.id, "Approve", "U0ADA").unwrap();
    let pressed = inbound(&slack, &interaction(&press, now())).remove(0);
    let count = |method: &str| workspace.calls_of(method).len();

    // the address that came with it counts five times
    for _ in 0..6 {
        slack.reply(&pressed, "Thank you.").await.unwrap();
    }
    assert_eq!((count("response_url"), count("chat.postEphemeral")), (6, 1));

    // nobody makes us call another address
    for url in [
        "https://evil.example/actions",
        "http://hooks.slack.com/actions",
        "https://hooks.slack.com.evil.example/",
        "http://127.0.0.1:1/actions",
        "not an address",
    ] {
        let mut forged = pressed.clone();
        forged.place["response_url"] = json!(url);
        slack.reply(&forged, "Thank you.").await.unwrap();
    }
    assert_eq!((count("response_url"), count("chat.postEphemeral")), (6, 6));

    // where the app is not, it writes to them alone
    let mut elsewhere = pressed.clone();
    elsewhere.place["response_url"] = json!(null);
    elsewhere.place["channel"] = json!("C0SECRET");
    slack.reply(&elsewhere, "Thank you.").await.unwrap();
    let last = workspace.messages().pop().unwrap();
    assert_eq!((last.channel.as_str(), last.thread_ts), ("D0ADA", None));

    let hasty = hasty(workspace.settings());
    for fault in [Fault::Slower(3), Fault::Status(502), Fault::Silence] {
        let press = workspace.pressed(&posted.id, "Reject", "U0ADA").unwrap();
        let pressed = inbound(&slack, &interaction(&press, now())).remove(0);
        workspace.next(fault);
        let slack = if fault == Fault::Silence { &hasty } else { &slack };
        let failed = slack.reply(&pressed, "Thank you.").await;
        assert!(matches!(failed, Err(DeliveryError::Later { .. })), "{fault:?}: {failed:?}");
    }
}

#[tokio::test]
async fn what_others_sign_is_not_slacks() {
    let workspace = workspace().await;
    let slack = slack(workspace.settings());
    let posted = delivered(&slack, "C0OPS", &approval()).await;
    let press = workspace.pressed(&posted.id, "Approve", "U0ADA").unwrap();
    let mut incoming = interaction(&press, now());
    assert_eq!(slack.verify(&incoming.call()), Ok(()));
    incoming.body.push(b' ');
    assert!(slack.verify(&incoming.call()).is_err());
    incoming.body.pop();
    incoming.now = now().plus_seconds(301);
    assert!(slack.verify(&incoming.call()).is_err(), "it was said long ago");
    // without a secret there is nothing to know it by
    let unsigned = super::slack(workspace.socket_settings());
    assert!(unsigned.verify(&interaction(&press, now()).call()).is_err());
}

#[tokio::test]
async fn a_check_says_what_was_found() {
    let workspace = workspace().await;
    let channel = slack(workspace.settings());
    assert_eq!(channel.name(), "slack");
    assert_eq!(channel.check().await.unwrap(), "Slack knows this app as countersign in Example");
    let listening = slack(workspace.socket_settings());
    let said = listening.check().await.unwrap();
    assert!(said.ends_with("with Socket Mode"), "{said}");
    workspace.allow("chat:write,users:read");
    let said = channel.check().await.unwrap();
    assert!(said.contains("without users:read.email (to know them"), "{said}");
    workspace.allow("users:read");
    let failed = channel.check().await.unwrap_err().to_string();
    assert!(failed.contains("is missing the scopes chat:write (to write)"), "{failed}");
    let wrong = SlackSettings { bot_token: secret("xoxb-wrong"), ..workspace.settings() };
    let failed = slack(wrong).check().await.unwrap_err().to_string();
    assert!(failed.contains("slack_bot_token") && !failed.contains("wrong"), "{failed}");
    let wrong = SlackSettings { app_token: Some(secret("xapp-wrong")), ..workspace.settings() };
    workspace.allow("chat:write");
    let failed = slack(wrong).check().await.unwrap_err().to_string();
    assert!(failed.contains("slack_app_token"), "{failed}");
}

#[test]
fn what_is_half_set_up_is_refused() {
    let settings = |bot: &str, signing: Option<&str>, app: Option<&str>| SlackSettings {
        bot_token: secret(bot),
        signing_secret: signing.map(secret),
        app_token: app.map(secret),
        base: None,
    };
    for (settings, said) in [
        (settings("xapp-1", Some("s"), None), "slack_bot_token must start with xoxb-"),
        (settings("", Some("s"), None), "slack_bot_token must start with xoxb-"),
        (settings("xoxb-1", None, Some("xoxb-1")), "slack_app_token must start with xapp-"),
        (settings("xoxb-1", Some(" "), None), "slack_signing_secret is empty"),
        (settings("xoxb-1", None, None), "so that people can answer"),
    ] {
        let refused = Slack::new(settings, reqwest::Client::new()).unwrap_err();
        assert!(refused.contains(said), "{refused}");
    }
    for base in [None, Some("https://slack-gov.com/api"), Some("http://127.0.0.1:1/api/")] {
        let base: Option<Url> = base.map(|base| base.parse().unwrap());
        let fine = SlackSettings { base, ..settings("xoxb-1", Some("s"), None) };
        assert!(Slack::new(fine, reqwest::Client::new()).is_ok());
    }
}
