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
        let created = when(key.created_at);
        let (mark, facts) = match &key.state {
            SigningKeyStatus::Revoked { at, reason } => (
                t!("settings-signing-revoked"),
                t!(
                    "settings-signing-revoked-facts",
                    created = created,
                    at = when(*at),
                    reason = reason
                ),
            ),
            SigningKeyStatus::Destroyed { at, by } => (
                t!("settings-signing-destroyed"),
                t!(
                    "settings-signing-destroyed-facts",
                    created = created,
                    at = when(*at),
                    by = by.as_str()
                ),
            ),
            SigningKeyStatus::Retired { at } => (
                t!("settings-signing-retired"),
                t!("settings-signing-retired-facts", created = created, at = when(*at)),
            ),
            SigningKeyStatus::Current => (
                t!("settings-signing-current"),
                t!("settings-signing-current-facts", created = created),
            ),
        };
        SettingsRow {
            title: VisibleText::of(&key.kid),
            href: None,
            mark: Some(mark),
            facts: VisibleText::of(&facts),
            act: None,
        }
    };
    let verify = format!(
        "curl -s {server_url}/.well-known/jwks.json > jwks.json\n\
         countersign receipt ask_\u{2026} --out receipt.jws\n\
         countersign verify receipt.jws --jwks jwks.json"
    );
    let code = |label: String, text: &str| SettingsBlock::Code { label, text: text.to_owned() };
    SettingsPage {
        at: paths::SIGNING,
        title: t!("settings-signing"),
        lead: t!("settings-signing-lead"),
        blocks: vec![
            SettingsBlock::Rows(keys.iter().rev().map(row).collect()),
            code(t!("settings-signing-verify"), &verify),
            code(
                t!("settings-signing-rotate"),
                "countersign signing rotate\ncountersign signing revoke KEY --reason TEXT",
            ),
            code(t!("settings-signing-destroy"), "countersign signing destroy KEY"),
            SettingsBlock::Text(t!("settings-signing-note")),
        ],
        ..SettingsPage::default()
    }
}
