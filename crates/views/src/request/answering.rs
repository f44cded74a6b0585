//! That somebody has just answered a request and can still undo it, as its page says it: when the page
//! is made, and while it is open.

use askama::Template;
use kernel::directory::Directory;
use kernel::{Ask, HumanId};
use serde::Serialize;

use crate::components::words;
use crate::render;
use crate::site::paths;

/// What the page says of a held answer.
#[derive(Template)]
#[template(path = "request/answering.html")]
pub struct AnsweringNote {
    by: Answerer,
    /// Where the page is loaded again; holders of a link load their own address.
    href: String,
}

/// Who answered, as the reader may know it.
enum Answerer {
    /// The reader, on another page.
    Me,
    /// Somebody the reader may know.
    Other(String),
    /// Somebody; the reader holds a link and is told no names.
    Somebody,
    /// The answer was undone, and the request is open again.
    Undone,
}

impl AnsweringNote {
    /// The note for somebody who is signed in, or for the holder of a link (`None`); none while no
    /// answer is held.
    pub fn of(ask: &Ask, me: Option<&HumanId>, directory: &Directory) -> Option<Self> {
        let by = match (ask.held_by().filter(|_| ask.is_open())?, me) {
            (_, None) => Answerer::Somebody,
            (by, Some(me)) if by == me => Answerer::Me,
            (by, Some(_)) => Answerer::Other(words::person(directory, by)),
        };
        Some(Self { by, href: href(ask, me) })
    }

    /// Whether the reader gave the answer.
    pub fn is_mine(&self) -> bool {
        matches!(self.by, Answerer::Me)
    }

    /// The note that replaces it when the answer was undone.
    fn undone(ask: &Ask, me: Option<&HumanId>) -> Self {
        Self { by: Answerer::Undone, href: href(ask, me) }
    }
}

fn href(ask: &Ask, me: Option<&HumanId>) -> String {
    me.map(|_| paths::request(ask.id)).unwrap_or_default()
}

/// What an open page is sent when an answer is held, and when that is over.
#[derive(Debug, Serialize)]
pub struct AnsweringNews {
    /// The note, as the page would show it; none if there is nothing to say.
    html: Option<String>,
    /// Whether the page takes no answer now.
    barred: bool,
}

/// How it looks to a reader whose page is open. `before` says whether the page was told of a held
/// answer.
pub fn news(ask: &Ask, me: Option<&HumanId>, directory: &Directory, before: bool) -> AnsweringNews {
    let note = AnsweringNote::of(ask, me, directory);
    let barred = note.is_some();
    let note = note.or_else(|| before.then(|| AnsweringNote::undone(ask, me)));
    AnsweringNews { html: note.as_ref().map(render), barred }
}
