//! The stylesheet, the scripts and the icon, compiled in and named by their hash; and the icon with a
//! count in it.

use std::sync::LazyLock;

use sha2::{Digest, Sha256};

use crate::site::icons;

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

static ASSETS: LazyLock<[Asset; 13]> = LazyLock::new(|| {
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
        Asset::new(
            ("push", "js"),
            "push.js",
            include_bytes!("../../assets/push.js"),
            "text/javascript; charset=utf-8",
        ),
        Asset::new(
            ("task", "js"),
            "task.js",
            include_bytes!("../../assets/task.js"),
            "text/javascript; charset=utf-8",
        ),
        Asset::new(
            ("task", "css"),
            "task.css",
            include_bytes!("../../assets/task.css"),
            "text/css; charset=utf-8",
        ),
        Asset::new(
            ("insights", "css"),
            "insights.css",
            include_bytes!("../../assets/insights.css"),
            "text/css; charset=utf-8",
        ),
        Asset::new(
            ("print", "css"),
            "print.css",
            include_bytes!("../../assets/print.css"),
            "text/css; charset=utf-8",
        ),
        Asset::new(
            ("docs", "css"),
            "docs.css",
            include_bytes!("../../assets/docs.css"),
            "text/css; charset=utf-8",
        ),
        Asset::new(
            ("live", "js"),
            "live.js",
            include_bytes!("../../assets/live.js"),
            "text/javascript; charset=utf-8",
        ),
        Asset::new(
            ("keys", "js"),
            "keys.js",
            include_bytes!("../../assets/keys.js"),
            "text/javascript; charset=utf-8",
        ),
        Asset::new(
            ("list", "js"),
            "list.js",
            include_bytes!("../../assets/list.js"),
            "text/javascript; charset=utf-8",
        ),
    ]
});

impl Asset {
    pub(crate) fn new(
        (stem, extension): (&str, &str),
        name: &'static str,
        source: &'static [u8],
        content_type: &'static str,
    ) -> Self {
        let bytes = match extension {
            "css" | "js" => lean(source),
            _ => source,
        };
        let mut hash = hex::encode(Sha256::digest(bytes));
        hash.truncate(8);
        let href = format!("/assets/{stem}.{hash}.{extension}");
        Self { bytes, content_type, hash, href, name }
    }
}

/// A stylesheet or script without what only those read who change it: comments on lines of their own,
/// and the spaces lines begin with. Made once, and kept as long as the program runs.
fn lean(source: &'static [u8]) -> &'static [u8] {
    let text = String::from_utf8_lossy(source);
    let said = |line: &&str| {
        let comment = line.starts_with("//") || (line.starts_with("/*") && line.ends_with("*/"));
        !line.is_empty() && !comment
    };
    let lines: Vec<&str> = text.lines().map(str::trim).filter(said).collect();
    Box::leak(lines.join("\n").into_boxed_str()).as_bytes()
}

/// An asset by the last part of its address, with its hash or, for people who type, without.
pub fn asset(file: &str) -> Option<&'static Asset> {
    let hashed = |asset: &Asset| asset.href.rsplit('/').next() == Some(file);
    ASSETS.iter().chain(icons::all()).find(|asset| asset.name == file || hashed(asset))
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
    let [_, _, js, ..] = &*ASSETS;
    &js.href
}

/// Where the icon is.
pub(crate) fn icon() -> &'static str {
    let [_, _, _, icon, ..] = &*ASSETS;
    &icon.href
}

/// Where the script for notices on this device is.
pub(crate) fn push_js() -> &'static str {
    let [_, _, _, _, push, ..] = &*ASSETS;
    &push.href
}

/// Where the script for the room of a task is.
pub(crate) fn task() -> &'static str {
    let [_, _, _, _, _, task, ..] = &*ASSETS;
    &task.href
}

/// Where the stylesheet of tasks and ledgers is: other pages do without.
pub(crate) fn task_css() -> &'static str {
    let [_, _, _, _, _, _, css, ..] = &*ASSETS;
    &css.href
}

