//! The keys that sign receipts.

use kernel::{HumanId, Time};

use super::{Block, Row, SettingsPage};
use crate::components::when::When;
use crate::components::words::Words;
use crate::site::paths;

/// A key that signs receipts, without its private key.
#[derive(Debug, Clone)]
pub struct SigningKeyView {
    pub kid: String,
    /// When it was created.
    pub created_at: Time,
    /// Whether it signs, and if not, why.
    pub state: SigningKeyState,
}

/// The state of a signing key.
#[derive(Debug, Clone)]
pub enum SigningKeyState {
    /// It signs new receipts.
    Current,
    /// Another key replaced it.
    Retired { at: Time },
    /// This administrator destroyed its private key.
    Destroyed { at: Time, by: HumanId },
    /// The operator revoked it, for this reason.
    Revoked { at: Time, reason: String },
}

/// The page, with the newest key first.
pub fn page(keys: &[SigningKeyView], server_url: &str, now: Time) -> SettingsPage {
    let when = |at: Time| When::new(at, now).words;
    let row = |key: &SigningKeyView| {
        let (mark, state) = match &key.state {
            SigningKeyState::Revoked { at, reason } => (
                "revoked",
                format!("called back {}: {reason} · nothing it signed counts", when(*at)),
            ),
            SigningKeyState::Destroyed { at, by } => (
                "destroyed",
                format!("private key destroyed {} by {by} · still trusted", when(*at)),
            ),
            SigningKeyState::Retired { at } => {
                ("retired", format!("signed until {} · still trusted", when(*at)))
            }
            SigningKeyState::Current => ("signs now", "current".to_owned()),
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
            code(
                "Destroy the private key of a retired one; its receipts stay as they are",
                "countersign signing destroy KEY",
            ),
            Block::Text(
                "Keys are changed there and not here: whoever has taken over a browser must not be able to."
                    .to_owned(),
            ),
        ],
        ..SettingsPage::default()
    }
}
