//! A person's sessions.

use askama::Template;
use askama::filters::Safe;
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

/// How and when a session began.
fn began(way: Option<SignInMethod>, since: &RelativeTime) -> Safe<String> {
    let when = since.html();
    match way {
        Some(SignInMethod::Link) => th!("sign-in-session-link", when = when),
        Some(SignInMethod::Mail) => th!("sign-in-session-email", when = when),
        Some(SignInMethod::Passkey) => th!("sign-in-session-passkey", when = when),
        Some(SignInMethod::Oidc) => th!("sign-in-session-oidc", when = when),
        None => th!("sign-in-session-since", when = when),
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
    /// How and when it began.
    began: Safe<String>,
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
        let since = RelativeTime::new(key.issued_at, now);
        Self {
            id: key.id.to_string(),
            browser: VisibleText::of(&key.label),
            current: session.current,
            began: began(visit.map(|visit| visit.method), &since),
            since,
            used: RelativeTime::new(session.used, now),
            until: key.expires_at.map(|at| RelativeTime::new(at, now)),
        }
    }
}
