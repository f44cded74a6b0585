//! `[verification.NAME]`: the providers that can prove that a person is present. They are tables of
//! the file only, because the settings of a provider belong together.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, bail};
use gateway::jwt::{KeySource, is_url, public_keys};
use gateway::verification::ProofIssuer;
use kernel::text::is_short;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

/// The providers, by the name that policies use.
pub type ProviderTables = BTreeMap<String, ProviderTable>;

/// One table, as given.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProviderTable {
    /// The `iss` of its JWTs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// The `aud` of its JWTs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audience: Option<String>,
    /// Its keys, as a URL or a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jwks: Option<String>,
    /// Its keys, as a JWKS in the settings file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jwks_inline: Option<InlineKeys>,
    /// The claim with its assurance: `low`, `medium` or `high`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assurance_claim: Option<String>,
    /// The name that people see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The page on which people obtain a proof.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_url: Option<Url>,
}

/// A JWKS in the settings file. It is never printed, because an operator may have
/// put private keys there.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
pub struct InlineKeys(pub Value);

impl std::fmt::Debug for InlineKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("(hidden)")
    }
}

impl Serialize for InlineKeys {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str("(hidden)")
    }
}

/// Checks that each table is complete.
pub(super) fn providers(tables: Option<ProviderTables>) -> anyhow::Result<Vec<ProofIssuer>> {
    let one = |(name, table): (String, ProviderTable)| {
        provider(name.clone(), table).with_context(|| format!("verification.{name}"))
    };
    tables.unwrap_or_default().into_iter().map(one).collect()
}

fn provider(name: String, table: ProviderTable) -> anyhow::Result<ProofIssuer> {
    let named = |text: &str| !text.trim().is_empty() && is_short(text);
    if !named(&name) || !name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) {
        bail!("expected a name with the characters A-Z, a-z, 0-9, `-`, `_` and `.`");
    }
    let text = |key: &str, given: Option<String>| {
        let given = given.with_context(|| format!("{key} is missing"))?;
        if named(&given) { Ok(given) } else { bail!("{key}: expected a string of 1 to 200 bytes") }
    };
    let issuer = text("issuer", table.issuer)?;
    let audience = text("audience", table.audience)?;
    let keys = match (table.jwks, table.jwks_inline) {
        (Some(place), None) => {
            if !is_url(&place) {
                let read = std::fs::read(&place);
                let read = read.with_context(|| format!("jwks: cannot read {place}"))?;
                let jwks = serde_json::from_slice(&read);
                let jwks = jwks.with_context(|| format!("jwks: {place} is not JSON"))?;
                public_keys(&jwks).with_context(|| format!("jwks: {place}"))?;
            }
            KeySource::At(place)
        }
        (None, Some(InlineKeys(jwks))) => {
            KeySource::Given(Arc::new(public_keys(&jwks).context("jwks_inline")?))
        }
        (Some(_), Some(_)) => bail!("jwks and jwks_inline cannot both be set"),
        (None, None) => bail!("jwks is required: a file or URL; or set the keys as jwks_inline"),
    };
    let title = table.title.map(|title| text("title", Some(title))).transpose()?;
    let claim = table.assurance_claim;
    let start_url = table.start_url;
    let safe = |url: &Url| {
        let local = url.host_str().is_some_and(|host| host == "localhost" || host == "127.0.0.1");
        url.scheme() == "https" || (url.scheme() == "http" && local)
    };
    if !start_url.as_ref().is_none_or(safe) {
        bail!("start_url: expected an https URL");
    }
    Ok(ProofIssuer {
        issuer,
        audience,
        keys,
        assurance_claim: claim.map(|claim| text("assurance_claim", Some(claim))).transpose()?,
        title: title.unwrap_or_else(|| name.clone()),
        start_url,
        name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: &str = r#"jwks_inline = { keys = [{ kty = "OKP", crv = "Ed25519", x = "6JUQe4laSsX4QnhCjYpHCYhT8Mz5pk3Ve4xAqlObrHM" }] }"#;

    fn read(text: &str) -> anyhow::Result<Vec<ProofIssuer>> {
        providers(Some(toml::from_str(text)?))
    }

    #[test]
    fn a_whole_table_is_a_provider() {
        let whole = format!("[acme]\nissuer = \"https://acme\"\naudience = \"us\"\n{KEYS}");
        let [acme] = &read(&whole).unwrap()[..] else { panic!("one") };
        assert_eq!((acme.name.as_str(), acme.title.as_str()), ("acme", "acme"));
        assert!(
            !format!("{:?}", toml::from_str::<ProviderTables>(&whole).unwrap()).contains("6JUQ")
        );
        let tables: ProviderTables = toml::from_str(&whole).unwrap();
        assert!(!toml::to_string(&tables).unwrap().contains("6JUQ"));
    }

    #[test]
    fn halves_and_strangers_are_refused() {
        let whole = |more: &str| format!("[a]\nissuer = \"i\"\naudience = \"u\"\n{more}\n");
        for (text, said) in [
            (format!("[a]\naudience = \"u\"\n{KEYS}"), "verification.a: issuer is missing"),
            (format!("[a]\nissuer = \"i\"\n{KEYS}"), "audience is missing"),
            (whole(""), "jwks is required"),
            (whole(&format!("jwks = \"k\"\n{KEYS}")), "not both"),
            (whole("jwks = \"/nowhere\""), "cannot read /nowhere"),
            (whole("jwks_inline = { keys = [] }"), "at least one key"),
            (whole(&format!("title = \" \"\n{KEYS}")), "title: expected"),
            (whole(&format!("start_url = \"http://a.example\"\n{KEYS}")), "start_url: expected"),
            (whole(&format!("isuer = \"x\"\n{KEYS}")), "isuer"),
            (format!("[\"a b\"]\nissuer = \"i\"\naudience = \"u\"\n{KEYS}"), "expected a name"),
        ] {
            let error = format!("{:#}", read(&text).unwrap_err());
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
