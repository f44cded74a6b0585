//! A person's sessions.

use askama::Template;
use kernel::Time;
use kernel::directory::{CredentialKind, Directory, Key, SignInMethod};

use crate::banner::{ActionOutcome, Banner};
use crate::components::relative_time::RelativeTime;
use crate::components::wording::VisibleText;
use crate::site::{assets, paths};
use crate::{PageContext, render};

#[derive(Debug, Clone, Copy)]
pub struct Session<'a> {
    pub key: &'a Key,
    pub used: Time,
    /// Whether it is the session that shows the page.
    pub current: bool,
}

pub fn page(
    frame: &PageContext,
    directory: &Directory,
    sessions: &[Session<'_>],
    notice: Option<&ActionOutcome>,
) -> String {
    let banner = notice.map(|notice| notice.banner(directory, frame.now, None));
    let rows = sessions.iter().map(|session| SessionRow::new(session, frame.now)).collect();
    render(&SessionsPage { frame, banner, rows })
}

/// The sign-in method of a session, in words.
pub fn sign_in_method(way: SignInMethod) -> &'static str {
    match way {
        SignInMethod::Link => "with a sign-in link",
        SignInMethod::Mail => "with a link by mail",
        SignInMethod::Passkey => "with a passkey",
        SignInMethod::Oidc => "with your organisation",
    }
}

#[derive(Template)]
#[template(path = "sign_in/sessions.html")]
struct SessionsPage<'a> {
    frame: &'a PageContext,
    banner: Option<Banner>,
    rows: Vec<SessionRow>,
}

struct SessionRow {
    id: String,
    browser: VisibleText,
    current: bool,
    way: &'static str,
    since: RelativeTime,
    used: RelativeTime,
    until: Option<RelativeTime>,
}

impl SessionRow {
    fn new(session: &Session<'_>, now: Time) -> Self {
        let key = session.key;
        let visit = match &key.kind {
            CredentialKind::Session { binding: visit, .. } => visit.as_ref(),
            CredentialKind::Agent { .. }
            | CredentialKind::Token { .. }
            | CredentialKind::Link { .. }
            | CredentialKind::Passkey { .. } => None,
        };
        Self {
            id: key.id.to_string(),
            browser: VisibleText::of(&key.label),
            current: session.current,
            way: visit.map_or("", |visit| sign_in_method(visit.method)),
            since: RelativeTime::new(key.issued_at, now),
            used: RelativeTime::new(session.used, now),
            until: key.expires_at.map(|at| RelativeTime::new(at, now)),
        }
    }
}
