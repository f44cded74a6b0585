//! Text messages through Twilio. An answer begins with a code, because SMS has neither
//! threads nor buttons.

use std::sync::Arc;

use async_trait::async_trait;
use reqwest::Client;
use serde_json::{Value, json};
use views::message_card::plain_text::{beginning, defanged, facts, one_line, quoted, units};
use views::message_card::{AnswerOptions, CardButton, CardStage, MessageCard};
use views::t;

use crate::inbound::{InReplyTo, ParsedCall};
use crate::setup::{ChannelContext, ChannelSetup};
use crate::twilio::{TwilioAccount, TwilioClient, TwilioForm, acknowledge, sms_contact};
use crate::{
    Channel, DeliveryError, ForgedCall, InboundMessage, OutboundMessage, PostedMessage,
    UnreadableCall, WebhookCall,
};

/// The name of the channel.
pub const NAME: &str = "sms";

/// The longest text that Twilio accepts.
const LONGEST: usize = 1600;

/// The settings of the channel: a Twilio account.
#[derive(Debug, Clone)]
pub struct SmsSettings(pub TwilioAccount);

/// The SMS channel.
#[derive(Debug)]
pub struct Sms {
    twilio: TwilioClient,
}

impl Sms {
    /// Creates the channel, or says what is wrong with the account.
    pub fn new(account: TwilioAccount, client: Client) -> Result<Self, String> {
        Ok(Self { twilio: TwilioClient::new(account, client)? })
    }
}

impl ChannelSetup for SmsSettings {
    type Channel = Sms;

    const NAME: &'static str = NAME;

    fn open(self, context: &ChannelContext) -> Result<Arc<Self::Channel>, String> {
        Sms::new(self.0, context.http()?).map(Arc::new)
    }
}

#[async_trait]
impl Channel for Sms {
    fn name(&self) -> &'static str {
        NAME
    }

    fn render(&self, card: &MessageCard) -> Value {
        render(card)
    }

    async fn deliver(&self, outbound: OutboundMessage<'_>) -> Result<PostedMessage, DeliveryError> {
        let body = outbound.message.get("body").and_then(Value::as_str).unwrap_or_default();
        let id = self.twilio.send("", outbound.to, &[("Body", body)]).await?;
        Ok(PostedMessage::new(id))
    }

    fn verify(&self, call: &WebhookCall<'_>) -> Result<(), ForgedCall> {
        self.twilio.verify(call)
    }

    fn parse(&self, call: &WebhookCall<'_>) -> Result<ParsedCall, UnreadableCall> {
        let form = TwilioForm::read(call);
        if let Some(status) = form.status(sms_contact)? {
            return Ok(status);
        }
        Ok(match form.inbound_text(sms_contact)? {
            Some(written) => form.parse_text(written, None, InReplyTo::Nothing),
            None => acknowledge(Vec::new()),
        })
    }

    async fn reply(&self, inbound: &InboundMessage, words: &str) -> Result<(), DeliveryError> {
        let Some(to) = inbound.from.address().filter(|_| !words.is_empty()) else { return Ok(()) };
        let body = beginning(words, LONGEST, units);
        self.twilio.send("", to, &[("Body", body)]).await.map(|_| ())
    }

    async fn check(&self) -> Result<String, DeliveryError> {
        self.twilio.account_name().await
    }
}

// The number of segments in a text message. Phones show the segments as one message, but carriers
// charge for each. A single segment holds 160 characters of the GSM alphabet or 70 of any other.
// Each segment of a longer message holds slightly fewer.

/// The basic characters of the GSM alphabet (GSM 03.38).
const BASIC: &str = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?\
                     ¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";
/// Its characters that count twice.
const EXTENDED: &str = "\u{c}^{}\\[~]|€";

/// The encoding of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SmsEncoding {
    /// The GSM alphabet.
    Gsm,
    /// UTF-16, for all other characters.
    Ucs,
}

impl SmsEncoding {
    /// The encoding that fits all of these texts.
    fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let known = |c: char| BASIC.contains(c) || EXTENDED.contains(c);
        if texts.into_iter().all(|text| text.chars().all(known)) { Self::Gsm } else { Self::Ucs }
    }

    /// The function that measures the length of a text.
    fn measure(self) -> fn(&str) -> usize {
        match self {
            Self::Gsm => |text| text.chars().map(|c| 1 + usize::from(EXTENDED.contains(c))).sum(),
            Self::Ucs => units,
        }
    }

    /// The length that fits three segments. A character that counts twice is not split, so one
    /// place of each segment may stay empty.
    fn max_length(self) -> usize {
        match self {
            Self::Gsm => 3 * 152,
            Self::Ucs => 3 * 66,
        }
    }
}

// A message card as a text message. It is short, because every segment costs money. The server's
// own link is the only text that phones turn into a link. The agent's text is quoted line by line,
// because nothing else distinguishes it from the server's text.

