//! A person's sessions.

use askama::Template;
use kernel::Time;
use kernel::directory::{Directory, Holder, Key, Way};

use crate::banner::{Banner, Notice};
use crate::components::when::When;
use crate::components::words::Words;
use crate::site::{assets, paths};
use crate::{Frame, render};

#[derive(Debug, Clone, Copy)]
pub struct Session<'a> {
    pub key: &'a Key,
    pub used: Time,
    /// Whether it is the session that shows the page.
    pub current: bool,
}

pub fn page(
    frame: &Frame,
    directory: &Directory,
    sessions: &[Session<'_>],
    notice: Option<&Notice>,
) -> String {
    let banner = notice.map(|notice| notice.banner(directory, frame.now, None));
    let rows = sessions.iter().map(|session| Row::new(session, frame.now)).collect();
    render(&Page { frame, banner, rows })
}

/// The sign-in method of a session, in words.
pub fn way(way: Way) -> &'static str {
    match way {
        Way::Link => "with a sign-in link",
        Way::Mail => "with a link by mail",
        Way::Passkey => "with a passkey",
        Way::Oidc => "with your organisation",
    }
}

#[derive(Template)]
#[template(path = "sign_in/sessions.html")]
struct Page<'a> {
    frame: &'a Frame,
    banner: Option<Banner>,
    rows: Vec<Row>,
}

struct Row {
    id: String,
    browser: Words,
    current: bool,
    way: &'static str,
    since: When,
    used: When,
    until: Option<When>,
}

impl Row {
    fn new(session: &Session<'_>, now: Time) -> Self {
        let key = session.key;
        let visit = match &key.holder {
            Holder::Session { visit, .. } => visit.as_ref(),
            Holder::Agent { .. }
            | Holder::Token { .. }
            | Holder::Link { .. }
            | Holder::Passkey { .. } => None,
        };
        Self {
            id: key.id.to_string(),
            browser: Words::of(&key.label),
            current: session.current,
            way: visit.map_or("", |visit| way(visit.way)),
            since: When::new(key.issued_at, now),
            used: When::new(session.used, now),
            until: key.expires_at.map(|at| When::new(at, now)),
        }
    }
}
