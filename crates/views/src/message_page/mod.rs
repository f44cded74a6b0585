//! Pages with a single message, so that no error leads to a blank page or to JSON.

use askama::Template;
use kernel::Time;

use crate::components::relative_time::RelativeTime;
use crate::components::wording;
use crate::site::{assets, paths};
use crate::{PageContext, render};

/// A page with a single message and optionally one action.
#[derive(Template)]
#[template(path = "message_page/message.html")]
pub(crate) struct MessagePage<'a> {
    frame: &'a PageContext,
    title: &'a str,
    paragraphs: Vec<String>,
    link: Option<(&'a str, &'a str)>,
    form: Option<MessageAction<'a>>,
    alert: bool,
    /// What the service worker could not fetch, if the page says that: `page` or `form`.
    unreached: Option<&'static str>,
}

struct MessageAction<'a> {
    action: &'a str,
    hidden: Vec<(&'a str, &'a str)>,
    button: &'a str,
    label: Option<&'a str>,
}

impl<'a> MessagePage<'a> {
    pub(crate) fn new(frame: &'a PageContext, title: &'a str, paragraphs: &[&str]) -> Self {
        let paragraphs = paragraphs.iter().map(|&text| text.to_owned()).collect();
        let link = frame.person.is_some().then_some((paths::INBOX, "Go to your inbox"));
        Self { frame, title, paragraphs, link, form: None, alert: false, unreached: None }
    }

    pub(crate) fn alert(mut self) -> Self {
        self.alert = true;
        self
    }

    pub(crate) fn linked(mut self, href: &'a str, words: &'a str) -> Self {
        self.link = Some((href, words));
        self
    }

    pub(crate) fn unreached(mut self, what: &'static str) -> Self {
        self.unreached = Some(what);
        self
    }
}

/// 404: the request does not exist or this person may not see it; both look the same.
pub fn not_found(frame: &PageContext) -> String {
    let text = "It does not exist, or it is not yours to see. If someone sent you the link, ask them \
                to hand the request to you.";
    render(&MessagePage::new(frame, "There is nothing here for you", &[text]))
}

/// An invalid review link: wrong, truncated, or for a request that does not exist. All
/// look the same.
pub fn no_such_link(frame: &PageContext) -> String {
    let text = "It may have been cut off when it was copied, or it was never valid. Open the whole \
                link as it was sent to you, or ask whoever sent it for a new one.";
    render(&MessagePage::new(frame, "This link opens nothing", &[text]).alert())
}

/// 429: the page was submitted far more often than a person would.
pub fn too_fast(frame: &PageContext, back: &str) -> String {
    let text =
        "This page was sent very often within a minute. What you entered last may not be kept.";
    let mut message = MessagePage::new(frame, "Wait a moment", &[text]).alert();
    message.link = Some((back, "Load it again"));
    render(&message)
}

/// 404: the request has no receipt.
pub fn no_receipt(frame: &PageContext) -> String {
    let text = "A request has a receipt once it is over, as long as its words were not erased.";
    render(&MessagePage::new(frame, "There is no receipt", &[text]))
}

/// 403: the person is signed in but lacks the permission.
pub fn forbidden(frame: &PageContext) -> String {
    let text = "Your account has no permission for this. An administrator can give it to you.";
    render(&MessagePage::new(frame, "You cannot do this", &[text]))
}

/// The confirmation that a sign-in link was requested. It is the same whether the address is
/// known or not.
pub fn link_sent(frame: &PageContext) -> String {
    let text = "If somebody here has that address, a letter with a sign-in link is on its way. The link \
                works once, within 15 minutes.";
    let more = "Nothing came? Look among unwanted mail, or ask an administrator whether your address \
                is known here.";
    let mut message = MessagePage::new(frame, "Look into your mail", &[text, more]);
    message.link = Some((paths::SIGN_IN, "Back to signing in"));
    render(&message)
}

/// The sign-in link was already used or has expired.
pub fn stale_link(frame: &PageContext) -> String {
    let text = "Sign-in links work once and not for long. Ask for a new one.";
    let mut message = MessagePage::new(frame, "This sign-in link no longer works", &[text]).alert();
    message.link = Some((paths::SIGN_IN, "Sign in another way"));
    render(&message)
}

/// The passkey is unknown, was removed, or its signature is invalid.
pub fn passkey_refused(frame: &PageContext) -> String {
    let text = "It may have been removed, or the page was open too long. Try once more, or sign in \
                another way.";
    let mut message = MessagePage::new(frame, "That passkey does not work here", &[text]).alert();
    message.link = Some((paths::SIGN_IN, "Sign in"));
    render(&message)
}

/// The answer needs a passkey, and the person has none that is active. `waits` is when
/// one becomes active.
pub fn passkey_needed(frame: &PageContext, waits: Option<Time>) -> String {
    let Some(from) = waits else {
        let text = "Being signed in is not enough for this one. Your answer was not sent. Add a \
                    passkey, then answer again.";
        let mut message = MessagePage::new(frame, "This request needs a passkey", &[text]).alert();
        message.link = Some((paths::PASSKEYS, "Add a passkey"));
        return render(&message);
    };
    let text = "Your passkey was added a short while ago and does not confirm answers yet. Your answer \
                was not sent. Ask an administrator to confirm your passkey, or answer later.";
    let mut message = MessagePage::new(frame, "Your passkey does not count yet", &[text]).alert();
    message.paragraphs.push(format!("It counts {}.", RelativeTime::new(from, frame.now).words));
    message.link = Some((paths::PASSKEYS, "Your passkeys"));
    render(&message)
}

