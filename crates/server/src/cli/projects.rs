//! `countersign projects`: the rules of projects.

use anyhow::bail;
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
use super::output::{report, report_table};
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
    /// Add a project, or change what is given of its rules
    Set(Box<ProjectSetArgs>),
}

/// The changes to the rules of a project.
#[derive(Args)]
struct ProjectSetArgs {
    /// Its name
    id: ProjectId,
    /// Whether an agent may have a default taken when nobody answers
    #[arg(long, value_name = "BOOL")]
    default_on_silence: Option<bool>,
    /// How sure it must be who answers: `none`, `agent-attested`, `link`, `channel`, `session` or
    /// `passkey`
    #[arg(long, value_name = "ASSURANCE", value_parser = parse_name::<Assurance>)]
    floor: Option<Assurance>,
    /// When to remind, after the request: 30m, 2h, 1d; give it several times
    #[arg(long, value_name = "SPAN", value_parser = seconds, conflicts_with = "no_reminders")]
    reminder: Vec<u64>,
    /// Remind nobody, unless the agent says so
    #[arg(long)]
    no_reminders: bool,
    /// Whom to ask as well, and when: 30m=ada, 1h=@legal for a group, 2h=@ for anybody in the
    /// project; give it several times, in order
    #[arg(long, value_name = "SPAN=WHO", value_parser = step, conflicts_with = "no_ladder")]
    step: Vec<EscalationStep>,
    /// Ask nobody else
    #[arg(long)]
    no_ladder: bool,
    /// How to take what agents say of their messages: `lenient` or `strict`
    #[arg(long, value_name = "MODE", value_parser = parse_name::<EnvelopePolicy>)]
    envelopes: Option<EnvelopePolicy>,
    /// How long words are kept once a request is over: 30d, 12h, `off` for ever, or `usual` for as
    /// long as the server says
    #[arg(long, value_name = "SPAN", value_parser = retention)]
    retention: Option<RetentionArg>,
    /// Whom agents may reach with a request: `any` address, or `project` for the people of the
    /// project, the agent's owner and --allow-recipient
    #[arg(long, value_name = "WHOM", value_parser = parse_name::<RecipientPolicy>)]
    recipients: Option<RecipientPolicy>,
    /// An address agents may use besides: slack:C0123ABC, email:ops@example.com, a mail domain as
    /// @example.com, or a whole kind as sms:*; give it several times
    #[arg(long, value_name = "ADDRESS", conflicts_with = "no_allowed_recipients")]
    allow_recipient: Vec<AllowedRecipient>,
    /// Allow no addresses besides
    #[arg(long)]
    no_allowed_recipients: bool,
    /// Quotas that differ from the server's: `agent.open_asks=100,project.uploads=0`; `usual` for
    /// none
    #[arg(long, value_name = "NAME=N", value_parser = quotas)]
    quotas: Option<Limits>,
    /// How sure it must be who approves a request that is irreversible or critical, if more than
    /// the floor: `link`, `channel`, `session` or `passkey`, or `none` for no such rule
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
                let projects: Vec<ProjectView> = match &admin {
                    AdminTarget::Remote(server) => server.all("projects").await?,
                    AdminTarget::Offline(offline) => {
                        offline.gateway.directory().projects().map(ProjectView::from).collect()
                    }
                };
                report_table(
                    json,
                    &projects,
                    &[
                        "PROJECT",
                        "DEFAULT ON SILENCE",
                        "FLOOR",
                        "REMINDERS",
                        "LADDER",
                        "ENVELOPES",
                        "RETENTION",
                        "RECIPIENTS",
                        "QUOTAS",
                        "IRREVERSIBLE",
                    ],
                    row,
                )?;
            }
            ProjectsCommand::Set(given) => set(*given).await?,
        }
        Ok(Exit::Done)
    }
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

/// The existing project, if any.
async fn known(admin: &AdminTarget, id: &ProjectId) -> anyhow::Result<Option<NewProject>> {
    let view = match admin {
        AdminTarget::Remote(server) => {
            let path = format!("/api/v1/projects/{id}");
            match server.client.call(Method::GET, &path, None::<&()>).await {
                Ok(view) => Some(view),
                Err(client::ClientError::Refused { status: 404, .. }) => None,
                Err(error) => bail!(server.with_advice()(error)),
            }
        }
        AdminTarget::Offline(offline) => {
            offline.gateway.directory().project(id).map(ProjectView::from)
        }
    };
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
    if text == "usual" {
        return Ok(Limits::default());
    }
    text.parse().map_err(|error: kernel::quota::BadLimit| error.to_string())
}

fn retention(text: &str) -> Result<RetentionArg, String> {
    if text == "usual" {
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
