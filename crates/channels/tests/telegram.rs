//! Stories with a bot, through real HTTP.
#![expect(clippy::unwrap_used, reason = "tests")]

mod random;

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use channels::inbound::{InReplyTo, InboundContent};
use channels::telegram::{API, Telegram, TelegramSettings, UpdateSource};
use channels::testing::fake_platform::{Call, CallFault, Inbound, LITTLE, PLENTY, client};
use channels::testing::sample_cards;
use channels::testing::telegram::{self as platform, TOKEN, checked};
use channels::{
    Channel, DeliveryError, InboundHandler, InboundMessage, OutboundMessage, PostedMessage,
    SecretString,
};
use kernel::Time;
use kernel::directory::ContactMethod;
use proptest::prelude::*;
use serde_json::{Value, json};
use url::Url;

const NOW: Time = Time::LAST;
const HOOK: &str = "https://ask.example.com/channels/telegram/updates";

fn bot(api: Url, token: &str, hearing: UpdateSource) -> Telegram {
    Telegram::new(
        TelegramSettings { api, token: SecretString::new(token), hearing },
        client(PLENTY),
    )
    .unwrap()
}

fn polling(there: &platform::Telegram) -> Telegram {
    bot(there.base(), TOKEN, UpdateSource::Poll)
}

fn hooked(api: Url) -> Telegram {
    let url = Url::parse(HOOK).unwrap();
    bot(api, TOKEN, UpdateSource::Webhook { url, secret: SecretString::new("s3cret-_") })
}

fn outbound<'a>(to: &'a str, message: &'a Value) -> OutboundMessage<'a> {
    OutboundMessage { to, message, key: "k1", thread: None, token: None, now: NOW }
}

fn why(failed: DeliveryError) -> String {
    match failed {
        DeliveryError::Never { why } => why,
        DeliveryError::Gone { .. } | DeliveryError::Later { .. } => panic!("unexpected: {failed}"),
    }
}

/// Keeps what it hears, and refuses as often as told.
#[derive(Default)]
struct KeepingHandler {
    inbound: Mutex<Vec<InboundMessage>>,
    refusals: Mutex<u32>,
    enough: tokio::sync::Notify,
}

#[async_trait]
impl InboundHandler for KeepingHandler {
    async fn handle(&self, inbound: InboundMessage) -> Result<Option<Value>, DeliveryError> {
        let mut refusals = self.refusals.lock().unwrap();
        if *refusals > 0 {
            *refusals -= 1;
            return Err(DeliveryError::later("the store is away"));
        }
        self.inbound.lock().unwrap().push(inbound);
        self.enough.notify_one();
        Ok(None)
    }
}

#[tokio::test]
async fn a_question_is_asked_and_shown_as_over() {
    let there = platform::Telegram::start().await.unwrap();
    there.chat(7);
    let bot = polling(&there);
    assert_eq!(bot.name(), "telegram");
    let posted = bot.deliver(outbound("7", &bot.render(&sample_cards::approve()))).await.unwrap();
    assert_eq!(
        posted,
        PostedMessage { id: "7:1".into(), thread: None, place: json!({ "chat": 7, "message": 1 }) }
    );
    let shown = there.message(7, 1).unwrap();
    assert_eq!(shown["reply_markup"]["inline_keyboard"][0][0]["callback_data"], "t-yes");

    let over = bot.render(&sample_cards::over());
    bot.update(&posted, &over, None).await.unwrap();
    let shown = there.message(7, 1).unwrap();
    assert_eq!(shown["reply_markup"]["inline_keyboard"], json!([]));
    assert!(shown["text"].as_str().unwrap().contains("Approved by Ada Lovelace"));
    // The same once more is fine, and so is a message below it.
    bot.update(&posted, &over, None).await.unwrap();
    let message = bot.render(&sample_cards::converse());
    let below = OutboundMessage { thread: Some("7:1"), ..outbound("7", &message) };
    let below = bot.deliver(below).await.unwrap();
    assert_eq!(there.message(7, 2).unwrap()["reply_parameters"]["message_id"], 1);
    assert_eq!(below.id, "7:2");

    there.delete(7, 1);
    let failed = bot.update(&posted, &bot.render(&sample_cards::over()), None).await.unwrap_err();
    assert_eq!(why(failed), "the Telegram message no longer exists, so it cannot be changed");
}

