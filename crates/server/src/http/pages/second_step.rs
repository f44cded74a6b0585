//! That the second step was shown to whoever takes it, for this very answer, long enough to be read. The
//! form carries the proof, sealed: a double tap, a form made by hand or the form of another answer is
//! shown the step.

use kernel::audit::Digest;
use kernel::question::Reply;
use kernel::{Ask, Time};
use serde::{Deserialize, Serialize};
use views::Submitted;
use views::answer_form::second_step::{Before, SURE, Taken};

use super::sealed_values::SECONDS;
use crate::http::pages::sealed_values::SealedValues;

/// How long the step must have been there: longer than the two taps of a double tap are apart.
const LEAST_MILLIS: i64 = 1000;
const PURPOSE: &str = "second step";

/// The step as it was shown.
#[derive(Serialize, Deserialize)]
struct Shown {
    at: Time,
    answer: Digest,
}

impl SealedValues {
    /// What is known about the second step of an answer. `holder` is who answers, by something that
    /// nobody else has.
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
