//! Signing in with somebody else's identities: `/sign-in/oidc` and where the provider sends back to.

use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};
use gateway::oidc::person::{Arrival, arrive};
use gateway::oidc::{Flow, Provider, Return};
use kernel::directory::Proof;
use kernel::{Actor, DirectoryCommand};
use store::StoreError;
use url::Url;

use super::cookies::Cookie;
use super::sealed::SECONDS;
use super::{Instead, Page, html, page};
use crate::http::{App, Shared};
use views::site::paths;
use views::{Frame, message_page};

/// `GET /sign-in/oidc`: off to the provider. Nothing is changed by it.
pub(super) async fn leave(State(app): State<Shared>, from: Request) -> Page {
    let (parts, _) = from.into_parts();
    let provider = app.providing()?;
    app.knock(&parts)?;
    let (browser, keep) = app.browser(&parts.headers);
    let begun = provider.begin(&app.oidc_back(), app.gateway.wall_time()).await;
    let (url, flow) = begun.map_err(|error| app.unreached(&error))?;
    let sealed = app.entrust("oidc", &browser, flow).unwrap_or_default();
    let cookies = AppendHeaders([
        (header::SET_COOKIE, app.set_cookie(Cookie::Flow, &sealed, SECONDS)),
        (header::SET_COOKIE, keep),
    ]);
    Ok((cookies, Redirect::to(url.as_str())).into_response())
}

/// Back from the provider, in the browser that left.
pub(super) async fn come_back(
    State(app): State<Shared>,
    Query(came): Query<Return>,
    from: Request,
) -> Page {
    let (parts, _) = from.into_parts();
    let provider = app.providing()?;
    app.knock(&parts)?;
    let mut answer = match Box::pin(app.arrived(provider, &parts.headers, &came)).await {
        Ok(entered) => entered,
        Err(instead) => instead.into_response(),
    };
    // Good or bad, it was used.
    answer.headers_mut().append(header::SET_COOKIE, app.set_cookie(Cookie::Flow, "", 0));
    Ok(answer)
}

/// `GET /sign-out/oidc`: to where the provider signs out, for whoever is signed out here already.
pub(super) async fn sign_out(State(app): State<Shared>) -> Page {
    let provider = app.providing()?;
    let back = app.address(paths::SIGN_IN);
    let known = provider.goodbye(&back, app.gateway.wall_time()).await;
    let url = known.map_err(|error| app.unreached(&error))?.unwrap_or(back);
    Ok(Redirect::to(url.as_str()).into_response())
}

impl App {
    fn providing(&self) -> Result<&Provider, Instead> {
        let frame = Frame::anonymous(self.gateway.now());
        let none = || page(StatusCode::NOT_FOUND, message_page::not_found(&frame));
        self.provider.as_ref().ok_or_else(none)
    }

    /// One of our own addresses, as others reach it.
    fn address(&self, path: &str) -> Url {
        let mut url = self.config.public_url.clone();
        url.set_path(path);
        url
    }

    fn oidc_back(&self) -> Url {
        self.address(paths::OIDC_BACK)
    }

    fn unreached(&self, error: &anyhow::Error) -> Instead {
        tracing::warn!(error = format!("{error:#}"), "the provider of identities cannot be used");
        let frame = Frame::anonymous(self.gateway.now());
        let mut busy = html(StatusCode::SERVICE_UNAVAILABLE, message_page::unavailable(&frame));
        busy.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("10"));
        Instead(Box::new(busy))
    }

    async fn arrived(
        &self,
        provider: &Provider,
        headers: &HeaderMap,
        came: &Return,
    ) -> Result<Response, Instead> {
        let frame = Frame::anonymous(self.gateway.now());
        let refused = || page(StatusCode::UNAUTHORIZED, message_page::provider_refused(&frame));
        let browser = self.cookie(headers, Cookie::Browser).ok_or_else(refused)?;
        let sealed = self.cookie(headers, Cookie::Flow).ok_or_else(refused)?;
        let flow: Flow = self.entrusted("oidc", browser, sealed).ok_or_else(refused)?;
        let now = self.gateway.wall_time();
        let claims = provider.finish(&flow, came, &self.oidc_back(), now).await;
        let claims = claims.map_err(|error| {
            tracing::warn!(error = format!("{error:#}"), "a sign-in with the provider was refused");
            refused()
        })?;
        let found = arrive(provider.settings(), &self.gateway.directory(), &claims);
        let Some(Arrival { human, save, email }) = found else {
            return Err(page(StatusCode::FORBIDDEN, message_page::not_known(&frame)));
        };
        if let Some(new) = save {
            match self.gateway.run(Actor::System, DirectoryCommand::SaveHuman(new)).await {
                Ok(_) => {}
                // Such as the last administrator, who stays one: they are let in as they are.
                Err(StoreError::Refused(refusal)) => {
                    tracing::warn!(human.id = %human, %refusal, "the provider's groups were not taken over");
                }
                Err(error) => return Err(error.into()),
            }
        }
        match self.enter(headers, Proof::Oidc(human, email)).await {
            Ok(entered) => Ok(entered),
            Err(StoreError::Refused(_)) => Err(refused()),
            Err(error) => Err(error.into()),
        }
    }
}
