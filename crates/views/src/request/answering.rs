//! The note that a person has just answered a request and can still undo it, on a new page and on
//! an open one.

use askama::Template;
use kernel::directory::Directory;
use kernel::{Ask, HumanId};
use serde::Serialize;

use crate::components::wording;
use crate::render;
use crate::site::paths;

/// The note about a held answer.
#[derive(Template)]
#[template(path = "request/answering.html")]
pub struct AnsweringNote {
    by: AnswererView,
    /// The path that reloads the page; empty for holders of a link, who reload their own URL.
    href: String,
}

/// Who answered, as far as the reader may know.
enum AnswererView {
    /// The reader, on another page.
    Me,
    /// A person whose name the reader may see.
    Other(String),
    /// A person whose name is not shown, because the reader holds a link.
    Somebody,
    /// The answer was undone, and the request is open again.
    Undone,
}

impl AnsweringNote {
    /// The note for a signed-in person, or for the holder of a link (`me` is `None`). Returns
    /// `None` if no answer is held.
    pub fn of(ask: &Ask, me: Option<&HumanId>, directory: &Directory) -> Option<Self> {
        let by = match (ask.held_by().filter(|_| ask.is_open())?, me) {
            (_, None) => AnswererView::Somebody,
            (by, Some(me)) if by == me => AnswererView::Me,
            (by, Some(_)) => AnswererView::Other(wording::person_name(directory, by)),
        };
        Some(Self { by, href: href(ask, me) })
    }

    /// Whether the reader gave the answer.
    pub fn is_mine(&self) -> bool {
        matches!(self.by, AnswererView::Me)
    }

    /// The replacement for the note when the answer was undone.
    fn undone(ask: &Ask, me: Option<&HumanId>) -> Self {
        Self { by: AnswererView::Undone, href: href(ask, me) }
    }
}

fn href(ask: &Ask, me: Option<&HumanId>) -> String {
    me.map(|_| paths::request(ask.id)).unwrap_or_default()
}

/// The event for an open page when an answer is held, and when it no longer is.
#[derive(Debug, Serialize)]
pub struct AnsweringUpdate {
    /// The note as HTML; `None` if there is none.
    html: Option<String>,
    /// Whether the page currently accepts no answer.
    barred: bool,
}

/// The event for an open page. `before` says whether the page already shows a held answer.
pub fn answering_update(
    ask: &Ask,
    me: Option<&HumanId>,
    directory: &Directory,
    before: bool,
) -> AnsweringUpdate {
    let note = AnsweringNote::of(ask, me, directory);
    let barred = note.is_some();
    let note = note.or_else(|| before.then(|| AnsweringNote::undone(ask, me)));
    AnsweringUpdate { html: note.as_ref().map(render), barred }
}
