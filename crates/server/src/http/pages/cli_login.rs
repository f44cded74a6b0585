//! `/cli-login`: signs in the `countersign` command as the person who confirms it in the browser.
//!
//! The command line generates the token itself and sends only its hash (the challenge) through the
//! browser. The person confirms the challenge on a page that they are signed in to. The browser
//! carries a sealed grant back, either to a port of the same computer or as a code that the person
//! copies. The command line exchanges the grant for the token, which only works for the token that
//! has this hash. So the token is in no address and in no browser, and a grant in the wrong hands
//! is useless. Grants are sealed and not stored, so any node can exchange them; a token with a hash
//! that exists is refused, so a grant works once.

use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::extract::{OriginalUri, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use dialects::native::KeyView;
use gateway::Gateway;
use gateway::auth::{Authenticator, Denied};
use gateway::cli_login::{INSTALLATION_PURPOSE, InstallationGrant};
use kernel::audit::Digest;
use kernel::directory::{CredentialKind, NewKey, NewSession, SignInProof};
use kernel::{Actor, AnswerInterface, Assurance, DirectoryCommand, HumanId, KeyId, Refusal};
use serde::{Deserialize, Serialize};
use store::StoreError;
use views::cli_login::{self, CommandLineLogin};
use views::site::paths;
use views::{PageContext, SubmittedForm};

use super::cookies::Cookie;
use super::visitor::Visitors;
use super::{PageError, PageResult, SealedValues, SignInPages, html, page};
use crate::config::SecretString;
use crate::http::callers::Callers;
use crate::http::problem::ApiProblem;
use crate::http::{AppState, body};

/// How long the grant works if the browser brings it back itself.
const REDIRECTED_SECONDS: u64 = 60;
/// How long the grant works if the person copies it.
const COPIED_SECONDS: u64 = 10 * 60;
/// How long the server remembers to come back here after signing in.
const RETURN_SECONDS: u64 = 10 * 60;
/// How long a token works.
const TOKEN_DAYS: u64 = 90;
/// How long the session lives that a sign-in link opens until the token exists.
const LINK_SESSION_SECONDS: u64 = 60;
/// The purpose that separates these sealed values from others.
const PURPOSE: &str = "command line login";
/// The start of every token of a person.
const TOKEN_PREFIX: &str = "cs_human_";
/// The length of a token's random part: 32 bytes in Base64.
const TOKEN_LENGTH: usize = 43;
/// The longest name of a computer.
const MAX_DEVICE_CHARS: usize = 64;
/// The largest body of an exchange.
const MAX_BODY_BYTES: usize = 16 * 1024;

/// The routes of signing in on the command line.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route(paths::CLI_LOGIN, get(show).post(confirm))
        .route(paths::CLI_LOGIN_TOKEN, post(exchange).delete(revoke))
}

/// What the command line asks for, from the address or from the form.
struct LoginParams {
    challenge: Digest,
    state: String,
    device: String,
    /// The port on 127.0.0.1 to go back to. A port instead of an address: the browser is sent to
    /// no other computer.
    port: Option<u16>,
}

impl LoginParams {
    fn read<'a>(value: impl Fn(&str) -> Option<&'a str>) -> Option<Self> {
        let url_safe = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_');
        let state = value("state").filter(|state| (22..=128).contains(&state.len()))?;
        let port = match value("port") {
            // Ports below are for services of the system.
            Some(port) => Some(port.parse().ok().filter(|port| *port >= 1024)?),
            None => None,
        };
        Some(Self {
            challenge: value("challenge")?.parse().ok()?,
            state: state.bytes().all(url_safe).then(|| state.to_owned())?,
            device: device_name(value("device").unwrap_or_default()),
            port,
        })
    }
}

/// A name for the list of credentials, without control characters.
fn device_name(text: &str) -> String {
    let shown = text.chars().filter(|c| !c.is_control());
    let name: String = shown.take(MAX_DEVICE_CHARS).collect();
    match name.trim() {
        "" => "unnamed computer".to_owned(),
        name => name.to_owned(),
    }
}

/// The code that the terminal and the page show: the beginning of the challenge.
fn check_code(challenge: Digest) -> String {
    let hex = challenge.to_string().to_uppercase();
    format!("{}-{}", hex.get(..4).unwrap_or_default(), hex.get(4..8).unwrap_or_default())
}

