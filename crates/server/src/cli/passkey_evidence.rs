//! Checks passkey evidence for `countersign verify`: the signature over the answer, and the
//! enrolment of the passkey in the audit log.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use dialects::proof::inclusion::Inclusion;
use dialects::proof::passkey::enrolled;
use dialects::proof::{Jwks, ReceiptClaims, verify_enrolment, verify_evidence};
use gateway::audit::check_export;
use kernel::passkey_evidence::PasskeyEvidence;
use kernel::{Assurance, Time};
use serde::Deserialize;
use serde_json::Value;

use super::trust::file;

/// The evidence in a file: by itself, or as `countersign receipt --json` prints it.
pub(super) fn read(path: &Path) -> anyhow::Result<PasskeyEvidence> {
    let unreadable = || format!("{} holds no passkey evidence", path.display());
    let value: Value = serde_json::from_str(&file(path)?).with_context(unreadable)?;
    let evidence = value.get("evidence").unwrap_or(&value);
    serde_json::from_value(evidence.clone()).with_context(unreadable)
}

/// What the evidence proves, or why it proves nothing.
pub(super) fn check(
    evidence: &PasskeyEvidence,
    claims: &ReceiptClaims,
    origin: Option<&str>,
) -> Result<String, String> {
    match verify_evidence(evidence, claims, origin) {
        Ok(()) => Ok(format!(
            "The passkey {} of {} signed this very answer; its signature fits.",
            evidence.key, evidence.statement.human
        )),
        Err(error) => Err(format!("the passkey evidence does not hold: {error}")),
    }
}

/// The note for missing evidence; `None` if none is needed.
pub(super) fn missing(claims: &ReceiptClaims) -> Option<String> {
    let passkey = claims.assurance == Some(Assurance::Passkey) && !claims.evidence_erased;
    passkey.then(|| {
        "The signature of the passkey was not checked, so this rests on the issuer's word: give \
         --evidence."
            .to_owned()
    })
}

/// A record of an export, with only the fields needed here.
#[derive(Deserialize)]
struct Line {
    record: Option<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    subject: String,
    seq: u64,
    at: Time,
    what: String,
    body: String,
}

/// Whether the signing passkey was enrolled before, by a proof of inclusion or a
/// complete audit export.
pub(super) async fn check_enrolment(
    path: &Path,
    evidence: &PasskeyEvidence,
    claims: &ReceiptClaims,
    keys: &Jwks,
) -> anyhow::Result<Result<String, String>> {
    let open = || File::open(path).with_context(|| format!("cannot read {}", path.display()));
    let mut first = String::new();
    BufReader::new(open()?).read_line(&mut first)?;
    let is_export = serde_json::from_str::<Value>(&first).is_ok_and(|v| v.get("header").is_some());
    if !is_export {
        let proof: Inclusion = serde_json::from_str(&file(path)?).with_context(|| {
            format!("{} is neither a proof of inclusion nor an audit export", path.display())
        })?;
        return Ok(match verify_enrolment(&proof, evidence, claims, keys) {
            Ok(block) => Ok(format!(
                "The passkey was enrolled before that: block {} of the audit log, sealed at {} by {}.",
                block.n, block.at, block.issuer
            )),
            Err(error) => Err(format!("the enrolment does not hold: {error}")),
        });
    }
    let size = open()?.metadata()?.len();
    let lines = Box::new(BufReader::new(open()?));
    let report = check_export(lines, size, Some(Arc::new(keys.clone())), None, &mut |_| {}).await?;
    if !report.holds() {
        bail!("the audit export does not hold; run `countersign audit verify --export` on it");
    }
    let mut found = None;
    for line in BufReader::new(open()?).lines() {
        let line: Line = serde_json::from_str(&line?)?;
        let Some(entry) = line.record.filter(|entry| entry.subject == evidence.key.to_string())
        else {
            continue;
        };
        let removed = matches!(entry.what.as_str(), "key_revoked" | "key_erased");
        if entry.seq == 1 {
            found = Some(enrolled(&entry.body, &entry.subject, 1, evidence, claims.ended_at));
        } else if removed && entry.at < claims.ended_at {
            return Ok(Err(format!("the passkey was removed at {}, before the answer", entry.at)));
        }
    }
    Ok(match found {
        Some(Ok(())) => Ok("The passkey was enrolled before that, as the audit export shows, and \
                            was not removed before the answer."
            .to_owned()),
        Some(Err(error)) => Err(format!("the enrolment does not hold: {error}")),
        None => Err("the audit export does not have the enrolment of the passkey".to_owned()),
    })
}
