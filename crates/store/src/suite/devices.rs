//! People's devices, and the asks they were notified of.

use kernel::audit::Digest;
use kernel::testing::{human, new_ask};
use kernel::{HumanId, KeyId};

use super::stage::Stage;
use kernel::quota::MOST_DEVICES;

use crate::Device;

fn name(n: u8) -> Digest {
    Digest([n; 32])
}

fn device(stage: &Stage, n: u8, whose: &str) -> Device {
    let made_at = stage.now().plus_seconds(n.into());
    let key = Some(KeyId::new(stage.draw()));
    Device { name: name(n), human: human(whose), key, made_at, closed: vec![n, 0, 0xff] }
}

async fn keep(stage: &Stage, device: &Device) -> bool {
    stage.store.put_device(device.clone()).await.unwrap()
}

async fn of(stage: &Stage, names: &[&str]) -> Vec<Device> {
    let humans: Vec<HumanId> = names.iter().copied().map(human).collect();
    stage.store.devices(humans).await.unwrap()
}

/// A browser that another person takes over no longer notifies the first one; nothing is in
/// the audit log.
pub async fn a_device_tells_one_person(stage: &Stage) {
    let before = stage.store.last_position().await.unwrap();
    let (two, one) = (device(stage, 2, "olga"), device(stage, 1, "olga"));
    let other = Device { key: None, ..device(stage, 3, "mark") };
    for device in [&two, &one, &other] {
        assert!(keep(stage, device).await);
    }
    assert_eq!(of(stage, &["olga"]).await, [one.clone(), two.clone()]);
    assert_eq!(of(stage, &["mark", "olga", "nina"]).await, [one.clone(), two.clone(), other]);
    assert_eq!(of(stage, &[]).await, []);
    assert_eq!(stage.store.device(name(2)).await.unwrap(), Some(two));
    assert_eq!(stage.store.device(name(9)).await.unwrap(), None);
    let handed = Device { name: name(2), ..device(stage, 4, "nina") };
    assert!(keep(stage, &handed).await);
    assert_eq!(of(stage, &["olga"]).await, [one]);
    assert_eq!(of(stage, &["nina"]).await, [handed]);
    assert_eq!(stage.store.last_position().await.unwrap(), before);
}

pub async fn so_many_devices_and_no_more(stage: &Stage) {
    let most = u8::try_from(MOST_DEVICES).unwrap();
    for n in 0..most {
        assert!(keep(stage, &device(stage, n, "olga")).await);
    }
    assert!(!keep(stage, &device(stage, most, "olga")).await);
    assert_eq!(stage.store.device(name(most)).await.unwrap(), None);
    assert!(keep(stage, &device(stage, 0, "olga")).await, "it is there");
    assert!(keep(stage, &device(stage, most, "mark")).await, "of each");
    assert!(!keep(stage, &device(stage, most, "olga")).await, "nor from somebody else");
    assert_eq!(of(stage, &["mark"]).await.len(), 1);
    assert_eq!(of(stage, &["olga"]).await.len(), MOST_DEVICES);
}

pub async fn a_forgotten_device_is_gone_with_what_it_was_told(stage: &Stage) {
    let ask = stage.ask(new_ask()).await;
    for n in [1, 2] {
        assert!(keep(stage, &device(stage, n, "olga")).await);
        stage.store.record_notified(ask, name(n)).await.unwrap();
    }
    assert!(stage.store.forget_device(name(1)).await.unwrap());
    assert!(!stage.store.forget_device(name(1)).await.unwrap());
    assert_eq!(of(stage, &["olga"]).await.len(), 1);
    assert_eq!(stage.store.notified_devices(vec![ask]).await.unwrap(), [(ask, name(2))]);
}

pub async fn who_was_told_is_known_until_it_is_over(stage: &Stage) {
    let (ask, other) = (stage.ask(new_ask()).await, stage.ask(new_ask()).await);
    let store = &stage.store;
    for (of, n, new) in [(ask, 2, true), (ask, 1, true), (ask, 2, false), (other, 3, true)] {
        assert_eq!(store.record_notified(of, name(n)).await.unwrap(), new);
    }
    assert_eq!(store.notified_devices(vec![ask]).await.unwrap(), [(ask, name(1)), (ask, name(2))]);
    store.forget_notified(ask, name(1)).await.unwrap();
    let left = store.notified_devices(vec![ask, other]).await.unwrap();
    assert_eq!(left, [(ask, name(2)), (other, name(3))]);
    assert_eq!(store.notified_devices(Vec::new()).await.unwrap(), []);
}
