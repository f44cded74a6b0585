//! The `countersign` command: one file per subcommand, and `requests` for the short ones about one
//! request.
//!
//! Exit codes: 0 done or approved, 1 denied, revoked or verification failed, 2 no answer, 3
//! cancelled, 4 any other error, 64 a usage error.

mod admin_target;
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

use self::output::{complain, say, with_wait_message};
use self::remote::RemoteArgs;
use self::verify::fetch;
use crate::config::{Config, DatabaseUrl, SecretString, Settings, unknown_variables, variable};

/// The human gateway for AI agents: agents ask, people answer, a proof comes back.
#[derive(Parser)]
#[command(name = "countersign", version, propagate_version = true, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: CliCommand,
}

#[derive(Subcommand)]
enum CliCommand {
    /// Run the server
    Serve(serve::ServeArgs),
    /// Let a scripted agent ask one question of each kind
    Demo(demo::DemoArgs),
    /// Ask a person something
    Ask(ask::AskArgs),
    /// List what waits for you, and answer it
    Inbox(inbox::InboxArgs),
    /// Show one request
    Show(requests::ShowArgs),
    /// Answer a request
    Answer(answer::AnswerArgs),
    /// Write to an agent: a conversation begins
    Write(write::WriteArgs),
    /// Wait until a request is over
    Wait(requests::WaitArgs),
    /// Withdraw a request
    Cancel(requests::CancelArgs),
    /// Work with tasks: people own them, agents do them
    Task(task::TaskArgs),
    /// Show whether an agent was told that its request is over, and tell it again
    Callbacks(requests::CallbacksArgs),
    /// Add, list and try out endpoints that are told what happens, and tell them again
    Webhooks(webhooks::WebhooksArgs),
    /// Show what agents claim and what people do with it, in numbers
    Insights(insights::InsightsArgs),
    /// Fetch the signed receipt of a request
    Receipt(requests::ReceiptArgs),
    /// Check a receipt, without the server if you have its keys
    Verify(verify::VerifyArgs),
    /// Check messages with an HXP eXperience envelope, without a server
    Envelope(envelope::EnvelopeArgs),
    /// Let a receipt no longer count
    Revoke(requests::RevokeArgs),
    /// Erase personal data (GDPR): a request, a task, an artifact or a person
    Erase(erase::EraseArgs),
    /// Write out what was answered, by whom and how
    Export(export::HistoryExportArgs),
    /// Check and export the audit record
    Audit(audit::AuditArgs),
    /// Copy everything an installation has, beside a running server or without one
    Backup(backup::BackupArgs),
    /// Copy uploads and artifacts to a bucket, or back
    Files(files::FilesArgs),
    /// Move an installation from SQLite to PostgreSQL
    Migrate(migrate::MigrateArgs),
    /// Make, list and revoke keys and tokens
    Keys(keys::KeysArgs),
    /// List and end the sessions of browsers
    Sessions(sessions::SessionsArgs),
    /// List, try and remove your devices that are told when something waits
    Devices(devices::DevicesArgs),
    /// Say how you are told that something waits: by which means, in which order, how often
    Notices(notices::NoticesArgs),
    /// List, rotate, revoke and destroy the keys receipts are signed with
    Signing(signing::SigningArgs),
    /// Add and list people, agents and projects
    People(people::PeopleArgs),
    /// Say who you are and when you can be asked: time zone, quiet hours, absence
    Profile(profile::ProfileArgs),
    /// Say who is in a group
    Groups(groups::GroupsArgs),
    /// Show and change the rules of projects: escalation, reminders, silence
    Projects(projects::ProjectsArgs),
    /// Say which requests go to somebody else in your place
    Rules(rules::RulesArgs),
    /// Show the settings that apply and what is wrong with them
    Doctor(doctor::DoctorArgs),
    /// The platforms people are told on: which are set up, and whether they work
    Channels(channels::ChannelsArgs),
    /// Say whether a server is ready
    Health(HealthArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
}

/// Settings from flags, environment and file.
#[derive(Args)]
struct LocalArgs {
    /// A TOML file with settings
    #[arg(long, env = "COUNTERSIGN_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
}

/// What was stored, whether or not a server runs on it.
#[derive(Args)]
struct StoredDataArgs {
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

impl StoredDataArgs {
    fn config(self) -> anyhow::Result<Config> {
        self.settings()?.check()
    }

