//! `countersign people`: the people who answer.

use std::collections::BTreeSet;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use dialects::native::{PersonBody, PersonPatch, PersonView, SignInLink};
use gateway::bootstrap;
use kernel::ids::GroupId;
use kernel::{Actor, AgentId, DirectoryCommand, HumanId, ProjectId};
use reqwest::Method;
use url::Url;

use super::admin_target::{AdminTarget, TargetArgs};
use super::directory_change::{TakenId, send};
use super::erase::{self, ConfirmArgs};
use super::output::{cell, report, report_object, say, table};
use super::{Exit, agents, projects};
use crate::config::Settings;

#[derive(Args)]
pub(super) struct PeopleArgs {
    #[command(subcommand)]
    command: PeopleCommand,
}

#[derive(Subcommand)]
enum PeopleCommand {
    /// List people; with --json also agents and projects
    List {
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Show a person
    Show {
        /// The person
        id: HumanId,
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Add a person; change an existing one with `people set`
    Add {
        /// The id of the new person
        id: HumanId,
        /// The name to display
        #[arg(long, default_value = "", hide_default_value = true)]
        name: String,
        /// The email address
        #[arg(long)]
        email: Option<String>,
        /// Make the person an administrator of the installation
        #[arg(long)]
        admin: bool,
        /// A project to add the person to; repeat it for several
        #[arg(long, value_name = "ID")]
        project: Vec<ProjectId>,
        /// A group to add the person to; repeat it for several
        #[arg(long, value_name = "ID")]
        group: Vec<GroupId>,
        /// A tag that the person is qualified for; repeat it for several
        #[arg(long, value_name = "TAG")]
        skill: Vec<String>,
        /// Add the person as inactive: they cannot sign in and receive no requests
        #[arg(long)]
        inactive: bool,
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Change a person: only the fields you name
    Set {
        /// The person
        id: HumanId,
        #[command(flatten)]
        change: Box<PersonChangeArgs>,
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Print a one-time sign-in link
    Link {
        /// The person
        id: HumanId,
        /// Without a running server: the public address of the server, for the link
        #[arg(long, env = "COUNTERSIGN_PUBLIC_URL", value_name = "URL")]
        public_url: Option<Url>,
        /// Without a running server: the address it listens on, for the port of the link
        #[arg(long, env = "COUNTERSIGN_LISTEN", value_name = "HOST:PORT")]
        listen: Option<String>,
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Revoke all access of a person: sessions, tokens, sign-in links, passkeys, channel identities
    EndAccess {
        /// The person
        id: HumanId,
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Erase a person (GDPR): name, addresses, credentials, devices, and the text they wrote
    #[command(alias = "remove")]
    Erase {
        /// The person
        id: HumanId,
        #[command(flatten)]
        sure: ConfirmArgs,
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Add an agent, or change its owner: now `agents add` and `agents set`
    #[command(hide = true)]
    AddAgent {
        /// The id of the agent
        id: AgentId,
        /// Its project
        #[arg(long, value_name = "ID")]
        project: ProjectId,
        /// The person who is responsible for it
        #[arg(long, value_name = "ID")]
        owner: HumanId,
        /// Whether people may start conversations with it; unchanged if absent
        #[arg(long, value_name = "BOOL")]
        conversations: Option<bool>,
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Add a project: now `projects add`
    #[command(hide = true)]
    AddProject {
        /// The id of the new project
        id: ProjectId,
        #[command(flatten)]
        place: TargetArgs,
    },
}

/// Which fields of a person to change.
#[derive(Args)]
#[group(required = true, multiple = true)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
struct PersonChangeArgs {
    /// The name to display
    #[arg(long, conflicts_with = "no_name")]
    name: Option<String>,
    /// Remove the name
    #[arg(long)]
    no_name: bool,
    /// The email address
    #[arg(long, conflicts_with = "no_email")]
    email: Option<String>,
    /// Remove the email address
    #[arg(long)]
    no_email: bool,
    /// Whether the person is an administrator: `--admin` or `--admin=false`
    #[arg(
        long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
        default_missing_value = "true"
    )]
    admin: Option<bool>,
    /// Whether the person can sign in and receive requests: `--active` or `--active=false`
    #[arg(
        long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
        default_missing_value = "true"
    )]
    active: Option<bool>,
    /// A project of the person, replacing the current ones; repeat it for several
    #[arg(long, value_name = "ID", conflicts_with = "no_projects")]
    project: Vec<ProjectId>,
    /// Remove the person from all projects
    #[arg(long)]
    no_projects: bool,
    /// A group of the person, replacing the current ones; repeat it for several
    #[arg(long, value_name = "ID", conflicts_with = "no_groups")]
    group: Vec<GroupId>,
    /// Remove the person from all groups
    #[arg(long)]
    no_groups: bool,
    /// A tag that the person is qualified for, replacing the current ones; repeat it for several
    #[arg(long, value_name = "TAG", conflicts_with = "no_skills")]
    skill: Vec<String>,
    /// Remove all tags
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
            PeopleCommand::Show { id, place } => show(place, &id).await?,
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
                    "the person {id} exists already, and nothing was changed; change them with \
                     `countersign people set {id}`"
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
                agents::add_or_change(place, id, project, owner, conversations).await?;
            }
            PeopleCommand::AddProject { id, place } => projects::add(place, id).await?,
            PeopleCommand::Link { id, public_url, listen, place } => {
                let settings = Settings { listen, public_url, ..Settings::default() };
                Box::pin(link(place, settings, id)).await?;
            }
        }
        Ok(Exit::Done)
    }
}

async fn list(place: TargetArgs) -> anyhow::Result<()> {
    let (admin, json) = place.open().await?;
    let people: Vec<PersonView> = match &admin {
        AdminTarget::Remote(server) => server.all("people").await?,
        AdminTarget::Offline(offline) => {
            offline.gateway.directory().humans().map(PersonView::from).collect()
        }
    };
    if json {
        // Scripts that were written for earlier versions read all three lists here.
        say!(
            "{}",
            serde_json::json!({
                "projects": projects::all(&admin).await?,
                "agents": agents::all(&admin).await?,
                "people": people,
            })
        );
        return Ok(());
    }
    let rows = people.iter().map(|person| {
        let shown = serde_json::to_value(person)?;
        Ok(COLUMNS.map(|(_, member)| cell(&shown[member])).to_vec())
    });
    let rows = rows.collect::<serde_json::Result<Vec<_>>>()?;
    table(&COLUMNS.map(|(name, _)| name), &rows);
    Ok(())
}

/// The columns of the list, and the members that they show.
const COLUMNS: [(&str, &str); 7] = [
    ("PERSON", "id"),
    ("NAME", "name"),
    ("EMAIL", "email"),
    ("ADMIN", "admin"),
    ("ACTIVE", "active"),
    ("PROJECTS", "projects"),
    ("GROUPS", "groups"),
];

async fn show(place: TargetArgs, id: &HumanId) -> anyhow::Result<()> {
    let (admin, json) = place.open().await?;
    let person: PersonView = match &admin {
        AdminTarget::Remote(server) => server.get(&format!("/api/v1/people/{id}")).await?,
        AdminTarget::Offline(offline) => {
            let directory = offline.gateway.directory();
            directory.human(id).map(PersonView::from).with_context(|| unknown(id))?
        }
    };
    report_object(json, &person)
}

fn unknown(id: &HumanId) -> String {
    format!("there is no person {id}; `countersign people list` shows all people")
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
                bail!("{}", unknown(&id));
            }
            let secret =
                bootstrap::create_sign_in_link(&offline.gateway, Actor::System, id).await?;
            let url = offline.config.links().sign_in(&secret)?;
            (SignInLink { url }, ", as soon as the server runs again")
        }
    };
    if json {
        say!("{}", serde_json::to_string(&link)?);
    } else {
        say!("{}", link.url);
        eprintln!("The link works once, within 24 hours{when}.");
    }
    Ok(())
}

async fn end_access(place: TargetArgs, id: &HumanId) -> anyhow::Result<()> {
    let (admin, json) = place.open().await?;
    let path = format!("/api/v1/people/{id}/access");
    admin.change(Method::DELETE, &path, DirectoryCommand::EndAccess(id.clone())).await?;
    let sentence = format!(
        "All access of {id} is revoked. `countersign people link {id}` creates a new sign-in link."
    );
    report(json, &serde_json::json!({ "access_ended": id }), &sentence)
}
