//! The texts of the scripts, from the catalog. `%name%` stands for a value that the script inserts.

use serde_json::{Value, json};

use crate::locale::Argument;

/// A text with a number in two forms: for one, and for other numbers.
fn forms(text: impl Fn(&dyn Argument) -> String) -> Value {
    json!([text(&1_u32), text(&"%n%")])
}

/// The texts of the scripts of pages, in the reader's language.
pub(super) fn of_pages() -> Value {
    json!({
        "just-now": t!("time-just-now"),
        "within-a-minute": t!("time-within-a-minute"),
        "minutes-ago": forms(|n| t!("time-minutes-ago", n = n)),
        "in-minutes": forms(|n| t!("time-in-minutes", n = n)),
        "hours-ago": forms(|n| t!("time-hours-ago", n = n)),
        "in-hours": forms(|n| t!("time-in-hours", n = n)),
        "days-ago": forms(|n| t!("time-days-ago", n = n)),
        "in-days": forms(|n| t!("time-in-days", n = n)),
        "approve-with": forms(|n| t!("script-approve-with", n = n)),
        "scroll-to-end": t!("script-scroll-to-end"),
        "show-secret": t!("script-show-secret"),
        "hide-secret": t!("script-hide-secret"),
        "checking": t!("script-checking"),
        "check-signed-out": t!("script-check-signed-out"),
        "check-not-visible": t!("script-check-not-visible"),
        "check-offline": t!("script-check-offline"),
        "check-unreachable": t!("script-check-unreachable"),
        "copy": t!("script-copy"),
        "copied": t!("script-copied"),
        "dismiss": t!("script-dismiss"),
        "unsent-offline": t!("script-unsent-offline"),
        "unsent-unreachable": t!("script-unsent-unreachable"),
        "old-offline": t!("script-old-offline"),
        "old-unreachable": t!("script-old-unreachable"),
        "no-connection": t!("script-no-connection"),
        "connected-again": t!("script-connected-again"),
        "press-u": t!("script-press-u"),
        "requests": forms(|n| t!("bulk-count", n = n)),
        "requests-some": forms(|n| t!("script-requests-some", n = n, all = "%all%")),
        "requests-all": forms(|n| t!("script-requests-all", n = n)),
        "bulk-rest": forms(|n| t!("script-bulk-rest", n = n)),
        "list-changed": t!("script-list-changed"),
        "show-new": forms(|n| t!("script-show-new", n = n)),
        "move-up": forms(|n| t!("script-move-up", n = n)),
        "tasks-moved": forms(|n| t!("script-tasks-moved", n = n)),
        "list-offline": t!("script-list-offline", time = "%time%"),
        "list-no-updates": t!("script-list-no-updates", time = "%time%"),
        "scrolled": t!("script-scrolled"),
        "too-tall": t!("script-too-tall"),
        "read-first": t!("script-read-first"),
        "open-to-answer": t!("script-open-to-answer"),
    })
}

/// The texts of the service worker, in the reader's language.
pub(crate) fn of_worker() -> Value {
    json!({
        "approve": t!("common-approve"),
        "reject": t!("common-reject"),
        "waiting": t!("worker-waiting"),
        "waiting-text": t!("worker-waiting-text"),
        "signed-out": t!("worker-signed-out"),
        "signed-out-text": t!("worker-signed-out-text"),
        "unsent": t!("worker-unsent"),
        "unsent-text": t!("worker-unsent-text"),
        "no-connection": t!("worker-no-connection"),
        "no-connection-text": t!("worker-no-connection-text"),
        "device-lost": t!("worker-device-lost"),
        "device-lost-text": t!("worker-device-lost-text"),
    })
}
