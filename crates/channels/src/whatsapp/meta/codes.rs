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
            "Meta refused the access token because it expired or was revoked; create one for a \
             system user, which does not expire",
            Lasting,
        ),
        3 | 10 | 200..=219 => (
            "the access token cannot send messages; it requires whatsapp_business_messaging, and \
             its system user must have access to the WhatsApp account",
            Lasting,
        ),
        33 => ("Meta cannot find this phone number ID, or the token cannot see it", Lasting),
        1 | 2 | 131_000 | 131_016 | 133_004 => ("Meta reported an internal error", Passing),
        4 | 80_007 | 130_429 | 131_048 | 131_056 => ("Meta limits the rate of messages", Passing),
        368 | 131_031 => ("Meta locked the WhatsApp account; see its Business Manager", Lasting),
        131_026 => {
            ("that number does not use WhatsApp, or its owner has not accepted the terms", Forever)
        }
        131_021 => ("that number is the sender's own number", Forever),
        131_030 => (
            "a test number can send to listed numbers only; add the number in the app's settings",
            Lasting,
        ),
        131_042 => (
            "Meta could not charge for the message; see the payment settings of the WhatsApp \
             account",
            Lasting,
        ),
        131_047 => (OUTSIDE_WINDOW, Lasting),
        131_049 | 130_472 => (
            "WhatsApp did not deliver the message to protect the person from too many messages",
            Lasting,
        ),
        131_050 => ("the person turned off messages of this kind in WhatsApp", Forever),
        132_000 | 132_012 => {
            ("the template has different placeholders than whatsapp_template names", Lasting)
        }
        132_001 => ("the template does not exist in that language, or is not approved", Lasting),
        132_005 | 132_007 => {
            ("WhatsApp refused the values of the template's placeholders", Lasting)
        }
        132_015 | 132_016 => ("WhatsApp has paused or disabled the template", Lasting),
        133_010 => ("the number is not registered with the Cloud API", Lasting),
        _ => return None,
    })
}
