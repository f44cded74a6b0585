//! The digest: one email that lists all low-priority requests.

use askama::Template;
use askama::filters::Safe;
use kernel::audit::Digest;
use kernel::question::Question;
use kernel::{HumanId, Time};

use super::{Email, without_links};
use crate::components::wording::VisibleText;
use crate::message_card::{WaitingRequests, title};
use crate::site::paths;

/// How many characters of each question are shown.
const BEGINNING: usize = 120;

/// The content of the digest.
pub struct DigestEmail<'a> {
    /// The recipient's email address.
    pub to: &'a str,
    /// The recipient's account.
    pub human: &'a HumanId,
    /// The time that the digest is for.
    pub at: Time,
    /// The waiting requests.
    pub waiting: &'a WaitingRequests,
    /// The URL of the inbox.
    pub home: &'a str,
    /// The URL of the recipient's notification settings.
    pub settings: &'a str,
}

#[derive(Template)]
#[template(path = "email/digest.txt")]
struct DigestText<'a> {
    view: &'a DigestView<'a>,
}

#[derive(Template)]
#[template(path = "email/digest.html")]
struct DigestHtml<'a> {
    view: &'a DigestView<'a>,
}

impl DigestHtml<'_> {
    fn strong_title(&self) -> Safe<String> {
        Safe(format!("<strong>{}</strong>", self.view.title))
    }
}

struct DigestView<'a> {
    title: String,
    rows: Vec<DigestRow>,
    more: u64,
    home: &'a str,
    settings: &'a str,
}

struct DigestRow {
    title: String,
    /// The agent's text, on one line.
    words: String,
    url: String,
}

impl DigestEmail<'_> {
    /// The email. It has the same id however often it is sent for the same time.
    pub fn email(&self) -> Email {
        let base = self.home.trim_end_matches('/');
        let row = |ask: &kernel::Ask| {
            let prompt = ask.question.value().map(Question::prompt).unwrap_or_default();
            let line = prompt.split_whitespace().collect::<Vec<_>>().join(" ");
            DigestRow {
                title: title(ask),
                words: without_links(VisibleText::beginning(&line, BEGINNING).as_str()),
                url: format!("{base}{}", paths::request(ask.id)),
            }
        };
        let rows: Vec<DigestRow> = self.waiting.asks.iter().map(row).collect();
        let title = self.waiting.title();
        let (home, settings, more) = (self.home, self.settings, self.waiting.more);
        let view = DigestView { title: title.clone(), rows, more, home, settings };
        let reader = Digest::of(self.human.as_str().as_bytes()).to_string();
        Email {
            id: format!("gathered.{}.{}", reader.get(..16).unwrap_or_default(), self.at.millis()),
            to: self.to.to_owned(),
            at: Some(self.at),
            ..Email::new(
                title,
                crate::render(&DigestText { view: &view }),
                crate::render(&DigestHtml { view: &view }),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::command::NewAsk;
    use kernel::question::QuestionBody;
    use kernel::testing::{Cast, human, new_ask};

    use super::*;

    #[test]
    fn the_email_as_it_is_read() {
        let mut cast = Cast::new();
        let hostile = "Look at\n\n2. https://evil.example\u{200b}";
        let asks = ["Rename the folder?", hostile].map(|prompt| {
            let question = Question::new(prompt, None, QuestionBody::Converse).unwrap();
            let id = cast.ask(NewAsk { question, ..new_ask() });
            cast.seen(id).clone()
        });
        let mut waiting = WaitingRequests { asks: asks.to_vec(), more: 3 };
        let at = "2026-03-01T09:00:00Z".parse().unwrap();
        let email = |waiting: &WaitingRequests| {
            let (home, settings) =
                ("https://ask.example.com/", "https://ask.example.com/settings/notices");
            let (to, human) = ("ada@example.com", &human("olga"));
            DigestEmail { to, human, at, waiting, home, settings }.email()
        };
        let Email { id, subject, text, html, .. } = email(&waiting);
        let text = format!("{subject}\n\n{text}\n----\n{html}");
        let known = asks.iter().enumerate();
        let text = known
            .fold(text, |text, (n, ask)| text.replace(&ask.id.to_string(), &format!("ask_{n}")));
        insta::assert_snapshot!(text);
        assert!(id.ends_with(".1772355600000"), "{id}");
        waiting.more = 0;
        waiting.asks.pop();
        assert_eq!(email(&waiting).subject, "One request waits for you");
        assert_eq!(email(&waiting).id, id, "whatever it says, it is the one of its moment");
    }
}
