//! `countersign projects`: projects and their rules.

use anyhow::Context;
use clap::{Args, Subcommand};
use dialects::native::{ProjectBody, ProjectView};
use kernel::ask::{Assignee, EnvelopePolicy};
use kernel::directory::{
    AllowedRecipient, EscalationStep, IrreversibleSetting, NewProject, RecipientPolicy,
};
use kernel::quota::Limits;
use kernel::retention::RetentionSetting;
use kernel::{Assurance, DirectoryCommand, ProjectId, duration};
use reqwest::Method;
use serde_json::Value;

use super::Exit;
use super::admin_target::{AdminTarget, TargetArgs};
use super::directory_change::{TakenId, send};
use super::output::{report, report_object, report_table};
use crate::name_spelling::parse_name;

#[derive(Args)]
pub(super) struct ProjectsArgs {
    #[command(subcommand)]
    command: ProjectsCommand,
}

#[derive(Subcommand)]
enum ProjectsCommand {
    /// List projects and their rules
    List {
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Show the rules of a project
    Show {
        /// The project
        id: ProjectId,
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Add a project with the default rules; change them with `projects set`
    Add {
        /// The id of the new project
        id: ProjectId,
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Change the rules of a project: only those you name. A project that does not exist is added
    Set(Box<ProjectSetArgs>),
}

/// The changes to the rules of a project.
#[derive(Args)]
struct ProjectSetArgs {
    /// The project
    id: ProjectId,
    /// Whether an agent may set a default answer for when no one answers in time
    #[arg(long, value_name = "BOOL")]
    default_on_silence: Option<bool>,
    /// The minimum assurance of an answer: `none`, `agent-attested`, `link`, `channel`, `session` or
    /// `passkey`
    #[arg(
        long = "minimum-assurance", alias = "floor", value_name = "ASSURANCE",
        value_parser = parse_name::<Assurance>
    )]
    floor: Option<Assurance>,
    /// When to remind people, counted from the request: 30m, 2h, 1d; repeat it for several
    #[arg(long, value_name = "SPAN", value_parser = seconds, conflicts_with = "no_reminders")]
    reminder: Vec<u64>,
    /// Send no reminders, unless the agent asks for them
    #[arg(long)]
    no_reminders: bool,
    /// An escalation step, when to ask whom else: 30m=ada, 1h=@legal for a group, 2h=@ for anyone
    /// in the project; repeat it for several, in order
    #[arg(long, value_name = "SPAN=WHO", value_parser = step, conflicts_with = "no_ladder")]
    step: Vec<EscalationStep>,
    /// Remove all escalation steps
    #[arg(long = "no-steps", alias = "no-ladder")]
    no_ladder: bool,
    /// How to treat invalid HXP envelopes in messages of agents: `lenient` or `strict`
    #[arg(long, value_name = "MODE", value_parser = parse_name::<EnvelopePolicy>)]
    envelopes: Option<EnvelopePolicy>,
    /// How long the text of a closed request is kept: 30d, 12h, `off` to keep it forever, or
    /// `default` for the server's setting
    #[arg(long, value_name = "SPAN", value_parser = retention)]
    retention: Option<RetentionArg>,
    /// The addresses that agents may send requests to: `any`, or `project` for the people of the
    /// project, the agent's owner and --allow-recipient
    #[arg(long, value_name = "WHICH", value_parser = parse_name::<RecipientPolicy>)]
    recipients: Option<RecipientPolicy>,
    /// A further address that agents may use: slack:C0123ABC, email:ops@example.com, an email
    /// domain as @example.com, or all of a kind as sms:*; repeat it for several
    #[arg(long, value_name = "ADDRESS", conflicts_with = "no_allowed_recipients")]
    allow_recipient: Vec<AllowedRecipient>,
    /// Remove all further addresses
    #[arg(long)]
    no_allowed_recipients: bool,
    /// Quotas that differ from the server's: `agent.open_asks=100,project.uploads=0`; `default` for
    /// none
    #[arg(long, value_name = "NAME=N", value_parser = quotas)]
    quotas: Option<Limits>,
    /// The minimum assurance for approving a request that is irreversible or critical, if it is
    /// higher than --minimum-assurance: `link`, `channel`, `session` or `passkey`; `none` for no
    /// such rule
    #[arg(long, value_name = "ASSURANCE", value_parser = parse_name::<Assurance>)]
    irreversible_assurance: Option<Assurance>,
    #[command(flatten)]
    place: TargetArgs,
}

/// A retention period; `None` for the server's default.
#[derive(Debug, Clone, Copy)]
struct RetentionArg(Option<RetentionSetting>);

impl ProjectsArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        match self.command {
            ProjectsCommand::List { place } => {
                let (admin, json) = place.open().await?;
                let projects = all(&admin).await?;
                report_table(
                    json,
                    &projects,
                    &[
                        "PROJECT",
                        "DEFAULT ANSWERS",
                        "MINIMUM ASSURANCE",
                        "REMINDERS",
                        "ESCALATION",
                        "ENVELOPES",
                        "RETENTION",
                        "RECIPIENTS",
                        "QUOTAS",
                        "IRREVERSIBLE",
                    ],
                    row,
                )?;
            }
            ProjectsCommand::Show { id, place } => {
                let (admin, json) = place.open().await?;
                let project = view(&admin, &id).await?.with_context(|| {
                    format!(
                        "there is no project {id}; `countersign projects list` shows all projects"
                    )
                })?;
                report_object(json, &project)?;
            }
            ProjectsCommand::Add { id, place } => add(place, id).await?,
            ProjectsCommand::Set(given) => set(*given).await?,
        }
        Ok(Exit::Done)
    }
}

