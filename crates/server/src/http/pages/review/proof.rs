//! The step between an answer and its submission, if the agent requires a proof that a person gives
//! it: `POST /review/{case_id}` with `verify` or `change`, and `POST /review/{case_id}/proof`, by
//! which the page of a provider returns. HITL 0.8, §7.6; HITL-222.
//!
//! A valid proof is stored encrypted with the answer it is for. It decides nothing: the holder of
//! the link sends the answer.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::{Query, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect};
use dialects::hitl::{self, SubmittedEvidence};
use gateway::auth::{Authenticator, CaseCallKind};
use gateway::verification::{ProofPurpose, ProofVerifier};
use kernel::question::Reply;
use kernel::verification::{PresentedProof, ProofFault, ProviderOffer};
use kernel::{Ask, Refusal};
use serde::Deserialize;
use serde_json::{Map, Value};
use store::StoreError;
use url::Url;
use views::answer_form::problem::{FormProblems, ProblemLocation};
use views::answer_form::{PROOF, ProofProvider, ProofStep};
use views::components::wording::VisibleText;
use views::locale::date_time;
use views::review::ReviewDraft;
use views::site::paths;
use views::{SubmittedForm, message_page, t};

use super::actions::{ReviewSubmission, redirect_to_page};
use super::{Guest, guest_error};
use crate::http::pages::review::ReviewPages;
use crate::http::pages::{PageError, PageResult, parts};
use crate::http::path_param::PathParam;
use crate::http::posted_form;

#[derive(Deserialize)]
pub(super) struct ProofReturnQuery {
    #[serde(default)]
    provider: String,
}

/// `GET`: redirects to the review page and decides nothing.
pub(super) async fn back(PathParam(case_id): PathParam<String>) -> Redirect {
    Redirect::to(&paths::review(&case_id))
}

/// `POST`: the page of a provider sends the person back, with the proof as `token`. The provider
/// knows neither the link nor its cookie, so it can only add a proof that it signed
/// for the waiting answer.
pub(super) async fn return_from_provider(
    State(review_pages): State<Arc<ReviewPages>>,
    State(authenticator): State<Arc<Authenticator>>,
    PathParam(case_id): PathParam<String>,
    Query(ProofReturnQuery { provider }): Query<ProofReturnQuery>,
    from: Request,
) -> PageResult {
    let (_, body) = parts(from);
    let frame = review_pages.guest_frame();
    let page = paths::review(&case_id);
    let back = |how: &str| Redirect::to(&format!("{page}?proof={how}#answer")).into_response();
    let ask = match hitl::ask_id(&case_id) {
        Some(id) => review_pages.gateway.ask(id).await?,
        None => None,
    };
    // The same response as for an invalid proof: the page of a provider has no credential to learn
    // more.
    let Some(ask) = ask else { return Ok(back("refused")) };
    if let Err(many) = authenticator.count_case_call(ask.id, CaseCallKind::Fill) {
        let shown = message_page::too_fast(&frame, &page);
        let mut answer = guest_error(StatusCode::TOO_MANY_REQUESTS, &frame, shown);
        let wait = HeaderValue::from(many.wait.as_secs().max(1));
        answer.0.headers_mut().insert(header::RETRY_AFTER, wait);
        return Err(answer);
    }
    let sent = posted_form::small(body).await?;
    let proof = sent.value("token").map(str::trim).unwrap_or_default().to_owned();
    let taken = review_pages.store_proof(&ask, (provider, proof)).await?;
    Ok(back(if taken { "taken" } else { "refused" }))
}

