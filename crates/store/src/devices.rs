//! Where people's devices are told that something waits, and which were told of what.

use async_trait::async_trait;
use kernel::audit::Digest;
use kernel::{AskId, HumanId, KeyId, Time};

use crate::Result;

/// How many devices of one person are told.
pub const MOST_DEVICES: usize = 10;

/// A device that somebody wants to be told on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// What it is known by: a digest of its address.
    pub name: Digest,
    /// Whose it is.
    pub human: HumanId,
    /// The session or token it was added with; without one, a credential that is not ours.
    pub key: Option<KeyId>,
    /// Since when.
    pub made_at: Time,
    /// How to reach it. What is kept is opaque: it comes encrypted.
    pub closed: Vec<u8>,
}

/// Nothing of this is an event: it is nobody else's business, and changes nothing for them.
#[async_trait]
pub trait Devices {
    /// Keeps a device in place of what was kept under its name before, whoever's that was: one device
    /// tells one person. `false`, and nothing is kept, when they have [`MOST_DEVICES`] others.
    async fn put_device(&self, device: Device) -> Result<bool>;

    /// The devices of these people, oldest first.
    async fn devices(&self, humans: Vec<HumanId>) -> Result<Vec<Device>>;

    /// One device.
    async fn device(&self, name: Digest) -> Result<Option<Device>>;

    /// Forgets a device, and what it was told; whether it was there.
    async fn forget_device(&self, name: Digest) -> Result<bool>;

    /// Notes that a device is told of an ask; whether that was not noted before.
    async fn note_told(&self, ask: AskId, device: Digest) -> Result<bool>;

    /// Which devices were told of these asks.
    async fn told(&self, asks: Vec<AskId>) -> Result<Vec<(AskId, Digest)>>;

    /// Forgets that a device was told of an ask.
    async fn forget_told(&self, ask: AskId, device: Digest) -> Result<()>;
}
