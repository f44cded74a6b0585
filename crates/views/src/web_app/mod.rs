//! The web app manifest and the service worker, so that people can install the pages as an app.

use std::sync::LazyLock;

use serde_json::json;
use sha2::{Digest, Sha256};

use crate::PageContext;
use crate::locale::{self, Language, ReaderLocale};
use crate::message_page::{offline, unsent};
use crate::site::assets::{self, Asset};
use crate::site::icons::{self, LIGHT};
use crate::site::{paths, script_words};

/// The Content Security Policy of the service worker: it connects only to this server.
pub const WORKER_POLICY: &str = "default-src 'none'; connect-src 'self'";

/// One text for each language.
type Texts = LazyLock<[String; 2]>;

/// Renders a text for each language.
fn in_each_language(render: fn() -> String) -> [String; 2] {
    Language::ALL.map(|language| locale::with(ReaderLocale { language, time_zone: None }, render))
}

/// The one of the reader's language.
fn for_reader(texts: &'static Texts) -> &'static str {
    let [english, german] = &**texts;
    match locale::current().language {
        Language::English => english,
        Language::German => german,
    }
}

/// The web app manifest, in the reader's language.
pub fn manifest() -> &'static str {
    static MANIFEST: Texts = LazyLock::new(|| in_each_language(render_manifest));
    for_reader(&MANIFEST)
}

fn render_manifest() -> String {
    let [small, large, maskable, ..] = icons::all();
    let icon = |asset: &Asset, sizes: &str, purpose: &str| json!({ "src": asset.href, "sizes": sizes, "type": asset.content_type, "purpose": purpose });
    let manifest = json!({
        "id": "/",
        "lang": locale::current().language.tag(),
        "name": "Countersign",
        "short_name": "Countersign",
        "description": t!("app-description"),
        "start_url": paths::INBOX,
        "scope": "/",
        "display": "standalone",
        "background_color": LIGHT,
        "theme_color": LIGHT,
        "icons": [
            icon(small, "192x192", "any"),
            icon(large, "512x512", "any"),
            icon(maskable, "512x512", "maskable"),
        ],
        "shortcuts": [
            { "name": t!("nav-inbox"), "url": paths::INBOX },
            { "name": t!("nav-history"), "url": paths::HISTORY },
        ],
    });
    manifest.to_string()
}

/// The service worker, with texts in the reader's language. It contains the paths of the files that
/// it caches, so it changes whenever one of them does.
pub fn worker() -> &'static str {
    static WORKER: Texts = LazyLock::new(|| in_each_language(render_worker));
    for_reader(&WORKER)
}

fn render_worker() -> String {
    let shell = [
        paths::OFFLINE,
        paths::UNSENT,
        assets::css(),
        assets::words(),
        assets::js(),
        assets::icon(),
        icons::all().first().map_or("", |icon| &icon.href),
    ];
    let source = include_str!("../../assets/sw.js");
    let pages = [offline(&anonymous_context()), unsent(&anonymous_context())].concat();
    let words = script_words::of_worker().to_string();
    let mut version = hex::encode(Sha256::digest(format!("{shell:?}{pages}{words}{source}")));
    version.truncate(8);
    let [icon, .., badge] = icons::all();
    source
        .replace("VERSION", &version)
        .replace("WORDS = {}", &format!("WORDS = {words}"))
        .replace("[\"SHELL\"]", &json!(shell).to_string())
        .replace("\"ICON\"", &json!(icon.href).to_string())
        .replace("\"BADGE\"", &json!(badge.href).to_string())
}

fn anonymous_context() -> PageContext {
    PageContext::anonymous(kernel::Time::from_millis(0))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn an_app_can_be_made_of_it() {
        let manifest: Value = serde_json::from_str(manifest()).unwrap();
        assert_eq!((&manifest["start_url"], &manifest["scope"]), (&json!("/"), &json!("/")));
        for icon in manifest["icons"].as_array().unwrap() {
            let file = icon["src"].as_str().unwrap().strip_prefix("/assets/").unwrap();
            let bytes = assets::asset(file).unwrap().bytes;
            // Every PNG starts with its width and height.
            let side = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
            assert_eq!(icon["sizes"], format!("{}x{}", side(16), side(20)), "{file}");
            assert!(bytes.starts_with(b"\x89PNG") && bytes.len() < 8 * 1024, "{file}");
        }
        assert!(assets::asset(icons::touch_icon().strip_prefix("/assets/").unwrap()).is_some());
    }

    /// The worker caches only pages and files without personal data.
    #[test]
    fn the_worker_keeps_the_shell_and_nothing_else() {
        let worker = worker();
        for placeholder in ["\"SHELL\"", "\"ICON\"", "\"BADGE\"", "VERSION", "WORDS = {}"] {
            assert!(!worker.contains(placeholder), "{placeholder}");
        }
        let kept = worker.split_once("const SHELL = ").unwrap().1.split_once(';').unwrap().0;
        for path in serde_json::from_str::<Vec<String>>(kept).unwrap() {
            assert!(path.starts_with("/assets/") || path.starts_with("/offline"), "{path}");
        }
        let german = ReaderLocale { language: Language::German, time_zone: None };
        let german = locale::with(german, super::worker);
        assert!(german.contains("Genehmigen") && !german.contains("Approve"), "{german}");
        // The cache is filled when the worker is installed, and never later.
        assert_eq!(worker.matches("addAll(").count(), 1);
        assert_eq!(worker.matches(".put(").count() + worker.matches(".add(").count(), 0);
        for abroad in ["http:", "https:", "importScripts"] {
            assert!(!worker.contains(abroad), "{abroad}");
        }
    }
}
