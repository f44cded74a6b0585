//! `countersign notices`: your contact methods for notifications.

use anyhow::Context;
use clap::{Args, Subcommand};
use dialects::native::{CodeBody, NoticesBody, NoticesView, WayView};
use kernel::directory::{Cadence, Contact, Means};
use kernel::text::reveal;
use reqwest::Method;
use serde_json::{Value, json};

use super::Exit;
use super::output::{report, say, table};
use super::remote::Remote;

const PATH: &str = "/api/v1/me/notices";
const CONTACTS: &str = "/api/v1/me/contacts";

#[derive(Args)]
pub(super) struct Notices {
    #[command(subcommand)]
    command: NoticesCommand,
}

#[derive(Subcommand)]
enum NoticesCommand {
    /// Show by which means you are told, in the order in which they are tried
    Show {
        #[command(flatten)]
        remote: Remote,
    },
    /// Change what is given; an empty text takes a thing back
    Set {
        /// A means to try first, such as devices or email:ada@example.com; repeat it for an order
        #[arg(long, value_name = "MEANS")]
        order: Vec<String>,
        /// A means not to use; repeat it for more
        #[arg(long, value_name = "MEANS")]
        off: Vec<String>,
        /// How often you are told of what can wait: off for each at once, hour, or a time of day
        #[arg(long, value_name = "WHEN", value_parser = cadence)]
        digest: Option<Cadence>,
        #[command(flatten)]
        remote: Remote,
    },
    /// Add an address of yours; nothing goes there before you have verified it
    Add {
        /// The address, such as email:ada@example.com or sms:+4930123456
        means: Means,
        #[command(flatten)]
        remote: Remote,
    },
    /// Show that an address is yours: have a code sent there, then give it
    Verify {
        /// The address, as listed
        means: Means,
        /// The code that came there; without it, one is sent
        code: Option<String>,
        #[command(flatten)]
        remote: Remote,
    },
    /// Remove an address of yours
    Remove {
        /// The address, as listed
        means: Means,
        #[command(flatten)]
        remote: Remote,
    },
}

impl Notices {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        match self.command {
            NoticesCommand::Show { remote } => {
                told(&remote, Method::GET, PATH, None::<&Value>).await
            }
            NoticesCommand::Set { order, off, digest, remote } => {
                let off = listed(&off)?.map(|off| off.into_iter().collect());
                let body = NoticesBody { order: listed(&order)?, off, digest };
                told(&remote, Method::PUT, PATH, Some(&body)).await
            }
            NoticesCommand::Add { means, remote } => {
                let address = means.address().context("devices are added in their browsers")?;
                let contact = Contact::of_kind(means.kind(), address);
                told(&remote, Method::POST, CONTACTS, contact.as_ref()).await
            }
            NoticesCommand::Verify { means, code: None, remote } => {
                let path = format!("{CONTACTS}/{}/code", means.mark());
                let done = format!("A code is on its way to {means}. Give it within ten minutes.");
                act(&remote, Method::POST, &path, json!({ "sent": means }), &done).await
            }
            NoticesCommand::Verify { means, code: Some(code), remote } => {
                let path = format!("{CONTACTS}/{}/verify", means.mark());
                told(&remote, Method::POST, &path, Some(&CodeBody { code })).await
            }
            NoticesCommand::Remove { means, remote } => {
                let path = format!("{CONTACTS}/{}", means.mark());
                let (gone, done) = (json!({ "removed": means }), "Nothing goes there any more.");
                act(&remote, Method::DELETE, &path, gone, done).await
            }
        }
    }
}

/// The given values, if any; an empty text stands for an empty list.
fn listed(given: &[String]) -> anyhow::Result<Option<Vec<Means>>> {
    if given.is_empty() {
        return Ok(None);
    }
    let named = given.iter().filter(|text| !text.is_empty());
    let means = named.map(|text| text.parse::<Means>().with_context(|| reveal(text)));
    means.collect::<anyhow::Result<_>>().map(Some)
}

fn cadence(text: &str) -> Result<Cadence, String> {
    match text {
        "off" => Ok(Cadence::Off),
        "hour" => Ok(Cadence::Hour),
        time => match time.parse() {
            Ok(at) => Ok(Cadence::Day { at }),
            Err(_) => Err("expected off, hour, or a time of day such as 08:30".to_owned()),
        },
    }
}

/// Calls the server and prints the resulting settings.
async fn told(
    remote: &Remote,
    method: Method,
    path: &str,
    body: Option<&impl serde::Serialize>,
) -> anyhow::Result<Exit> {
    let server = remote.human()?;
    let view: NoticesView =
        server.client.call(method, path, body).await.map_err(server.because())?;
    if remote.json {
        say!("{}", serde_json::to_string(&view)?);
        return Ok(Exit::Done);
    }
    let rows: Vec<_> = view.ways.iter().map(row).collect();
    table(&["MEANS", "STATE"], &rows);
    match view.digest {
        Cadence::Off => say!("Of what can wait you are told at once."),
        Cadence::Hour => say!("Of what can wait you are told every hour."),
        Cadence::Day { at } => say!("Of what can wait you are told every day at {at}."),
    }
    Ok(Exit::Done)
}

/// The first reason a contact method is not used, or that it is used.
fn row(way: &WayView) -> Vec<String> {
    let state = if !way.carried {
        "this server cannot tell anybody so"
    } else if !way.verified {
        "to be verified"
    } else if way.off {
        "off"
    } else {
        "used"
    };
    vec![reveal(&way.means.to_string()), state.to_owned()]
}

/// Calls an endpoint that returns no body.
async fn act(
    remote: &Remote,
    method: Method,
    path: &str,
    done: Value,
    words: &str,
) -> anyhow::Result<Exit> {
    let server = remote.human()?;
    let _: Value = server.call(method, path).await?;
    report(remote.json, &done, words)?;
    Ok(Exit::Done)
}
