//! `/hxp/ws/{request_id}` and `/hxp/ws?request_id=…`: the frames for a subscriber. Section 5.2.
//!
//! The server compares the subscriber's state with the ask and not with events. One comparison
//! covers all changes it missed, and late subscribers need no special case.

use kernel::ask::{Ask, Phase};

use super::evidence::Seal;
use super::receipt::{Detail, name, receipt};
use super::view::status;
use super::wire::Frame;

/// The last state that a subscriber received.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Seen {
    /// No frame was sent yet.
    #[default]
    Nothing,
    /// The subscriber received the assignee.
    Assigned(String),
    /// The subscriber received the end.
    End,
}

/// The next step for a subscriber.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The frames to send, in order.
    pub frames: Vec<Frame>,
    /// The subscriber's state afterwards.
    pub seen: Seen,
    /// Whether to close the socket normally (1000) afterwards.
    pub close: bool,
}

/// Brings a subscriber up to date with the current state of the ask.
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
