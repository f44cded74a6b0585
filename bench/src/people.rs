//! Fills a directory before a measurement, through the kernel and the store itself.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command as Process;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::ensure;
use gateway::Gateway;
use gateway::bootstrap;
use gateway::clock::OsClock;
use gateway::installation::Installation;
use kernel::directory::{NewHuman, Profile, ProfileSettings};
use kernel::{Actor, DirectoryCommand, ProjectId};
use tokio::task::JoinSet;

use crate::gateway::settings;

/// The number of concurrent people: two full commits.
const AT_ONCE: usize = 512;
/// Words of which each belongs to one person in eight.
const COMMON: [&str; 8] =
    ["refunds", "invoices", "contracts", "shipping", "security", "payroll", "hiring", "travel"];
/// Given and family names. Each full name belongs to several people.
const GIVEN: [&str; 10] =
    ["Ada", "Grace", "Alan", "Edsger", "Barbara", "Donald", "Radia", "Tony", "Frances", "Ken"];
const FAMILY: [&str; 7] = ["Lovelace", "Hopper", "Turing", "Liskov", "Knuth", "Hoare", "Allen"];
/// A word that only one person has.
pub(crate) const RARE: &str = "zanzibar";

/// Fills the directory of a gateway that is not running with this many people of its project.
pub(crate) fn fill(folder: &Path, people: usize) -> anyhow::Result<()> {
    let filled = Process::new(std::env::current_exe()?)
        .arg("fill-people")
        .arg(folder)
        .arg(people.to_string())
        .status()?;
    ensure!(filled.success(), "the directory could not be filled");
    Ok(())
}

/// The work of the filling process.
pub(crate) async fn run(folder: &Path, people: usize) -> anyhow::Result<()> {
    let home =
        Installation::open(&settings(folder).check()?.location, Arc::new(OsClock), true).await?;
    let gateway = Gateway::new(home.store, home.clock);
    bootstrap::create_dev_directory(&gateway).await?;
    let left = Arc::new(AtomicUsize::new(people));
    let mut adding = JoinSet::new();
    for _ in 0..AT_ONCE {
        let (gateway, left) = (gateway.clone(), Arc::clone(&left));
        adding.spawn(async move {
            let take = |left: usize| left.checked_sub(1);
            while let Ok(n) = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
                gateway.run(Actor::System, DirectoryCommand::SaveHuman(person(n)?)).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(added) = adding.join_next().await {
        added??;
    }
    Ok(())
}

/// The person with this number. Each has unique words, words that some share, and words
/// that all share.
fn person(n: usize) -> anyhow::Result<NewHuman> {
    let of =
        |list: &[&'static str], n: usize| list.get(n % list.len()).copied().unwrap_or_default();
    let knows = if n == 1 { RARE } else { of(&COMMON, n) };
    let name = format!("{} {} the {n}th", of(&GIVEN, n / 8), of(&FAMILY, n / 80));
    let words = format!("Knows about {knows} and region{} in office{}", n / 10 % 100, n / 1_000);
    let about = ProfileSettings { description: Some(words), ..ProfileSettings::default() };
    let dev: ProjectId = "dev".parse()?;
    let (groups, skills) = Default::default();
    Ok(NewHuman {
        id: format!("person_{n:06}").parse()?,
        profile: Profile { name, about: Some(about), ..Profile::default() },
        admin: false,
        active: true,
        projects: BTreeSet::from([dev]),
        groups,
        skills,
    })
}
