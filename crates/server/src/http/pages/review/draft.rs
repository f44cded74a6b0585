//! Drafts of review links: input that the holder of a link entered and has not sent. The store
//! keeps them encrypted, so that a copy of the database alone reveals no drafts.

use gateway::vault::cipher;
use kernel::question::{Body, Question};
use kernel::{Actor, Ask, AskCommand};
use store::StoreError;
use views::answer_form::submitted;
use views::review::draft::Kept;

use crate::http::pages::review::ReviewPages;

impl ReviewPages {
    /// The draft for this ask; empty if there is none, or if it can no longer be decrypted.
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

    /// Saves a draft, and reports the person's progress to the agent. Refused once
    /// the ask is closed.
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
        // The store keeps no draft for an ask that was closed meanwhile. The next response reports
        // that.
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
