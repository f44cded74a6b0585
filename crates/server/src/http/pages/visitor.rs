//! The person who is signed in, and the forms they send.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRef, FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use gateway::Gateway;
use gateway::auth::{Authenticator, Denied};
use gateway::secrets::ServerSecrets;
use gateway::sessions::Sessions;
use kernel::directory::Human;
use kernel::{Actor, Ask, AskId, DirectoryCommand, KeyId};
use subtle::ConstantTimeEq;
use views::site::paths;
use views::{PageContext, SubmittedForm, locale, message_page};

use super::cookies::{Cookie, Cookies};
use super::sign_in::SignInPages;
use super::{PageError, html, page, parts};
use crate::config::Config;
use crate::http::AppState;
use crate::http::body::BodyError;
use crate::http::path_param::path_id;
use crate::http::posted_form::{self, FormReadError, FormTokenCheck, PostedForm};
use crate::http::request_log::{RequestCaller, note_caller};

/// A person who is signed in, with their session.
pub(super) struct Visitor {
    pub(super) actor: Actor,
    pub(super) human: Human,
    pub(super) session: KeyId,
    pub(super) frame: PageContext,
}

/// Identifies people by their session, and reads the forms they send.
pub struct Visitors {
    pub(in crate::http) gateway: Gateway,
    pub(in crate::http) config: Arc<Config>,
    pub(in crate::http) secrets: Arc<ServerSecrets>,
    pub(in crate::http) authenticator: Arc<Authenticator>,
    pub(in crate::http) sessions: Sessions,
    pub(in crate::http) cookies: Arc<Cookies>,
    pub(in crate::http) sign_in: Arc<SignInPages>,
}

impl Visitors {
    /// The person who is signed in. Anyone else gets the sign-in page.
    pub(super) async fn visitor(&self, headers: &HeaderMap) -> Result<Visitor, PageError> {
        let now = self.gateway.now();
        let directory = self.gateway.directory();
        let anonymous =
            || PageError(Box::new(self.sign_in.page(headers, StatusCode::UNAUTHORIZED, None)));
        let secret = self.cookies.get(headers, Cookie::Session).ok_or_else(anonymous)?;
        let browser = self.cookies.get(headers, Cookie::Browser).ok_or_else(anonymous)?;
        let known = self.authenticator.session(&directory, secret, browser, now);
        let (actor, key) = known.map_err(|_| anonymous())?;
        let Actor::Human { id, .. } = &actor else { return Err(anonymous()) };
        note_caller(|| RequestCaller {
            key: Some(key.id),
            human: Some(id.clone()),
            ..RequestCaller::default()
        });
        if self.sessions.is_idle(self.sessions.last_used(key).await?, now) {
            self.gateway.run(Actor::System, DirectoryCommand::RevokeKey(key.id)).await?;
            return Err(anonymous());
        }
        if let Err(denied) = self.authenticator.admit(key.id, now) {
            // The session is valid, but its rate limit is exceeded.
            let wait = if let Denied::TooFast(wait) = denied { wait.as_secs() } else { 0 };
            let busy = message_page::unavailable(&PageContext::anonymous(now));
            let after = [(header::RETRY_AFTER, wait.max(1).to_string())];
            let busy = (after, html(StatusCode::TOO_MANY_REQUESTS, busy)).into_response();
            return Err(PageError(Box::new(busy)));
        }
        let human = directory.human(id).ok_or_else(anonymous)?.clone();
        locale::adopt(locale::current().with_settings_of(&human));
        let waiting = self.gateway.count_waiting(&human).await?.n;
        let frame = PageContext {
            now,
            person: Some(views::components::wording::person_name(&directory, &human.id)),
            csrf: self.secrets.csrf_token(secret),
            waiting: Some(waiting),
            nonce: None,
        };
        Ok(Visitor { actor, human, session: key.id, frame })
    }

    /// A request that the visitor may see: one they may answer, or any request for an
    /// administrator. For anyone else it does not exist.
    pub(super) async fn visible_ask(
        &self,
        visitor: &Visitor,
        id: &str,
    ) -> Result<Arc<Ask>, PageError> {
        let missing = || page(StatusCode::NOT_FOUND, message_page::not_found(&visitor.frame));
        let id: AskId = id.parse().map_err(|_| missing())?;
        let directory = self.gateway.directory();
        let shown = |ask: &Arc<Ask>| ask.is_visible_to(&visitor.actor, &directory);
        let found = self.gateway.ask(id).await?.filter(shown);
        found.ok_or_else(missing)
    }

