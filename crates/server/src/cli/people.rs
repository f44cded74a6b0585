//! `countersign people`: people, agents and projects.

use std::collections::BTreeSet;

use anyhow::{anyhow, bail};
use clap::{Args, Subcommand};
use client::ClientError;
use dialects::native::{
    AgentBody, AgentView, PersonBody, PersonPatch, PersonView, ProjectView, SignInLink,
};
use gateway::bootstrap;
use kernel::directory::NewProject;
use kernel::ids::GroupId;
use kernel::text::reveal;
use kernel::{Actor, AgentId, Command, DirectoryCommand, HumanId, ProjectId, Refusal};
use reqwest::Method;
use serde::Serialize;
use serde_json::Value;
use store::StoreError;
use url::Url;

use super::admin_target::{AdminTarget, TargetArgs};
use super::erase::{self, ConfirmArgs};
use super::output::{report, say, table};
use super::{Exit, projects};
use crate::config::Settings;

#[derive(Args)]
pub(super) struct PeopleArgs {
    #[command(subcommand)]
    command: PeopleCommand,
}

#[derive(Subcommand)]
enum PeopleCommand {
    /// List people, agents and projects
    List {
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Add a person; a person who exists is changed with `people set`
    Add {
        /// Their name in the system
        id: HumanId,
        /// What to call them
        #[arg(long, default_value = "", hide_default_value = true)]
        name: String,
        /// Their address
        #[arg(long)]
        email: Option<String>,
        /// Let them administer the installation
        #[arg(long)]
        admin: bool,
        /// A project they are a member of; give it several times
        #[arg(long, value_name = "ID")]
        project: Vec<ProjectId>,
        /// A group they are in; give it several times
        #[arg(long, value_name = "ID")]
        group: Vec<GroupId>,
        /// A tag they are qualified for; give it several times
        #[arg(long, value_name = "TAG")]
        skill: Vec<String>,
        /// Do not let them sign in or be asked
        #[arg(long)]
        inactive: bool,
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Change a person: only the fields you name
    Set {
        /// Their id
        id: HumanId,
        #[command(flatten)]
        change: Box<PersonChangeArgs>,
        #[command(flatten)]
        place: TargetArgs,
    },
    /// End everything that lets a person in: sessions, tokens, sign-in links, passkeys, channel
    /// identities
    EndAccess {
        /// Who
        id: HumanId,
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Erase a person (GDPR): name, addresses, credentials, devices, and what they wrote
    Erase {
        /// Who
        id: HumanId,
        #[command(flatten)]
        sure: ConfirmArgs,
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Add an agent, or change its owner
    AddAgent {
        /// Its name
        id: AgentId,
        /// Its project
        #[arg(long, value_name = "ID")]
        project: ProjectId,
        /// The person who answers for it
        #[arg(long, value_name = "ID")]
        owner: HumanId,
        /// Whether people may write to it first; else it stays as it is
        #[arg(long, value_name = "BOOL")]
        conversations: Option<bool>,
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Add a project; the rules of one that exists are changed with `projects set`
    AddProject {
        /// Its name
        id: ProjectId,
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Print a one-time sign-in link
    Link {
        /// For whom
        id: HumanId,
        /// Without a running server: the address people reach it by; the link leads there
        #[arg(long, env = "COUNTERSIGN_PUBLIC_URL", value_name = "URL")]
        public_url: Option<Url>,
        /// Without a running server: the address it listens on, for the port of the link
        #[arg(long, env = "COUNTERSIGN_LISTEN", value_name = "HOST:PORT")]
        listen: Option<String>,
        #[command(flatten)]
        place: TargetArgs,
    },
}

/// Which fields of a person to change.
#[derive(Args)]
#[group(required = true, multiple = true)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
struct PersonChangeArgs {
    /// What to call them
    #[arg(long, conflicts_with = "no_name")]
    name: Option<String>,
    /// Remove the name
    #[arg(long)]
    no_name: bool,
    /// Their email address
    #[arg(long, conflicts_with = "no_email")]
    email: Option<String>,
    /// Remove the email address
    #[arg(long)]
    no_email: bool,
    /// Whether they may administer the installation: `--admin` or `--admin=false`
    #[arg(
        long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
        default_missing_value = "true"
    )]
    admin: Option<bool>,
    /// Whether they may sign in and be asked: `--active` or `--active=false`
    #[arg(
        long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
        default_missing_value = "true"
    )]
    active: Option<bool>,
    /// A project they are a member of, instead of those they are in now; repeat it for several
    #[arg(long, value_name = "ID", conflicts_with = "no_projects")]
    project: Vec<ProjectId>,
    /// Remove them from all projects
    #[arg(long)]
    no_projects: bool,
    /// A group they are in, instead of those they are in now; repeat it for several
    #[arg(long, value_name = "ID", conflicts_with = "no_groups")]
    group: Vec<GroupId>,
    /// Remove them from all groups
    #[arg(long)]
    no_groups: bool,
    /// A tag they are qualified for, instead of those they have now; repeat it for several
    #[arg(long, value_name = "TAG", conflicts_with = "no_skills")]
    skill: Vec<String>,
    /// Remove all tags they are qualified for
    #[arg(long)]
    no_skills: bool,
}

impl PersonChangeArgs {
    #[expect(clippy::option_option, reason = "absent, removed and given are three things")]
    fn patch(self) -> PersonPatch {
        fn list<T: Ord>(items: Vec<T>, none: bool) -> Option<Option<BTreeSet<T>>> {
            (none || !items.is_empty()).then(|| Some(items.into_iter().collect()))
        }
        fn text(value: Option<String>, none: bool) -> Option<Option<String>> {
            (none || value.is_some()).then_some(value)
        }
        PersonPatch {
            name: text(self.name, self.no_name),
            email: text(self.email, self.no_email),
            admin: self.admin,
            active: self.active,
            projects: list(self.project, self.no_projects),
            groups: list(self.group, self.no_groups),
            skills: list(self.skill, self.no_skills),
        }
    }
}

impl PeopleArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        match self.command {
            PeopleCommand::List { place } => list(place).await?,
            PeopleCommand::Add {
                id,
                name,
                email,
                admin,
                project,
                group,
                skill,
                inactive,
                place,
            } => {
                let body = PersonBody {
                    id: Some(id.clone()),
                    name,
                    email,
                    admin,
                    active: !inactive,
                    projects: project.into_iter().collect(),
                    groups: group.into_iter().collect(),
                    skills: skill.into_iter().collect(),
                    about: None,
                    contacts: None,
                };
                let message = format!(
                    "there is a person called {id} already, and nothing was changed; change them \
                     with `countersign people set {id}`"
                );
                let taken = Some(TakenId { what: "person", message });
                let command = DirectoryCommand::AddHuman(body.clone().named(id));
                send(place, Method::POST, "/api/v1/people", &body, command, taken).await?;
            }
            PeopleCommand::Set { id, change, place } => {
                let patch = change.patch();
                let path = format!("/api/v1/people/{id}");
                let command = DirectoryCommand::ChangeHuman(id, Box::new(patch.clone().into()));
                send(place, Method::PATCH, &path, &patch, command, None).await?;
            }
            PeopleCommand::EndAccess { id, place } => end_access(place, &id).await?,
            PeopleCommand::Erase { id, sure, place } => {
                return erase::erase_person(place, &id, &sure).await;
            }
            PeopleCommand::AddAgent { id, project, owner, conversations, place } => {
                let body = AgentBody { id: Some(id.clone()), project, owner, conversations };
                let path = format!("/api/v1/agents/{id}");
                save(place, &path, &body.clone(), DirectoryCommand::SaveAgent(body.named(id)))
                    .await?;
            }
            PeopleCommand::AddProject { id, place } => {
                let fresh = NewProject::fresh(id);
                let (id, body) = (fresh.id.clone(), projects::body(fresh.clone()));
                let message = format!(
                    "there is a project called {id} already, and nothing was changed; change its \
                     rules with `countersign projects set {id}`"
                );
                let taken = Some(TakenId { what: "project", message });
                let command = DirectoryCommand::AddProject(fresh);
                send(place, Method::POST, "/api/v1/projects", &body, command, taken).await?;
            }
            PeopleCommand::Link { id, public_url, listen, place } => {
                let settings = Settings { listen, public_url, ..Settings::default() };
                link(place, settings, id).await?;
            }
        }
        Ok(Exit::Done)
    }
}

