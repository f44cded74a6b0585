//! On which devices somebody is told that something waits.

use kernel::{KeyId, Time};
use store::{Device, MOST_DEVICES};

use super::{Act, Block, FormView, Row, SettingsPage};
use crate::push::devices::Address;
use crate::web::when::When;
use crate::web::words::Words;
use crate::web::{assets, paths};

/// The page. `key` is what browsers must know to let us in; without one nobody is told anything.
pub fn page(
    devices: &[(Device, Address)],
    here: KeyId,
    key: Option<&str>,
    now: Time,
) -> SettingsPage {
    let mut blocks = Vec::new();
    let this = devices.iter().any(|(device, _)| device.key == Some(here));
    match key {
        None => blocks.push(Block::Text(
            "This server tells no devices: whoever runs it has turned that off.".to_owned(),
        )),
        Some(_) if !this && devices.len() >= MOST_DEVICES => {
            let full =
                format!("You have {MOST_DEVICES} devices already. Remove one to add this one.");
            blocks.push(Block::Text(full));
        }
        Some(key) => blocks.push(Block::Enrol { key: key.to_owned(), again: this }),
    }
    let row = |(device, address): &(Device, Address)| {
        let added = When::new(device.made_at, now);
        let title = if address.label.trim().is_empty() { "A device" } else { &address.label };
        Row {
            title: Words::of(title),
            href: None,
            mark: (device.key == Some(here)).then_some("this browser"),
            facts: Words::of(&format!(
                "Told through {} · added {}",
                address.service(),
                added.words
            )),
            act: Some(Act::Post {
                action: paths::DEVICES.to_owned(),
                sends: ("remove", device.name.to_string()),
                label: "Tell it no more",
            }),
        }
    };
    if !devices.is_empty() {
        blocks.push(Block::Heading("Devices that are told".to_owned()));
        blocks.push(Block::Rows(devices.iter().map(row).collect()));
        let mut test =
            FormView::new(paths::DEVICES, Vec::new(), "Send a test notice to all of them");
        test.hidden.push(("test", "1".to_owned()));
        for button in &mut test.buttons {
            button.tone = "plain";
        }
        blocks.push(Block::Form(test));
    }
    blocks.push(Block::Text(
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
