//! The sign-in page.

pub mod passkeys;
pub mod sessions;

use askama::Template;

use crate::sign_in::passkeys::Question;
use crate::site::{assets, paths};
use crate::{Frame, render};

/// The sign-in methods of this server, besides a sign-in link from an administrator.
#[derive(Debug, Clone, Default)]
pub struct Ways {
    /// A sign-in link by email.
    pub mail: bool,
    /// A passkey: the request for the browser.
    pub passkey: Option<Question>,
    /// Single sign-on (OIDC): the name of the identity provider.
    pub provider: Option<String>,
}

/// The page. With a link's token it shows a button that posts the token, because a GET request must
/// not sign anyone in.
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
