//! Messages sent to people about asks, in a map.

use async_trait::async_trait;

use super::Memory;
use crate::messages::MessageQuery;
use crate::{MOST_MESSAGES, Message, MessageStore, Result};

#[async_trait]
impl MessageStore for Memory {
    async fn put_message(&self, message: Message) -> Result<()> {
        self.state().messages.insert(message.name, message);
        Ok(())
    }

    async fn messages_by(&self, wanted: MessageQuery) -> Result<Vec<Message>> {
        Ok(match wanted {
            MessageQuery::Name(name) => self.newest(1, |message| message.name == name),
            MessageQuery::Asks(asks) => asks
                .into_iter()
                .flat_map(|ask| self.newest(MOST_MESSAGES, |message| message.ask == ask))
                .collect(),
            MessageQuery::Posted { medium, posted } => {
                let known = |message: &Message| {
                    message.medium == medium && message.posted.as_ref() == Some(&posted)
                };
                let found = self.newest(usize::MAX, known).into_iter();
                found.min_by_key(|message| message.name).into_iter().collect()
            }
            MessageQuery::Thread { medium, thread } => self.newest(1, |message| {
                message.medium == medium && message.thread.as_ref() == Some(&thread)
            }),
            MessageQuery::To { to, limit } => self.newest(limit, |message| message.to == to),
        })
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
