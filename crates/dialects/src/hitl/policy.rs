//! `verification_policy` of a case: turns the body into the kernel's [`VerificationPolicy`].
//! Section 7.6 of 0.8, HITL-220. Every object rejects unknown members, and every error names its
//! path.

use std::collections::BTreeSet;

use kernel::Time;
use kernel::spelling::suggestion;
use kernel::verification::{
    AllOf, Fallback, FallbackAction, MOST, PROOF_OF_HUMAN, ProofAssurance, ProofBinding,
    Requirement, Requirements, SubmitPath, VerificationMode, VerificationPolicy,
};
use serde_json::Value;

use super::errors::HitlWireError;
use super::parse::Members;

/// The member of the body that holds the policy.
pub(super) const FIELD: &str = "verification_policy";
/// The proof formats that the protocol names.
const FORMATS: [&str; 4] = ["provider_opaque", "jwt", "zkp", "attestation"];

type Read<T> = Result<T, HitlWireError>;

pub(super) fn policy(body: Members<'_>) -> Read<Option<VerificationPolicy>> {
    let Some(members) = body.object(FIELD)? else { return Ok(None) };
    let members = Members::new(members, FIELD);
    members.only(&["mode", "required_for", "requirements", "binding", "fallback"])?;
    let mode = match members.present("mode").map(Value::as_str) {
        Some(Some("optional")) => VerificationMode::Optional,
        Some(Some("required")) => VerificationMode::Required,
        Some(Some("step_up")) => VerificationMode::StepUp,
        _ => return Err(members.not_among("mode", &["optional", "required", "step_up"])),
    };
    Ok(Some(VerificationPolicy {
        mode,
        required_for: required_for(members)?,
        requirements: requirements(members)?,
        binding: binding(members)?,
        fallback: fallback(members)?,
    }))
}

/// The kind of proof under a key: one of the protocol, or a custom one that starts with `x-`.
pub(super) fn proof_type(members: Members<'_>) -> Read<String> {
    named(members, "proof_type", &[PROOF_OF_HUMAN])
}

/// The format of a proof under a key.
pub(super) fn format(members: Members<'_>) -> Read<String> {
    named(members, "format", &FORMATS)
}

fn named(members: Members<'_>, key: &str, known: &[&str]) -> Read<String> {
    let text = members.present(key).and_then(Value::as_str);
    text.filter(|text| is_one_of(text, known))
        .map(ToOwned::to_owned)
        .ok_or_else(|| members.bad(key, &named_or_custom(text, known)))
}

/// The names that the protocol has, and the one that was probably meant.
pub(super) fn named_or_custom(text: Option<&str>, known: &[&str]) -> String {
    let meant = suggestion(text.unwrap_or_default(), known.iter().copied());
    format!("{}, or a custom name that starts with x-{meant}", known.join(", "))
}

fn is_one_of(text: &str, known: &[&str]) -> bool {
    known.contains(&text) || text.strip_prefix("x-").is_some_and(|rest| !rest.is_empty())
}

fn required_for(members: Members<'_>) -> Read<BTreeSet<SubmitPath>> {
    let key = "required_for";
    let bad = || members.bad(key, "inline_submit, browser_submit or both, each at most once");
    let named = |value: &Value| match value.as_str() {
        Some("inline_submit") => Some(SubmitPath::InlineSubmit),
        Some("browser_submit") => Some(SubmitPath::BrowserSubmit),
        _ => None,
    };
    let list = members.present(key).and_then(Value::as_array).ok_or_else(bad)?;
    let doors: Option<BTreeSet<SubmitPath>> = list.iter().map(named).collect();
    doors.filter(|doors| !doors.is_empty() && doors.len() == list.len()).ok_or_else(bad)
}

fn requirements(members: Members<'_>) -> Read<Requirements> {
    let ways = each(members, "requirements", "any_of", |way| {
        way.only(&["all_of"])?;
        let all_of = list(way, "all_of", requirement)?;
        Ok(AllOf { all_of })
    })?;
    Ok(Requirements { any_of: ways })
}

