//! Coming and going: `/sign-in`, `/sign-out`, and tokens for the terminal at `/settings/tokens`.

use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use kernel::audit::Digest;
use kernel::directory::{Holder, NewKey};
use kernel::{Actor, Command};
use serde::Deserialize;
use store::StoreError;

use super::{Page, html, page, parts};
use crate::http::{App, Shared, submitted};
use crate::web::notices::{self, NewToken};
use crate::web::{Frame, paths};

/// How long a browser stays signed in.
const SESSION_SECONDS: u64 = 30 * 24 * 60 * 60;

#[derive(Deserialize)]
pub(super) struct LinkToken {
    token: Option<String>,
}

pub(super) async fn show_sign_in(
    State(app): State<Shared>,
    Query(link): Query<LinkToken>,
) -> Response {
    let frame = Frame::anonymous(app.gateway.now());
    html(StatusCode::OK, notices::sign_in(&frame, link.token.as_deref()))
}

/// `POST /sign-in`: exchanges a link for a session. The link is then used up.
pub(super) async fn sign_in(State(app): State<Shared>, from: Request) -> Page {
    let (headers, body) = parts(from);
    let frame = Frame::anonymous(app.gateway.now());
    let stale = || page(StatusCode::UNAUTHORIZED, notices::stale_link(&frame));
    if from_elsewhere(&headers) {
        return Err(page(StatusCode::FORBIDDEN, notices::stale_page(&frame, paths::SIGN_IN)));
    }
    let submitted = submitted::small(body).await?;
    let token = submitted.value("token").ok_or_else(stale)?;
    let directory = app.gateway.directory();
    let key = directory.key_by_hash(&Digest::of(token.as_bytes())).ok_or_else(stale)?;
    let Holder::Link { human } = &key.holder else { return Err(stale()) };
    let session = app.gateway.ids().mint("");
    let new = NewKey {
        hash: session.hash,
        holder: Holder::Session { human: human.clone() },
        label: "browser".to_owned(),
        expires_at: Some(app.gateway.now().plus_seconds(SESSION_SECONDS)),
    };
    match app.gateway.run(Actor::System, Command::SignIn(key.id, new)).await {
        Ok(_) => {
            let cookie = app.cookie(&session.secret, SESSION_SECONDS);
            Ok(([(header::SET_COOKIE, cookie)], Redirect::to(paths::INBOX)).into_response())
        }
        Err(StoreError::Refused(_)) => Err(stale()),
        Err(error) => Err(error.into()),
    }
}

/// `POST /sign-out`: the session is revoked, not only forgotten by the browser.
pub(super) async fn sign_out(State(app): State<Shared>, from: Request) -> Page {
    let (headers, body) = parts(from);
    let visitor = app.visitor(&headers).await?;
    app.submitted(&visitor, &headers, body, paths::INBOX).await?;
    let directory = app.gateway.directory();
    if let Some(key) = directory.key_by_hash(&Digest::of(visitor.secret.as_bytes())) {
        app.gateway.run(visitor.actor, Command::RevokeKey(key.id)).await?;
    }
    let frame = Frame::anonymous(app.gateway.now());
    let mut answer = html(StatusCode::OK, notices::signed_out(&frame));
    answer.headers_mut().insert(header::SET_COOKIE, app.cookie("", 0));
    Ok(answer)
}

pub(super) async fn show_tokens(State(app): State<Shared>, headers: HeaderMap) -> Page {
    let visitor = app.visitor(&headers).await?;
    Ok(html(StatusCode::OK, notices::token_form(&visitor.frame)))
}

/// `POST /settings/tokens`: a token for this person's terminal, shown once.
pub(super) async fn make_token(State(app): State<Shared>, from: Request) -> Page {
    let (headers, body) = parts(from);
    let visitor = app.visitor(&headers).await?;
    let submitted = app.submitted(&visitor, &headers, body, paths::TOKENS).await?;
    let label = submitted.value("label").unwrap_or_default().to_owned();
    let minted = app.gateway.ids().mint("cs_human_");
    let holder = Holder::Token { human: visitor.human.id.clone() };
    let new = NewKey { hash: minted.hash, holder, label: label.clone(), expires_at: None };
    app.gateway.run(visitor.actor, Command::IssueKey(new)).await?;
    let new = NewToken {
        token: &minted.secret,
        label: &label,
        expires: None,
        server_url: app.config.public_url.as_str().trim_end_matches('/'),
    };
    Ok(html(StatusCode::CREATED, notices::token_made(&visitor.frame, &new)))
}

impl App {
    /// Over HTTPS the cookie is bound to this host.
    fn cookie_name(&self) -> &'static str {
        if self.config.public_url.scheme() == "https" {
            "__Host-countersign"
        } else {
            "countersign"
        }
    }

    fn cookie(&self, value: &str, seconds: u64) -> HeaderValue {
        let secure = if self.config.public_url.scheme() == "https" { "; Secure" } else { "" };
        let text = format!(
            "{}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}",
            self.cookie_name()
        );
        HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
    }

    /// The session a browser presents.
    pub(super) fn session_cookie(&self, headers: &HeaderMap) -> Option<String> {
        headers
            .get_all(header::COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .find(|(key, _)| *key == self.cookie_name())
            .map(|(_, value)| value.to_owned())
    }
}

/// Whether another website sent this browser here with a form of its own.
fn from_elsewhere(headers: &HeaderMap) -> bool {
    headers
        .get("sec-fetch-site")
        .is_some_and(|site| site != "same-origin" && site != "none" && site != "same-site")
}
