//! The `countersign` command. Commands are a noun and a verb: `countersign people add`. The most
//! frequent ones also exist on their own, and commands of earlier versions are hidden aliases.
//!
//! | file | commands |
//! |---|---|
//! | named like a command | that command, or the commands of that noun |
//! | `requests` | the short ones about one request: show, wait, cancel, revoke, receipt, callbacks |
//! | `notices`, `config_command`, `task` | `notifications`, `config`, `tasks` |
//! | `login`, `logins` | signing in and out; the file with the saved sign-ins |
//! | `remote`, `admin_target` | which server and credential; a running server or a data folder |
//! | `directory_change` | changes of people, agents, projects and groups |
//! | `overview`, `suggestions` | the help of `countersign`; what an unknown command probably means |
//! | `output`, `render`, `browser` | printing; a request as text; opening a page |
//!
//! Exit codes: 0 done or approved, 1 denied, revoked or a check failed, 2 no answer, 3 cancelled, 4
//! any other error, 64 wrong usage, 141 the reader of the output closed the pipe.

mod admin_target;
mod agents;
mod answer;
mod ask;
mod asks;
mod audit;
mod backup;
mod browser;
mod channels;
mod config_command;
mod demo;
mod devices;
mod directory_change;
mod doctor;
mod envelope;
mod erase;
mod export;
mod files;
mod groups;
mod inbox;
mod insights;
mod keys;
mod listen;
mod login;
mod logins;
mod migrate;
mod notices;
mod open;
mod output;
mod overview;
mod people;
mod profile;
mod projects;
mod receipts;
mod remote;
mod render;
mod requests;
mod rules;
mod serve;
mod sessions;
mod signing;
mod suggestions;
mod task;
mod verify;
mod webhooks;
mod write;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, FromArgMatches as _, Parser, Subcommand};
use clap_complete::Shell;

use self::output::{complain, say, with_wait_message};
use self::remote::RemoteArgs;
use self::verify::fetch;
use crate::config::{Config, DatabaseUrl, SecretString, Settings, unknown_variables, variable};

/// The human gateway for AI agents: agents ask, people answer, and every answer has a signed
/// receipt.
#[derive(Parser)]
#[command(name = "countersign", version, propagate_version = true, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: CliCommand,
}

#[derive(Subcommand)]
enum CliCommand {
    /// Ask a person
    Ask(ask::AskArgs),
    /// List the requests that wait for you, and answer them
    Inbox(inbox::InboxArgs),
    /// Answer a request
    Answer(answer::AnswerArgs),
    /// Wait until a request is closed
    Wait(requests::WaitArgs),
    /// Open the page of a request in the browser
    Open(open::OpenArgs),
    /// Verify a receipt, without the server if you have its keys
    Verify(verify::VerifyArgs),

    /// Sign in to a server, and save the token on this computer
    Login(login::LoginArgs),
    /// Sign out, and revoke the saved token
    Logout(login::LogoutArgs),
    /// Show who you are signed in as
    Whoami(login::WhoamiArgs),
    /// Your profile: name, time zone, quiet hours, out of office
    Profile(profile::ProfileArgs),
    /// Your notifications: contact methods, their order, digests
    #[command(name = "notifications", alias = "notices")]
    Notices(notices::NoticesArgs),
    /// Your devices with push notifications
    #[command(alias = "device")]
    Devices(devices::DevicesArgs),
    /// Your delegation rules: which requests go to someone else
    #[command(alias = "rule")]
    Rules(rules::RulesArgs),
    /// Browser sessions: list and revoke them
    #[command(alias = "session")]
    Sessions(sessions::SessionsArgs),

    /// Requests: list, show, answer, assign, comment, export
    Asks(asks::AsksArgs),
    /// Tasks, which people own and agents work on
    #[command(name = "tasks", alias = "task")]
    Task(task::TaskArgs),
    /// Receipts: fetch, verify, revoke
    Receipts(receipts::ReceiptsArgs),
    /// Statistics about agents and decisions
    Insights(insights::InsightsArgs),

    /// Agents: list, add, change, write to one
    #[command(alias = "agent")]
    Agents(agents::AgentsArgs),
    /// Projects and their rules
    #[command(alias = "project")]
    Projects(projects::ProjectsArgs),
    /// People: list, add, change, sign-in links, erase
    #[command(alias = "person")]
    People(people::PeopleArgs),
    /// Groups of people
    #[command(alias = "group")]
    Groups(groups::GroupsArgs),
    /// Agent keys, human tokens and passkeys
    #[command(alias = "key")]
    Keys(keys::KeysArgs),
    /// Webhook endpoints and their deliveries
    #[command(alias = "webhook")]
    Webhooks(webhooks::WebhooksArgs),
    /// Channels such as Slack and email: list and test them
    #[command(alias = "channel")]
    Channels(channels::ChannelsArgs),