pub(super) async fn save<B: Serialize>(
    place: TargetArgs,
    path: &str,
    body: &B,
    command: impl Into<Command>,
) -> anyhow::Result<()> {
    send(place, Method::PUT, path, body, command, None).await
}

/// The error for a new id that is taken.
struct TakenId {
    /// The kind of object that exists already.
    what: &'static str,
    /// The message for the operator.
    message: String,
}

impl TakenId {
    /// The refusal of this id. A taken email address is refused with another one.
    fn refusal(&self) -> Refusal {
        Refusal::Exists { what: self.what }
    }
}

async fn send<B: Serialize>(
    place: TargetArgs,
    method: Method,
    path: &str,
    body: &B,
    command: impl Into<Command>,
    taken: Option<TakenId>,
) -> anyhow::Result<()> {
    let (admin, json) = place.open().await?;
    match &admin {
        AdminTarget::Remote(server) => {
            let call = server.client.call(method, path, Some(body));
            let _: Value = call.await.map_err(|error| match (&error, &taken) {
                (ClientError::Refused { code, message, .. }, Some(taken))
                    if code == "exists" && message.contains(&taken.refusal().to_string()) =>
                {
                    anyhow!("{}", taken.message)
                }
                _ => server.with_advice()(error),
            })?;
        }
        AdminTarget::Offline(offline) => {
            let done = offline.gateway.run(Actor::System, command).await;
            done.map_err(|error| match (&error, &taken) {
                (StoreError::Refused(refusal), Some(taken)) if *refusal == taken.refusal() => {
                    anyhow!("{}", taken.message)
                }
                _ => error.into(),
            })?;
        }
    }
    report(json, body, "Saved.")
}