impl ReviewSubmission<'_> {
    /// Sends the waiting answer with its proofs.
    pub(super) async fn verify(&self, mut kept: ReviewDraft, sent: &SubmittedForm) -> PageResult {
        if kept.awaiting.is_empty() {
            let step = kept.step;
            return self.go_to_step(kept, step, "").await;
        }
        let brought = sent.pairs.iter().filter_map(|(name, value)| {
            let provider = name.strip_prefix(PROOF)?;
            let value = value.trim();
            (!value.is_empty()).then(|| (provider.to_owned(), value.to_owned()))
        });
        for proof in brought.collect::<Vec<_>>() {
            kept.add_proof(proof);
        }
        self.answer(&kept.submission(), &kept, true).await
    }

    /// Returns to the answer, so that the person can change it.
    pub(super) async fn change(&self, mut kept: ReviewDraft) -> PageResult {
        kept.awaiting.clear();
        kept.proofs.clear();
        let step = kept.step;
        self.go_to_step(kept, step, "").await
    }

    /// The result of checking the submitted proofs for this answer.
    pub(super) async fn presented(
        &self,
        kept: &ReviewDraft,
        reply: &Reply,
    ) -> Result<Vec<PresentedProof>, PageError> {
        self.pages.presented(self.ask, reply, &kept.proofs).await.map_err(|_| {
            let frame = &self.guest.frame;
            guest_error(StatusCode::SERVICE_UNAVAILABLE, frame, message_page::unavailable(frame))
        })
    }

    /// Shows the step instead of sending an answer that lacks a proof. All input is saved; invalid
    /// proofs are dropped.
    pub(super) async fn confirm(
        &self,
        sent: &SubmittedForm,
        kept: &ReviewDraft,
        reply: &Reply,
        came: &[PresentedProof],
        pressed: bool,
    ) -> PageResult {
        let Self { pages, guest, ask, question } = *self;
        let mut kept = kept.clone();
        kept.await_proof(sent);
        let problem = pages.proof_problems(ask, came, &mut kept);
        if let Err(error) = pages.save_draft(ask, question, &kept).await {
            return match error {
                StoreError::Refused(refusal) => {
                    pages.answered_elsewhere(guest, ask, refusal, Some(&kept)).await
                }
                error => Err(error.into()),
            };
        }
        if problem.problems.is_empty() && !pressed && guest.remembered {
            return Ok(redirect_to_page(guest, "#answer"));
        }
        let mut confirm = pages.confirm(guest, ask, reply, &kept);
        confirm.problem = problem;
        if pressed && confirm.problem.problems.is_empty() {
            let place = confirm.ways.iter().find(|way| way.href.is_none());
            let place =
                place.map_or(ProblemLocation::Page, |way| ProblemLocation::Proof(way.name.clone()));
            let wanted = t!("proof-first", providers = confirm.who());
            confirm.problem = FormProblems::one(place, wanted);
        }
        let wrong = !confirm.problem.problems.is_empty();
        let status = if wrong { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
        Ok(pages.confirm_page(guest, ask, status, &confirm))
    }
}

impl ReviewPages {
    /// The providers' verdicts on these proofs for this answer.
    async fn presented(
        &self,
        ask: &Ask,
        reply: &Reply,
        proofs: &[(String, String)],
    ) -> Result<Vec<PresentedProof>, gateway::verification::VerifierUnavailable> {
        let evidence: Vec<SubmittedEvidence> =
            proofs.iter().map(|proof| self.evidence(proof)).collect();
        let expected = ProofPurpose::of(ask, reply.answer.stance());
        self.providers.check_evidence(&evidence, &expected, self.gateway.now()).await
    }

    /// A proof that came through the page, in its provider's format.
    fn evidence(&self, (provider, proof): &(String, String)) -> SubmittedEvidence {
        let first = |list: Vec<String>| list.into_iter().next().unwrap_or_default();
        let offer = self.providers.named(provider).map(ProofVerifier::offer);
        let (proof_type, format) = offer.map_or_else(Default::default, |offer| {
            let ProviderOffer { proof_types, formats, .. } = offer;
            (first(proof_types), first(formats))
        });
        SubmittedEvidence {
            proof_type,
            provider: provider.clone(),
            format,
            presentation: Value::from(proof.as_str()),
            binding: Map::new(),
        }
    }

    /// The problems of the submitted proofs. Only valid proofs are kept.
    fn proof_problems(
        &self,
        ask: &Ask,
        came: &[PresentedProof],
        kept: &mut ReviewDraft,
    ) -> FormProblems {
        let mut problem = FormProblems::default();
        let Some(policy) = &ask.verification else { return problem };
        let (now, used) = (self.gateway.now(), BTreeSet::new());
        let mut good = Vec::new();
        for (proof, one) in kept.proofs.drain(..).zip(came) {
            match policy.fault(one, &used, now) {
                None => good.push(proof),
                Some(fault) => {
                    let named = self.providers.named(&one.provider);
                    let title = named.map_or(one.provider.as_str(), ProofVerifier::title);
                    let place = ProblemLocation::Proof(one.provider.clone());
                    problem.add(place, None, fault_message(title, &fault));
                }
            }
        }
        kept.proofs = good;
        problem
    }

