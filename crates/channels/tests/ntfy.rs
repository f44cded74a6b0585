//! Stories with ntfy, through real HTTP.
#![expect(clippy::unwrap_used, reason = "tests")]

mod random;

use std::time::Duration;

use channels::inbound::{InboundContent, InboundMessage};
use channels::ntfy::{Ntfy, NtfyCredentials, NtfySettings, SERVER};
use channels::testing::fake_platform::{CallFault, LITTLE, PLENTY, client};
use channels::testing::ntfy::{self as platform, CLOSED, TOKEN, USER, checked};
use channels::testing::sample_cards;
use channels::{Channel, DeliveryError, OutboundMessage, SecretString, WebhookCall};
use kernel::Time;
use kernel::directory::ContactMethod;
use proptest::prelude::*;
use serde_json::Value;

const NOW: Time = Time::LAST;

fn ntfy(server: url::Url, login: NtfyCredentials) -> Ntfy {
    Ntfy::new(NtfySettings { server, login, updates: true }, client(PLENTY)).unwrap()
}

fn by_token() -> NtfyCredentials {
    NtfyCredentials::Token(SecretString::new(TOKEN))
}

fn outbound<'a>(to: &'a str, message: &'a Value) -> OutboundMessage<'a> {
    OutboundMessage { to, message, key: "ask_1.ada", thread: None, token: None, now: NOW }
}

#[tokio::test]
async fn a_notice_is_shown_once_and_changed_when_it_is_over() {
    let there = platform::Ntfy::start().await.unwrap();
    let ntfy = ntfy(there.base(), by_token());
    assert_eq!(ntfy.name(), "ntfy");
    let message = ntfy.render(&sample_cards::confirm());
    let posted = ntfy.deliver(outbound("ada-x7", &message)).await.unwrap();
    // A repetition takes its place, another notice does not.
    ntfy.deliver(outbound("ada-x7", &message)).await.unwrap();
    assert_eq!((there.published().len(), there.shown().len()), (2, 1));
    ntfy.deliver(OutboundMessage { key: "ask_2.ada", ..outbound("ada-x7", &message) })
        .await
        .unwrap();
    assert_eq!(there.shown().len(), 2);

    ntfy.update(&posted, &ntfy.render(&sample_cards::over()), None).await.unwrap();
    let shown = there.shown().remove(0);
    assert_eq!(there.shown().len(), 2);
    assert!(shown["message"].as_str().unwrap().contains("Approved by Ada Lovelace"), "{shown}");
    assert_eq!(shown["priority"], 2);
    let lost = channels::PostedMessage { place: Value::Null, ..posted };
    assert!(matches!(ntfy.update(&lost, &message, None).await, Err(DeliveryError::Never { .. })));
}

#[tokio::test]
async fn an_older_server_is_told_nothing_more() {
    let there = platform::Ntfy::start().await.unwrap();
    let settings = NtfySettings { server: there.base(), login: by_token(), updates: false };
    let ntfy = Ntfy::new(settings, reqwest::Client::new()).unwrap();
    let posted =
        ntfy.deliver(outbound("ada-x7", &ntfy.render(&sample_cards::approve()))).await.unwrap();
    ntfy.update(&posted, &ntfy.render(&sample_cards::over()), None).await.unwrap();
    assert_eq!(there.published().len(), 1);
}

#[tokio::test]
async fn published_as_whoever_is_set_up() {
    let there = platform::Ntfy::start().await.unwrap();
    let user = NtfyCredentials::User(USER.0.into(), SecretString::new(USER.1));
    for login in [by_token(), user] {
        let ntfy = ntfy(there.base(), login);
        ntfy.deliver(outbound("ada-x7", &ntfy.render(&sample_cards::approve()))).await.unwrap();
        let found = ntfy.check().await.unwrap();
        assert_eq!(found, "ntfy is healthy; notifications are published as phil");
    }
    let anybody = ntfy(there.base(), NtfyCredentials::Nobody);
    let message = anybody.render(&sample_cards::approve());
    anybody.deliver(outbound("free-for-all", &message)).await.unwrap();
    assert!(anybody.check().await.unwrap().ends_with("anonymously"));
    // An agent's own token.
    let token = SecretString::new(TOKEN);
    anybody
        .deliver(OutboundMessage { token: Some(&token), ..outbound("ada-x7", &message) })
        .await
        .unwrap();
}

