//! The letter that says that a request waits: who asks, in our words, and what, in the agent's, whole
//! where that is not too much for a letter. It leads to the page; where answers by mail are taken and all
//! of the question is there, it says how to write back.

use ::channels::Card;
use ::channels::card::{Stage, Ways};
use ::channels::mail::SEPARATOR;
use ::channels::mail::template::Rendered;
use askama::Template;
use dialects::a2h::LetterWish;
use kernel::ask::Priority;
use kernel::audit::Digest;
use kernel::effect::Occasion;
use kernel::text::reveal;
use kernel::{Ask, AskId, Time};

use super::Letter;
use crate::push::notice::wants;
use crate::web::words::Words;

/// How much of a question stands in the subject.
const SUBJECT: usize = 80;
/// A question with everything that belongs to it is shown whole up to so many characters.
const WHOLE: usize = 8000;
/// How much is shown of a longer one; it says that there is more.
const BEGINNING: usize = 500;

/// What it says.
pub struct NoticeLetter<'a> {
    /// To whom.
    pub to: &'a str,
    /// About which ask.
    pub ask: AskId,
    /// Since when they are to be told.
    pub since: Time,
    /// Why they are told.
    pub why: Occasion,
    /// What is said of it.
    pub card: &'a Card,
    /// Where they say how they want to be told, if we know them.
    pub settings: Option<&'a str>,
    /// Where an answer goes, if one can be written.
    pub reply_to: Option<String>,
    /// What the agent wants of the letter.
    pub wish: LetterWish,
    /// What the agent's own page came to, if it gave one.
    pub page: Option<Rendered>,
    /// The moment it is written.
    pub now: Time,
}

#[derive(Template)]
#[template(path = "mail/notice.txt")]
struct Text<'a> {
    view: &'a View<'a>,
}

#[derive(Template)]
#[template(path = "mail/notice.html")]
struct Page<'a> {
    view: &'a View<'a>,
}

struct View<'a> {
    /// The agent's own page instead of its words.
    page: Option<&'a Rendered>,
    /// What is below it is ours, not an answer.
    above: Option<&'static str>,
    card: &'a Card,
    /// The agent's words, line by line.
    words: Vec<String>,
    context: Vec<String>,
    facts: Vec<(String, Vec<String>)>,
    cut: bool,
    /// How to answer by writing back.
    how: Option<String>,
    settings: Option<&'a str>,
}

impl NoticeLetter<'_> {
    /// The letter. All letters of one request to one person have the same subject and lead back to the
    /// same id, so that mail programs show them together.
    pub fn letter(&self) -> Letter {
        let card = self.card;
        let whole = size(card) <= WHOLE;
        let words = if whole { card.words.clone() } else { beginning(&card.words) };
        let lines = |text: &str| inert(text).lines().map(str::to_owned).collect::<Vec<_>>();
        let facts = card.facts.iter().filter(|_| whole);
        let how = match &card.stage {
            // The agent's own page need not say what is asked: whoever decides reads it on ours.
            Stage::Open(ways) if self.page.is_some() && !ways.reply => None,
            Stage::Open(ways) if whole && self.reply_to.is_some() => how(ways),
            Stage::Open(_) | Stage::Over { .. } => None,
        };
        let view = View {
            page: self.page.as_ref(),
            above: how.as_ref().map(|_| SEPARATOR),
            card,
            words: lines(&words),
            context: card.context.iter().filter(|_| whole).flat_map(|text| lines(text)).collect(),
            facts: facts.map(|fact| (inert(&fact.name), lines(&fact.value))).collect(),
            cut: !whole || self.page.is_some() || card.is_answered_elsewhere(),
            how,
            settings: self.settings,
        };
        let reader = Digest::of(self.to.to_lowercase().as_bytes()).to_string();
        let reader = reader.get(..16).unwrap_or_default();
        let (id, since) = (self.ask, self.since.millis());
        let line = Words::beginning(&card.words.replace(['\n', '\t'], " "), SUBJECT);
        let subject = match &self.wish.subject {
            Some(subject) => inert(&subject.replace(['\r', '\n', '\t'], " ")),
            None => format!("{}: {}", card.title, inert(line.as_str())),
        };
        Letter {
            id: format!("{id}.{reader}.{since}.{}", self.why.as_str()),
            thread: Some(format!("{id}.{reader}")),
            to: self.to.to_owned(),
            reply_to: self.reply_to.clone().filter(|_| view.how.is_some()),
            wish: self.wish.clone(),
            subject,
            at: self.now,
            text: crate::web::render(&Text { view: &view }),
            html: crate::web::render(&Page { view: &view }),
        }
    }
}

