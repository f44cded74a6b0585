//! The `countersign` command: one file per subcommand, and `requests` for the short ones about one
//! request.
//!
//! Exit codes: 0 done or approved, 1 denied, revoked or verification failed, 2 no answer, 3
//! cancelled, 4 any other error, 64 a usage error.

mod admin;
mod answer;
mod ask;
mod audit;
mod backup;
mod channels;
mod demo;
mod devices;
mod doctor;
mod envelope;
mod erase;
mod export;
mod files;
mod groups;
mod inbox;
mod insights;
mod keys;
mod migrate;
mod notices;
mod output;
mod people;
mod profile;
mod projects;
mod remote;
mod render;
mod requests;
mod rules;
mod serve;
mod sessions;
mod signing;
mod task;
mod verify;
mod webhooks;
mod write;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

use self::output::{complain, patiently, say};
use self::remote::Remote;
use self::verify::fetch;
use crate::config::{Config, DatabaseUrl, Secret, Settings, unknown_variables, variable};

/// The human gateway for AI agents: agents ask, people answer, a proof comes back.
#[derive(Parser)]
#[command(name = "countersign", version, propagate_version = true, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the server
    Serve(serve::Serve),
    /// Let a scripted agent ask one question of each kind
    Demo(demo::Demo),
    /// Ask a person something
    Ask(ask::Ask),
    /// List what waits for you, and answer it
    Inbox(inbox::Inbox),
    /// Show one request
    Show(requests::Show),
    /// Answer a request
    Answer(answer::Answer),
    /// Write to an agent: a conversation begins
    Write(write::Write),
    /// Wait until a request is over
    Wait(requests::Wait),
    /// Withdraw a request
    Cancel(requests::Cancel),
    /// Work with tasks: people own them, agents do them
    Task(task::Task),
    /// Show whether an agent was told that its request is over, and tell it again
    Callbacks(requests::Callbacks),
    /// Add, list and try out endpoints that are told what happens, and tell them again
    Webhooks(webhooks::Webhooks),
    /// Show what agents claim and what people do with it, in numbers
    Insights(insights::Insights),
    /// Fetch the signed receipt of a request
    Receipt(requests::Receipt),
    /// Check a receipt, without the server if you have its keys
    Verify(verify::Verify),
    /// Check messages with an HXP eXperience envelope, without a server
    Envelope(envelope::Envelope),
    /// Let a receipt no longer count
    Revoke(requests::Revoke),
    /// Erase personal data (GDPR): a request, a task, an artifact or a person
    Erase(erase::Erase),
    /// Write out what was answered, by whom and how
    Export(export::Export),
    /// Check and export the audit record
    Audit(audit::Audit),
    /// Copy everything an installation has, beside a running server or without one
    Backup(backup::Backup),
    /// Copy uploads and artifacts to a bucket, or back
    Files(files::FilesOf),
    /// Move an installation from SQLite to PostgreSQL
    Migrate(migrate::Migrate),
    /// Make, list and revoke keys and tokens
    Keys(keys::Keys),
    /// List and end the sessions of browsers
    Sessions(sessions::Sessions),
    /// List, try and remove your devices that are told when something waits
    Devices(devices::Devices),
    /// Say how you are told that something waits: by which means, in which order, how often
    Notices(notices::Notices),
    /// List, rotate, revoke and destroy the keys receipts are signed with
    Signing(signing::Signing),
    /// Add and list people, agents and projects
    People(people::People),
    /// Say who you are and when you can be asked: time zone, quiet hours, absence
    Profile(profile::Profile),
    /// Say who is in a group
    Groups(groups::Groups),
    /// Show and change the rules of projects: escalation, reminders, silence
    Projects(projects::Projects),
    /// Say which requests go to somebody else in your place
    Rules(rules::Rules),
    /// Show the settings that apply and what is wrong with them
    Doctor(doctor::Doctor),
    /// The platforms people are told on: which are set up, and whether they work
    Channels(channels::Channels),
    /// Say whether a server is ready
    Health(Health),
    /// Print completions for a shell
    Completions(Completions),
}

/// Settings from flags, environment and file.
#[derive(Args)]
struct Local {
    /// A TOML file with settings
    #[arg(long, env = "COUNTERSIGN_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
}

/// What was stored, whether or not a server runs on it.
#[derive(Args)]
struct Stored {
    /// Folder for the database, keys and uploads [default: ./countersign-data]
    #[arg(long, env = "COUNTERSIGN_DATA", value_name = "DIR")]
    data: Option<PathBuf>,
    /// Database: `postgres://…` or `sqlite:FILE` [default: sqlite in the data folder]
    #[arg(long, env = "COUNTERSIGN_DATABASE", hide_env_values = true, value_name = "URL")]
    database: Option<DatabaseUrl>,
    /// File that holds the master key [default: `COUNTERSIGN_MASTER_KEY`]
    #[arg(long, env = "COUNTERSIGN_MASTER_KEY_FILE", value_name = "FILE")]
    master_key_file: Option<PathBuf>,
    /// A TOML file with settings
    #[arg(long, env = "COUNTERSIGN_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Stored {
    fn config(self) -> anyhow::Result<Config> {
        self.settings()?.check()
    }

