//! Where calls live while a person decides.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::hitl::Outcome;

/// A call that waits, or has waited, for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Its own name: letters, digits and dashes.
    pub id: String,
    /// Which continuation goes on with it.
    pub name: String,
    /// What that continuation needs to know.
    pub input: Value,
    /// Where it stands.
    pub stage: Stage,
}

/// Where a call stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub enum Stage {
    /// Its case is being made.
    Asking {
        /// The body that makes it.
        case: Value,
        /// Whether the agent can repeat the call and mean the same.
        repeatable: bool,
    },
    /// A person has it.
    Waiting {
        /// The case, without what would open it for anybody.
        case: Value,
    },
    /// A person decided; the continuation is to run, or runs.
    Decided {
        /// The case.
        case_id: String,
        /// What was decided.
        outcome: Outcome,
        /// How often the continuation was started.
        attempts: u32,
    },
    /// It is over.
    Finished(Finished),
}

/// A call that is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    /// The case.
    pub case_id: String,
    /// What was decided.
    pub outcome: Outcome,
    /// What the continuation gave, or why it could not.
    pub result: Result<Value, String>,
    /// When.
    pub at: Timestamp,
}

impl Call {
    /// The case it has, if there is one yet.
    pub fn case_id(&self) -> Option<&str> {
        match &self.stage {
            Stage::Asking { .. } => None,
            Stage::Waiting { case } => case.get("hitl")?.get("case_id")?.as_str(),
            Stage::Decided { case_id, .. } | Stage::Finished(Finished { case_id, .. }) => {
                Some(case_id)
            }
        }
    }
}

/// Where calls live. What `put` returned from must be there after the machine lost its power; two
/// services must not share one place. Called on threads that may block.
pub trait Pending: Send + Sync + 'static {
    /// Keeps a call, in place of what was kept under its id.
    fn put(&self, call: &Call) -> io::Result<()>;
    /// A call.
    fn get(&self, id: &str) -> io::Result<Option<Call>>;
    /// All of them.
    fn all(&self) -> io::Result<Vec<Call>>;
    /// Forgets a call; one that is not there is forgotten already.
    fn remove(&self, id: &str) -> io::Result<()>;
}

/// Calls in a folder, a file each, readable by the service's user alone.
#[derive(Debug, Clone)]
pub struct Files {
    folder: PathBuf,
}

impl Files {
    /// The folder, made if it is not there.
    pub fn open(folder: impl Into<PathBuf>) -> io::Result<Self> {
        let folder = folder.into();
        fs::create_dir_all(&folder)?;
        Ok(Self { folder })
    }

    fn path(&self, id: &str) -> io::Result<PathBuf> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if id.is_empty() || !id.bytes().all(plain) {
            let said = format!("{id:?} is not the id of a call");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, said));
        }
        Ok(self.folder.join(format!("{id}.json")))
    }
}

impl Pending for Files {
    fn put(&self, call: &Call) -> io::Result<()> {
        let path = self.path(&call.id)?;
        // Whole or not at all: written beside it, and then it takes its place.
        let beside = path.with_extension("new");
        let mut file = private(&beside)?;
        file.write_all(&serde_json::to_vec(call)?)?;
        file.sync_all()?;
        fs::rename(&beside, &path)?;
        // That it took its place is written down where folders can be asked for it.
        #[cfg(unix)]
        File::open(&self.folder)?.sync_all()?;
        Ok(())
    }

    fn get(&self, id: &str) -> io::Result<Option<Call>> {
        read(&self.path(id)?)
    }

    fn all(&self) -> io::Result<Vec<Call>> {
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

fn read(path: &Path) -> io::Result<Option<Call>> {
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

    fn call(id: &str) -> Call {
        let stage = Stage::Asking { case: json!({ "type": "approval" }), repeatable: true };
        Call { id: id.to_owned(), name: "refund".to_owned(), input: json!({ "n": 1 }), stage }
    }

    #[test]
    fn calls_are_there_when_the_folder_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::open(folder.path()).unwrap();
        files.put(&call("a-1")).unwrap();
        files.put(&call("a-2")).unwrap();
        let again = Files::open(folder.path()).unwrap();
        assert_eq!(again.get("a-1").unwrap(), Some(call("a-1")));
        assert_eq!(again.all().unwrap().len(), 2);
        again.remove("a-1").unwrap();
        again.remove("a-1").unwrap();
        assert_eq!(again.get("a-1").unwrap(), None);
    }

    #[test]
    fn what_was_half_written_is_no_call_and_what_is_broken_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::open(folder.path()).unwrap();
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
        Files::open(folder.path()).unwrap().put(&call("a")).unwrap();
        let mode = fs::metadata(folder.path().join("a.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
