//! `POST /hitl/v1/cases`: a service needs a person. Responds with the 202 that the service can
//! return to its caller unchanged. Specification §6, §7.5.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use axum::Json;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::IntoResponse;
use dialects::hitl::{self, CaseLinks, HitlWireError, NewHitlCase};
use gateway::CommandConditions;
use gateway::ids::{Ids, NewSecret};
use kernel::ask::{AskToken, TokenPurpose};
use kernel::command::NewAsk;
use kernel::question::AnswerKind;
use kernel::verification::VerificationPolicy;
use kernel::{Actor, Ask, AskCommand, Assurance};
use notify::callbacks::Callbacks;
use serde_json::{Map, Value, json};
use store::StoreError;

use super::{HitlCases, HitlError, HitlResult, param};
use crate::http::{body, conditional_headers, envelope_headers};

/// The tokens of a new case. The server stores only their hashes.
struct CaseTokens {
    review: NewSecret,
    poll: NewSecret,
    submit: Option<NewSecret>,
}

impl CaseTokens {
    fn generate(ids: &Ids, inline: bool) -> Self {
        // Without a prefix: 43 characters of Base64 and nothing else (HITL-030).
        let draw = || ids.mint("");
        Self { review: draw(), poll: draw(), submit: inline.then(draw) }
    }

    fn grants(&self) -> Vec<AskToken> {
        let grant = |purpose, token: &NewSecret| AskToken::to_agent(purpose, token.hash);
        let submit = self.submit.as_ref().map(|token| grant(TokenPurpose::Submit, token));
        [grant(TokenPurpose::Review, &self.review), grant(TokenPurpose::Poll, &self.poll)]
            .into_iter()
            .chain(submit)
            .collect()
    }

    fn links(self, base: &str, ask: &Ask) -> CaseLinks {
        let id = hitl::case_id(ask.id);
        let poll = self.poll.secret;
        CaseLinks {
            review: format!("{base}/review/{id}?token={}", self.review.secret),
            poll: format!("{base}/hitl/v1/reviews/{id}/status?token={poll}"),
            events: format!("{base}/hitl/v1/reviews/{id}/events?token={poll}"),
            submit: self
                .submit
                .map(|token| (format!("{base}/hitl/v1/reviews/{id}/submit"), token.secret)),
        }
    }
}

pub(super) async fn create(
    State(cases): State<Arc<HitlCases>>,
    State(callbacks): State<Callbacks>,
    headers: HeaderMap,
    body: Body,
) -> HitlResult {
    let actor = cases.agent(&headers)?;
    let bytes = body::read(body, cases.config.body_limit).await?;
    let NewHitlCase { mut ask, .. } = hitl::parse_create(&bytes)?;
    ask.claims = envelope_headers::apply(ask.claims, &headers);
    if let Some(url) = &ask.callback {
        callbacks
            .address(url)
            .map_err(|expected| HitlWireError::field("hitl_callback_url", expected))?;
    }
    if let Some(policy) = &mut ask.verification {
        cases.require_satisfiable_policy(policy)?;
        // A proof must answer a challenge. If the service sets none, the server draws one that
        // cannot be guessed.
        policy.binding.challenge.get_or_insert_with(|| cases.gateway.ids().mint("").secret);
    }
    ask.inline = cases.relayable_answers(&actor, &ask);
    let tokens = CaseTokens::generate(cases.gateway.ids(), ask.inline.is_some());
    ask.grants = tokens.grants();
    let terms = CommandConditions {
        idempotency: conditional_headers::idempotency("hitl", &actor, &headers, &bytes)?,
        ..CommandConditions::default()
    };
    let command = AskCommand::Create(Box::new(ask));
    let outcome =
        cases.gateway.run_with_conditions(terms, actor.clone(), command).await.map_err(refused)?;
    let made = outcome.ask.ok_or_else(HitlWireError::internal)?;
    let (made, tokens) =
        if outcome.replayed { cases.reissue_tokens(actor, made).await? } else { (made, tokens) };
    let links = tokens.links(&cases.base(&headers), &made);
    let accepted = hitl::accepted(&made, links).ok_or_else(HitlWireError::no_case)?;
    let mut answer = (StatusCode::ACCEPTED, Json(accepted)).into_response();
    answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(hitl::POLL_EVERY));
    conditional_headers::mark_replayed(&mut answer, outcome.replayed);
    envelope_headers::write(&made, answer.headers_mut());
    Ok(answer)
}

