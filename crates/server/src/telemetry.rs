//! Logs and metrics.

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;

use crate::config::LogFormat;

/// Starts logging. Log lines go to standard error, because commands use standard output.
pub fn start_logging(format: LogFormat, filter: &str) -> anyhow::Result<()> {
    let lines = fmt().with_env_filter(directives(filter)?).with_writer(std::io::stderr);
    let started = match format {
        LogFormat::Json => lines.json().flatten_event(true).with_current_span(true).try_init(),
        LogFormat::Text => lines.with_target(false).try_init(),
    };
    started.map_err(|error| anyhow::anyhow!("cannot start logging: {error}"))
}

/// The log filter: the setting, except for libraries that log too much.
fn directives(setting: &str) -> anyhow::Result<EnvFilter> {
    let bad = |error: &dyn std::fmt::Display| anyhow::anyhow!("log_level: {error}");
    let mut filter = EnvFilter::try_new(setting).map_err(|error| bad(&error))?;
    // At its finest level it would log the password of the mailbox.
    let mut quiet = vec!["async_imap=info"];
    // We log a failing database once; these libraries would log it for each connection. A setting
    // that names them takes precedence.
    let database = ["tokio_postgres=off", "deadpool_postgres=off", "deadpool=off"];
    quiet.extend(database.iter().filter(|directive| {
        let target = directive.split('=').next().unwrap_or_default();
        !setting.split(',').any(|given| given.trim().split(['=', ':']).next() == Some(target))
    }));
    // Use cases and notifications are crates of their own: a setting that names the server means
    // all three.
    let names = |crate_name: &str| {
        setting.split(',').any(|given| given.trim().split(['=', ':']).next() == Some(crate_name))
    };
    let level = setting.split(',').find_map(|given| given.trim().strip_prefix("server="));
    let unnamed = ["gateway", "notify"].into_iter().filter(|crate_name| !names(crate_name));
    let same_level = |crate_name| level.map(|level| format!("{crate_name}={level}"));
    let inner: Vec<String> = unnamed.filter_map(same_level).collect();
    for directive in quiet.into_iter().chain(inner.iter().map(String::as_str)) {
        filter = filter.add_directive(directive.parse().map_err(|error| bad(&error))?);
    }
    Ok(filter)
}

/// A recorder whose text is served at `/metrics`. Installed once per process; tests share it.
pub fn metrics() -> PrometheusHandle {
    static HANDLE: std::sync::OnceLock<PrometheusHandle> = std::sync::OnceLock::new();
    HANDLE
        .get_or_init(|| {
            let seconds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0];
            let builder = PrometheusBuilder::new()
                .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &seconds);
            let recorder = builder.map_or_else(
                |_| PrometheusBuilder::new().build_recorder(),
                PrometheusBuilder::build_recorder,
            );
            let handle = recorder.handle();
            if metrics::set_global_recorder(recorder).is_err() {
                tracing::warn!("another metrics recorder is installed; /metrics stays empty");
            }
            handle
        })
        .clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_quiet_unless_the_setting_names_them() {
        let of = |setting: &str| directives(setting).unwrap().to_string();
        let plain = of("info");
        for quiet in ["async_imap=info", "tokio_postgres=off", "deadpool_postgres=off", "info"] {
            assert!(plain.contains(quiet), "{plain}");
        }
        let named = of("info,tokio_postgres=debug");
        assert!(named.contains("tokio_postgres=debug"), "{named}");
        assert!(named.contains("deadpool_postgres=off"), "{named}");
        assert!(of("server=debug,warn").contains("gateway=debug"));
        assert!(of("server=debug,warn").contains("notify=debug"));
        assert!(!of("server=debug,gateway=warn").contains("gateway=debug"));
        assert!(!of("server=debug,notify=warn").contains("notify=debug"));
        assert!(of("async_imap=trace").contains("async_imap=info"));
        assert!(directives("countersign=loud").is_err());
    }
}
