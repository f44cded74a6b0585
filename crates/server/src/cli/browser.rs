//! Opens pages in the user's browser.

use std::process::{Command, Stdio};

use crate::config::variable;

/// The program that opens a page on this computer; `None` if there is no browser to see it in.
/// `BROWSER` names another one.
fn opener() -> Option<String> {
    let named = variable("BROWSER");
    if let Some(first) = named.as_deref().and_then(|list| list.split(':').next()) {
        return Some(first.to_owned());
    }
    if cfg!(target_os = "macos") {
        return variable("SSH_CONNECTION").is_none().then(|| "open".to_owned());
    }
    let screen = variable("WAYLAND_DISPLAY").or_else(|| variable("DISPLAY"));
    screen.map(|_| "xdg-open".to_owned())
}

/// Whether this computer has a browser that the user can see.
pub(super) fn is_available() -> bool {
    opener().is_some()
}

/// Opens a page. Returns whether the program that opens it could be started.
pub(super) fn open(url: &str) -> bool {
    let Some(program) = opener() else { return false };
    let mut command = Command::new(program);
    // What the browser prints would be between our lines.
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}
