//! The `countersign` command as people and scripts meet it: the real binary, its words and its exit
//! codes.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests too")]

mod admin;
mod ask;
mod audit;
mod backup;
mod callbacks;
mod channels;
mod config;
mod devices;
mod doctor;
mod envelope;
mod export;
mod files;
mod health;
mod help;
mod inbox;
mod insights;
mod listen;
mod login;
mod notices;
mod nouns;
mod receipts;
mod start;
#[path = "../support/stolen_key.rs"]
mod stolen_key;
#[expect(dead_code, reason = "other tests need more of it")]
#[path = "../support/bucket.rs"]
mod store_of_files;
#[path = "../support/mod.rs"]
mod support;
mod task;
mod webhooks;
mod write;

use std::process::Command;

use serde_json::Value;
use support::{Server, countersign};

/// A command that has ended.
struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Ran {
    /// What it printed, if it ended well.
    fn ok(self) -> String {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        self.out
    }

    /// What it printed, as JSON.
    fn json(self) -> Value {
        let out = self.ok();
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error} in {out}"))
    }

    /// What it complained about, if it ended with this code.
    fn failed(self, code: i32) -> String {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self.err
    }
}

fn run(command: &mut Command) -> Ran {
    let done = command.output().unwrap();
    Ran {
        code: done.status.code().unwrap(),
        out: String::from_utf8(done.stdout).unwrap(),
        err: String::from_utf8(done.stderr).unwrap(),
    }
}

/// A command that talks to a server.
fn at(server: &Server, args: &[&str]) -> Command {
    let mut command = countersign();
    command.env("COUNTERSIGN_URL", &server.url).args(args);
    command
}

/// Runs a command that talks to a server.
fn cli(server: &Server, args: &[&str]) -> Ran {
    run(&mut at(server, args))
}

/// Asks and gives the id.
fn asked(server: &Server, args: &[&str]) -> String {
    let ask = cli(server, &[&["ask", "--json"], args].concat()).json();
    ask["id"].as_str().unwrap().to_owned()
}

/// The same text whenever it was made: ids and moments by their kind.
fn masked(text: &str) -> String {
    let word = |word: &str| {
        let digits = |c: char| c.is_ascii_digit() || c.is_ascii_uppercase();
        let end = if word.ends_with(',') { "," } else { "" };
        let bare = word.trim_end_matches(',');
        if bare.len() == 30 && bare.trim_start_matches("ask_").chars().all(digits) {
            format!("[id]{end}")
        } else if bare.len() == 24 && bare.starts_with('2') && bare.ends_with('Z') {
            format!("[time]{end}")
        } else {
            word.to_owned()
        }
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}
