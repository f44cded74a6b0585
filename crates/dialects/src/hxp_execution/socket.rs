//! `/hxp/ws/{request_id}` and `/hxp/ws?request_id=…`: the frames for a subscriber. Section 5.2.
//!
//! The server compares the subscriber's state with the ask and not with events. One comparison
//! covers all changes it missed, and late subscribers need no special case.

use kernel::ask::{Ask, Phase};

use super::evidence::Seal;
use super::receipt::{ReceiptDetail, name, receipt};
use super::view::status;
use super::wire::Frame;

/// The last state that a subscriber received.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum SocketState {
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
pub struct SocketUpdate {
    /// The frames to send, in order.
    pub frames: Vec<Frame>,
    /// The subscriber's state afterwards.
    pub seen: SocketState,
    /// Whether to close the socket normally (1000) afterwards.
    pub close: bool,
}

/// Brings a subscriber up to date with the current state of the ask.
pub fn advance(seen: &SocketState, ask: &Ask, seal: &Seal<'_>) -> SocketUpdate {
    if *seen == SocketState::End {
        return SocketUpdate { frames: Vec::new(), seen: SocketState::End, close: true };
    }
    let whole = || receipt(ask, seal, ReceiptDetail::Whole);
    let last = match status(ask).phase() {
        Phase::Waiting => {
            return SocketUpdate { frames: Vec::new(), seen: seen.clone(), close: false };
        }
        Phase::Engaged => return assigned(seen, ask, seal),
        Phase::Completed => whole().map(|receipt| Frame::Completed { receipt }),
        Phase::Expired => Some(Frame::Expired),
        Phase::Failed => whole().map(|receipt| Frame::Failed { receipt }),
        Phase::Cancelled => whole().map(|receipt| Frame::Cancelled { receipt }),
    };
    SocketUpdate { frames: last.into_iter().collect(), seen: SocketState::End, close: true }
}

fn assigned(seen: &SocketState, ask: &Ask, seal: &Seal<'_>) -> SocketUpdate {
    let to = ask.engaged_by().map(|(by, _)| name(ask, &by, seal));
    match to.map(|to| (SocketState::Assigned(to.clone()), to)) {
        Some((now, assigned_to)) if now != *seen => {
            SocketUpdate { frames: vec![Frame::Assigned { assigned_to }], seen: now, close: false }
        }
        Some(_) | None => SocketUpdate { frames: Vec::new(), seen: seen.clone(), close: false },
    }
}
