//! Twilio's errors, by number. <https://www.twilio.com/docs/api/errors>

use crate::errors::OUTSIDE_WINDOW;

/// An error in words for the operator, and whether it is permanent for this address.
pub(crate) fn explained(code: u64) -> Option<(&'static str, bool)> {
    Some(match code {
        20_003 => ("Twilio does not take the account SID with this auth token or API key", false),
        20_404 => ("Twilio knows no such account: check the account SID", false),
        21_211 | 21_614 | 21_635 | 30_005 | 63_003 | 63_024 => {
            ("nobody can be reached at that number", true)
        }
        21_408 => (
            "messages to that country are switched off: allow it in Twilio's console under \
                    Messaging, Settings, Geo permissions",
            false,
        ),
        21_603 | 21_606 | 21_659 | 21_660 | 21_701 | 21_705 | 63_007 => (
            "the number or service messages are sent from is not this account's, or cannot send them",
            false,
        ),
        21_608 => ("a trial account of Twilio writes to verified numbers alone", false),
        21_610 => ("they have answered STOP: they must answer START before anything arrives", true),
        21_612 => ("Twilio has no way from the sender's number to that number", false),
        21_605 | 21_617 => ("it is longer than Twilio carries", false),
        21_656 | 63_027 | 63_028 | 63_040 | 63_041 | 63_042 => (
            "the template is not there, is not approved, or has other variables than are set",
            false,
        ),
        30_002 => ("the account at Twilio is suspended", false),
        30_003 => ("their phone is off or out of reach", false),
        30_004 => ("they, or their carrier, block messages from us", true),
        30_006 => ("that number is a landline, or its carrier takes no messages", true),
        30_007 => ("a carrier took it for spam", false),
        30_008 => ("a carrier lost it, and does not say why", false),
        30_034 => (
            "carriers in the US take messages from registered senders alone: register the \
                    number with Twilio (A2P 10DLC)",
            false,
        ),
        63_016 => (OUTSIDE_WINDOW, false),
        63_018 => ("WhatsApp takes no more messages from this number for now", false),
        63_032 | 63_049 => ("WhatsApp does not want to bother them with it now", false),
        _ => return None,
    })
}