/// `GET /hitl/v1/callback-secret`: the secret that signs the callbacks of cases created with this
/// key.
pub(super) async fn callback_secret(
    State(cases): State<Arc<HitlCases>>,
    State(callbacks): State<Callbacks>,
    headers: HeaderMap,
) -> HitlResult {
    let Actor::Agent { key, .. } = cases.agent(&headers)? else {
        return Err(HitlWireError::invalid_token().into());
    };
    let secret = callbacks.secret(key);
    let body =
        json!({ "secret": secret, "algorithm": "HMAC-SHA256", "header": "X-HITL-Signature" });
    Ok(Json(body).into_response())
}

fn refused(error: StoreError) -> HitlError {
    match error {
        StoreError::Refused(refusal) => HitlWireError::create_refused(&refusal).into(),
        error => error.into(),
    }
}

impl HitlCases {
    /// The answers that the agent may relay: those that its project accepts when only the agent
    /// attests them. If there are none, inline answers are not offered.
    fn relayable_answers(&self, actor: &Actor, ask: &NewAsk) -> Option<BTreeSet<AnswerKind>> {
        let Actor::Agent { project, .. } = actor else { return None };
        let directory = self.gateway.directory();
        let project = directory.project(project)?;
        if project.minimum_assurance > Assurance::AgentAttested {
            return None;
        }
        let guarded = project.irreversible_assurance > Some(Assurance::AgentAttested)
            && ask.needs_confirmation();
        let stances = ask.inline.iter().flatten().copied();
        let taken: BTreeSet<AnswerKind> =
            stances.filter(|stance| !(guarded && stance.lets_proceed())).collect();
        ask.inline.as_ref().filter(|asked| asked.is_empty() || !taken.is_empty())?;
        Some(taken)
    }

    /// Refuses a policy that no person can satisfy on this server.
    fn require_satisfiable_policy(&self, policy: &VerificationPolicy) -> Result<(), HitlWireError> {
        let Some(place) = policy.unsatisfiable(&self.providers.offers()) else { return Ok(()) };
        let offered = match self.providers.description() {
            Some(words) => format!("a requirement that this server's providers can meet: {words}"),
            None => "no verification_policy, because this server has no proof provider".to_owned(),
        };
        Err(HitlWireError::unprovable(&place, &offered))
    }

    /// Issues new tokens for a repeated create, because the server cannot read the first ones.
    async fn reissue_tokens(&self, actor: Actor, ask: Ask) -> Result<(Ask, CaseTokens), HitlError> {
        let tokens = CaseTokens::generate(self.gateway.ids(), ask.inline.is_some());
        let command = AskCommand::Grant(ask.id, tokens.grants());
        let granted = self.gateway.run(actor, command).await?;
        Ok((granted.ask.ok_or_else(HitlWireError::internal)?, tokens))
    }
}

// `POST /api/demo?type=…`, with `--dev` only: creates a sample case of each type to try its page.

/// One sample per type, as a service would send it.
static SAMPLES: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    // The file is part of the binary, and a test parses it.
    serde_json::from_str(include_str!("demo.json")).unwrap_or_default()
});

/// The agent key that every server has with `--dev`.
const DEV_KEY: &str = "Bearer dev-agent-key";

pub(super) async fn demo(
    State(cases): State<Arc<HitlCases>>,
    callbacks: State<Callbacks>,
    Query(pairs): Query<Vec<(String, String)>>,
    mut headers: HeaderMap,
) -> HitlResult {
    if !cases.config.dev {
        return Err(HitlWireError::no_route().into());
    }
    let kind = param(&pairs, "type").unwrap_or("approval");
    let Some(sample) = SAMPLES.get(kind) else {
        let kinds: Vec<&str> = SAMPLES.keys().map(String::as_str).collect();
        return Err(HitlWireError::field("type", &kinds.join(", ")).into());
    };
    headers.entry(header::AUTHORIZATION).or_insert(HeaderValue::from_static(DEV_KEY));
    create(State(cases), callbacks, headers, Body::from(sample.to_string())).await
}
