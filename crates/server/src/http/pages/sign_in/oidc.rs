//! Single sign-on (OIDC): `/sign-in/oidc`, and the address that the provider redirects to.

use std::sync::Arc;

use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};
use gateway::oidc::person::{OidcSignIn, find_or_create};
use gateway::oidc::{IdentityProvider, OidcCallback, OidcFlow};
use kernel::directory::SignInProof;
use kernel::{Actor, DirectoryCommand};
use store::StoreError;
use url::Url;
use views::site::paths;
use views::{PageContext, message_page};

use crate::http::pages::cookies::{Cookie, Cookies};
use crate::http::pages::sealed_values::{SECONDS, SealedValues};
use crate::http::pages::sign_in::SignInPages;
use crate::http::pages::{PageError, PageResult, html, page};

/// `GET /sign-in/oidc`: redirects to the provider. It changes nothing.
pub(super) async fn redirect_to_provider(
    State(sign_in): State<Arc<SignInPages>>,
    State(cookies): State<Arc<Cookies>>,
    State(sealed_values): State<Arc<SealedValues>>,
    from: Request,
) -> PageResult {
    let (parts, _) = from.into_parts();
    let provider = sign_in.require_provider()?;
    sign_in.check_rate(&parts)?;
    let (browser, keep) = cookies.browser(&parts.headers);
    let begun =
        provider.authorization_url(&sign_in.callback_url(), sign_in.gateway.wall_time()).await;
    let (url, flow) = begun.map_err(|error| sign_in.provider_unreachable(&error))?;
    let sealed = sealed_values.seal("oidc", &browser, flow).unwrap_or_default();
    let cookies = AppendHeaders([
        (header::SET_COOKIE, cookies.set(Cookie::Flow, &sealed, SECONDS)),
        (header::SET_COOKIE, keep),
    ]);
    Ok((cookies, Redirect::to(url.as_str())).into_response())
}

/// Handles the redirect from the provider, in the browser that was sent there.
pub(super) async fn handle_callback(
    State(sign_in): State<Arc<SignInPages>>,
    State(cookies): State<Arc<Cookies>>,
    Query(came): Query<OidcCallback>,
    from: Request,
) -> PageResult {
    let (parts, _) = from.into_parts();
    let provider = sign_in.require_provider()?;
    sign_in.check_rate(&parts)?;
    let mut answer = match Box::pin(sign_in.sign_in_claims(provider, &parts.headers, &came)).await {
        Ok(entered) => entered,
        Err(instead) => instead.into_response(),
    };
    // The flow is used up whether or not it succeeded.
    answer.headers_mut().append(header::SET_COOKIE, cookies.set(Cookie::Flow, "", 0));
    Ok(answer)
}

/// `GET /sign-out/oidc`: redirects to the sign-out of the provider, after the person
/// was signed out here.
pub(super) async fn sign_out(State(sign_in): State<Arc<SignInPages>>) -> PageResult {
    let provider = sign_in.require_provider()?;
    let back = sign_in.address(paths::SIGN_IN);
    let known = provider.sign_out_url(&back, sign_in.gateway.wall_time()).await;
    let url = known.map_err(|error| sign_in.provider_unreachable(&error))?.unwrap_or(back);
    Ok(Redirect::to(url.as_str()).into_response())
}

impl SignInPages {
    fn require_provider(&self) -> Result<&IdentityProvider, PageError> {
        let frame = PageContext::anonymous(self.gateway.now());
        let none = || page(StatusCode::NOT_FOUND, message_page::not_found(&frame));
        self.provider.as_ref().ok_or_else(none)
    }

    /// The public URL of one of the server's own paths.
    fn address(&self, path: &str) -> Url {
        let mut url = self.config.public_url.clone();
        url.set_path(path);
        url
    }

    fn callback_url(&self) -> Url {
        self.address(paths::OIDC_REDIRECT)
    }

    fn provider_unreachable(&self, error: &anyhow::Error) -> PageError {
        tracing::warn!(error = format!("{error:#}"), "the provider of identities cannot be used");
        let frame = PageContext::anonymous(self.gateway.now());
        let mut busy = html(StatusCode::SERVICE_UNAVAILABLE, message_page::unavailable(&frame));
        busy.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("10"));
        PageError(Box::new(busy))
    }

    async fn sign_in_claims(
        &self,
        provider: &IdentityProvider,
        headers: &HeaderMap,
        came: &OidcCallback,
    ) -> Result<Response, PageError> {
        let frame = PageContext::anonymous(self.gateway.now());
        let refused = || page(StatusCode::UNAUTHORIZED, message_page::provider_refused(&frame));
        let browser = self.cookies.get(headers, Cookie::Browser).ok_or_else(refused)?;
        let sealed = self.cookies.get(headers, Cookie::Flow).ok_or_else(refused)?;
        let flow: OidcFlow =
            self.sealed_values.open("oidc", browser, sealed).ok_or_else(refused)?;
        let now = self.gateway.wall_time();
        let claims = provider.verify_callback(&flow, came, &self.callback_url(), now).await;
        let claims = claims.map_err(|error| {
            tracing::warn!(error = format!("{error:#}"), "a sign-in with the provider was refused");
            refused()
        })?;
        let found = find_or_create(provider.settings(), &self.gateway.directory(), &claims);
        let Some(OidcSignIn { human, save, email }) = found else {
            return Err(page(StatusCode::FORBIDDEN, message_page::no_account(&frame)));
        };
        if let Some(new) = save {
            match self.gateway.run(Actor::System, DirectoryCommand::SaveHuman(new)).await {
                Ok(_) => {}
                // For example, the last administrator stays one. They are signed in without the
                // change.
                Err(StoreError::Refused(refusal)) => {
                    tracing::warn!(human.id = %human, %refusal, "the provider's groups were not taken over");
                }
                Err(error) => return Err(error.into()),
            }
        }
        match self.begin_session(headers, SignInProof::Oidc(human, email)).await {
            Ok(entered) => Ok(entered),
            Err(StoreError::Refused(_)) => Err(refused()),
            Err(error) => Err(error.into()),
        }
    }
}
