//! Proves that the second step was displayed to the person who takes it, for the same answer, and
//! long enough to be read. The form carries the sealed proof. After a double tap, a forged form or
//! the form of another answer, the step is shown again.

use kernel::audit::Digest;
use kernel::question::Reply;
use kernel::{Ask, Time};
use serde::{Deserialize, Serialize};
use views::Submitted;
use views::answer_form::second_step::{Before, SURE, Taken};

use super::sealed_values::SECONDS;
use crate::http::pages::sealed_values::SealedValues;

/// The minimum time the step must have been on screen: longer than the pause within a double tap.
const LEAST_MILLIS: i64 = 1000;
const PURPOSE: &str = "second step";

/// The step as it was shown.
#[derive(Serialize, Deserialize)]
struct Shown {
    at: Time,
    answer: Digest,
}

impl SealedValues {
    /// Whether the second step of an answer was taken, and the proof for showing it. `holder`
    /// identifies the person who answers by a value that is unique to them.
    pub(super) fn before_step(
        &self,
        holder: &str,
        ask: &Ask,
        reply: &Reply,
        sent: &Submitted,
        guarded: bool,
    ) -> Before {
        let holder = format!("{holder} {}", ask.id);
        let (now, answer) = (self.gateway.now(), Digest::of_json(&reply.answer));
        let shown = sent.value(SURE);
        let shown = shown.and_then(|sealed| self.entrusted::<Shown>(PURPOSE, &holder, sealed));
        let taken = match shown.filter(|shown| shown.answer == answer) {
            Some(Shown { at, .. }) if now.millis() - at.millis() >= LEAST_MILLIS => Taken::Yes,
            Some(_) => Taken::TooSoon,
            None => Taken::No,
        };
        let proof = self.entrust_for(6 * SECONDS, PURPOSE, &holder, Shown { at: now, answer });
        Before { guarded, taken, proof: proof.unwrap_or_default() }
    }
}