/// How long it is with everything that belongs to it.
fn size(card: &Card) -> usize {
    let facts = card.facts.iter().flat_map(|fact| [&fact.name, &fact.value]);
    let texts = [Some(&card.words), card.context.as_ref()].into_iter().flatten().chain(facts);
    texts.map(|text| text.chars().count()).sum()
}

fn beginning(text: &str) -> String {
    Words::beginning(text, BEGINNING).to_string()
}

/// What to write back, if that can be done.
fn how(ways: &Ways) -> Option<String> {
    let words: Vec<String> = ways
        .buttons
        .iter()
        .map(|button| {
            if button.word.to_lowercase() == button.label.to_lowercase() {
                return button.word.clone();
            }
            format!("{} ({})", button.word, inert(&reveal(&button.label)))
        })
        .collect();
    match (&words[..], ways.reply) {
        (_, true) => Some("Reply to this letter with your answer.".to_owned()),
        ([], false) => None,
        (words, false) => Some(format!(
            "Or reply to this letter with one of these on the first line, and why below it: {}.",
            words.join(", ")
        )),
    }
}

/// Who wants what, the same for all letters of a request.
pub(crate) fn title(ask: &Ask) -> String {
    let urgent = if ask.priority == Priority::Critical { "Urgent: " } else { "" };
    let marked = if ask.is_irreversible() { " (can't be undone)" } else { "" };
    format!("{urgent}{} {}{marked}", ask.agent, wants(ask.kind))
}

pub(crate) fn because(why: Occasion) -> Option<&'static str> {
    match why {
        Occasion::Asked => None,
        Occasion::Assigned => Some("It was handed to you."),
        Occasion::Reminder => Some("It is still waiting."),
        Occasion::Escalated => Some("Nobody has answered yet."),
    }
}

/// An agent's words in a letter: mail programs make links of what looks like one, and nothing in a letter
/// of ours may lead where an agent wants.
pub(super) fn inert(text: &str) -> String {
    reveal(text).replace("://", "[://]").replace("www.", "www[.]").replace("WWW.", "WWW[.]")
}

#[cfg(test)]
mod tests {
    use ::channels::card::{Button, Fact, Tone};

    use super::*;

    fn now() -> Time {
        "2026-02-06T10:00:00Z".parse().unwrap()
    }

    fn card(words: &str) -> Card {
        Card {
            title: "bot wants your approval".to_owned(),
            note: None,
            words: words.to_owned(),
            context: None,
            facts: Vec::new(),
            until: Some("in 27 min (2026-02-06 11:27 CET)".to_owned()),
            link: "https://ask.example.com/asks/ask_1".to_owned(),
            urgent: false,
            stage: Stage::Open(Ways::default()),
        }
    }

    fn letter(card: &Card, why: Occasion) -> Letter {
        notice(card, why, None)
    }

    fn notice(card: &Card, why: Occasion, page: Option<Rendered>) -> Letter {
        let notice = NoticeLetter {
            to: "Ada@example.com",
            ask: "ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C".parse().unwrap(),
            since: now(),
            why,
            card,
            settings: Some("https://ask.example.com/settings/notices"),
            reply_to: Some("ask+token@example.com".to_owned()),
            wish: LetterWish::default(),
            page,
            now: now(),
        };
        notice.letter()
    }

