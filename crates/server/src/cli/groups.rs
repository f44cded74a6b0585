//! `countersign groups`: the members of groups.

use anyhow::Context;
use clap::{Args, Subcommand};
use dialects::native::{GroupBody, GroupView};
use kernel::ids::GroupId;
use kernel::{DirectoryCommand, HumanId};

use super::Exit;
use super::admin_target::{AdminTarget, TargetArgs};
use super::directory_change::save;
use super::output::{report_object, report_table};

#[derive(Args)]
pub(super) struct GroupsArgs {
    #[command(subcommand)]
    command: GroupsCommand,
}

#[derive(Subcommand)]
enum GroupsCommand {
    /// List groups and their members
    List {
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Show the members of a group
    Show {
        /// The group
        id: GroupId,
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Set the members of a group: exactly these. A group that does not exist is added
    #[command(alias = "add")]
    Set {
        /// The group
        id: GroupId,
        /// A member; repeat it for several. Without members the group is removed
        #[arg(long, value_name = "ID")]
        member: Vec<HumanId>,
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Remove a group; its members stay
    Remove {
        /// The group
        id: GroupId,
        #[command(flatten)]
        place: TargetArgs,
    },
}

impl GroupsArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        match self.command {
            GroupsCommand::List { place } => {
                let (admin, json) = place.open().await?;
                let groups = all(&admin).await?;
                report_table(json, &groups, &["GROUP", "MEMBERS"], row)?;
            }
            GroupsCommand::Show { id, place } => {
                let (admin, json) = place.open().await?;
                let group = all(&admin).await?.into_iter().find(|group| group.id == id);
                let group = group.with_context(|| {
                    format!("there is no group {id}; `countersign groups list` shows all groups")
                })?;
                report_object(json, &group)?;
            }
            GroupsCommand::Set { id, member, place } => set(place, id, member).await?,
            GroupsCommand::Remove { id, place } => set(place, id, Vec::new()).await?,
        }
        Ok(Exit::Done)
    }
}

async fn all(admin: &AdminTarget) -> anyhow::Result<Vec<GroupView>> {
    match admin {
        AdminTarget::Remote(server) => server.all("groups").await,
        AdminTarget::Offline(offline) => {
            let directory = offline.gateway.directory();
            let view = |id: &GroupId| GroupView {
                id: id.clone(),
                members: directory.members(id).map(|human| human.id.clone()).collect(),
            };
            Ok(directory.groups().map(view).collect())
        }
    }
}

/// Sets the members. A group without members does not exist.
async fn set(place: TargetArgs, id: GroupId, members: Vec<HumanId>) -> anyhow::Result<()> {
    let body = GroupBody { id: Some(id.clone()), members: members.into_iter().collect() };
    let path = format!("/api/v1/groups/{id}");
    let command = DirectoryCommand::SaveGroup(body.clone().named(id));
    save(place, &path, &body, command).await
}

fn row(group: &GroupView) -> Vec<String> {
    let members: Vec<&str> = group.members.iter().map(HumanId::as_str).collect();
    vec![group.id.to_string(), members.join(", ")]
}
