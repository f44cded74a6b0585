//! The keys that sign receipts.

use kernel::{HumanId, Time};

use super::{SettingsBlock, SettingsPage, SettingsRow};
use crate::components::relative_time::RelativeTime;
use crate::components::wording::VisibleText;
use crate::site::paths;

/// A key that signs receipts, without its private key.
#[derive(Debug, Clone)]
pub struct SigningKeyRow {
    pub kid: String,
    /// When it was created.
    pub created_at: Time,
    /// Whether it signs, and if not, why.
    pub state: SigningKeyStatus,
}

/// The state of a signing key.
#[derive(Debug, Clone)]
pub enum SigningKeyStatus {
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
pub fn page(keys: &[SigningKeyRow], server_url: &str, now: Time) -> SettingsPage {
    let when = |at: Time| RelativeTime::new(at, now).words;
    let row = |key: &SigningKeyRow| {
        let (mark, state) = match &key.state {
            SigningKeyStatus::Revoked { at, reason } => (
                "revoked",
                format!("called back {}: {reason} · nothing it signed counts", when(*at)),
            ),
            SigningKeyStatus::Destroyed { at, by } => (
                "destroyed",
                format!("private key destroyed {} by {by} · still trusted", when(*at)),
            ),
            SigningKeyStatus::Retired { at } => {
                ("retired", format!("signed until {} · still trusted", when(*at)))
            }
            SigningKeyStatus::Current => ("signs now", "current".to_owned()),
        };
        SettingsRow {
            title: VisibleText::of(&key.kid),
            href: None,
            mark: Some(mark),
            facts: VisibleText::of(&format!("made {} · {state}", when(key.created_at))),
            act: None,
        }
    };
    let verify = format!(
        "curl -s {server_url}/.well-known/jwks.json > jwks.json\n\
         countersign receipt ask_\u{2026} --out receipt.jws\n\
         countersign verify receipt.jws --jwks jwks.json"
    );
    let code = |label: &str, text: &str| SettingsBlock::Code {
        label: label.to_owned(),
        text: text.to_owned(),
    };
    SettingsPage {
        at: paths::SIGNING,
        title: "Signing keys".to_owned(),
        lead: "Every receipt is signed with one of these. The name of a key is the fingerprint of its public part."
            .to_owned(),
        blocks: vec![
            SettingsBlock::Rows(keys.iter().rev().map(row).collect()),
            code("Check a receipt, with or without this server", &verify),
            code(
                "Make a new key, or call one back, where the server runs",
                "countersign signing rotate\ncountersign signing revoke KEY --reason TEXT",
            ),
            code(
                "Destroy the private key of a retired one; its receipts stay as they are",
                "countersign signing destroy KEY",
            ),
            SettingsBlock::Text(
                "Keys are changed there and not here: whoever has taken over a browser must not be able to."
                    .to_owned(),
            ),
        ],
        ..SettingsPage::default()
    }
}
