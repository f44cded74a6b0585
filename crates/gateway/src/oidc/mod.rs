//! Single sign-on with OpenID Connect: code flow with PKCE.
//!
//! The provider's metadata and keys are fetched when they are first needed. The browser keeps the
//! state of a sign-in ([`OidcFlow`]), sealed, between leaving and returning.
//! `docs/adr/0024-openid-connect-by-hand.md` explains why no library does this.

pub mod person;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use channels::SecretString;
use kernel::ids::GroupId;
use kernel::{ProjectId, Time};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use tokio::sync::Mutex;
use url::Url;

use crate::ids::random;
use crate::jwt::{Issuer, KeySource, PLAIN_JWT_TYPES};

/// How long the provider's metadata is cached.
const METADATA_MAX_AGE_MILLIS: i64 = 60 * 60_000;
/// The timeout of the provider.
const PROVIDER_TIMEOUT: Duration = Duration::from_secs(10);
/// The largest answer that is read.
const MAX_RESPONSE_BYTES: usize = 256 * 1024;

/// The settings of an identity provider.
#[derive(Debug, Clone)]
pub struct OidcSettings {
    /// The `iss` claim, and the base of the metadata URL.
    pub issuer: Url,
    /// The text of the button after "Sign in with".
    pub name: String,
    /// The OAuth client ID.
    pub client_id: String,
    /// The OAuth client secret. Without one, only PKCE protects the code.
    pub client_secret: Option<SecretString>,
    /// The requested scopes.
    pub scopes: Vec<String>,
    /// How the provider's users are matched with people.
    pub identify: IdentifyBy,
    /// Whether unknown people are created, and in which projects.
    pub create: Option<Vec<ProjectId>>,
    /// The claim with the groups.
    pub groups_claim: String,
    /// Maps the provider's groups to groups of this server.
    pub groups: BTreeMap<String, GroupId>,
    /// The provider's group whose members are administrators.
    pub admin_group: Option<String>,
}

/// How the provider's users are matched with people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentifyBy {
    /// By an email address that the provider has verified.
    Email,
    /// By the subject, which is the id of the person.
    Subject,
}

/// An identity provider.
pub struct IdentityProvider {
    settings: OidcSettings,
    http: reqwest::Client,
    known: Mutex<Option<(Arc<ProviderMetadata>, Time)>>,
}

/// The provider's metadata and keys.
struct ProviderMetadata {
    description: DiscoveryDocument,
    issuer: Issuer,
}

/// The metadata that the server uses.
#[derive(Debug, Clone, Deserialize)]
struct DiscoveryDocument {
    issuer: String,
    authorization_endpoint: Url,
    token_endpoint: Url,
    jwks_uri: Url,
    #[serde(default)]
    userinfo_endpoint: Option<Url>,
    #[serde(default)]
    end_session_endpoint: Option<Url>,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
}

/// The state of a sign-in while the browser is at the provider.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OidcFlow {
    state: String,
    nonce: String,
    verifier: String,
}

/// The parameters that the browser brings back.
#[derive(Debug, Default, Deserialize)]
pub struct OidcCallback {
    #[serde(default)]
    state: String,
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    iss: Option<String>,
}

/// The provider's claims about a person.
#[derive(Debug, Clone, Deserialize)]
pub struct OidcClaims {
    /// The id of the person at the provider.
    pub sub: String,
    #[serde(default)]
    nonce: Option<String>,
    #[serde(default)]
    azp: Option<String>,
    #[serde(default)]
    aud: Value,
    exp: i64,
    /// All other claims.
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

#[derive(Deserialize)]
struct TokenResponse {
    id_token: String,
    access_token: String,
}

impl IdentityProvider {
    /// A provider with these settings. Fetches nothing yet.
    pub fn new(settings: OidcSettings) -> anyhow::Result<Self> {
        let http = reqwest::Client::builder()
            .http1_only()
            .timeout(PROVIDER_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .context("cannot create an HTTP client")?;
        Ok(Self { settings, http, known: Mutex::default() })
    }

    pub fn settings(&self) -> &OidcSettings {
        &self.settings
    }

    /// Checks that the provider answers with its metadata.
    pub async fn check(&self, now: Time) -> anyhow::Result<()> {
        self.metadata(now).await.map(drop)
    }

    /// The URL to send a browser to that returns to `back`, and the state to keep.
    pub async fn authorization_url(
        &self,
        back: &Url,
        now: Time,
    ) -> anyhow::Result<(Url, OidcFlow)> {
        let known = self.metadata(now).await?;
        let drawn = || BASE64_URL_SAFE_NO_PAD.encode(random::<32>());
        let flow = OidcFlow { state: drawn(), nonce: drawn(), verifier: drawn() };
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(flow.verifier.as_bytes()));
        let mut url = known.description.authorization_endpoint.clone();
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.settings.client_id)
            .append_pair("redirect_uri", back.as_str())
            .append_pair("scope", &self.settings.scopes.join(" "))
            .append_pair("state", &flow.state)
            .append_pair("nonce", &flow.nonce)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256");
        Ok((url, flow))
    }

