//! `POST /hitl/v1/reviews/{id}/respond` and `…/submit` (the same), `…/cancel`. Specification §7,
//! §7.5. The token alone decides who acts, not the path.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use dialects::hitl::{self, HitlResponse, HitlWireError, SubmittedEvidence};
use gateway::auth::CaseCallKind;
use gateway::files::FileReadError;
use gateway::verification::ProofPurpose;
use kernel::ask::TokenPurpose;
use kernel::question::Reply;
use kernel::{Actor, Ask, AskCommand};
use store::StoreError;

use super::{HitlError, HitlResult, param, review_token};
use crate::http::body;
use crate::http::callers::bearer;
use crate::http::hitl::{HitlCases, is_token, link_holder};
use crate::http::path_param::PathParam;
use crate::http::posted_form::refuse_unverified_uploads;
use crate::http::uploads::{AnswerUploads, UploadRefused};

type Pairs = Query<Vec<(String, String)>>;
/// The holder of the link, and the parsed body.
type HolderRequest<T> = (Actor, Result<T, HitlWireError>);

pub(super) async fn respond(
    State(cases): State<Arc<HitlCases>>,
    PathParam(id): PathParam<String>,
    headers: HeaderMap,
    Query(pairs): Pairs,
    body: Body,
) -> HitlResult {
    let ask = cases.ask_by_token(&id).await?;
    // HITL-039: a request with a bearer token is an inline answer, whatever else it contains.
    if headers.contains_key(header::AUTHORIZATION) {
        if !is_token(&cases.gateway, &ask, TokenPurpose::Submit, bearer(&headers)?) {
            return Err(HitlWireError::invalid_token().into());
        }
        let bytes = body::read(body, cases.config.body_limit).await?;
        return cases.relayed(&ask, &bytes, &headers).await.map_err(|error| error.about(&id));
    }
    let shown = review_token(&pairs, &headers, &id);
    let sent =
        cases.sent_by_holder(&ask, shown, body, hitl::read_respond, HitlResponse::token).await?;
    cases.answered(&ask, sent, &headers).await.map_err(|error| error.about(&id))
}

pub(super) async fn cancel(
    State(cases): State<Arc<HitlCases>>,
    PathParam(id): PathParam<String>,
    headers: HeaderMap,
    Query(pairs): Pairs,
    body: Body,
) -> HitlResult {
    if headers.contains_key(header::AUTHORIZATION) {
        let actor = cases.agent(&headers)?;
        let ask = cases.ask(&id).await?;
        if !ask.is_visible_to_key(&actor) {
            return Err(HitlWireError::no_case().into());
        }
        let bytes = body::read(body, cases.config.body_limit).await?;
        let (reason, _) = hitl::parse_cancel(&bytes)?;
        return cases.cancelled(&ask, actor, reason).await.map_err(|error| error.about(&id));
    }
    let ask = cases.ask_by_token(&id).await?;
    let shown = review_token(&pairs, &headers, &id);
    let read =
        cases.sent_by_holder(&ask, shown, body, hitl::parse_cancel, |(_, token)| token.as_deref());
    let (holder, read) = read.await?;
    let (reason, _) = read.map_err(|error| HitlError::from(error).about(&id))?;
    cases.cancelled(&ask, holder, reason).await.map_err(|error| error.about(&id))
}

impl HitlCases {
    /// The holder of the link, and the parsed body. The token is in the query or a cookie, else in
    /// the body. A wrong token outside the body is refused before the body is read.
    async fn sent_by_holder<T>(
        &self,
        ask: &Ask,
        shown: Option<&str>,
        body: Body,
        read: impl FnOnce(&[u8]) -> Result<T, HitlWireError>,
        in_body: impl FnOnce(&T) -> Option<&str>,
    ) -> Result<HolderRequest<T>, HitlError> {
        let holder = shown.map(|token| link_holder(&self.gateway, ask, token));
        if let Some(None) = holder {
            return Err(HitlWireError::invalid_token().into());
        }
        let read = read(&body::read(body, self.config.body_limit).await?);
        let holder = holder.unwrap_or_else(|| {
            read.as_ref()
                .ok()
                .and_then(in_body)
                .and_then(|token| link_holder(&self.gateway, ask, token))
        });
        let holder = holder.ok_or_else(HitlWireError::invalid_token)?;
        Ok((holder, read))
    }

    /// Submits the answer of the link's holder.
    async fn answered(
        &self,
        ask: &Ask,
        (holder, read): HolderRequest<HitlResponse>,
        headers: &HeaderMap,
    ) -> HitlResult {
        self.authenticator.count_case_call(ask.id, CaseCallKind::Submit)?;
        self.still_open(ask)?;
        let read = read?;
        let evidence = read.evidence(ask)?;
        let reply =
            read.by_person(ask, |reply| self.answer_files.verify_uploads(reply, ask.id, &holder))?;
        self.answer(ask, holder, reply, &evidence, headers).await
    }

