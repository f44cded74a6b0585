//! Who is in a group. A group is no thing of its own: people say which groups they are in, and this
//! says it for all of them at once.

use std::collections::BTreeSet;

use super::{ADMIN_ONLY, Human};
use crate::command::Envelope;
use crate::event::Happened;
use crate::ids::{GroupId, HumanId, Subject};
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

/// A group as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewGroup {
    /// Its name.
    pub id: GroupId,
    /// Exactly these.
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
    if !new.members.iter().all(|id| world.directory.human(id).is_some()) {
        return Err(Refusal::Invalid { field: "members", expected: "people who exist" }.into());
    }
    let mut decision = Decision::default();
    for human in world.directory.humans() {
        let (is, should) = (human.groups.contains(&new.id), new.members.contains(&human.id));
        if is != should {
            let mut human = Human::clone(human);
            if should {
                human.groups.insert(new.id.clone());
            } else {
                human.groups.remove(&new.id);
            }
            let subject = Subject::Human(human.id.clone());
            decision.happened.push((subject, Happened::HumanSaved(Box::new(human))));
        }
    }
    Ok(decision)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::Actor;
    use crate::command::Command;
    use crate::testing::{Cast, human};

    #[test]
    fn exactly_the_named_people_are_in_it_and_nobody_else_is_touched() {
        let mut cast = Cast::new();
        let group = |members: &[&str]| {
            let members = members.iter().map(|name| human(name)).collect();
            Command::SaveGroup(NewGroup { id: "legal".parse().unwrap(), members })
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
            all.map(|human| human.id.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(members(&cast), ["mark", "zoe"]);
        cast.run(Actor::System, group(&[]));
        assert!(members(&cast).is_empty());
    }
}