    /// Stores a returned proof, if an answer waits for one and the proof is valid for it.
    async fn store_proof(&self, ask: &Ask, proof: (String, String)) -> Result<bool, PageError> {
        let mut kept =
            if ask.is_open() { self.load_draft(ask).await? } else { ReviewDraft::default() };
        let Some((question, reply)) = kept.pending_answer(ask) else { return Ok(false) };
        let came = self.presented(ask, &reply, std::slice::from_ref(&proof)).await;
        let (Ok(came), Some(policy)) = (came, &ask.verification) else { return Ok(false) };
        let (now, used) = (self.gateway.now(), BTreeSet::new());
        if came.iter().any(|one| policy.fault(one, &used, now).is_some()) {
            return Ok(false);
        }
        kept.add_proof(proof);
        match self.save_draft(ask, question, &kept).await {
            Ok(()) => Ok(true),
            Err(StoreError::Refused(
                Refusal::TimedOut { .. } | Refusal::AlreadyAnswered { .. },
            )) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The step for the waiting answer; `None` if no answer waits.
    pub(super) fn waiting_for_proof(
        &self,
        guest: &Guest,
        ask: &Ask,
        kept: &ReviewDraft,
    ) -> Option<ProofStep> {
        let (_, reply) = kept.pending_answer(ask)?;
        Some(self.confirm(guest, ask, &reply, kept))
    }

    fn confirm(&self, guest: &Guest, ask: &Ask, reply: &Reply, kept: &ReviewDraft) -> ProofStep {
        let expected = ProofPurpose::of(ask, reply.answer.stance());
        let wanted = |one: &&dyn ProofVerifier| {
            ask.verification.as_ref().is_some_and(|policy| policy.can_use(&one.offer()))
        };
        let way = |one: &dyn ProofVerifier| {
            let name = one.offer().provider;
            let href = one.start_url().map(|url| provider_url(url, guest, &expected, &name));
            ProofProvider { title: VisibleText::of(one.title()), href, name }
        };
        let ways = self.providers.iter().filter(wanted).map(way).collect();
        let titles = kept.proofs.iter().filter_map(|(name, _)| self.providers.named(name));
        let ProofPurpose { case_id, action, challenge } = expected.clone();
        let made_for = [
            (t!("proof-made-for-request"), Some(case_id)),
            (t!("proof-made-for-action"), Some(action.to_owned())),
            (t!("proof-made-for-challenge"), challenge),
        ];
        ProofStep {
            confirmed: titles.map(|one| one.title().to_owned()).collect(),
            made_for: made_for
                .into_iter()
                .filter_map(|(name, value)| Some((name, value?)))
                .collect(),
            ..ProofStep::new(ask, reply, ways)
        }
    }
}

/// Why a proof does not count, for the person who submitted it.
fn fault_message(provider: &str, fault: &ProofFault) -> String {
    match fault {
        // Providers give their reasons in English.
        ProofFault::Unproven(why) => t!("proof-not-valid", provider = provider, reason = why),
        ProofFault::TooLate(until) => {
            t!("proof-too-late", provider = provider, until = date_time(*until))
        }
        ProofFault::OtherCase => t!("proof-other-request", provider = provider),
        ProofFault::OtherAction => t!("proof-other-answer", provider = provider),
        ProofFault::OtherChallenge => t!("proof-other-challenge", provider = provider),
        ProofFault::Stale => t!("proof-stale", provider = provider),
        ProofFault::RunOut => t!("proof-expired", provider = provider),
        ProofFault::Used => t!("proof-used", provider = provider),
        ProofFault::Unwanted => t!("proof-unwanted", provider = provider),
    }
}

/// The URL of the provider's page, with the purpose of the proof and the address to return to.
fn provider_url(url: &Url, guest: &Guest, expected: &ProofPurpose, provider: &str) -> Url {
    let mut href = url.clone();
    let back = format!("{}{}", guest.base, paths::proof(&guest.case_id, provider));
    href.query_pairs_mut()
        .append_pair("case_id", &expected.case_id)
        .append_pair("action", expected.action)
        .append_pair("challenge", expected.challenge.as_deref().unwrap_or_default())
        .append_pair("return_to", &back);
    href
}
