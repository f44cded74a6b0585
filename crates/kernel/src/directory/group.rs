//! The members of a group. A group is not an entity of its own: each person lists their groups, and
//! this command sets the list for all members at once.

use std::collections::BTreeSet;
use std::ops::Bound;

use imbl::{OrdMap, OrdSet};

use super::{ADMIN_ONLY, Directory, Human};
use crate::command::Envelope;
use crate::event::DirectoryEvent;
use crate::ids::{GroupId, HumanId, Subject};
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

/// The new state of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewGroup {
    /// The id of the group.
    pub id: GroupId,
    /// The complete list of members; all others leave the group.
    pub members: BTreeSet<HumanId>,
}

pub(crate) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    new: &NewGroup,
) -> Result<Decision, Stop> {
    if !world.directory.administers(&envelope.actor) {
        return Err(ADMIN_ONLY.into());
    }
    if !new.members.iter().all(|id| world.directory.existing_human(id).is_some()) {
        return Err(
            Refusal::Invalid { field: "members", expected: "IDs of existing people" }.into()
        );
    }
    let mut decision = Decision::default();
    let there = world.directory.members(&new.id).map(|human| &human.id);
    let concerned: BTreeSet<&HumanId> = there.chain(&new.members).collect();
    for human in concerned.into_iter().filter_map(|id| world.directory.human(id)) {
        let (is, should) = (human.groups.contains(&new.id), new.members.contains(&human.id));
        if is != should {
            let mut human = Human::clone(human);
            if should {
                human.groups.insert(new.id.clone());
            } else {
                human.groups.remove(&new.id);
            }
            let subject = Subject::Human(human.id.clone());
            decision.happened.push((subject, DirectoryEvent::HumanSaved(Box::new(human)).into()));
        }
    }
    Ok(decision)
}

impl Directory {
    /// The members of a group.
    pub fn members(&self, group: &GroupId) -> impl Iterator<Item = &Human> {
        self.by_group.get(group).into_iter().flatten().filter_map(|id| self.human(id))
    }

    /// The ids of all groups that have a member, in order.
    pub fn groups(&self) -> impl Iterator<Item = &GroupId> {
        self.groups_after(None)
    }

    /// The ids of the groups after this one, in order.
    pub fn groups_after<'a>(
        &'a self,
        id: Option<&GroupId>,
    ) -> impl Iterator<Item = &'a GroupId> + use<'a> {
        let from = id.map_or(Bound::Unbounded, Bound::Excluded);
        self.by_group.range::<_, GroupId>((from, Bound::Unbounded)).map(|(id, _)| id)
    }
}

/// Updates the index for a changed person. A group disappears with its last member.
pub(super) fn update_group_index(
    groups: &mut OrdMap<GroupId, OrdSet<HumanId>>,
    before: Option<&Human>,
    after: &Human,
) {
    for left in before.into_iter().flat_map(|human| human.groups.difference(&after.groups)) {
        if let Some(people) = groups.get_mut(left) {
            people.remove(&after.id);
            if people.is_empty() {
                groups.remove(left);
            }
        }
    }
    for group in &after.groups {
        groups.entry(group.clone()).or_default().insert(after.id.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::Actor;
    use crate::command::DirectoryCommand;
    use crate::testing::{Cast, human};

    #[test]
    fn exactly_the_named_people_are_in_it_and_nobody_else_is_touched() {
        let mut cast = Cast::new();
        let group = |members: &[&str]| {
            let members = members.iter().map(|name| human(name)).collect();
            DirectoryCommand::SaveGroup(NewGroup { id: "legal".parse().unwrap(), members })
        };
        let olga = cast.attempt(cast.human("olga"), group(&["mark"]));
        assert!(matches!(olga, Err(Refusal::NotAllowed { .. })));
        let ghost = cast.attempt(Actor::System, group(&["ghost"]));
        assert!(matches!(ghost, Err(Refusal::Invalid { field: "members", .. })));
        let before = cast.records().len();
        cast.run(Actor::System, group(&["mark", "zoe"]));
        let touched: Vec<_> =
            cast.records()[before..].iter().map(|record| record.subject.to_string()).collect();
        assert_eq!(touched, ["human/mark", "human/nina"], "zoe is in it already");
        let legal = "legal".parse().unwrap();
        let members = |cast: &Cast| {
            let all = cast.directory().humans().filter(|human| human.groups.contains(&legal));
            let all = all.map(|human| human.id.to_string()).collect::<Vec<_>>();
            let listed = cast.directory().members(&legal).map(|human| human.id.to_string());
            assert_eq!(listed.collect::<Vec<_>>(), all);
            assert_eq!(cast.directory().groups().any(|id| *id == legal), !all.is_empty());
            all
        };
        assert_eq!(members(&cast), ["mark", "zoe"]);
        cast.run(Actor::System, group(&["zoe"]));
        assert_eq!(members(&cast), ["zoe"]);
        cast.run(Actor::System, group(&[]));
        assert!(members(&cast).is_empty());
    }
}
