//! The state of the audit log outside the database, in a file beside the keys: the newest block
//! that was sealed here, and the head of the feed. Otherwise an attacker who can write the database
//! could remove blocks, write another history, and have it sealed. And a damaged log could lose
//! acknowledged events that are in no block yet.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use kernel::Time;
use kernel::audit::Digest;
use serde::{Deserialize, Serialize};

use crate::vault::file::replace_file;

const FILE: &str = "sealed.json";

/// A block by number and hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedHead {
    pub n: u64,
    pub hash: Digest,
}

/// The newest event of the feed at some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedHead {
    pub position: u64,
    pub hash: Digest,
    /// The time of the event.
    pub at: Time,
    /// The hash of the first event of the feed, which identifies the database.
    pub origin: Digest,
}

/// Acknowledged events that are missing, and whether the operator accepted that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostEvents {
    /// The first missing position.
    pub from: u64,
    /// The last missing position.
    pub to: u64,
    /// The time of the last event before them. Absent if the feed is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Time>,
    /// The time of the last missing event.
    pub until: Time,
    /// Whether there are other events at these positions now.
    #[serde(default, skip_serializing_if = "is_false")]
    pub replaced: bool,
    /// Whether an operator accepted the loss.
    #[serde(default, skip_serializing_if = "is_false")]
    pub accepted: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires it")]
fn is_false(value: &bool) -> bool {
    !value
}

impl std::fmt::Display for LostEvents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { from, to, after, until, replaced, .. } = self;
        if *replaced {
            return write!(
                f,
                "the event at position {to} of the feed, recorded at {until}, was replaced by \
                 another: events up to it were lost and their positions reused"
            );
        }
        let count = to.saturating_sub(*from) + 1;
        let events = if count == 1 { "event is" } else { "events are" };
        write!(f, "{count} acknowledged {events} missing: positions {from} to {to} of the feed, ")?;
        match after {
            Some(after) => write!(f, "recorded after {after} and until {until}"),
            None => write!(f, "recorded until {until}; the feed is empty"),
        }
    }
}

/// The content of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heads {
    /// The newest block that was sealed here.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<SealedHead>,
    /// The head of the feed, with a short delay. Files of earlier versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<FeedHead>,
    /// Events that were lost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<LostEvents>,
}

/// The file with the newest block and the head of the feed. Absent if no data outlives the process.
#[derive(Clone, Default)]
pub struct HeadFile {
    file: Option<Arc<LockedHeadFile>>,
}

struct LockedHeadFile {
    path: PathBuf,
    /// The sealer and the task that records the feed head change the same file.
    turn: Mutex<()>,
    /// Held if several processes may share a directory.
    _lock: Option<File>,
}

impl HeadFile {
    /// The file in a data directory.
    pub fn of(data: &Path) -> Self {
        Self::at(data, None)
    }

    fn at(data: &Path, lock: Option<File>) -> Self {
        let file = LockedHeadFile { path: data.join(FILE), turn: Mutex::new(()), _lock: lock };
        Self { file: Some(Arc::new(file)) }
    }

    /// The file of a node that shares its database, if the node has a data directory and no other
    /// node on this machine uses it. The directory is not created.
    pub fn of_node(data: &Path) -> Self {
        let lock = || -> std::io::Result<Option<File>> {
            if !data.is_dir() {
                return Ok(None);
            }
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(false).mode(0o600);
            let lock = options.open(data.join("sealed.lock"))?;
            Ok(lock.try_lock().is_ok().then_some(lock))
        };
        match lock() {
            Ok(Some(lock)) => Self::at(data, Some(lock)),
            Ok(None) => Self::none(),
            Err(error) => {
                let folder = data.display();
                tracing::info!(%folder, %error, "this node cannot write the feed head file");
                Self::none()
            }
        }
    }

    /// For a store that lives as long as its process.
    pub fn none() -> Self {
        Self::default()
    }

    /// Whether there is a file.
    pub fn is_present(&self) -> bool {
        self.file.is_some()
    }

    /// Reads the file.
    pub fn load(&self) -> anyhow::Result<Heads> {
        let Some(file) = &self.file else { return Ok(Heads::default()) };
        file.read()
    }

    /// Reads the newest sealed block.
    pub fn read(&self) -> anyhow::Result<Option<SealedHead>> {
        Ok(self.load()?.sealed)
    }

    /// Records a newer block.
    pub fn write(&self, sealed: SealedHead) -> anyhow::Result<()> {
        self.change(|marked| marked.sealed = Some(sealed))
    }