    /// Submits an answer that the agent relays.
    async fn relayed(&self, ask: &Ask, bytes: &[u8], headers: &HeaderMap) -> HitlResult {
        self.authenticator.count_case_call(ask.id, CaseCallKind::Submit)?;
        self.still_open(ask)?;
        let read = hitl::read_respond(bytes)?;
        let evidence = read.evidence(ask)?;
        let said = read.by_relay(ask);
        let (reply, attested) = said.map_err(|error| self.with_page(error, ask, headers))?;
        refuse_unverified_uploads(&reply).map_err(HitlError::from)?;
        let actor = Actor::Relay { ask: ask.id, attested };
        self.answer(ask, actor, reply, &evidence, headers).await
    }

    async fn answer(
        &self,
        ask: &Ask,
        actor: Actor,
        reply: Reply,
        evidence: &[SubmittedEvidence],
        headers: &HeaderMap,
    ) -> HitlResult {
        let expected = ProofPurpose::of(ask, reply.answer.stance());
        let came = self.providers.check_evidence(evidence, &expected, self.gateway.now()).await?;
        let command = AskCommand::AnswerWithProofs(ask.id, Box::new(reply), came);
        let outcome = self.gateway.run(actor, command).await.map_err(|error| match error {
            StoreError::Refused(refusal) => {
                let page = refusal.is_possible_on_page();
                let error = HitlWireError::refused(&refusal);
                HitlError::from(if page { self.with_page(error, ask, headers) } else { error })
            }
            error => error.into(),
        })?;
        let ask = outcome.ask.ok_or_else(HitlWireError::internal)?;
        let submitted = hitl::submitted(&ask).ok_or_else(HitlWireError::internal)?;
        Ok(Json(submitted).into_response())
    }

    async fn cancelled(&self, ask: &Ask, actor: Actor, reason: Option<String>) -> HitlResult {
        self.authenticator.count_case_call(ask.id, CaseCallKind::Submit)?;
        let outcome = self.gateway.run(actor, AskCommand::Cancel(ask.id, reason)).await?;
        let ask = outcome.ask.ok_or_else(HitlWireError::internal)?;
        Ok(self.poll(&ask).await?)
    }

    /// Checked before the answer is validated against the question: a late answer is refused as
    /// late, whatever it says.
    fn still_open(&self, ask: &Ask) -> Result<(), HitlError> {
        ask.check_open(self.gateway.now()).map_err(HitlError::from)
    }

    /// Adds the review page's URL to a 403: an answer that cannot be relayed can be given there.
    /// The URL has no token, because the server cannot read the tokens it issued; the person needs
    /// their own link (C-15).
    fn with_page(&self, error: HitlWireError, ask: &Ask, headers: &HeaderMap) -> HitlWireError {
        if error.status != 403 {
            return error;
        }
        let page = format!("{}/review/{}", self.base(headers), hitl::case_id(ask.id));
        error.with("review_url", page.into())
    }
}

// Files in the answers to a case: `POST /hitl/v1/reviews/{id}/files?name=…` for the holder of the
// link, `GET /hitl/v1/reviews/{id}/files/{digest}` for readers of the case. An extension: the
// specification has no type for files.

pub(super) async fn upload(
    State(cases): State<Arc<HitlCases>>,
    State(uploads): State<Arc<AnswerUploads>>,
    PathParam(id): PathParam<String>,
    headers: HeaderMap,
    Query(pairs): Pairs,
    body: Body,
) -> HitlResult {
    let ask = cases.ask_by_token(&id).await?;
    let token = review_token(&pairs, &headers, &id);
    if !token.is_some_and(|token| is_token(&cases.gateway, &ask, TokenPurpose::Review, token)) {
        return Err(HitlWireError::invalid_token().into());
    }
    cases.authenticator.count_case_call(ask.id, CaseCallKind::Submit)?;
    let name =
        param(&pairs, "name").ok_or_else(|| HitlWireError::field("name", "the file name"))?;
    let actor = Actor::link_holder(ask.id);
    let uploaded = uploads.upload(&ask, &actor, name, &headers, body).await;
    let uploaded = uploaded.map_err(|refused| HitlError::from(refused).about(&id))?;
    Ok((StatusCode::CREATED, Json(uploaded)).into_response())
}

pub(super) async fn file(
    State(cases): State<Arc<HitlCases>>,
    State(uploads): State<Arc<AnswerUploads>>,
    PathParam((id, digest)): PathParam<(String, String)>,
    headers: HeaderMap,
    Query(pairs): Pairs,
) -> HitlResult {
    let (ask, _) = cases.readable_case(&id, &headers, &pairs).await?;
    match uploads.stored_file(&ask, &digest).await {
        Ok(Some(file)) => Ok(file),
        Ok(None) => Err(HitlWireError::no_route().into()),
        Err(FileReadError::Away) => Err(HitlWireError::unavailable().into()),
        Err(FileReadError::Damaged) => Err(HitlWireError::internal().into()),
    }
}

impl From<UploadRefused> for HitlError {
    fn from(refused: UploadRefused) -> Self {
        match refused {
            UploadRefused::NoFile => {
                HitlWireError::field("context.form", "a field of type file").into()
            }
            UploadRefused::Rule(refusal) => refusal.into(),
            UploadRefused::Field(field, expected) => HitlWireError::field(field, expected).into(),
            UploadRefused::Body(error) => error.into(),
            UploadRefused::Unkept => HitlWireError::unavailable().into(),
        }
    }
}
