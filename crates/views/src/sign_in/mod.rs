//! The sign-in page.

pub mod passkeys;
pub mod sessions;

use askama::Template;

use crate::sign_in::passkeys::PasskeyChallenge;
use crate::site::{assets, paths};
use crate::{PageContext, render};

/// The sign-in methods of this server, besides a sign-in link from an administrator.
#[derive(Debug, Clone, Default)]
pub struct SignInMethods {
    /// A sign-in link by mail.
    pub mail: bool,
    /// A passkey: the request for the browser.
    pub passkey: Option<PasskeyChallenge>,
    /// Single sign-on (OIDC): the name of the identity provider.
    pub provider: Option<String>,
}

/// The page. With a link's token it shows a button that posts the token, because a GET request must
/// not sign anyone in.
pub fn page(frame: &PageContext, ways: &SignInMethods, token: Option<&str>) -> String {
    render(&SignInPage { frame, ways, token })
}

#[derive(Template)]
#[template(path = "sign_in/sign_in.html")]
struct SignInPage<'a> {
    frame: &'a PageContext,
    ways: &'a SignInMethods,
    token: Option<&'a str>,
}

impl SignInPage<'_> {
    fn title(&self) -> String {
        let SignInMethods { mail, passkey, provider } = self.ways;
        if self.token.is_none() && !mail && passkey.is_none() && provider.is_none() {
            t!("sign-in-title-link")
        } else {
            t!("sign-in-title")
        }
    }
}
