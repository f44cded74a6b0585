//! The source of the keys that verify a receipt. A valid signature proves only as much as its keys,
//! so the source is always printed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, ensure};
use dialects::proof::{Jwks, RevokedKey};
use gateway::signing::published;
use gateway::vault::Vault;

/// The largest response that is read.
const LARGEST: usize = 16 << 20;
/// The default data directory of a server.
const HERE: &str = "countersign-data";

/// Keys, and their source.
pub(super) struct Trust {
    pub(super) keys: Jwks,
    /// Revoked keys of the same installation, as far as known.
    pub(super) revoked: Vec<RevokedKey>,
    pub(super) source: Source,
}

pub(super) enum Source {
    /// A saved file.
    File(PathBuf),
    /// A given URL.
    Named(String),
    /// The data directory of the installation itself.
    Folder(PathBuf),
    /// The issuer that the receipt names.
    Issuer(String),
}

impl Source {
    /// The source in one word.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::File(_) => "file",
            Self::Named(_) => "named",
            Self::Folder(_) => "folder",
            Self::Issuer(_) => "issuer",
        }
    }

    pub(super) fn place(&self) -> String {
        match self {
            Self::File(path) | Self::Folder(path) => path.display().to_string(),
            Self::Named(url) | Self::Issuer(url) => url.clone(),
        }
    }

    /// What a signature verified with these keys proves.
    pub(super) fn words(&self) -> String {
        let place = self.place();
        match self {
            Self::File(_) => format!("Checked with the keys you kept in {place}."),
            Self::Named(_) => format!("Checked with the keys fetched now from {place}."),
            Self::Folder(_) => format!("Checked with the keys of the data folder {place}."),
            Self::Issuer(_) => format!(
                "Checked with keys fetched now from {place}, the issuer the receipt itself names. \
                 That proves less than keys you kept: make sure that this is the issuer you mean, \
                 keep its keys, and give them with --jwks."
            ),
        }
    }
}

impl Trust {
    /// The given keys, or else those of a data directory, or else the issuer's.
    pub(super) async fn find(
        jwks: Option<String>,
        data: Option<PathBuf>,
        issuer: &str,
    ) -> anyhow::Result<Self> {
        if let Some(place) = jwks {
            let source = if is_address(&place) {
                Source::Named(place)
            } else {
                Source::File(PathBuf::from(place))
            };
            return Self::read(source).await;
        }
        let folder = data.or_else(|| {
            let here = PathBuf::from(HERE);
            here.join("server-keys.json").exists().then_some(here)
        });
        if let Some(folder) = folder {
            let (keys, revoked) = published(&Vault::folder(&folder)).await?;
            return Ok(Self { keys, revoked, source: Source::Folder(folder) });
        }
        ensure!(
            is_address(issuer),
            "the receipt names no address as its issuer: give its keys with --jwks"
        );
        let address = format!("{}/.well-known/jwks.json", issuer.trim_end_matches('/'));
        Self::read(Source::Issuer(address)).await
    }

    async fn read(source: Source) -> anyhow::Result<Self> {
        let place = source.place();
        let bytes = match &source {
            Source::File(path) | Source::Folder(path) => file(path)?.into_bytes(),
            Source::Named(url) | Source::Issuer(url) => fetch(url).await?.into_bytes(),
        };
        let keys = serde_json::from_slice(&bytes)
            .with_context(|| format!("{place} is not a JSON Web Key Set"))?;
        Ok(Self { keys, revoked: Vec::new(), source })
    }
}

fn is_address(text: &str) -> bool {
    text.starts_with("https://") || text.starts_with("http://")
}

pub(super) fn file(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Fetches a URL without redirects, with a timeout and a size limit.
pub(super) async fn fetch(url: &str) -> anyhow::Result<String> {
    let http = reqwest::Client::builder()
        .timeout(Duration::from_secs(10))
        .redirect(reqwest::redirect::Policy::none())
        .build()?;
    let read = async {
        let mut answer = http.get(url).send().await?.error_for_status()?;
        let mut bytes = Vec::new();
        while let Some(chunk) = answer.chunk().await? {
            bytes.extend(chunk);
            ensure!(bytes.len() <= LARGEST, "it is larger than 16 MiB");
        }
        Ok(String::from_utf8(bytes)?)
    };
    read.await.with_context(|| format!("cannot fetch {url}"))
}
