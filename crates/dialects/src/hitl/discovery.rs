//! `GET /.well-known/hitl.json`. Appendix D; HITL-190, HITL-191.

use serde_json::{Value, json};

use super::types::CaseType;
use super::{HitlVersion, POLL_EVERY, timeout};

/// The polling limit per case and minute.
pub const POLLS_PER_MINUTE: u32 = 60;

/// The description of this server.
const DESCRIPTION: &str = "The human gateway for AI agents: an agent asks, a person answers, a signed receipt comes back.";

/// The note that some projects have their own retention.
const RETENTION_NOTE: &str = "This is the default retention; a project can have its own.";

/// The retention of cases (HITL-152).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CaseRetention {
    /// After how many days the server erases the text of a case, unless the project sets its own
    /// retention; `None` if never.
    pub days: Option<u64>,
    /// Whether any project sets its own retention. This endpoint is public, so it does not name the
    /// project.
    pub unless_told: bool,
}

/// The server's capabilities in the format of the given version. `base` is the server's URL;
/// `proofs` describes the providers of proofs it can verify. The schema has no field for these
/// providers or for projects with their own retention, so the description mentions both.
pub fn discovery(
    base: &str,
    version: HitlVersion,
    kept: CaseRetention,
    proofs: Option<&str>,
) -> Value {
    let base = base.trim_end_matches('/');
    let types: Vec<String> =
        CaseType::STANDARD.iter().map(|standard| standard.as_str().to_owned()).collect();
    let proofs = proofs.filter(|_| version == HitlVersion::V08);
    let proofs = proofs.map(|proofs| format!("Proofs of a person it verifies: {proofs}."));
    let otherwise = kept.unless_told.then(|| RETENTION_NOTE.to_owned());
    let sentences = [Some(DESCRIPTION.to_owned()), proofs, otherwise];
    let description = sentences.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let mut document = json!({ "hitl_protocol": {
        "spec_version": version.as_str(),
        "service": {
            "name": "Countersign",
            "description": description,
            "url": base,
        },
        "capabilities": {
            "review_types": types,
            "transports": ["polling", "sse", "callback"],
            "max_timeout": timeout::LONGEST_WORDS,
            "default_timeout": timeout::DEFAULT,
            "supports_reminders": true,
            "supports_multi_round": true,
            "supports_signatures": true,
            "supports_inline_submit": true,
            "supports_surface": false,
        },
        "endpoints": {
            "reviews_base": format!("{base}/hitl/v1/reviews"),
            "review_page_base": format!("{base}/review"),
            "events_base": format!("{base}/hitl/v1/reviews"),
            "well_known": format!("{base}/.well-known/hitl.json"),
        },
        "authentication": {
            "type": "bearer",
            "documentation": format!("{base}/skill.md"),
        },
        "rate_limits": {
            "poll_min_interval_seconds": 1,
            "poll_recommended_interval_seconds": POLL_EVERY,
            "max_requests_per_minute": POLLS_PER_MINUTE,
        },
        "examples": {
            "documentation": format!("{base}/skill.md"),
            "openapi": format!("{base}/openapi.json"),
        },
    } });
    if let (Some(days), Some(Value::Object(body))) = (kept.days, document.get_mut("hitl_protocol"))
    {
        let policies = json!({ "data_retention_days": days, "expired_case_retention_days": days });
        body.insert("policies".to_owned(), policies);
    }
    document
}
