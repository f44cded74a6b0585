//! What whoever holds a link has entered and not sent, as it lies in the store: encrypted, so that a
//! copy of the database alone tells nobody what somebody was about to say.

use gateway::vault::cipher;
use kernel::question::{Body, Question};
use kernel::{Actor, Ask, AskCommand};
use store::StoreError;
use views::answer_form::submitted;
use views::review::draft::Kept;

use crate::http::pages::review::ReviewPages;

impl ReviewPages {
    /// What is kept for this ask; nothing if nothing is, or if it can no longer be opened.
    pub(super) async fn kept(&self, ask: &Ask) -> Result<Kept, StoreError> {
        let Some(closed) = self.gateway.store().draft(ask.id).await? else {
            return Ok(Kept::default());
        };
        let about = ask.id.to_string();
        let plain = cipher::open(&self.secrets.draft(ask.id), about.as_bytes(), &closed);
        let kept = plain.and_then(|plain| serde_json::from_slice(&plain).ok());
        if kept.is_none() {
            tracing::warn!(ask.id = %ask.id, "a draft cannot be opened; it is begun anew");
        }
        Ok(kept.unwrap_or_default())
    }

    /// Keeps it, and lets the agent know how far the person is. Refused once the ask is over.
    pub(super) async fn keep(
        &self,
        ask: &Ask,
        question: &Question,
        kept: &Kept,
    ) -> Result<(), StoreError> {
        ask.still_open(self.gateway.now())?;
        let about = ask.id.to_string();
        let plain =
            serde_json::to_vec(kept).map_err(|error| StoreError::Unavailable(error.into()))?;
        let closed = cipher::close(&self.secrets.draft(ask.id), about.as_bytes(), &plain);
        let closed =
            closed.ok_or_else(|| StoreError::Unavailable("a draft is too large".into()))?;
        // If it is kept no more, somebody was faster, and whatever comes next says so.
        self.gateway.store().put_draft(ask.id, closed).await?;
        let progress = match question.body() {
            Body::Provide { form } => Some(form.progress(&submitted::values(form, &kept.form))),
            Body::Approve { .. }
            | Body::Choose { .. }
            | Body::Confirm { .. }
            | Body::Escalate { .. }
            | Body::Converse => None,
        };
        let holder = Actor::link_holder(ask.id);
        self.gateway.run(holder, AskCommand::Progress(ask.id, progress)).await.map(drop)
    }
}
