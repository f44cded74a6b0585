//! The letter with a sign-in link.

use askama::Template;
use kernel::audit::Digest;
use kernel::directory::Holder;
use kernel::{KeyId, Time};

use dialects::a2h::LetterWish;

use super::Letter;
use crate::http::App;
use crate::serve::sign_in_url;

/// For how many minutes a link by mail works.
pub const MINUTES: u64 = 15;

/// What it says.
pub struct SignInLetter<'a> {
    /// What the letter is known by.
    pub id: String,
    /// To whom.
    pub to: &'a str,
    /// When it was asked for.
    pub at: Time,
    /// Where the link leads.
    pub url: &'a str,
    /// The name of this server.
    pub host: &'a str,
    /// For how many minutes the link works.
    pub minutes: u64,
}

#[derive(Template)]
#[template(path = "mail/sign_in.txt")]
struct Text<'a> {
    letter: &'a SignInLetter<'a>,
}

#[derive(Template)]
#[template(path = "mail/sign_in.html")]
struct Page<'a> {
    letter: &'a SignInLetter<'a>,
}

impl SignInLetter<'_> {
    /// The letter.
    pub fn letter(&self) -> Letter {
        Letter {
            id: self.id.clone(),
            thread: None,
            reply_to: None,
            wish: LetterWish::default(),
            to: self.to.to_owned(),
            subject: format!("Sign in to Countersign at {}", self.host),
            at: self.at,
            text: crate::web::render(&Text { letter: self }),
            html: crate::web::render(&Page { letter: self }),
        }
    }
}

impl App {
    /// The letter for a link that still works, if there is somebody to send it to.
    pub fn sign_in_letter(&self, key: KeyId, seed: &Digest) -> Option<Letter> {
        let directory = self.gateway.directory();
        let key = directory.key(key).filter(|key| key.is_live(self.gateway.now()))?;
        let human = match &key.holder {
            Holder::Link { human, .. } => directory.human(human).filter(|human| human.active)?,
            Holder::Agent { .. }
            | Holder::Token { .. }
            | Holder::Session { .. }
            | Holder::Passkey { .. } => return None,
        };
        let url = sign_in_url(&self.config, &self.secrets.link(seed)).ok()?;
        let letter = SignInLetter {
            id: key.id.to_string(),
            to: human.profile.value()?.email.as_deref()?,
            at: key.issued_at,
            url: &url,
            host: self.config.public_url.host_str().unwrap_or_default(),
            minutes: MINUTES,
        };
        Some(letter.letter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_letter_as_it_is_read() {
        let letter = SignInLetter {
            id: "key_1".to_owned(),
            to: "ada@example.com",
            at: Time::from_millis(0),
            url: "https://ask.example.com/sign-in?token=abc",
            host: "ask.example.com",
            minutes: 15,
        };
        let Letter { subject, text, html, .. } = letter.letter();
        insta::assert_snapshot!(format!("{subject}\n\n{text}\n----\n{html}"));
    }
}