#[tokio::test]
async fn a_group_that_moved_is_followed() {
    let there = platform::Telegram::start().await.unwrap();
    there.moved(-5, -1005);
    let bot = polling(&there);
    let message = bot.render(&sample_cards::approve());
    let outbound = OutboundMessage { thread: Some("-5:3"), ..outbound("-5", &message) };
    assert_eq!(bot.deliver(outbound).await.unwrap().id, "-1005:1");
    assert!(there.message(-1005, 1).unwrap().get("reply_parameters").is_none());
}

#[tokio::test]
async fn what_will_never_arrive_says_what_to_do() {
    let there = platform::Telegram::start().await.unwrap();
    there.refusing(1, "Forbidden: bot was blocked by the user");
    there.refusing(2, "Forbidden: bot can't initiate conversation with a user");
    there.refusing(3, "Forbidden: user is deactivated");
    there.refusing(4, "Forbidden: bot was kicked from the group chat");
    let bot = polling(&there);
    let message = bot.render(&sample_cards::approve());
    let cases = [
        ("1", "has blocked the bot"),
        ("2", "press Start"),
        ("3", "account no longer exists"),
        ("4", "add it to the group again"),
        ("99", "cannot find this chat"),
        ("ada", "must be a number"),
    ];
    for (to, words) in cases {
        let why = why(bot.deliver(outbound(to, &message)).await.unwrap_err());
        assert!(why.contains(words), "{to}: {why}");
    }
    let stranger = self::bot(there.base(), "1:other", UpdateSource::Poll);
    let failed = stranger.deliver(outbound("1", &message)).await.unwrap_err();
    assert!(why(failed).contains("@BotFather"));
    // An agent's own bot.
    there.chat(7);
    let token = SecretString::new(TOKEN);
    let outbound = OutboundMessage { token: Some(&token), ..outbound("7", &message) };
    stranger.deliver(outbound).await.unwrap();
}

#[tokio::test]
async fn what_may_arrive_later_is_tried_again() {
    let there = platform::Telegram::start().await.unwrap();
    there.chat(7);
    let bot = polling(&there);
    let message = bot.render(&sample_cards::approve());
    let (api, token) = (there.base(), SecretString::new(TOKEN));
    let settings = TelegramSettings { api, token, hearing: UpdateSource::Poll };
    let hasty = Telegram::new(settings, client(LITTLE)).unwrap();
    let cases = [
        (CallFault::Busy(17), Some(17), "limits the rate"),
        (CallFault::Broken(502), None, "502"),
        (CallFault::Hang, None, "in time"),
        (CallFault::Drop, None, "closed the connection"),
    ];
    for (trouble, seconds, words) in cases {
        there.fail_next(trouble);
        let bot = if trouble == CallFault::Hang { &hasty } else { &bot };
        let failed = bot.deliver(outbound("7", &message)).await.unwrap_err();
        let DeliveryError::Later { why, after } = failed else { panic!("{trouble:?}: {failed}") };
        assert_eq!(after, seconds.map(Duration::from_secs));
        assert!(why.contains(words), "{why}");
        assert!(!why.contains("ABC-DEF"), "a token is in its address: {why}");
    }
    let nobody = self::bot("http://127.0.0.1:9/".parse().unwrap(), TOKEN, UpdateSource::Poll);
    let failed = nobody.deliver(outbound("7", &message)).await.unwrap_err();
    assert_eq!(failed, DeliveryError::later("Telegram cannot be reached"));
    assert!(!format!("{bot:?}").contains("ABC-DEF"));
}

#[tokio::test]
async fn those_who_press_are_always_answered() {
    let there = platform::Telegram::start().await.unwrap();
    let bot = hooked(there.base());
    let inbound =
        |inbound: &Inbound| bot.parse(&inbound.call("updates", NOW)).unwrap().inbound.remove(0);
    let press = inbound(&there.press(7, -5, 3, "t-yes"));
    let token = "t-yes".to_owned();
    // Who pressed counts, not the group.
    assert_eq!(press.from, ContactMethod::Telegram("7".into()));
    assert_eq!(press.what, InboundContent::Pressed { token, posted: Some("-5:3".into()) });
    bot.reply(&press, "").await.unwrap();
    assert_eq!(there.answered(), [json!({ "callback_query_id": "q73" })]);
    let late = why(bot.reply(&press, "again").await.unwrap_err());
    assert!(late.contains("too long ago"), "{late}");

    bot.reply(&inbound(&there.press(8, -5, 3, "t-yes")), &"é".repeat(300)).await.unwrap();
    let shown = there.answered()[1]["text"].as_str().unwrap().to_owned();
    assert_eq!(shown, format!("{}…", "é".repeat(199)));

    // Whoever wrote is answered below it.
    there.chat(7);
    bot.reply(&inbound(&there.write(7, "A7 yes", None)), "Thanks.").await.unwrap();
    assert_eq!(there.message(7, 1).unwrap()["reply_parameters"]["message_id"], 900);
}

