//! Deletes the rows of the side table that belong to an erased ask or person.

use async_trait::async_trait;
use kernel::{AskId, HumanId};

use super::{DeviceStore, SideKind, SideSelection, SideStore};
use crate::Result;

/// Erasure in the side table. Only the erasure itself is an event.
#[async_trait]
pub trait SideErasure: DeviceStore {
    /// Deletes the draft, the secrets and the snoozes of an ask. The rows about notified devices
    /// stay until the server has notified the devices that the ask is closed. Such a row contains
    /// no text, and without it the notification would stay on the device.
    async fn erase_side_of_ask(&self, ask: AskId) -> Result<()> {
        let kinds = [SideKind::Draft, SideKind::Secret, SideKind::Snooze];
        let rows = kinds.map(|kind| (kind, SideSelection::Asks(vec![ask])));
        self.delete_side(rows.to_vec()).await.map(drop)
    }

    /// Deletes the codes, devices and snoozes of a person, and the notification rows
    /// of the devices.
    async fn erase_side_of_human(&self, human: &HumanId) -> Result<()> {
        for device in self.devices(vec![human.clone()]).await? {
            self.forget_device(device.name).await?;
        }
        let kinds = [SideKind::Code, SideKind::Snooze];
        let rows = kinds.map(|kind| (kind, SideSelection::Humans(vec![human.clone()])));
        self.delete_side(rows.to_vec()).await.map(drop)
    }
}

impl<S: SideStore + ?Sized> SideErasure for S {}
