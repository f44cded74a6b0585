//! Does the expensive work of a command before it reaches the store. The store decides one job at a
//! time, and all others wait for it.

use kernel::form::PreparedPatterns;
use kernel::{AskCommand, Command, Envelope};
use store::StoreError;

use super::Gateway;

impl Gateway {
    /// Checks the cost of a new question, and compiles the patterns that an answer is checked
    /// against. They stay compiled while the result is held.
    pub(super) async fn prepare(
        &self,
        envelope: &Envelope,
    ) -> Result<PreparedPatterns, StoreError> {
        match &envelope.command {
            Command::Ask(AskCommand::Create(new) | AskCommand::Reply(_, new)) => {
                let prepared = if new.question.has_patterns() {
                    let question = new.question.clone();
                    on_blocking_thread(move || question.prepare()).await?
                } else {
                    new.question.prepare()
                };
                Ok(prepared?)
            }
            Command::Ask(
                AskCommand::Answer(id, reply)
                | AskCommand::HoldAnswer(id, reply)
                | AskCommand::AnswerWithProofs(id, reply, _),
            ) => {
                let ask = self.store().ask(*id).await?;
                // A closed request accepts no answer, so nothing is compiled for it.
                let question = ask.filter(|ask| ask.is_open()).and_then(|ask| {
                    ask.question.value().filter(|question| question.has_patterns()).cloned()
                });
                let Some(question) = question else { return Ok(PreparedPatterns::default()) };
                let reply = (**reply).clone();
                on_blocking_thread(move || {
                    let prepared = question.compile();
                    // This caches expensive searches with the pattern. The decision itself
                    // reports invalid answers.
                    let _ = question.check(reply);
                    prepared
                })
                .await
            }
            _ => Ok(PreparedPatterns::default()),
        }
    }
}

/// Runs long work on another thread, so that it does not block requests.
async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, StoreError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| StoreError::Unavailable(error.into()))
}
