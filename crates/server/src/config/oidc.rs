//! The OIDC provider that people sign in with: `oidc_…`.

use anyhow::{Context, anyhow, bail, ensure};
use gateway::oidc::{IdentifyBy, OidcSettings};
use kernel::ProjectId;
use serde::{Deserialize, Serialize};

use super::{SecretString, Settings, secret_or_file};

/// How the provider's people are found among ours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Identify {
    /// By an address the provider has verified.
    #[default]
    Email,
    /// The subject is their name here.
    Subject,
}

impl From<Identify> for IdentifyBy {
    fn from(given: Identify) -> Self {
        match given {
            Identify::Email => Self::Email,
            Identify::Subject => Self::Subject,
        }
    }
}

/// Reads the settings of the provider; `None` if there are none.
pub(super) fn read(settings: &Settings) -> anyhow::Result<Option<OidcSettings>> {
    let secret = secret_or_file(
        "oidc_client_secret",
        settings.oidc_client_secret.clone(),
        settings.oidc_client_secret_file.clone(),
        |text| SecretString::new(text.trim_end()),
    )?;
    let (issuer, client_id) = match (&settings.oidc_issuer, &settings.oidc_client_id) {
        (Some(issuer), Some(client_id)) if !client_id.trim().is_empty() => (issuer, client_id),
        (None, None) if secret.is_none() => return Ok(None),
        _ => bail!("oidc_issuer and oidc_client_id must be set together"),
    };
    let local = matches!(issuer.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    ensure!(
        issuer.scheme() == "https" || (issuer.scheme() == "http" && local),
        "oidc_issuer: expected an https URL, or http on this machine"
    );
    ensure!(
        issuer.query().is_none() && issuer.fragment().is_none(),
        "oidc_issuer: expected a URL without a query"
    );
    let scopes = settings.oidc_scopes.clone();
    let scopes = scopes.unwrap_or_else(|| ["openid", "email", "profile"].map(str::to_owned).into());
    ensure!(
        scopes.iter().any(|scope| scope == "openid"),
        "oidc_scopes: expected a list that includes openid"
    );
    let group = |pair: &String| {
        let (theirs, ours) = pair.rsplit_once('=').unwrap_or((pair, pair));
        let ours = ours
            .trim()
            .parse()
            .map_err(|_| anyhow!("oidc_groups: expected PROVIDER_GROUP=GROUP, not {pair}"))?;
        Ok((theirs.trim().to_owned(), ours))
    };
    let groups = settings.oidc_groups.iter().flatten().map(group);
    let project = |id: &String| {
        id.trim().parse::<ProjectId>().context("oidc_projects: expected IDs of projects")
    };
    let projects = settings.oidc_projects.iter().flatten().map(project);
    let projects = projects.collect::<anyhow::Result<Vec<_>>>()?;
    let creates = settings.oidc_create.unwrap_or(false);
    ensure!(creates || projects.is_empty(), "oidc_projects requires oidc_create");
    Ok(Some(OidcSettings {
        issuer: issuer.clone(),
        name: settings.oidc_name.clone().unwrap_or_else(|| "your organisation".to_owned()),
        client_id: client_id.clone(),
        client_secret: secret,
        scopes,
        identify: settings.oidc_identify.unwrap_or_default().into(),
        create: creates.then_some(projects),
        groups_claim: settings.oidc_groups_claim.clone().unwrap_or_else(|| "groups".to_owned()),
        groups: groups.collect::<anyhow::Result<_>>()?,
        admin_group: settings.oidc_admin_group.clone(),
    }))
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    fn given() -> Settings {
        Settings {
            oidc_issuer: Some(Url::parse("https://id.example.com/realm").unwrap()),
            oidc_client_id: Some("countersign".to_owned()),
            ..Settings::default()
        }
    }

    #[test]
    fn halves_and_nonsense_are_refused() {
        assert!(read(&Settings::default()).unwrap().is_none());
        assert!(read(&given()).unwrap().is_some());
        let http = Some(Url::parse("http://id.example.com").unwrap());
        let halves = "oidc_issuer and oidc_client_id must be set together";
        for (settings, says) in [
            (Settings { oidc_client_id: None, ..given() }, halves),
            (
                Settings {
                    oidc_client_secret: Some(SecretString::new("x")),
                    ..Settings::default()
                },
                halves,
            ),
            (Settings { oidc_issuer: http, ..given() }, "oidc_issuer: expected an https"),
            (Settings { oidc_scopes: Some(vec!["email".to_owned()]), ..given() }, "oidc_scopes"),
            (Settings { oidc_groups: Some(vec!["a=b c".to_owned()]), ..given() }, "oidc_groups"),
            (
                Settings { oidc_projects: Some(vec!["dev".to_owned()]), ..given() },
                "oidc_projects requires",
            ),
        ] {
            let refused = read(&settings).unwrap_err().to_string();
            assert!(refused.contains(says), "{refused}");
        }
    }

    #[test]
    fn groups_are_named_once_or_twice() {
        let groups = Some(vec!["ops".to_owned(), "cn=legal,ou=x=legal".to_owned()]);
        let oidc = read(&Settings { oidc_groups: groups, ..given() }).unwrap().unwrap();
        let pairs: Vec<_> = oidc.groups.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(pairs, [("cn=legal,ou=x", "legal"), ("ops", "ops")]);
    }
}
