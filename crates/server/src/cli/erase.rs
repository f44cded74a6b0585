//! `countersign erase ID`, `countersign erase --person ID`

use std::io::IsTerminal;

use anyhow::bail;
use clap::Args;
use dialects::native::{ErasureResult, PersonView};
use gateway::blobs::Blobs;
use gateway::data_eraser::DataEraser;
use kernel::{ArtifactId, HumanId, TaskId};
use reqwest::Method;

use super::Exit;
use super::admin_target::{AdminTarget, TargetArgs};
use super::inbox::prompt;
use super::output::{report, say};
use super::render::DetailLevel;
use super::requests::{native_id, print};

#[derive(Args)]
pub(super) struct EraseArgs {
    /// What to erase, once it is closed: a request (`ask_…`, `hxp_…`), a task (`task_…`) or an
    /// artifact (`art_…`)
    #[arg(required_unless_present = "person")]
    id: Option<String>,
    /// Erase this person: name, addresses, credentials, devices, and the text they wrote
    #[arg(long, value_name = "ID", conflicts_with = "id")]
    person: Option<HumanId>,
    #[command(flatten)]
    sure: ConfirmArgs,
    #[command(flatten)]
    place: TargetArgs,
}

/// Whether it was confirmed already.
#[derive(Args)]
pub(super) struct ConfirmArgs {
    /// Skip the confirmation; required without a terminal
    #[arg(long, short)]
    yes: bool,
}

impl ConfirmArgs {
    /// Asks on the terminal, unless `--yes` was given. Fails without a terminal.
    fn confirmed(&self, what: &str) -> anyhow::Result<bool> {
        let sure = self.confirm_action("Erasing", "erase", what)?;
        if !sure {
            say!("Nothing was erased.");
        }
        Ok(sure)
    }

    /// The same for another action that cannot be undone.
    pub(super) fn confirm_action(
        &self,
        doing: &str,
        verb: &str,
        what: &str,
    ) -> anyhow::Result<bool> {
        if self.yes {
            return Ok(true);
        }
        if !std::io::stdin().is_terminal() {
            bail!("{doing} {what} can't be undone: repeat the command with --yes");
        }
        let text = format!("{doing} {what} can't be undone. Type yes to {verb}: ");
        Ok(prompt(&text)?.is_some_and(|said| said.eq_ignore_ascii_case("yes")))
    }
}

impl EraseArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        match (self.id, self.person) {
            (_, Some(person)) => erase_person(self.place, &person, &self.sure).await,
            (Some(id), None) if !self.sure.confirmed(&id)? => Ok(Exit::Denied),
            (Some(id), None) => erase(self.place, &id).await.map(|()| Exit::Done),
            (None, None) => bail!("name a request, a task, an artifact or a person to erase"),
        }
    }
}

async fn erase(place: TargetArgs, id: &str) -> anyhow::Result<()> {
    let (admin, json) = place.open().await?;
    let AdminTarget::Remote(server) = admin else {
        bail!("without a running server only people can be erased; start it and try again");
    };
    let kind = if id.parse::<TaskId>().is_ok() && id.starts_with(TaskId::PREFIX) {
        "tasks"
    } else if id.parse::<ArtifactId>().is_ok() && id.starts_with(ArtifactId::PREFIX) {
        "artifacts"
    } else {
        let id = native_id(id);
        let path = format!("/api/v1/asks/{id}/erase");
        let ask: client::Ask = server.call(Method::POST, &path).await?;
        if json {
            print(&ask, true, DetailLevel::Brief)?;
        } else {
            say!(
                "The text of {id} was erased. The audit log still shows that it was asked and closed."
            );
        }
        return Ok(());
    };
    let path = format!("/api/v1/{kind}/{id}/erase");
    let erased: ErasureResult = server.call(Method::POST, &path).await?;
    if json {
        say!("{}", serde_json::to_string(&erased)?);
    } else if kind == "tasks" {
        say!("The text of {id} and of its {} requests was erased.", erased.requests.len());
    } else {
        say!(
            "The content of {id} is being erased. The audit log keeps names, sizes and checksums."
        );
    }
    Ok(())
}

/// Erases a person, through a running server or on the data directory of a stopped one.
pub(super) async fn erase_person(
    place: TargetArgs,
    id: &HumanId,
    sure: &ConfirmArgs,
) -> anyhow::Result<Exit> {
    if !sure.confirmed(&format!("the person {id}"))? {
        return Ok(Exit::Denied);
    }
    let (admin, json) = place.open().await?;
    let person = match &admin {
        AdminTarget::Remote(server) => {
            let path = format!("/api/v1/people/{id}/erase");
            let person: PersonView = server.call(Method::POST, &path).await?;
            Some(person)
        }
        AdminTarget::Offline(offline) => {
            let blobs = Blobs::new(offline.files.clone(), offline.gateway.clone());
            let erasure = DataEraser::new(offline.gateway.clone(), blobs);
            erasure.erase_person(kernel::Actor::System, id).await?;
            offline.gateway.directory().human(id).map(PersonView::from)
        }
    };
    report(
        json,
        &person,
        &format!(
            "{id} was erased. Their texts on requests and tasks are erased in the background \
             while the server runs."
        ),
    )?;
    Ok(Exit::Done)
}
