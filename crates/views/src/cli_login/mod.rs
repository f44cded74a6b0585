//! Signing in on the command line: the page that asks for confirmation, and the pages after it.

use askama::Template;

use crate::components::wording::VisibleText;
use crate::site::{assets, paths};
use crate::{PageContext, render};

/// A command line that asks to sign in as the person who views the page.
#[derive(Debug, Clone, Copy)]
pub struct CommandLineLogin<'a> {
    /// The name of the computer, as the command line gives it.
    pub device: &'a str,
    /// The hash of the token that the command line keeps to itself.
    pub challenge: &'a str,
    /// The code that the terminal shows too, so that the person can compare them.
    pub check: &'a str,
    /// The value that the command line expects back with the answer.
    pub state: &'a str,
    /// The port on which the command line waits; `None` if the person copies a code instead.
    pub port: Option<u16>,
    /// For how many days the token is valid.
    pub days: u64,
}

/// The page that asks for confirmation.
pub fn confirmation(frame: &PageContext, login: CommandLineLogin<'_>) -> String {
    render(&ConfirmationPage { frame, login, device: VisibleText::of(login.device) })
}

/// The page with the code to paste into the terminal.
pub fn code(frame: &PageContext, code: &str) -> String {
    render(&ResultPage { frame, title: t!("cli-login-copy-code"), code, back: "" })
}

/// The page that leads back to the command line.
pub fn back_to_terminal(frame: &PageContext, back: &str) -> String {
    render(&ResultPage { frame, title: t!("cli-login-go-back"), code: "", back })
}

/// The page for an address with a missing or wrong parameter.
pub fn invalid(frame: &PageContext) -> String {
    render(&InvalidPage { frame })
}

#[derive(Template)]
#[template(path = "cli_login/confirmation.html")]
struct ConfirmationPage<'a> {
    frame: &'a PageContext,
    login: CommandLineLogin<'a>,
    device: VisibleText,
}

#[derive(Template)]
#[template(path = "cli_login/result.html")]
struct ResultPage<'a> {
    frame: &'a PageContext,
    title: String,
    code: &'a str,
    back: &'a str,
}

#[derive(Template)]
#[template(path = "cli_login/invalid.html")]
struct InvalidPage<'a> {
    frame: &'a PageContext,
}

#[cfg(test)]
mod tests {
    use kernel::Time;

    use super::*;

    fn frame() -> PageContext {
        let frame = PageContext::anonymous(Time::from_millis(1_770_000_000_000));
        PageContext { person: Some("Ada".to_owned()), csrf: "proof".to_owned(), ..frame }
    }

    #[test]
    fn the_person_sees_which_computer_asks_and_the_code_to_compare() {
        let login = CommandLineLogin {
            device: "<b>laptop</b>",
            challenge: "c0ffee",
            check: "C0FF-EE00",
            state: "state",
            port: Some(4000),
            days: 90,
        };
        let page = confirmation(&frame(), login);
        for part in [
            "C0FF-EE00",
            "name=\"csrf\" value=\"proof\"",
            "name=\"challenge\" value=\"c0ffee\"",
            "name=\"state\" value=\"state\"",
            "name=\"port\" value=\"4000\"",
            "90 days",
        ] {
            assert!(page.contains(part), "{part} is missing in {page}");
        }
        assert!(!page.contains("<b>laptop"), "{page}");
        let by_hand = confirmation(&frame(), CommandLineLogin { port: None, ..login });
        assert!(!by_hand.contains("name=\"port\""), "{by_hand}");
    }

    #[test]
    fn the_result_is_a_code_or_a_link() {
        let by_hand = code(&frame(), "c-o-d-e");
        assert!(by_hand.contains("value=\"c-o-d-e\"") && !by_hand.contains("127.0.0.1"));
        let back = back_to_terminal(&frame(), "http://127.0.0.1:4000/?code=x&state=y");
        assert!(back.contains("href=\"http://127.0.0.1:4000/?code=x&#38;state=y\""), "{back}");
    }
}
