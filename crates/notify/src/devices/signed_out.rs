//! Removes devices as soon as their person is signed out or deactivated. A device that is missed
//! here is removed when the next notification would go there.

use std::collections::BTreeSet;
use std::sync::Arc;

use gateway::DATABASE_USER;
use kernel::directory::{CredentialKind, Directory};
use kernel::{HumanId, Subject};
use store::AnnouncedChange;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use super::DeviceRegistry;

/// Runs until shutdown.
pub async fn run(
    devices: DeviceRegistry,
    mut feed: Receiver<Arc<[AnnouncedChange]>>,
    stop: CancellationToken,
) {
    let gateway = &devices.gateway;
    loop {
        let news = tokio::select! {
            () = stop.cancelled() => return,
            news = feed.recv() => news,
        };
        match news {
            Ok(news) => {
                let directory = gateway.directory();
                let people: BTreeSet<HumanId> =
                    news.iter().filter_map(|news| affected_person(news, &directory)).collect();
                for human in people {
                    gateway.database().note(DATABASE_USER, &devices.devices_of(&human).await);
                }
            }
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
}

/// The person whose devices may have to be removed.
fn affected_person(news: &AnnouncedChange, directory: &Directory) -> Option<HumanId> {
    match &news.change.subject {
        Subject::Human(id) => Some(id.clone()),
        Subject::Key(id) => {
            let key = directory.key(*id).filter(|key| key.revoked_at.is_some())?;
            match &key.kind {
                CredentialKind::Session { human, .. } | CredentialKind::Token { human } => {
                    Some(human.clone())
                }
                CredentialKind::Agent { .. }
                | CredentialKind::Link { .. }
                | CredentialKind::Passkey { .. } => None,
            }
        }
        Subject::Project(_)
        | Subject::Agent(_)
        | Subject::Rule(_)
        | Subject::Webhook(_)
        | Subject::Ask(_)
        | Subject::Task(_)
        | Subject::Artifact(_)
        | Subject::Entry(_) => None,
    }
}
