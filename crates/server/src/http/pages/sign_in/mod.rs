//! Signing in and out: `/sign-in`, `/sign-out`, and tokens for the terminal at `/settings/tokens`.

mod oidc;
pub(crate) mod passkeys;
mod sessions;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Query, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use channels::registry::ChannelRegistry;
use gateway::Gateway;
use gateway::auth::Authenticator;
use gateway::ids::random;
use gateway::oidc::IdentityProvider;
use gateway::secrets::ServerSecrets;
use kernel::audit::Digest;
use kernel::directory::{
    CredentialKind, Key, NewKey, NewLink, NewSession, SignInMethod, SignInProof,
};
use kernel::{Actor, DirectoryCommand, KeyId};
use notify::people::sign_in_links::SIGN_IN_MINUTES;
use serde::Deserialize;
use store::StoreError;
use subtle::ConstantTimeEq;
use views::components::browser;
use views::message_page::{self, NewToken};
use views::sign_in::SignInMethods;
use views::site::paths;
use views::{self, PageContext, SubmittedForm};

use super::cookies::Cookie;
use super::{PageError, PageResult, html, page};
use crate::config::Config;
use crate::http::client_address::client_address;
use crate::http::pages::cookies::Cookies;
use crate::http::pages::sealed_values::SealedValues;
use crate::http::pages::sign_in::passkeys::PasskeyPages;
use crate::http::pages::visitor::{Visitor, Visitors};
use crate::http::services::Streaming;
use crate::http::{AppState, posted_form};

/// The routes of signing in and out.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route(paths::SIGN_IN, get(show).post(sign_in))
        .route(paths::SIGN_IN_MAIL, post(mail_link))
        .route(paths::SIGN_IN_PASSKEY, post(passkeys::sign_in))
        .route(paths::SIGN_IN_OIDC, get(oidc::redirect_to_provider))
        .route(paths::OIDC_REDIRECT, get(oidc::handle_callback))
        .route(paths::SIGN_OUT_OIDC, get(oidc::sign_out))
        .route(paths::SIGN_OUT, post(sign_out))
        .route(paths::TOKENS, get(show_tokens).post(make_token))
        .route(paths::SESSIONS, get(sessions::show).post(sessions::end))
        .route(paths::PASSKEYS, get(passkeys::show).post(passkeys::change))
}

#[derive(Deserialize)]
struct LinkQuery {
    token: Option<String>,
}

async fn show(
    State(sign_in): State<Arc<SignInPages>>,
    headers: HeaderMap,
    Query(link): Query<LinkQuery>,
) -> Response {
    sign_in.page(&headers, StatusCode::OK, link.token.as_deref())
}

/// `POST /sign-in/mail`: emails a sign-in link to the person with this address. Neither the
/// response nor its timing reveals whether such a person exists.
async fn mail_link(
    State(sign_in): State<Arc<SignInPages>>,
    State(streaming): State<Streaming>,
    from: Request,
) -> PageResult {
    let (parts, body) = from.into_parts();
    sign_in.check_rate(&parts)?;
    let frame = PageContext::anonymous(sign_in.gateway.now());
    if sign_in.channels.email.is_none() {
        return Err(page(StatusCode::NOT_FOUND, message_page::not_found(&frame)));
    }
    let submitted = posted_form::small(body).await?;
    sign_in.check_form_origin(&parts.headers, &submitted)?;
    let email = submitted.value("email").unwrap_or_default().trim().to_owned();
    streaming.tasks.spawn(async move { sign_in.send_link(&email).await });
    Ok(html(StatusCode::OK, message_page::link_sent(&frame)))
}

/// `POST /sign-in`: exchanges a link for a session. The link then no longer works.
async fn sign_in(State(sign_in): State<Arc<SignInPages>>, from: Request) -> PageResult {
    let (parts, body) = from.into_parts();
    sign_in.check_rate(&parts)?;
    let frame = PageContext::anonymous(sign_in.gateway.now());
    let stale = || page(StatusCode::UNAUTHORIZED, message_page::stale_link(&frame));
    let submitted = posted_form::small(body).await?;
    let token = submitted.value("token").ok_or_else(stale)?;
    let directory = sign_in.gateway.directory();
    let link = directory.key_by_hash(&Digest::of(token.as_bytes())).ok_or_else(stale)?;
    let is_link = matches!(link.kind, CredentialKind::Link { .. });
    if !is_link || !link.is_live(sign_in.gateway.now()) {
        return Err(stale());
    }
    // Without this check, another website could sign this browser in as another person with a link
    // that it has, and see the input of the visitor (login CSRF).
    sign_in.check_form_origin(&parts.headers, &submitted)?;
    match sign_in.begin_session(&parts.headers, SignInProof::Link(link.id)).await {
        Ok(entered) => Ok(entered),
        Err(StoreError::Refused(_)) => Err(stale()),
        Err(error) => Err(error.into()),
    }
}

