//! People's devices: where each is reached, and as long as what they were added with lets them in.

use ::channels::push::{InvalidSubscription, PushSubscription, WebPush};
use gateway::vault::cipher;
use kernel::audit::Digest;
use kernel::directory::Holder;
use kernel::quota::MOST_DEVICES;
use kernel::{HumanId, KeyId};
use store::{Device, StoreError};

use crate::http::App;

/// What came of adding one.
pub enum Added {
    /// It is told from now on.
    Kept(Device),
    /// It cannot be reached.
    Wrong(InvalidSubscription),
    /// They have enough.
    Full,
}

/// What is said to whoever has enough.
pub const FULL: &str = "you have ten devices already; remove one first";
const _: () = assert!(MOST_DEVICES == 10);

impl App {
    /// Adds a device of somebody who came in with this key. Those that tell nobody any more make room.
    pub(crate) async fn add_device(
        &self,
        push: &WebPush,
        human: &HumanId,
        key: Option<KeyId>,
        subscription: PushSubscription,
    ) -> Result<Added, StoreError> {
        let subscription = match subscription.checked(push) {
            Ok(subscription) => subscription,
            Err(wrong) => return Ok(Added::Wrong(wrong)),
        };
        self.devices_of(human).await?;
        let name = subscription.name();
        let plain = serde_json::to_vec(&subscription).unwrap_or_default();
        // Only what is too long for the cipher is not encrypted, and nothing here is.
        let closed = cipher::close(&self.secrets.device(), &name.0, &plain).unwrap_or_default();
        let (human, made_at) = (human.clone(), self.gateway.now());
        let device = Device { name, human, key, made_at, closed };
        let kept = self.gateway.store().put_device(device.clone()).await?;
        Ok(if kept { Added::Kept(device) } else { Added::Full })
    }

    /// Somebody's devices, oldest first. Those that are told nothing any more are forgotten.
    pub(crate) async fn devices_of(
        &self,
        human: &HumanId,
    ) -> Result<Vec<(Device, PushSubscription)>, StoreError> {
        let mut devices = Vec::new();
        for device in self.gateway.store().devices(vec![human.clone()]).await? {
            devices.extend(self.in_use(device).await?);
        }
        Ok(devices)
    }

    /// One device, if it is still to be told anything.
    pub(crate) async fn device(
        &self,
        name: Digest,
    ) -> Result<Option<(Device, PushSubscription)>, StoreError> {
        match self.gateway.store().device(name).await? {
            Some(device) => self.in_use(device).await,
            None => Ok(None),
        }
    }

    /// A device whose person can be asked, and which is still signed in; any other is forgotten.
    async fn in_use(
        &self,
        device: Device,
    ) -> Result<Option<(Device, PushSubscription)>, StoreError> {
        let plain = cipher::open(&self.secrets.device(), &device.name.0, &device.closed);
        let subscription =
            plain.and_then(|plain| serde_json::from_slice::<PushSubscription>(&plain).ok());
        match subscription {
            Some(subscription) if self.is_signed_in(&device).await? => {
                Ok(Some((device, subscription)))
            }
            Some(_) | None => {
                self.gateway.store().forget_device(device.name).await?;
                Ok(None)
            }
        }
    }

    async fn is_signed_in(&self, device: &Device) -> Result<bool, StoreError> {
        let (directory, now) = (self.gateway.directory(), self.gateway.now());
        if !directory.human(&device.human).is_some_and(|human| human.active) {
            return Ok(false);
        }
        let Some(id) = device.key else { return Ok(true) };
        let Some(key) = directory.key(id).filter(|key| key.is_live(now)) else { return Ok(false) };
        let session = matches!(key.holder, Holder::Session { .. });
        Ok(!session || !self.is_idle(self.last_used(key).await?, now))
    }
}
