//! People's devices, in maps.

use async_trait::async_trait;
use kernel::audit::Digest;
use kernel::{AskId, HumanId};

use super::Memory;
use crate::{Device, Devices, MOST_DEVICES, Result};

#[async_trait]
impl Devices for Memory {
    async fn put_device(&self, device: Device) -> Result<bool> {
        let mut state = self.state();
        let own = |other: &&Device| other.human == device.human && other.name != device.name;
        let room = state.devices.values().filter(own).count() < MOST_DEVICES;
        if room {
            state.devices.insert(device.name, device);
        }
        Ok(room)
    }

    async fn devices(&self, humans: Vec<HumanId>) -> Result<Vec<Device>> {
        let state = self.state();
        let theirs = state.devices.values().filter(|device| humans.contains(&device.human));
        let mut devices: Vec<Device> = theirs.cloned().collect();
        devices.sort_by_key(|device| (device.made_at, device.name));
        Ok(devices)
    }

    async fn device(&self, name: Digest) -> Result<Option<Device>> {
        Ok(self.state().devices.get(&name).cloned())
    }

    async fn forget_device(&self, name: Digest) -> Result<bool> {
        let mut state = self.state();
        state.told.retain(|(_, device)| *device != name);
        Ok(state.devices.remove(&name).is_some())
    }

    async fn note_told(&self, ask: AskId, device: Digest) -> Result<bool> {
        Ok(self.state().told.insert((ask, device)))
    }

    async fn told(&self, asks: Vec<AskId>) -> Result<Vec<(AskId, Digest)>> {
        let state = self.state();
        Ok(state.told.iter().filter(|(ask, _)| asks.contains(ask)).copied().collect())
    }

    async fn forget_told(&self, ask: AskId, device: Digest) -> Result<()> {
        self.state().told.remove(&(ask, device));
        Ok(())
    }
}
