//! Who has claimed a request, as its page says it: when the page is made, and while it is open.

use askama::Template;
use kernel::directory::{Directory, Human};
use kernel::{Ask, HumanId};
use serde::Serialize;

use crate::components::words;
use crate::render;
use crate::site::paths;

/// The name of the tick box with which the owner of an agent says that they answer over a claim. Its
/// value is who held the request on the page they saw.
pub const OVER: &str = "over";

/// What the page says of a claim.
#[derive(Template)]
#[template(path = "request/claim.html")]
pub struct ClaimNote {
    name: String,
    holder: String,
    href: String,
    stance: Stance,
}

/// What a claim means for the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stance {
    /// The reader has claimed it.
    Mine,
    /// Somebody else has, and answers.
    Barred,
    /// Somebody else has; the reader owns the agent and may answer after ticking the box.
    Over { ticked: bool },
    /// The same, and the box was ticked one step before.
    Carried,
}

impl ClaimNote {
    /// The note for a reader, where somebody else has claimed the request. `over` is whom the reader
    /// answers over already, and `carried` whether that goes along with what they send.
    pub fn of(
        ask: &Ask,
        me: &Human,
        directory: &Directory,
        over: Option<&str>,
        carried: bool,
    ) -> Option<Self> {
        let holder = ask.claimed_by_other(me)?;
        let ticked = over == Some(holder.as_str());
        let stance = if me.id != ask.owner {
            Stance::Barred
        } else if ticked && carried {
            Stance::Carried
        } else {
            Stance::Over { ticked }
        };
        Some(Self::new(ask, holder, directory, stance))
    }

    fn new(ask: &Ask, holder: &HumanId, directory: &Directory, stance: Stance) -> Self {
        Self {
            name: words::person(directory, holder),
            holder: holder.to_string(),
            href: paths::request(ask.id),
            stance,
        }
    }
}

/// What an open page is told when a request is claimed or handed on.
#[derive(Debug, Serialize)]
pub struct Claimed {
    /// The note, as the page would show it; none if nobody holds the request.
    html: Option<String>,
    /// Whether the reader cannot answer any more.
    barred: bool,
}

/// How a claim looks to a reader whose page is open.
pub fn told(ask: &Ask, me: &Human, directory: &Directory) -> Claimed {
    let mine = ask.claim.as_ref().filter(|claim| claim.human == me.id);
    let note = match mine {
        Some(_) => Some(ClaimNote::new(ask, &me.id, directory, Stance::Mine)),
        None => ClaimNote::of(ask, me, directory, None, false),
    };
    let barred = note.as_ref().is_some_and(|note| note.stance == Stance::Barred);
    Claimed { html: note.as_ref().map(render), barred }
}
