//! What went out to people about asks, in a map.

use async_trait::async_trait;
use kernel::AskId;
use kernel::audit::Digest;

use super::Memory;
use crate::messages::oldest_first;
use crate::{MOST_MESSAGES, Message, Messages, Result};

#[async_trait]
impl Messages for Memory {
    async fn put_message(&self, message: Message) -> Result<()> {
        self.state().messages.insert(message.name, message);
        Ok(())
    }

    async fn message(&self, name: Digest) -> Result<Option<Message>> {
        Ok(self.state().messages.get(&name).cloned())
    }

    async fn messages(&self, asks: Vec<AskId>) -> Result<Vec<Message>> {
        let about = |ask: AskId| self.newest(MOST_MESSAGES, |message| message.ask == ask);
        Ok(oldest_first(asks.into_iter().flat_map(about).collect()))
    }

    async fn posted(&self, medium: &str, posted: &str) -> Result<Option<Message>> {
        let known = |message: &&Message| {
            message.medium == medium && message.posted.as_deref() == Some(posted)
        };
        let found =
            self.state().messages.values().filter(known).min_by_key(|one| one.name).cloned();
        let in_thread = |message: &Message| {
            message.medium == medium && message.thread.as_deref() == Some(posted)
        };
        Ok(found.or_else(|| self.newest(1, in_thread).pop()))
    }

    async fn messages_to(&self, to: Digest, limit: usize) -> Result<Vec<Message>> {
        Ok(self.newest(limit, |message| message.to == to))
    }
}

impl Memory {
    fn newest(&self, limit: usize, wanted: impl Fn(&Message) -> bool) -> Vec<Message> {
        let state = self.state();
        let mut found: Vec<&Message> = state.messages.values().filter(|one| wanted(one)).collect();
        found.sort_by(|one, other| (other.at, one.name).cmp(&(one.at, other.name)));
        found.into_iter().take(limit).cloned().collect()
    }
}
