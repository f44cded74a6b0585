//! Database URLs: which parameters are ours, which the driver's, and how to display one.

use std::path::PathBuf;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

use super::tls::TlsTrust;
use crate::{Result, StoreError};

/// The text is not a database URL. The error does not include it, because it may
/// contain a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid database URL; expected postgres://user:password@host:port/database, with special \
     characters percent-encoded"
)]
pub struct BadAddress;

/// A database URL for display, without its password. Text that is not a URL is not shown at all.
pub fn redacted(url: &str) -> String {
    let Some((scheme, rest)) = split_scheme(url) else { return "(invalid URL)".to_owned() };
    // Up to the last `@`, so that no part of an unencoded password is left over.
    let rest = match rest.rsplit_once('@') {
        Some((user, host)) => match user.split_once(':') {
            Some((user, _)) => format!("{user}:***@{host}"),
            None => rest.to_owned(),
        },
        None => rest.to_owned(),
    };
    let shown = |pair: &str| match pair.split_once('=') {
        Some((name, _)) if decoded(name).contains("password") => format!("{name}=***"),
        Some(_) | None => pair.to_owned(),
    };
    let rest = match rest.split_once('?') {
        Some((before, query)) => {
            let pairs: Vec<String> = query.split('&').map(shown).collect();
            format!("{before}?{}", pairs.join("&"))
        }
        None => rest,
    };
    format!("{scheme}://{rest}")
}

/// Reads `postgres://user:password@host:port/database?sslmode=…&sslrootcert=…`. As with other
/// clients, `prefer` and `require` encrypt and accept any certificate. `verify-full` and
/// `verify-ca` check the certificate and its name, against `sslrootcert` if it is given, else
/// against the certificates of the system. `sslrootcert` alone implies the check.
pub(super) fn read(url: &str) -> Result<(Config, TlsTrust)> {
    let bad = || StoreError::Unavailable(BadAddress.into());
    split_scheme(url).ok_or_else(bad)?;
    let (before, query) = url.split_once('?').unwrap_or((url, ""));
    let (mut kept, mut strict, mut roots) = (Vec::new(), false, None);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        // The driver knows neither of these.
        match pair.split_once('=') {
            Some(("sslmode", "verify-full" | "verify-ca")) => strict = true,
            Some(("sslrootcert", path)) => roots = Some(PathBuf::from(decoded(path))),
            Some(_) | None => kept.push(pair),
        }
    }
    let trust = match roots {
        Some(roots) => TlsTrust::Roots(roots),
        None if strict => TlsTrust::System,
        None => TlsTrust::Anyone,
    };
    let mut config: Config = format!("{before}?{}", kept.join("&")).parse().map_err(|_| bad())?;
    if trust.is_strict() {
        config.ssl_mode(SslMode::Require);
    }
    Ok((config, trust))
}

fn split_scheme(url: &str) -> Option<(&str, &str)> {
    url.split_once("://").filter(|(scheme, _)| ["postgres", "postgresql"].contains(scheme))
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_not_shown() {
        for (url, shown) in [
            ("postgres://ann:s3cret@db/x", "postgres://ann:***@db/x"),
            ("postgresql://ann:s3cret@db:1,e:2/x?a=b", "postgresql://ann:***@db:1,e:2/x?a=b"),
            ("postgres://ann:s3@cret@db/x", "postgres://ann:***@db/x"),
            ("postgres://ann:s3?cret/@db/x", "postgres://ann:***@db/x"),
            ("postgres://:s3cret@db", "postgres://:***@db"),
            ("postgres://ann@db:5432/x", "postgres://ann@db:5432/x"),
            ("postgres://db:5432/x", "postgres://db:5432/x"),
            ("postgres://db/x?password=s3cret&a=b", "postgres://db/x?password=***&a=b"),
            ("postgres://db/x?a=b&pass%77ord=s3cret", "postgres://db/x?a=b&pass%77ord=***"),
            ("host=db password=s3cret", "(invalid URL)"),
            ("s3cret", "(invalid URL)"),
        ] {
            assert_eq!(redacted(url), shown, "{url}");
        }
    }

    #[test]
    fn an_error_does_not_repeat_what_it_was_given() {
        for url in ["postgres://ann:s3cret@db:port/x", "s3cret", "postgres://db/x?s3cret=1"] {
            let error = format!("{:?}", read(url).map(drop).unwrap_err());
            assert!(!error.contains("s3cret") && error.contains("BadAddress"), "{error}");
        }
    }

    #[test]
    fn what_is_asked_of_tls() {
        let trust = |query: &str| {
            let (config, trust) = read(&format!("postgres://ann@db/x{query}")).unwrap();
            (format!("{:?}", config.get_ssl_mode()), trust)
        };
        assert_eq!(trust(""), ("Prefer".to_owned(), TlsTrust::Anyone));
        assert_eq!(trust("?sslmode=disable"), ("Disable".to_owned(), TlsTrust::Anyone));
        assert_eq!(trust("?sslmode=require&user=bob"), ("Require".to_owned(), TlsTrust::Anyone));
        assert_eq!(trust("?sslmode=verify-full"), ("Require".to_owned(), TlsTrust::System));
        let roots = TlsTrust::Roots("/a b/ca.pem".into());
        assert_eq!(trust("?sslrootcert=/a%20b/ca.pem"), ("Require".to_owned(), roots));
    }
}
