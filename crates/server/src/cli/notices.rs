//! `countersign notifications`: your contact methods for notifications.

use anyhow::Context;
use clap::{Args, Subcommand};
use dialects::native::{
    CodeBody, ContactMethodView, NotificationSettingsBody, NotificationSettingsView,
};
use kernel::directory::{Contact, ContactMethod, DigestFrequency};
use kernel::text::reveal;
use reqwest::Method;
use serde_json::{Value, json};

use super::Exit;
use super::output::{report, say, table};
use super::remote::RemoteArgs;

const PATH: &str = "/api/v1/me/notices";
const CONTACTS: &str = "/api/v1/me/contacts";

#[derive(Args)]
pub(super) struct NoticesArgs {
    #[command(subcommand)]
    command: NoticesCommand,
}

#[derive(Subcommand)]
enum NoticesCommand {
    /// Show your contact methods, in the order in which they are tried
    Show {
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Change your notification settings: only those you name. An empty text clears one
    Set {
        /// A contact method to try first, such as devices or email:ada@example.com; repeat it in order
        #[arg(long, value_name = "METHOD")]
        order: Vec<String>,
        /// A contact method not to use; repeat it for several
        #[arg(long, value_name = "METHOD")]
        off: Vec<String>,
        /// When you are notified of requests that can wait: `off` for immediately, `hour`, or a time of
        /// day such as 08:30
        #[arg(long, value_name = "WHEN", value_parser = cadence)]
        digest: Option<DigestFrequency>,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Add an address; it is used once you have verified it
    Add {
        /// The address, such as email:ada@example.com or sms:+4930123456
        #[arg(value_name = "ADDRESS")]
        means: ContactMethod,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Verify an address: once to receive a code, then with the code
    Verify {
        /// The address, as listed
        #[arg(value_name = "ADDRESS")]
        means: ContactMethod,
        /// The code; without it, one is sent to the address
        code: Option<String>,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Remove an address
    Remove {
        /// The address, as listed
        #[arg(value_name = "ADDRESS")]
        means: ContactMethod,
        #[command(flatten)]
        remote: RemoteArgs,
    },
}

impl NoticesArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        match self.command {
            NoticesCommand::Show { remote } => {
                call_and_print(&remote, Method::GET, PATH, None::<&Value>).await
            }
            NoticesCommand::Set { order, off, digest, remote } => {
                let off = listed(&off)?.map(|off| off.into_iter().collect());
                let body = NotificationSettingsBody { order: listed(&order)?, off, digest };
                call_and_print(&remote, Method::PUT, PATH, Some(&body)).await
            }
            NoticesCommand::Add { means, remote } => {
                let address = means
                    .address()
                    .context("a device is added in its own browser, at /settings/devices")?;
                let contact = Contact::of_kind(means.kind(), address);
                call_and_print(&remote, Method::POST, CONTACTS, contact.as_ref()).await
            }
            NoticesCommand::Verify { means, code: None, remote } => {
                let path = format!("{CONTACTS}/{}/code", means.digest());
                let done = format!("A code is on its way to {means}. It is valid for ten minutes.");
                call_without_body(&remote, Method::POST, &path, json!({ "sent": means }), &done)
                    .await
            }
            NoticesCommand::Verify { means, code: Some(code), remote } => {
                let path = format!("{CONTACTS}/{}/verify", means.digest());
                call_and_print(&remote, Method::POST, &path, Some(&CodeBody { code })).await
            }
            NoticesCommand::Remove { means, remote } => {
                let path = format!("{CONTACTS}/{}", means.digest());
                let (gone, done) = (json!({ "removed": means }), "Removed.");
                call_without_body(&remote, Method::DELETE, &path, gone, done).await
            }
        }
    }
}

/// The given values, if any; an empty text stands for an empty list.
fn listed(given: &[String]) -> anyhow::Result<Option<Vec<ContactMethod>>> {
    if given.is_empty() {
        return Ok(None);
    }
    let named = given.iter().filter(|text| !text.is_empty());
    let means = named.map(|text| text.parse::<ContactMethod>().with_context(|| reveal(text)));
    means.collect::<anyhow::Result<_>>().map(Some)
}

fn cadence(text: &str) -> Result<DigestFrequency, String> {
    match text {
        "off" => Ok(DigestFrequency::Off),
        "hour" => Ok(DigestFrequency::Hour),
        time => match time.parse() {
            Ok(at) => Ok(DigestFrequency::Day { at }),
            Err(_) => Err("expected off, hour, or a time of day such as 08:30".to_owned()),
        },
    }
}

/// Calls the server and prints the resulting settings.
async fn call_and_print(
    remote: &RemoteArgs,
    method: Method,
    path: &str,
    body: Option<&impl serde::Serialize>,
) -> anyhow::Result<Exit> {
    let server = remote.human().await?;
    let view: NotificationSettingsView =
        server.client.call(method, path, body).await.map_err(server.with_advice())?;
    if remote.json {
        say!("{}", serde_json::to_string(&view)?);
        return Ok(Exit::Done);
    }
    let rows: Vec<_> = view.ways.iter().map(row).collect();
    table(&["CONTACT METHOD", "STATE"], &rows);
    match view.digest {
        DigestFrequency::Off => say!("Requests that can wait: notified immediately."),
        DigestFrequency::Hour => say!("Requests that can wait: one digest every hour."),
        DigestFrequency::Day { at } => {
            say!("Requests that can wait: one digest every day at {at}.");
        }
    }
    Ok(Exit::Done)
}

/// The first reason a contact method is not used, or that it is used.
fn row(way: &ContactMethodView) -> Vec<String> {
    let state = if !way.carried {
        "not set up on this server"
    } else if !way.verified {
        "not verified"
    } else if way.off {
        "off"
    } else {
        "used"
    };
    vec![reveal(&way.means.to_string()), state.to_owned()]
}

/// Calls an endpoint that returns no body.
async fn call_without_body(
    remote: &RemoteArgs,
    method: Method,
    path: &str,
    done: Value,
    words: &str,
) -> anyhow::Result<Exit> {
    let server = remote.human().await?;
    let _: Value = server.call(method, path).await?;
    report(remote.json, &done, words)?;
    Ok(Exit::Done)
}