/// All projects.
pub(super) async fn all(admin: &AdminTarget) -> anyhow::Result<Vec<ProjectView>> {
    match admin {
        AdminTarget::Remote(server) => server.all("projects").await,
        AdminTarget::Offline(offline) => {
            Ok(offline.gateway.directory().projects().map(ProjectView::from).collect())
        }
    }
}

/// Adds a project with the default rules.
pub(super) async fn add(place: TargetArgs, id: ProjectId) -> anyhow::Result<()> {
    let fresh = NewProject::fresh(id);
    let (id, body) = (fresh.id.clone(), body(fresh.clone()));
    let message = format!(
        "the project {id} exists already, and nothing was changed; change its rules with \
         `countersign projects set {id}`"
    );
    let taken = Some(TakenId { what: "project", message });
    let command = DirectoryCommand::AddProject(fresh);
    send(place, Method::POST, "/api/v1/projects", &body, command, taken).await
}

async fn set(given: ProjectSetArgs) -> anyhow::Result<()> {
    let (admin, json) = given.place.open().await?;
    let id = given.id;
    let mut project = known(&admin, &id).await?.unwrap_or_else(|| NewProject::fresh(id.clone()));
    if let Some(allowed) = given.default_on_silence {
        project.default_on_silence = allowed;
    }
    if let Some(floor) = given.floor {
        project.minimum_assurance = floor;
    }
    if given.no_reminders || !given.reminder.is_empty() {
        project.reminders = given.reminder.into_iter().collect();
    }
    if given.no_ladder || !given.step.is_empty() {
        project.escalation_steps = given.step;
    }
    if let Some(envelopes) = given.envelopes {
        project.envelopes = envelopes;
    }
    if let Some(RetentionArg(retention)) = given.retention {
        project.retention = retention;
    }
    project.recipients = given.recipients.or(project.recipients);
    if given.no_allowed_recipients || !given.allow_recipient.is_empty() {
        project.allowed_recipients = Some(given.allow_recipient.into_iter().collect());
    }
    project.quotas = given.quotas.or(project.quotas);
    if let Some(least) = given.irreversible_assurance {
        let rule = Some(least).filter(|least| *least > Assurance::None);
        project.irreversible_assurance = IrreversibleSetting::Set(rule);
    }
    let body = body(project.clone());
    match &admin {
        AdminTarget::Remote(server) => {
            let path = format!("/api/v1/projects/{id}");
            let _: Value = server.send(Method::PUT, &path, &body).await?;
        }
        AdminTarget::Offline(offline) => {
            offline.run(DirectoryCommand::SaveProject(project)).await?;
        }
    }
    report(json, &body, "Saved.")
}

/// The project as the API shows it, if it exists.
async fn view(admin: &AdminTarget, id: &ProjectId) -> anyhow::Result<Option<ProjectView>> {
    match admin {
        AdminTarget::Remote(server) => {
            let path = format!("/api/v1/projects/{id}");
            match server.client.call(Method::GET, &path, None::<&()>).await {
                Ok(view) => Ok(Some(view)),
                Err(client::ClientError::Refused { status: 404, .. }) => Ok(None),
                Err(error) => Err(server.with_advice()(error)),
            }
        }
        AdminTarget::Offline(offline) => {
            Ok(offline.gateway.directory().project(id).map(ProjectView::from))
        }
    }
}

