//! Emails of the kinds that email clients and mail servers write, and what is heard of each.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use channels::InboundMessage;
use channels::email::ReadEmail;
use channels::inbound::InboundContent;

use crate::handlers::{address, reader};

fn folder() -> impl Iterator<Item = (String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/email/emails");
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|path| {
        let letter = fs::read_to_string(&path).unwrap();
        (path.file_stem().unwrap().to_string_lossy().into_owned(), letter)
    })
}

fn shown(inbound: &InboundMessage) -> String {
    let mut shown = format!("id: {}\nfrom: {}", inbound.id, inbound.from);
    if let Some(name) = &inbound.name {
        let _ = write!(shown, " ({name})");
    }
    if let Some(at) = inbound.at {
        let _ = write!(shown, "\nat: {at}");
    }
    let _ = write!(shown, "\nplace: {}", inbound.place);
    let _ = match &inbound.what {
        InboundContent::Wrote { text, .. } => write!(shown, "\nwrote:\n{text}"),
        what => write!(shown, "\n{what:?}"),
    };
    shown
}

#[test]
fn what_is_read_in_each() {
    let mut all = String::new();
    for (name, letter) in folder() {
        // As it lies in the folder, and as it comes over the wire.
        let read = reader().read(letter.as_bytes(), None);
        let wired = reader().read(letter.replace('\n', "\r\n").as_bytes(), None);
        assert_eq!(as_said(&read), as_said(&wired), "{name}");
        let said = match &read {
            ReadEmail::Inbound(inbound) => shown(inbound),
            ReadEmail::Ignored(why) => format!("ignored: {why}"),
        };
        assert!(!said.contains(&address(1)), "{name}: {said}");
        let _ = write!(all, "==== {name}\n{said}\n\n");
    }
    insta::assert_snapshot!(all);
}

/// Without what depends on how lines end: an email that has no id is known by its bytes.
fn as_said(read: &ReadEmail) -> ReadEmail {
    match read {
        ReadEmail::Inbound(inbound) => ReadEmail::Inbound(Box::new(InboundMessage {
            id: String::new(),
            ..(**inbound).clone()
        })),
        ReadEmail::Ignored(why) => ReadEmail::Ignored(*why),
    }
}

#[test]
fn every_letter_is_to_the_address_that_was_given() {
    for (name, letter) in folder() {
        assert!(letter.contains(&address(1)) || name == "k9", "{name}");
    }
}
