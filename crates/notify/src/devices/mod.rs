//! The devices of people that get push notifications. A device is kept while the session that added
//! it is valid.
//!
//! | module | contents |
//! |---|---|
//! | [`signed_out`] | removes devices as soon as their person is signed out or deactivated |

pub mod signed_out;

use std::sync::Arc;

use channels::push::{InvalidSubscription, PushMessage, PushSubscription, WebPush};
use channels::{Channel, DeliveryError, OutboundMessage};
use gateway::Gateway;
use gateway::secrets::ServerSecrets;
use gateway::sessions::Sessions;
use gateway::vault::cipher;
use kernel::ask::Priority;
use kernel::audit::Digest;
use kernel::directory::CredentialKind;
use kernel::quota::MOST_DEVICES;
use kernel::{HumanId, KeyId};
use store::{Device, StoreError};
use views::push_notification::PushNotification;

/// The result of adding a device.
pub enum AddDeviceResult {
    /// It gets notifications from now on.
    Kept(Device),
    /// The subscription is invalid.
    Wrong(InvalidSubscription),
    /// The person has as many devices as are allowed.
    Full,
}

/// The error message for [`AddDeviceResult::Full`].
pub const TOO_MANY_DEVICES: &str = "you have ten devices already; remove one first";
const _: () = assert!(MOST_DEVICES == 10);

/// Knows the devices of people, and sends to them.
#[derive(Clone)]
pub struct DeviceRegistry {
    pub(crate) gateway: Gateway,
    pub(crate) secrets: Arc<ServerSecrets>,
    pub(crate) sessions: Sessions,
    pub(crate) push: Option<Arc<WebPush>>,
}

impl DeviceRegistry {
    /// Adds a device of a person who signed in with this key. Devices that are no longer in use
    /// make room.
    pub async fn add(
        &self,
        push: &WebPush,
        human: &HumanId,
        key: Option<KeyId>,
        subscription: PushSubscription,
    ) -> Result<AddDeviceResult, StoreError> {
        let subscription = match subscription.checked(push) {
            Ok(subscription) => subscription,
            Err(wrong) => return Ok(AddDeviceResult::Wrong(wrong)),
        };
        self.devices_of(human).await?;
        let name = subscription.name();
        let plain = serde_json::to_vec(&subscription).unwrap_or_default();
        // Only what is too long for the cipher is not encrypted, and nothing here is.
        let closed =
            cipher::encrypt(&self.secrets.device_key(), &name.0, &plain).unwrap_or_default();
        let (human, made_at) = (human.clone(), self.gateway.now());
        let device = Device { name, human, key, made_at, closed };
        let kept = self.gateway.store().put_device(device.clone()).await?;
        Ok(if kept { AddDeviceResult::Kept(device) } else { AddDeviceResult::Full })
    }

    /// The devices of a person, oldest first. Devices that are no longer in use are removed.
    pub async fn devices_of(
        &self,
        human: &HumanId,
    ) -> Result<Vec<(Device, PushSubscription)>, StoreError> {
        let mut devices = Vec::new();
        for device in self.gateway.store().devices(vec![human.clone()]).await? {
            devices.extend(self.in_use(device).await?);
        }
        Ok(devices)
    }

    /// One device, if it is still in use.
    pub(crate) async fn find(
        &self,
        name: Digest,
    ) -> Result<Option<(Device, PushSubscription)>, StoreError> {
        match self.gateway.store().device(name).await? {
            Some(device) => self.in_use(device).await,
            None => Ok(None),
        }
    }

    /// The device, if its person is active and still signed in there; any other is removed.
    async fn in_use(
        &self,
        device: Device,
    ) -> Result<Option<(Device, PushSubscription)>, StoreError> {
        let plain = cipher::decrypt(&self.secrets.device_key(), &device.name.0, &device.closed);
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

    /// Sends a message to a device.
    pub(crate) async fn send(
        &self,
        push: &WebPush,
        subscription: &PushSubscription,
        message: &PushMessage,
    ) -> Result<(), DeliveryError> {
        let (to, message) = (subscription.address(), message.message());
        let key = subscription.name().to_string();
        push.deliver(OutboundMessage::new(&to, &message, &key, self.gateway.now())).await?;
        Ok(())
    }

    /// Sends a test notification.
    pub async fn test(
        &self,
        push: &WebPush,
        name: Digest,
    ) -> Result<Result<(), DeliveryError>, StoreError> {
        let Some((device, subscription)) = self.find(name).await? else {
            let why = "there is no such device any more".to_owned();
            return Ok(Err(DeliveryError::Gone { why }));
        };
        let message = PushMessage::new(&PushNotification::test(), 60, Priority::High);
        let sent = self.send(push, &subscription, &message).await;
        if let Err(DeliveryError::Gone { .. }) = sent {
            self.gateway.store().forget_device(device.name).await?;
        }
        Ok(sent)
    }

    async fn is_signed_in(&self, device: &Device) -> Result<bool, StoreError> {
        let (directory, now) = (self.gateway.directory(), self.gateway.now());
        if !directory.human(&device.human).is_some_and(|human| human.active) {
            return Ok(false);
        }
        let Some(id) = device.key else { return Ok(true) };
        let Some(key) = directory.key(id).filter(|key| key.is_live(now)) else { return Ok(false) };
        let session = matches!(key.kind, CredentialKind::Session { .. });
        Ok(!session || !self.sessions.is_idle(self.sessions.last_used(key).await?, now))
    }
}