#[tokio::test]
async fn only_what_was_taken_is_taken_from_telegram() {
    let there = platform::Telegram::start().await.unwrap();
    there.chat(7);
    let bot = polling(&there);
    let handlers = KeepingHandler::default();
    *handlers.refusals.lock().unwrap() = 1;
    there.write(7, "/start CODE", None);
    there.write(7, "it is fine", Some(4));
    let failed = bot.listen(&handlers).await.unwrap_err();
    assert_eq!(failed, DeliveryError::later("the store is away"));
    assert_eq!(there.waiting(), 2);

    // It comes again; what cannot be understood holds nothing up.
    there.update(json!({ "message": "?" }));
    there.update(json!({ "poll": {} }));
    there.press(7, 7, 1, "t-no");
    let three = async {
        while handlers.inbound.lock().unwrap().len() < 3 {
            handlers.enough.notified().await;
        }
        while there.waiting() > 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        ended = bot.listen(&handlers) => panic!("{ended:?}"),
        () = three => {}
    }
    let inbound = handlers.inbound.lock().unwrap();
    let said: Vec<&InboundContent> = inbound.iter().map(|inbound| &inbound.what).collect();
    let wrote = |text: &str, about| InboundContent::Wrote { text: text.into(), about };
    let pressed = InboundContent::Pressed { token: "t-no".into(), posted: Some("7:1".into()) };
    assert_eq!(
        said,
        [
            &wrote("/start CODE", InReplyTo::Nothing),
            &wrote("it is fine", InReplyTo::Posted("7:4".into())),
            &pressed,
        ]
    );
    assert_eq!(inbound[0].name.as_deref(), Some("Ada Lovelace"));
    assert_eq!(inbound[0].at, Some(Time::from_millis(1_772_000_000_000)));
    // Nothing that waits is thrown away, and once nothing is to be told, no number is named.
    let asked: Vec<Value> = there.calls().iter().map(Call::json).collect();
    assert_eq!(asked[0], json!({ "drop_pending_updates": false }));
    assert_eq!(asked[1].get("offset"), None);
    assert_eq!(asked.last().unwrap()["offset"], 6);
}

#[tokio::test]
async fn two_who_ask_are_told_so() {
    let there = platform::Telegram::start().await.unwrap();
    there.contest(true);
    let failed = polling(&there).listen(&KeepingHandler::default()).await.unwrap_err();
    let DeliveryError::Later { why, .. } = failed else { panic!("{failed}") };
    assert!(why.contains("one server only"), "{why}");
}

#[tokio::test]
async fn a_webhook_is_set_and_known_by_its_secret() {
    let there = platform::Telegram::start().await.unwrap();
    let bot = hooked(there.base());
    let handlers = KeepingHandler::default();
    let set = async {
        while there.calls().is_empty() {
            tokio::task::yield_now().await;
        }
        bot.check().await.unwrap()
    };
    let found = tokio::select! {
        ended = bot.listen(&handlers) => panic!("{ended:?}"),
        found = set => found,
    };
    assert_eq!(found, format!("the bot is @countersign_bot, and Telegram calls {HOOK}"));
    let inbound = there.write(7, "hello", None);
    assert_eq!(inbound.url, HOOK);
    bot.verify(&inbound.call("updates", NOW)).unwrap();

    let header = |value: &str| ("x-telegram-bot-api-secret-token".to_owned(), value.to_owned());
    for headers in [vec![], vec![header("")], vec![header("s3cret-")], vec![header("s3cret-_"); 2]]
    {
        let forged = Inbound { headers, ..inbound.clone() };
        bot.verify(&forged.call("updates", NOW)).unwrap_err();
    }
    polling(&there).verify(&inbound.call("updates", NOW)).unwrap_err();
    // Whoever polls takes the webhook away.
    there.contest(true);
    polling(&there).listen(&handlers).await.unwrap_err();
    assert_eq!(polling(&there).check().await.unwrap(), "the bot is @countersign_bot");
}

