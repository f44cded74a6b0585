//! Shows on the terminal that the server runs in that a request waits or is closed.

use std::sync::Arc;

use channels::terminal::Terminal;
use channels::{Channel, OutboundMessage};
use gateway::Gateway;
use store::Work;
use views::site::paths;
use views::terminal_line;

use crate::links::LinkBuilder;

/// Writes lines to the terminal, if the server runs in one.
pub(crate) struct TerminalLines {
    pub(super) gateway: Gateway,
    pub(super) channel: Option<Arc<Terminal>>,
    pub(super) links: LinkBuilder,
}

impl TerminalLines {
    /// Shows that a request waits or is closed.
    pub(crate) async fn show(&self, effect: &Work) -> anyhow::Result<()> {
        let Some(terminal) = &self.channel else { return Ok(()) };
        // Every other effect concerns an agent, the server itself, or one person alone.
        let (Work::Notify { ask: id, .. } | Work::Close { ask: id }) = effect else {
            return Ok(());
        };
        let Some(ask) = self.gateway.store().ask(*id).await? else { return Ok(()) };
        let line = if let Work::Notify { assignee: seat, why, .. } = effect {
            // It was answered before the notification went out.
            if !ask.is_open() {
                return Ok(());
            }
            terminal_line::waiting(&ask, seat, *why, &self.links.page(&paths::request(ask.id)))
        } else {
            terminal_line::closed(&ask)
        };
        let (message, key) = (line.into(), ask.id.to_string());
        terminal.deliver(OutboundMessage::new("", &message, &key, self.gateway.now())).await?;
        Ok(())
    }
}
