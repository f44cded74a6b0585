//! `countersign people`: people, agents and projects.

use clap::{Args, Subcommand};
use dialects::native::{AgentBody, PersonBody, ProjectBody};
use kernel::directory::{NewAgent, NewHuman, NewProject, Profile};
use kernel::ids::GroupId;
use kernel::{Actor, AgentId, Command, HumanId, ProjectId};
use reqwest::Method;
use serde::Serialize;
use serde_json::Value;

use super::Exit;
use super::admin::{Admin, Place};
use super::remote::explain;
use crate::bootstrap;
use crate::serve::sign_in_url;

#[derive(Args)]
pub(super) struct People {
    #[command(subcommand)]
    command: PeopleCommand,
}

#[derive(Subcommand)]
enum PeopleCommand {
    /// List people, agents and projects
    List {
        #[command(flatten)]
        place: Place,
    },
    /// Add a person, or change them
    Add {
        /// Their name in the system
        id: HumanId,
        /// What to call them
        #[arg(long, default_value = "")]
        name: String,
        /// Their address
        #[arg(long)]
        email: Option<String>,
        /// Let them administer the installation
        #[arg(long)]
        admin: bool,
        /// A project they are a member of; give it several times
        #[arg(long)]
        project: Vec<ProjectId>,
        /// A group they are in; give it several times
        #[arg(long)]
        group: Vec<GroupId>,
        /// A tag they are qualified for; give it several times
        #[arg(long)]
        skill: Vec<String>,
        /// Do not let them sign in or be asked
        #[arg(long)]
        inactive: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Add an agent, or change its owner
    AddAgent {
        /// Its name
        id: AgentId,
        /// Its project
        #[arg(long)]
        project: ProjectId,
        /// The person who answers for it
        #[arg(long)]
        owner: HumanId,
        #[command(flatten)]
        place: Place,
    },
    /// Add a project
    AddProject {
        /// Its name
        id: ProjectId,
        #[command(flatten)]
        place: Place,
    },
    /// Print a one-time sign-in link (on the data folder of a stopped server)
    Link {
        /// For whom
        id: HumanId,
        #[command(flatten)]
        place: Place,
    },
}

impl People {
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
                    id,
                    name,
                    email,
                    admin,
                    active: !inactive,
                    projects: project.into_iter().collect(),
                    groups: group.into_iter().collect(),
                    skills: skill.into_iter().collect(),
                };
                let PersonBody { id, name, email, admin, active, projects, groups, skills } =
                    body.clone();
                let profile = Profile { name, email };
                let new = NewHuman { id, profile, admin, active, projects, groups, skills };
                save(place, "/api/v1/people", &body, Command::SaveHuman(new)).await?;
            }
            PeopleCommand::AddAgent { id, project, owner, place } => {
                let body = AgentBody { id, project, owner };
                let AgentBody { id, project, owner } = body.clone();
                let new = NewAgent { id, project, owner };
                save(place, "/api/v1/agents", &body, Command::SaveAgent(new)).await?;
            }
            PeopleCommand::AddProject { id, place } => {
                let new = NewProject::plain(id);
                let body = ProjectBody {
                    id: new.id.clone(),
                    default_on_silence: new.default_on_silence,
                    floor: new.floor,
                    ladder: Vec::new(),
                };
                save(place, "/api/v1/projects", &body, Command::SaveProject(new)).await?;
            }
            PeopleCommand::Link { id, place } => match place.open()? {
                (Admin::Offline(offline), _) => {
                    let secret = bootstrap::link(&offline.gateway, Actor::System, id).await?;
                    println!("{}", sign_in_url(&offline.config, &secret)?);
                }
                (Admin::Remote(_), _) => anyhow::bail!(
                    "sign-in links are made on the data folder: stop the server and give --data, or \
                     have an administrator make a token for this person"
                ),
            },
        }
        Ok(Exit::Done)
    }
}

async fn save<B: Serialize>(
    place: Place,
    path: &str,
    body: &B,
    command: Command,
) -> anyhow::Result<()> {
    let (admin, json) = place.open()?;
    match &admin {
        Admin::Remote(client) => {
            let _: Value = client.call(Method::POST, path, Some(body)).await.map_err(explain)?;
        }
        Admin::Offline(offline) => offline.run(command).await?,
    }
    if json {
        println!("{}", serde_json::to_string(body)?);
    } else {
        println!("Saved.");
    }
    Ok(())
}

async fn list(place: Place) -> anyhow::Result<()> {
    let (admin, json) = place.open()?;
    let shown = match &admin {
        Admin::Remote(client) => {
            let mut shown = serde_json::Map::new();
            for what in ["projects", "agents", "people"] {
                let path = format!("/api/v1/{what}");
                let mut part: serde_json::Map<String, Value> =
                    client.call(Method::GET, &path, None::<&()>).await.map_err(explain)?;
                shown.append(&mut part);
            }
            Value::Object(shown)
        }
        Admin::Offline(offline) => {
            let directory = offline.gateway.directory();
            serde_json::json!({
                "projects": directory.projects().map(ProjectBody::from).collect::<Vec<_>>(),
                "agents": directory.agents().map(AgentBody::from).collect::<Vec<_>>(),
                "people": directory.humans().map(PersonBody::from).collect::<Vec<_>>(),
            })
        }
    };
    if json {
        println!("{shown}");
        return Ok(());
    }
    for (title, key) in [("Projects", "projects"), ("Agents", "agents"), ("People", "people")] {
        println!("{title}");
        for one in shown.get(key).and_then(Value::as_array).into_iter().flatten() {
            let id = one.get("id").and_then(Value::as_str).unwrap_or_default();
            let more: Vec<String> = ["project", "owner", "name", "email", "projects", "groups"]
                .into_iter()
                .filter_map(|key| Some((key, one.get(key)?)))
                .filter(|(_, value)| {
                    !value.is_null() && *value != "" && *value != &Value::Array(vec![])
                })
                .map(|(key, value)| format!("{key} {value}"))
                .collect();
            println!("  {id}  {}", more.join("  "));
        }
    }
    Ok(())
}