    fn settings(self) -> anyhow::Result<Settings> {
        let Self { data, database, master_key_file, config } = self;
        let master_key = variable("COUNTERSIGN_MASTER_KEY").map(SecretString::new);
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
    if !matches!(cli.command, CliCommand::Serve(_) | CliCommand::Doctor(_)) {
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

async fn run(command: CliCommand) -> anyhow::Result<Exit> {
    match command {
        CliCommand::Serve(serve) => serve.run().await,
        CliCommand::Demo(demo) => demo.run().await,
        CliCommand::Ask(ask) => ask.run().await,
        CliCommand::Inbox(inbox) => inbox.run().await,
        CliCommand::Show(show) => with_wait_message(show.run()).await,
        CliCommand::Answer(answer) => with_wait_message(answer.run()).await,
        CliCommand::Write(write) => with_wait_message(write.run()).await,
        CliCommand::Wait(wait) => wait.run().await,
        CliCommand::Cancel(cancel) => with_wait_message(cancel.run()).await,
        CliCommand::Task(task) => Box::pin(task.run()).await,
        CliCommand::Callbacks(callbacks) => with_wait_message(callbacks.run()).await,
        CliCommand::Webhooks(webhooks) => with_wait_message(Box::pin(webhooks.run())).await,
        CliCommand::Insights(insights) => with_wait_message(insights.run()).await,
        CliCommand::Receipt(receipt) => with_wait_message(receipt.run()).await,
        CliCommand::Verify(verify) => with_wait_message(verify.run()).await,
        CliCommand::Envelope(envelope) => envelope.run(),
        CliCommand::Revoke(revoke) => with_wait_message(revoke.run()).await,
        CliCommand::Erase(erase) => with_wait_message(Box::pin(erase.run())).await,
        CliCommand::Export(export) => export.run().await,
        CliCommand::Audit(audit) => audit.run().await,
        CliCommand::Backup(backup) => backup.run().await,
        CliCommand::Files(files) => files.run().await,
        CliCommand::Migrate(migrate) => Box::pin(migrate.run()).await,
        CliCommand::Keys(keys) => with_wait_message(Box::pin(keys.run())).await,
        CliCommand::Sessions(sessions) => with_wait_message(Box::pin(sessions.run())).await,
        CliCommand::Devices(devices) => with_wait_message(devices.run()).await,
        CliCommand::Notices(notices) => with_wait_message(notices.run()).await,
        CliCommand::Signing(signing) => signing.run().await,
        CliCommand::People(people) => with_wait_message(Box::pin(people.run())).await,
        CliCommand::Profile(profile) => with_wait_message(Box::pin(profile.run())).await,
        CliCommand::Groups(groups) => with_wait_message(Box::pin(groups.run())).await,
        CliCommand::Projects(projects) => with_wait_message(Box::pin(projects.run())).await,
        CliCommand::Rules(rules) => with_wait_message(rules.run()).await,
        CliCommand::Doctor(doctor) => Box::pin(with_wait_message(doctor.run())).await,
        CliCommand::Channels(channels) => Box::pin(with_wait_message(channels.run())).await,
        CliCommand::Health(health) => with_wait_message(health.run()).await,
        CliCommand::Completions(completions) => Ok(completions.run(&mut Cli::command())),
    }
}

// `countersign completions SHELL`

#[derive(Args)]
struct CompletionsArgs {
    /// The shell to complete in
    shell: Shell,
}

impl CompletionsArgs {
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
struct HealthArgs {
    #[command(flatten)]
    remote: RemoteArgs,
}

impl HealthArgs {
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