#[tokio::test]
async fn failures_say_what_to_do_and_when() {
    let there = platform::Ntfy::start().await.unwrap();
    let here = ntfy(there.base(), by_token());
    let message = here.render(&sample_cards::approve());
    let why = |sent: Result<channels::PostedMessage, DeliveryError>| match sent {
        Err(DeliveryError::Never { why }) => why,
        other => panic!("{other:?}"),
    };
    assert!(why(here.deliver(outbound(CLOSED, &message)).await).contains("write access"));
    assert!(why(here.deliver(outbound("a b", &message)).await).contains("1 to 64"));
    let stranger = ntfy(there.base(), NtfyCredentials::Token(SecretString::new("tk_old")));
    assert!(why(stranger.deliver(outbound("ada-x7", &message)).await).contains("access token"));
    assert!(matches!(stranger.check().await, Err(DeliveryError::Never { .. })));
    let elsewhere = ntfy(there.base().join("elsewhere").unwrap(), by_token());
    assert!(
        why(elsewhere.deliver(outbound("ada-x7", &message)).await)
            .contains("no ntfy server at this URL")
    );
    let settings = NtfySettings { server: there.base(), login: by_token(), updates: true };
    let hasty = Ntfy::new(settings, client(LITTLE)).unwrap();
    let later = [
        (CallFault::Busy(9), Some(9)),
        (CallFault::Broken(507), None),
        (CallFault::Hang, None),
        (CallFault::Drop, None),
    ];
    for (trouble, seconds) in later {
        there.fail_next(trouble);
        let here = if trouble == CallFault::Hang { &hasty } else { &here };
        let failed = here.deliver(outbound("ada-x7", &message)).await.unwrap_err();
        let DeliveryError::Later { after, .. } = failed else { panic!("{trouble:?}: {failed}") };
        assert_eq!(after, seconds.map(Duration::from_secs));
    }
    assert!(!format!("{here:?}").contains(TOKEN));
}

#[tokio::test]
async fn nothing_comes_back() {
    let ntfy = ntfy(SERVER.parse().unwrap(), NtfyCredentials::Nobody);
    let call = WebhookCall {
        url: "https://ask.example.com/x",
        name: "x",
        headers: &[],
        body: b"{}",
        now: NOW,
    };
    ntfy.verify(&call).unwrap_err();
    ntfy.parse(&call).unwrap_err();
    let inbound = InboundMessage {
        id: "1".into(),
        from: ContactMethod::Ntfy("ada-x7".into()),
        name: None,
        place: Value::Null,
        what: InboundContent::Stopped,
        at: None,
    };
    assert!(matches!(ntfy.reply(&inbound, "?").await, Err(DeliveryError::Never { .. })));
}

#[test]
fn half_a_setting_is_refused() {
    let wrong = [
        NtfyCredentials::Token(SecretString::new("AgQdq7")),
        NtfyCredentials::User(String::new(), SecretString::new("x")),
        NtfyCredentials::User("phil".into(), SecretString::new("")),
    ];
    for login in wrong {
        let settings = NtfySettings { server: SERVER.parse().unwrap(), login, updates: true };
        Ntfy::new(settings, reqwest::Client::new()).unwrap_err();
    }
}

#[test]
fn every_card_is_taken() {
    let ntfy = ntfy(SERVER.parse().unwrap(), NtfyCredentials::Nobody);
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) };
    proptest!(config, |(card in random::card())| {
        let message = ntfy.render(&card);
        prop_assert_eq!(checked(&message), Ok(()));
        let text = message["message"].as_str().unwrap();
        prop_assert_eq!(text.matches("://").count(), text.matches("[://]").count());
    });
}
