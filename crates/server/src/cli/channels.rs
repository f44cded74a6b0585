//! `countersign channels`: lists the configured channels, checks their credentials, and sends
//! a test message.

use std::sync::Arc;

use ::channels::{Channel, ChannelRegistry, OutboundMessage};
use anyhow::bail;
use clap::{Args, Subcommand};
use gateway::clock::OsClock;
use notify::channel_setup::{self, ChannelEnvironment};
use store::Clock;
use tokio_util::sync::CancellationToken;

use super::output::{Style, say, styled};
use super::{Exit, LocalArgs};
use crate::config::Config;
use views::message_card::MessageCard;

#[derive(Args)]
pub(super) struct ChannelsArgs {
    #[command(subcommand)]
    what: ChannelsCommand,
}

#[derive(Subcommand)]
enum ChannelsCommand {
    /// List the channels that are configured
    List(ChannelListArgs),
    /// Check a channel's credentials, and send a test message
    Test(ChannelTestArgs),
}

#[derive(Args)]
struct ChannelListArgs {
    #[command(flatten)]
    local: LocalArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct ChannelTestArgs {
    /// The channel: slack, email, sms, whatsapp, telegram, ntfy or webhook
    channel: String,
    /// The recipient of the test message: an id, a phone number, an email address or a topic
    /// [default: no message is sent]
    #[arg(long, value_name = "ADDRESS")]
    to: Option<String>,
    #[command(flatten)]
    local: LocalArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl ChannelsArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        match self.what {
            ChannelsCommand::List(list) => list.run(),
            ChannelsCommand::Test(test) => test.run().await,
        }
    }
}

impl ChannelListArgs {
    fn run(self) -> anyhow::Result<Exit> {
        let config = self.local.settings.complete(self.local.config.as_deref())?.check()?;
        let channels = open(&config)?;
        let names: Vec<&str> = channels.addressable().map(|channel| channel.name()).collect();
        if self.json {
            say!("{}", serde_json::json!({ "channels": names }));
        } else if names.is_empty() {
            say!(
                "No channel is configured: people see requests in the inbox and on their devices."
            );
        } else {
            for name in names {
                say!("{name}");
            }
        }
        Ok(Exit::Done)
    }
}

impl ChannelTestArgs {
    async fn run(self) -> anyhow::Result<Exit> {
        let Self { channel: name, to, local, json } = self;
        let config = local.settings.complete(local.config.as_deref())?.check()?;
        let channels = open(&config)?;
        let Some(channel) = channels.named(&name) else {
            let known: Vec<&str> = ChannelRegistry::names().collect();
            if known.contains(&name.as_str()) {
                bail!("the channel {name} is not configured; see docs/channels/README.md");
            }
            bail!("there is no channel {name}: expected one of {}", known.join(", "));
        };
        let (checked, sent) = match channel.check().await {
            Ok(found) => {
                let sent = match &to {
                    Some(to) => Some(send(&channel, to, &config).await),
                    None => None,
                };
                (Ok(found), sent)
            }
            Err(wrong) => (Err(wrong.to_string()), None),
        };
        let fine = checked.is_ok() && sent.as_ref().is_none_or(Result::is_ok);
        if json {
            let said = |result: &Result<String, String>| match result {
                Ok(text) => serde_json::json!({ "ok": true, "says": text }),
                Err(text) => serde_json::json!({ "ok": false, "says": text }),
            };
            let report = serde_json::json!({
                "channel": name,
                "check": said(&checked),
                "sent": sent.as_ref().map(said),
            });
            say!("{report}");
        } else {
            for (what, result) in [("settings", Some(&checked)), ("message", sent.as_ref())] {
                match result {
                    Some(Ok(text)) => styled(Style::Good, "ok", &format!("     {what}: {text}")),
                    Some(Err(text)) => styled(Style::Bad, "WRONG", &format!("  {what}: {text}")),
                    None if to.is_some() => say!("       {what}: not sent"),
                    None => say!("       {what}: not sent; name a recipient with --to"),
                }
            }
        }
        Ok(if fine { Exit::Done } else { Exit::Denied })
    }
}

/// Sends a test message.
async fn send(channel: &Arc<dyn Channel>, to: &str, config: &Config) -> Result<String, String> {
    let now = OsClock.now();
    let words = "This is a test. Requests that wait for you are announced here.".to_owned();
    let title = "Countersign can notify you here".to_owned();
    let message = channel.render(&MessageCard::plain(title, words, config.public_url.to_string()));
    let key = format!("test.{}", now.millis());
    match channel.deliver(OutboundMessage::new(to, &message, &key, now)).await {
        Ok(posted) => Ok(format!("sent, and known there as {}", posted.id)),
        Err(failed) => Err(failed.to_string()),
    }
}

/// The channels of these settings, as the server opens them. Nothing is answered here, so no reply
/// address has to be signed with the server's key.
pub(super) fn open(config: &Config) -> anyhow::Result<ChannelRegistry> {
    let clock: Arc<dyn Clock> = Arc::new(OsClock);
    let stop = CancellationToken::new();
    let around = ChannelEnvironment { clock: &clock, wall_clock: &clock, stop: &stop };
    channel_setup::open((*config.channels).clone(), &around)
}