/// `GET /cli-login`: asks the person who is signed in. Anyone else gets the sign-in page, and comes
/// back here after signing in.
async fn show(
    State(visitors): State<Arc<Visitors>>,
    OriginalUri(address): OriginalUri,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
) -> PageResult {
    let value =
        |name: &str| pairs.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str());
    let login = LoginParams::read(value);
    let visitor = match visitors.visitor(&headers).await {
        Ok(visitor) => visitor,
        Err(PageError(mut answer)) => {
            if let (Some(_), Some(page)) = (&login, address.path_and_query()) {
                let page = visitors.cookies.set(Cookie::Return, page.as_str(), RETURN_SECONDS);
                answer.headers_mut().append(header::SET_COOKIE, page);
            }
            return Err(PageError(answer));
        }
    };
    let login = login.ok_or_else(|| invalid(&visitor.frame))?;
    let shown = CommandLineLogin {
        device: &login.device,
        challenge: &login.challenge.to_string(),
        check: &check_code(login.challenge),
        state: &login.state,
        port: login.port,
        days: TOKEN_DAYS,
    };
    Ok(html(StatusCode::OK, cli_login::confirmation(&visitor.frame, shown)))
}

/// The confirmation of a person, sealed for the holder of the challenge.
#[derive(Serialize, Deserialize)]
struct LoginGrant {
    human: HumanId,
    session: KeyId,
    device: String,
}

/// `POST /cli-login`: the person confirmed. No token exists yet.
async fn confirm(
    State(visitors): State<Arc<Visitors>>,
    State(sealed_values): State<Arc<SealedValues>>,
    from: Request,
) -> PageResult {
    let (visitor, form) = visitors.visitor_and_form(from, paths::INBOX).await?;
    let login = read_form(&form).ok_or_else(|| invalid(&visitor.frame))?;
    let seconds = if login.port.is_some() { REDIRECTED_SECONDS } else { COPIED_SECONDS };
    let human = visitor.human.id.clone();
    let grant = LoginGrant { human, session: visitor.session, device: login.device };
    let holder = login.challenge.to_string();
    let code = sealed_values
        .seal_for_seconds(seconds, PURPOSE, &holder, grant)
        .ok_or_else(|| invalid(&visitor.frame))?;
    let Some(port) = login.port else {
        return Ok(html(StatusCode::OK, cli_login::code(&visitor.frame, &code)));
    };
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("code", &code).append_pair("state", &login.state);
    let back = format!("http://127.0.0.1:{port}/?{}", query.finish());
    // Not a redirect: browsers apply `form-action 'self'` to redirects after a form too.
    let refresh = HeaderValue::from_str(&format!("0;url={back}"));
    let mut answer = html(StatusCode::OK, cli_login::back_to_terminal(&visitor.frame, &back));
    if let Ok(refresh) = refresh {
        answer.headers_mut().insert(header::REFRESH, refresh);
    }
    Ok(answer)
}

fn read_form(form: &SubmittedForm) -> Option<LoginParams> {
    LoginParams::read(|name| form.value(name))
}

fn invalid(frame: &PageContext) -> PageError {
    page(StatusCode::BAD_REQUEST, cli_login::invalid(frame))
}

/// The body of `POST /cli-login/token`: the new token, and one proof of who it is for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExchangeBody {
    /// The token that the command line generated.
    token: SecretString,
    /// The grant of a person who confirmed in the browser.
    code: Option<String>,
    /// The secret of a sign-in link, which then no longer works.
    link: Option<SecretString>,
    /// A grant sealed with the keys of this installation: whoever can read these keys on disk
    /// could sign anything anyway.
    installation: Option<String>,
    /// The name of the computer, with a link or an installation's grant.
    #[serde(default)]
    device: String,
}

