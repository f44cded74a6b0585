//! Several rounds: a person requests a change, and the agent revises and sends again. Section 10.

use serde_json::{Map, Value};

use super::{Case, Completed, Follower, Notice, Outcome, Result};

/// The outcome after all rounds.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one of them, and it is matched on")]
pub enum Round {
    /// The service responded without a person.
    Answered(Value),
    /// The last case is closed, and the person wants no further edit.
    Ended {
        /// The id of the last case.
        case_id: String,
        outcome: Outcome,
    },
}

impl Follower {
    /// Sends a request and follows its case. As long as the person requests an `edit`, `revise`
    /// creates the next request, which is sent with `previous_case_id` (HITL-140, HITL-142). If it
    /// returns `None`, the edit is the outcome.
    ///
    /// The URLs of the next case come with its own 202. If the service continued the case itself,
    /// `revise` sees that in [`Completed::next_case_id`].
    pub async fn rounds<S, SF, R, RF, N, NF>(
        &self,
        request: Map<String, Value>,
        mut send: S,
        mut revise: R,
        mut notify: N,
    ) -> Result<Round>
    where
        S: FnMut(Map<String, Value>) -> SF,
        SF: Future<Output = Result<reqwest::Response>>,
        R: FnMut(Map<String, Value>, Completed) -> RF,
        RF: Future<Output = Option<Map<String, Value>>>,
        N: FnMut(Notice) -> NF,
        NF: Future<Output = ()>,
    {
        let mut request = request;
        loop {
            let (body, case) = Case::of(send(request.clone()).await?).await?;
            let Some(case) = case else { return Ok(Round::Answered(body)) };
            let outcome = self.follow(&case, &mut notify).await?;
            let revised = match &outcome {
                Outcome::Completed(done) if done.wants_edit() => {
                    revise(request, done.clone()).await.map(|body| (body, done))
                }
                _ => None,
            };
            request = match revised {
                Some((body, done)) => done.resubmission(&case.case_id, body),
                None => return Ok(Round::Ended { case_id: case.case_id, outcome }),
            };
        }
    }
}