#[test]
fn what_telegram_says_is_read() {
    let bot = hooked(API.parse().unwrap());
    let read = |body: &[u8]| {
        let body =
            Inbound { method: "POST", url: String::new(), headers: vec![], body: body.into() };
        bot.parse(&body.call("updates", NOW)).map(|parsed| parsed.inbound)
    };
    let member = |kind: &str, status: &str| {
        let update = json!({ "update_id": 1, "my_chat_member": {
            "chat": { "id": 7, "type": kind }, "from": { "id": 7 }, "date": 1,
            "old_chat_member": { "status": "member" }, "new_chat_member": { "status": status },
        }});
        read(update.to_string().as_bytes()).unwrap().pop().map(|inbound| inbound.what)
    };
    assert_eq!(member("private", "kicked"), Some(InboundContent::Stopped));
    assert_eq!(member("private", "member"), Some(InboundContent::Resumed));
    assert_eq!(member("private", "restricted"), None);
    assert_eq!(member("group", "kicked"), None);
    // Of no concern, or from nobody.
    for body in [
        r#"{"update_id":1}"#,
        r#"{"update_id":1,"edited_message":{"message_id":"?"}}"#,
        r#"{"update_id":1,"message":{"message_id":1,"chat":{"id":1,"type":"channel"},"date":1,"text":"x"}}"#,
        r#"{"update_id":1,"message":{"message_id":1,"from":{"id":1087968824,"is_bot":true},"chat":{"id":1,"type":"group"},"date":1,"text":"/start x"}}"#,
        r#"{"update_id":1,"message":{"message_id":1,"from":{"id":1},"chat":{"id":1,"type":"private"},"date":1,"sticker":{}}}"#,
        r#"{"update_id":1,"callback_query":{"id":"1","from":{"id":1},"game_short_name":"x"}}"#,
        // What people in a group say to each other.
        r#"{"update_id":1,"message":{"message_id":1,"from":{"id":1},"chat":{"id":-1,"type":"group"},"date":1,"text":"x"}}"#,
        r#"{"update_id":1,"message":{"message_id":1,"from":{"id":1},"chat":{"id":-1,"type":"supergroup"},"date":1,"text":"x","reply_to_message":{"message_id":2,"chat":{"id":-1,"type":"supergroup"},"from":{"id":2,"is_bot":false}}}}"#,
    ] {
        assert_eq!(read(body.as_bytes()), Ok(vec![]), "{body}");
    }
    let group = |more: &str| {
        let body = format!(
            r#"{{"update_id":1,"message":{{"message_id":1,"from":{{"id":1}},"chat":{{"id":-1,"type":"group"}},"date":1,{more}}}}}"#
        );
        read(body.as_bytes()).unwrap().pop().map(|inbound| inbound.what)
    };
    let wrote = |text: &str, about| Some(InboundContent::Wrote { text: text.into(), about });
    assert_eq!(group(r#""text":"/start@bot CODE""#), wrote("/start@bot CODE", InReplyTo::Nothing));
    let reply = r#""text":"x","reply_to_message":{"message_id":2,"chat":{"id":-1,"type":"group"},"from":{"id":9,"is_bot":true}}"#;
    assert_eq!(group(reply), wrote("x", InReplyTo::Posted("-1:2".into())));
    for body in
        ["", "null", "[]", "{}", r#"{"update_id":"1"}"#, r#"{"update_id":1,"message":{}}"#, "\u{0}"]
    {
        assert!(
            read(body.as_bytes()).unwrap_err().0.starts_with("expected a Bot API Update"),
            "{body}"
        );
    }
    assert!(read(&[0xff, 0xfe]).is_err());
}

#[test]
fn half_a_setting_is_refused() {
    for (token, secret) in
        [("", "x"), ("abc", "x"), ("1:", "x"), ("1:a/b", "x"), (TOKEN, ""), (TOKEN, "a b")]
    {
        let hearing =
            UpdateSource::Webhook { url: HOOK.parse().unwrap(), secret: SecretString::new(secret) };
        let settings = TelegramSettings {
            api: API.parse().unwrap(),
            token: SecretString::new(token),
            hearing,
        };
        Telegram::new(settings, reqwest::Client::new()).unwrap_err();
    }
}

/// Every card is taken, and nothing can be pressed below half a question.
#[test]
fn every_card_is_taken() {
    let bot = hooked(API.parse().unwrap());
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) };
    proptest!(config, |(card in random::card())| {
        let message = bot.render(&card);
        prop_assert_eq!(checked(&message), Ok(()));
        if message["reply_markup"]["inline_keyboard"] != json!([]) {
            let text = message["text"].as_str().unwrap();
            let context = card.context.iter().map(String::as_str);
            for words in context.chain([card.words.as_str()]) {
                prop_assert!(text.contains(&kernel::text::reveal(words.trim())), "{text}");
            }
        }
    });
}
