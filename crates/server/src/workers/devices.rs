//! A device is told as long as whoever added it is signed in there. Where somebody is signed out or can
//! no longer be asked, its address is forgotten at once; what is missed here is forgotten when it would
//! be told something.

use std::collections::BTreeSet;
use std::sync::Arc;

use gateway::REQUESTS;
use kernel::directory::{Directory, Holder};
use kernel::{HumanId, Subject};
use store::News;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use crate::http::Shared;

/// Runs until shutdown.
pub async fn run(app: Shared, mut feed: Receiver<Arc<[News]>>) {
    loop {
        let news = tokio::select! {
            () = app.stop.cancelled() => return,
            news = feed.recv() => news,
        };
        match news {
            Ok(news) => {
                let directory = app.gateway.directory();
                let people: BTreeSet<HumanId> =
                    news.iter().filter_map(|news| concerned(news, &directory)).collect();
                for human in people {
                    app.gateway.database().note(REQUESTS, &app.devices_of(&human).await);
                }
            }
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
}

/// Whose devices may be told no longer.
fn concerned(news: &News, directory: &Directory) -> Option<HumanId> {
    match &news.change.subject {
        Subject::Human(id) => Some(id.clone()),
        Subject::Key(id) => {
            let key = directory.key(*id).filter(|key| key.revoked_at.is_some())?;
            match &key.holder {
                Holder::Session { human, .. } | Holder::Token { human } => Some(human.clone()),
                Holder::Agent { .. } | Holder::Link { .. } | Holder::Passkey { .. } => None,
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
