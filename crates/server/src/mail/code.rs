//! The letter with the code that shows whose address it is.

use askama::Template;
use kernel::Time;

use dialects::a2h::LetterWish;

use super::Letter;

/// What it says.
pub struct CodeLetter<'a> {
    /// What the letter is known by.
    pub id: String,
    /// To whom.
    pub to: &'a str,
    /// When it was asked for.
    pub at: Time,
    /// What is to be entered.
    pub code: &'a str,
    /// The name of this server.
    pub host: &'a str,
    /// For how many minutes it counts.
    pub minutes: u64,
}

#[derive(Template)]
#[template(path = "mail/code.txt")]
struct Text<'a> {
    letter: &'a CodeLetter<'a>,
}

#[derive(Template)]
#[template(path = "mail/code.html")]
struct Page<'a> {
    letter: &'a CodeLetter<'a>,
}

impl CodeLetter<'_> {
    /// The letter. The code is not in its subject, which locked screens show.
    pub fn letter(&self) -> Letter {
        Letter {
            id: self.id.clone(),
            thread: None,
            reply_to: None,
            wish: LetterWish::default(),
            to: self.to.to_owned(),
            subject: format!("Your code for Countersign at {}", self.host),
            at: self.at,
            text: crate::web::render(&Text { letter: self }),
            html: crate::web::render(&Page { letter: self }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_letter_as_it_is_read() {
        let letter = CodeLetter {
            id: "code.1".to_owned(),
            to: "ada@example.com",
            at: Time::from_millis(0),
            code: "042137",
            host: "ask.example.com",
            minutes: 10,
        };
        let Letter { subject, text, html, .. } = letter.letter();
        insta::assert_snapshot!(format!("{subject}\n\n{text}\n----\n{html}"));
    }
}
