//! The email with a sign-in link.

use askama::Template;
use kernel::Time;

use super::Email;

/// The content of the email.
pub struct SignInEmail<'a> {
    pub id: String,
    /// The recipient's email address.
    pub to: &'a str,
    /// When the link was requested.
    pub at: Time,
    /// The sign-in link.
    pub url: &'a str,
    /// The name of this server.
    pub host: &'a str,
    /// How many minutes the link is valid.
    pub minutes: u64,
}

#[derive(Template)]
#[template(path = "email/sign_in.txt")]
struct SignInText<'a> {
    email: &'a SignInEmail<'a>,
}

#[derive(Template)]
#[template(path = "email/sign_in.html")]
struct SignInHtml<'a> {
    email: &'a SignInEmail<'a>,
}

impl SignInEmail<'_> {
    pub fn email(&self) -> Email {
        Email {
            id: self.id.clone(),
            to: self.to.to_owned(),
            at: Some(self.at),
            ..Email::new(
                t!("email-sign-in-subject", host = self.host),
                crate::render(&SignInText { email: self }),
                crate::render(&SignInHtml { email: self }),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_email_as_it_is_read() {
        let email = SignInEmail {
            id: "key_1".to_owned(),
            to: "ada@example.com",
            at: Time::from_millis(0),
            url: "https://ask.example.com/sign-in?token=abc",
            host: "ask.example.com",
            minutes: 15,
        };
        let Email { subject, text, html, .. } = email.email();
        insta::assert_snapshot!(format!("{subject}\n\n{text}\n----\n{html}"));
    }
}
