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
        None => blocks.push(SettingsBlock::Text(t!("settings-devices-disabled"))),
        Some(_) if !this && devices.len() >= MOST_DEVICES => {
            blocks.push(SettingsBlock::Text(t!("settings-devices-full", count = MOST_DEVICES)));
        }
        Some(key) => blocks.push(SettingsBlock::Enrol { key: key.to_owned(), again: this }),
    }
    let row = |device: &DeviceRow| {
        let added = RelativeTime::new(device.added_at, now);
        let title = if device.label.trim().is_empty() {
            t!("settings-devices-unnamed")
        } else {
            device.label.clone()
        };
        SettingsRow {
            title: VisibleText::of(&title),
            href: None,
            mark: device.this.then(|| t!("settings-this-browser")),
            facts: VisibleText::of(&t!(
                "settings-devices-facts",
                service = device.service,
                added = added.words
            )),
            act: Some(RowAction::Post {
                action: paths::DEVICES.to_owned(),
                sends: ("remove", device.name.clone()),
                label: t!("settings-remove"),
            }),
        }
    };
    if !devices.is_empty() {
        blocks.push(SettingsBlock::Heading(t!("settings-devices-heading")));
        blocks.push(SettingsBlock::Rows(devices.iter().map(row).collect()));
        let mut test = FormView::new(paths::DEVICES, Vec::new(), t!("settings-devices-test"));
        test.hidden.push(("test", "1".to_owned()));
        for button in &mut test.buttons {
            button.tone = "plain";
        }
        blocks.push(SettingsBlock::Form(test));
    }
    blocks.push(SettingsBlock::Text(t!("settings-devices-note")));
    SettingsPage {
        at: paths::DEVICES,
        title: t!("settings-devices"),
        lead: t!("settings-devices-lead"),
        blocks,
        script: Some(assets::push_js()),
        ..SettingsPage::default()
    }
}