    /// The claims about the person who returned. The error is for the log.
    pub async fn verify_callback(
        &self,
        flow: &OidcFlow,
        came: &OidcCallback,
        back: &Url,
        now: Time,
    ) -> anyhow::Result<OidcClaims> {
        let same: bool =
            subtle::ConstantTimeEq::ct_eq(came.state.as_bytes(), flow.state.as_bytes()).into();
        ensure!(same, "the state does not match the one of this browser");
        if let Some(error) = &came.error {
            anyhow::bail!("the provider returned the error {}", kernel::text::reveal(error));
        }
        let code = came.code.as_deref().context("the provider returned no code")?;
        let known = self.metadata(now).await?;
        let issuer = &known.description.issuer;
        // RFC 9207: an answer that names its issuer must name this one.
        ensure!(
            came.iss.as_ref().is_none_or(|iss| iss == issuer),
            "the response names another issuer"
        );
        let tokens = self.exchange(&known.description, code, flow, back).await?;
        let mut claims: OidcClaims = known
            .issuer
            .claims(&tokens.id_token, &["exp", "sub"], now)
            .await
            .map_err(|denied| anyhow::anyhow!("the ID token is not valid: {denied:?}"))?;
        ensure!(claims.exp > now.millis() / 1000, "the ID token has expired");
        ensure!(
            claims.nonce.as_deref() == Some(&flow.nonce),
            "the ID token is for another sign-in"
        );
        let several = claims.aud.as_array().is_some_and(|audience| audience.len() > 1);
        let party = claims.azp.as_deref();
        ensure!(
            party.map_or(!several, |party| party == self.settings.client_id),
            "the ID token is for another party"
        );
        if let Some(endpoint) = &known.description.userinfo_endpoint {
            let request = self.http.get(endpoint.clone()).bearer_auth(&tokens.access_token);
            let more: Map<String, Value> =
                read(request).await.context("cannot read the provider's userinfo")?;
            let same = more.get("sub").and_then(Value::as_str) == Some(&claims.sub);
            ensure!(same, "the userinfo belongs to another person");
            // Signed claims take precedence.
            for (name, value) in more {
                claims.others.entry(name).or_insert(value);
            }
        }
        Ok(claims)
    }

    /// The provider's sign-out URL, if it has one.
    pub async fn sign_out_url(&self, back: &Url, now: Time) -> anyhow::Result<Option<Url>> {
        let known = self.metadata(now).await?;
        Ok(known.description.end_session_endpoint.clone().map(|mut url| {
            url.query_pairs_mut()
                .append_pair("client_id", &self.settings.client_id)
                .append_pair("post_logout_redirect_uri", back.as_str());
            url
        }))
    }

    async fn exchange(
        &self,
        description: &DiscoveryDocument,
        code: &str,
        flow: &OidcFlow,
        back: &Url,
    ) -> anyhow::Result<TokenResponse> {
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", back.as_str()),
            ("code_verifier", &flow.verifier),
        ];
        let id = self.settings.client_id.as_str();
        let methods = description.token_endpoint_auth_methods_supported.as_deref();
        let basic = methods.is_none_or(|all| all.iter().any(|one| one == "client_secret_basic"));
        let mut request = self.http.post(description.token_endpoint.clone());
        match &self.settings.client_secret {
            Some(secret) if basic => {
                let encode = |text: &str| {
                    url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>()
                };
                request = request.basic_auth(encode(id), Some(encode(secret.reveal())));
            }
            Some(secret) => form.extend([("client_id", id), ("client_secret", secret.reveal())]),
            None => form.push(("client_id", id)),
        }
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let kind = "application/x-www-form-urlencoded";
        let request = request.header(reqwest::header::CONTENT_TYPE, kind).body(body);
        read(request).await.context("the provider refused the code")
    }

    async fn metadata(&self, now: Time) -> anyhow::Result<Arc<ProviderMetadata>> {
        let mut kept = self.known.lock().await;
        if let Some((known, at)) = &*kept
            && (0..METADATA_MAX_AGE_MILLIS).contains(&now.millis().saturating_sub(at.millis()))
        {
            return Ok(Arc::clone(known));
        }
        let base = self.settings.issuer.as_str().trim_end_matches('/');
        let url = format!("{base}/.well-known/openid-configuration");
        let description: DiscoveryDocument =
            read(self.http.get(&url)).await.with_context(|| format!("cannot read {url}"))?;
        let same = description.issuer.trim_end_matches('/') == base;
        ensure!(same, "{url} names the issuer {}, not oidc_issuer", description.issuer);
        let issuer = Issuer::new(
            description.issuer.clone(),
            self.settings.client_id.clone(),
            KeySource::At(description.jwks_uri.to_string()),
            &PLAIN_JWT_TYPES,
        )?;
        let known = Arc::new(ProviderMetadata { description, issuer });
        *kept = Some((Arc::clone(&known), now));
        Ok(known)
    }
}

/// Reads a JSON answer up to a size limit.
async fn read<T: DeserializeOwned>(request: reqwest::RequestBuilder) -> anyhow::Result<T> {
    let mut answer = request.header(reqwest::header::ACCEPT, "application/json").send().await?;
    let status = answer.status();
    let mut bytes = Vec::new();
    while let Some(chunk) = answer.chunk().await? {
        bytes.extend(chunk);
        ensure!(bytes.len() <= MAX_RESPONSE_BYTES, "the answer is larger than 256 KiB");
    }
    if !status.is_success() {
        let said: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let code = said.get("error").and_then(Value::as_str).unwrap_or("no reason given");
        anyhow::bail!("HTTP status {status}: {}", kernel::text::reveal(code));
    }
    Ok(serde_json::from_slice(&bytes)?)
}
