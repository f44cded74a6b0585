//! The keys receipts are signed with.

use kernel::Time;

use super::{Block, Row, SettingsPage};
use crate::signing::Listed;
use crate::web::paths;
use crate::web::when::When;
use crate::web::words::Words;

/// The page: the newest first.
pub fn page(keys: &[Listed], server_url: &str, now: Time) -> SettingsPage {
    let when = |at: Time| When::new(at, now).words;
    let row = |key: &Listed| {
        let (mark, state) = match (&key.revoked, key.retired_at) {
            (Some(revoked), _) => (
                "revoked",
                format!(
                    "called back {}: {} · nothing it signed counts",
                    when(revoked.at),
                    revoked.reason
                ),
            ),
            (None, Some(at)) => ("retired", format!("signed until {} · still trusted", when(at))),
            (None, None) => ("signs now", "current".to_owned()),
        };
        Row {
            title: Words::of(&key.kid),
            href: None,
            mark: Some(mark),
            facts: Words::of(&format!("made {} · {state}", when(key.created_at))),
            act: None,
        }
    };
    let verify = format!(
        "curl -s {server_url}/.well-known/jwks.json > jwks.json\n\
         countersign receipt ask_\u{2026} --out receipt.jws\n\
         countersign verify receipt.jws --jwks jwks.json"
    );
    let code =
        |label: &str, text: &str| Block::Code { label: label.to_owned(), text: text.to_owned() };
    SettingsPage {
        at: paths::SIGNING,
        title: "Signing keys".to_owned(),
        lead: "Every receipt is signed with one of these. The name of a key is the fingerprint of its public part."
            .to_owned(),
        blocks: vec![
            Block::Rows(keys.iter().rev().map(row).collect()),
            code("Check a receipt, with or without this server", &verify),
            code(
                "Make a new key, or call one back, where the server runs",
                "countersign signing rotate\ncountersign signing revoke KEY --reason TEXT",
            ),
            Block::Text(
                "Keys are changed there and not here: whoever has taken over a browser must not be able to."
                    .to_owned(),
            ),
        ],
        ..SettingsPage::default()
    }
}