/// `POST /cli-login/token`: stores the hash of the command line's token.
async fn exchange(
    State(sign_in): State<Arc<SignInPages>>,
    State(sealed_values): State<Arc<SealedValues>>,
    from: Request,
) -> Result<Response, ApiProblem> {
    let (parts, body) = from.into_parts();
    let bytes = body::read(body, MAX_BODY_BYTES).await?;
    let given: ExchangeBody = serde_json::from_slice(&bytes).map_err(|error| {
        ApiProblem::new(400, "invalid-json").detail(format!("the body cannot be read: {error}"))
    })?;
    // Guessing is hopeless, but trying costs: the attempts count like those of the sign-in page.
    if sign_in.check_rate(&parts).is_err() {
        let problem = ApiProblem::new(429, "rate-limited");
        return Err(problem.detail("too many attempts to sign in; try again in a minute"));
    }
    if !is_token(given.token.reveal()) {
        let expected = "cs_human_ and 43 characters of Base64";
        let problem = ApiProblem::new(422, "invalid-field");
        let problem = problem.detail(format!("token: expected {expected}"));
        return Err(problem.field("token", expected));
    }
    let hash = Digest::of(given.token.reveal().as_bytes());
    let holder = hash.to_string();
    let gateway = &sign_in.gateway;
    if gateway.directory().key_by_hash(&hash).is_some() {
        return Err(refused());
    }
    match (&given.code, &given.link, &given.installation) {
        (Some(code), None, None) => {
            let grant: LoginGrant =
                sealed_values.open(PURPOSE, &holder, code).ok_or_else(refused)?;
            let actor = still_signed_in(gateway, &grant).ok_or_else(refused)?;
            issue(gateway, actor, hash, &grant.human, &grant.device).await
        }
        (None, Some(link), None) => {
            let (actor, human, session) =
                open_link(gateway, &sign_in.authenticator, link.reveal()).await?;
            let issued = issue(gateway, actor, hash, &human, &device_name(&given.device)).await;
            gateway.run(Actor::System, DirectoryCommand::RevokeKey(session)).await?;
            issued
        }
        (None, None, Some(sealed)) => {
            let grant: InstallationGrant =
                sealed_values.open(INSTALLATION_PURPOSE, &holder, sealed).ok_or_else(refused)?;
            let human = grant.person(&gateway.directory()).ok_or_else(|| {
                let detail = "there is no such person who is active; name another with --human";
                ApiProblem::new(404, "not-found").detail(detail)
            })?;
            issue(gateway, Actor::System, hash, &human, &device_name(&given.device)).await
        }
        _ => {
            let expected = "exactly one of `code`, `link` and `installation`";
            let problem = ApiProblem::new(422, "invalid-field");
            Err(problem.detail(format!("code: expected {expected}")).field("code", expected))
        }
    }
}

