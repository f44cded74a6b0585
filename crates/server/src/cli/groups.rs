//! `countersign groups`: the members of groups.

use clap::{Args, Subcommand};
use dialects::native::{GroupBody, GroupView};
use kernel::ids::GroupId;
use kernel::{DirectoryCommand, HumanId};

use super::Exit;
use super::admin_target::{AdminTarget, TargetArgs};
use super::output::{say, table};
use super::people::save;

#[derive(Args)]
pub(super) struct GroupsArgs {
    #[command(subcommand)]
    command: GroupsCommand,
}

#[derive(Subcommand)]
enum GroupsCommand {
    /// List groups and who is in them
    List {
        #[command(flatten)]
        place: TargetArgs,
    },
    /// Say who is in a group: exactly these; with nobody in it, it is gone
    Set {
        /// Its name
        id: GroupId,
        /// Who is in it; give it several times
        #[arg(long, value_name = "ID")]
        member: Vec<HumanId>,
        #[command(flatten)]
        place: TargetArgs,
    },
}

impl GroupsArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        match self.command {
            GroupsCommand::List { place } => {
                let (admin, json) = place.open().await?;
                let groups: Vec<GroupView> = match &admin {
                    AdminTarget::Remote(server) => server.all("groups").await?,
                    AdminTarget::Offline(offline) => {
                        let directory = offline.gateway.directory();
                        let view = |id: &GroupId| GroupView {
                            id: id.clone(),
                            members: directory.members(id).map(|human| human.id.clone()).collect(),
                        };
                        directory.groups().map(view).collect()
                    }
                };
                if json {
                    say!("{}", serde_json::to_string(&groups)?);
                } else {
                    let names = |group: &GroupView| {
                        group.members.iter().map(HumanId::as_str).collect::<Vec<_>>().join(", ")
                    };
                    let row = |group: &GroupView| vec![group.id.to_string(), names(group)];
                    table(&["GROUP", "MEMBERS"], &groups.iter().map(row).collect::<Vec<_>>());
                }
            }
            GroupsCommand::Set { id, member, place } => {
                let members = member.into_iter().collect();
                let body = GroupBody { id: Some(id.clone()), members };
                let path = format!("/api/v1/groups/{id}");
                save(place, &path, &body.clone(), DirectoryCommand::SaveGroup(body.named(id)))
                    .await?;
            }
        }
        Ok(Exit::Done)
    }
}
