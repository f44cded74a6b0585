//! The devices on which a person gets push notifications.

use kernel::Time;
use kernel::quota::MOST_DEVICES;

use super::{FormView, RowAction, SettingsBlock, SettingsPage, SettingsRow};
use crate::components::relative_time::RelativeTime;
use crate::components::wording::VisibleText;
use crate::site::{assets, paths};

/// A device on which a person gets notifications.
#[derive(Debug, Clone)]
pub struct DeviceRow {
    /// Its id, which the form to remove it sends.
    pub name: String,
    /// The name of its browser.
    pub label: String,
    /// The host of the push service that delivers its notifications.
    pub service: String,
    /// When it was added.
    pub added_at: Time,
    /// Whether it is the browser that shows the page.
    pub this: bool,
}

/// The page. `key` is the server's VAPID key; without one, push notifications are disabled.
pub fn page(devices: &[DeviceRow], key: Option<&str>, now: Time) -> SettingsPage {
    let mut blocks = Vec::new();
    let this = devices.iter().any(|device| device.this);
    match key {
        None => blocks.push(SettingsBlock::Text(
            "This server tells no devices: whoever runs it has turned that off.".to_owned(),
        )),
        Some(_) if !this && devices.len() >= MOST_DEVICES => {
            let full =
                format!("You have {MOST_DEVICES} devices already. Remove one to add this one.");
            blocks.push(SettingsBlock::Text(full));
        }
        Some(key) => blocks.push(SettingsBlock::Enrol { key: key.to_owned(), again: this }),
    }
    let row = |device: &DeviceRow| {
        let added = RelativeTime::new(device.added_at, now);
        let title = if device.label.trim().is_empty() { "A device" } else { &device.label };
        SettingsRow {
            title: VisibleText::of(title),
            href: None,
            mark: device.this.then_some("this browser"),
            facts: VisibleText::of(&format!(
                "Told through {} · added {}",
                device.service, added.words
            )),
            act: Some(RowAction::Post {
                action: paths::DEVICES.to_owned(),
                sends: ("remove", device.name.clone()),
                label: "Tell it no more",
            }),
        }
    };
    if !devices.is_empty() {
        blocks.push(SettingsBlock::Heading("Devices that are told".to_owned()));
        blocks.push(SettingsBlock::Rows(devices.iter().map(row).collect()));
        let mut test =
            FormView::new(paths::DEVICES, Vec::new(), "Send a test notice to all of them");
        test.hidden.push(("test", "1".to_owned()));
        for button in &mut test.buttons {
            button.tone = "plain";
        }
        blocks.push(SettingsBlock::Form(test));
    }
    blocks.push(SettingsBlock::Text(
        "A notice shows who asks and what, on the lock screen too unless your device hides it. On its way \
         it is encrypted for your device. A device is told as long as it is signed in here, and not in your \
         quiet hours unless it is critical."
            .to_owned(),
    ));
    SettingsPage {
        at: paths::DEVICES,
        title: "My devices".to_owned(),
        lead: "Where you are told that a request waits, without looking.".to_owned(),
        blocks,
        script: Some(assets::push_js()),
        ..SettingsPage::default()
    }
}