async fn list(place: TargetArgs) -> anyhow::Result<()> {
    let (admin, json) = place.open().await?;
    let shown = match &admin {
        AdminTarget::Remote(server) => {
            serde_json::json!({
                "projects": server.all::<ProjectView>("projects").await?,
                "agents": server.all::<AgentView>("agents").await?,
                "people": server.all::<PersonView>("people").await?,
            })
        }
        AdminTarget::Offline(offline) => {
            let directory = offline.gateway.directory();
            serde_json::json!({
                "projects": directory.projects().map(ProjectView::from).collect::<Vec<_>>(),
                "agents": directory.agents().map(AgentView::from).collect::<Vec<_>>(),
                "people": directory.humans().map(PersonView::from).collect::<Vec<_>>(),
            })
        }
    };
    if json {
        say!("{shown}");
        return Ok(());
    }
    let rows = |list: &str, columns: &[&str]| -> Vec<Vec<String>> {
        let all = shown.get(list).and_then(Value::as_array).into_iter().flatten();
        all.map(|one| columns.iter().map(|column| cell(one.get(column))).collect()).collect()
    };
    table(&["PROJECT"], &rows("projects", &["id"]));
    say!("");
    table(&["AGENT", "PROJECT", "OWNER"], &rows("agents", &["id", "project", "owner"]));
    say!("");
    let names = ["PERSON", "NAME", "EMAIL", "ADMIN", "ACTIVE", "PROJECTS", "GROUPS"];
    let columns = ["id", "name", "email", "admin", "active", "projects", "groups"];
    table(&names, &rows("people", &columns));
    Ok(())
}

/// A value for display.
fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => reveal(text),
        Some(Value::Bool(true)) => "yes".to_owned(),
        Some(Value::Bool(false)) => "no".to_owned(),
        Some(Value::Array(items)) => {
            items.iter().map(|item| cell(Some(item))).collect::<Vec<_>>().join(", ")
        }
        Some(other) => other.to_string(),
    }
}

async fn link(place: TargetArgs, settings: Settings, id: HumanId) -> anyhow::Result<()> {
    let (admin, json) = place.open_with(settings).await?;
    let (link, when) = match &admin {
        AdminTarget::Remote(server) => {
            let path = format!("/api/v1/people/{id}/link");
            let call = server.client.call(Method::POST, &path, None::<&()>);
            (call.await.map_err(server.with_advice())?, "")
        }
        AdminTarget::Offline(offline) => {
            if offline.gateway.directory().human(&id).is_none() {
                bail!("there is nobody called {id}; `countersign people list` shows who there is");
            }
            let secret =
                bootstrap::create_sign_in_link(&offline.gateway, Actor::System, id).await?;
            let url = offline.config.links().sign_in(&secret)?;
            (SignInLink { url }, ", when the server runs again")
        }
    };
    if json {
        say!("{}", serde_json::to_string(&link)?);
    } else {
        say!("{}", link.url);
        eprintln!("Works once, within 24 hours{when}.");
    }
    Ok(())
}

async fn end_access(place: TargetArgs, id: &HumanId) -> anyhow::Result<()> {
    let (admin, json) = place.open().await?;
    let path = format!("/api/v1/people/{id}/access");
    admin.change(Method::DELETE, &path, DirectoryCommand::EndAccess(id.clone())).await?;
    let sentence = format!(
        "Nothing lets {id} in any more. `countersign people link {id}` makes a new sign-in link."
    );
    report(json, &serde_json::json!({ "access_ended": id }), &sentence)
}
