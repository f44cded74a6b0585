//! The help of `countersign` itself: the commands by what people want to do.

use std::fmt::Write as _;

use clap::Command;

/// The commands, in the order in which people meet them. Each visible command is in one section.
const SECTIONS: &[(&str, &[&str])] = &[
    ("Ask and answer", &["ask", "inbox", "answer", "wait", "open", "verify"]),
    (
        "Your account",
        &["login", "logout", "whoami", "profile", "notifications", "devices", "rules", "sessions"],
    ),
    ("Requests and tasks", &["asks", "tasks", "receipts", "insights"]),
    ("Manage", &["agents", "projects", "people", "groups", "keys", "webhooks", "channels"]),
    ("Develop", &["listen", "demo", "envelope", "completions"]),
    (
        "Operate",
        &[
            "serve", "config", "doctor", "health", "audit", "signing", "backup", "migrate",
            "files", "erase",
        ],
    ),
];

/// What the help of `countersign` looks like.
const TEMPLATE: &str =
    "{about-with-newline}\n{usage-heading} {usage}\n{after-help}\n\nOptions:\n{options}";

/// Sets the help of the whole command.
pub(super) fn describe(command: Command) -> Command {
    let heading = *command.get_styles().get_header();
    let name = *command.get_styles().get_literal();
    let width = command.get_subcommands().map(|command| command.get_name().len()).max();
    let width = width.unwrap_or(0);
    let mut text = String::new();
    for (title, names) in SECTIONS {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "\n{heading}{title}:{heading:#}");
        for command in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let (called, about) = (command.get_name(), command.get_about());
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {name}{called:<width$}{name:#}  {about}");
        }
    }
    let _ = write!(
        text,
        "\n`countersign COMMAND --help` shows the commands and options below a command."
    );
    command.help_template(TEMPLATE).after_help(text.trim_start().to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::command;
    use super::*;

    #[test]
    fn every_visible_command_is_in_one_section() {
        let listed: Vec<&str> = SECTIONS.iter().flat_map(|(_, names)| *names).copied().collect();
        let once: BTreeSet<&str> = listed.iter().copied().collect();
        assert_eq!(once.len(), listed.len());
        let command = command();
        let visible = command.get_subcommands().filter(|command| !command.is_hide_set());
        assert_eq!(once, visible.map(Command::get_name).collect());
    }
}
