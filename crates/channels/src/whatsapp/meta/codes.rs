//! Meta's errors, by number.
//! <https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes>

use crate::errors::OUTSIDE_WINDOW;

/// How an error affects later attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MetaErrorKind {
    /// A later attempt may succeed.
    Passing,
    /// The operator must first fix the cause.
    Lasting,
    /// The error is permanent for this address.
    Forever,
}

/// The recipient has not written for a day.
pub(super) const OUTSIDE_WINDOW_CODE: u64 = 131_047;

/// An error in words for the operator.
pub(super) fn explain_error(code: u64) -> Option<(&'static str, MetaErrorKind)> {
    use MetaErrorKind::{Forever, Lasting, Passing};
    Some(match code {
        0 | 190 => (
            "Meta does not take the access token: it has expired or was revoked. Make one of a \
                     system user, which does not expire",
            Lasting,
        ),
        3 | 10 | 200..=219 => (
            "the access token may not send messages: it needs \
                                whatsapp_business_messaging, and the WhatsApp account assigned to its \
                                system user",
            Lasting,
        ),
        33 => ("Meta knows no such phone number id, or the token may not see it", Lasting),
        1 | 2 | 131_000 | 131_016 | 133_004 => ("Meta has a problem of its own", Passing),
        4 | 80_007 | 130_429 | 131_048 | 131_056 => {
            ("Meta takes no more messages for now", Passing)
        }
        368 | 131_031 => {
            ("Meta has locked the WhatsApp account: see its Business Manager", Lasting)
        }
        131_026 => {
            ("nobody uses WhatsApp at that number, or they have not accepted its terms", Forever)
        }
        131_021 => ("that number is the one messages are sent from", Forever),
        131_030 => (
            "a test number writes to listed numbers alone: add theirs in the app's settings",
            Lasting,
        ),
        131_042 => (
            "Meta could not charge for it: see the payment settings of the WhatsApp account",
            Lasting,
        ),
        131_047 => (OUTSIDE_WINDOW, Lasting),
        131_049 | 130_472 => ("WhatsApp does not want to bother them with it now", Lasting),
        131_050 => ("they have stopped messages of this kind in WhatsApp", Forever),
        132_000 | 132_012 => {
            ("the template has other places than are set up to be filled", Lasting)
        }
        132_001 => ("there is no such template in that language, or it is not approved", Lasting),
        132_005 | 132_007 => ("WhatsApp does not take what was filled into the template", Lasting),
        132_015 | 132_016 => ("WhatsApp has paused or disabled the template", Lasting),
        133_010 => ("the number is not registered with the Cloud API", Lasting),
        _ => return None,
    })
}
