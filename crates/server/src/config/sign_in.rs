//! How people sign in, and for how long.

use anyhow::bail;
use gateway::oidc::Oidc;
use gateway::ssrf_guard::Range;

use ::channels::email::SmtpSettings;

use super::mail::read_smtp;
use super::{Secret, Settings, oidc, one_of, ranges};

/// Longer than this is for ever.
const TEN_YEARS_IN_HOURS: u64 = 10 * 365 * 24;

/// How people sign in.
#[derive(Debug, Clone)]
pub struct SignIn {
    /// How long a session works at most, in seconds.
    pub lifetime: u64,
    /// How long it works unused, in seconds.
    pub idle: u64,
    /// How long a person's first passkey waits before it counts, in seconds.
    pub passkey_wait: u64,
    /// Attempts per minute and address; 0 for any number.
    pub limit: u32,
    /// Where links go out by mail.
    pub smtp: Option<SmtpSettings>,
    /// Whose identities people may use.
    pub oidc: Option<Oidc>,
    /// Who is believed about where a call comes from.
    pub trusted_proxies: Vec<Range>,
}

impl SignIn {
    /// What the settings say about it.
    pub(super) fn read(settings: &Settings, dev: bool) -> anyhow::Result<Self> {
        let hours = settings.session_hours.unwrap_or(30 * 24);
        if !(1..=TEN_YEARS_IN_HOURS).contains(&hours) {
            bail!("session_hours: expected 1 to {TEN_YEARS_IN_HOURS}");
        }
        let idle = settings.session_idle_minutes.unwrap_or(7 * 24 * 60);
        // Uses are written down once a minute.
        if !(5..=TEN_YEARS_IN_HOURS * 60).contains(&idle) {
            bail!("session_idle_minutes: expected 5 to {}", TEN_YEARS_IN_HOURS * 60);
        }
        let wait = settings.passkey_wait_hours.unwrap_or(24);
        if wait > 30 * 24 {
            bail!("passkey_wait_hours: expected 0 to 720");
        }
        let (url, file) = (settings.smtp_url.clone(), settings.smtp_url_file.clone());
        let smtp = one_of("smtp_url", url, file, |text| Secret::new(text.trim()))?;
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
        let usual = SignIn::read(&Settings::default(), false).unwrap();
        assert_eq!((usual.lifetime, usual.idle, usual.limit), (2_592_000, 604_800, 30));
        assert_eq!(SignIn::read(&Settings::default(), true).unwrap().limit, 0);
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
            let refused = SignIn::read(&settings, false).unwrap_err().to_string();
            assert!(refused.starts_with(field), "{refused}");
        }
    }
}
