//! The stylesheets, scripts and icons, compiled in and named by their hash; and the icon with a
//! count.

use std::sync::LazyLock;

use sha2::{Digest, Sha256};

use crate::locale::{self, Language, ReaderLocale};
use crate::site::{icons, script_words};

/// A file that browsers load with a page.
#[derive(Debug)]
pub struct Asset {
    pub bytes: &'static [u8],
    pub content_type: &'static str,
    /// The first eight hex digits of its SHA-256. In quotes, this is its `ETag`.
    pub hash: String,
    /// The path it is served at. New content gets a new path.
    pub href: String,
    name: &'static str,
}

static ASSETS: LazyLock<[Asset; 16]> = LazyLock::new(|| {
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
            ("docs", "js"),
            "docs.js",
            include_bytes!("../../assets/docs.js"),
            "text/javascript; charset=utf-8",
        ),
        Asset::new(
            ("api-reference", "css"),
            "api-reference.css",
            include_bytes!("../../assets/api-reference.css"),
            "text/css; charset=utf-8",
        ),
        Asset::new(
            ("zone", "js"),
            "zone.js",
            include_bytes!("../../assets/zone.js"),
            "text/javascript; charset=utf-8",
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

/// The texts of the scripts, once for each language.
static WORDS: LazyLock<[Asset; 2]> = LazyLock::new(|| {
    let source = include_str!("../../assets/words.js");
    [(Language::English, "words.en.js"), (Language::German, "words.de.js")].map(
        |(language, name)| {
            let words =
                locale::with(ReaderLocale { language, time_zone: None }, script_words::of_pages);
            let script = source.replace("WORDS = {}", &format!("WORDS = {words}"));
            Asset::new(
                ("words", "js"),
                name,
                Box::leak(script.into_boxed_str()).as_bytes(),
                "text/javascript; charset=utf-8",
            )
        },
    )
});

impl Asset {
    pub(crate) fn new(
        (stem, extension): (&str, &str),
        name: &'static str,
        source: &'static [u8],
        content_type: &'static str,
    ) -> Self {
        let bytes = match extension {
            "css" | "js" => minified(source),
            _ => source,
        };
        let mut hash = hex::encode(Sha256::digest(bytes));
        hash.truncate(8);
        let href = format!("/assets/{stem}.{hash}.{extension}");
        Self { bytes, content_type, hash, href, name }
    }
}

/// A stylesheet or script without comments on lines of their own and without indentation. Computed
/// once and leaked, so it lives as long as the process.
fn minified(source: &'static [u8]) -> &'static [u8] {
    let text = String::from_utf8_lossy(source);
    let said = |line: &&str| {
        let comment = line.starts_with("//") || (line.starts_with("/*") && line.ends_with("*/"));
        !line.is_empty() && !comment
    };
    let lines: Vec<&str> = text.lines().map(str::trim).filter(said).collect();
    Box::leak(lines.join("\n").into_boxed_str()).as_bytes()
}

/// Finds an asset by the last segment of its path, with its hash or, for people who
/// type it, without.
pub fn asset(file: &str) -> Option<&'static Asset> {
    let hashed = |asset: &Asset| asset.href.rsplit('/').next() == Some(file);
    ASSETS
        .iter()
        .chain(&*WORDS)
        .chain(icons::all())
        .find(|asset| asset.name == file || hashed(asset))
}

/// The path of the stylesheet.
pub(crate) fn css() -> &'static str {
    let [css, ..] = &*ASSETS;
    &css.href
}

/// The path of the script with the texts of the other scripts, in the reader's language.
pub(crate) fn words() -> &'static str {
    let [english, german] = &*WORDS;
    match locale::current().language {
        Language::English => &english.href,
        Language::German => &german.href,
    }
}

/// The path of the script.
pub(crate) fn js() -> &'static str {
    let [_, js, ..] = &*ASSETS;
    &js.href
}

/// The path of the script for passkeys.
pub(crate) fn passkey_js() -> &'static str {
    let [_, _, js, ..] = &*ASSETS;
    &js.href
}

/// The path of the icon.
pub(crate) fn icon() -> &'static str {
    let [_, _, _, icon, ..] = &*ASSETS;
    &icon.href
}

/// The path of the script for push notifications on this device.
pub(crate) fn push_js() -> &'static str {
    let [_, _, _, _, push, ..] = &*ASSETS;
    &push.href
}

/// The path of the script for the room of a task.
pub(crate) fn task() -> &'static str {
    let [_, _, _, _, _, task, ..] = &*ASSETS;
    &task.href
}

/// The path of the stylesheet for tasks and ledgers; other pages do not load it.
pub(crate) fn task_css() -> &'static str {
    let [_, _, _, _, _, _, css, ..] = &*ASSETS;
    &css.href
}

