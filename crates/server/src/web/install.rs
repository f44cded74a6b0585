//! What makes an app of the pages: the manifest, its icons, and the script that works while no page is
//! open.

use std::sync::LazyLock;

use serde_json::json;
use sha2::{Digest, Sha256};

use super::assets::{self, Asset};
use super::notices::Message;
use super::{Frame, paths, render};

/// The colour of the bar around the app, as the page's own background is.
pub const LIGHT: &str = "#f5f4f0";
/// The same in the dark.
pub const DARK: &str = "#121418";

/// What the script may do: it runs alone, and reaches nobody but us.
pub const WORKER_POLICY: &str = "default-src 'none'; connect-src 'self'";

static ICONS: LazyLock<[Asset; 5]> = LazyLock::new(|| {
    let png = |stem, name, bytes| Asset::new((stem, "png"), name, bytes, "image/png");
    [
        png("icon-192", "icon-192.png", include_bytes!("../../assets/icon-192.png")),
        png("icon-512", "icon-512.png", include_bytes!("../../assets/icon-512.png")),
        png("maskable-512", "maskable-512.png", include_bytes!("../../assets/maskable-512.png")),
        png("touch-180", "touch-180.png", include_bytes!("../../assets/touch-180.png")),
        png("badge-96", "badge-96.png", include_bytes!("../../assets/badge-96.png")),
    ]
});

pub(super) fn icons() -> &'static [Asset] {
    &*ICONS
}

/// Where the icon for a home screen is that takes no other.
pub(crate) fn touch_icon() -> &'static str {
    let [_, _, _, touch, _] = &*ICONS;
    &touch.href
}

/// What the app is called and looks like.
pub fn manifest() -> &'static str {
    static MANIFEST: LazyLock<String> = LazyLock::new(|| {
        let [small, large, maskable, ..] = &*ICONS;
        let icon = |asset: &Asset, sizes: &str, purpose: &str| json!({ "src": asset.href, "sizes": sizes, "type": asset.content_type, "purpose": purpose });
        let manifest = json!({
            "id": "/",
            "name": "Countersign",
            "short_name": "Countersign",
            "description": "Requests of agents that wait for you.",
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
                { "name": "Inbox", "url": paths::INBOX },
                { "name": "History", "url": paths::HISTORY },
            ],
        });
        manifest.to_string()
    });
    &MANIFEST
}

/// The script that works while no page is open. It names what it keeps, so a new version of that is a
/// new version of it.
pub fn worker() -> &'static str {
    static WORKER: LazyLock<String> = LazyLock::new(|| {
        let shell = [
            paths::OFFLINE,
            paths::UNSENT,
            assets::css(),
            assets::js(),
            assets::icon(),
            ICONS.first().map_or("", |icon| &icon.href),
        ];
        let source = include_str!("../../assets/sw.js");
        let pages = [offline(&anyone()), unsent(&anyone())].concat();
        let mut version = hex::encode(Sha256::digest(format!("{shell:?}{pages}{source}")));
        version.truncate(8);
        let [icon, .., badge] = &*ICONS;
        source
            .replace("VERSION", &version)
            .replace("[\"SHELL\"]", &json!(shell).to_string())
            .replace("\"ICON\"", &json!(icon.href).to_string())
            .replace("\"BADGE\"", &json!(badge.href).to_string())
    });
    &WORKER
}

fn anyone() -> Frame {
    Frame::anonymous(kernel::Time::from_millis(0))
}

/// Instead of a page that could not be fetched.
pub fn offline(frame: &Frame) -> String {
    let text = "This page could not be fetched: there is no network, or the server is not reached. \
                Requests wait for you there.";
    let message = Message::new(frame, "You are offline", &[text]);
    render(&message.linked("", "Try again").unreached("page"))
}

/// Instead of a page that should have said what came of a form.
pub fn unsent(frame: &Frame) -> String {
    let texts = [
        "There is no network, or the server was not reached, so nobody said whether what you sent \
         arrived. Count on it that it did not.",
        "Go back to see where the request stands. What you entered is still there, but for passwords \
         and files.",
    ];
    let message = Message::new(frame, "Nothing came back", &texts);
    render(&message.linked("", "Go back and look").unreached("form").alert())
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
            // Width and height stand at the beginning of every PNG.
            let side = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
            assert_eq!(icon["sizes"], format!("{}x{}", side(16), side(20)), "{file}");
            assert!(bytes.starts_with(b"\x89PNG") && bytes.len() < 8 * 1024, "{file}");
        }
        assert!(assets::asset(touch_icon().strip_prefix("/assets/").unwrap()).is_some());
    }

    /// Only what is nobody's is kept on a phone.
    #[test]
    fn the_worker_keeps_the_shell_and_nothing_else() {
        let worker = worker();
        for placeholder in ["\"SHELL\"", "\"ICON\"", "\"BADGE\"", "VERSION"] {
            assert!(!worker.contains(placeholder), "{placeholder}");
        }
        let kept = worker.split_once("const SHELL = ").unwrap().1.split_once(';').unwrap().0;
        for path in serde_json::from_str::<Vec<String>>(kept).unwrap() {
            assert!(path.starts_with("/assets/") || path.starts_with("/offline"), "{path}");
        }
        // What is put into the cache is put there when it is installed, and never again.
        assert_eq!(worker.matches("addAll(").count(), 1);
        assert_eq!(worker.matches(".put(").count() + worker.matches(".add(").count(), 0);
        for abroad in ["http:", "https:", "importScripts"] {
            assert!(!worker.contains(abroad), "{abroad}");
        }
    }
}
