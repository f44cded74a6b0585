//! Who somebody is, seen from an ask: a person we know and who was asked, whoever reads a letter, or a
//! guest where the agent wanted it put.

use ::channels::mail::{Addressed, Reply as MailReply, Whom};
use kernel::actor::Attested;
use kernel::directory::{Human, Means};
use kernel::{Actor, Ask, Assurance, Via};
use store::{Message, StoreError};

use super::Hearing;
use crate::channels::send::via;

impl Hearing<'_> {
    /// Who answers: somebody we know and who was asked, or a guest where the agent wanted it put.
    pub(super) async fn who(
        &self,
        ask: &Ask,
        message: Option<&Message>,
    ) -> Result<Option<Actor>, StoreError> {
        let directory = self.app.gateway.directory();
        let via = via(&self.heard.from);
        let known = self.known().await;
        let may = |human: &Human| human.active && ask.admits(human);
        if let Some(human) = known.filter(may) {
            return Ok(Some(Actor::Human { id: human.id, via, assurance: Assurance::Channel }));
        }
        // What was put where the agent wanted may be answered by whoever is there and was not left out:
        // also before it is noted that it was put there. A button of ours is on messages of ours alone.
        let placed = message.is_none_or(|it| it.ask == ask.id && it.human.is_none());
        let id = self.heard.from.address().unwrap_or_default();
        let guest = guest(ask, via, &self.heard.from, id, self.heard.name.clone());
        Ok(Some(guest).filter(|guest| placed && ask.is_shown_to(guest, &directory)))
    }

    /// Somebody we know: by an address they have shown to be theirs, or by the mail address their
    /// platform has confirmed.
    pub(super) async fn known(&self) -> Option<Human> {
        let directory = self.app.gateway.directory();
        if let Some(human) = directory.human_by_means(&self.heard.from) {
            return Some(human.clone());
        }
        match self.channel.email_of(self.heard).await {
            Ok(email) => email.and_then(|email| directory.human_by_email(&email).cloned()),
            Err(failed) => {
                tracing::warn!(channel = %self.channel.medium(), error = %failed, "cannot ask who somebody is");
                None
            }
        }
    }

    /// The letter an answer was written to.
    pub(super) async fn answered_letter(&self, token: &str) -> Result<Option<Message>, StoreError> {
        let addressed = self.app.mail.as_ref().and_then(|mail| mail.addressed(token));
        let Some(Addressed::Reply(MailReply { ask, whom })) = addressed else { return Ok(None) };
        let messages = self.app.gateway.store().messages(vec![ask]).await?;
        Ok(messages.into_iter().rev().find(|message| Whom::of_mark(&message.to) == whom))
    }

    /// Whoever got a letter: who its sender says they are means nothing.
    pub(super) fn reader(&self, ask: &Ask, message: &Message) -> Option<Actor> {
        let directory = self.app.gateway.directory();
        let (via, assurance) = (Via::Email, Assurance::Channel);
        let Some(id) = &message.human else {
            let place = ask.place.as_ref()?.value()?;
            return Some(guest(ask, via, &place.means, place.means.address()?, None));
        };
        let human = directory.human(id).filter(|human| human.active && ask.admits(human))?;
        Some(Actor::Human { id: human.id.clone(), via, assurance })
    }
}

/// Somebody a platform knows, as a guest of one ask.
pub(crate) fn guest(ask: &Ask, via: Via, from: &Means, id: &str, name: Option<String>) -> Actor {
    let attested = Attested {
        via: from.kind().to_owned(),
        platform: from.kind().to_owned(),
        platform_user_id: id.to_owned(),
        display_name: name,
    };
    Actor::Guest { ask: ask.id, via, attested }
}
