//! How people sign in, and how long their sessions last.

use anyhow::bail;
use gateway::oidc::OidcSettings;
use gateway::ssrf_guard::IpRange;

use ::channels::email::SmtpSettings;

use super::smtp::read_smtp;
use super::{SecretString, Settings, oidc, ranges, secret_or_file};

/// The upper limit of session lifetimes.
const TEN_YEARS_IN_HOURS: u64 = 10 * 365 * 24;

/// How people sign in.
#[derive(Debug, Clone)]
pub struct SignInSettings {
    /// The longest lifetime of a session, in seconds.
    pub lifetime: u64,
    /// How long an unused session lasts, in seconds.
    pub idle: u64,
    /// How long a person's first passkey waits before it counts, in seconds.
    pub passkey_wait: u64,
    /// The login attempts per minute and address; 0 for no limit.
    pub limit: u32,
    /// The mail server that sends sign-in links.
    pub smtp: Option<SmtpSettings>,
    /// The identity provider for single sign-on.
    pub oidc: Option<OidcSettings>,
    /// The proxies whose forwarded client address is trusted.
    pub trusted_proxies: Vec<IpRange>,
}

impl SignInSettings {
    /// Reads the settings.
    pub(super) fn read(settings: &Settings, dev: bool) -> anyhow::Result<Self> {
        let hours = settings.session_hours.unwrap_or(30 * 24);
        if !(1..=TEN_YEARS_IN_HOURS).contains(&hours) {
            bail!("session_hours: expected 1 to {TEN_YEARS_IN_HOURS}");
        }
        let idle = settings.session_idle_minutes.unwrap_or(7 * 24 * 60);
        // The last use of a session is recorded once a minute, so shorter limits would not be
        // exact.
        if !(5..=TEN_YEARS_IN_HOURS * 60).contains(&idle) {
            bail!("session_idle_minutes: expected 5 to {}", TEN_YEARS_IN_HOURS * 60);
        }
        let wait = settings.passkey_wait_hours.unwrap_or(24);
        if wait > 30 * 24 {
            bail!("passkey_wait_hours: expected 0 to 720");
        }
        let (url, file) = (settings.smtp_url.clone(), settings.smtp_url_file.clone());
        let smtp = secret_or_file("smtp_url", url, file, |text| SecretString::new(text.trim()))?;
        Ok(Self {
            lifetime: hours * 3600,
            idle: idle * 60,
            passkey_wait: wait * 3600,
            limit: settings.sign_in_limit.unwrap_or(if dev { 0 } else { 30 }),
            smtp: smtp.as_ref().map(read_smtp).transpose()?,
            oidc: oidc::read(settings)?,
            trusted_proxies: ranges("trusted_proxies", settings.trusted_proxies.as_deref())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lifetimes_have_bounds() {
        let usual = SignInSettings::read(&Settings::default(), false).unwrap();
        assert_eq!((usual.lifetime, usual.idle, usual.limit), (2_592_000, 604_800, 30));
        assert_eq!(SignInSettings::read(&Settings::default(), true).unwrap().limit, 0);
        for (settings, field) in [
            (Settings { session_hours: Some(0), ..Settings::default() }, "session_hours"),
            (
                Settings { passkey_wait_hours: Some(721), ..Settings::default() },
                "passkey_wait_hours",
            ),
            (Settings { session_hours: Some(u64::MAX), ..Settings::default() }, "session_hours"),
            (
                Settings { session_idle_minutes: Some(4), ..Settings::default() },
                "session_idle_minutes",
            ),
            (
                Settings { trusted_proxies: Some(vec!["x".into()]), ..Settings::default() },
                "trusted_proxies",
            ),
        ] {
            let refused = SignInSettings::read(&settings, false).unwrap_err().to_string();
            assert!(refused.starts_with(field), "{refused}");
        }
    }
}