    /// Forward events to a local address, as signed webhooks
    Listen(listen::ListenArgs),
    /// Let a scripted agent ask one question of each kind
    Demo(demo::DemoArgs),
    /// Check messages with an HXP eXperience envelope, without a server
    Envelope(envelope::EnvelopeArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),

    /// Run the server
    Serve(serve::ServeArgs),
    /// Settings: show, check and look them up
    Config(config_command::ConfigArgs),
    /// Check the settings, the database, the files and the channels
    Doctor(doctor::DoctorArgs),
    /// Check whether a server is ready
    Health(HealthArgs),
    /// The audit log: verify and export it
    Audit(audit::AuditArgs),
    /// The keys that sign receipts: list, rotate, revoke, destroy
    Signing(signing::SigningArgs),
    /// Back up a SQLite installation, whether or not its server runs
    Backup(backup::BackupArgs),
    /// Move an installation from SQLite to PostgreSQL
    Migrate(migrate::MigrateArgs),
    /// Copy uploads and artifacts to a bucket, or back
    Files(files::FilesArgs),
    /// Erase personal data (GDPR): a request, a task, an artifact or a person
    Erase(erase::EraseArgs),

    /// Show a request, like `asks show`
    #[command(hide = true)]
    Show(requests::ShowArgs),
    /// Cancel a request, like `asks cancel`
    #[command(hide = true)]
    Cancel(requests::CancelArgs),
    /// Show whether the agent's callback was delivered, like `asks callbacks`
    #[command(hide = true)]
    Callbacks(requests::CallbacksArgs),
    /// Export answered requests, like `asks export`
    #[command(hide = true)]
    Export(export::HistoryExportArgs),
    /// Fetch the signed receipt of a request, like `receipts show`
    #[command(hide = true)]
    Receipt(requests::ReceiptArgs),
    /// Revoke the receipt of a request, like `receipts revoke`
    #[command(hide = true)]
    Revoke(requests::RevokeArgs),
    /// Start a conversation with an agent, like `agents write`
    #[command(hide = true)]
    Write(write::WriteArgs),
}

/// The settings that the help of a command shows; `countersign config reference` lists all.
const SHOWN_SETTINGS: [&str; 7] =
    ["listen", "data", "database", "public_url", "tls_cert", "tls_key", "dev"];

/// The settings that matter to a command that serves nothing.
const SHOWN_STORED_SETTINGS: [&str; 2] = ["data", "database"];

/// What the help says instead of listing every setting.
const MORE_SETTINGS: &str =
    "All other settings are options too: `countersign config reference` lists them.";

/// The command line, with short help: settings that few people need are accepted, but not shown.
fn command() -> clap::Command {
    let short = |command: clap::Command| hide_settings(command, &SHOWN_STORED_SETTINGS);
    let command = Cli::command()
        .mut_subcommand("serve", |serve| hide_settings(serve, &SHOWN_SETTINGS))
        .mut_subcommand("doctor", short)
        .mut_subcommand("config", |config| {
            config
                .mut_subcommand("show", short)
                .mut_subcommand("check", short)
                .mut_subcommand("path", short)
        })
        .mut_subcommand("channels", |channels| {
            channels.mut_subcommand("list", short).mut_subcommand("test", short)
        });
    overview::describe(command)
}

