//! The email that notifies a person of a change to what lets them in.

use askama::Template;
use dialects::a2h::LetterWish;
use kernel::Time;

use super::Letter;

/// What it says.
pub struct SecurityEmail<'a> {
    /// The id of the email.
    pub id: String,
    /// The address.
    pub to: &'a str,
    /// When the change was made.
    pub at: Time,
    /// What changed; also the subject.
    pub title: &'a str,
    /// What to do about it.
    pub words: &'a str,
    /// Where the person sees their passkeys.
    pub link: &'a str,
}

#[derive(Template)]
#[template(path = "mail/security.txt")]
struct Text<'a> {
    email: &'a SecurityEmail<'a>,
}

#[derive(Template)]
#[template(path = "mail/security.html")]
struct Page<'a> {
    email: &'a SecurityEmail<'a>,
}

impl SecurityEmail<'_> {
    /// The email.
    pub fn letter(&self) -> Letter {
        Letter {
            id: self.id.clone(),
            thread: None,
            reply_to: None,
            wish: LetterWish::default(),
            to: self.to.to_owned(),
            subject: self.title.to_owned(),
            at: self.at,
            text: crate::web::render(&Text { email: self }),
            html: crate::web::render(&Page { email: self }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_email_as_it_is_read() {
        let email = SecurityEmail {
            id: "security.1".to_owned(),
            to: "ada@example.com",
            at: Time::from_millis(0),
            title: "A passkey was added to your account at ask.example.com",
            words: "If this was not you, tell an administrator.",
            link: "https://ask.example.com/settings/passkeys",
        };
        let Letter { subject, text, html, .. } = email.letter();
        insta::assert_snapshot!(format!("{subject}\n\n{text}\n----\n{html}"));
    }
}
