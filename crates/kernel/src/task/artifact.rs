//! Artifacts: deliverables with versions that never change.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Task;
use crate::actor::Actor;
use crate::audit::{Digest, Head};
use crate::directory::Directory;
use crate::ids::{ArtifactId, ProjectId, TaskId};
use crate::time::Time;

/// How many of the tasks that use a version are checked to decide whether an actor may read it,
/// newest first. This bounds the cost for widely used versions.
const MAX_CHECKED_TASKS: usize = 64;

/// A deliverable with all its versions. It is an aggregate of its own: tasks of other projects may
/// use it where that was allowed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Artifact {
    /// The id of the artifact.
    pub id: ArtifactId,
    /// The end of its chain.
    pub head: Head,
    /// The project it belongs to.
    pub project: ProjectId,
    /// The type of artifact, as the agent names it.
    pub sort: String,
    /// The versions, oldest first.
    pub versions: Vec<Version>,
    /// The other projects whose tasks may refer to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared_with: Vec<ProjectId>,
    /// Whether the bytes of its versions were erased.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub erased: bool,
}

impl Artifact {
    /// The version with this name, or the newest.
    pub fn version(&self, name: Option<&str>) -> Option<&Version> {
        match name {
            Some(name) => self.versions.iter().find(|version| version.name == name),
            None => self.versions.last(),
        }
    }

    /// Whether tasks of a project may use it.
    pub fn is_usable_in(&self, project: &ProjectId) -> bool {
        self.project == *project || self.shared_with.contains(project)
    }

    /// Whether an actor may read all of it: they oversee a project whose tasks may use it.
    pub fn is_fully_visible_to(&self, actor: &Actor, directory: &Directory) -> bool {
        let mut projects = std::iter::once(&self.project).chain(&self.shared_with);
        projects.any(|project| directory.oversees(actor, project))
    }

    /// The tasks that must be loaded to decide what another actor may read of it.
    pub fn tasks(&self) -> BTreeSet<TaskId> {
        self.versions.iter().flat_map(Version::tasks).collect()
    }

    /// The versions an actor may read; `None` if there are none. Access is decided per version,
    /// because access to one task does not give access to the versions of another.
    #[must_use]
    pub fn visible_to(
        mut self,
        actor: &Actor,
        directory: &Directory,
        tasks: &BTreeMap<TaskId, Option<Task>>,
    ) -> Option<Self> {
        if !self.is_fully_visible_to(actor, directory) {
            self.versions.retain(|version| version.is_visible_to(actor, directory, tasks));
        }
        if self.versions.is_empty() { None } else { Some(self) }
    }
}

/// One version of an artifact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Version {
    /// The name of the version, such as `v2`.
    pub name: String,
    /// The version it is based on; absent for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The task that produced it.
    pub produced_by: TaskId,
    /// When it was delivered.
    pub produced_at: Time,
    /// The content of the version.
    pub payload: Payload,
    /// The tasks that use it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
}

impl Version {
    /// The tasks that give access to it: the one that produced it, and those that use it.
    pub(super) fn tasks(&self) -> impl Iterator<Item = TaskId> {
        let users = self.references.iter().rev().take(MAX_CHECKED_TASKS).map(|used| used.task);
        std::iter::once(self.produced_by).chain(users)
    }

    /// Whether an actor sees one of the tasks that give access to it.
    pub(super) fn is_visible_to(
        &self,
        actor: &Actor,
        directory: &Directory,
        tasks: &BTreeMap<TaskId, Option<Task>>,
    ) -> bool {
        let known = |id| tasks.get(&id).and_then(Option::as_ref);
        self.tasks().filter_map(known).any(|task| task.is_visible_to(actor, directory))
    }
}

/// The content of a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payload {
    /// The form of the content.
    pub kind: PayloadKind,
    /// The URI of the content; `None` if the server stores it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// The SHA-256 of its bytes.
    pub checksum: Digest,
    /// The number of bytes.
    pub size: u64,
    /// The media type, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// The hash of the list of pieces in which the server stores the bytes; `None` if it does not
    /// store them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Digest>,
}

impl Payload {
    /// The bytes, if the server stores them.
    pub fn bytes(&self) -> Option<StoredContent> {
        let (checksum, size) = (self.checksum, self.size);
        self.held.map(|manifest| StoredContent { checksum, size, manifest })
    }
}

