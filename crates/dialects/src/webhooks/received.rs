//! `HumanLayer`'s objects for a message that a person sent by email or in Slack (A2H-113, A2H-114),
//! as its SDKs read them.

use serde::Serialize;

use crate::origin::{Letter, Post};

#[derive(Debug, Clone, Serialize)]
pub(super) struct EmailPayload {
    from_address: String,
    to_address: String,
    subject: String,
    body: String,
    message_id: String,
    previous_thread: [(); 0],
    raw_email: String,
    is_test: bool,
}

impl EmailPayload {
    /// Quoted text is not passed on, so `previous_thread` stays empty.
    pub(super) fn of(letter: Letter, words: &str, is_test: bool) -> Self {
        let body = letter.body(words).to_owned();
        let raw_email = raw(&letter, &body);
        let Letter { from, to, subject, message_id } = letter;
        Self {
            from_address: from,
            to_address: to,
            subject,
            body,
            message_id,
            previous_thread: [],
            raw_email,
            is_test,
        }
    }
}

/// Rebuilds an email from the fields that the agent may see. The original names the inbound address
/// that identifies its sender, and that address lets its holder write as them.
fn raw(letter: &Letter, body: &str) -> String {
    let Letter { from, to, subject, message_id } = letter;
    let head = [("From", from), ("To", to), ("Subject", subject), ("Message-ID", message_id)];
    let line = |(name, value): &(&str, &String)| {
        format!("{name}: {}\r\n", value.replace(['\r', '\n'], " "))
    };
    let head = head.iter().map(line).collect::<Vec<_>>().concat();
    let body = body.replace("\r\n", "\n").replace('\n', "\r\n");
    format!("{head}Content-Type: text/plain; charset=utf-8\r\n\r\n{body}\r\n")
}

/// A Slack thread, which the person's message begins.
#[derive(Debug, Clone, Serialize)]
pub(super) struct SlackThread {
    thread_ts: String,
    channel_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    team_id: Option<String>,
    events: [SlackMessage; 1],
}

#[derive(Debug, Clone, Serialize)]
struct SlackMessage {
    from_user_id: String,
    channel_id: String,
    content: String,
    message_id: String,
    message_ts: String,
}

impl SlackThread {
    pub(super) fn of(post: Post, words: &str) -> Self {
        let Post { team, channel, user, ts } = post;
        let message = SlackMessage {
            from_user_id: user,
            channel_id: channel.clone(),
            content: words.to_owned(),
            message_id: ts.clone(),
            message_ts: ts.clone(),
        };
        Self { thread_ts: ts, channel_id: channel, team_id: team, events: [message] }
    }
}
