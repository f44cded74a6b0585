//! Where people sign in.

pub mod passkeys;
pub mod sessions;

use askama::Template;

use crate::sign_in::passkeys::Question;
use crate::site::{assets, paths};
use crate::{Frame, render};

/// The ways in that this server has, besides a link somebody hands over.
#[derive(Debug, Clone, Default)]
pub struct Ways {
    /// A link by mail.
    pub mail: bool,
    /// A passkey: what to ask the browser for.
    pub passkey: Option<Question>,
    /// Somebody else's identities, by the name of whose.
    pub provider: Option<String>,
}

/// The page. With a link's token there is a button that posts it; looking never signs anybody in.
pub fn page(frame: &Frame, ways: &Ways, token: Option<&str>) -> String {
    render(&Page { frame, ways, token })
}

#[derive(Template)]
#[template(path = "sign_in/sign_in.html")]
struct Page<'a> {
    frame: &'a Frame,
    ways: &'a Ways,
    token: Option<&'a str>,
}

impl Page<'_> {
    fn title(&self) -> &'static str {
        let Ways { mail, passkey, provider } = self.ways;
        if self.token.is_none() && !mail && passkey.is_none() && provider.is_none() {
            "Sign in with your link"
        } else {
            "Sign in to Countersign"
        }
    }
}
