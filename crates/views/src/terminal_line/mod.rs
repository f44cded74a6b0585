//! The lines about a request in the terminal that the server runs in.

use kernel::Ask;
use kernel::ask::{Assignee, Priority};
use kernel::follow_up::NotificationReason;
use kernel::text::reveal;

/// The line about a waiting request. `link` is its page.
pub fn waiting(ask: &Ask, seat: &Assignee, why: NotificationReason, link: &str) -> String {
    let urgent = if ask.priority == Priority::Critical { "URGENT " } else { "" };
    let who = match seat {
        Assignee::Person { human } => human.to_string(),
        Assignee::Pool { group: Some(group) } => format!("anyone in {group}"),
        Assignee::Pool { group: None } => "anyone".to_owned(),
    };
    let verb = match why {
        NotificationReason::Asked => "asks",
        NotificationReason::Assigned => "was handed over and asks",
        NotificationReason::Reminder => "still asks",
        NotificationReason::Escalated => "got no answer and asks",
    };
    let prompt =
        ask.question.value().map_or_else(String::new, |question| one_line(question.prompt()));
    let marked = if ask.is_irreversible() { " (can't be undone)" } else { "" };
    format!("{urgent}Agent {} {verb} {who}{marked}: “{prompt}”  {link}", ask.agent)
}

/// The line about a closed request.
pub fn closed(ask: &Ask) -> String {
    format!("{} is {}", ask.id, ask.phase().as_str())
}

/// Text on one line, without characters that could control the terminal.
pub fn one_line(text: &str) -> String {
    reveal(text).replace('\n', " ⏎ ")
}

#[cfg(test)]
mod tests {
    use kernel::testing::{Cast, new_ask};

    use super::*;

    #[test]
    fn hostile_words_stay_on_one_line() {
        let mut cast = Cast::new();
        let body = kernel::question::QuestionBody::Converse;
        let question =
            kernel::question::Question::new("pay\u{1b}[2J\nnow\u{202e}", None, body).unwrap();
        let id = cast.ask(kernel::command::NewAsk { question, ..new_ask() });
        let ask = cast.seen(id);
        let link = format!("http://localhost:3402/asks/{id}");
        let line = waiting(ask, &ask.assignees[0], NotificationReason::Asked, &link);
        assert_eq!(
            line,
            format!(
                "Agent bot asks olga: “pay⟨U+001B⟩[2J ⏎ now⟨U+202E⟩”  \
                 http://localhost:3402/asks/{id}"
            )
        );
    }
}
