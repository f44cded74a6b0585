//! Sealed values that a browser carries between two requests. It can neither read nor change them,
//! so the server stores nothing and any node can handle the next request.

use std::sync::Arc;

use gateway::secrets::ServerSecrets;
use gateway::{Gateway, sealed_values};
use kernel::audit::Digest;
use kernel::question::Reply;
use kernel::{Ask, Time};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use views::SubmittedForm;
use views::answer_form::second_step::{SECOND_STEP_PROOF, SecondStepContext, SecondStepStatus};

/// How long a sealed value is valid by default.
pub(super) const SECONDS: u64 = 10 * 60;

/// Seals values that a browser carries between two requests.
pub struct SealedValues {
    pub(in crate::http) gateway: Gateway,
    pub(in crate::http) secrets: Arc<ServerSecrets>,
}

impl SealedValues {
    /// Seals a value for one purpose and one holder. Returns `None` only if the
    /// value cannot be serialised.
    pub(super) fn seal<T: Serialize>(
        &self,
        purpose: &str,
        holder: &str,
        value: T,
    ) -> Option<String> {
        self.seal_for_seconds(SECONDS, purpose, holder, value)
    }

    /// Like [`Self::seal`], with a validity in seconds.
    pub(crate) fn seal_for_seconds<T: Serialize>(
        &self,
        seconds: u64,
        purpose: &str,
        holder: &str,
        value: T,
    ) -> Option<String> {
        let until = self.gateway.now().plus_seconds(seconds);
        sealed_values::seal(&self.secrets, until, purpose, holder, value)
    }

    /// Opens a sealed value. Returns `None` if it is for another purpose or holder, or has expired.
    pub(super) fn open<T: DeserializeOwned>(
        &self,
        purpose: &str,
        holder: &str,
        sealed: &str,
    ) -> Option<T> {
        sealed_values::open(&self.secrets, self.gateway.now(), purpose, holder, sealed)
    }
}

// Proves that the second step was displayed to the person who takes it, for the same answer, and
// long enough to be read. The form carries the sealed proof. After a double tap, a forged form or
// the form of another answer, the step is shown again.

/// The minimum time the step must have been on screen: longer than the pause within a double tap.
const LEAST_MILLIS: i64 = 1000;
const PURPOSE: &str = "second step";

/// The step as it was shown.
#[derive(Serialize, Deserialize)]
struct ShownStep {
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
        sent: &SubmittedForm,
        guarded: bool,
    ) -> SecondStepContext {
        let holder = format!("{holder} {}", ask.id);
        let (now, answer) = (self.gateway.now(), Digest::of_json(&reply.answer));
        let shown = sent.value(SECOND_STEP_PROOF);
        let shown = shown.and_then(|sealed| self.open::<ShownStep>(PURPOSE, &holder, sealed));
        let taken = match shown.filter(|shown| shown.answer == answer) {
            Some(ShownStep { at, .. }) if now.millis() - at.millis() >= LEAST_MILLIS => {
                SecondStepStatus::Yes
            }
            Some(_) => SecondStepStatus::TooSoon,
            None => SecondStepStatus::No,
        };
        let proof =
            self.seal_for_seconds(6 * SECONDS, PURPOSE, &holder, ShownStep { at: now, answer });
        SecondStepContext { guarded, taken, proof: proof.unwrap_or_default() }
    }
}
