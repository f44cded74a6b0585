//! What is delivered: versions that never change, in a chain under one name.

use serde::{Deserialize, Serialize};

use crate::audit::{Digest, Head};
use crate::ids::{ArtifactId, ProjectId, TaskId};
use crate::time::Time;

/// A deliverable with all its versions. An aggregate of its own: tasks of other projects may use it
/// where that was allowed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Artifact {
    /// Its name.
    pub id: ArtifactId,
    /// Where its chain ends.
    pub head: Head,
    /// The project it belongs to.
    pub project: ProjectId,
    /// What sort of thing it is, in the agent's words.
    pub sort: String,
    /// The versions, oldest first.
    pub versions: Vec<Version>,
    /// The other projects whose tasks may refer to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared_with: Vec<ProjectId>,
}

impl Artifact {
    /// One version, or the newest.
    pub fn version(&self, name: Option<&str>) -> Option<&Version> {
        match name {
            Some(name) => self.versions.iter().find(|version| version.name == name),
            None => self.versions.last(),
        }
    }
}

/// One version of an artifact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Version {
    /// What it is called, such as `v2`.
    pub name: String,
    /// The version it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The task that made it.
    pub produced_by: TaskId,
    /// When.
    pub produced_at: Time,
    /// What it is.
    pub payload: Payload,
    /// The tasks that use it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
}

/// What a version is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payload {
    /// In what form.
    pub kind: PayloadKind,
    /// Where it is; nothing where we hold it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// What its bytes hash to.
    pub checksum: Digest,
    /// How many they are.
    pub size: u64,
    /// What sort of bytes, if anybody said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// What the list of the pieces hashes to in which we hold them; nothing where we do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Digest>,
}

impl Payload {
    /// The bytes, if we hold them.
    pub fn bytes(&self) -> Option<Held> {
        let (checksum, size) = (self.checksum, self.size);
        self.held.map(|manifest| Held { checksum, size, manifest })
    }
}

/// Bytes we hold: counted and hashed here, not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// What they hash to.
    pub checksum: Digest,
    /// How many they are.
    pub size: u64,
    /// What the list of their pieces hashes to. It says what each piece hashes to, so every byte can
    /// be checked by whoever reads only some.
    pub manifest: Digest,
}

/// The form of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PayloadKind {
    /// Changes to something.
    Diff,
    /// Bytes.
    Blob,
    /// Something elsewhere.
    Ref,
    /// Words sent with the commit.
    Inline,
}

/// A task that uses a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// Which.
    pub task: TaskId,
    /// As what.
    pub role: Role,
}

/// What a version is to a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Something it works with.
    Input,
    /// Something it made.
    Output,
}

/// One version, by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct VersionRef {
    /// Of which artifact.
    pub id: ArtifactId,
    /// Which.
    pub version: String,
}