    fn settings(self) -> anyhow::Result<Settings> {
        let Self { data, database, master_key_file, config } = self;
        let master_key = variable("COUNTERSIGN_MASTER_KEY").map(Secret::new);
        let master_key = master_key.filter(|_| master_key_file.is_none());
        let files = Settings::of_files();
        let given = Settings { data, database, master_key, master_key_file, ..files };
        given.complete(config.as_deref())
    }
}

/// Appended to the help of commands that wait for an answer.
const OUTCOMES: &str = "Exits with 0 if approved or answered, 1 if denied or revoked, 2 if nobody \
                        answered in time, 3 if cancelled, 4 if something went wrong.";

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exit {
    Done,
    Denied,
    Expired,
    Cancelled,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Denied => 1,
            Exit::Expired => 2,
            Exit::Cancelled => 3,
        })
    }
}

/// Runs the command line.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // An error of the terminal cannot be reported anywhere.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 64 } else { 0 });
        }
    };
    // These two refuse unknown variables, because they might be misspelt settings.
    if !matches!(cli.command, Command::Serve(_) | Command::Doctor(_)) {
        for unknown in unknown_variables() {
            complain!("countersign: {unknown}");
        }
    }
    let outcome = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(anyhow::Error::from)
        .and_then(|runtime| runtime.block_on(Box::pin(run(cli.command))));
    match outcome {
        Ok(exit) => exit.into(),
        Err(error) => {
            complain!("countersign: {error:#}");
            ExitCode::from(4)
        }
    }
}

async fn run(command: Command) -> anyhow::Result<Exit> {
    match command {
        Command::Serve(serve) => serve.run().await,
        Command::Demo(demo) => demo.run().await,
        Command::Ask(ask) => ask.run().await,
        Command::Inbox(inbox) => inbox.run().await,
        Command::Show(show) => patiently(show.run()).await,
        Command::Answer(answer) => patiently(answer.run()).await,
        Command::Write(write) => patiently(write.run()).await,
        Command::Wait(wait) => wait.run().await,
        Command::Cancel(cancel) => patiently(cancel.run()).await,
        Command::Task(task) => Box::pin(task.run()).await,
        Command::Callbacks(callbacks) => patiently(callbacks.run()).await,
        Command::Webhooks(webhooks) => patiently(Box::pin(webhooks.run())).await,
        Command::Insights(insights) => patiently(insights.run()).await,
        Command::Receipt(receipt) => patiently(receipt.run()).await,
        Command::Verify(verify) => patiently(verify.run()).await,
        Command::Envelope(envelope) => envelope.run(),
        Command::Revoke(revoke) => patiently(revoke.run()).await,
        Command::Erase(erase) => patiently(Box::pin(erase.run())).await,
        Command::Export(export) => export.run().await,
        Command::Audit(audit) => audit.run().await,
        Command::Backup(backup) => backup.run().await,
        Command::Files(files) => files.run().await,
        Command::Migrate(migrate) => Box::pin(migrate.run()).await,
        Command::Keys(keys) => patiently(Box::pin(keys.run())).await,
        Command::Sessions(sessions) => patiently(Box::pin(sessions.run())).await,
        Command::Devices(devices) => patiently(devices.run()).await,
        Command::Notices(notices) => patiently(notices.run()).await,
        Command::Signing(signing) => signing.run().await,
        Command::People(people) => patiently(Box::pin(people.run())).await,
        Command::Profile(profile) => patiently(Box::pin(profile.run())).await,
        Command::Groups(groups) => patiently(Box::pin(groups.run())).await,
        Command::Projects(projects) => patiently(Box::pin(projects.run())).await,
        Command::Rules(rules) => patiently(rules.run()).await,
        Command::Doctor(doctor) => Box::pin(patiently(doctor.run())).await,
        Command::Channels(channels) => Box::pin(patiently(channels.run())).await,
        Command::Health(health) => patiently(health.run()).await,
        Command::Completions(completions) => Ok(completions.run(&mut Cli::command())),
    }
}

// `countersign completions SHELL`

#[derive(Args)]
struct Completions {
    /// The shell to complete in
    shell: Shell,
}

impl Completions {
    fn run(self, command: &mut clap::Command) -> Exit {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, command, "countersign", &mut script);
        say!("{}", String::from_utf8_lossy(&script).trim_end());
        Exit::Done
    }
}

// `countersign health`: checks whether a server is ready, for callers that can only run a command:
// a container without a shell, a script that waits for a start.

#[derive(Args)]
#[command(after_help = "Exits with 0 if it is ready, 1 if not.")]
struct Health {
    #[command(flatten)]
    remote: Remote,
}

impl Health {
    async fn run(self) -> anyhow::Result<Exit> {
        let url = self.remote.address();
        let answer = fetch(&format!("{url}/readyz")).await;
        let why = answer.as_ref().err().map(|error| format!("{error:#}"));
        if self.remote.json {
            say!("{}", serde_json::json!({ "ready": why.is_none(), "why": why }));
        } else if let Some(why) = &why {
            complain!("countersign: not ready: {why}");
        } else {
            say!("{url} is ready.");
        }
        Ok(if why.is_none() { Exit::Done } else { Exit::Denied })
    }
}
