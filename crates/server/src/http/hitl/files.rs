//! Files in the answers to a case: `POST /hitl/v1/reviews/{id}/files?name=…` for the holder of the
//! link, `GET /hitl/v1/reviews/{id}/files/{digest}` for readers of the case. An extension: the
//! specification has no type for files.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use dialects::hitl::WireError;
use gateway::auth::Lane;
use gateway::files::Unread;
use kernel::Actor;
use kernel::ask::Purpose;

use super::{Answer, HitlError, param, shown};
use crate::http::hitl::{HitlCases, is_token};
use crate::http::name::Named;
use crate::http::uploads::{Refused, Uploads};

type Pairs = Query<Vec<(String, String)>>;

pub(super) async fn upload(
    State(cases): State<Arc<HitlCases>>,
    State(uploads): State<Arc<Uploads>>,
    Named(id): Named<String>,
    headers: HeaderMap,
    Query(pairs): Pairs,
    body: Body,
) -> Answer {
    let ask = cases.ask_by_token(&id).await?;
    let token = shown(&pairs, &headers, &id);
    if !token.is_some_and(|token| is_token(&cases.gateway, &ask, Purpose::Review, token)) {
        return Err(WireError::invalid_token().into());
    }
    cases.authenticator.count(ask.id, Lane::Submit)?;
    let name = param(&pairs, "name").ok_or_else(|| WireError::field("name", "the file's name"))?;
    let actor = Actor::link_holder(ask.id);
    let uploaded = uploads.upload(&ask, &actor, name, &headers, body).await;
    let uploaded = uploaded.map_err(|refused| HitlError::from(refused).about(&id))?;
    Ok((StatusCode::CREATED, Json(uploaded)).into_response())
}

pub(super) async fn file(
    State(cases): State<Arc<HitlCases>>,
    State(uploads): State<Arc<Uploads>>,
    Named((id, digest)): Named<(String, String)>,
    headers: HeaderMap,
    Query(pairs): Pairs,
) -> Answer {
    let (ask, _) = cases.readable(&id, &headers, &pairs).await?;
    match uploads.kept_file(&ask, &digest).await {
        Ok(Some(file)) => Ok(file),
        Ok(None) => Err(WireError::no_route().into()),
        Err(Unread::Away) => Err(WireError::unavailable().into()),
        Err(Unread::Damaged) => Err(WireError::internal().into()),
    }
}

impl From<Refused> for HitlError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::NoFile => WireError::field("context.form", "a field of the type file").into(),
            Refused::Rule(refusal) => refusal.into(),
            Refused::Field(field, expected) => WireError::field(field, expected).into(),
            Refused::Body(error) => error.into(),
            Refused::Unkept => WireError::unavailable().into(),
        }
    }
}
