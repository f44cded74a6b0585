//! The email about a waiting request: who asks, in the server's words, and the question, in the
//! agent's words, in full if it is short enough. It links to the page. If replies by email are
//! accepted and the email contains the whole question, it explains how to reply.

use askama::Template;
use dialects::a2h::EmailOptions;
use kernel::audit::Digest;
use kernel::follow_up::NotificationReason;
use kernel::text::reveal;
use kernel::{AskId, Time};

use super::{AgentEmailBody, Email, separator, without_links};
use crate::components::wording::VisibleText;
use crate::message_card::{AnswerOptions, CardStage, MessageCard};

/// How many characters of a question are in the subject.
const SUBJECT: usize = 80;
/// The maximum length of a question that is shown in full, with its context and
/// facts, in characters.
const WHOLE: usize = 8000;
/// How many characters of a longer question are shown; the email states that there is more.
const BEGINNING: usize = 500;

/// The content of the email.
pub struct NotificationEmail<'a> {
    /// The recipient's email address.
    pub to: &'a str,
    pub ask: AskId,
    /// When the notification was due.
    pub since: Time,
    /// The reason for the notification.
    pub why: NotificationReason,
    /// The text about the request.
    pub card: &'a MessageCard,
    /// The URL of the notification settings, if the recipient is a known person.
    pub settings: Option<&'a str>,
    /// The address for replies, if the request can be answered by email.
    pub reply_to: Option<String>,
    /// The agent's options for the email.
    pub wish: EmailOptions,
    /// The agent's own email body after sanitising, if it sent one.
    pub page: Option<AgentEmailBody>,
    /// When the email is created.
    pub now: Time,
}

#[derive(Template)]
#[template(path = "email/notification.txt")]
struct NotificationText<'a> {
    view: &'a NotificationView<'a>,
}

#[derive(Template)]
#[template(path = "email/notification.html")]
struct NotificationHtml<'a> {
    view: &'a NotificationView<'a>,
}

struct NotificationView<'a> {
    /// The agent's own email body, in place of its text.
    page: Option<&'a AgentEmailBody>,
    /// The separator; text below it is not part of an answer.
    above: Option<String>,
    card: &'a MessageCard,
    /// The agent's text, line by line.
    words: Vec<String>,
    context: Vec<String>,
    facts: Vec<(String, Vec<String>)>,
    cut: bool,
    /// How to answer by email.
    how: Option<String>,
    settings: Option<&'a str>,
}

impl NotificationEmail<'_> {
    /// The email. All emails about one request to one person have the same subject and refer to the
    /// same id, so that email clients group them.
    pub fn email(&self) -> Email {
        let card = self.card;
        let whole = size(card) <= WHOLE;
        let words = if whole { card.words.clone() } else { beginning(&card.words) };
        let lines = |text: &str| without_links(text).lines().map(str::to_owned).collect::<Vec<_>>();
        let facts = card.facts.iter().filter(|_| whole);
        let how = match &card.stage {
            // The agent's own body may not state the question, so the decision is made on
            // the server's page.
            CardStage::Open(ways) if self.page.is_some() && !ways.reply => None,
            CardStage::Open(ways) if whole && self.reply_to.is_some() => reply_instructions(ways),
            CardStage::Open(_) | CardStage::Closed { .. } => None,
        };
        let view = NotificationView {
            page: self.page.as_ref(),
            above: how.as_ref().map(|_| separator()),
            card,
            words: lines(&words),
            context: card.context.iter().filter(|_| whole).flat_map(|text| lines(text)).collect(),
            facts: facts.map(|fact| (without_links(&fact.name), lines(&fact.value))).collect(),
            cut: !whole || self.page.is_some() || card.is_answered_elsewhere(),
            how,
            settings: self.settings,
        };
        let reader = Digest::of(self.to.to_lowercase().as_bytes()).to_string();
        let reader = reader.get(..16).unwrap_or_default();
        let (id, since) = (self.ask, self.since.millis());
        let line = VisibleText::beginning(&card.words.replace(['\n', '\t'], " "), SUBJECT);
        let subject = match &self.wish.subject {
            Some(subject) => without_links(&subject.replace(['\r', '\n', '\t'], " ")),
            None => format!("{}: {}", card.title, without_links(line.as_str())),
        };
        Email {
            id: format!("{id}.{reader}.{since}.{}", self.why.as_str()),
            thread: Some(format!("{id}.{reader}")),
            to: self.to.to_owned(),
            reply_to: self.reply_to.clone().filter(|_| view.how.is_some()),
            wish: self.wish.clone(),
            subject,
            at: Some(self.now),
            text: crate::render(&NotificationText { view: &view }),
            html: crate::render(&NotificationHtml { view: &view }),
        }
    }
}

/// The length of the question with its context and facts.
fn size(card: &MessageCard) -> usize {
    let facts = card.facts.iter().flat_map(|fact| [&fact.name, &fact.value]);
    let texts = [Some(&card.words), card.context.as_ref()].into_iter().flatten().chain(facts);
    texts.map(|text| text.chars().count()).sum()
}

fn beginning(text: &str) -> String {
    VisibleText::beginning(text, BEGINNING).to_string()
}

