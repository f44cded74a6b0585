//! The bucket for files: `files`. Without one, files are stored beside the database.

use std::fmt;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use object_store::aws::AmazonS3ConfigKey as Key;
use object_store::path::Path;
use serde::{Deserialize, Serialize};
use url::{Host, Url};

use super::{Bucket, SecretString, Settings, secret_or_file, variable};

/// The format, as every error message names it.
const EXPECTED: &str = "s3://BUCKET/PREFIX";
/// The options that the query of the address may hold.
const OPTIONS: &str = "region, endpoint, style, timeout or allow_plain_http";
/// The default timeout of one request, in seconds.
const DEFAULT_TIMEOUT_SECONDS: u64 = 30;

/// The address as given. It is never printed, because an operator may have put keys into it.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
pub struct FilesUrl(SecretString);

impl FilesUrl {
    /// The address in plain text.
    fn reveal(&self) -> &str {
        self.0.reveal()
    }
}

impl std::str::FromStr for FilesUrl {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(SecretString::new(text)))
    }
}

impl fmt::Display for FilesUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reveal().rsplit_once('@') {
            Some((_, behind)) => write!(f, "***@{behind}"),
            None => f.write_str(self.reveal()),
        }
    }
}

impl fmt::Debug for FilesUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for FilesUrl {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl Settings {
    /// The settings of the bucket from the environment, for commands that take no other settings.
    pub fn of_files() -> Self {
        let text = |name: &str| variable(&format!("COUNTERSIGN_FILES{name}"));
        Self {
            files: text("").map(|url| FilesUrl(SecretString::new(url))),
            files_access_key_id: text("_ACCESS_KEY_ID"),
            files_secret_access_key: text("_SECRET_ACCESS_KEY").map(SecretString::new),
            files_secret_access_key_file: text("_SECRET_ACCESS_KEY_FILE").map(Into::into),
            ..Self::default()
        }
    }

