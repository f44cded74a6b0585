//! The layer around a service's handlers.

use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Limited};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tower::{Layer, Service};

use super::new_case::NewCase;
use super::runner::{CaseRunner, CaseRunnerError};
use crate::ClientError;
use crate::hitl::callback::SIGNATURE;

/// Maximum size of a callback.
const LARGEST: usize = 1 << 20;

/// A handler's request for a person, in the extensions of its response.
#[derive(Debug, Clone)]
pub struct NeedsHuman {
    pub(super) name: String,
    pub(super) case: NewCase,
    pub(super) input: Value,
}

/// The response of a handler that needs a person. After the decision, the continuation `name` gets
/// `input`. `input` must hold everything the continuation needs, because the handler has returned
/// by then.
pub fn needs_human<B: Default>(name: &str, case: NewCase, input: &impl Serialize) -> Response<B> {
    let mut answer = Response::new(B::default());
    match serde_json::to_value(input) {
        Ok(input) => {
            *answer.status_mut() = StatusCode::ACCEPTED;
            answer.extensions_mut().insert(NeedsHuman { name: name.to_owned(), case, input });
        }
        Err(_) => *answer.status_mut() = StatusCode::INTERNAL_SERVER_ERROR,
    }
    answer
}

/// Why no case could be created, in the extensions of the error response; for logs.
#[derive(Debug, Clone)]
pub struct CaseFailure(pub Arc<CaseRunnerError>);

/// Adds a [`CaseRunner`] to a service.
#[derive(Clone)]
pub struct CaseRunnerLayer {
    pub(super) desk: CaseRunner,
}

impl<S> Layer<S> for CaseRunnerLayer {
    type Service = CaseRunnerService<S>;

    fn layer(&self, inner: S) -> CaseRunnerService<S> {
        CaseRunnerService { desk: self.desk.clone(), inner }
    }
}

/// A service with a [`CaseRunner`].
#[derive(Clone)]
pub struct CaseRunnerService<S> {
    desk: CaseRunner,
    inner: S,
}

impl<S, B, R> Service<Request<B>> for CaseRunnerService<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    R: From<Bytes> + Send,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Response<R>, S::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let desk = self.desk.clone();
        if request.method() == Method::POST && desk.is_callback_path(request.uri().path()) {
            return Box::pin(async move { Ok(callback_response(&desk, request).await) });
        }
        let key = call_id(&request);
        // Call the instance that `poll_ready` prepared, and keep the clone.
        let ready = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, ready);
        Box::pin(async move {
            let mut answer = inner.call(request).await?;
            Ok(match answer.extensions_mut().remove::<NeedsHuman>() {
                Some(needs) => case_response(&desk, needs, key).await,
                None => answer,
            })
        })
    }
}

/// The id of a repeatable call: the caller, the route, and the `Idempotency-Key`.
fn call_id<B>(request: &Request<B>) -> Option<String> {
    let given = request.headers().get("idempotency-key")?;
    let mut hash = Sha256::new();
    let who = request.headers().get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
    for part in [
        who.unwrap_or_default(),
        request.method().as_str().as_bytes(),
        request.uri().path().as_bytes(),
        given.as_bytes(),
    ] {
        hash.update(part.len().to_be_bytes());
        hash.update(part);
    }
    Some(hex::encode(hash.finalize()))
}

async fn case_response<R: From<Bytes>>(
    desk: &CaseRunner,
    needs: NeedsHuman,
    key: Option<String>,
) -> Response<R> {
    match desk.ask(needs, key).await {
        Ok(accepted) => {
            let mut answer = Response::new(R::from(accepted.body));
            *answer.status_mut() = StatusCode::ACCEPTED;
            let json = HeaderValue::from_static("application/json");
            answer.headers_mut().insert(header::CONTENT_TYPE, json);
            if let Some(after) = accepted.retry_after {
                answer.headers_mut().insert(header::RETRY_AFTER, after);
            }
            answer
        }
        Err(error) => {
            let mut answer = match &error {
                CaseRunnerError::Repeated => {
                    error_response(StatusCode::CONFLICT, "idempotency_conflict", &error.to_string())
                }
                CaseRunnerError::Client(ClientError::Refused { status, code, message, .. })
                    if is_agent_error(message) =>
                {
                    let status = StatusCode::from_u16(*status).unwrap_or(StatusCode::BAD_REQUEST);
                    error_response(status, code, message)
                }
                error if error.is_passing() => {
                    let said_why = "no one can be asked at the moment; try again";
                    error_response(StatusCode::SERVICE_UNAVAILABLE, "unavailable", said_why)
                }
                _ => error_response(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "internal",
                    "no one could be asked",
                ),
            };
            if answer.status() == StatusCode::SERVICE_UNAVAILABLE {
                answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(5));
            }
            answer.extensions_mut().insert(CaseFailure(Arc::new(error)));
            answer
        }
    }
}

/// Whether the error is about a member that the service only passes on for the agent.
fn is_agent_error(message: &str) -> bool {
    message.starts_with("previous_case_id:") || message.starts_with("hitl_callback_url:")
}

async fn callback_response<B, R>(desk: &CaseRunner, request: Request<B>) -> Response<R>
where
    B: http_body::Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    R: From<Bytes>,
{
    let signature = request.headers().get(SIGNATURE).and_then(|value| value.to_str().ok());
    let signature = signature.map(str::to_owned);
    let Ok(body) = Limited::new(request.into_body(), LARGEST).collect().await else {
        return error_response(
            StatusCode::BAD_REQUEST,
            "invalid_request",
            "the body cannot be read",
        );
    };
    match desk.handle_callback(&body.to_bytes(), signature.as_deref()).await {
        Ok(true) => Response::new(R::from(Bytes::new())),
        Ok(false) => {
            error_response(StatusCode::NOT_FOUND, "not_found", "no call is waiting for this case")
        }
        Err(CaseRunnerError::Hitl(crate::hitl::HitlError::BadSignature)) => error_response(
            StatusCode::UNAUTHORIZED,
            "invalid_signature",
            "the signature is not valid",
        ),
        Err(CaseRunnerError::Hitl(error)) => {
            error_response(StatusCode::BAD_REQUEST, "invalid_request", &error.to_string())
        }
        // Countersign calls again later.
        Err(error) => {
            let mut answer = error_response(
                StatusCode::SERVICE_UNAVAILABLE,
                "unavailable",
                "it could not be stored",
            );
            answer.extensions_mut().insert(CaseFailure(Arc::new(error)));
            answer
        }
    }
}

fn error_response<R: From<Bytes>>(status: StatusCode, code: &str, message: &str) -> Response<R> {
    let body = json!({ "error": code, "message": message }).to_string();
    let mut answer = Response::new(R::from(Bytes::from(body)));
    *answer.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(header::CONTENT_TYPE, json);
    answer
}