    fn seen(Letter { subject, text, html, reply_to, .. }: &Letter) -> String {
        format!("{subject}\n{reply_to:?}\n\n{text}\n----\n{html}")
    }

    fn buttons() -> Ways {
        let button = |label: &str, word: &str| Button {
            label: label.to_owned(),
            token: "t".to_owned(),
            tone: Tone::Plain,
            word: word.to_owned(),
            wants_words: false,
        };
        Ways { buttons: vec![button("Approve", "yes"), button("Skip", "skip")], ..Ways::default() }
    }

    #[test]
    fn the_letter_as_it_is_read() {
        let card = card("Refund order 7?");
        let first = letter(&card, Occasion::Asked);
        insta::assert_snapshot!(seen(&first));
        let again = Card { note: Some("It is still waiting.".to_owned()), ..card.clone() };
        let later = letter(&again, Occasion::Reminder);
        assert!(later.text.contains("It is still waiting."), "{}", later.text);
        // Mail programs put them together, and take none for a repetition of the other.
        assert_eq!((&later.thread, &later.subject), (&first.thread, &first.subject));
        assert_ne!(later.id, first.id);
        assert_eq!(letter(&card, Occasion::Asked), first);
    }

    #[test]
    fn a_letter_that_can_be_answered_says_how() {
        let fact = Fact { name: "Amount".to_owned(), value: "20 EUR".to_owned() };
        let card = Card {
            context: Some("The order came broken.".to_owned()),
            facts: vec![fact],
            stage: Stage::Open(buttons()),
            ..card("Refund order 7?")
        };
        insta::assert_snapshot!(seen(&letter(&card, Occasion::Asked)));
        let words = Card { stage: Stage::Open(Ways { reply: true, ..Ways::default() }), ..card };
        let letter = letter(&words, Occasion::Asked);
        assert!(letter.text.contains("Reply to this letter with your answer."), "{}", letter.text);
    }

    /// A page of the agent's own may say anything, so nothing is decided by answering it but words.
    #[test]
    fn an_agents_own_page_decides_nothing() {
        let page = || {
            let (html, text) = ("<p>Lunch?</p>".to_owned(), "Lunch?".to_owned());
            Some(Rendered { html, text })
        };
        let card = Card { stage: Stage::Open(buttons()), ..card("Send all the money?") };
        let letter = notice(&card, Occasion::Asked, page());
        assert_eq!(letter.reply_to, None);
        assert!(letter.text.contains("There is more to read on the page."), "{}", letter.text);
        assert!(letter.html.contains("<p>Lunch?</p>") && !letter.html.contains("all the money"));
        let words = Card { stage: Stage::Open(Ways { reply: true, ..Ways::default() }), ..card };
        assert!(notice(&words, Occasion::Asked, page()).reply_to.is_some());
    }

    /// What an agent wrote drives no mail program: no link, no header, no line of ours.
    #[test]
    fn hostile_words_stay_words() {
        let words = "Pay\u{202e} now\r\nBcc: eve@example.com\n\n-- \nSee https://evil.example and \
                     <a href=\"https://evil.example\">WWW.evil.example</a> www.evil.example";
        let fact = Fact { name: "<b>x</b>".to_owned(), value: "http://evil.example".to_owned() };
        let card = Card { facts: vec![fact], ..card(&reveal(words)) };
        let letter = letter(&card, Occasion::Escalated);
        insta::assert_snapshot!(seen(&letter));
        assert_eq!(letter.subject.lines().count(), 1);
    }

    /// Nobody answers what they have not read.
    #[test]
    fn what_is_too_long_is_cut_and_says_so() {
        let card = Card { stage: Stage::Open(buttons()), ..card(&"x".repeat(8001)) };
        let letter = letter(&card, Occasion::Asked);
        assert!(letter.text.contains(&format!("> {}…\n", "x".repeat(500))), "{}", letter.text);
        assert!(letter.subject.chars().count() < 120, "{}", letter.subject);
        assert_eq!(letter.reply_to, None);
        assert!(letter.text.contains("There is more to read on the page."), "{}", letter.text);
    }
}
