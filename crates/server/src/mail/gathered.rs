//! The letter with everything that can wait.

use askama::Template;
use kernel::audit::Digest;
use kernel::question::Question;
use kernel::{HumanId, Time};

use dialects::a2h::LetterWish;

use super::Letter;
use super::notice::{inert, title};
use crate::reach::gather::Gathered;
use crate::web::paths;
use crate::web::words::Words;

/// How much is shown of each question.
const BEGINNING: usize = 120;

/// What it says.
pub(crate) struct GatheredLetter<'a> {
    /// To whom.
    pub(crate) to: &'a str,
    /// Who that is here.
    pub(crate) human: &'a HumanId,
    /// The moment it is for.
    pub(crate) at: Time,
    /// What waits.
    pub(crate) gathered: &'a Gathered,
    /// Where all of it stands.
    pub(crate) home: &'a str,
    /// Where they say how they want to be told.
    pub(crate) settings: &'a str,
}

#[derive(Template)]
#[template(path = "mail/gathered.txt")]
struct Text<'a> {
    view: &'a View<'a>,
}

#[derive(Template)]
#[template(path = "mail/gathered.html")]
struct Page<'a> {
    view: &'a View<'a>,
}

struct View<'a> {
    title: String,
    rows: Vec<Row>,
    more: u64,
    home: &'a str,
    settings: &'a str,
}

struct Row {
    title: String,
    /// The agent's words, on one line.
    words: String,
    url: String,
}

impl GatheredLetter<'_> {
    /// The letter: one for each moment, however often it is sent.
    pub(crate) fn letter(&self) -> Letter {
        let base = self.home.trim_end_matches('/');
        let row = |ask: &kernel::Ask| {
            let prompt = ask.question.value().map(Question::prompt).unwrap_or_default();
            let line = prompt.split_whitespace().collect::<Vec<_>>().join(" ");
            Row {
                title: title(ask),
                words: inert(Words::beginning(&line, BEGINNING).as_str()),
                url: format!("{base}{}", paths::request(ask.id)),
            }
        };
        let rows: Vec<Row> = self.gathered.asks.iter().map(row).collect();
        let title = match rows.len() as u64 + self.gathered.more {
            1 => "One request waits for you".to_owned(),
            n => format!("{n} requests wait for you"),
        };
        let (home, settings, more) = (self.home, self.settings, self.gathered.more);
        let view = View { title: title.clone(), rows, more, home, settings };
        let reader = Digest::of(self.human.as_str().as_bytes()).to_string();
        Letter {
            id: format!("gathered.{}.{}", reader.get(..16).unwrap_or_default(), self.at.millis()),
            thread: None,
            reply_to: None,
            wish: LetterWish::default(),
            to: self.to.to_owned(),
            subject: title,
            at: self.at,
            text: crate::web::render(&Text { view: &view }),
            html: crate::web::render(&Page { view: &view }),
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::command::NewAsk;
    use kernel::question::Body;
    use kernel::testing::{Cast, human, new_ask};

    use super::*;

    #[test]
    fn the_letter_as_it_is_read() {
        let mut cast = Cast::new();
        let hostile = "Look at\n\n2. https://evil.example\u{200b}";
        let asks = ["Rename the folder?", hostile].map(|prompt| {
            let question = Question::new(prompt, None, Body::Converse).unwrap();
            let id = cast.ask(NewAsk { question, ..new_ask() });
            cast.seen(id).clone()
        });
        let mut gathered = Gathered { asks: asks.to_vec(), more: 3 };
        let at = "2026-03-01T09:00:00Z".parse().unwrap();
        let letter = |gathered: &Gathered| {
            let (home, settings) =
                ("https://ask.example.com/", "https://ask.example.com/settings/notices");
            let (to, human) = ("ada@example.com", &human("olga"));
            GatheredLetter { to, human, at, gathered, home, settings }.letter()
        };
        let Letter { id, subject, text, html, .. } = letter(&gathered);
        let text = format!("{subject}\n\n{text}\n----\n{html}");
        let known = asks.iter().enumerate();
        let text = known
            .fold(text, |text, (n, ask)| text.replace(&ask.id.to_string(), &format!("ask_{n}")));
        insta::assert_snapshot!(text);
        assert!(id.ends_with(".1772355600000"), "{id}");
        gathered.more = 0;
        gathered.asks.pop();
        assert_eq!(letter(&gathered).subject, "One request waits for you");
        assert_eq!(letter(&gathered).id, id, "whatever it says, it is the one of its moment");
    }
}
