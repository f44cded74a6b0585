//! `countersign erase ID`, `countersign erase --person ID`

use std::io::IsTerminal;

use anyhow::bail;
use clap::Args;
use dialects::native::{Erased, PersonView};
use gateway::blobs::Blobs;
use gateway::erasure::Erasure;
use kernel::{ArtifactId, HumanId, TaskId};
use reqwest::Method;

use super::Exit;
use super::admin::{Admin, Place};
use super::inbox::prompt;
use super::output::{report, say};
use super::render::Detail;
use super::requests::{plain, print};

#[derive(Args)]
pub(super) struct Erase {
    /// What to erase, once it is over: a request (`ask_…`, `hxp_…`), a task (`task_…`) or an artifact
    /// (`art_…`)
    #[arg(required_unless_present = "person")]
    id: Option<String>,
    /// Erase this person instead: name, addresses, credentials, devices, and what they wrote
    #[arg(long, value_name = "ID", conflicts_with = "id")]
    person: Option<HumanId>,
    #[command(flatten)]
    sure: Sure,
    #[command(flatten)]
    place: Place,
}

/// Whether it was confirmed already.
#[derive(Args)]
pub(super) struct Sure {
    /// Do not ask for confirmation; needed where there is no terminal
    #[arg(long, short)]
    yes: bool,
}

impl Sure {
    /// Asks on the terminal, unless `--yes` was given. Fails without a terminal.
    fn confirmed(&self, what: &str) -> anyhow::Result<bool> {
        let sure = self.confirmed_to("Erasing", "erase", what)?;
        if !sure {
            say!("Nothing was erased.");
        }
        Ok(sure)
    }

    /// The same for another action that cannot be undone.
    pub(super) fn confirmed_to(&self, doing: &str, verb: &str, what: &str) -> anyhow::Result<bool> {
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

impl Erase {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        match (self.id, self.person) {
            (_, Some(person)) => erase_person(self.place, &person, &self.sure).await,
            (Some(id), None) if !self.sure.confirmed(&id)? => Ok(Exit::Denied),
            (Some(id), None) => erase(self.place, &id).await.map(|()| Exit::Done),
            (None, None) => bail!("name a request, a task, an artifact or a person to erase"),
        }
    }
}

async fn erase(place: Place, id: &str) -> anyhow::Result<()> {
    let (admin, json) = place.open().await?;
    let Admin::Remote(server) = admin else {
        bail!("only people are erased without a running server; start it and try again");
    };
    let kind = if id.parse::<TaskId>().is_ok() && id.starts_with(TaskId::PREFIX) {
        "tasks"
    } else if id.parse::<ArtifactId>().is_ok() && id.starts_with(ArtifactId::PREFIX) {
        "artifacts"
    } else {
        let id = plain(id);
        let path = format!("/api/v1/asks/{id}/erase");
        let ask: client::Ask = server.call(Method::POST, &path).await?;
        if json {
            print(&ask, true, Detail::Brief)?;
        } else {
            say!("The words of {id} are gone. That it was asked and how it ended stays on record.");
        }
        return Ok(());
    };
    let path = format!("/api/v1/{kind}/{id}/erase");
    let erased: Erased = server.call(Method::POST, &path).await?;
    if json {
        say!("{}", serde_json::to_string(&erased)?);
    } else if kind == "tasks" {
        say!("The text of {id} and of its {} requests was erased.", erased.requests.len());
    } else {
        say!("The bytes of {id} are being erased. Names, sizes and checksums stay on record.");
    }
    Ok(())
}

/// Erases a person, through a running server or on the data directory of a stopped one.
pub(super) async fn erase_person(place: Place, id: &HumanId, sure: &Sure) -> anyhow::Result<Exit> {
    if !sure.confirmed(&format!("the person {id}"))? {
        return Ok(Exit::Denied);
    }
    let (admin, json) = place.open().await?;
    let person = match &admin {
        Admin::Remote(server) => {
            let path = format!("/api/v1/people/{id}/erase");
            let person: PersonView = server.call(Method::POST, &path).await?;
            Some(person)
        }
        Admin::Offline(offline) => {
            let blobs = Blobs::new(offline.files.clone(), offline.gateway.clone());
            let erasure = Erasure::new(offline.gateway.clone(), blobs);
            erasure.erase_person(kernel::Actor::System, id).await?;
            offline.gateway.directory().human(id).map(PersonView::from)
        }
    };
    report(
        json,
        &person,
        &format!(
            "{id} was erased. What they wrote on requests and tasks is erased in the background \
             while the server runs."
        ),
    )?;
    Ok(Exit::Done)
}
