//! `countersign devices`: the devices that receive your push notifications. You add a device
//! in its browser.

use clap::{Args, Subcommand};
use dialects::native::{DeviceListView as Listed, DeviceTestResult, DeviceTestView, DeviceView};
use kernel::audit::Digest;
use reqwest::Method;
use serde_json::{Value, json};

use super::Exit;
use super::output::{report, say, table};
use super::remote::RemoteArgs;

const PATH: &str = "/api/v1/me/push";

#[derive(Args)]
pub(super) struct DevicesArgs {
    #[command(subcommand)]
    command: DevicesCommand,
}

#[derive(Subcommand)]
enum DevicesCommand {
    /// List your devices
    List {
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Send a test notification to a device
    Test {
        /// The id of the device, as `devices list` shows it
        id: Digest,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Remove a device: it receives no more notifications
    Remove {
        /// The id of the device, as `devices list` shows it
        id: Digest,
        #[command(flatten)]
        remote: RemoteArgs,
    },
}

impl DevicesArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        match self.command {
            DevicesCommand::List { remote } => list(&remote).await,
            DevicesCommand::Test { id, remote } => test(&remote, id).await,
            DevicesCommand::Remove { id, remote } => remove(&remote, id).await,
        }
    }
}

async fn list(remote: &RemoteArgs) -> anyhow::Result<Exit> {
    let server = remote.human().await?;
    let listed: Listed = server.get(PATH).await?;
    if remote.json {
        say!("{}", serde_json::to_string(&listed.devices)?);
        return Ok(Exit::Done);
    }
    let rows: Vec<_> = listed.devices.iter().map(row).collect();
    table(&["ID", "DEVICE", "SERVICE", "SINCE"], &rows);
    if listed.key.is_none() {
        say!("This server sends no push notifications: the setting push is off.");
    }
    Ok(Exit::Done)
}

fn row(device: &DeviceView) -> Vec<String> {
    let (label, service) = (device.label.clone(), device.service.clone());
    vec![device.id.to_string(), label, service, device.added_at.to_string()]
}

async fn test(remote: &RemoteArgs, id: Digest) -> anyhow::Result<Exit> {
    let server = remote.human().await?;
    let path = format!("{PATH}/{id}/test");
    let tried: DeviceTestView = server.call(Method::POST, &path).await?;
    let why = tried.error.as_deref().unwrap_or_default();
    if remote.json {
        say!("{}", serde_json::to_string(&tried)?);
    } else {
        match tried.result {
            DeviceTestResult::Taken => say!("Sent. The device shows it in a moment."),
            DeviceTestResult::Gone => {
                say!("The device no longer accepts notifications and was removed.");
            }
            DeviceTestResult::Later => say!("The push service does not accept it now: {why}."),
            DeviceTestResult::Refused => {
                say!(
                    "The push service refuses it: {why}. Turn notifications off and on again on the \
                     device."
                );
            }
        }
    }
    Ok(if tried.result == DeviceTestResult::Taken { Exit::Done } else { Exit::Denied })
}

async fn remove(remote: &RemoteArgs, id: Digest) -> anyhow::Result<Exit> {
    let server = remote.human().await?;
    let path = format!("{PATH}/{id}");
    let _: Value = server.call(Method::DELETE, &path).await?;
    report(remote.json, &json!({ "removed": id }), "Removed.")?;
    Ok(Exit::Done)
}