/// `POST /sign-out`: revokes the session, and removes it from the browser.
async fn sign_out(
    State(visitors): State<Arc<Visitors>>,
    State(sign_in): State<Arc<SignInPages>>,
    from: Request,
) -> PageResult {
    let (visitor, _) = visitors.visitor_and_form(from, paths::INBOX).await?;
    sign_in
        .gateway
        .run(visitor.actor.clone(), DirectoryCommand::RevokeKey(visitor.session))
        .await?;
    Ok(sign_in.signed_out_page(visitor.session))
}

async fn show_tokens(visitor: Visitor) -> PageResult {
    Ok(html(StatusCode::OK, message_page::token_form(&visitor.frame)))
}

/// `POST /settings/tokens`: creates a token for this person's terminal and shows it once.
async fn make_token(
    State(visitors): State<Arc<Visitors>>,
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    from: Request,
) -> PageResult {
    let (visitor, submitted) = visitors.visitor_and_form(from, paths::TOKENS).await?;
    let label = submitted.value("label").unwrap_or_default().to_owned();
    let minted = gateway.ids().mint("cs_human_");
    let holder = CredentialKind::Token { human: visitor.human.id.clone() };
    let new = NewKey { hash: minted.hash, kind: holder, label: label.clone(), expires_at: None };
    gateway.run(visitor.actor, DirectoryCommand::IssueKey(new)).await?;
    let new = NewToken {
        token: &minted.secret,
        label: &label,
        expires: None,
        server_url: config.public_url.as_str().trim_end_matches('/'),
    };
    Ok(html(StatusCode::CREATED, message_page::token_created(&visitor.frame, &new)))
}

/// Signs people in and out of the pages.
pub struct SignInPages {
    pub(in crate::http) gateway: Gateway,
    pub(in crate::http) config: Arc<Config>,
    pub(in crate::http) secrets: Arc<ServerSecrets>,
    pub(in crate::http) authenticator: Arc<Authenticator>,
    pub(in crate::http) channels: Arc<ChannelRegistry>,
    pub(in crate::http) provider: Option<IdentityProvider>,
    pub(in crate::http) cookies: Arc<Cookies>,
    pub(in crate::http) sealed_values: Arc<SealedValues>,
    pub(in crate::http) passkey_pages: Arc<PasskeyPages>,
}

impl SignInPages {
    /// The sign-in page. It sets the browser binding of the coming session.
    pub(super) fn page(
        &self,
        headers: &HeaderMap,
        status: StatusCode,
        token: Option<&str>,
    ) -> Response {
        let (browser, keep) = self.cookies.browser(headers);
        let csrf = self.secrets.csrf_token(&browser);
        let frame = PageContext { csrf, ..PageContext::anonymous(self.gateway.now()) };
        let ways = SignInMethods {
            mail: self.channels.email.is_some(),
            passkey: self.passkey_pages.sign_in_challenge(&browser),
            provider: self.provider.as_ref().map(|provider| provider.settings().name.clone()),
        };
        let mut answer = html(status, views::sign_in::page(&frame, &ways, token));
        answer.headers_mut().insert(header::SET_COOKIE, keep);
        answer
    }

    /// Checks that a form of an anonymous visitor comes from this server and was shown
    /// in the same browser.
    pub(super) fn check_form_origin(
        &self,
        headers: &HeaderMap,
        form: &SubmittedForm,
    ) -> Result<(), PageError> {
        let shown = self
            .cookies
            .get(headers, Cookie::Browser)
            .map(|browser| self.secrets.csrf_token(browser));
        let given = form.value("csrf").unwrap_or_default();
        let ours = shown.is_some_and(|csrf| given.as_bytes().ct_eq(csrf.as_bytes()).into());
        if ours && !is_cross_site(headers) {
            return Ok(());
        }
        let frame = PageContext::anonymous(self.gateway.now());
        Err(page(StatusCode::FORBIDDEN, message_page::stale_page(&frame, paths::SIGN_IN)))
    }

