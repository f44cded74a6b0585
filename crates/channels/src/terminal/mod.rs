//! The terminal the server runs in: an operator who tries Countersign sees immediately that a
//! request is waiting.

use std::io::Write;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use views::message_card::MessageCard;
use views::terminal_line::one_line;

use crate::channel::{Channel, OutboundMessage, PostedMessage};
use crate::errors::DeliveryError;
use crate::setup::{ChannelContext, ChannelSetup};

/// The name of the channel.
pub const NAME: &str = "terminal";

/// The terminal needs no settings.
#[derive(Debug, Clone, Copy)]
pub struct TerminalSettings;

impl ChannelSetup for TerminalSettings {
    type Channel = Terminal;

    const NAME: &'static str = NAME;
    const TAKES_ADDRESS: bool = false;

    fn open(self, _: &ChannelContext) -> Result<Arc<Terminal>, String> {
        Ok(Arc::new(Terminal))
    }
}

/// Writes one line per message to standard output.
pub struct Terminal;

#[async_trait]
impl Channel for Terminal {
    fn name(&self) -> &'static str {
        NAME
    }

    /// Renders a card on one line. Notifications about requests have
    /// [their own view](views::terminal_line).
    fn render(&self, card: &MessageCard) -> Value {
        let MessageCard { title, words, link, .. } = card;
        format!("{title}: “{}”  {link}", one_line(words)).into()
    }

    async fn deliver(&self, outbound: OutboundMessage<'_>) -> Result<PostedMessage, DeliveryError> {
        let line = outbound.message.as_str().unwrap_or_default();
        // A closed pipe is no reason to fail: the inbox still shows everything.
        let _ = writeln!(std::io::stdout().lock(), "{line}");
        Ok(PostedMessage::new(outbound.key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_one_line() {
        let (title, link) = ("A code for localhost", "http://localhost:3402/settings");
        let card =
            MessageCard::plain(title.to_owned(), "pay\u{1b}[2J\nnow".to_owned(), link.to_owned());
        let line = "A code for localhost: “pay⟨U+001B⟩[2J ⏎ now”  http://localhost:3402/settings";
        assert_eq!(Terminal.render(&card), line);
    }
}