/// The path of the stylesheet for charts; other pages do not load it.
pub(crate) fn insights_css() -> &'static str {
    let [_, _, _, _, _, _, _, css, ..] = &*ASSETS;
    &css.href
}

/// The path of the print stylesheet.
pub(crate) fn print_css() -> &'static str {
    let [_, _, _, _, _, _, _, _, css, ..] = &*ASSETS;
    &css.href
}

/// The path of the stylesheet for the documentation.
pub(crate) fn docs_css() -> &'static str {
    let [_, _, _, _, _, _, _, _, _, css, ..] = &*ASSETS;
    &css.href
}

/// The path of the script for the documentation.
pub(crate) fn docs_js() -> &'static str {
    let [.., js, _, _, _, _, _] = &*ASSETS;
    &js.href
}

/// The path of the stylesheet for the API reference, whose page loads no other.
pub(crate) fn api_reference_css() -> &'static str {
    let [.., css, _, _, _, _] = &*ASSETS;
    &css.href
}

/// The path of the script that offers the browser's time zone.
pub(crate) fn zone_js() -> &'static str {
    let [.., zone, _, _, _] = &*ASSETS;
    &zone.href
}

/// The path of the script that updates an open list.
pub(crate) fn live() -> &'static str {
    let [.., live, _, _] = &*ASSETS;
    &live.href
}

/// The path of the script for keyboard shortcuts.
pub(crate) fn keys() -> &'static str {
    let [.., keys, _] = &*ASSETS;
    &keys.href
}

/// The path of the script for selecting and snoozing.
pub(crate) fn list() -> &'static str {
    let [.., list] = &*ASSETS;
    &list.href
}

/// The icon with a count in it; above 99 it shows `99+`.
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
            (zone_js(), "text/javascript"),
            (words(), "text/javascript"),
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
            (docs_js(), "docs."),
            (api_reference_css(), "api-reference."),
        ] {
            let file = href.strip_prefix("/assets/").unwrap();
            assert!(file.starts_with(name) && asset(file).is_some());
        }
        assert!(asset("app.css").is_some());
        assert!(asset("app.00000000.css").is_none() && asset("../app.css").is_none());
    }

    /// Every text that a script uses is sent to it, in the language of the page.
    #[test]
    fn scripts_have_their_texts() {
        let scripts = ["app.js", "live.js", "keys.js", "list.js", "task.js"]
            .map(|name| std::str::from_utf8(asset(name).unwrap().bytes).unwrap())
            .concat();
        let words = script_words::of_pages();
        let words = words.as_object().unwrap();
        let used = scripts.split("word(").skip(1);
        let used = used.filter_map(|call| call.strip_prefix('"')?.split('"').next());
        for name in used {
            assert!(words.contains_key(name), "{name}");
        }
        let [english, german] = ["words.en.js", "words.de.js"]
            .map(|name| std::str::from_utf8(asset(name).unwrap().bytes).unwrap());
        assert!(english.contains("Show 1 new request") && english.contains("%n% new requests"));
        assert!(german.contains("1 neue Anfrage anzeigen") && !german.contains("just now"));
        let german = ReaderLocale { language: Language::German, time_zone: None };
        assert_ne!(locale::with(german, words_path), words_path());
    }

    fn words_path() -> &'static str {
        words()
    }

    #[test]
    fn nobody_loads_comments() {
        let lean = |text: &'static str| std::str::from_utf8(minified(text.as_bytes())).unwrap();
        assert_eq!(lean("/* a */\n.b {\n  c: d; /* e */\n}\n\n"), ".b {\nc: d; /* e */\n}");
        assert_eq!(lean("  // a\n  b(\"//c\"); // d\n"), "b(\"//c\"); // d");
    }

    #[test]
    fn an_icon_counts_to_a_hundred() {
        for (count, text) in [(1, ">1<"), (42, ">42<"), (99, ">99<"), (100, ">99+<")] {
            assert!(counted_icon(count).contains(text), "{count}");
        }
    }

    /// All styles and scripts together stay small enough for a phone.
    #[test]
    fn assets_are_small_and_load_nothing() {
        for asset in ASSETS.iter().chain(&*WORDS) {
            let text = std::str::from_utf8(asset.bytes).unwrap();
            assert!(text.len() < 32 * 1024, "{} is {} bytes", asset.name, text.len());
            // A room fetches its own page again when its task has changed.
            let text = text.replacen("await fetch(here)", "", 1);
            // A page asks for the result of an answer that could be undone.
            let text = text.replacen("await fetch(address, {", "", 1);
            // Every page asks its own server whether the connection is back.
            let text = text.replacen("await fetch(`/icon/1.svg?", "", 1);
            for loads in ["@import", "url(http", "fetch(", "XMLHttpRequest", "//cdn"] {
                assert!(!text.contains(loads), "{} has {loads}", asset.name);
            }
        }
    }
}
