//! Commands that do not exist: what the user probably meant.

use clap::Command;
use kernel::spelling::nearest;

/// Common guesses at the top, and the commands they stand for.
const GUESSES: &[(&[&str], &[&str])] = &[
    (&["approve", "accept", "yes", "ok"], &["answer ID --approve"]),
    (&["reject", "deny", "decline", "refuse", "no"], &["answer ID --reject"]),
    (&["reply", "respond", "resolve", "decide"], &["answer ID ANSWER"]),
    (&["comment", "note"], &["asks comment ID TEXT"]),
    (&["claim", "take"], &["asks claim ID"]),
    (&["assign", "reassign", "delegate", "forward"], &["asks assign ID PERSON", "rules add"]),
    (&["extend", "postpone"], &["asks extend ID --until TIME"]),
    (&["request", "create", "new", "send", "submit", "prompt", "question"], &["ask PROMPT"]),
    (&["requests", "list", "ls", "pending", "queue", "todo"], &["inbox", "asks list"]),
    (&["get", "view", "describe", "info", "cat"], &["asks show ID", "open ID"]),
    (&["history", "answered", "closed"], &["asks list --state completed", "asks export"]),
    (&["delete", "rm", "remove", "withdraw", "abort", "close"], &["asks cancel ID", "erase ID"]),
    (&["signin", "sign-in", "auth", "authenticate", "connect"], &["login"]),
    (&["signout", "sign-out", "logoff", "disconnect"], &["logout"]),
    (&["me", "user", "account", "id", "profiles"], &["whoami", "profile show"]),
    (&["users", "humans", "human", "members", "member", "reviewers"], &["people list"]),
    (&["invite", "adduser", "useradd", "register"], &["people add ID", "people link ID"]),
    (&["teams", "team", "roles"], &["groups list"]),
    (&["bots", "bot"], &["agents list"]),
    (
        &["tokens", "token", "apikey", "api-key", "apikeys", "api-keys", "credentials"],
        &["keys list"],
    ),
    (&["start", "run", "up", "server", "daemon", "init", "setup", "install"], &["serve"]),
    (&["stop", "down", "restart"], &["serve --help"]),
    (&["status", "ping", "ready", "readyz", "healthz", "healthcheck"], &["health"]),
    (
        &["settings", "setting", "env", "configure", "configuration"],
        &["config show", "config reference"],
    ),
    (&["validate", "lint", "check", "diagnose", "test"], &["config check", "doctor"]),
    (
        &["logs", "log", "events", "stream", "tail", "watch", "follow"],
        &["listen --forward-to URL", "tasks watch TASK"],
    ),
    (&["tunnel", "proxy", "hook", "hooks"], &["listen --forward-to URL", "webhooks list"]),
    (&["browse", "browser", "web", "ui", "dashboard"], &["open"]),
    (&["proof", "proofs", "signature", "certificate"], &["receipts show ID", "verify RECEIPT"]),
    (&["gdpr", "forget", "purge"], &["erase ID", "people erase ID"]),
    (&["restore", "dump", "snapshot"], &["backup --to FOLDER"]),
    (&["stats", "statistics", "metrics", "report", "analytics"], &["insights"]),
    (&["notify", "notification", "contacts"], &["notifications show"]),
    (&["policy", "policies", "escalation", "escalations"], &["projects set ID --help"]),
    (&["away", "vacation", "out-of-office", "ooo"], &["profile away"]),
    (&["chat", "message", "talk", "conversation", "conversations"], &["agents write AGENT TEXT"]),
    (&["slack", "email", "sms", "telegram", "whatsapp"], &["channels list"]),
    (&["completion", "autocomplete"], &["completions SHELL"]),
    (&["version"], &["--version"]),
    (&["update", "upgrade"], &["--version"]),
    (&["docs", "man", "manual"], &["--help"]),
];

/// Common guesses for verbs, and the verbs that mean the same. The first one that the command has
/// is suggested.
const VERBS: &[(&[&str], &[&str])] = &[
    (&["ls", "all", "index"], &["list", "show"]),
    (&["get", "view", "describe", "info", "read", "cat"], &["show", "list"]),
    (&["create", "new", "make", "register"], &["add", "create", "set"]),
    (&["add", "issue", "generate"], &["create", "add", "set"]),
    (&["delete", "rm", "del", "destroy", "drop", "end"], &["remove", "revoke", "erase", "cancel"]),
    (&["update", "edit", "change", "modify", "patch", "configure"], &["set", "rotate"]),
    (&["retry", "resend", "replay"], &["redeliver"]),
    (&["logout", "signout", "kill", "revoke", "disable"], &["revoke", "remove", "end-access"]),
    (&["validate", "verify"], &["check", "verify"]),
];