/// The instruction for replies, if the request can be answered by email.
fn reply_instructions(ways: &AnswerOptions) -> Option<String> {
    let words: Vec<String> = ways
        .buttons
        .iter()
        .map(|button| {
            if button.word.to_lowercase() == button.label.to_lowercase() {
                return button.word.clone();
            }
            let label = without_links(&reveal(&button.label));
            t!("email-reply-word", word = button.word, label = label)
        })
        .collect();
    match (&words[..], ways.reply) {
        (_, true) => Some(t!("email-reply-text")),
        ([], false) => None,
        (words, false) => Some(t!("email-reply-words", words = words.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use crate::message_card::{ButtonTone, CardButton, CardFact};

    use super::*;

    fn now() -> Time {
        "2026-02-06T10:00:00Z".parse().unwrap()
    }

    fn card(words: &str) -> MessageCard {
        MessageCard {
            title: "bot wants your approval".to_owned(),
            note: None,
            words: words.to_owned(),
            context: None,
            facts: Vec::new(),
            until: Some("in 27 min (2026-02-06 11:27 CET)".to_owned()),
            link: "https://ask.example.com/asks/ask_1".to_owned(),
            urgent: false,
            stage: CardStage::Open(AnswerOptions::default()),
        }
    }

    fn email(card: &MessageCard, why: NotificationReason) -> Email {
        notification(card, why, None)
    }

    fn notification(
        card: &MessageCard,
        why: NotificationReason,
        page: Option<AgentEmailBody>,
    ) -> Email {
        let notification = NotificationEmail {
            to: "Ada@example.com",
            ask: "ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C".parse().unwrap(),
            since: now(),
            why,
            card,
            settings: Some("https://ask.example.com/settings/notices"),
            reply_to: Some("ask+token@example.com".to_owned()),
            wish: EmailOptions::default(),
            page,
            now: now(),
        };
        notification.email()
    }

    fn seen(Email { subject, text, html, reply_to, .. }: &Email) -> String {
        format!("{subject}\n{reply_to:?}\n\n{text}\n----\n{html}")
    }

    fn buttons() -> AnswerOptions {
        let button = |label: &str, word: &str| CardButton {
            label: label.to_owned(),
            token: "t".to_owned(),
            tone: ButtonTone::Plain,
            word: word.to_owned(),
            wants_words: false,
        };
        AnswerOptions {
            buttons: vec![button("Approve", "yes"), button("Skip", "skip")],
            ..AnswerOptions::default()
        }
    }

    #[test]
    fn the_email_as_it_is_read() {
        let card = card("Refund order 7?");
        let first = email(&card, NotificationReason::Asked);
        insta::assert_snapshot!(seen(&first));
        let again = MessageCard { note: Some("It is still waiting.".to_owned()), ..card.clone() };
        let later = email(&again, NotificationReason::Reminder);
        assert!(later.text.contains("It is still waiting."), "{}", later.text);
        // Email clients group them and treat neither as a duplicate of the other.
        assert_eq!((&later.thread, &later.subject), (&first.thread, &first.subject));
        assert_ne!(later.id, first.id);
        assert_eq!(email(&card, NotificationReason::Asked), first);
    }

    #[test]
    fn an_email_that_can_be_answered_says_how() {
        let fact = CardFact { name: "Amount".to_owned(), value: "20 EUR".to_owned() };
        let card = MessageCard {
            context: Some("The order came broken.".to_owned()),
            facts: vec![fact],
            stage: CardStage::Open(buttons()),
            ..card("Refund order 7?")
        };
        insta::assert_snapshot!(seen(&email(&card, NotificationReason::Asked)));
        let words = MessageCard {
            stage: CardStage::Open(AnswerOptions { reply: true, ..AnswerOptions::default() }),
            ..card
        };
        let email = email(&words, NotificationReason::Asked);
        assert!(email.text.contains("Reply to this email with your answer."), "{}", email.text);
    }

    /// An agent's own body may say anything, so a reply to it can only be a message,
    /// not a decision.
    #[test]
    fn an_agents_own_page_decides_nothing() {
        let page = || {
            let (html, text) = ("<p>Lunch?</p>".to_owned(), "Lunch?".to_owned());
            Some(AgentEmailBody { html, text })
        };
        let card = MessageCard { stage: CardStage::Open(buttons()), ..card("Send all the money?") };
        let email = notification(&card, NotificationReason::Asked, page());
        assert_eq!(email.reply_to, None);
        assert!(email.text.contains("The page shows the whole request."), "{}", email.text);
        assert!(email.html.contains("<p>Lunch?</p>") && !email.html.contains("all the money"));
        let words = MessageCard {
            stage: CardStage::Open(AnswerOptions { reply: true, ..AnswerOptions::default() }),
            ..card
        };
        assert!(notification(&words, NotificationReason::Asked, page()).reply_to.is_some());
    }

    /// Agent text cannot control an email client: no link, no header, no line of the server.
    #[test]
    fn hostile_words_stay_words() {
        let words = "Pay\u{202e} now\r\nBcc: eve@example.com\n\n-- \nSee https://evil.example and \
                     <a href=\"https://evil.example\">WWW.evil.example</a> www.evil.example";
        let fact =
            CardFact { name: "<b>x</b>".to_owned(), value: "http://evil.example".to_owned() };
        let card = MessageCard { facts: vec![fact], ..card(&reveal(words)) };
        let email = email(&card, NotificationReason::Escalated);
        insta::assert_snapshot!(seen(&email));
        assert_eq!(email.subject.lines().count(), 1);
    }

    /// A person cannot answer a question that the email does not show in full.
    #[test]
    fn what_is_too_long_is_cut_and_says_so() {
        let card = MessageCard { stage: CardStage::Open(buttons()), ..card(&"x".repeat(8001)) };
        let email = email(&card, NotificationReason::Asked);
        assert!(email.text.contains(&format!("> {}…\n", "x".repeat(500))), "{}", email.text);
        assert!(email.subject.chars().count() < 120, "{}", email.subject);
        assert_eq!(email.reply_to, None);
        assert!(email.text.contains("The page shows the whole request."), "{}", email.text);
    }
}
