//! Where a conversation began. The agent's messages continue that email or Slack thread, if the
//! person is notified by the same contact method.

use dialects::a2h::EmailOptions;
use dialects::conversation_origin::{ConversationOrigin, EmailOrigin};
use gateway::Gateway;
use kernel::Ask;
use kernel::directory::{ContactMethod, Human};
use store::StoreError;

use views::email::reply_subject;

/// Where the conversation began that an ask belongs to, if this person began it outside of
/// Countersign.
pub(super) async fn origin_of(
    gateway: &Gateway,
    ask: &Ask,
    human: &Human,
) -> Result<Option<ConversationOrigin>, StoreError> {
    let theirs = ask.conversation.as_ref().filter(|talk| talk.with == human.id);
    let Some(talk) = theirs else { return Ok(None) };
    let opening = gateway.ask(talk.opening).await?;
    Ok(opening.as_deref().and_then(ConversationOrigin::of))
}

/// Puts an email into the thread of the email that began the conversation, unless the agent wants
/// another thread.
pub(super) fn in_origin_thread(
    wish: EmailOptions,
    origin: Option<&ConversationOrigin>,
) -> EmailOptions {
    let Some(ConversationOrigin::Email(EmailOrigin { subject, message_id, .. })) = origin else {
        return wish;
    };
    let theirs = Some(message_id.clone()).filter(|id| !id.is_empty());
    EmailOptions {
        subject: wish.subject.or_else(|| (!subject.is_empty()).then(|| reply_subject(subject))),
        in_reply_to: wish.in_reply_to.or_else(|| theirs.clone()),
        references: wish.references.or(theirs),
        ..wish
    }
}

/// The Slack channel and thread of the conversation, if it is a direct message. A conversation that
/// began in public continues in private.
pub(super) fn thread<'a>(
    means: &ContactMethod,
    origin: Option<&'a ConversationOrigin>,
) -> Option<(&'a str, &'a str)> {
    let Some(ConversationOrigin::Slack(post)) = origin else { return None };
    let alone = *means == ContactMethod::Slack(post.user.clone()) && post.channel.starts_with('D');
    alone.then_some((post.channel.as_str(), post.ts.as_str()))
}