/// The commands that the user probably meant, best first; nothing if the arguments name a command
/// that exists.
pub(super) fn suggestions(root: &Command, arguments: &[String]) -> Vec<String> {
    let Some((path, word)) = unknown_word(root, arguments) else { return Vec::new() };
    let here = |command: &str| {
        let words = path.iter().chain([&command]).copied();
        words.fold("countersign".to_owned(), |all, word| all + " " + word)
    };
    let word = word.to_lowercase();
    let Some(command) = path.iter().try_fold(root, |at, name| at.find_subcommand(name)) else {
        return Vec::new();
    };
    if path.is_empty() {
        let guessed = GUESSES.iter().find(|(words, _)| words.contains(&word.as_str()));
        if let Some((_, commands)) = guessed {
            return commands.iter().map(|command| here(command)).collect();
        }
    } else {
        let verbs = VERBS.iter().filter(|(words, _)| words.contains(&word.as_str()));
        let mut known = verbs.flat_map(|(_, verbs)| *verbs);
        // An alias is found too, but its command is suggested.
        if let Some(verb) = known.find_map(|verb| command.find_subcommand(verb)) {
            return vec![here(verb.get_name())];
        }
    }
    let visible = command.get_subcommands().filter(|command| !command.is_hide_set());
    let names: Vec<&str> = visible.map(Command::get_name).collect();
    nearest(&word, names.into_iter()).map(here).into_iter().collect()
}

/// The first word that is no subcommand where one is expected, and the commands before it.
fn unknown_word<'a>(root: &'a Command, arguments: &'a [String]) -> Option<(Vec<&'a str>, &'a str)> {
    let (mut at, mut path) = (root, Vec::new());
    for word in arguments.iter().filter(|word| !word.starts_with('-')) {
        if !at.has_subcommands() {
            return None;
        }
        match at.find_subcommand(word) {
            Some(next) => {
                at = next;
                path.push(next.get_name());
            }
            None => return Some((path, word)),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::command;
    use super::*;

    fn suggested(line: &str) -> Vec<String> {
        let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
        suggestions(&command(), &arguments)
    }

    #[test]
    fn common_guesses_lead_to_commands() {
        for (guess, meant) in [
            ("approve x", "countersign answer ID --approve"),
            ("reject ask_1", "countersign answer ID --reject"),
            ("list", "countersign inbox"),
            ("signin", "countersign login"),
            ("users", "countersign people list"),
            ("tokens", "countersign keys list"),
            ("status", "countersign health"),
            ("settings", "countersign config show"),
            ("people delete ada", "countersign people erase"),
            ("agents delete bot", "countersign agents"),
            ("keys ls", "countersign keys list"),
            ("keys delete key_1", "countersign keys revoke"),
            ("webhooks update hook_1", "countersign webhooks set"),
            ("webhooks retry hook_1", "countersign webhooks redeliver"),
            ("projects create x", "countersign projects add"),
            ("invox", "countersign inbox"),
            ("person ls", "countersign people list"),
        ] {
            if guess == "agents delete bot" {
                assert!(suggested(guess).is_empty(), "agents cannot be removed");
                continue;
            }
            assert_eq!(suggested(guess).first().map(String::as_str), Some(meant), "{guess}");
        }
        assert!(suggested("frobnicate").is_empty());
        assert!(suggested("inbox").is_empty());
    }

    /// Every suggestion begins with a command that exists, and no guess is one.
    #[test]
    fn the_table_names_commands_that_exist() {
        let root = command();
        for (guesses, commands) in GUESSES {
            for guess in *guesses {
                assert!(root.find_subcommand(guess).is_none(), "{guess} is a command");
            }
            for line in *commands {
                let mut at = &root;
                for word in line.split(' ').take_while(|word| {
                    word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
                        && !word.starts_with('-')
                }) {
                    at = at.find_subcommand(word).unwrap_or_else(|| panic!("{line}: no {word}"));
                }
                for flag in line.split(' ').filter_map(|word| word.strip_prefix("--")) {
                    let known = |arg: &clap::Arg| arg.get_long() == Some(flag);
                    let common = matches!(flag, "help" | "version");
                    assert!(common || at.get_arguments().any(known), "{line}: no --{flag}");
                }
            }
        }
    }
}
