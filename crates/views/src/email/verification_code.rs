//! The email with the code that verifies an address.

use askama::Template;
use kernel::Time;

use super::Email;

/// The content of the email.
pub struct VerificationCodeEmail<'a> {
    pub id: String,
    /// The email address to verify.
    pub to: &'a str,
    /// When the code was requested.
    pub at: Time,
    pub code: &'a str,
    /// The name of this server.
    pub host: &'a str,
    /// How many minutes the code is valid.
    pub minutes: u64,
}

#[derive(Template)]
#[template(path = "email/verification_code.txt")]
struct CodeText<'a> {
    email: &'a VerificationCodeEmail<'a>,
}

#[derive(Template)]
#[template(path = "email/verification_code.html")]
struct CodeHtml<'a> {
    email: &'a VerificationCodeEmail<'a>,
}

impl VerificationCodeEmail<'_> {
    /// The email. Its subject does not contain the code, because lock screens show subjects.
    pub fn email(&self) -> Email {
        Email {
            id: self.id.clone(),
            to: self.to.to_owned(),
            at: Some(self.at),
            ..Email::new(
                t!("email-code-subject", host = self.host),
                crate::render(&CodeText { email: self }),
                crate::render(&CodeHtml { email: self }),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_email_as_it_is_read() {
        let email = VerificationCodeEmail {
            id: "code.1".to_owned(),
            to: "ada@example.com",
            at: Time::from_millis(0),
            code: "042137",
            host: "ask.example.com",
            minutes: 10,
        };
        let Email { subject, text, html, .. } = email.email();
        insta::assert_snapshot!(format!("{subject}\n\n{text}\n----\n{html}"));
    }
}