/// The items of a list in an object that has no other member.
fn each<T>(
    members: Members<'_>,
    key: &str,
    inner: &str,
    read: impl Fn(Members<'_>) -> Read<T>,
) -> Read<Vec<T>> {
    let path = members.path(key);
    let object = members.object(key)?;
    let object = object.ok_or_else(|| members.bad(key, &format!("an object with `{inner}`")))?;
    let object = Members::new(object, &path);
    object.only(&[inner])?;
    list(object, inner, read)
}

/// A list of 1 to [`MOST`] objects.
fn list<T>(members: Members<'_>, key: &str, read: impl Fn(Members<'_>) -> Read<T>) -> Read<Vec<T>> {
    let bad = || members.bad(key, &format!("a list of 1 to {MOST} objects"));
    let items = members.list(key)?.filter(|items| (1..=MOST).contains(&items.len()));
    let one = |(at, item): (usize, &Value)| {
        let path = format!("{}[{at}]", members.path(key));
        let object = item.as_object().ok_or_else(|| HitlWireError::field(&path, "an object"))?;
        read(Members::new(object, &path))
    };
    items.ok_or_else(bad)?.iter().enumerate().map(one).collect()
}

fn requirement(members: Members<'_>) -> Read<Requirement> {
    members.only(&["proof_type", "provider", "min_assurance", "presentation_formats"])?;
    let provider = members.present("provider").map(|_| members.required("provider")).transpose()?;
    let min_assurance = match members.present("min_assurance").map(Value::as_str) {
        None => None,
        Some(Some("low")) => Some(ProofAssurance::Low),
        Some(Some("medium")) => Some(ProofAssurance::Medium),
        Some(Some("high")) => Some(ProofAssurance::High),
        Some(_) => return Err(members.not_among("min_assurance", &["low", "medium", "high"])),
    };
    let key = "presentation_formats";
    let formats = members.texts(key)?;
    let good = |formats: &Vec<String>| {
        (1..=MOST).contains(&formats.len()) && formats.iter().all(|one| is_one_of(one, &FORMATS))
    };
    if !formats.as_ref().is_none_or(good) {
        let expected = format!(
            "{}, or a custom name that starts with x-; send at least one, or leave the field out",
            FORMATS.join(", ")
        );
        return Err(members.bad(key, &expected));
    }
    Ok(Requirement {
        proof_type: proof_type(members)?,
        provider: provider.map(ToOwned::to_owned),
        min_assurance,
        presentation_formats: formats,
    })
}

fn binding(members: Members<'_>) -> Read<ProofBinding> {
    let (key, path) = ("binding", members.path("binding"));
    let object = members.object(key)?;
    let expected = "an object with case_id, action, freshness_seconds and single_use";
    let of = Members::new(object.ok_or_else(|| members.bad(key, expected))?, &path);
    of.only(&["case_id", "action", "challenge", "freshness_seconds", "expires_at", "single_use"])?;
    let flag = |key: &str| of.flag(key)?.ok_or_else(|| of.bad(key, "true or false"));
    let seconds = of.present("freshness_seconds").and_then(Value::as_u64).filter(|n| *n >= 1);
    let expires_at = of.text("expires_at")?.map(|text| {
        let expected = "a time in RFC 3339 format";
        text.parse::<Time>().map_err(|_| of.bad("expires_at", expected))
    });
    let challenge = of.present("challenge").map(|_| of.required("challenge")).transpose()?;
    Ok(ProofBinding {
        case_id: flag("case_id")?,
        action: flag("action")?,
        challenge: challenge.map(ToOwned::to_owned),
        freshness_seconds: seconds
            .ok_or_else(|| of.bad("freshness_seconds", "a whole number from 1"))?,
        expires_at: expires_at.transpose()?,
        single_use: flag("single_use")?,
    })
}

fn fallback(members: Members<'_>) -> Read<Fallback> {
    let (key, path) = ("fallback", members.path("fallback"));
    let object = members.object(key)?;
    let expected = "an object with on_missing and on_invalid";
    let of = Members::new(object.ok_or_else(|| members.bad(key, expected))?, &path);
    of.only(&["on_missing", "on_invalid"])?;
    let instead = |key: &str| match of.present(key).map(Value::as_str) {
        Some(Some("browser_review")) => Ok(FallbackAction::BrowserReview),
        Some(Some("reject")) => Ok(FallbackAction::Reject),
        _ => Err(of.not_among(key, &["browser_review", "reject"])),
    };
    Ok(Fallback { on_missing: instead("on_missing")?, on_invalid: instead("on_invalid")? })
}
