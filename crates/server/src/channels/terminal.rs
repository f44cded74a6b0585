//! Lines on the terminal the server runs in.

use ::channels::{Channel, OutboundMessage};
use kernel::Effect;
use views::site::paths;
use views::terminal_line;

use crate::http::App;

impl App {
    /// Shows on the terminal, if the server runs in one, that a request waits or is closed.
    pub(crate) async fn show_on_terminal(&self, effect: &Effect) -> anyhow::Result<()> {
        let Some(terminal) = &self.channels.terminal else { return Ok(()) };
        // Everything else is the agent's, the server's own, or for one person alone.
        let (Effect::Notify { ask: id, .. } | Effect::Settle { ask: id }) = effect else {
            return Ok(());
        };
        let Some(ask) = self.gateway.store().ask(*id).await? else { return Ok(()) };
        let line = if let Effect::Notify { seat, why, .. } = effect {
            // It was answered before the notification went out.
            if !ask.is_open() {
                return Ok(());
            }
            terminal_line::waiting(&ask, seat, *why, &self.link(&paths::request(ask.id)))
        } else {
            terminal_line::closed(&ask)
        };
        let (message, key) = (line.into(), ask.id.to_string());
        terminal.deliver(OutboundMessage::new("", &message, &key, self.gateway.now())).await?;
        Ok(())
    }
}
