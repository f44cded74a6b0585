//! Reader threads: each has its own connection, so a slow read does not block the writer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::{SqliteFailure, connect, search};
use crate::{Result, StoreError};

type ReadTask = Box<dyn FnOnce(&mut Connection) + Send>;

/// The handle to the threads. Dropping it finishes the queued work.
pub(super) struct Readers {
    queue: Option<Sender<ReadTask>>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    pub(super) fn start(path: &Path) -> Result<Self> {
        let unavailable = |error: std::io::Error| StoreError::Unavailable(error.into());
        let many = thread::available_parallelism().map_or(2, |cores| cores.get().clamp(2, 4));
        let (queue, tasks) = mpsc::channel();
        let tasks = Arc::new(Mutex::new(tasks));
        let mut readers = Self { queue: Some(queue), threads: Vec::with_capacity(many) };
        for n in 0..many {
            let mut conn = connect::reader(path)?;
            search::attach(&conn, path);
            let tasks = Arc::clone(&tasks);
            let thread = thread::Builder::new()
                .name(format!("store-reader-{n}"))
                .spawn(move || work(&mut conn, &tasks))
                .map_err(unavailable)?;
            readers.threads.push(thread);
        }
        Ok(readers)
    }

    /// Reads on the first free thread.
    pub(super) async fn run<T, F>(&self, read: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        self.run_mut(move |conn| read(conn)).await
    }

    /// The same with the connection to itself, for reads in one snapshot.
    pub(super) async fn run_mut<T, F>(&self, read: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut Connection) -> Result<T> + Send + 'static,
    {
        let closed = || StoreError::Unavailable(SqliteFailure::Closed.into());
        let (sender, answer) = oneshot::channel();
        let task: ReadTask = Box::new(move |conn| {
            // Skip the read if its caller has gone away.
            if !sender.is_closed() {
                let _ = sender.send(read(conn));
            }
        });
        let queue = self.queue.as_ref().ok_or_else(closed)?;
        queue.send(task).map_err(|_| closed())?;
        answer.await.map_err(|_| StoreError::Unavailable(SqliteFailure::Abandoned.into()))?
    }
}

fn work(conn: &mut Connection, tasks: &Mutex<Receiver<ReadTask>>) {
    loop {
        let task = tasks.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(task) = task else { return };
        if catch_unwind(AssertUnwindSafe(|| task(conn))).is_err() {
            tracing::error!("a database read panicked");
            // A snapshot that stays open would show old data to every later read of this thread.
            if !conn.is_autocommit()
                && let Err(error) = conn.execute_batch("ROLLBACK")
            {
                tracing::error!(%error, "a database reader could not end its snapshot");
            }
        }
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.queue = None;
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a database reader thread panicked");
            }
        }
    }
}
