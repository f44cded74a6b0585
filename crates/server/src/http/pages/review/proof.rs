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
use dialects::hitl::{self, Evidence};
use gateway::auth::{Authenticator, Lane};
use gateway::verification::{Expected, Provider};
use kernel::question::Reply;
use kernel::verification::{Offer, Presented};
use kernel::{Ask, Refusal};
use serde::Deserialize;
use serde_json::{Map, Value};
use store::StoreError;
use url::Url;
use views::answer_form::problem::{FormProblem, Place};
use views::answer_form::{Confirm, PROOF, Way};
use views::components::words::Words;
use views::review::Kept;
use views::site::paths;
use views::{Submitted, message_page};

use super::actions::{Turn, on};
use super::{Guest, guest_instead};
use crate::http::name::Named;
use crate::http::pages::review::ReviewPages;
use crate::http::pages::{Instead, Page, parts};
use crate::http::submitted;

/// The message after the page of a provider returned an invalid proof.
pub(super) const CAME_IN_VAIN: &str =
    "What came back confirms nothing here. Try again, and send your answer afterwards.";

#[derive(Deserialize)]
pub(super) struct From {
    #[serde(default)]
    provider: String,
}

/// `GET`: redirects to the review page and decides nothing.
pub(super) async fn back(Named(case_id): Named<String>) -> Redirect {
    Redirect::to(&paths::review(&case_id))
}

/// `POST`: the page of a provider sends the person back, with the proof as `token`. The provider
/// knows neither the link nor its cookie, so it can only add a proof that it signed
/// for the waiting answer.
pub(super) async fn come_back(
    State(review_pages): State<Arc<ReviewPages>>,
    State(authenticator): State<Arc<Authenticator>>,
    Named(case_id): Named<String>,
    Query(From { provider }): Query<From>,
    from: Request,
) -> Page {
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
    if let Err(many) = authenticator.count(ask.id, Lane::Fill) {
        let shown = message_page::too_fast(&frame, &page);
        let mut answer = guest_instead(StatusCode::TOO_MANY_REQUESTS, &frame, shown);
        let wait = HeaderValue::from(many.wait.as_secs().max(1));
        answer.0.headers_mut().insert(header::RETRY_AFTER, wait);
        return Err(answer);
    }
    let sent = submitted::small(body).await?;
    let proof = sent.value("token").map(str::trim).unwrap_or_default().to_owned();
    let taken = review_pages.leave_proof(&ask, (provider, proof)).await?;
    Ok(back(if taken { "taken" } else { "refused" }))
}

