//! The mail server that sends emails: `smtp_url`.

use ::channels::email::{SmtpSecurity, SmtpSettings};
use anyhow::{Context, bail, ensure};
use lettre::message::Mailbox;
use url::{Host, Url};

use super::SecretString;

/// The format, as every error message names it.
const EXPECTED: &str = "smtp://USER:PASSWORD@HOST:PORT?from=ADDRESS or smtps://…";

/// Reads the setting. Errors do not repeat it, because it holds a password.
pub(super) fn read_smtp(given: &SecretString) -> anyhow::Result<SmtpSettings> {
    let url = Url::parse(given.reveal()).ok().filter(|url| url.host().is_some());
    let Some(url) = url else { bail!("smtp_url: expected {EXPECTED}") };
    let (usual, mut security) = match url.scheme() {
        "smtps" => (465, SmtpSecurity::Tls),
        "smtp" => (587, SmtpSecurity::StartTls),
        _ => bail!("smtp_url: expected {EXPECTED}"),
    };
    let mut from = None;
    for (name, value) in url.query_pairs() {
        match (&*name, &*value) {
            ("from", address) => {
                let read = address.parse::<Mailbox>();
                let expected = "smtp_url: from: expected an address such as agents@example.com \
                                    or Countersign <agents@example.com>, percent-encoded";
                from = Some(read.ok().context(expected)?);
            }
            ("tls", "none") if url.scheme() == "smtp" => security = SmtpSecurity::None,
            ("tls", _) => bail!("smtp_url: tls: expected none, with smtp:// only"),
            (other, _) => bail!("smtp_url: {other}: expected from or tls"),
        }
    }
    let from = from.context(
        "smtp_url: from: expected the sender address of this server's emails, such as \
         agents@example.com",
    )?;
    ensure!(
        matches!(url.path(), "" | "/") && url.fragment().is_none(),
        "smtp_url: expected no path: {EXPECTED}"
    );
    let plain = |text: &str| {
        let text = percent_encoding::percent_decode_str(text).decode_utf8();
        text.map(String::from).context("smtp_url: expected a user name and password in UTF-8")
    };
    let credentials = match (url.username(), url.password()) {
        ("", None) => None,
        (user, Some(password)) if !user.is_empty() => {
            Some((plain(user)?, SecretString::new(plain(password)?)))
        }
        _ => bail!("smtp_url: expected a user name and a password, or neither"),
    };
    let local = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    };
    ensure!(
        credentials.is_none() || security != SmtpSecurity::None || local,
        "smtp_url: refusing to send a password without TLS; use tls=none only with a mail server \
         on this machine"
    );
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    Ok(SmtpSettings { host, port: url.port().unwrap_or(usual), security, credentials, from })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> Result<SmtpSettings, String> {
        read_smtp(&SecretString::new(url)).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn an_address_says_everything() {
        let smtp =
            read("smtp://ann%40example.com:p%3Aw@mail.example.com?from=a%40b.example").unwrap();
        assert_eq!((smtp.port, smtp.security), (587, SmtpSecurity::StartTls));
        let (user, password) = smtp.credentials.clone().unwrap();
        assert_eq!((user.as_str(), password.reveal()), ("ann@example.com", "p:w"));
        assert_eq!(smtp.to_string(), "mail.example.com:587 (STARTTLS), from a@b.example");
        assert!(!format!("{smtp:?}").contains("p:w"));
        let named =
            read("smtps://mail.example.com?from=Countersign%20%3Ca%40b.example%3E").unwrap();
        assert_eq!((named.port, named.security), (465, SmtpSecurity::Tls));
        assert_eq!(named.from.to_string(), "Countersign <a@b.example>");
        let local = read("smtp://u:p@[::1]:2525?tls=none&from=a%40b.example").unwrap();
        assert_eq!((local.host.as_str(), local.security), ("::1", SmtpSecurity::None));
    }

    #[test]
    fn half_of_it_is_refused_without_repeating_it() {
        for (url, says) in [
            ("mail.example.com", "expected smtp://"),
            ("https://mail.example.com?from=a%40b.example", "expected smtp://"),
            ("smtp://u:hush@mail.example.com", "from: expected the sender address"),
            ("smtp://u:hush@mail.example.com?from=ann", "from: expected an address"),
            ("smtp://u:hush@mail.example.com?from=a%40b.example&tls=maybe", "tls: expected none"),
            ("smtps://mail.example.com?from=a%40b.example&tls=none", "tls: expected none"),
            ("smtp://mail.example.com?from=a%40b.example&form=x", "form: expected from or tls"),
            ("smtp://hush@mail.example.com?from=a%40b.example", "a user name and a password"),
            ("smtp://u:hush@mail.example.com?from=a%40b.example&tls=none", "without TLS"),
            ("smtp://mail.example.com/inbox?from=a%40b.example", "expected no path"),
        ] {
            let refused = read(url).unwrap_err();
            assert!(
                refused.starts_with("smtp_url: ") && refused.contains(says),
                "{url}: {refused}"
            );
            assert!(!refused.contains("hush"), "{refused}");
        }
    }
}