    /// Records a newer head of the feed.
    pub fn write_head(&self, head: FeedHead) -> anyhow::Result<()> {
        self.change(|marked| marked.head = Some(head))
    }

    /// Changes the file durably and atomically.
    pub fn change(&self, change: impl FnOnce(&mut Heads)) -> anyhow::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let _turn = file.turn.lock().unwrap_or_else(PoisonError::into_inner);
        // Read again each time, because an operator may have removed the file.
        let before = file.read()?;
        let mut marked = before.clone();
        change(&mut marked);
        if marked == before {
            return Ok(());
        }
        replace_file(&file.path, &serde_json::to_vec(&marked)?)
            .with_context(|| format!("cannot write {}", file.path.display()))
    }
}

impl LockedHeadFile {
    fn read(&self) -> anyhow::Result<Heads> {
        let path = self.path.display();
        let bytes = match std::fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Heads::default()),
            Err(error) => return Err(error).with_context(|| format!("cannot read {path}")),
        };
        let marked: Heads =
            serde_json::from_slice(&bytes).with_context(|| format!("{path} is damaged"))?;
        // An empty file is damaged. It does not allow a new start.
        let empty = marked.sealed.is_none() && marked.head.is_none() && marked.lost.is_empty();
        anyhow::ensure!(!empty, "{path} is damaged");
        Ok(marked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(position: u64) -> FeedHead {
        let (at, origin) = (Time::from_millis(1_770_372_000_000), Digest::of(&[1]));
        FeedHead { position, hash: Digest::of(&position.to_be_bytes()), at, origin }
    }

    #[test]
    fn it_reads_back_and_a_damaged_one_is_no_licence() {
        let folder = tempfile::tempdir().unwrap();
        let mark = HeadFile::of(folder.path());
        assert_eq!(mark.read().unwrap(), None);
        for n in [1, 2] {
            let sealed = SealedHead { n, hash: Digest::of(&[7]) };
            mark.write(sealed).unwrap();
            mark.write_head(head(n + 10)).unwrap();
            assert_eq!(mark.read().unwrap(), Some(sealed));
            assert_eq!(mark.load().unwrap().head, Some(head(n + 10)));
        }
        for damaged in ["{}", "{", "", r#"{"n":1}"#, r#"{"head":{"position":1}}"#] {
            std::fs::write(folder.path().join(FILE), damaged).unwrap();
            let said = mark.read().unwrap_err().to_string();
            assert!(said.contains("is damaged"), "{damaged}: {said}");
            assert!(mark.write_head(head(3)).is_err(), "{damaged}");
        }
        HeadFile::none().write(SealedHead { n: 1, hash: Digest::ZERO }).unwrap();
        assert_eq!(HeadFile::none().read().unwrap(), None);
    }

    /// Files of earlier versions have a block and no head. A new installation has a head first.
    #[test]
    fn block_and_head_are_kept_apart() {
        let folder = tempfile::tempdir().unwrap();
        let mark = HeadFile::of(folder.path());
        mark.write_head(head(3)).unwrap();
        assert_eq!(mark.load().unwrap(), Heads { head: Some(head(3)), ..Heads::default() });
        let old = format!(r#"{{"n":4,"hash":"{}"}}"#, Digest::of(&[7]));
        std::fs::write(folder.path().join(FILE), old).unwrap();
        let sealed = Some(SealedHead { n: 4, hash: Digest::of(&[7]) });
        assert_eq!(mark.load().unwrap(), Heads { sealed, ..Heads::default() });
    }

    #[test]
    fn two_nodes_do_not_share_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let first = HeadFile::of_node(folder.path());
        assert!(first.is_present() && !HeadFile::of_node(folder.path()).is_present());
        drop(first);
        assert!(HeadFile::of_node(folder.path()).is_present());
        assert!(!HeadFile::of_node(&folder.path().join("absent")).is_present());
        assert!(!folder.path().join("absent").exists());
    }

    #[test]
    fn a_loss_is_named() {
        let at = |seconds: i64| Time::from_millis(1_770_372_000_000 + seconds * 1000);
        let loss = LostEvents {
            from: 12,
            to: 14,
            after: Some(at(0)),
            until: at(9),
            replaced: false,
            accepted: false,
        };
        assert_eq!(
            loss.to_string(),
            format!(
                "3 acknowledged events are missing: positions 12 to 14 of the feed, recorded \
                 after {} and until {}",
                at(0),
                at(9)
            )
        );
    }
}
