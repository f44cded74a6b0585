//! The stylesheet, the scripts and the icon, compiled in and named by their hash.

use std::sync::LazyLock;

use sha2::{Digest, Sha256};

/// A file browsers load beside a page.
#[derive(Debug)]
pub struct Asset {
    /// What it holds.
    pub bytes: &'static [u8],
    /// What it is.
    pub content_type: &'static str,
    /// The first eight hex digits of its SHA-256; with quotes around, its `ETag`.
    pub hash: String,
    /// Where it is served: a new content has a new address.
    pub href: String,
    name: &'static str,
}

static ASSETS: LazyLock<[Asset; 4]> = LazyLock::new(|| {
    [
        Asset::new(
            ("app", "css"),
            "app.css",
            include_bytes!("../../assets/app.css"),
            "text/css; charset=utf-8",
        ),
        Asset::new(
            ("app", "js"),
            "app.js",
            include_bytes!("../../assets/app.js"),
            "text/javascript; charset=utf-8",
        ),
        Asset::new(
            ("passkey", "js"),
            "passkey.js",
            include_bytes!("../../assets/passkey.js"),
            "text/javascript; charset=utf-8",
        ),
        Asset::new(
            ("icon", "svg"),
            "icon.svg",
            include_bytes!("../../assets/icon.svg"),
            "image/svg+xml",
        ),
    ]
});

impl Asset {
    fn new(
        (stem, extension): (&str, &str),
        name: &'static str,
        bytes: &'static [u8],
        content_type: &'static str,
    ) -> Self {
        let mut hash = hex::encode(Sha256::digest(bytes));
        hash.truncate(8);
        let href = format!("/assets/{stem}.{hash}.{extension}");
        Self { bytes, content_type, hash, href, name }
    }
}

/// An asset by the last part of its address, with its hash or, for people who type, without.
pub fn asset(file: &str) -> Option<&'static Asset> {
    let hashed = |asset: &Asset| asset.href.rsplit('/').next() == Some(file);
    ASSETS.iter().find(|asset| asset.name == file || hashed(asset))
}

/// Where the stylesheet is.
pub(crate) fn css() -> &'static str {
    let [css, ..] = &*ASSETS;
    &css.href
}

/// Where the script is.
pub(crate) fn js() -> &'static str {
    let [_, js, ..] = &*ASSETS;
    &js.href
}

/// Where the script for passkeys is.
pub(crate) fn passkey_js() -> &'static str {
    let [_, _, js, _] = &*ASSETS;
    &js.href
}

/// Where the icon is.
pub(crate) fn icon() -> &'static str {
    let [.., icon] = &*ASSETS;
    &icon.href
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assets_are_found_by_their_hashed_address_only_while_it_is_current() {
        for (href, kind) in [
            (css(), "text/css"),
            (js(), "text/javascript"),
            (passkey_js(), "text/javascript"),
            (icon(), "image/"),
        ] {
            let file = href.strip_prefix("/assets/").unwrap();
            let found = asset(file).unwrap();
            assert!(found.content_type.starts_with(kind));
            assert!(file.contains(&found.hash) && !found.bytes.is_empty());
        }
        assert!(asset("app.css").is_some());
        assert!(asset("app.00000000.css").is_none() && asset("../app.css").is_none());
    }

    /// The whole of a page, styles and script included, stays small on a phone.
    #[test]
    fn assets_are_small_and_load_nothing() {
        for asset in ASSETS.iter() {
            let text = std::str::from_utf8(asset.bytes).unwrap();
            assert!(text.len() < 32 * 1024, "{} is {} bytes", asset.name, text.len());
            for loads in ["@import", "url(http", "fetch(", "XMLHttpRequest", "//cdn"] {
                assert!(!text.contains(loads), "{} has {loads}", asset.name);
            }
        }
    }
}