impl Turn<'_> {
    /// Sends the waiting answer with its proofs.
    pub(super) async fn verify(&self, mut kept: Kept, sent: &Submitted) -> Page {
        if kept.awaiting.is_empty() {
            let step = kept.step;
            return self.moved(kept, step, "").await;
        }
        let brought = sent.pairs.iter().filter_map(|(name, value)| {
            let provider = name.strip_prefix(PROOF)?;
            let value = value.trim();
            (!value.is_empty()).then(|| (provider.to_owned(), value.to_owned()))
        });
        for proof in brought.collect::<Vec<_>>() {
            kept.bring(proof);
        }
        self.answer(&kept.whole(), &kept, true).await
    }

    /// Returns to the answer, so that the person can change it.
    pub(super) async fn change(&self, mut kept: Kept) -> Page {
        kept.awaiting.clear();
        kept.proofs.clear();
        let step = kept.step;
        self.moved(kept, step, "").await
    }

    /// The result of checking the submitted proofs for this answer.
    pub(super) async fn presented(
        &self,
        kept: &Kept,
        reply: &Reply,
    ) -> Result<Vec<Presented>, Instead> {
        self.pages.presented(self.ask, reply, &kept.proofs).await.map_err(|_| {
            let frame = &self.guest.frame;
            guest_instead(StatusCode::SERVICE_UNAVAILABLE, frame, message_page::unavailable(frame))
        })
    }

    /// Shows the step instead of sending an answer that lacks a proof. All input is saved; invalid
    /// proofs are dropped.
    pub(super) async fn confirm(
        &self,
        sent: &Submitted,
        kept: &Kept,
        reply: &Reply,
        came: &[Presented],
        pressed: bool,
    ) -> Page {
        let Self { pages, guest, ask, question } = *self;
        let mut kept = kept.clone();
        kept.await_proof(sent);
        let problem = pages.faults(ask, came, &mut kept);
        if let Err(error) = pages.keep(ask, question, &kept).await {
            return match error {
                StoreError::Refused(refusal) => pages.lost(guest, ask, refusal, Some(&kept)).await,
                error => Err(error.into()),
            };
        }
        if problem.problems.is_empty() && !pressed && guest.remembered {
            return Ok(on(guest, "#answer"));
        }
        let mut confirm = pages.confirm(guest, ask, reply, &kept);
        confirm.problem = problem;
        if pressed && confirm.problem.problems.is_empty() {
            let place = confirm.ways.iter().find(|way| way.href.is_none());
            let place = place.map_or(Place::Page, |way| Place::Proof(way.name.clone()));
            let wanted = format!("Confirm it with {} first", confirm.who());
            confirm.problem = FormProblem::one(place, wanted);
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
    ) -> Result<Vec<Presented>, gateway::verification::Unavailable> {
        let evidence: Vec<Evidence> = proofs.iter().map(|proof| self.evidence(proof)).collect();
        let expected = Expected::of(ask, reply.answer.stance());
        self.providers.presented(&evidence, &expected, self.gateway.now()).await
    }

    /// A proof that came through the page, in its provider's format.
    fn evidence(&self, (provider, proof): &(String, String)) -> Evidence {
        let first = |list: Vec<String>| list.into_iter().next().unwrap_or_default();
        let offer = self.providers.named(provider).map(Provider::offer);
        let (proof_type, format) = offer.map_or_else(Default::default, |offer| {
            let Offer { proof_types, formats, .. } = offer;
            (first(proof_types), first(formats))
        });
        Evidence {
            proof_type,
            provider: provider.clone(),
            format,
            presentation: Value::from(proof.as_str()),
            binding: Map::new(),
        }
    }

    /// The problems of the submitted proofs. Only valid proofs are kept.
    fn faults(&self, ask: &Ask, came: &[Presented], kept: &mut Kept) -> FormProblem {
        let mut problem = FormProblem::default();
        let Some(policy) = &ask.verification else { return problem };
        let (now, used) = (self.gateway.now(), BTreeSet::new());
        let mut good = Vec::new();
        for (proof, one) in kept.proofs.drain(..).zip(came) {
            match policy.fault(one, &used, now) {
                None => good.push(proof),
                Some(fault) => {
                    let named = self.providers.named(&one.provider);
                    let title = named.map_or(one.provider.as_str(), Provider::title);
                    let said = format!("The confirmation from {title} does not count: {fault}");
                    problem.add(Place::Proof(one.provider.clone()), None, said);
                }
            }
        }
        kept.proofs = good;
        problem
    }

    /// Stores a returned proof, if an answer waits for one and the proof is valid for it.
    async fn leave_proof(&self, ask: &Ask, proof: (String, String)) -> Result<bool, Instead> {
        let mut kept = if ask.is_open() { self.kept(ask).await? } else { Kept::default() };
        let Some((question, reply)) = kept.waiting(ask) else { return Ok(false) };
        let came = self.presented(ask, &reply, std::slice::from_ref(&proof)).await;
        let (Ok(came), Some(policy)) = (came, &ask.verification) else { return Ok(false) };
        let (now, used) = (self.gateway.now(), BTreeSet::new());
        if came.iter().any(|one| policy.fault(one, &used, now).is_some()) {
            return Ok(false);
        }
        kept.bring(proof);
        match self.keep(ask, question, &kept).await {
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
        kept: &Kept,
    ) -> Option<Confirm> {
        let (_, reply) = kept.waiting(ask)?;
        Some(self.confirm(guest, ask, &reply, kept))
    }

    fn confirm(&self, guest: &Guest, ask: &Ask, reply: &Reply, kept: &Kept) -> Confirm {
        let expected = Expected::of(ask, reply.answer.stance());
        let wanted = |one: &&dyn Provider| {
            ask.verification.as_ref().is_some_and(|policy| policy.welcomes(&one.offer()))
        };
        let way = |one: &dyn Provider| {
            let name = one.offer().provider;
            let href = one.start_url().map(|url| start(url, guest, &expected, &name));
            Way { title: Words::of(one.title()), href, name }
        };
        let ways = self.providers.iter().filter(wanted).map(way).collect();
        let titles = kept.proofs.iter().filter_map(|(name, _)| self.providers.named(name));
        let Expected { case_id, action, challenge } = expected.clone();
        let made_for = [("Request", Some(case_id)), ("Action", Some(action.to_owned()))];
        let made_for = made_for.into_iter().chain([("Challenge", challenge)]);
        Confirm {
            confirmed: titles.map(|one| one.title().to_owned()).collect(),
            made_for: made_for.filter_map(|(name, value)| Some((name, value?))).collect(),
            ..Confirm::new(ask, reply, ways)
        }
    }
}

/// The URL of the provider's page, with the purpose of the proof and the address to return to.
fn start(url: &Url, guest: &Guest, expected: &Expected, provider: &str) -> Url {
    let mut href = url.clone();
    let back = format!("{}{}", guest.base, paths::proof(&guest.case_id, provider));
    href.query_pairs_mut()
        .append_pair("case_id", &expected.case_id)
        .append_pair("action", expected.action)
        .append_pair("challenge", expected.challenge.as_deref().unwrap_or_default())
        .append_pair("return_to", &back);
    href
}
