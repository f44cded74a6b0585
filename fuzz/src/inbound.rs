//! What platforms and mail servers send. Nothing here is signed with our secrets, so that nothing may
//! verify, whatever it says.

use std::sync::{Arc, LazyLock};

use channels::mail::inbound::{Inbound, Provider};
use channels::mail::{Reader, Replies};
use channels::slack::{self, Slack};
use channels::sms::Sms;
use channels::telegram::{self, Hearing, Telegram};
use channels::twilio::{API, Account, CONTENT, Sender};
use channels::webhook::{self, Webhook};
use channels::whatsapp::{self, Carried, Cloud, GRAPH};
use channels::{Channel, Knock, Secret};
use kernel::Time;
use reqwest::{Client, Url};

use crate::twice;

const HOOK: &str = "https://ask.example.com/channels/any/thing";
/// A secret as Standard Webhooks has it.
const SIGNING: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/// When everything happens.
const NOW: i64 = 1_800_000_000_000;

type Shared = LazyLock<Vec<Box<dyn Channel>>>;

/// Any program that speaks Standard Webhooks, and `WhatsApp` through Meta.
pub(crate) fn webhooks(bytes: &[u8]) {
    static CHANNELS: Shared = LazyLock::new(|| {
        let settings = webhook::Settings { url: url(HOOK), secret: Secret::new(SIGNING) };
        let clock = Arc::new(|| Time::from_millis(NOW));
        let cloud = whatsapp::Settings {
            graph: url(GRAPH),
            phone_number_id: "106540352242922".to_owned(),
            token: Secret::new("token"),
            app_secret: Secret::new("app secret"),
            verify_token: Secret::new("verify"),
            template: None,
        };
        vec![
            boxed(Webhook::new(&settings, Client::new(), clock)),
            boxed(Cloud::new(cloud, Client::new())),
        ]
    });
    all(&CHANNELS, &["", "messages"], bytes);
}

/// Slack's events, buttons and forms.
pub(crate) fn slack(bytes: &[u8]) {
    static CHANNELS: Shared = LazyLock::new(|| {
        let settings = slack::Settings {
            bot_token: Secret::new("xoxb-1"),
            signing_secret: Some(Secret::new("signing secret")),
            app_token: None,
            base: None,
        };
        vec![boxed(Slack::new(settings, Client::new()))]
    });
    all(&CHANNELS, &["events", "interactions"], bytes);
}

/// SMS and `WhatsApp` through Twilio.
pub(crate) fn twilio(bytes: &[u8]) {
    static CHANNELS: Shared = LazyLock::new(|| {
        let account = Account {
            api: url(API),
            content: url(CONTENT),
            sid: format!("AC{}", "0".repeat(32)),
            auth_token: Secret::new("auth token"),
            key: None,
            sender: Sender::Number("+15005550006".to_owned()),
            status: None,
        };
        vec![
            boxed(Sms::new(account.clone(), Client::new())),
            boxed(Carried::new(account, None, Client::new())),
        ]
    });
    all(&CHANNELS, &["", "status"], bytes);
}

/// Telegram's updates.
pub(crate) fn telegram(bytes: &[u8]) {
    static CHANNELS: Shared = LazyLock::new(|| {
        let settings = telegram::Settings {
            api: url(telegram::API),
            token: Secret::new("123456:ABC-DEF"),
            hearing: Hearing::Webhook { url: url(HOOK), secret: Secret::new("s3cret") },
        };
        vec![boxed(Telegram::new(settings, Client::new()))]
    });
    all(&CHANNELS, &[""], bytes);
}

/// Answers by email: as a message, and as providers post them.
pub(crate) fn mail(bytes: &[u8]) {
    static READER: LazyLock<Option<Reader>> = LazyLock::new(|| {
        let replies = Replies::new("replies@example.com", [7; 32]).ok()?;
        Some(Reader::new(replies, ["countersign@example.com".to_owned()]))
    });
    let Some(reader) = &*READER else { panic!("the reader cannot be made") };
    twice(|| reader.read(bytes, None));
    let password = || Secret::new("password");
    let providers = [
        Provider::Mailgun { signing_key: password() },
        Provider::Postmark { user: "postmark".to_owned(), password: password() },
        Provider::Signed { secret: Secret::new(SIGNING) },
    ];
    for provider in providers {
        let Ok(inbound) = Inbound::new(provider, reader.clone()) else { panic!("no provider") };
        for headers in kinds() {
            let knock = knock("", &headers, bytes);
            twice(|| inbound.parse(&knock).map_err(|unread| format!("{unread:?}")));
            assert!(inbound.verify(&knock).is_err(), "nobody signed this");
        }
    }
}

fn all(channels: &[Box<dyn Channel>], names: &[&'static str], bytes: &[u8]) {
    for channel in channels {
        for name in names {
            for headers in kinds() {
                let knock = knock(name, &headers, bytes);
                twice(|| channel.parse(&knock).map_err(|unread| format!("{unread:?}")));
                assert!(channel.verify(&knock).is_err(), "nobody signed this");
            }
        }
    }
}

/// The types of content that platforms send.
fn kinds() -> [Vec<(String, String)>; 3] {
    ["application/json", "application/x-www-form-urlencoded", "message/rfc822"]
        .map(|kind| vec![("content-type".to_owned(), kind.to_owned())])
}

fn knock<'a>(name: &'a str, headers: &'a [(String, String)], body: &'a [u8]) -> Knock<'a> {
    Knock { url: HOOK, name, headers, body, now: Time::from_millis(NOW) }
}

fn boxed<C: Channel + 'static>(made: Result<C, String>) -> Box<dyn Channel> {
    match made {
        Ok(channel) => Box::new(channel),
        Err(why) => panic!("{why}"),
    }
}

fn url(text: &str) -> Url {
    match text.parse() {
        Ok(url) => url,
        Err(why) => panic!("{text}: {why}"),
    }
}
