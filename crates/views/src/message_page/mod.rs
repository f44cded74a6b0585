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
    title: String,
    paragraphs: Vec<String>,
    link: Option<(&'a str, String)>,
    form: Option<MessageAction<'a>>,
    alert: bool,
    /// What the service worker could not fetch, if the page says that: `page` or `form`.
    unreached: Option<&'static str>,
}

struct MessageAction<'a> {
    action: &'a str,
    hidden: Vec<(&'a str, &'a str)>,
    button: String,
    label: Option<String>,
}

impl<'a> MessagePage<'a> {
    pub(crate) fn new(
        frame: &'a PageContext,
        title: String,
        paragraphs: impl IntoIterator<Item = String>,
    ) -> Self {
        let paragraphs = paragraphs.into_iter().collect();
        let link = frame.person.is_some().then(|| (paths::INBOX, t!("page-go-to-inbox")));
        Self { frame, title, paragraphs, link, form: None, alert: false, unreached: None }
    }

    pub(crate) fn alert(mut self) -> Self {
        self.alert = true;
        self
    }

    pub(crate) fn linked(mut self, href: &'a str, words: String) -> Self {
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
    render(&MessagePage::new(frame, t!("page-not-found"), [t!("page-not-found-text")]))
}

/// An invalid review link: wrong, truncated, or for a request that does not exist. All
/// look the same.
pub fn no_such_link(frame: &PageContext) -> String {
    let text = t!("page-link-invalid-text");
    render(&MessagePage::new(frame, t!("page-link-invalid"), [text]).alert())
}

/// 429: the page was submitted far more often than a person would.
pub fn too_fast(frame: &PageContext, back: &str) -> String {
    let message = MessagePage::new(frame, t!("page-wait"), [t!("page-too-fast-text")]).alert();
    render(&message.linked(back, t!("page-reload")))
}

/// 404: the request has no receipt.
pub fn no_receipt(frame: &PageContext) -> String {
    render(&MessagePage::new(frame, t!("page-no-receipt"), [t!("page-no-receipt-text")]))
}

/// 403: the person is signed in but lacks the permission.
pub fn forbidden(frame: &PageContext) -> String {
    render(&MessagePage::new(frame, t!("common-not-allowed"), [t!("page-forbidden-text")]))
}

/// The confirmation that a sign-in link was requested. It is the same whether the address is
/// known or not.
pub fn link_sent(frame: &PageContext) -> String {
    let texts = [t!("page-link-sent-text"), t!("page-link-sent-more")];
    let message = MessagePage::new(frame, t!("page-link-sent"), texts);
    render(&message.linked(paths::SIGN_IN, t!("page-back-to-sign-in")))
}

/// The sign-in link was already used or has expired.
pub fn stale_link(frame: &PageContext) -> String {
    let message = MessagePage::new(frame, t!("page-stale-link"), [t!("page-stale-link-text")]);
    render(&message.alert().linked(paths::SIGN_IN, t!("page-sign-in-another-way")))
}

/// The passkey is unknown, was removed, or its signature is invalid.
pub fn passkey_refused(frame: &PageContext) -> String {
    let text = t!("page-passkey-refused-text");
    let message = MessagePage::new(frame, t!("page-passkey-refused"), [text]).alert();
    render(&message.linked(paths::SIGN_IN, t!("common-sign-in")))
}

/// The answer needs a passkey, and the person has none that is active. `waits` is when
/// one becomes active.
pub fn passkey_needed(frame: &PageContext, waits: Option<Time>) -> String {
    let Some(from) = waits else {
        let text = t!("page-passkey-needed-text");
        let message = MessagePage::new(frame, t!("refused-needs-passkey"), [text]).alert();
        return render(&message.linked(paths::PASSKEYS, t!("page-add-passkey")));
    };
    let from = RelativeTime::new(from, frame.now).words;
    let texts = [t!("page-passkey-waits-text"), t!("page-passkey-waits-until", from = from)];
    let message = MessagePage::new(frame, t!("page-passkey-waits"), texts).alert();
    render(&message.linked(paths::PASSKEYS, t!("nav-passkeys")))
}

/// The server does not support passkeys; `why` says why.
pub fn no_passkeys(frame: &PageContext, why: &str) -> String {
    let text = t!("page-no-passkeys-text", why = why);
    render(&MessagePage::new(frame, t!("page-no-passkeys"), [text]).alert())
}

/// The sign-in with the identity provider failed.
pub fn provider_refused(frame: &PageContext) -> String {
    let text = t!("page-provider-refused-text");
    let message = MessagePage::new(frame, t!("page-provider-refused"), [text]).alert();
    render(&message.linked(paths::SIGN_IN, t!("common-sign-in")))
}

/// The identity provider authenticated a person who has no account here.
pub fn no_account(frame: &PageContext) -> String {
    let message = MessagePage::new(frame, t!("page-no-account"), [t!("page-no-account-text")]);
    render(&message.alert().linked(paths::SIGN_IN, t!("page-sign-in-another-way")))
}

/// 429: too many sign-in attempts.
pub fn too_many_attempts(frame: &PageContext) -> String {
    let text = t!("page-too-many-attempts-text");
    render(&MessagePage::new(frame, t!("page-wait"), [text]).alert())
}

/// The page after signing out.
pub fn signed_out(frame: &PageContext, provider: Option<&str>) -> String {
    let mut message = MessagePage::new(frame, t!("page-signed-out"), [t!("page-signed-out-text")]);
    if let Some(name) = provider {
        message.paragraphs.push(t!("page-signed-out-provider", name = name));
        message = message.linked(paths::SIGN_OUT_OIDC, t!("page-sign-out-provider"));
    }
    render(&message)
}

/// The form's CSRF token is no longer valid; `back` leads to a new page.
pub fn stale_page(frame: &PageContext, back: &str) -> String {
    let message = MessagePage::new(frame, t!("page-stale"), [t!("page-stale-text")]).alert();
    render(&message.linked(back, t!("page-reload")))
}

/// 413: the form is so far above the limit that the server did not read all of it. `most` is the
/// limit in bytes.
pub fn too_large(frame: &PageContext, back: &str, most: u64) -> String {
    let text = t!("page-too-large-text", most = wording::size(most));
    let message = MessagePage::new(frame, t!("page-too-large"), [text]).alert();
    render(&message.linked(back, t!("page-back-to-request")))
}

/// 500: an internal error. The reference identifies it in the log.
pub fn server_error(frame: &PageContext, reference: &str) -> String {
    let texts =
        [t!("page-server-error-text"), t!("page-server-error-reference", reference = reference)];
    render(&MessagePage::new(frame, t!("page-server-error"), texts).alert())
}

/// 503: the server is starting or shutting down.
pub fn unavailable(frame: &PageContext) -> String {
    let text = t!("page-unavailable-text");
    render(&MessagePage::new(frame, t!("page-unavailable"), [text]).alert())
}

/// The form that creates a terminal token.
pub fn token_form(frame: &PageContext) -> String {
    let mut message = MessagePage::new(frame, t!("nav-api-token"), [t!("token-text")]);
    message.form = Some(MessageAction {
        action: paths::TOKENS,
        hidden: Vec::new(),
        button: t!("token-create"),
        label: Some(t!("token-label")),
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
    let message = MessagePage::new(frame, t!("page-offline"), [t!("page-offline-text")]);
    render(&message.linked("", t!("page-try-again")).unreached("page"))
}

/// The page in place of the result of a form, if the server could not be reached.
pub fn unsent(frame: &PageContext) -> String {
    let texts = [t!("page-unsent-text"), t!("page-unsent-more")];
    let message = MessagePage::new(frame, t!("page-unsent"), texts);
    render(&message.linked("", t!("page-go-back")).unreached("form").alert())
}