/// Bytes the server stores. It has counted and hashed them itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredContent {
    /// The SHA-256 of the bytes.
    pub checksum: Digest,
    /// The number of bytes.
    pub size: u64,
    /// The hash of the list of pieces. The list contains the hash of each piece, so a reader of
    /// only some bytes can verify them.
    pub manifest: Digest,
}

/// The form of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PayloadKind {
    /// A set of changes.
    Diff,
    /// A sequence of bytes.
    Blob,
    /// A reference to content elsewhere.
    Ref,
    /// Text sent with the commit.
    Inline,
}

/// A task that uses a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// The task that uses the version.
    pub task: TaskId,
    /// How the task uses it.
    pub role: Role,
}

/// The role of a version in a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The task works with it.
    Input,
    /// The task produced it.
    Output,
}

/// A reference to one version, by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct VersionRef {
    /// The artifact it belongs to.
    pub id: ArtifactId,
    /// The name of the version.
    pub version: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::AskId;
    use crate::task::{Handover, Party, Role, TaskCommand};
    use crate::testing::{Cast, human, new_task, version};

    /// `bot` makes a version for one task, and `bob` continues with it for another: each reads the
    /// versions that their own tasks made or use; members of the project, and of one it was shared
    /// with, read all of them.
    #[test]
    fn a_version_is_read_by_whoever_sees_a_task_that_made_or_uses_it() {
        let mut cast = Cast::staffed();
        let id = cast.begun(new_task());
        let made = cast.delivered(id, version());
        let next = cast.assigned(new_task(), "bob");
        cast.run_task(cast.agent("bob"), TaskCommand::Start(next));
        let user = cast.assigned(new_task(), "old");
        let reads = |cast: &Cast, actor: &Actor| {
            let artifact = cast.artifact(made.id).clone();
            let tasks = artifact.tasks().into_iter().map(|id| (id, Some(cast.task(id).clone())));
            let shown = artifact.visible_to(actor, cast.directory(), &tasks.collect());
            let shown = shown.map_or_else(Vec::new, |artifact| artifact.versions);
            shown.into_iter().map(|version| version.name).collect::<Vec<_>>()
        };
        assert_eq!(reads(&cast, &cast.agent("bob")), [""; 0], "it has to do with neither task");

        cast.run_task(cast.human("olga"), TaskCommand::Reference(next, made.clone(), Role::Input));
        assert_eq!(reads(&cast, &cast.agent("bob")), ["v1"], "it was given it to work with");
        let more = crate::task::NewVersion { artifact: Some(made.id), ..version() };
        let made_next = cast.delivered(next, more);
        assert_eq!((made_next.id, made_next.version.as_str()), (made.id, "v2"));
        let out = Party::Human(human("mark"));
        cast.run_task(cast.human("olga"), TaskCommand::Transfer(user, out, Handover::Handoff));
        cast.run_task(cast.human("olga"), TaskCommand::Reference(user, made_next, Role::Input));
        for (actor, sees) in [
            (cast.agent("bot"), &["v1"][..]),
            (cast.agent("bob"), &["v1", "v2"]),
            (cast.agent("old"), &["v2"]),
            (cast.agent("spy"), &[]),
            (cast.widely("old"), &["v1", "v2"]),
            (cast.widely("spy"), &[]),
            (cast.human("mark"), &["v1", "v2"]),
            (cast.human("adam"), &["v1", "v2"]),
            (cast.human("zoe"), &[]),
            (Actor::link_holder(AskId::new(ulid::Ulid::from(7_u128))), &[]),
            (Actor::System, &["v1", "v2"]),
        ] {
            assert_eq!(reads(&cast, &actor), sees, "{actor:?}");
        }
        cast.run_task(cast.human("adam"), TaskCommand::Share(made.id, "rival".parse().unwrap()));
        assert_eq!(reads(&cast, &cast.human("zoe")), ["v1", "v2"]);
        assert_eq!(reads(&cast, &cast.widely("spy")), ["v1", "v2"]);
        assert_eq!(reads(&cast, &cast.agent("spy")), [""; 0], "until a task of its uses it");
    }
}
