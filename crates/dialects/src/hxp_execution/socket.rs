//! `/hxp/ws/{request_id}` and `/hxp/ws?request_id=…`: what a subscriber is sent.
//! Section 5.2.
//!
//! The subscriber is compared with the ask, not with events: however many changes it slept through,
//! one look brings it up to date, and late subscribers are nothing special.

use kernel::ask::{Ask, Phase};

use super::evidence::Seal;
use super::receipt::{Detail, name, receipt};
use super::view::status;
use super::wire::Frame;

/// What a subscriber knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Seen {
    /// Nothing was sent yet.
    #[default]
    Nothing,
    /// That somebody took it up.
    Assigned(String),
    /// How it ended.
    End,
}

/// What to do for a subscriber.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// What to send, in order.
    pub frames: Vec<Frame>,
    /// What the subscriber then knows.
    pub seen: Seen,
    /// Whether to close normally (1000) afterwards.
    pub close: bool,
}

/// Brings a subscriber up to date with the ask as it is now.
pub fn advance(seen: &Seen, ask: &Ask, seal: &Seal<'_>) -> Step {
    if *seen == Seen::End {
        return Step { frames: Vec::new(), seen: Seen::End, close: true };
    }
    let whole = || receipt(ask, seal, Detail::Whole);
    let last = match status(ask).phase() {
        Phase::Waiting => return Step { frames: Vec::new(), seen: seen.clone(), close: false },
        Phase::Engaged => return assigned(seen, ask, seal),
        Phase::Completed => whole().map(|receipt| Frame::Completed { receipt }),
        Phase::Expired => Some(Frame::Expired),
        Phase::Failed => whole().map(|receipt| Frame::Failed { receipt }),
        Phase::Cancelled => whole().map(|receipt| Frame::Cancelled { receipt }),
    };
    Step { frames: last.into_iter().collect(), seen: Seen::End, close: true }
}

fn assigned(seen: &Seen, ask: &Ask, seal: &Seal<'_>) -> Step {
    let to = ask.engaged().map(|(by, _)| name(ask, &by, seal));
    match to.map(|to| (Seen::Assigned(to.clone()), to)) {
        Some((now, assigned_to)) if now != *seen => {
            Step { frames: vec![Frame::Assigned { assigned_to }], seen: now, close: false }
        }
        Some(_) | None => Step { frames: Vec::new(), seen: seen.clone(), close: false },
    }
}