/// The existing project, if any.
async fn known(admin: &AdminTarget, id: &ProjectId) -> anyhow::Result<Option<NewProject>> {
    let view = view(admin, id).await?;
    let new = |view: ProjectView| {
        let ProjectView {
            id,
            default_on_silence,
            floor,
            ladder,
            reminders,
            envelopes,
            retention,
            recipients,
            allowed_recipients,
            quotas,
            irreversible_assurance,
        } = view;
        let irreversible_assurance = IrreversibleSetting::Set(irreversible_assurance);
        NewProject {
            id,
            default_on_silence,
            minimum_assurance: floor,
            escalation_steps: ladder,
            reminders,
            envelopes,
            retention,
            recipients: Some(recipients),
            allowed_recipients: Some(allowed_recipients),
            quotas: Some(quotas),
            irreversible_assurance,
        }
    };
    Ok(view.map(new))
}

/// A project as the API represents it.
pub(super) fn body(project: NewProject) -> ProjectBody {
    let NewProject {
        id,
        default_on_silence,
        minimum_assurance: floor,
        escalation_steps: ladder,
        reminders,
        envelopes,
        retention,
        recipients,
        allowed_recipients,
        quotas,
        irreversible_assurance,
    } = project;
    let irreversible_assurance = match irreversible_assurance {
        IrreversibleSetting::Set(rule) => Some(rule),
        // The server knows the default of a new project.
        IrreversibleSetting::Keep { .. } => None,
    };
    ProjectBody {
        id: Some(id),
        default_on_silence,
        floor,
        ladder,
        reminders,
        envelopes,
        retention,
        recipients,
        allowed_recipients,
        quotas,
        irreversible_assurance,
    }
}

fn row(project: &ProjectView) -> Vec<String> {
    let silence = if project.default_on_silence { "allowed" } else { "forbidden" };
    let floor = serde_json::to_value(project.floor).unwrap_or_default();
    let reminders: Vec<_> =
        project.reminders.iter().map(|after| duration::to_text(*after)).collect();
    let step = |step: &EscalationStep| {
        let who = match &step.assignee {
            Assignee::Person { human } => human.to_string(),
            Assignee::Pool { group: Some(group) } => format!("@{group}"),
            Assignee::Pool { group: None } => "@".to_owned(),
        };
        format!("{}={who}", duration::to_text(step.after))
    };
    let ladder: Vec<_> = project.ladder.iter().map(step).collect();
    vec![
        project.id.to_string(),
        silence.to_owned(),
        floor.as_str().unwrap_or_default().to_owned(),
        reminders.join(", "),
        ladder.join(", "),
        match project.envelopes {
            EnvelopePolicy::Lenient => "lenient",
            EnvelopePolicy::Strict => "strict",
        }
        .to_owned(),
        project.retention.map_or_else(String::new, |keep| keep.to_string()),
        match project.recipients {
            RecipientPolicy::Any => "any".to_owned(),
            RecipientPolicy::Project => {
                let allowed = project.allowed_recipients.iter().map(ToString::to_string);
                ["project".to_owned()].into_iter().chain(allowed).collect::<Vec<_>>().join(", ")
            }
        },
        project.quotas.to_string(),
        project.irreversible_assurance.map_or_else(String::new, |least| least.to_string()),
    ]
}

fn quotas(text: &str) -> Result<Limits, String> {
    if matches!(text, "default" | "usual") {
        return Ok(Limits::default());
    }
    text.parse().map_err(|error: kernel::quota::BadLimit| error.to_string())
}

fn retention(text: &str) -> Result<RetentionArg, String> {
    if matches!(text, "default" | "usual") {
        return Ok(RetentionArg(None));
    }
    text.parse()
        .map(|keep| RetentionArg(Some(keep)))
        .map_err(|expected: &str| format!("expected {expected}"))
}

fn seconds(text: &str) -> Result<u64, String> {
    duration::parse(text).ok_or_else(|| format!("expected {}", duration::EXPECTED))
}

fn step(text: &str) -> Result<EscalationStep, String> {
    let (after, who) = text.split_once('=').ok_or("expected SPAN=WHO, such as 30m=ada")?;
    let after = seconds(after)?;
    let bad = |error: kernel::ids::BadId| format!("expected {}", error.expected);
    let seat = match who.strip_prefix('@') {
        None => Assignee::Person { human: who.parse().map_err(bad)? },
        Some("") => Assignee::Pool { group: None },
        Some(group) => Assignee::Pool { group: Some(group.parse().map_err(bad)?) },
    };
    Ok(EscalationStep { after, assignee: seat })
}