    /// The same settings with another place for files; `None` is beside the database.
    #[must_use]
    pub fn with_files(self, files: Option<FilesUrl>) -> Self {
        match files {
            Some(_) => Self { files, ..self },
            None => Self {
                files: None,
                files_access_key_id: None,
                files_secret_access_key: None,
                files_secret_access_key_file: None,
                ..self
            },
        }
    }
}

/// Reads the settings, and falls back to the standard AWS variables.
pub(super) fn read(
    settings: &Settings,
    variable: impl Fn(&str) -> Option<String>,
) -> anyhow::Result<Option<Box<Bucket>>> {
    let (id, secret, file) = (
        settings.files_access_key_id.clone(),
        settings.files_secret_access_key.clone(),
        settings.files_secret_access_key_file.clone(),
    );
    let Some(given) = &settings.files else {
        ensure!(
            id.is_none() && secret.is_none() && file.is_none(),
            "files_access_key_id and files_secret_access_key require files: {EXPECTED}"
        );
        return Ok(None);
    };
    let whole = |text: &str| SecretString::new(text.trim_end());
    let secret = secret_or_file("files_secret_access_key", secret, file, whole)?;
    let mut bucket = parse_url(given, &variable)?;
    bucket.credentials = match (id, secret) {
        (Some(id), Some(secret)) => {
            vec![(Key::AccessKeyId, SecretString::new(id)), (Key::SecretAccessKey, secret)]
        }
        (None, None) => environment_credentials(&variable)?,
        _ => bail!("files_access_key_id and files_secret_access_key must be set together"),
    };
    Ok(Some(Box::new(bucket)))
}

/// Parses the address. Errors do not repeat it, because an operator may have put a key into it.
fn parse_url(
    given: &FilesUrl,
    variable: impl Fn(&str) -> Option<String>,
) -> anyhow::Result<Bucket> {
    let url = Url::parse(given.reveal()).ok().filter(|url| url.scheme() == "s3");
    let url = url.with_context(|| format!("files: expected {EXPECTED}"))?;
    ensure!(
        url.username().is_empty() && url.password().is_none() && url.fragment().is_none(),
        "files: expected {EXPECTED} without keys; set files_access_key_id and \
         files_secret_access_key instead"
    );
    let name = url.host_str().unwrap_or_default().to_owned();
    let plain = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'_')
    };
    ensure!(
        (3..=63).contains(&name.len()) && name.bytes().all(plain) && url.port().is_none(),
        "files: expected {EXPECTED}, with a bucket name of 3 to 63 characters of a-z, 0-9, dots \
         and hyphens"
    );
    let prefix = Path::from_url_path(url.path().trim_matches('/')).ok();
    let prefix = prefix.context("files: expected a prefix such as countersign/files")?;
    let (mut region, mut endpoint, mut style) = (None, None, None);
    let (mut timeout, mut open) = (DEFAULT_TIMEOUT_SECONDS, false);
    for (key, value) in url.query_pairs() {
        match (&*key, &*value) {
            ("region", name) => region = Some(name.to_owned()),
            ("endpoint", address) => endpoint = Some(address.to_owned()),
            ("style", "path") => style = Some(false),
            ("style", "virtual") => style = Some(true),
            ("style", _) => bail!("files: style: expected path or virtual"),
            ("timeout", seconds) => {
                let read = seconds.parse().ok().filter(|seconds| (1..=300).contains(seconds));
                timeout = read.context("files: timeout: expected seconds, 1 to 300")?;
            }
            ("allow_plain_http", "true") => open = true,
            ("allow_plain_http", _) => bail!("files: allow_plain_http: expected true"),
            (other, _) => bail!("files: {other}: expected {OPTIONS}"),
        }
    }
    let first = |names: [&str; 2]| names.into_iter().find_map(&variable);
    let endpoint = endpoint.or_else(|| first(["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"]));
    let endpoint = endpoint.map(|text| address(&text, open)).transpose()?;
    let region = region.or_else(|| first(["AWS_REGION", "AWS_DEFAULT_REGION"]));
    let region = region.filter(|region| !region.is_empty());
    let region = match (region, &endpoint) {
        (Some(region), _) => region,
        // Most stores other than Amazon S3 have a single region of this name.
        (None, Some(_)) => "us-east-1".to_owned(),
        (None, None) => bail!(
            "files: expected {EXPECTED}?region=REGION for Amazon S3, or ?endpoint=https://… for \
             another service"
        ),
    };
    // Wildcard certificates do not cover bucket names with dots.
    let virtual_hosted = style.unwrap_or_else(|| endpoint.is_none() && !name.contains('.'));
    let timeout = Duration::from_secs(timeout);
    let credentials = Vec::new();
    Ok(Bucket { name, prefix, endpoint, region, virtual_hosted, timeout, credentials })
}

/// Parses the endpoint of another store. Keys and files go there, so plain HTTP needs a private
/// network or the operator's permission.
fn address(text: &str, open: bool) -> anyhow::Result<Url> {
    let expected =
        "files: endpoint (or AWS_ENDPOINT_URL): expected a URL such as https://s3.example.com";
    let url = Url::parse(text).ok().context(expected)?;
    ensure!(
        matches!(url.scheme(), "http" | "https")
            && url.host().is_some()
            && url.username().is_empty()
            && url.password().is_none()
            && url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none(),
        expected
    );
    let near = match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        Some(Host::Ipv6(ip)) => ip.is_loopback() || ip.is_unique_local(),
        None => false,
    };
    ensure!(
        url.scheme() == "https" || near || open,
        "files: refusing to send files to {} without TLS: set an https endpoint, or \
         allow_plain_http=true if you trust the network",
        url.host_str().unwrap_or_default()
    );
    Ok(url)
}

