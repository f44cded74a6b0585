//! The 202 of `POST /hitl/v1/cases`. Section 6.

use kernel::Ask;
use serde_json::{Map, Value};

use super::poll::{default_action, expires_at};
use super::question::context;
use super::types::CaseType;
use super::wire::{Accepted, Hitl};
use super::{HitlVersion, case_id, create, timeout};
use crate::hxp_experience::claims::{self, EnvelopeVerdict};

/// The URLs of a case, each with its token. They are known only at creation, because the store
/// keeps hashes of the tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseLinks {
    pub review: String,
    pub poll: String,
    pub events: String,
    /// The submit URL and its token, if the case accepts inline answers.
    pub submit: Option<(String, String)>,
}

/// The body of the 202; `None` once the text of the case was erased.
pub fn accepted(ask: &Ask, links: CaseLinks) -> Option<Accepted> {
    let question = ask.question.value()?;
    let kept = create::stored_members(ask);
    let member = |key: &str| kept.and_then(|kept| kept.get(key)).cloned();
    let kind = CaseType::of(ask);
    let text = |value: Option<Value>| value.and_then(|value| value.as_str().map(ToOwned::to_owned));
    let inline = ask.inline.as_ref().filter(|_| links.submit.is_some()).map(|stances| {
        let offered = kind.actions().iter().filter(|action| stances.contains(&action.stance));
        offered.map(|action| action.name).collect()
    });
    let (submit_url, submit_token) = links.submit.unzip();
    let prompt = question.prompt().to_owned();
    Some(Accepted {
        status: "human_input_required",
        message: text(member("message")).unwrap_or_else(|| format!("A person decides: {prompt}")),
        hitl: Hitl {
            spec_version: HitlVersion::of(ask).as_str(),
            case_id: case_id(ask.id),
            review_url: links.review,
            poll_url: links.poll,
            events_url: links.events,
            callback_url: ask.callback.as_ref().and_then(|callback| callback.url.value().cloned()),
            submit_url,
            submit_token,
            inline_actions: inline,
            kind: kind.as_str().to_owned(),
            prompt,
            timeout: text(member("timeout")).unwrap_or_else(|| timeout::DEFAULT.to_owned()),
            default_action: default_action(ask),
            created_at: ask.created_at,
            expires_at: expires_at(ask),
            context: with_claims(context(question, member("context")), ask),
            reminder_at: member("reminder_at"),
            previous_case_id: ask.follows.map(case_id),
            surface: member("surface"),
            verification_policy: ask.verification.as_deref().cloned(),
        },
        data: member("data"),
        hxp_verdict: EnvelopeVerdict::of(ask),
    })
}

/// The context, with the service's envelope added.
fn with_claims(context: Option<Value>, ask: &Ask) -> Option<Value> {
    let Some(envelope) = ask.envelope() else { return context };
    let mut context = match context {
        Some(Value::Object(context)) => context,
        Some(_) | None => Map::new(),
    };
    context.insert(claims::MEMBER.to_owned(), Value::Object(envelope.clone()));
    Some(Value::Object(context))
}