/// The longest title.
const TITLE: usize = 120;

/// Renders a message, without its recipient.
fn render(card: &MessageCard) -> Value {
    json!({ "body": text(card) })
}

fn text(card: &MessageCard) -> String {
    let whole = full_text(card);
    let alphabet = SmsEncoding::of([whole.as_str()]);
    if alphabet.measure()(&whole) <= alphabet.max_length() {
        return whole;
    }
    let (before, words) = (format!("{}\n", title(card)), quoted(&card.words));
    let after = match &card.stage {
        CardStage::Open(_) => {
            format!("...\n{}\n{}", t!("chat-more-answer-here"), card.link)
        }
        CardStage::Closed { headline, at, .. } => {
            format!("...\n{}\n{}", closed_line(headline, at), card.link)
        }
    };
    let alphabet = SmsEncoding::of([before.as_str(), &words, &after]);
    let measure = alphabet.measure();
    let room = alphabet.max_length().saturating_sub(measure(&before) + measure(&after));
    format!("{before}{}{after}", beginning(&words, room, measure))
}

fn full_text(card: &MessageCard) -> String {
    let mut lines = vec![title(card)];
    lines.extend(card.note.as_deref().map(defanged));
    lines.push(quoted(&card.words));
    lines.extend(card.context.as_deref().map(quoted));
    if !card.facts.is_empty() {
        lines.push(quoted(&facts(&card.facts)));
    }
    match &card.stage {
        CardStage::Open(ways) => {
            lines.extend(
                card.until.as_deref().map(|until| t!("chat-expires", until = defanged(until))),
            );
            lines.push(answers(ways));
        }
        CardStage::Closed { headline, at, comment } => {
            lines.push(closed_line(headline, at));
            lines.extend(comment.as_deref().map(quoted));
        }
    }
    lines.push(card.link.clone());
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

fn title(card: &MessageCard) -> String {
    let title = defanged(&one_line(&card.title));
    beginning(&title, TITLE, units).to_owned()
}

fn closed_line(headline: &str, at: &str) -> String {
    format!("{}, {at}", defanged(&one_line(headline)))
}

/// How to answer. Every answer needs a code, because text messages have no threads.
fn answers(ways: &AnswerOptions) -> String {
    let one = |code: &str, button: &CardButton| {
        format!("{code} {}: {}", one_line(&button.word), defanged(&one_line(&button.label)))
    };
    let offered = ways.buttons.iter().filter(|button| !button.wants_words);
    match ways.code.as_deref() {
        Some(code) if offered.clone().next().is_some() => {
            let presses: Vec<String> = offered.map(|button| one(code, button)).collect();
            format!("{}\n{}\n{}", t!("chat-answer-with"), presses.join("\n"), t!("chat-or-here"))
        }
        Some(code) if ways.reply => t!("chat-answer-with-text", code = code),
        Some(_) | None => t!("chat-answer-here"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_as_carriers_count() {
        let cases = [
            ("Refund 12 € [yes]?", SmsEncoding::Gsm, 21),
            ("naïve", SmsEncoding::Ucs, 5),
            ("🙂", SmsEncoding::Ucs, 2),
            ("`code`", SmsEncoding::Ucs, 6),
            ("äöüß ÅÆ", SmsEncoding::Gsm, 7),
            ("", SmsEncoding::Gsm, 0),
        ];
        for (text, alphabet, length) in cases {
            assert_eq!(
                (SmsEncoding::of([text]), alphabet.measure()(text)),
                (alphabet, length),
                "{text}"
            );
        }
        assert_eq!(BASIC.chars().count() + 1, 128, "all but the escape");
    }
}

#[cfg(test)]
mod render_tests {
    use super::*;
    use crate::testing::sample_cards;

    #[test]
    fn as_they_are_read() {
        for (name, card) in sample_cards::samples() {
            insta::assert_snapshot!(name, text(&card));
        }
    }

    #[test]
    fn without_a_code_there_is_only_the_page() {
        let CardStage::Open(ways) = sample_cards::approve().stage else { panic!("it is open") };
        let card = MessageCard {
            stage: CardStage::Open(AnswerOptions { code: None, ..ways }),
            ..sample_cards::approve()
        };
        assert!(!text(&card).contains("Answer with"), "{}", text(&card));
    }

    /// An answer is offered only if the message contains the whole question.
    #[test]
    fn what_does_not_fit_cannot_be_answered() {
        for (words, fits) in
            [("x".repeat(200), true), ("x".repeat(450), false), ("ж".repeat(200), false)]
        {
            let card = MessageCard {
                words,
                facts: vec![],
                context: None,
                note: None,
                ..sample_cards::approve()
            };
            let text = text(&card);
            assert_eq!(text.contains("A7 yes"), fits, "{text}");
            assert_eq!(text.contains("only part of the request"), !fits, "{text}");
        }
    }
}
