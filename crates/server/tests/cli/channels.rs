//! `countersign channels`: what is set up, and whether it works.

use std::process::Command;

use super::run;
use super::support::countersign;

fn channels(args: &[&str]) -> Command {
    let mut command = countersign();
    command.arg("channels").args(args);
    command
}

#[test]
fn what_is_set_up_is_listed() {
    let ran = run(&mut channels(&["list"]));
    assert!(ran.code == 0 && ran.out.contains("No channel is configured"), "{}", ran.out);
    let slack = ["--slack-bot-token", "xoxb-1", "--slack-signing-secret", "s"];
    let mut both = channels(&["list", "--json", "--ntfy-url", "https://ntfy.sh"]);
    let ran = run(both.args(slack));
    assert_eq!((ran.code, ran.out.trim()), (0, r#"{"channels":["slack","ntfy"]}"#));
}

/// Half of a channel, none of that name, one nobody set up, a platform that is not there.
#[test]
fn what_is_wrong_is_said() {
    for (args, code, says) in [
        (&["list", "--slack-bot-token", "xoxb-1"][..], 4, "so that people can answer"),
        (&["list", "--slack-bot-token", "hush"], 4, "must start with xoxb-"),
        (&["test", "pigeon"], 4, "there is no channel pigeon"),
        (&["test", "slack"], 4, "the channel slack is not configured"),
        (&["test", "ntfy", "--ntfy-url", "http://127.0.0.1:1"], 1, "WRONG  settings: "),
    ] {
        let ran = run(&mut channels(args));
        let said = format!("{}{}", ran.out, ran.err);
        assert_eq!(ran.code, code, "{args:?}: {said}");
        assert!(said.contains(says) && !said.contains("hush"), "{args:?}: {said}");
    }
}
