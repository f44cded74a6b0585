//! The texts of the scripts, from the catalog. `%name%` stands for a value that the script inserts.

use serde_json::{Value, json};

/// A text with a number in two forms: for one, and for other numbers.
macro_rules! forms {
    ($id:literal $(, $name:ident = $value:expr)*) => {
        json!([t!($id, n = 1 $(, $name = $value)*), t!($id, n = "%n%" $(, $name = $value)*)])
    };
}

/// The texts of the scripts of pages, in the reader's language.
pub(super) fn of_pages() -> Value {
    json!({
        "just-now": t!("time-just-now"),
        "within-a-minute": t!("time-within-a-minute"),
        "minutes-ago": forms!("time-minutes-ago"),
        "in-minutes": forms!("time-in-minutes"),
        "hours-ago": forms!("time-hours-ago"),
        "in-hours": forms!("time-in-hours"),
        "days-ago": forms!("time-days-ago"),
        "in-days": forms!("time-in-days"),
        "approve-with": forms!("script-approve-with"),
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
        "requests": forms!("bulk-count"),
        "requests-some": forms!("script-requests-some", all = "%all%"),
        "requests-all": forms!("script-requests-all"),
        "bulk-rest": forms!("script-bulk-rest"),
        "list-changed": t!("script-list-changed"),
        "show-new": forms!("script-show-new"),
        "move-up": forms!("script-move-up"),
        "tasks-moved": forms!("script-tasks-moved"),
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