    /// The form that the browser posted. Its token must match this session.
    pub(super) async fn posted(
        &self,
        visitor: &Visitor,
        headers: &HeaderMap,
        body: Body,
        back: &str,
        file_fields: &[String],
    ) -> Result<PostedForm, PageError> {
        let csrf = visitor.frame.csrf.as_bytes();
        let holds = |given: &str| bool::from(given.as_bytes().ct_eq(csrf));
        let proof = FormTokenCheck { name: "csrf", holds: &holds };
        match posted_form::read(&self.config, headers, body, proof, file_fields).await {
            Err(FormReadError::Body(BodyError::TooLarge)) => {
                let shown =
                    message_page::too_large(&visitor.frame, back, self.config.upload_limit as u64);
                Err(page(StatusCode::PAYLOAD_TOO_LARGE, shown))
            }
            Err(FormReadError::Stale) => {
                let shown = message_page::stale_page(&visitor.frame, back);
                Err(page(StatusCode::FORBIDDEN, shown))
            }
            Ok(posted) => Ok(posted),
            Err(error) => Err(error.into()),
        }
    }

    /// Like [`Self::posted`], for forms without files.
    pub(super) async fn submitted(
        &self,
        visitor: &Visitor,
        headers: &HeaderMap,
        body: Body,
        back: &str,
    ) -> Result<SubmittedForm, PageError> {
        Ok(self.posted(visitor, headers, body, back, &[]).await?.form)
    }

    /// The person who sent a form, and the form.
    pub(super) async fn visitor_and_form(
        &self,
        from: Request,
        back: &str,
    ) -> Result<(Visitor, SubmittedForm), PageError> {
        let (headers, body) = parts(from);
        let visitor = self.visitor(&headers).await?;
        let form = self.submitted(&visitor, &headers, body, back).await?;
        Ok((visitor, form))
    }
}

impl FromRequestParts<AppState> for Visitor {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, shared: &AppState) -> Result<Self, PageError> {
        Arc::<Visitors>::from_ref(shared).visitor(&parts.headers).await
    }
}

/// The person who is signed in, if they are an administrator.
pub(super) struct AdminVisitor(pub(super) Visitor);

impl FromRequestParts<AppState> for AdminVisitor {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, shared: &AppState) -> Result<Self, PageError> {
        let visitor = Visitor::from_request_parts(parts, shared).await?;
        if visitor.human.admin {
            return Ok(Self(visitor));
        }
        Err(page(StatusCode::FORBIDDEN, message_page::forbidden(&visitor.frame)))
    }
}

/// The visitor, and the request that the path names, if they may see it.
pub(super) struct VisibleRequest {
    pub(super) visitor: Visitor,
    pub(super) ask: Arc<Ask>,
}

impl FromRequestParts<AppState> for VisibleRequest {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, shared: &AppState) -> Result<Self, PageError> {
        let visitor = Visitor::from_request_parts(parts, shared).await?;
        let id = path_id(parts, shared).await;
        let ask = Arc::<Visitors>::from_ref(shared).visible_ask(&visitor, &id).await?;
        Ok(Self { visitor, ask })
    }
}

/// A form on the page of a request that the visitor may see.
pub(super) struct AskForm {
    pub(super) visitor: Visitor,
    pub(super) ask: Arc<Ask>,
    pub(super) form: SubmittedForm,
}

impl FromRequest<AppState> for AskForm {
    type Rejection = PageError;

    async fn from_request(request: Request, shared: &AppState) -> Result<Self, PageError> {
        let (mut parts, body) = request.into_parts();
        let VisibleRequest { visitor, ask } =
            VisibleRequest::from_request_parts(&mut parts, shared).await?;
        let visitors = Arc::<Visitors>::from_ref(shared);
        let back = paths::request(ask.id);
        let form = visitors.submitted(&visitor, &parts.headers, body, &back).await?;
        Ok(Self { visitor, ask, form })
    }
}

/// A form that is not read yet, because the page to go back to depends on the object it is about.
pub(super) struct UnreadForm {
    visitors: Arc<Visitors>,
    headers: HeaderMap,
    body: Body,
}

impl UnreadForm {
    /// Reads the form. If that fails, the visitor is sent `back`.
    pub(super) async fn read(
        self,
        visitor: &Visitor,
        back: &str,
    ) -> Result<SubmittedForm, PageError> {
        self.visitors.submitted(visitor, &self.headers, self.body, back).await
    }
}

impl FromRequest<AppState> for UnreadForm {
    type Rejection = Infallible;

    async fn from_request(request: Request, shared: &AppState) -> Result<Self, Infallible> {
        let (headers, body) = parts(request);
        Ok(Self { visitors: Arc::from_ref(shared), headers, body })
    }
}
