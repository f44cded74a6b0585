//! How people learn that something waits for them. The inbox page always shows it; channels tell
//! them without looking.
//!
//! | module | what it holds |
//! |---|---|
//! | [`people`] | the people of a seat |
//! | [`wired`] | the platforms that are set up |
//! | `card`, `offers` | what is said of an ask there, and what can be answered there |
//! | `send`, `codes` | one message on its way, and what becomes of it; what a written answer begins with |
//! | `hear` | what platforms say: who that is, what they answer, and what they write first |
//! | `begun` | where a conversation began, and what goes below it |
//! | [`terminal`] | the terminal the server runs in |

mod begun;
mod card;
mod codes;
mod hear;
mod offers;
pub mod people;
pub(crate) mod send;
pub mod terminal;
pub mod wired;

use async_trait::async_trait;
use kernel::ask::Seat;
use kernel::effect::Occasion;
use kernel::{Ask, Effect};

use crate::gateway::Gateway;

/// A way to reach people. Deliveries come at least once, so a channel must bear a repetition.
#[async_trait]
pub trait Channel: Send + Sync {
    /// Tells whoever holds the seat.
    async fn notify(&self, ask: &Ask, seat: &Seat, why: Occasion) -> anyhow::Result<()>;

    /// Says that the ask is over.
    async fn settle(&self, ask: &Ask) -> anyhow::Result<()>;
}

/// Every channel there is.
#[derive(Default)]
pub struct Channels {
    channels: Vec<Box<dyn Channel>>,
}

impl Channels {
    /// Adds one.
    #[must_use]
    pub fn with(mut self, channel: impl Channel + 'static) -> Self {
        self.channels.push(Box::new(channel));
        self
    }

    /// Carries out an effect.
    pub async fn perform(&self, gateway: &Gateway, effect: &Effect) -> anyhow::Result<()> {
        if self.channels.is_empty() {
            return Ok(());
        }
        // Everything else is the agent's, the server's own, or for one person alone.
        let (Effect::Notify { ask: id, .. } | Effect::Settle { ask: id }) = effect else {
            return Ok(());
        };
        let Some(ask) = gateway.store().ask(*id).await? else { return Ok(()) };
        for channel in &self.channels {
            if let Effect::Notify { seat, why, .. } = effect {
                // Somebody answered before the notice went out: there is nothing to tell.
                if ask.is_open() {
                    channel.notify(&ask, seat, *why).await?;
                }
            } else {
                channel.settle(&ask).await?;
            }
        }
        Ok(())
    }
}
