//! The letter that says that a request waits: who asks, in our words, and what, in the agent's. It leads
//! to the page; nothing can be answered by it.

use askama::Template;
use jiff::tz::TimeZone;
use kernel::ask::Priority;
use kernel::audit::Digest;
use kernel::effect::Occasion;
use kernel::question::Question;
use kernel::text::reveal;
use kernel::{Ask, Time};

use super::Letter;
use crate::push::notice::wants;
use crate::reach::letters::on_their_clock;
use crate::web::when::When;
use crate::web::words::Words;

/// How much of a question stands in the subject.
const SUBJECT: usize = 80;
/// How much of it stands in the letter; it says so if there is more.
const BEGINNING: usize = 500;

/// What it says.
pub struct NoticeLetter<'a> {
    /// To whom.
    pub to: &'a str,
    /// Since when they are to be told.
    pub since: Time,
    /// Why they are told.
    pub why: Occasion,
    /// What waits.
    pub ask: &'a Ask,
    /// Where it can be answered.
    pub url: &'a str,
    /// Where they say how they want to be told, if we know them.
    pub settings: Option<&'a str>,
    /// Where their clock is read.
    pub zone: TimeZone,
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
    /// Who wants what.
    title: String,
    /// Why it is told, where that is not plain.
    why: Option<&'static str>,
    /// The agent's words, line by line.
    words: Vec<String>,
    cut: bool,
    /// When it runs out: how far that is, and the moment.
    left: Option<(String, String)>,
    url: &'a str,
    settings: Option<&'a str>,
}

impl NoticeLetter<'_> {
    /// The letter. All letters of one request to one person have the same subject and lead back to the
    /// same id, so that mail programs show them together.
    pub fn letter(&self) -> Letter {
        let ask = self.ask;
        let prompt = ask.question.value().map(Question::prompt).unwrap_or_default().trim();
        let title = title(ask);
        let subject = Words::beginning(&prompt.replace(['\n', '\t'], " "), SUBJECT);
        let words = inert(Words::beginning(prompt, BEGINNING).as_str());
        let left = ask
            .deadline()
            .map(|at| (When::new(at, self.now).words, on_their_clock(at, &self.zone)));
        let view = View {
            title: title.clone(),
            why: because(self.why),
            words: words.lines().map(str::to_owned).collect(),
            cut: prompt.chars().count() > BEGINNING || ask.question.value().is_none_or(has_more),
            left,
            url: self.url,
            settings: self.settings,
        };
        let reader = Digest::of(self.to.to_lowercase().as_bytes()).to_string();
        let reader = reader.get(..16).unwrap_or_default();
        let (id, since) = (ask.id, self.since.millis());
        Letter {
            id: format!("{id}.{reader}.{since}.{}", self.why.as_str()),
            thread: Some(format!("{id}.{reader}")),
            to: self.to.to_owned(),
            subject: format!("{title}: {}", inert(subject.as_str())),
            at: self.now,
            text: crate::web::render(&Text { view: &view }),
            html: crate::web::render(&Page { view: &view }),
        }
    }
}

/// Who wants what, the same for all letters of a request.
pub(crate) fn title(ask: &Ask) -> String {
    let urgent = if ask.priority == Priority::Critical { "Urgent: " } else { "" };
    format!("{urgent}{} {}", ask.agent, wants(ask.kind))
}

/// Whether the letter does not hold the whole question.
fn has_more(question: &Question) -> bool {
    use kernel::question::Body;
    match question.body() {
        Body::Approve { details, .. } => !details.is_empty() || question.context().is_some(),
        Body::Choose { .. }
        | Body::Provide { .. }
        | Body::Confirm { .. }
        | Body::Escalate { .. }
        | Body::Converse => true,
    }
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
    use kernel::command::{NewAsk, Silence};
    use kernel::question::Body;
    use kernel::testing::{Cast, new_ask};

    use super::*;

    fn letter(ask: &Ask, now: Time, why: Occasion) -> Letter {
        let notice = NoticeLetter {
            to: "Ada@example.com",
            since: now,
            why,
            ask,
            url: "https://ask.example.com/asks/ask_1",
            settings: Some("https://ask.example.com/settings/notices"),
            zone: kernel::directory::about::zone("Europe/Berlin").unwrap(),
            now,
        };
        notice.letter()
    }

    fn seen(Letter { subject, text, html, .. }: &Letter) -> String {
        format!("{subject}\n\n{text}\n----\n{html}")
    }

    #[test]
    fn the_letter_as_it_is_read() {
        let mut cast = Cast::new();
        let timed = NewAsk { timeout: Some(1620), on_expiry: Silence::Fail, ..new_ask() };
        let id = cast.ask(timed);
        let first = letter(cast.seen(id), cast.now(), Occasion::Asked);
        insta::assert_snapshot!(seen(&first));
        assert!(first.id.starts_with(&format!("{id}.")), "{}", first.id);
        let later = letter(cast.seen(id), cast.now().plus_seconds(600), Occasion::Reminder);
        assert!(later.text.contains("It is still waiting."), "{}", later.text);
        // Mail programs put them together, and take none for a repetition of the other.
        assert_eq!((&later.thread, &later.subject), (&first.thread, &first.subject));
        assert_ne!(later.id, first.id);
        assert_eq!(letter(cast.seen(id), cast.now(), Occasion::Asked), first);
    }

    /// What an agent wrote drives no mail program: no link, no header, no line of ours.
    #[test]
    fn hostile_words_stay_words() {
        let mut cast = Cast::new();
        let words = "Pay\u{202e} now\r\nBcc: eve@example.com\n\n-- \nSee https://evil.example and \
                     <a href=\"https://evil.example\">WWW.evil.example</a> www.evil.example";
        let question = Question::new(words, None, Body::Converse).unwrap();
        let urgent = NewAsk { question, priority: Priority::Critical, ..new_ask() };
        let id = cast.ask(urgent);
        let letter = letter(cast.seen(id), cast.now(), Occasion::Escalated);
        insta::assert_snapshot!(seen(&letter));
        assert_eq!(letter.subject.lines().count(), 1);
    }

    #[test]
    fn what_is_long_is_cut_and_says_so() {
        let mut cast = Cast::new();
        let question = Question::new("x".repeat(501), None, Body::Converse).unwrap();
        let id = cast.ask(NewAsk { question, ..new_ask() });
        let letter = letter(cast.seen(id), cast.now(), Occasion::Asked);
        assert!(letter.text.contains(&format!("> {}…\n", "x".repeat(500))), "{}", letter.text);
        assert!(letter.subject.chars().count() < 120, "{}", letter.subject);
    }
}
