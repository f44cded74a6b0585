//! Where a conversation began: what the agent says in it goes below that, where whoever began it is told
//! by the same means.

use dialects::a2h::EmailWish;
use dialects::origin::{Letter, Origin};
use kernel::directory::{Human, Means};
use kernel::{AgentId, Ask, HumanId};
use store::StoreError;

use crate::http::App;
use views::email::reply_subject;

impl App {
    /// Where the conversation began that an ask belongs to, if this person began it elsewhere than here.
    pub(super) async fn begun_at(
        &self,
        ask: &Ask,
        human: &Human,
    ) -> Result<Option<Origin>, StoreError> {
        let theirs = ask.conversation.as_ref().filter(|talk| talk.with == human.id);
        let Some(talk) = theirs else { return Ok(None) };
        let opening = self.gateway.ask(talk.opening).await?;
        Ok(opening.as_deref().and_then(Origin::of))
    }

    /// Where somebody writes to an agent by mail, if letters are heard here.
    pub(crate) fn invitation(&self, agent: &AgentId, human: &HumanId) -> Option<String> {
        self.channels.email.as_ref()?.invitation(agent, human)
    }
}

/// A letter below the one that began it, unless the agent wants another thread.
pub(super) fn below(wish: EmailWish, origin: Option<&Origin>) -> EmailWish {
    let Some(Origin::Email(Letter { subject, message_id, .. })) = origin else { return wish };
    let theirs = Some(message_id.clone()).filter(|id| !id.is_empty());
    EmailWish {
        subject: wish.subject.or_else(|| (!subject.is_empty()).then(|| reply_subject(subject))),
        in_reply_to: wish.in_reply_to.or_else(|| theirs.clone()),
        references: wish.references.or(theirs),
        ..wish
    }
}

/// Where in Slack the thread is, and which, if it is between the two alone. What was said in front of
/// others is answered in private.
pub(super) fn thread<'a>(means: &Means, origin: Option<&'a Origin>) -> Option<(&'a str, &'a str)> {
    let Some(Origin::Slack(post)) = origin else { return None };
    let alone = *means == Means::Slack(post.user.clone()) && post.channel.starts_with('D');
    alone.then_some((post.channel.as_str(), post.ts.as_str()))
}