/// `DELETE /cli-login/token`: revokes the token that the command line presents.
async fn revoke(
    State(callers): State<Callers>,
    State(gateway): State<Gateway>,
    headers: HeaderMap,
) -> Result<Response, ApiProblem> {
    let actor = callers.human(&headers).await?;
    // A JWT of an issuer is no key of this server, so there is nothing to revoke.
    let key = callers.key(&headers).ok_or(Refusal::NotFound { what: "token" })?;
    gateway.run(actor, DirectoryCommand::RevokeKey(key)).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Whether a token has the form of those that this server generates, so that it cannot be guessed
/// for being short.
fn is_token(token: &str) -> bool {
    let url_safe = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_');
    token
        .strip_prefix(TOKEN_PREFIX)
        .is_some_and(|random| random.len() == TOKEN_LENGTH && random.bytes().all(url_safe))
}

/// One answer for every wrong proof: it does not reveal what was wrong.
fn refused() -> ApiProblem {
    ApiProblem::new(401, "unauthorized").detail(
        "the code or link is wrong, has expired or was used before; run `countersign login` again",
    )
}

/// The person who confirmed, if they are active and the session still lives in which they did.
fn still_signed_in(gateway: &Gateway, grant: &LoginGrant) -> Option<Actor> {
    let directory = gateway.directory();
    let session = directory.key(grant.session).filter(|key| key.is_live(gateway.now()))?;
    let CredentialKind::Session { human, .. } = &session.kind else { return None };
    directory.human(human).filter(|known| known.active && known.id == grant.human)?;
    Some(person(human))
}

/// A person on the pages of this server.
fn person(id: &HumanId) -> Actor {
    let assurance = Assurance::Session;
    Actor::Human { id: id.clone(), via: AnswerInterface::Web, assurance }
}

/// Uses up a sign-in link. The session that it opens has a secret that nothing knows, and is ended
/// as soon as the token exists.
async fn open_link(
    gateway: &Gateway,
    authenticator: &Authenticator,
    secret: &str,
) -> Result<(Actor, HumanId, KeyId), ApiProblem> {
    let now = gateway.now();
    let directory = gateway.directory();
    let link = directory.key_by_hash(&Digest::of(secret.as_bytes())).ok_or_else(refused)?;
    let CredentialKind::Link { human, .. } = &link.kind else { return Err(refused()) };
    if !link.is_live(now) {
        return Err(refused());
    }
    let (session, browser) = (gateway.ids().mint(""), gateway.ids().mint(""));
    let new = NewSession {
        hash: session.hash,
        browser: browser.hash,
        label: "countersign login".to_owned(),
        expires_at: now.plus_seconds(LINK_SESSION_SECONDS),
    };
    let opened = DirectoryCommand::SignIn(SignInProof::Link(link.id), new);
    match gateway.run(Actor::System, opened).await {
        Ok(_) => {}
        Err(StoreError::Refused(_)) => return Err(refused()),
        Err(error) => return Err(error.into()),
    }
    let directory = gateway.directory();
    let opened = authenticator.session(&directory, &session.secret, &browser.secret, now);
    let (actor, key) = opened.map_err(|_: Denied| refused())?;
    Ok((actor, human.clone(), key.id))
}

/// Stores the token. A hash that exists is refused, so a repetition is too.
async fn issue(
    gateway: &Gateway,
    actor: Actor,
    hash: Digest,
    human: &HumanId,
    device: &str,
) -> Result<Response, ApiProblem> {
    let new = NewKey {
        hash,
        kind: CredentialKind::Token { human: human.clone() },
        label: format!("countersign login on {device}"),
        expires_at: Some(gateway.now().plus_seconds(TOKEN_DAYS * 24 * 60 * 60)),
    };
    match gateway.run(actor, DirectoryCommand::IssueKey(new)).await {
        Ok(_) => {}
        Err(StoreError::Refused(Refusal::Exists { .. })) => return Err(refused()),
        Err(error) => return Err(error.into()),
    }
    let directory = gateway.directory();
    let key = directory.key_by_hash(&hash).ok_or(Refusal::NotFound { what: "key" })?;
    let issued = KeyView::of(key, &directory, None, gateway.now());
    Ok((StatusCode::CREATED, [(header::CACHE_CONTROL, "no-store")], Json(issued)).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &'static str)]) -> Option<LoginParams> {
        LoginParams::read(|name| {
            pairs.iter().find(|(given, _)| *given == name).map(|(_, value)| *value)
        })
    }

    #[test]
    fn a_browser_is_only_sent_to_a_port_of_its_own_computer() {
        let challenge =
            ("challenge", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08");
        let state = ("state", "0123456789abcdefABCDEF-_");
        assert_eq!(read(&[challenge, state, ("port", "4000")]).unwrap().port, Some(4000));
        assert_eq!(read(&[challenge, state]).unwrap().port, None);
        for port in ["80", "1023", "0", "65536", "4000@evil.example", "", "evil.example:4000"] {
            assert!(read(&[challenge, state, ("port", port)]).is_none(), "{port}");
        }
        for state in ["short", "0123456789abcdef&code=x", ""] {
            assert!(read(&[challenge, ("state", state)]).is_none(), "{state}");
        }
        assert!(read(&[("challenge", "9f86"), state]).is_none());
        assert!(read(&[challenge]).is_none() && read(&[state]).is_none());
    }

    #[test]
    fn tokens_have_the_strength_of_those_of_the_server() {
        assert!(is_token(&format!("cs_human_{}", "a".repeat(43))));
        for weak in ["", "cs_human_", "cs_human_secret"] {
            assert!(!is_token(weak), "{weak}");
        }
        assert!(!is_token(&format!("cs_agent_{}", "a".repeat(43))));
        assert!(!is_token(&format!("cs_human_{}", "ä".repeat(43))));
    }

    #[test]
    fn names_of_computers_are_short_and_plain() {
        assert_eq!(device_name(" laptop\u{1b}[2J\n "), "laptop[2J");
        assert_eq!(device_name("\t"), "unnamed computer");
        assert_eq!(device_name(&"x".repeat(500)).len(), MAX_DEVICE_CHARS);
    }
}