/// Where the stylesheet of charts is: other pages do without.
pub(crate) fn insights_css() -> &'static str {
    let [_, _, _, _, _, _, _, css, ..] = &*ASSETS;
    &css.href
}

/// Where the stylesheet for paper is.
pub(crate) fn print_css() -> &'static str {
    let [_, _, _, _, _, _, _, _, css, ..] = &*ASSETS;
    &css.href
}

/// Where the stylesheet of the pages about the API and about errors is.
pub(crate) fn docs_css() -> &'static str {
    let [_, _, _, _, _, _, _, _, _, css, ..] = &*ASSETS;
    &css.href
}

/// Where the script is for what changes while one looks at a list.
pub(crate) fn live() -> &'static str {
    let [.., live, _, _] = &*ASSETS;
    &live.href
}

/// Where the keyboard's script is.
pub(crate) fn keys() -> &'static str {
    let [.., keys, _] = &*ASSETS;
    &keys.href
}

/// Where the script is for selecting, and for putting aside.
pub(crate) fn list() -> &'static str {
    let [.., list] = &*ASSETS;
    &list.href
}

/// The icon with a count in it; from a hundred on it says so.
pub fn counted_icon(count: u64) -> String {
    let text = if count > 99 { "99+".to_owned() } else { count.to_string() };
    let size = match text.len() {
        1 => 22,
        2 => 18,
        _ => 14,
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 32 32\"><rect width=\"32\" \
         height=\"32\" rx=\"8\" fill=\"#a8261c\"/><text x=\"16\" y=\"17\" fill=\"#fff\" \
         font-family=\"system-ui,sans-serif\" font-weight=\"700\" font-size=\"{size}\" \
         text-anchor=\"middle\" dominant-baseline=\"central\">{text}</text></svg>"
    )
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
            (push_js(), "text/javascript"),
        ] {
            let file = href.strip_prefix("/assets/").unwrap();
            let found = asset(file).unwrap();
            assert!(found.content_type.starts_with(kind));
            assert!(file.contains(&found.hash) && !found.bytes.is_empty());
        }
        for (href, name) in [
            (live(), "live."),
            (keys(), "keys."),
            (list(), "list."),
            (task(), "task."),
            (task_css(), "task."),
            (insights_css(), "insights."),
            (print_css(), "print."),
            (docs_css(), "docs."),
        ] {
            let file = href.strip_prefix("/assets/").unwrap();
            assert!(file.starts_with(name) && asset(file).is_some());
        }
        assert!(asset("app.css").is_some());
        assert!(asset("app.00000000.css").is_none() && asset("../app.css").is_none());
    }

    #[test]
    fn nobody_loads_comments() {
        let lean = |text: &'static str| std::str::from_utf8(lean(text.as_bytes())).unwrap();
        assert_eq!(lean("/* a */\n.b {\n  c: d; /* e */\n}\n\n"), ".b {\nc: d; /* e */\n}");
        assert_eq!(lean("  // a\n  b(\"//c\"); // d\n"), "b(\"//c\"); // d");
    }

    #[test]
    fn an_icon_counts_to_a_hundred() {
        for (count, text) in [(1, ">1<"), (42, ">42<"), (99, ">99<"), (100, ">99+<")] {
            assert!(counted_icon(count).contains(text), "{count}");
        }
    }

    /// The whole of a page, styles and script included, stays small on a phone.
    #[test]
    fn assets_are_small_and_load_nothing() {
        for asset in ASSETS.iter() {
            let text = std::str::from_utf8(asset.bytes).unwrap();
            assert!(text.len() < 32 * 1024, "{} is {} bytes", asset.name, text.len());
            // A room reads its own page again when its task has changed.
            let text = text.replacen("await fetch(here)", "", 1);
            // A page asks what became of an answer that could be undone.
            let text = text.replacen("await fetch(address, {", "", 1);
            // Every page asks its own server whether the connection is back.
            let text = text.replacen("await fetch(`/icon/1.svg?", "", 1);
            for loads in ["@import", "url(http", "fetch(", "XMLHttpRequest", "//cdn"] {
                assert!(!text.contains(loads), "{} has {loads}", asset.name);
            }
        }
    }
}