    /// Sends a sign-in link to the person with this address if they can sign in, unless
    /// too many were sent.
    async fn send_link(&self, email: &str) {
        let directory = self.gateway.directory();
        let Some(human) = directory.human_by_email(email).filter(|human| human.active) else {
            return;
        };
        if self.authenticator.login_rate_limit().count_person(&human.id).is_err() {
            tracing::warn!(human.id = %human.id, "too many sign-in links were asked for");
            return;
        }
        let seed = Digest(random());
        let link = NewLink {
            human: human.id.clone(),
            hash: Digest::of(self.secrets.sign_in_secret(&seed).as_bytes()),
            seed,
            expires_at: self.gateway.now().plus_seconds(SIGN_IN_MINUTES * 60),
        };
        if let Err(error) = self.gateway.run(Actor::System, DirectoryCommand::MailLink(link)).await
        {
            tracing::error!(human.id = %human.id, %error, "cannot send a sign-in link");
        }
    }

    /// Begins a session in a browser that presented a proof of identity.
    pub(super) async fn begin_session(
        &self,
        headers: &HeaderMap,
        proof: SignInProof,
    ) -> Result<Response, StoreError> {
        let lifetime = self.config.sign_in.lifetime;
        let (session, (browser, keep)) =
            (self.gateway.ids().mint(""), self.cookies.browser(headers));
        let agent = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
        let new = NewSession {
            hash: session.hash,
            browser: Digest::of(browser.as_bytes()),
            label: browser::summary(agent.unwrap_or_default()),
            expires_at: self.gateway.now().plus_seconds(lifetime),
        };
        self.gateway.run(Actor::System, DirectoryCommand::SignIn(proof, new)).await?;
        let cookies = AppendHeaders([
            (header::SET_COOKIE, self.cookies.set(Cookie::Session, &session.secret, lifetime)),
            (header::SET_COOKIE, keep),
            (header::SET_COOKIE, self.cookies.set(Cookie::Return, "", 0)),
        ]);
        let next = self.cookies.page_to_return_to(headers);
        Ok((cookies, Redirect::to(next.unwrap_or(paths::INBOX))).into_response())
    }

    /// The page of a browser that was signed out.
    pub(super) fn signed_out_page(&self, session: KeyId) -> Response {
        let frame = PageContext::anonymous(self.gateway.now());
        let directory = self.gateway.directory();
        let by_provider = |key: &Key| {
            let CredentialKind::Session { binding: visit, .. } = &key.kind else { return false };
            visit.is_some_and(|visit| visit.method == SignInMethod::Oidc)
        };
        let name = self.provider.as_ref().map(|provider| provider.settings().name.as_str());
        let name = name.filter(|_| directory.key(session).is_some_and(by_provider));
        let mut answer = html(StatusCode::OK, message_page::signed_out(&frame, name));
        let forget = self.cookies.set(Cookie::Session, "", 0);
        answer.headers_mut().insert(header::SET_COOKIE, forget);
        answer
    }

    /// Counts an attempt to sign in. Too many get the page of the login rate limit.
    pub(super) fn check_rate(&self, parts: &Parts) -> Result<(), PageError> {
        let ip = client_address(parts, &self.config.sign_in.trusted_proxies);
        let counted =
            ip.map_or(Ok(()), |ip| self.authenticator.login_rate_limit().count_address(ip));
        counted.map_err(|wait| self.rate_limit_page(wait))
    }

    /// The page of the login rate limit.
    pub(super) fn rate_limit_page(&self, wait: Duration) -> PageError {
        let frame = PageContext::anonymous(self.gateway.now());
        let busy = html(StatusCode::TOO_MANY_REQUESTS, message_page::too_many_attempts(&frame));
        let after = [(header::RETRY_AFTER, (wait.as_secs() + 1).to_string())];
        PageError(Box::new((after, busy).into_response()))
    }
}

/// Whether another website sent the form.
pub(crate) fn is_cross_site(headers: &HeaderMap) -> bool {
    headers
        .get("sec-fetch-site")
        .is_some_and(|site| site != "same-origin" && site != "none" && site != "same-site")
}