/// The server does not support passkeys; `why` says why.
pub fn no_passkeys(frame: &PageContext, why: &str) -> String {
    let mut message = MessagePage::new(frame, "This server has no passkeys", &[]).alert();
    message.paragraphs.push(format!("An administrator can change that: {why}."));
    render(&message)
}

/// The sign-in with the identity provider failed.
pub fn provider_refused(frame: &PageContext) -> String {
    let text = "It was broken off, took too long, or something does not fit. Try once more; if it \
                happens again, an administrator finds the reason in the log.";
    let mut message = MessagePage::new(frame, "You could not be signed in", &[text]).alert();
    message.link = Some((paths::SIGN_IN, "Sign in"));
    render(&message)
}

/// The identity provider authenticated a person who has no account here.
pub fn no_account(frame: &PageContext) -> String {
    let text = "Your organisation knows you, but nobody added you here. An administrator can.";
    let mut message = MessagePage::new(frame, "You are not known here", &[text]).alert();
    message.link = Some((paths::SIGN_IN, "Sign in another way"));
    render(&message)
}

/// 429: too many sign-in attempts.
pub fn too_many_attempts(frame: &PageContext) -> String {
    let text = "There were too many attempts to sign in from where you are. Wait a minute, then try \
                again.";
    render(&MessagePage::new(frame, "Wait a moment", &[text]).alert())
}

/// The page after signing out.
pub fn signed_out(frame: &PageContext, provider: Option<&str>) -> String {
    let text = "Requests still reach you by the other ways you are notified.";
    let mut message = MessagePage::new(frame, "You are signed out", &[text]);
    if let Some(name) = provider {
        message.paragraphs.push(format!("You may still be signed in with {name}."));
        message.link = Some((paths::SIGN_OUT_OIDC, "Sign out there too"));
    }
    render(&message)
}

/// The form's CSRF token is no longer valid; `back` leads to a new page.
pub fn stale_page(frame: &PageContext, back: &str) -> String {
    let text = "You were signed out or signed in again since you opened it. Nothing was sent.";
    let mut message = MessagePage::new(frame, "This page was open too long", &[text]).alert();
    message.link = Some((back, "Load it again"));
    render(&message)
}

/// 413: the form is so far above the limit that the server did not read all of it. `most` is the
/// limit in bytes.
pub fn too_large(frame: &PageContext, back: &str, most: u64) -> String {
    let text = format!(
        "A form can be at most {}, with its files. Nothing was sent. Go back and send less.",
        wording::size(most)
    );
    let mut message = MessagePage::new(frame, "That was too large", &[&text]).alert();
    message.link = Some((back, "Go back to the request"));
    render(&message)
}

/// 500: an internal error. The reference identifies it in the log.
pub fn server_error(frame: &PageContext, reference: &str) -> String {
    let mut message = MessagePage::new(
        frame,
        "Something went wrong on our side",
        &["Load the page to see whether your answer arrived before you send it again."],
    )
    .alert();
    message.paragraphs.push(format!("If it happens again, tell an administrator: {reference}"));
    render(&message)
}

/// 503: the server is starting or shutting down.
pub fn unavailable(frame: &PageContext) -> String {
    let text = "The server is starting, stopping or busy. Nothing is lost: requests and answers are \
                kept. Try again in a minute.";
    render(&MessagePage::new(frame, "Countersign is not available right now", &[text]).alert())
}

/// The form that creates a terminal token.
pub fn token_form(frame: &PageContext) -> String {
    let text = "With a token, the countersign command and your own programs answer in your name. It is \
                shown once. Anyone who has it can answer as you.";
    let mut message = MessagePage::new(frame, "A token for your terminal", &[text]);
    message.form = Some(MessageAction {
        action: paths::TOKENS,
        hidden: Vec::new(),
        button: "Make a token and show it once",
        label: Some("Where you will use it"),
    });
    render(&message)
}

/// A new token.
#[derive(Debug, Clone, Copy)]
pub struct NewToken<'a> {
    /// The token; only this page ever shows it.
    pub token: &'a str,
    pub label: &'a str,
    pub expires: Option<Time>,
    pub server_url: &'a str,
}

/// The page that shows the token once.
pub fn token_created(frame: &PageContext, new: &NewToken<'_>) -> String {
    render(&TokenPage {
        frame,
        token: new.token,
        label: wording::VisibleText::of(new.label),
        expires: new.expires.map(|at| RelativeTime::new(at, frame.now)),
        server_url: new.server_url.trim_end_matches('/'),
    })
}

#[derive(Template)]
#[template(path = "message_page/token.html")]
struct TokenPage<'a> {
    frame: &'a PageContext,
    token: &'a str,
    label: wording::VisibleText,
    expires: Option<RelativeTime>,
    server_url: &'a str,
}

/// The page in place of one that could not be fetched.
pub fn offline(frame: &PageContext) -> String {
    let text = "This page could not be fetched: there is no network, or the server is not reached. \
                Requests wait for you there.";
    let message = MessagePage::new(frame, "You are offline", &[text]);
    render(&message.linked("", "Try again").unreached("page"))
}

/// The page in place of the result of a form, if the server could not be reached.
pub fn unsent(frame: &PageContext) -> String {
    let texts = [
        "There is no network, or the server was not reached, so nobody said whether what you sent \
         arrived. Count on it that it did not.",
        "Go back to see where the request stands. What you entered is still there, but for passwords \
         and files.",
    ];
    let message = MessagePage::new(frame, "Nothing came back", &texts);
    render(&message.linked("", "Go back and look").unreached("form").alert())
}
