//! A bucket: opening it, its errors, and whether it answers.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use channels::SecretString;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};
use store::outage::Outage;
use url::Url;

/// The timeout for connecting.
const CONNECT: Duration = Duration::from_secs(5);
/// How long an idle connection is kept.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// How often a request is retried, and for how long. Callers do not wait much longer.
const MAX_RETRIES: usize = 2;
const RETRY_TIMEOUT: Duration = Duration::from_secs(10);

/// A bucket of an S3-compatible store.
#[derive(Clone, Debug)]
pub struct Bucket {
    /// The name of the bucket.
    pub name: String,
    /// The prefix of all object names.
    pub prefix: Path,
    /// The URL of the service, if it is not Amazon.
    pub endpoint: Option<Url>,
    pub region: String,
    /// Whether the host names the bucket instead of the path.
    pub virtual_hosted: bool,
    /// The timeout of one request.
    pub timeout: Duration,
    /// The credentials, which are never printed.
    pub credentials: Vec<(AmazonS3ConfigKey, SecretString)>,
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}", self.name)?;
        if !self.prefix.as_ref().is_empty() {
            write!(f, "/{}", self.prefix)?;
        }
        match &self.endpoint {
            Some(endpoint) => write!(f, " at {}", endpoint.as_str().trim_end_matches('/')),
            None => write!(f, " in {}", self.region),
        }
    }
}

/// Opens the bucket without sending a request.
pub(super) fn open(bucket: &Bucket) -> anyhow::Result<Arc<dyn ObjectStore>> {
    let plain = bucket.endpoint.as_ref().is_some_and(|endpoint| endpoint.scheme() == "http");
    let options = ClientOptions::new()
        .with_allow_http(plain)
        .with_connect_timeout(CONNECT)
        .with_timeout(bucket.timeout)
        .with_pool_idle_timeout(IDLE_TIMEOUT);
    let backoff = BackoffConfig {
        init_backoff: Duration::from_millis(100),
        max_backoff: Duration::from_secs(1),
        base: 2.0,
    };
    let retry = RetryConfig { backoff, max_retries: MAX_RETRIES, retry_timeout: RETRY_TIMEOUT };
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(&bucket.name)
        .with_region(&bucket.region)
        .with_virtual_hosted_style_request(bucket.virtual_hosted)
        .with_client_options(options)
        .with_retry(retry)
        // Not every service supports bulk deletion.
        .with_disable_bulk_delete(true);
    for (key, secret) in &bucket.credentials {
        builder = builder.with_config(*key, secret.reveal());
    }
    if let Some(endpoint) = &bucket.endpoint {
        let mut endpoint = endpoint.clone();
        if bucket.virtual_hosted {
            let host = format!("{}.{}", bucket.name, endpoint.host_str().unwrap_or_default());
            endpoint.set_host(Some(&host)).context("files: style=virtual requires a host name")?;
        }
        builder = builder.with_endpoint(endpoint.as_str().trim_end_matches('/'));
    }
    let store =
        builder.build().map_err(|error| service_error(&error)).context("cannot use files")?;
    Ok(Arc::new(PrefixStore::new(store, bucket.prefix.clone())))
}

/// An error of the service, on one line. A signature error repeats the signed request including
/// tokens, so only the error code is kept from its body.
pub(super) fn service_error(error: &object_store::Error) -> anyhow::Error {
    let text = error.to_string();
    let Some((before, body)) = text.split_once('<') else {
        return anyhow!(text);
    };
    let code = body.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    anyhow!("{before}{}", code.map_or("", |(code, _)| code))
}

/// Whether the bucket itself does not exist.
pub(super) fn is_missing(error: &(dyn Error + 'static)) -> bool {
    error.to_string().contains("NoSuchBucket")
}

/// Whether a bucket answers, as far as is known.
pub(super) struct BucketAvailability {
    outage: Outage,
}

impl BucketAvailability {
    pub(super) fn new(of: &str) -> Self {
        Self { outage: Outage::new(format!("bucket {of}")) }
    }

    pub(super) fn is_unavailable(&self) -> bool {
        self.outage.is_failing()
    }

    /// Records the result of a request that began at this time. The log has a line when the state
    /// changes.
    pub(super) fn record_result(&self, began: Instant, failed: Option<&anyhow::Error>) {
        let result = if failed.is_none() { "done" } else { "failed" };
        metrics::counter!("countersign_files_total", "result" => result).increment(1);
        match failed {
            Some(error) => self.outage.failed("files", error),
            None => self.outage.worked_since("files", began),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(body: &str) -> object_store::Error {
        object_store::Error::Generic { store: "S3", source: body.into() }
    }

    /// A service that repeats the signed request must not leak it into the log.
    #[test]
    fn of_what_a_bucket_says_only_the_name_is_told() {
        let body = "403 Forbidden: <?xml version=\"1.0\"?><Error><Code>SignatureDoesNotMatch</Code>\
                    <CanonicalRequest>x-amz-security-token:t0ken</CanonicalRequest></Error>";
        let told = service_error(&refused(body)).to_string();
        assert!(told.ends_with("403 Forbidden: SignatureDoesNotMatch"), "{told}");
        let plain = service_error(&refused("no route to host")).to_string();
        assert!(plain.ends_with("no route to host"), "{plain}");
        assert!(!service_error(&refused("502: <html>t0ken</html>")).to_string().contains("t0ken"));
    }
}
