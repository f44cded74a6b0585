//! The store of calls that wait for a person.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::hitl::Outcome;

/// A call that waits or waited for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PendingCall {
    /// The id: ASCII alphanumerics and dashes.
    pub id: String,
    /// The name of the continuation.
    pub name: String,
    /// The input of the continuation.
    pub input: Value,
    pub stage: CallStage,
}

/// The stage of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub enum CallStage {
    /// The case is being created.
    Asking {
        /// The body that creates the case.
        case: Value,
        /// Whether the agent can repeat the call under the same key.
        repeatable: bool,
    },
    /// A person decides.
    Waiting {
        /// The case, without the tokens to decide.
        case: Value,
    },
    /// A person decided; the continuation runs or has yet to run.
    Decided {
        case_id: String,
        outcome: Outcome,
        /// How often the continuation was started.
        attempts: u32,
    },
    /// The call is finished.
    Finished(FinishedCall),
}

/// A finished call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FinishedCall {
    pub case_id: String,
    pub outcome: Outcome,
    /// The result of the continuation, or its error.
    pub result: Result<Value, String>,
    pub at: Timestamp,
}

impl PendingCall {
    /// The id of its case, if it exists yet.
    pub fn case_id(&self) -> Option<&str> {
        match &self.stage {
            CallStage::Asking { .. } => None,
            CallStage::Waiting { case } => case.get("hitl")?.get("case_id")?.as_str(),
            CallStage::Decided { case_id, .. }
            | CallStage::Finished(FinishedCall { case_id, .. }) => Some(case_id),
        }
    }
}

/// A store of calls. When `put` returns, the call must survive a power failure. Two services must
/// not share a store. The methods are called on threads that may block.
pub trait CallStore: Send + Sync + 'static {
    /// Stores a call and replaces the previous one with this id.
    fn put(&self, call: &PendingCall) -> io::Result<()>;
    fn get(&self, id: &str) -> io::Result<Option<PendingCall>>;
    fn all(&self) -> io::Result<Vec<PendingCall>>;
    /// Removes a call; succeeds if it does not exist.
    fn remove(&self, id: &str) -> io::Result<()>;
}

/// Calls in a directory, one file each, readable only by the service's user.
#[derive(Debug, Clone)]
pub struct FileCallStore {
    folder: PathBuf,
}

impl FileCallStore {
    /// Opens the directory, and creates it if necessary.
    pub fn open(folder: impl Into<PathBuf>) -> io::Result<Self> {
        let folder = folder.into();
        fs::create_dir_all(&folder)?;
        Ok(Self { folder })
    }

    fn path(&self, id: &str) -> io::Result<PathBuf> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if id.is_empty() || !id.bytes().all(plain) {
            let said = format!("{id:?} is not the ID of a call");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, said));
        }
        Ok(self.folder.join(format!("{id}.json")))
    }
}

impl CallStore for FileCallStore {
    fn put(&self, call: &PendingCall) -> io::Result<()> {
        let path = self.path(&call.id)?;
        // Atomic: write a new file, then rename it over the old one.
        let beside = path.with_extension("new");
        let mut file = private(&beside)?;
        file.write_all(&serde_json::to_vec(call)?)?;
        file.sync_all()?;
        fs::rename(&beside, &path)?;
        // Sync the directory, so that the rename survives a power failure.
        #[cfg(unix)]
        File::open(&self.folder)?.sync_all()?;
        Ok(())
    }

    fn get(&self, id: &str) -> io::Result<Option<PendingCall>> {
        read(&self.path(id)?)
    }

    fn all(&self) -> io::Result<Vec<PendingCall>> {
        let mut calls = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|end| end == "json") {
                calls.extend(read(&path)?);
            }
        }
        Ok(calls)
    }

    fn remove(&self, id: &str) -> io::Result<()> {
        match fs::remove_file(self.path(id)?) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn read(path: &Path) -> io::Result<Option<PendingCall>> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| {
            let said = format!("{} is not a call: {error}", path.display());
            io::Error::new(io::ErrorKind::InvalidData, said)
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str) -> PendingCall {
        let stage = CallStage::Asking { case: json!({ "type": "approval" }), repeatable: true };
        PendingCall {
            id: id.to_owned(),
            name: "refund".to_owned(),
            input: json!({ "n": 1 }),
            stage,
        }
    }

    #[test]
    fn calls_are_there_when_the_folder_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let files = FileCallStore::open(folder.path()).unwrap();
        files.put(&call("a-1")).unwrap();
        files.put(&call("a-2")).unwrap();
        let again = FileCallStore::open(folder.path()).unwrap();
        assert_eq!(again.get("a-1").unwrap(), Some(call("a-1")));
        assert_eq!(again.all().unwrap().len(), 2);
        again.remove("a-1").unwrap();
        again.remove("a-1").unwrap();
        assert_eq!(again.get("a-1").unwrap(), None);
    }

    #[test]
    fn what_was_half_written_is_no_call_and_what_is_broken_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let files = FileCallStore::open(folder.path()).unwrap();
        fs::write(folder.path().join("a.new"), "{").unwrap();
        assert_eq!(files.all().unwrap(), []);
        fs::write(folder.path().join("b.json"), "{").unwrap();
        assert!(files.all().unwrap_err().to_string().contains("b.json is not a call"));
        assert!(files.put(&call("../x")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_reads_them() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        FileCallStore::open(folder.path()).unwrap().put(&call("a")).unwrap();
        let mode = fs::metadata(folder.path().join("a.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
