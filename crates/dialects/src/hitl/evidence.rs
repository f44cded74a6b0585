//! `verification_evidence` of an answer: proofs that a person is present, for the provider that
//! verifies them. Section 7.6 of 0.8, HITL-224.

use std::fmt;

use kernel::verification::MOST;
use serde_json::{Map, Value};

use super::errors::HitlWireError;
use super::parse::Members;
use super::policy::{format, proof_type};

/// The member of an answer that holds the proofs.
pub(super) const FIELD: &str = "verification_evidence";

/// A proof as sent. The server passes it only to its provider and never prints it.
#[derive(Clone, PartialEq)]
pub struct SubmittedEvidence {
    /// The claimed kind of proof.
    pub proof_type: String,
    pub provider: String,
    pub format: String,
    /// The proof: a text or an object.
    pub presentation: Value,
    /// The case and action that the proof claims to be made for. It is unsigned, so it can only
    /// contradict the proof.
    pub binding: Map<String, Value>,
}

impl fmt::Debug for SubmittedEvidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { proof_type, provider, format, .. } = self;
        write!(f, "Evidence({proof_type} by {provider} as {format})")
    }
}

pub(super) fn evidence(body: Members<'_>) -> Result<Vec<SubmittedEvidence>, HitlWireError> {
    let bad = || body.bad(FIELD, &format!("a list of at most {MOST} proofs"));
    let items = body.list(FIELD)?.unwrap_or_default();
    if items.len() > MOST {
        return Err(bad());
    }
    let one = |(at, item): (usize, &Value)| {
        let path = format!("{FIELD}[{at}]");
        let object = item.as_object().ok_or_else(|| HitlWireError::field(&path, "an object"))?;
        read(Members::new(object, &path))
    };
    items.iter().enumerate().map(one).collect()
}

fn read(members: Members<'_>) -> Result<SubmittedEvidence, HitlWireError> {
    members.only(&["proof_type", "provider", "format", "presentation", "binding"])?;
    let presentation = members.present("presentation");
    let presentation = presentation.filter(|value| value.is_string() || value.is_object());
    let path = members.path("binding");
    let binding = members.object("binding")?.ok_or_else(|| members.bad("binding", "an object"))?;
    let bound = Members::new(binding, &path);
    for key in ["case_id", "action", "challenge"] {
        bound.text(key)?;
    }
    Ok(SubmittedEvidence {
        proof_type: proof_type(members)?,
        provider: members.required("provider")?.to_owned(),
        format: format(members)?,
        presentation: presentation
            .cloned()
            .ok_or_else(|| members.bad("presentation", "a string or an object"))?,
        binding: binding.clone(),
    })
}
