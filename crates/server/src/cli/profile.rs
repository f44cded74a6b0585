//! `countersign profile`: a person's profile and working hours.

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use dialects::native::{PersonView, ProfileBody};
use kernel::directory::{Absence, ProfileSettings, QuietHours, UNDO_SECONDS};
use kernel::text::reveal;
use kernel::{DirectoryCommand, HumanId, Time};
use reqwest::Method;

use super::Exit;
use super::admin_target::{AdminTarget, TargetArgs};
use super::output::say;

#[derive(Args)]
pub(super) struct ProfileArgs {
    #[command(subcommand)]
    command: ProfileCommand,
}

#[derive(Subcommand)]
enum ProfileCommand {
    /// Show a profile
    Show {
        #[command(flatten)]
        whose: ProfileOwnerArgs,
    },
    /// Change a profile: only the fields you name. An empty text clears one
    Set {
        /// The name to display
        #[arg(long)]
        name: Option<String>,
        /// A description: the person's job, or the subjects they decide on
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
        /// The time zone, such as Europe/Berlin
        #[arg(long, value_name = "ZONE")]
        time_zone: Option<String>,
        /// The preferred language, such as de-AT
        #[arg(long, value_name = "TAG")]
        language: Option<String>,
        /// Quiet hours without notifications, such as 22:00-07:00
        #[arg(long, value_name = "FROM-TO")]
        quiet_hours: Option<String>,
        /// For how many seconds an answer on a page can be undone, from 0 to 60; 0 turns it off
        #[arg(long, value_name = "SECONDS")]
        undo_seconds: Option<u64>,
        #[command(flatten)]
        whose: ProfileOwnerArgs,
    },
    /// Set out of office, with a delegate
    Away {
        /// When it begins, such as 2026-12-24T08:00:00Z [default: now]
        #[arg(long, value_name = "TIME")]
        from: Option<Time>,
        /// When it ends [default: with `profile back`]
        #[arg(long, value_name = "TIME")]
        until: Option<Time>,
        /// The person who is asked instead
        #[arg(long, value_name = "ID")]
        delegate: Option<HumanId>,
        #[command(flatten)]
        whose: ProfileOwnerArgs,
    },
    /// End out of office
    Back {
        #[command(flatten)]
        whose: ProfileOwnerArgs,
    },
}

#[derive(Args)]
struct ProfileOwnerArgs {
    /// The person, as an administrator [default: yourself]
    #[arg(long, value_name = "ID")]
    human: Option<HumanId>,
    #[command(flatten)]
    place: TargetArgs,
}

impl ProfileArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        match self.command {
            ProfileCommand::Show { whose } => whose.change(None, |_| ()).await?,
            ProfileCommand::Set {
                name,
                description,
                time_zone,
                language,
                quiet_hours,
                undo_seconds,
                whose,
            } => {
                let given = |text: String| Some(text).filter(|text| !text.is_empty());
                let quiet_hours =
                    quiet_hours.map(given).map(|text| text.as_deref().map(hours).transpose());
                let quiet_hours = quiet_hours.transpose()?;
                let change = |about: &mut ProfileSettings| {
                    let texts = [
                        (&mut about.description, description),
                        (&mut about.time_zone, time_zone),
                        (&mut about.language, language),
                    ];
                    for (old, new) in texts {
                        if let Some(new) = new {
                            *old = given(new);
                        }
                    }
                    if let Some(seconds) = undo_seconds {
                        about.undo_seconds = Some(seconds);
                    }
                    if let Some(hours) = quiet_hours {
                        about.quiet_hours = hours;
                    }
                };
                whose.change(name, change).await?;
            }
            ProfileCommand::Away { from, until, delegate, whose } => {
                let absence = Absence { from, until, delegate };
                whose.change(None, |about| about.absence = Some(absence)).await?;
            }
            ProfileCommand::Back { whose } => {
                whose.change(None, |about| about.absence = None).await?;
            }
        }
        Ok(Exit::Done)
    }
}

fn hours(text: &str) -> anyhow::Result<QuietHours> {
    let split = text.split_once('-');
    let hours = split.and_then(|(from, to)| {
        Some(QuietHours { from: from.trim().parse().ok()?, to: to.trim().parse().ok()? })
    });
    hours
        .with_context(|| format!("--quiet-hours: expected FROM-TO such as 22:00-07:00, not {text}"))
}

impl ProfileOwnerArgs {
    /// Reads the profile, changes it, saves it if it differs, and prints it.
    async fn change(
        self,
        name: Option<String>,
        change: impl FnOnce(&mut ProfileSettings),
    ) -> anyhow::Result<()> {
        let (admin, json) = self.place.open().await?;
        let human = admin.person_or_self(self.human).await?;
        let before = read(&admin, &human).await?;
        let mut about = before.about.clone().unwrap_or_default();
        change(&mut about);
        let changed = about != before.about.clone().unwrap_or_default();
        let body = ProfileBody { name, about: changed.then_some(about) };
        let shown = if body.name.is_some() || changed {
            write(&admin, &human, body).await?
        } else {
            before
        };
        if json {
            say!("{}", serde_json::to_string(&shown)?);
        } else {
            show(&shown);
        }
        Ok(())
    }
}

async fn read(admin: &AdminTarget, human: &HumanId) -> anyhow::Result<PersonView> {
    match admin {
        AdminTarget::Remote(server) => {
            let me: PersonView = server.get("/api/v1/me").await?;
            if me.id == *human {
                return Ok(me);
            }
            let path = format!("/api/v1/people/{human}");
            server.get(&path).await
        }
        AdminTarget::Offline(offline) => {
            let directory = offline.gateway.directory();
            let Some(human) = directory.human(human) else {
                bail!("there is no person {human}; `countersign people list` shows all people")
            };
            Ok(PersonView::from(human))
        }
    }
}

async fn write(
    admin: &AdminTarget,
    human: &HumanId,
    body: ProfileBody,
) -> anyhow::Result<PersonView> {
    match admin {
        AdminTarget::Remote(server) => {
            let path = format!("/api/v1/people/{human}/profile");
            server.send(Method::PUT, &path, &body).await
        }
        AdminTarget::Offline(offline) => {
            offline.run(DirectoryCommand::SaveProfile(body.of(human.clone()))).await?;
            read(admin, human).await
        }
    }
}

fn show(person: &PersonView) {
    let about = person.about.clone().unwrap_or_default();
    let quiet = about.quiet_hours.map(|hours| format!("{}-{}", hours.from, hours.to));
    let undo = about.undo_seconds.unwrap_or(UNDO_SECONDS);
    let undo = if undo == 0 { "off".to_owned() } else { format!("{undo} s") };
    let away = about.absence.map(|absence| {
        let part = |word: &str, value: Option<String>| {
            value.map(|value| format!(" {word} {value}")).unwrap_or_default()
        };
        let from = part("from", absence.from.map(|at| at.to_string()));
        let until = part("until", absence.until.map(|at| at.to_string()));
        let instead = part("delegate", absence.delegate.map(|id| id.to_string()));
        format!("yes{from}{until}{instead}")
    });
    let lines = [
        ("Person", Some(person.id.to_string())),
        ("Name", Some(person.name.clone())),
        ("Email", person.email.clone()),
        ("Description", about.description),
        ("Time zone", about.time_zone),
        ("Language", about.language),
        ("Quiet hours", quiet),
        ("Undo window", Some(undo)),
        ("Out of office", away),
    ];
    for (label, value) in lines {
        let value = value.filter(|value| !value.is_empty());
        say!("{label:<13} {}", value.map_or_else(|| "–".to_owned(), |value| reveal(&value)));
    }
}
