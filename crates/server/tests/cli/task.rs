//! `countersign task`: a whole task from the command line, by a person and an agent.

use crate::support::Server;
use crate::{at, cli, run};

fn id(json: &serde_json::Value) -> String {
    json["id"].as_str().unwrap().to_owned()
}

/// Issue 21, point 1: `task resolve` decided on critical checkpoints in one step.
#[test]
fn a_critical_checkpoint_takes_a_second_step() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let begun = || {
        let task = id(&cli(&server, &["task", "create", "Clean up", "--json"]).json());
        cli(&server, &["task", "assign", &task, "agent_dev"]).ok();
        cli(&server, &["task", "start", &task]).ok();
        let raise = ["task", "raise", &task, "Drop the table?", "--priority", "critical", "--json"];
        id(&cli(&server, &raise).json())
    };
    let checkpoint = begun();
    let refused = cli(&server, &["task", "resolve", &checkpoint, "approve"]).failed(4);
    assert!(refused.contains("critical") && refused.contains("--yes"), "{refused}");
    assert!(cli(&server, &["task", "inbox"]).ok().contains(&checkpoint));
    let said = cli(&server, &["task", "resolve", &checkpoint, "approve", "--yes"]).ok();
    assert!(said.contains("continues"), "{said}");
    // A rejection takes one step.
    let rejected = cli(&server, &["task", "resolve", &begun(), "reject"]);
    assert_eq!(rejected.code, 1, "{}", rejected.err);
    server.stop();
}

#[test]
fn a_task_from_its_first_word_to_its_story() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let file = data.path().join("notes.md");
    let words = ["task", "create", "Write the notes", "--criterion", "one page", "--json"];
    let task = id(&cli(&server, &words).json());
    let given = cli(&server, &["task", "assign", &task, "agent_dev", "--expecting", "0"]).ok();
    assert!(given.contains("is assigned, with agent_dev (revision 1)"), "{given}");
    let late = cli(&server, &["task", "assign", &task, "agent_dev", "--expecting", "0"]);
    assert!(!late.failed(4).is_empty());
    cli(&server, &["task", "start", &task]).ok();
    let asked = ["task", "raise", &task, "Which tone?", "--kind", "choice"];
    let tones = ["--option", "warm=Warm", "--option", "dry=Dry", "--json"];
    let checkpoint = id(&cli(&server, &[&asked[..], &tones].concat()).json());
    let waits = cli(&server, &["task", "inbox"]).ok();
    assert!(waits.contains("Which tone?") && waits.contains(&checkpoint), "{waits}");
    let nothing = cli(&server, &["task", "resolve", &checkpoint, "choose"]).failed(4);
    assert!(nothing.contains("choice"), "{nothing}");
    cli(&server, &["task", "resolve", &checkpoint, "choose", "warm", "--comment", "as always"])
        .ok();
    cli(&server, &["task", "amend", &task, "Only ours", "--intent", "constrain"]).ok();
    cli(&server, &["task", "grant", &task, "fs:/notes:*"]).ok();
    std::fs::write(&file, "# Notes\n").unwrap();
    let path = file.to_str().unwrap();
    let artifact = id(&cli(&server, &["task", "commit", &task, path, "--json"]).json());
    let changes = ["task", "review", &task, "changes_requested", "--change", "Name them"];
    let changes = cli(&server, &[&changes[..], &["--comment", "L1:nit:bare"]].concat());
    assert_eq!(changes.code, 1, "{}", changes.err);
    std::fs::write(&file, "# Notes\nby Ada\n").unwrap();
    cli(&server, &["task", "commit", &task, path, "--artifact", &artifact]).ok();
    cli(&server, &["task", "review", &task, "approved"]).ok();
    let shown = cli(&server, &["task", "show", &task]).ok();
    assert!(shown.contains("state      completed"), "{shown}");
    assert!(shown.contains(&format!("delivered  {artifact} v2")), "{shown}");
    let listed = cli(&server, &["task", "list", "--state", "completed"]).ok();
    assert!(listed.contains("Write the notes"), "{listed}");
    let wrote = ["task", "ledger", "write", "project:dev", "notes/last", "\"v2\"", "--task", &task];
    cli(&server, &wrote).ok();
    assert_eq!(
        cli(&server, &["task", "ledger", "read", "project:dev", "notes/last"]).ok(),
        "\"v2\"\n"
    );
    let none = cli(&server, &["task", "ledger", "read", "project:dev", "nothing"]);
    assert_eq!((none.code, none.out.as_str()), (1, "nothing has no value.\n"));
    let history = cli(&server, &["task", "ledger", "history", "project:dev", "notes/last"]).ok();
    assert!(history.contains(&task), "{history}");
    let story = cli(&server, &["task", "replay", &task]).ok();
    for line in [
        "user_dev created it, and answers for it",
        "            - one page",
        "agent_dev asked which way to go",
        "            “Which tone?”",
        "user_dev chose warm",
        "            “as always”",
        "            “Only ours”",
        "user_dev allowed fs:/notes:* until the task is closed",
        "user_dev wants changes (v1)",
        "            L1, nit: bare",
        "user_dev approved it (v2)",
        "system completed it",
        "agent_dev wrote notes/last into project:dev",
        "It is completed:",
    ] {
        assert!(story.contains(line), "{line} is missing in\n{story}");
    }
    let events = cli(&server, &["task", "replay", &task, "--json"]).json();
    let then = events[0]["at"].as_str().unwrap();
    let early = cli(&server, &["task", "replay", &task, "--at", then]).ok();
    assert!(early.contains("It is created, with user_dev: 1 step"), "{early}");
    let watched = cli(&server, &["task", "watch", &task]).ok();
    assert!(watched.contains("system completed it"), "{watched}");
    server.stop();
}

#[test]
fn what_goes_wrong_has_its_exit_code() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let unknown = cli(&server, &["task", "show", "task_01JZ3V5Q8N6M4K2H0G9F7E5D3C"]).failed(4);
    assert!(unknown.contains("task not found"), "{unknown}");
    cli(&server, &["task", "review", "task_x", "perhaps"]).failed(64);
    let mine = cli(&server, &["task", "create", "x", "--assign", "agent_dev", "--json"]).json();
    let task = id(&mine);
    let other =
        run(at(&server, &["task", "cancel", &task]).env("COUNTERSIGN_TOKEN", "dev-human-token-2"));
    assert!(!other.failed(4).is_empty(), "only its principal calls it off");
    cli(&server, &["task", "cancel", &task, "--reason", "enough"]).ok();
    assert_eq!(cli(&server, &["task", "watch", &task]).code, 3, "called off");
    let again = ["task", "create", "once", "--key", "k", "--json"];
    let (first, second) = (cli(&server, &again).json(), cli(&server, &again).json());
    assert_eq!(id(&first), id(&second));
    server.stop();
}