fn hide_settings(command: clap::Command, shown: &[&str]) -> clap::Command {
    let settings = Settings::augment_args(clap::Command::new("settings"));
    let is_hidden = |id: &str| {
        !shown.contains(&id) && settings.get_arguments().any(|setting| setting.get_id() == id)
    };
    let more = match command.get_after_help() {
        Some(text) => format!("{text}\n\n{MORE_SETTINGS}"),
        None => MORE_SETTINGS.to_owned(),
    };
    command
        .mut_args(|arg| {
            let hidden = is_hidden(arg.get_id().as_str());
            if hidden { arg.hide(true) } else { arg }
        })
        .after_help(more)
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

/// Stored data, whether or not a server runs on it.
#[derive(Args)]
struct StoredDataArgs {
    /// Folder for the database, keys and uploads [default: ./countersign-data]
    #[arg(long, env = "COUNTERSIGN_DATA", value_name = "DIR")]
    data: Option<PathBuf>,
    /// Database: `postgres://…` or `sqlite:FILE` [default: SQLite in the data folder]
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
const OUTCOMES: &str = "Exits with 0 if the request was approved or answered, 1 if it was denied or \
                        revoked, 2 if no one answered in time, 3 if it was cancelled, 4 if the \
                        command failed.";

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
    let parsed = command().try_get_matches_from(std::env::args_os());
    let cli = match parsed.and_then(|found| Cli::from_arg_matches(&found)) {
        Ok(cli) => cli,
        Err(error) => return usage_error(&error),
    };
    // These refuse unknown variables or report them, because they might be misspelt settings.
    let reports =
        matches!(cli.command, CliCommand::Serve(_) | CliCommand::Doctor(_) | CliCommand::Config(_));
    if !reports {
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

/// Prints a usage error, with what was probably meant. Help and versions come this way too.
fn usage_error(error: &clap::Error) -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let meant = if error.kind() == ErrorKind::InvalidSubcommand {
        suggestions::suggestions(&command(), &arguments)
    } else {
        Vec::new()
    };
    if error.kind() == ErrorKind::InvalidSubcommand {
        complain!("countersign: there is no command `countersign {}`", arguments.join(" "));
        if !meant.is_empty() {
            complain!("\nDid you mean:");
        }
        for line in meant {
            complain!("  {line}");
        }
        complain!("\n`countersign --help` lists all commands.");
        return ExitCode::from(64);
    }
    // An error of the terminal cannot be reported anywhere.
    let _ = error.print();
    ExitCode::from(if error.use_stderr() { 64 } else { 0 })
}

async fn run(command: CliCommand) -> anyhow::Result<Exit> {
    match command {
        CliCommand::Ask(ask) => ask.run().await,
        CliCommand::Inbox(inbox) => inbox.run().await,
        CliCommand::Answer(answer) => with_wait_message(answer.run()).await,
        CliCommand::Wait(wait) => wait.run().await,
        CliCommand::Open(open) => open.run(),
        CliCommand::Verify(verify) => with_wait_message(verify.run()).await,
        CliCommand::Login(login) => Box::pin(login.run()).await,
        CliCommand::Logout(logout) => with_wait_message(logout.run()).await,
        CliCommand::Whoami(whoami) => with_wait_message(whoami.run()).await,
        CliCommand::Profile(profile) => with_wait_message(Box::pin(profile.run())).await,
        CliCommand::Notices(notices) => with_wait_message(notices.run()).await,
        CliCommand::Devices(devices) => with_wait_message(devices.run()).await,
        CliCommand::Rules(rules) => with_wait_message(rules.run()).await,
        CliCommand::Sessions(sessions) => with_wait_message(Box::pin(sessions.run())).await,
        CliCommand::Asks(asks) => Box::pin(asks.run()).await,
        CliCommand::Task(task) => Box::pin(task.run()).await,
        CliCommand::Receipts(receipts) => with_wait_message(Box::pin(receipts.run())).await,
        CliCommand::Insights(insights) => with_wait_message(insights.run()).await,
        CliCommand::Agents(agents) => with_wait_message(Box::pin(agents.run())).await,
        CliCommand::Projects(projects) => with_wait_message(Box::pin(projects.run())).await,
        CliCommand::People(people) => with_wait_message(Box::pin(people.run())).await,
        CliCommand::Groups(groups) => with_wait_message(Box::pin(groups.run())).await,
        CliCommand::Keys(keys) => with_wait_message(Box::pin(keys.run())).await,
        CliCommand::Webhooks(webhooks) => Box::pin(webhooks.run()).await,
        CliCommand::Channels(channels) => Box::pin(with_wait_message(channels.run())).await,
        CliCommand::Listen(listen) => listen.run().await,
        CliCommand::Demo(demo) => demo.run().await,
        CliCommand::Envelope(envelope) => envelope.run(),
        // The whole command, so that options which the help does not show are completed too.
        CliCommand::Completions(completions) => Ok(completions.run(&mut Cli::command())),
        CliCommand::Serve(serve) => serve.run().await,
        CliCommand::Config(config) => config.run(),
        CliCommand::Doctor(doctor) => Box::pin(with_wait_message(doctor.run())).await,
        CliCommand::Health(health) => with_wait_message(health.run()).await,
        CliCommand::Audit(audit) => audit.run().await,
        CliCommand::Signing(signing) => signing.run().await,
        CliCommand::Backup(backup) => backup.run().await,
        CliCommand::Migrate(migrate) => Box::pin(migrate.run()).await,
        CliCommand::Files(files) => files.run().await,
        CliCommand::Erase(erase) => with_wait_message(Box::pin(erase.run())).await,
        CliCommand::Show(show) => with_wait_message(show.run()).await,
        CliCommand::Cancel(cancel) => with_wait_message(cancel.run()).await,
        CliCommand::Callbacks(callbacks) => with_wait_message(callbacks.run()).await,
        CliCommand::Export(export) => export.run().await,
        CliCommand::Receipt(receipt) => with_wait_message(receipt.run()).await,
        CliCommand::Revoke(revoke) => with_wait_message(revoke.run()).await,
        CliCommand::Write(write) => with_wait_message(write.run()).await,
    }
}

// `countersign completions SHELL`

#[derive(Args)]
struct CompletionsArgs {
    /// The shell
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
#[command(after_help = "Exits with 0 if the server is ready, 1 if not.")]
struct HealthArgs {
    #[command(flatten)]
    remote: RemoteArgs,
}

impl HealthArgs {
    async fn run(self) -> anyhow::Result<Exit> {
        let url = self.remote.choose()?.url;
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
