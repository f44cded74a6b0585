//! Whatever comes in, no channel falls over it, and none takes it for its platform's.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;

use channels::ntfy::{self, Ntfy, NtfyCredentials};
use channels::sms::Sms;
use channels::telegram::{self, Telegram, UpdateSource};
use channels::testing::twilio::{AUTH_TOKEN, NUMBER, SID};
use channels::testing::{telegram as bots, webhook as programs, whatsapp as meta};
use channels::twilio::{API, CONTENT, TwilioAccount, TwilioSender};
use channels::webhook::{self, WebhookChannel};
use channels::whatsapp::{self, GRAPH, MetaWhatsapp, TwilioWhatsapp};
use channels::{Channel, SecretString, WebhookCall};
use kernel::Time;
use proptest::collection::vec;
use proptest::prelude::*;

const HOOK: &str = "https://ask.example.com/channels/any/thing";

fn all() -> Vec<Box<dyn Channel>> {
    let client = reqwest::Client::new();
    let account = TwilioAccount {
        api: API.parse().unwrap(),
        content: CONTENT.parse().unwrap(),
        sid: SID.into(),
        auth_token: SecretString::new(AUTH_TOKEN),
        key: None,
        sender: TwilioSender::Number(NUMBER.into()),
        status: None,
    };
    let bot = telegram::TelegramSettings {
        api: telegram::API.parse().unwrap(),
        token: SecretString::new(bots::TOKEN),
        hearing: UpdateSource::Webhook {
            url: HOOK.parse().unwrap(),
            secret: SecretString::new("s3cret"),
        },
    };
    let cloud = whatsapp::MetaSettings {
        graph: GRAPH.parse().unwrap(),
        phone_number_id: meta::PHONE_NUMBER_ID.into(),
        token: SecretString::new(meta::TOKEN),
        app_secret: SecretString::new(meta::APP_SECRET),
        verify_token: SecretString::new(meta::VERIFY_TOKEN),
        template: None,
    };
    let notices = ntfy::NtfySettings {
        server: ntfy::SERVER.parse().unwrap(),
        login: NtfyCredentials::Nobody,
        updates: true,
    };
    let program = webhook::WebhookSettings {
        url: HOOK.parse().unwrap(),
        secret: SecretString::new(programs::SECRET),
    };
    vec![
        Box::new(Telegram::new(bot, client.clone()).unwrap()),
        Box::new(Sms::new(account.clone(), client.clone()).unwrap()),
        Box::new(TwilioWhatsapp::new(account, None, client.clone()).unwrap()),
        Box::new(MetaWhatsapp::new(cloud, client.clone()).unwrap()),
        Box::new(Ntfy::new(notices, client.clone()).unwrap()),
        Box::new(WebhookChannel::new(&program, client, Arc::new(|| Time::LAST)).unwrap()),
    ]
}

/// Bytes, or something like what platforms send.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let words =
        "[\\[\\]{}\",:0-9&=%+]|message|from|id|text|entry|changes|value|MessageSid|From|Body|null";
    let alike = vec(words, 0..40).prop_map(|words| words.concat().into_bytes());
    prop_oneof![vec(any::<u8>(), 0..200), alike]
}

#[test]
fn nothing_falls_over() {
    let channels = all();
    let name = prop_oneof![
        Just("x-telegram-bot-api-secret-token"),
        Just("x-twilio-signature"),
        Just("x-hub-signature-256"),
        Just("webhook-id"),
        Just("webhook-timestamp"),
        Just("webhook-signature"),
    ];
    let header = (name.prop_map(str::to_owned), "\\PC{0,40}|[0-9]{1,12}|v1,[a-zA-Z0-9+/=]{0,44}");
    let url =
        prop_oneof![Just(HOOK.to_owned()), "\\PC{0,60}", "https://x/\\?hub[.a-z_=&0-9]{0,60}"];
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) };
    proptest!(config, |(url in url, headers in vec(header, 0..6), body in body(), at in any::<i64>())| {
        let now = Time::from_millis(at);
        let call = WebhookCall { url: &url, name: "x", headers: &headers, body: &body, now };
        for channel in &channels {
            let _ = channel.parse(&call);
            prop_assert!(channel.verify(&call).is_err(), "{}", channel.name());
        }
    });
}
