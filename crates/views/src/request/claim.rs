//! The note about the claim on a request, on a new page and on an open one.

use askama::Template;
use kernel::directory::{Directory, Human};
use kernel::{Ask, HumanId};
use serde::Serialize;

use crate::components::wording;
use crate::render;
use crate::site::paths;

/// The name of the checkbox with which the owner of an agent confirms that they answer despite a
/// claim. Its value is the person who held the claim when the page was rendered.
pub const OVER: &str = "over";

/// The note about a claim.
#[derive(Template)]
#[template(path = "request/claim.html")]
pub struct ClaimNote {
    name: String,
    holder: String,
    href: String,
    stance: ClaimEffect,
}

/// The effect of a claim on the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClaimEffect {
    /// The reader has claimed it.
    Mine,
    /// Another person has claimed it, and the reader cannot answer.
    Barred,
    /// Another person has claimed it; the reader owns the agent and may answer after
    /// ticking the checkbox.
    Over { ticked: bool },
    /// The same, and the checkbox was ticked in the previous step.
    Carried,
}

impl ClaimNote {
    /// The note for a reader if another person has claimed the request. `over` is the
    /// claimant whose claim the reader already overrides, and `carried` whether their form
    /// already contains that.
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
            ClaimEffect::Barred
        } else if ticked && carried {
            ClaimEffect::Carried
        } else {
            ClaimEffect::Over { ticked }
        };
        Some(Self::new(ask, holder, directory, stance))
    }

    fn new(ask: &Ask, holder: &HumanId, directory: &Directory, stance: ClaimEffect) -> Self {
        Self {
            name: wording::person_name(directory, holder),
            holder: holder.to_string(),
            href: paths::request(ask.id),
            stance,
        }
    }
}

/// The event for an open page when a request is claimed or reassigned.
#[derive(Debug, Serialize)]
pub struct ClaimUpdate {
    /// The note as HTML; `None` if the request is not claimed.
    html: Option<String>,
    /// Whether the reader can no longer answer.
    barred: bool,
}

/// The event for a reader whose page is open.
pub fn claim_update(ask: &Ask, me: &Human, directory: &Directory) -> ClaimUpdate {
    let mine = ask.claim.as_ref().filter(|claim| claim.human == me.id);
    let note = match mine {
        Some(_) => Some(ClaimNote::new(ask, &me.id, directory, ClaimEffect::Mine)),
        None => ClaimNote::of(ask, me, directory, None, false),
    };
    let barred = note.as_ref().is_some_and(|note| note.stance == ClaimEffect::Barred);
    ClaimUpdate { html: note.as_ref().map(render), barred }
}
