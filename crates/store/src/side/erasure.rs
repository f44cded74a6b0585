//! What goes from the side table when an ask or a person is erased.

use async_trait::async_trait;
use kernel::{AskId, HumanId};

use super::{Devices, Side, SideKind, SideRows};
use crate::Result;

/// Nothing here is an event: the erasure itself is.
#[async_trait]
pub trait SideErasure: Devices {
    /// Deletes the draft, the secrets and the snoozes of an ask. Which devices were notified of it stays
    /// until these are told that it is over: such a row holds no words, and without it the notification
    /// would stay on the device.
    async fn erase_side_of_ask(&self, ask: AskId) -> Result<()> {
        let kinds = [SideKind::Draft, SideKind::Secret, SideKind::Snooze];
        let rows = kinds.map(|kind| (kind, SideRows::Asks(vec![ask])));
        self.delete_side(rows.to_vec()).await.map(drop)
    }

    /// Deletes the codes, the devices and the snoozes of a person, and what the devices were notified of.
    async fn erase_side_of_human(&self, human: &HumanId) -> Result<()> {
        for device in self.devices(vec![human.clone()]).await? {
            self.forget_device(device.name).await?;
        }
        let kinds = [SideKind::Code, SideKind::Snooze];
        let rows = kinds.map(|kind| (kind, SideRows::Humans(vec![human.clone()])));
        self.delete_side(rows.to_vec()).await.map(drop)
    }
}

impl<S: Side + ?Sized> SideErasure for S {}
