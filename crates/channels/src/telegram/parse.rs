//! Reads an `Update` of the Bot API, from a webhook call or a poll.

use kernel::Time;
use kernel::directory::ContactMethod;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::inbound::{InReplyTo, InboundContent, InboundMessage};

/// The kinds of update to subscribe to. Other kinds are ignored if they arrive anyway.
pub(super) const ALLOWED_UPDATES: [&str; 3] = ["message", "callback_query", "my_chat_member"];

/// One update from Telegram.
#[derive(Debug, Deserialize)]
pub(super) struct Update {
    #[serde(rename = "update_id")]
    id: i64,
    message: Option<Message>,
    callback_query: Option<CallbackQuery>,
    my_chat_member: Option<ChatMemberUpdate>,
}

#[derive(Debug, Deserialize)]
struct Message {
    #[serde(rename = "message_id")]
    id: i64,
    from: Option<User>,
    chat: Chat,
    date: i64,
    text: Option<String>,
    caption: Option<String>,
    #[serde(rename = "reply_to_message")]
    above: Option<MessageReference>,
}

/// A message that an update refers to. Telegram may no longer have its content.
#[derive(Debug, Deserialize)]
struct MessageReference {
    message_id: i64,
    chat: Chat,
    from: Option<User>,
}

#[derive(Debug, Deserialize)]
struct CallbackQuery {
    id: String,
    from: User,
    message: Option<MessageReference>,
    data: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ChatMemberUpdate {
    chat: Chat,
    from: User,
    date: i64,
    #[serde(rename = "new_chat_member")]
    now: ChatMember,
}

#[derive(Debug, Deserialize)]
struct ChatMember {
    status: String,
}

#[derive(Debug, Deserialize)]
struct User {
    id: i64,
    #[serde(default)]
    is_bot: bool,
    first_name: Option<String>,
    last_name: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Chat {
    id: i64,
    #[serde(rename = "type")]
    kind: String,
}

impl Update {
    /// The inbound message of an update, if it has one for the server.
    pub(super) fn inbound(self) -> Option<InboundMessage> {
        let id = self.id.to_string();
        if let Some(query) = self.callback_query {
            return pressed(id, query);
        }
        if let Some(message) = self.message {
            return wrote(id, message);
        }
        self.my_chat_member.and_then(|member| membership_changed(id, member))
    }
}

/// The id of a message across chats. Telegram's message ids are unique in one chat only.
pub(super) fn message_key(chat: i64, message: i64) -> String {
    format!("{chat}:{message}")
}

/// The person who pressed counts, not the chat, because every member of a group can press.
fn pressed(id: String, query: CallbackQuery) -> Option<InboundMessage> {
    let posted = query.message.as_ref().map(|m| message_key(m.chat.id, m.message_id));
    let what = InboundContent::Pressed { token: query.data?, posted };
    Some(query.from.inbound_message(id, json!({ "query": query.id }), what, None))
}

fn wrote(id: String, message: Message) -> Option<InboundMessage> {
    // Channels and anonymous group administrators cannot be known people.
    let from = message.from.filter(|from| !from.is_bot)?;
    let text = message.text.or(message.caption)?;
    // In groups, messages that people send to each other are ignored.
    let above = message.above.filter(|above| above.from.as_ref().is_none_or(|from| from.is_bot));
    if message.chat.kind != "private" && above.is_none() && !text.starts_with('/') {
        return None;
    }
    let about = above.map_or(InReplyTo::Nothing, |above| {
        InReplyTo::Posted(message_key(above.chat.id, above.message_id))
    });
    let place = json!({ "chat": message.chat.id, "message": message.id });
    Some(from.inbound_message(id, place, InboundContent::Wrote { text, about }, Some(message.date)))
}

/// A person who blocks the bot unsubscribes. In a group, the change is not about one person.
fn membership_changed(id: String, member: ChatMemberUpdate) -> Option<InboundMessage> {
    if member.chat.kind != "private" {
        return None;
    }
    let what = match member.now.status.as_str() {
        "kicked" => InboundContent::Stopped,
        "member" => InboundContent::Resumed,
        _ => return None,
    };
    Some(member.from.inbound_message(
        id,
        json!({ "chat": member.chat.id }),
        what,
        Some(member.date),
    ))
}

impl User {
    fn inbound_message(
        self,
        id: String,
        place: Value,
        what: InboundContent,
        at: Option<i64>,
    ) -> InboundMessage {
        let name =
            [self.first_name, self.last_name].into_iter().flatten().collect::<Vec<_>>().join(" ");
        InboundMessage {
            id,
            from: ContactMethod::Telegram(self.id.to_string()),
            name: (!name.is_empty()).then_some(name),
            place,
            what,
            at: at.map(|seconds| Time::from_millis(seconds.saturating_mul(1000))),
        }
    }
}
