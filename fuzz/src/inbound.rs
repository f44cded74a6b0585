//! Inputs from platforms and mail servers. None of them is signed with the server's secrets, so
//! none may verify.

use std::sync::{Arc, LazyLock};

use channels::email::provider_webhook::{EmailProvider, ProviderWebhook};
use channels::email::{AddressOwner, EmailReader, ReplyAddress, ReplyAddresses};
use channels::slack::{self, Slack};
use channels::sms::Sms;
use channels::telegram::{self, Telegram, UpdateSource};
use channels::twilio::{API, CONTENT, TwilioAccount, TwilioSender};
use channels::webhook::{self, WebhookChannel};
use channels::whatsapp::{self, GRAPH, MetaWhatsapp, TwilioWhatsapp};
use channels::{Channel, SecretString, WebhookCall};
use kernel::directory::ContactMethod;
use kernel::{AskId, Time};
use reqwest::{Client, Url};
use ulid::Ulid;

use crate::twice;

const HOOK: &str = "https://ask.example.com/channels/any/thing";
/// A secret in the format of Standard Webhooks.
const SIGNING: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/// The time of all inputs.
const NOW: i64 = 1_800_000_000_000;

type SharedChannels = LazyLock<Vec<Box<dyn Channel>>>;

/// Any program that speaks Standard Webhooks, and `WhatsApp` through Meta.
pub(crate) fn webhooks(bytes: &[u8]) {
    static CHANNELS: SharedChannels = LazyLock::new(|| {
        let settings =
            webhook::WebhookSettings { url: url(HOOK), secret: SecretString::new(SIGNING) };
        let clock = Arc::new(|| Time::from_millis(NOW));
        let cloud = whatsapp::MetaSettings {
            graph: url(GRAPH),
            phone_number_id: "106540352242922".to_owned(),
            token: SecretString::new("token"),
            app_secret: SecretString::new("app secret"),
            verify_token: SecretString::new("verify"),
            template: None,
        };
        vec![
            boxed(WebhookChannel::new(&settings, Client::new(), clock)),
            boxed(MetaWhatsapp::new(cloud, Client::new())),
        ]
    });
    all(&CHANNELS, &["", "messages"], bytes);
}

/// Slack's events, buttons and forms.
pub(crate) fn slack(bytes: &[u8]) {
    static CHANNELS: SharedChannels = LazyLock::new(|| {
        let settings = slack::SlackSettings {
            bot_token: SecretString::new("xoxb-1"),
            signing_secret: Some(SecretString::new("signing secret")),
            app_token: None,
            base: None,
        };
        vec![boxed(Slack::new(settings, Client::new()))]
    });
    all(&CHANNELS, &["events", "interactions"], bytes);
}

/// SMS and `WhatsApp` through Twilio.
pub(crate) fn twilio(bytes: &[u8]) {
    static CHANNELS: SharedChannels = LazyLock::new(|| {
        let account = TwilioAccount {
            api: url(API),
            content: url(CONTENT),
            sid: format!("AC{}", "0".repeat(32)),
            auth_token: SecretString::new("auth token"),
            key: None,
            sender: TwilioSender::Number("+15005550006".to_owned()),
            status: None,
        };
        vec![
            boxed(Sms::new(account.clone(), Client::new())),
            boxed(TwilioWhatsapp::new(account, None, Client::new())),
        ]
    });
    all(&CHANNELS, &["", "status"], bytes);
}

/// Updates that Telegram posts to the webhook of the bot.
pub(crate) fn telegram(bytes: &[u8]) {
    static CHANNELS: SharedChannels = LazyLock::new(|| {
        let settings = telegram::TelegramSettings {
            api: url(telegram::API),
            token: SecretString::new("123456:ABC-DEF"),
            hearing: UpdateSource::Webhook { url: url(HOOK), secret: SecretString::new("s3cret") },
        };
        vec![boxed(Telegram::new(settings, Client::new()))]
    });
    all(&CHANNELS, &[""], bytes);
}

/// Answers by email: as a message, and as providers post them.
pub(crate) fn mail(bytes: &[u8]) {
    static READER: LazyLock<Option<EmailReader>> = LazyLock::new(|| {
        let replies = ReplyAddresses::new("replies@example.com", [7; 32]).ok()?;
        Some(EmailReader::new(replies, ["countersign@example.com".to_owned()]))
    });
    let Some(reader) = &*READER else { panic!("the reader cannot be made") };
    twice(|| reader.read(bytes, None));
    // An email to an issued address, with a signature: the sender is parsed strictly.
    let reply = ReplyAddress {
        ask: AskId::new(Ulid(1)),
        whom: AddressOwner::of(&ContactMethod::email("ada@example.org")),
    };
    let to = reader.replies().address(reply);
    let signed = "From: ada@example.org\r\nDKIM-Signature: v=1\r\nTo: ";
    let signed = [signed.as_bytes(), to.as_bytes(), b"\r\n", bytes].concat();
    twice(|| reader.read(&signed, Some(&to)));
    let password = || SecretString::new("password");
    let providers = [
        EmailProvider::Mailgun { signing_key: password() },
        EmailProvider::Postmark { user: "postmark".to_owned(), password: password() },
        EmailProvider::Signed { secret: SecretString::new(SIGNING) },
    ];
    for provider in providers {
        let Ok(inbound) = ProviderWebhook::new(provider, reader.clone()) else {
            panic!("no provider")
        };
        for headers in kinds() {
            let call = call("", &headers, bytes);
            twice(|| inbound.parse(&call).map_err(|unread| format!("{unread:?}")));
            assert!(inbound.verify(&call).is_err(), "nobody signed this");
        }
    }
}

fn all(channels: &[Box<dyn Channel>], names: &[&'static str], bytes: &[u8]) {
    for channel in channels {
        for name in names {
            for headers in kinds() {
                let call = call(name, &headers, bytes);
                twice(|| channel.parse(&call).map_err(|unread| format!("{unread:?}")));
                assert!(channel.verify(&call).is_err(), "nobody signed this");
            }
        }
    }
}

/// The content types that platforms send.
fn kinds() -> [Vec<(String, String)>; 3] {
    ["application/json", "application/x-www-form-urlencoded", "message/rfc822"]
        .map(|kind| vec![("content-type".to_owned(), kind.to_owned())])
}

fn call<'a>(name: &'a str, headers: &'a [(String, String)], body: &'a [u8]) -> WebhookCall<'a> {
    WebhookCall { url: HOOK, name, headers, body, now: Time::from_millis(NOW) }
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
