//! People's devices: where each is reached, and as long as what they were added with lets them in.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use kernel::audit::Digest;
use kernel::directory::Holder;
use kernel::{HumanId, KeyId};
use p256::PublicKey;
use serde::{Deserialize, Serialize};
use store::{Device, MOST_DEVICES, StoreError};
use url::Url;

use super::Push;
use super::encrypt::{AUTH, POINT, Recipient};
use crate::http::App;
use crate::vault::cipher;

/// The longest address a push service may give out.
const LONGEST: usize = 2000;
/// The longest name of a device.
const LONGEST_LABEL: usize = 100;

/// How a device is reached. All of it is secret: whoever has it can write to the device.
#[derive(Clone, Serialize, Deserialize)]
pub struct Address {
    /// Where its push service takes what is for it.
    pub endpoint: String,
    /// Its public key.
    pub p256dh: String,
    /// Its secret.
    pub auth: String,
    /// What to call it.
    pub label: String,
}

/// What is wrong with a device that somebody wants to add.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wrong {
    /// The field.
    pub field: &'static str,
    /// What would have been accepted.
    pub expected: &'static str,
}

/// What came of adding one.
pub enum Added {
    /// It is told from now on.
    Kept(Device),
    /// It cannot be reached.
    Wrong(Wrong),
    /// They have enough.
    Full,
}

/// What is said to whoever has enough.
pub const FULL: &str = "you have ten devices already; remove one first";
const _: () = assert!(MOST_DEVICES == 10);

impl Address {
    /// The address, if a browser can have given it.
    fn checked(self, push: &Push) -> Result<Self, Wrong> {
        let wrong = |field, expected| Err(Wrong { field, expected });
        if self.endpoint.len() > LONGEST {
            return wrong("endpoint", "at most 2000 characters");
        }
        if let Err(expected) = push.address(&self.endpoint) {
            return wrong("endpoint", expected);
        }
        if decoded::<POINT>(&self.p256dh)
            .is_none_or(|point| PublicKey::from_sec1_bytes(&point).is_err())
        {
            return wrong("keys.p256dh", "a point of P-256, 65 bytes in Base64 for addresses");
        }
        if decoded::<AUTH>(&self.auth).is_none() {
            return wrong("keys.auth", "16 bytes in Base64 for addresses");
        }
        if self.label.contains('\0') || self.label.chars().count() > LONGEST_LABEL {
            return wrong("label", "at most 100 characters, without NUL");
        }
        Ok(self)
    }

    pub(super) fn recipient(&self) -> Option<Recipient> {
        let public = PublicKey::from_sec1_bytes(&decoded::<POINT>(&self.p256dh)?).ok()?;
        Some(Recipient { public, auth: decoded(&self.auth)? })
    }

    /// The push service, by its name.
    pub fn service(&self) -> String {
        let url = Url::parse(&self.endpoint).ok();
        url.and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
    }

    /// What the device is known by.
    fn name(&self) -> Digest {
        Digest::of(self.endpoint.as_bytes())
    }
}

fn decoded<const N: usize>(text: &str) -> Option<[u8; N]> {
    BASE64.decode(text.trim_end_matches('=')).ok()?.try_into().ok()
}

impl App {
    /// Adds a device of somebody who came in with this key. Those that tell nobody any more make room.
    pub(crate) async fn add_device(
        &self,
        push: &Push,
        human: &HumanId,
        key: Option<KeyId>,
        address: Address,
    ) -> Result<Added, StoreError> {
        let address = match address.checked(push) {
            Ok(address) => address,
            Err(wrong) => return Ok(Added::Wrong(wrong)),
        };
        self.devices_of(human).await?;
        let name = address.name();
        let plain = serde_json::to_vec(&address).unwrap_or_default();
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
    ) -> Result<Vec<(Device, Address)>, StoreError> {
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
    ) -> Result<Option<(Device, Address)>, StoreError> {
        match self.gateway.store().device(name).await? {
            Some(device) => self.in_use(device).await,
            None => Ok(None),
        }
    }

    /// A device whose person can be asked, and which is still signed in; any other is forgotten.
    async fn in_use(&self, device: Device) -> Result<Option<(Device, Address)>, StoreError> {
        let plain = cipher::open(&self.secrets.device(), &device.name.0, &device.closed);
        let address = plain.and_then(|plain| serde_json::from_slice::<Address>(&plain).ok());
        match address {
            Some(address) if self.is_signed_in(&device).await? => Ok(Some((device, address))),
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
