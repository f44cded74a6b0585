//! The icons of the web app, and its theme colours.

use std::sync::LazyLock;

use crate::site::assets::Asset;

/// The theme colour of the app; it matches the page background.
pub const LIGHT: &str = "#f5f4f0";
/// The theme colour in dark mode.
pub const DARK: &str = "#121418";

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

/// Every icon: two sizes, the maskable one, the Apple touch icon, and the badge.
pub(crate) fn all() -> &'static [Asset; 5] {
    &ICONS
}

/// The path of the Apple touch icon.
pub(crate) fn touch_icon() -> &'static str {
    let [_, _, _, touch, _] = &*ICONS;
    &touch.href
}
