//! The email with the code that shows whose address it is.

use askama::Template;
use kernel::Time;

use super::Email;

/// What it says.
pub struct VerificationCodeEmail<'a> {
    /// The id of the email.
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
    /// The email. The code is not in its subject, which locked screens show.
    pub fn email(&self) -> Email {
        Email {
            id: self.id.clone(),
            to: self.to.to_owned(),
            at: Some(self.at),
            ..Email::new(
                format!("Your code for Countersign at {}", self.host),
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
