//! The commit order, and how nodes announce commits.
//!
//! A transaction writes its events to `pending`. After the commit, one session at a time moves them
//! to `feed` and gives them positions. So positions have no gaps, a reader never skips a late
//! commit, and no transaction waits for another to get a position. The numbering session notifies
//! the other nodes with one `NOTIFY`, outside the transactions that write: inside one it would take
//! a lock on the whole database.

use std::fmt::Write;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Client;
use futures_util::try_join;
use kernel::Subject;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_postgres::AsyncMessage;

use super::connect::{DedicatedConnection, PostgresPool, on};
use super::failure::PostgresFailure;
use super::{Published, record};
use crate::Result;
use crate::outage::Outage;

/// The channel for `NOTIFY` between nodes.
const CHANNEL: &str = "countersign";
/// Held while positions are assigned.
const LOCK: i64 = 0x636f_756e_7465_7273;
/// Transactions whose events get their positions in one statement.
const MAX_NUMBERED: i64 = 64;
/// Changes read at once.
const PAGE: usize = 500;
/// Changes within this time after the last round are announced together: a round costs a commit and
/// a message to every node.
const MIN_INTERVAL: Duration = Duration::from_millis(4);
/// How long a node waits for a notification before it queries anyway.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Assigns positions to all committed events, and notifies the other nodes.
pub(super) async fn number(client: &Client) -> Result<(), PostgresFailure> {
    let some = "SELECT EXISTS (SELECT FROM pending ORDER BY n LIMIT 1)";
    let some = client.prepare_cached(some).await?;
    let lock = client.prepare_cached("SELECT pg_advisory_xact_lock($1)").await?;
    // A separate statement: it sees the changes of the session that held the lock before.
    let number = "WITH taken AS (
            DELETE FROM pending
            WHERE n = ANY (ARRAY (SELECT n FROM pending ORDER BY n LIMIT $1))
            RETURNING n, subjects, seqs, agents, lists, projects
        ), last AS (
            SELECT coalesce(max(position), 0) AS position FROM feed
        ), numbered AS (
            INSERT INTO feed (position, subject, seq, agent, lists, project)
            SELECT last.position + row_number() OVER (ORDER BY n, place), subject, seq, agent, told,
                project
            FROM last, taken, unnest(subjects, seqs, agents, lists, projects)
                WITH ORDINALITY AS event (subject, seq, agent, told, project, place)
        )
        SELECT count(*), (SELECT pg_notify($2, '')::text FROM taken LIMIT 1) FROM taken";
    let number = client.prepare_cached(number).await?;
    while client.query_one(&some, &[]).await?.try_get::<_, bool>(0)? {
        // Pipelined: if one statement fails, the following ones fail too.
        let ((), _, numbered, ()) = try_join!(
            client.batch_execute("BEGIN"),
            client.query_one(&lock, &[&LOCK]),
            client.query_one(&number, &[&MAX_NUMBERED, &CHANNEL]),
            client.batch_execute("COMMIT"),
        )?;
        if numbered.try_get::<_, i64>(0)? < MAX_NUMBERED {
            break;
        }
    }
    Ok(())
}

/// Announces the commits of all nodes to the subscribers of this node.
pub(super) struct Announcer {
    pub(super) database: PostgresPool,
    pub(super) published: Arc<Published>,
    /// Notified when this node commits or any node assigns positions.
    pub(super) news: Arc<Notify>,
    /// The last announced position.
    pub(super) announced: u64,
}

impl Announcer {
    pub(super) async fn run(mut self) {
        let outage = Outage::new("database feed");
        loop {
            // Continue after the timeout too: the notification connection may be down.
            let _ = tokio::time::timeout(POLL_INTERVAL, self.news.notified()).await;
            let again = Instant::now() + MIN_INTERVAL;
            match self.announce_new().await {
                Ok(()) => outage.worked("feed"),
                Err(error) => {
                    outage.failed("feed", &with_causes(&error));
                    tokio::time::sleep(POLL_INTERVAL).await;
                }
            }
            tokio::time::sleep_until(again).await;
        }
    }

    async fn announce_new(&mut self) -> Result<(), PostgresFailure> {
        loop {
            let page = on!(self.database, client => async {
                self.published.clock.read(client).await?;
                number(client).await?;
                let page = record::news(client, self.announced, PAGE).await?;
                if page.news.iter().any(|news| is_of_directory(&news.change.subject)) {
                    self.published.refresh(&*client).await?;
                }
                Ok(page)
            })?;
            let Some(end) = page.end else { return Ok(()) };
            self.announced = end;
            self.published.subscribers.announce(page.news);
            if page.is_last {
                return Ok(());
            }
        }
    }
}

fn is_of_directory(subject: &Subject) -> bool {
    match subject {
        Subject::Ask(_) | Subject::Task(_) | Subject::Artifact(_) | Subject::Entry(_) => false,
        Subject::Project(_)
        | Subject::Agent(_)
        | Subject::Human(_)
        | Subject::Key(_)
        | Subject::Rule(_)
        | Subject::Webhook(_) => true,
    }
}

/// Signals `news` on every notification from a node, over a separate connection.
pub(super) async fn listen(database: PostgresPool, news: Arc<Notify>) {
    let outage = Outage::new("database notifications");
    loop {
        let ended = match database.connect_dedicated().await {
            Ok(link) => listen_until_closed(link, &news, &outage).await,
            Err(failure) => failure,
        };
        outage.failed("listener", &with_causes(&ended));
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Listens until the connection ends. Returns why it ended.
async fn listen_until_closed(
    (client, mut connection): DedicatedConnection,
    news: &Notify,
    outage: &Outage,
) -> PostgresFailure {
    let listen = format!("LISTEN {CHANNEL}");
    let mut listening = pin!(client.batch_execute(&listen));
    let mut began = false;
    loop {
        tokio::select! {
            message = poll_fn(|context| connection.poll_message(context)) => match message {
                Some(Ok(AsyncMessage::Notification(_))) => news.notify_one(),
                Some(Ok(_)) => {}
                Some(Err(error)) => return error.into(),
                None => return PostgresFailure::Closed,
            },
            done = &mut listening, if !began => match done {
                Ok(()) => {
                    began = true;
                    outage.worked("listener");
                    // A query finds the events that were announced before this.
                    news.notify_one();
                }
                Err(error) => return error.into(),
            },
        }
    }
}

/// An error with its causes.
fn with_causes(error: &PostgresFailure) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        let _ = write!(text, ": {next}");
        cause = next.source();
    }
    text
}
