//! The email with a sign-in link.

use askama::Template;
use kernel::Time;

use super::Email;

/// What it says.
pub struct SignInEmail<'a> {
    /// The id of the email.
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
    /// The email.
    pub fn email(&self) -> Email {
        Email {
            id: self.id.clone(),
            to: self.to.to_owned(),
            at: Some(self.at),
            ..Email::new(
                format!("Sign in to Countersign at {}", self.host),
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
