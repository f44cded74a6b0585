//! Devices that receive push notifications, and the asks each was notified of.

use async_trait::async_trait;
use kernel::audit::Digest;
use kernel::quota::MOST_DEVICES;
use kernel::{AskId, HumanId, KeyId, Time};
use serde::{Deserialize, Serialize};
use ulid::Ulid;

use super::{
    SideCondition, SideKind, SideRow, SideSelection, SideStore, damaged, key_part, read, row,
};
use crate::Result;
use crate::columns::state;

/// A device that receives push notifications.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// A digest of its push address.
    pub name: Digest,
    /// The person it notifies.
    pub human: HumanId,
    /// The session or token that added it; `None` if a credential from elsewhere did.
    pub key: Option<KeyId>,
    /// The time it was added.
    pub made_at: Time,
    /// The push subscription, opaque to the store: it is encrypted.
    pub closed: Vec<u8>,
}

/// A device as stored: bytes in hexadecimal, times in milliseconds.
#[derive(Serialize, Deserialize)]
struct StoredDevice {
    key: Option<String>,
    made_at: i64,
    closed: String,
}

/// Storage of devices. None of these writes is an event, because they concern only one person.
#[async_trait]
pub trait DeviceStore: SideStore {
    /// Stores a device, replacing the one under the same name even if it was another
    /// person's: a device notifies one person. Returns `false` and stores nothing if the
    /// person has [`MOST_DEVICES`] others.
    async fn put_device(&self, device: Device) -> Result<bool> {
        let stored = StoredDevice {
            key: device.key.map(|key| key_part(key.ulid())),
            made_at: device.made_at.millis(),
            closed: hex::encode(&device.closed),
        };
        let row = SideRow {
            kind: SideKind::Device,
            key: device.name.to_string(),
            ask: None,
            human: Some(device.human),
            version: 0,
            expires_at: None,
            value: state("device", &stored)?.into_bytes(),
        };
        self.put_side(row, SideCondition::FewerThan(MOST_DEVICES)).await
    }

    /// The devices of these people, oldest first.
    async fn devices(&self, humans: Vec<HumanId>) -> Result<Vec<Device>> {
        let found = self.side(SideKind::Device, SideSelection::Humans(humans)).await?;
        let mut devices: Vec<Device> = found.into_iter().map(device).collect::<Result<_>>()?;
        devices.sort_by_key(|device| (device.made_at, device.name));
        Ok(devices)
    }

    /// The device with this name.
    async fn device(&self, name: Digest) -> Result<Option<Device>> {
        row(self, SideKind::Device, name.to_string()).await?.map(device).transpose()
    }

    /// Deletes a device and its notification rows. Returns whether it existed.
    async fn forget_device(&self, name: Digest) -> Result<bool> {
        let notified = (SideKind::DeviceNotified, SideSelection::Prefix(format!("{name}/")));
        let device = (SideKind::Device, SideSelection::Key(name.to_string()));
        let deleted = self.delete_side(vec![notified, device]).await?;
        Ok(deleted.last() == Some(&1))
    }

    /// Records that a device is notified of an ask. Returns `false` if that was recorded before.
    async fn record_notified(&self, ask: AskId, device: Digest) -> Result<bool> {
        let row = SideRow {
            kind: SideKind::DeviceNotified,
            key: notified_key(ask, device),
            ask: Some(ask),
            human: None,
            version: 0,
            expires_at: None,
            value: Vec::new(),
        };
        self.put_side(row, SideCondition::Absent).await
    }

    /// The devices that were notified of these asks.
    async fn notified_devices(&self, asks: Vec<AskId>) -> Result<Vec<(AskId, Digest)>> {
        let found = self.side(SideKind::DeviceNotified, SideSelection::Asks(asks)).await?;
        let mut notified = found.iter().map(notified).collect::<Result<Vec<_>>>()?;
        notified.sort_unstable();
        Ok(notified)
    }

    /// Deletes the record that a device was notified of an ask.
    async fn forget_notified(&self, ask: AskId, device: Digest) -> Result<()> {
        let row = SideSelection::Key(notified_key(ask, device));
        self.delete_side(vec![(SideKind::DeviceNotified, row)]).await.map(drop)
    }
}

impl<S: SideStore + ?Sized> DeviceStore for S {}

fn notified_key(ask: AskId, device: Digest) -> String {
    format!("{device}/{}", key_part(ask.ulid()))
}

fn notified(row: &SideRow) -> Result<(AskId, Digest)> {
    let wrong = || damaged("note of a notified device", format!("key {:?}", row.key));
    let ask = row.ask.ok_or_else(wrong)?;
    let (device, _) = row.key.split_once('/').ok_or_else(wrong)?;
    Ok((ask, digest(device)?))
}

fn device(row: SideRow) -> Result<Device> {
    let stored: StoredDevice = read("device", &row.value)?;
    let key = stored.key.map(|key| bytes::<16>(&key)).transpose()?;
    Ok(Device {
        name: digest(&row.key)?,
        human: row.human.ok_or_else(|| damaged("device", "it has no owner"))?,
        key: key.map(|key| KeyId::new(Ulid::from_bytes(key))),
        made_at: Time::from_millis(stored.made_at),
        closed: hex::decode(&stored.closed).map_err(|error| damaged("device", error))?,
    })
}

fn digest(text: &str) -> Result<Digest> {
    bytes(text).map(Digest)
}

fn bytes<const N: usize>(text: &str) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    hex::decode_to_slice(text, &mut bytes).map_err(|error| damaged("device", error))?;
    Ok(bytes)
}
