//! The terminal the server runs in: whoever tries Countersign sees at once that something waits.

use async_trait::async_trait;
use kernel::Ask;
use kernel::ask::{Priority, Seat};
use kernel::effect::Occasion;
use kernel::text::reveal;
use url::Url;

use super::Channel;

/// Writes one line per notice to standard output.
pub struct Terminal {
    public_url: Url,
}

impl Terminal {
    /// Links lead to this address.
    pub fn new(public_url: Url) -> Self {
        Self { public_url }
    }

    fn line(&self, ask: &Ask, seat: &Seat, why: Occasion) -> String {
        let urgent = if ask.priority == Priority::Critical { "URGENT " } else { "" };
        let who = match seat {
            Seat::Person { human } => human.to_string(),
            Seat::Pool { group: Some(group) } => format!("anyone in {group}"),
            Seat::Pool { group: None } => "anyone".to_owned(),
        };
        let verb = match why {
            Occasion::Asked => "asks",
            Occasion::Assigned => "was handed over and asks",
            Occasion::Reminder => "still asks",
            Occasion::Escalated => "got no answer and asks",
        };
        let prompt = ask.question.value().map_or_else(String::new, |question| {
            // One line, and nothing that could drive the terminal.
            reveal(question.prompt()).replace('\n', " ⏎ ")
        });
        let link = self.public_url.join(&format!("asks/{}", ask.id));
        let link = link.map_or_else(|_| ask.id.to_string(), String::from);
        let marked = if ask.is_irreversible() { " (can't be undone)" } else { "" };
        format!("{urgent}Agent {} {verb} {who}{marked}: “{prompt}”  {link}", ask.agent)
    }
}

#[async_trait]
impl Channel for Terminal {
    async fn notify(&self, ask: &Ask, seat: &Seat, why: Occasion) -> anyhow::Result<()> {
        print(&self.line(ask, seat, why));
        Ok(())
    }

    async fn settle(&self, ask: &Ask) -> anyhow::Result<()> {
        print(&format!("{} is {}", ask.id, ask.phase().as_str()));
        Ok(())
    }
}

/// A closed pipe is no reason to fail: the inbox still shows everything.
fn print(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

#[cfg(test)]
mod tests {
    use kernel::testing::{Cast, new_ask};

    use super::*;

    #[test]
    fn hostile_words_stay_on_one_line() {
        let mut cast = Cast::new();
        let body = kernel::question::Body::Converse;
        let question =
            kernel::question::Question::new("pay\u{1b}[2J\nnow\u{202e}", None, body).unwrap();
        let id = cast.ask(kernel::command::NewAsk { question, ..new_ask() });
        let ask = cast.seen(id);
        let terminal = Terminal::new(Url::parse("http://localhost:3402").unwrap());
        let line = terminal.line(ask, &ask.seats[0], Occasion::Asked);
        assert_eq!(
            line,
            format!(
                "Agent bot asks olga: “pay⟨U+001B⟩[2J ⏎ now⟨U+202E⟩”  \
                 http://localhost:3402/asks/{id}"
            )
        );
    }
}
