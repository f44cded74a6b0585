//! Ledgers: the shared memory of a project, a team or the whole organisation. Values are only ever
//! added.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::actor::Actor;
use crate::audit::{Erasable, Head};
use crate::directory::{Directory, Human};
use crate::ids::{BadId, EntryId, TaskId};
use crate::time::Time;

/// One entry of a ledger. Its chain is its history; the last value written is the current one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The id of the entry.
    pub id: EntryId,
    /// The end of its chain; `head.seq` is the number of writes.
    pub head: Head,
    /// The scope of the ledger.
    pub scope: LedgerScope,
    /// The key of the entry.
    pub key: String,
    /// The current value.
    pub value: Erasable<Value>,
    /// The task that wrote it.
    pub by: TaskId,
    /// When it was last written.
    pub written_at: Time,
}

/// The scope of a ledger: `project:…`, `team:…` or `org:…`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LedgerScope(Box<str>);

impl LedgerScope {
    /// The scope as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The kind of the scope, and its name.
    pub fn parts(&self) -> (&str, &str) {
        self.0.split_once(':').unwrap_or((&self.0, ""))
    }

    /// Whether an actor may read the ledger. People read those of their projects and groups, and
    /// administrators all. An agent reads that of its own project, and those of its owner's groups;
    /// an owner who administers the installation gives an agent no more than that. Every active
    /// person and agent reads the ledger of the organisation.
    pub fn is_read_by(&self, actor: &Actor, directory: &Directory) -> bool {
        let (kind, name) = self.parts();
        let in_team = |human: &Human| human.groups.iter().any(|group| group.as_str() == name);
        match actor {
            Actor::Human { .. } => directory.person(actor).is_ok_and(|human| match kind {
                "project" => human.admin || human.projects.iter().any(|own| own.as_str() == name),
                "team" => human.admin || in_team(human),
                _ => true,
            }),
            Actor::Agent { id, project, .. } => match kind {
                "project" => project.as_str() == name,
                "team" => {
                    let owner = directory.agent(id).and_then(|agent| directory.human(&agent.owner));
                    owner.is_some_and(|human| human.active && in_team(human))
                }
                _ => true,
            },
            Actor::LinkHolder { .. } | Actor::Relay { .. } | Actor::Guest { .. } => false,
            Actor::System => true,
        }
    }
}

impl FromStr for LedgerScope {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let named = text.split_once(':').is_some_and(|(kind, name)| {
            let name = name.parse::<crate::ids::ProjectId>();
            matches!(kind, "project" | "team" | "org") && name.is_ok()
        });
        let expected = "project:, team: or org: followed by an ID";
        if named { Ok(Self(text.into())) } else { Err(BadId { expected }) }
    }
}

impl TryFrom<String> for LedgerScope {
    type Error = BadId;

    fn try_from(text: String) -> Result<Self, BadId> {
        text.parse()
    }
}

impl From<LedgerScope> for String {
    fn from(scope: LedgerScope) -> Self {
        scope.0.into()
    }
}

impl fmt::Display for LedgerScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::DirectoryCommand;
    use crate::directory::{NewAgent, NewHuman, Profile};
    use crate::testing::{Cast, human, new_ask};

    /// nina is in legal and owns bob; adam administers and owns root; gone is in legal and owns
    /// left, but is inactive.
    #[test]
    fn who_reads_a_ledger() {
        let mut cast = Cast::staffed();
        let gone = NewHuman {
            id: human("gone"),
            profile: Profile::default(),
            admin: true,
            active: false,
            projects: ["acme".parse().unwrap()].into(),
            groups: ["legal".parse().unwrap()].into(),
            skills: [].into(),
        };
        cast.run(Actor::System, DirectoryCommand::SaveHuman(gone));
        for (id, owner) in [("root", "adam"), ("left", "gone")] {
            let (id, project) = (id.parse().unwrap(), "acme".parse().unwrap());
            let new = NewAgent { id, project, owner: human(owner), conversations: None };
            cast.run(Actor::System, DirectoryCommand::SaveAgent(new));
        }
        let ask = cast.ask(new_ask());
        let scopes = ["project:acme", "project:rival", "team:legal", "team:tax", "org:all"];
        for (actor, reads) in [
            (cast.human("olga"), [true, false, false, false, true]),
            (cast.human("nina"), [true, false, true, false, true]),
            (cast.human("zoe"), [false, true, true, false, true]),
            (cast.human("adam"), [true; 5]),
            (cast.human("gone"), [false; 5]),
            (cast.human("ghost"), [false; 5]),
            (cast.agent("bot"), [true, false, false, false, true]),
            (cast.agent("bob"), [true, false, true, false, true]),
            (cast.agent("spy"), [false, true, true, false, true]),
            (cast.agent("root"), [true, false, false, false, true]),
            (cast.widely("root"), [true, false, false, false, true]),
            (cast.agent("left"), [true, false, false, false, true]),
            (Actor::link_holder(ask), [false; 5]),
            (cast.relay(ask), [false; 5]),
            (cast.guest(ask), [false; 5]),
            (Actor::System, [true; 5]),
        ] {
            let found = scopes.map(|scope| {
                let scope: LedgerScope = scope.parse().unwrap();
                scope.is_read_by(&actor, cast.directory())
            });
            assert_eq!(found, reads, "{actor:?}");
        }
    }
}
