//! The email that notifies a person of a change to their sign-in methods.

use askama::Template;
use kernel::Time;

use super::Email;

/// The content of the email.
pub struct SecurityEmail<'a> {
    pub id: String,
    pub to: &'a str,
    /// When the change was made.
    pub at: Time,
    /// The change; also the subject.
    pub title: &'a str,
    /// What the person should do.
    pub words: &'a str,
    /// The URL of the person's passkeys.
    pub link: &'a str,
}

#[derive(Template)]
#[template(path = "email/security.txt")]
struct SecurityText<'a> {
    email: &'a SecurityEmail<'a>,
}

#[derive(Template)]
#[template(path = "email/security.html")]
struct SecurityHtml<'a> {
    email: &'a SecurityEmail<'a>,
}

impl SecurityEmail<'_> {
    pub fn email(&self) -> Email {
        Email {
            id: self.id.clone(),
            to: self.to.to_owned(),
            at: Some(self.at),
            ..Email::new(
                self.title.to_owned(),
                crate::render(&SecurityText { email: self }),
                crate::render(&SecurityHtml { email: self }),
            )
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
        let Email { subject, text, html, .. } = email.email();
        insta::assert_snapshot!(format!("{subject}\n\n{text}\n----\n{html}"));
    }
}
