//! Where a conversation began. The agent's messages continue that email or Slack thread, if the person is
//! notified by the same contact method.

use dialects::a2h::EmailWish;
use dialects::origin::{Letter, Origin};
use gateway::Gateway;
use kernel::Ask;
use kernel::directory::{Human, Means};
use store::StoreError;

use views::email::reply_subject;

/// Where the conversation began that an ask belongs to, if this person began it outside of Countersign.
pub(super) async fn of(
    gateway: &Gateway,
    ask: &Ask,
    human: &Human,
) -> Result<Option<Origin>, StoreError> {
    let theirs = ask.conversation.as_ref().filter(|talk| talk.with == human.id);
    let Some(talk) = theirs else { return Ok(None) };
    let opening = gateway.ask(talk.opening).await?;
    Ok(opening.as_deref().and_then(Origin::of))
}

/// Puts an email into the thread of the email that began the conversation, unless the agent wants another
/// thread.
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

/// The Slack channel and thread of the conversation, if it is a direct message. A conversation that began in
/// public continues in private.
pub(super) fn thread<'a>(means: &Means, origin: Option<&'a Origin>) -> Option<(&'a str, &'a str)> {
    let Some(Origin::Slack(post)) = origin else { return None };
    let alone = *means == Means::Slack(post.user.clone()) && post.channel.starts_with('D');
    alone.then_some((post.channel.as_str(), post.ts.as_str()))
}