/// The credentials from the environment: keys, or the proof of a role. If there are none, the
/// metadata service of the machine provides them.
fn environment_credentials(
    variable: impl Fn(&str) -> Option<String>,
) -> anyhow::Result<Vec<(Key, SecretString)>> {
    let found = |names: &[(&str, Key)]| -> Vec<(Key, SecretString)> {
        let one =
            |(name, key): &(&str, Key)| variable(name).map(|text| (*key, SecretString::new(text)));
        names.iter().filter_map(one).collect()
    };
    let keys = found(&[
        ("AWS_ACCESS_KEY_ID", Key::AccessKeyId),
        ("AWS_SECRET_ACCESS_KEY", Key::SecretAccessKey),
    ]);
    match keys.len() {
        2 => Ok([keys, found(&[("AWS_SESSION_TOKEN", Key::Token)])].concat()),
        1 => bail!("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set together"),
        _ => Ok(found(&[
            ("AWS_WEB_IDENTITY_TOKEN_FILE", Key::WebIdentityTokenFile),
            ("AWS_ROLE_ARN", Key::RoleArn),
            ("AWS_ROLE_SESSION_NAME", Key::RoleSessionName),
            ("AWS_ENDPOINT_URL_STS", Key::StsEndpoint),
            ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", Key::ContainerCredentialsRelativeUri),
            ("AWS_CONTAINER_CREDENTIALS_FULL_URI", Key::ContainerCredentialsFullUri),
            ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", Key::ContainerAuthorizationTokenFile),
        ])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str, variables: &[(&str, &str)]) -> anyhow::Result<Box<Bucket>> {
        let settings = Settings { files: Some(url.parse()?), ..Settings::default() };
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Ok(super::read(&settings, variable)?.unwrap())
    }

    #[test]
    fn an_address_says_where_the_bucket_is() {
        let bucket = read("s3://acme-files/countersign/a?region=eu-central-1", &[]).unwrap();
        assert_eq!(bucket.to_string(), "s3://acme-files/countersign/a in eu-central-1");
        assert!(bucket.virtual_hosted && bucket.credentials.is_empty());
        let dotted = read("s3://files.acme.com?region=eu-central-1", &[]).unwrap();
        assert!(!dotted.virtual_hosted, "no certificate is for it");
        let own = read("s3://acme/?endpoint=https://s3.acme.com&style=virtual&timeout=5", &[]);
        let own = own.unwrap();
        assert_eq!(own.to_string(), "s3://acme at https://s3.acme.com");
        assert_eq!((own.region.as_str(), own.virtual_hosted), ("us-east-1", true));
        assert_eq!(own.timeout, Duration::from_secs(5));
        for near in ["localhost:9000", "127.0.0.1:9000", "10.1.2.3", "192.168.1.1", "[::1]:1"] {
            let url = format!("s3://acme/x?endpoint=http://{near}");
            assert!(!read(&url, &[]).unwrap().virtual_hosted, "{near}");
        }
        let told = "s3://acme/x?endpoint=http://minio:9000&allow_plain_http=true";
        assert!(read(told, &[]).is_ok());
    }

    #[test]
    fn what_is_wrong_with_an_address_is_said() {
        for (url, says) in [
            ("", "files: expected s3://BUCKET/PREFIX"),
            ("/var/files", "files: expected s3://BUCKET/PREFIX"),
            ("gs://acme", "files: expected s3://BUCKET/PREFIX"),
            ("s3:acme", "with a bucket name of 3 to 63"),
            ("s3://", "with a bucket name of 3 to 63"),
            ("s3://Acme?region=x", "with a bucket name of 3 to 63"),
            ("s3://acme:9000/x?region=x", "with a bucket name of 3 to 63"),
            ("s3://acme/a//b?region=x", "files: expected a prefix"),
            ("s3://acme", "files: expected s3://BUCKET/PREFIX?region=REGION"),
            ("s3://acme?region=", "files: expected s3://BUCKET/PREFIX?region=REGION"),
            ("s3://acme?region=x&style=host", "files: style: expected path or virtual"),
            ("s3://acme?region=x&timeout=0", "files: timeout: expected seconds"),
            ("s3://acme?region=x&colour=red", "files: colour: expected region, endpoint"),
            ("s3://acme?endpoint=s3.acme.com", "files: endpoint (or AWS_ENDPOINT_URL): expected"),
            (
                "s3://acme?endpoint=https://s3.acme.com/x",
                "files: endpoint (or AWS_ENDPOINT_URL): expected",
            ),
            (
                "s3://acme?endpoint=https://a:b@s3.acme.com",
                "files: endpoint (or AWS_ENDPOINT_URL): expected",
            ),
            ("s3://acme?endpoint=http://s3.acme.com", "without TLS"),
            ("s3://key:s3cret@acme?region=x", "without keys"),
        ] {
            let refused = read(url, &[]).unwrap_err().to_string();
            assert!(refused.contains(says), "{url}: {refused}");
            assert!(!refused.contains("s3cret"), "{refused}");
        }
        let given: FilesUrl = "s3://key:s3cret@acme".parse().unwrap();
        assert_eq!(format!("{given} {given:?}"), "***@acme ***@acme");
    }

    #[test]
    fn keys_come_from_the_settings_or_from_the_variables_everybody_knows() {
        let url = "s3://acme?region=x";
        let names = |bucket: &Bucket| bucket.credentials.iter().map(|(key, _)| *key).collect();
        let kinds =
            |variables: &[(&str, &str)]| -> Vec<Key> { names(&read(url, variables).unwrap()) };
        let pair = [("AWS_ACCESS_KEY_ID", "AKIA"), ("AWS_SECRET_ACCESS_KEY", "s3cret")];
        assert_eq!(kinds(&pair), [Key::AccessKeyId, Key::SecretAccessKey]);
        let token = [pair[0], pair[1], ("AWS_SESSION_TOKEN", "t0ken")];
        assert_eq!(kinds(&token), [Key::AccessKeyId, Key::SecretAccessKey, Key::Token]);
        let role =
            [("AWS_WEB_IDENTITY_TOKEN_FILE", "/t"), ("AWS_ROLE_ARN", "arn:aws:iam::1:role/x")];
        assert_eq!(kinds(&role), [Key::WebIdentityTokenFile, Key::RoleArn]);
        assert_eq!(kinds(&[]), [], "the machine is asked");
        let half = read(url, &pair[..1]).unwrap_err().to_string();
        assert!(half.contains("AWS_SECRET_ACCESS_KEY must be set together"), "{half}");
        let printed = format!("{:?}", read(url, &token).unwrap());
        assert!(!printed.contains("s3cret") && !printed.contains("t0ken"), "{printed}");
        let elsewhere = [("AWS_ENDPOINT_URL", "https://s3.acme.com"), ("AWS_REGION", "here")];
        let bucket = read("s3://acme", &elsewhere).unwrap();
        assert_eq!((bucket.region.as_str(), bucket.endpoint.is_some()), ("here", true));

        let own = Settings {
            files: Some(url.parse().unwrap()),
            files_access_key_id: Some("mine".to_owned()),
            files_secret_access_key: Some(SecretString::new("s3cret")),
            ..Settings::default()
        };
        let theirs = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];
        let of_environment = |name: &str| theirs.contains(&name).then(|| "theirs".to_owned());
        let bucket = super::read(&own, of_environment).unwrap().unwrap();
        assert_eq!(bucket.credentials.len(), 2, "nobody else's token comes along");
        assert_eq!(bucket.credentials[0].1.reveal(), "mine");
        let half = Settings { files_secret_access_key: None, ..own.clone() };
        let refused = super::read(&half, |_| None).unwrap_err().to_string();
        assert!(refused.contains("files_secret_access_key must be set together"), "{refused}");
        let nowhere = Settings { files: None, ..own };
        let refused = super::read(&nowhere, |_| None).unwrap_err().to_string();
        assert!(refused.contains("require files"), "{refused}");
    }
}
