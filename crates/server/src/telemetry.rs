//! Logs and metrics.

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;

use crate::config::LogFormat;

/// Starts logging. Log lines go to standard error; standard output belongs to commands.
pub fn start_logging(format: LogFormat, filter: &str) -> anyhow::Result<()> {
    let filter =
        EnvFilter::try_new(filter).map_err(|error| anyhow::anyhow!("log_level: {error}"))?;
    // At its finest it would write the password of the mailbox.
    let quiet = "async_imap=info".parse().map_err(|error| anyhow::anyhow!("log_level: {error}"))?;
    let filter = filter.add_directive(quiet);
    let lines = fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let started = match format {
        LogFormat::Json => lines.json().flatten_event(true).with_current_span(true).try_init(),
        LogFormat::Text => lines.with_target(false).try_init(),
    };
    started.map_err(|error| anyhow::anyhow!("cannot start logging: {error}"))
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
