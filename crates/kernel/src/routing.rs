//! Routing: asks go to the owner, to the person the owner's rules name, or to a pool; substitutes
//! are asked for people who are away. Pure functions.

use std::collections::BTreeSet;

use crate::ask::{Assignee, Labels, Priority, Route};
use crate::directory::{Agent, Directory, Human, Rule};
use crate::ids::ProjectId;
use crate::question::QuestionKind;
use crate::time::Time;

/// The input of routing.
#[derive(Debug, Clone, Copy)]
pub struct RoutingInput<'a> {
    /// The agent that asks.
    pub agent: &'a Agent,
    /// How the assignees are to be chosen.
    pub route: &'a Route,
    /// The kind of question.
    pub kind: QuestionKind,
    /// How urgent the ask is.
    pub priority: Priority,
    /// Topics by which people qualify.
    pub tags: &'a BTreeSet<String>,
    /// The agent's own names for itself and its work.
    pub labels: &'a Labels,
}

/// The maximum length of a chain of substitutes.
const LONGEST_CHAIN: usize = 10;

/// Chooses the assignees at a moment. There is always at least one: where rules lead nowhere, or a
/// pool has no members yet, the owner is asked. A person who is away is still asked if they have no
/// substitute.
pub fn assignees(directory: &Directory, facts: &RoutingInput<'_>, now: Time) -> Vec<Assignee> {
    let present = |seat| substitute(directory, seat, &facts.agent.project, now);
    route_assignees(directory, facts).into_iter().map(present).collect()
}

/// The substitute for an assignee who is away at that moment: their delegate, or the delegate's
/// delegate if that one is away too. A delegate must be able to answer in the project. If the chain
/// ends with no one present, or in a circle, the assignee stays.
pub fn substitute(
    directory: &Directory,
    seat: Assignee,
    project: &ProjectId,
    now: Time,
) -> Assignee {
    let Assignee::Person { human } = &seat else { return seat };
    let mut at = directory.human(human);
    for _ in 0..=LONGEST_CHAIN {
        let Some(here) = at else { return seat };
        let Some(absence) = here.absence_at(now) else {
            return Assignee::Person { human: here.id.clone() };
        };
        let delegate = absence.delegate.as_ref().and_then(|id| directory.human(id));
        at = delegate.filter(|human| human.active && human.projects.contains(project));
    }
    seat
}

fn route_assignees(directory: &Directory, facts: &RoutingInput<'_>) -> Vec<Assignee> {
    let owner = Assignee::Person { human: facts.agent.owner.clone() };
    let project = &facts.agent.project;
    let seat = match facts.route {
        Route::Owner => owner,
        Route::Delegate => directory
            .rules_of(&facts.agent.owner)
            .filter(|rule| matches(rule, facts))
            .filter_map(|rule| directory.human(&rule.delegate_to))
            .find(|human| human.active && human.projects.contains(project))
            .map_or(owner, |human| Assignee::Person { human: human.id.clone() }),
        Route::Pool { group } => {
            let pool = Assignee::Pool { group: group.clone() };
            let qualifies = |human: &Human| human.qualifies(project, group.as_ref(), facts.tags);
            if directory.humans().any(|human| human.active && qualifies(human)) {
                pool
            } else {
                return vec![pool, owner];
            }
        }
        Route::Person { human } => Assignee::Person { human: human.clone() },
    };
    vec![seat]
}

/// Whether every criterion the rule sets matches.
fn matches(rule: &Rule, facts: &RoutingInput<'_>) -> bool {
    let project = |wanted: &String| {
        facts.labels.project.as_ref() == Some(wanted) || is_named(&facts.agent.project, wanted)
    };
    (rule.kinds.is_empty() || rule.kinds.contains(&facts.kind))
        && rule.project.as_ref().is_none_or(project)
        && rule.tag.as_ref().is_none_or(|tag| facts.tags.contains(tag))
        && rule.priority.is_none_or(|priority| priority == facts.priority)
}

fn is_named(project: &ProjectId, name: &str) -> bool {
    project.as_str() == name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::Actor;
    use crate::command::DirectoryCommand;
    use crate::directory::{Absence, NewHuman, NewProfile, NewRule, Profile, ProfileSettings};
    use crate::ids::HumanId;
    use crate::testing::{Cast, human};

    fn rule(delegate: &str) -> NewRule {
        NewRule {
            kinds: BTreeSet::new(),
            project: None,
            tag: None,
            priority: None,
            delegate_to: human(delegate),
        }
    }

    fn routed(cast: &Cast, route: &Route, tags: &[&str], label: Option<&str>) -> Vec<Assignee> {
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        let labels = Labels { agent: None, project: label.map(str::to_owned) };
        let agent = cast.directory().agent(&"bot".parse().unwrap()).unwrap();
        let priority = Priority::Normal;
        let facts = RoutingInput {
            agent,
            route,
            kind: QuestionKind::Approve,
            priority,
            tags: &tags,
            labels: &labels,
        };
        assignees(cast.directory(), &facts, cast.now())
    }

    fn person(name: &str) -> Vec<Assignee> {
        vec![Assignee::Person { human: human(name) }]
    }

    /// HXPX-072: owner, delegate, pool.
    #[test]
    fn each_role_leads_somewhere() {
        let cast = Cast::new();
        assert_eq!(routed(&cast, &Route::Owner, &[], None), person("olga"));
        assert_eq!(routed(&cast, &Route::Delegate, &[], None), person("olga"));
        let pool = Route::Pool { group: None };
        assert_eq!(routed(&cast, &pool, &[], None), vec![Assignee::Pool { group: None }]);
    }

    /// HXPX-073: all given keys must match, the first match wins, an unknown person is skipped.
    #[test]
    fn rules_are_tried_in_order() {
        let mut cast = Cast::new();
        cast.rule("olga", NewRule { tag: Some("finance".into()), ..rule("nobody-here") });
        cast.rule("olga", NewRule { tag: Some("finance".into()), ..rule("mark") });
        cast.rule("olga", NewRule { project: Some("beta".into()), ..rule("nina") });
        cast.rule("olga", NewRule { kinds: [QuestionKind::Choose].into(), ..rule("nina") });
        let delegate = Route::Delegate;
        assert_eq!(routed(&cast, &delegate, &["finance"], None), person("mark"));
        assert_eq!(routed(&cast, &delegate, &["finance"], Some("beta")), person("mark"));
        assert_eq!(routed(&cast, &delegate, &[], Some("beta")), person("nina"));
        assert_eq!(routed(&cast, &delegate, &["other"], None), person("olga"));
        assert_eq!(routed(&cast, &Route::Owner, &["finance"], None), person("olga"));
    }

    /// Like `Route::Person` and assignment: asks do not leave their project.
    #[test]
    fn rules_do_not_lead_out_of_the_project() {
        let mut cast = Cast::new();
        cast.rule("olga", rule("zoe"));
        assert_eq!(routed(&cast, &Route::Delegate, &[], None), person("olga"));
        cast.rule("olga", rule("mark"));
        assert_eq!(routed(&cast, &Route::Delegate, &[], None), person("mark"));
    }

    #[test]
    fn a_pool_without_members_is_the_owners() {
        let cast = Cast::new();
        let pool = |group: &str| Route::Pool { group: group.parse().ok() };
        let seat = |group: &str| Assignee::Pool { group: group.parse().ok() };
        let owner = Assignee::Person { human: human("olga") };
        assert_eq!(routed(&cast, &pool("legal"), &[], None), vec![seat("legal")]);
        assert_eq!(
            routed(&cast, &pool("legal"), &["tax"], None),
            vec![seat("legal"), owner.clone()]
        );
        assert_eq!(routed(&cast, &pool("nobody"), &[], None), vec![seat("nobody"), owner]);
    }

    #[test]
    fn someone_elses_rules_do_not_apply() {
        let mut cast = Cast::new();
        cast.rule("mark", rule("nina"));
        let to: HumanId = human("olga");
        assert_eq!(
            routed(&cast, &Route::Delegate, &[], None),
            vec![Assignee::Person { human: to }]
        );
    }

    fn away(cast: &mut Cast, name: &str, delegate: Option<&str>) {
        let absence = Absence { delegate: delegate.map(human), ..Absence::default() };
        let about = Some(ProfileSettings { absence: Some(absence), ..ProfileSettings::default() });
        let new = NewProfile { human: human(name), name: None, about };
        cast.run(Actor::System, DirectoryCommand::SaveProfile(new));
    }

    /// A person who is away, and their delegate.
    type Away = (&'static str, Option<&'static str>);

    /// Each case says who is away with which delegate, and who is asked instead of olga.
    #[test]
    fn the_seat_of_somebody_who_is_away_goes_to_who_stands_in() {
        let cases: [(&[Away], &str); 8] = [
            (&[("olga", Some("mark"))], "mark"),
            (&[("olga", Some("mark")), ("mark", Some("nina"))], "nina"),
            (&[("olga", None)], "olga"),
            // zoe is not a member of the project.
            (&[("olga", Some("zoe"))], "olga"),
            // mark is away and has no delegate.
            (&[("olga", Some("mark")), ("mark", None)], "olga"),
            // In a circle, of two and of three.
            (&[("olga", Some("mark")), ("mark", Some("olga"))], "olga"),
            (&[("olga", Some("mark")), ("mark", Some("nina")), ("nina", Some("mark"))], "olga"),
            (&[("mark", Some("nina"))], "olga"),
        ];
        for (absences, asked) in cases {
            let mut cast = Cast::new();
            for (name, delegate) in absences {
                away(&mut cast, name, *delegate);
            }
            assert_eq!(routed(&cast, &Route::Owner, &[], None), person(asked), "{absences:?}");
            let named = Route::Person { human: human("olga") };
            assert_eq!(routed(&cast, &named, &[], None), person(asked), "{absences:?}");
        }
    }

    #[test]
    fn a_chain_of_delegates_has_an_end() {
        let project = "acme".parse().unwrap();
        for (length, reached) in [(LONGEST_CHAIN, true), (LONGEST_CHAIN + 1, false)] {
            let mut cast = Cast::new();
            let name = |n: usize| format!("p{n}");
            for n in (0..=length).rev() {
                cast.run(Actor::System, DirectoryCommand::SaveHuman(member(&name(n))));
                if n < length {
                    away(&mut cast, &name(n), Some(&name(n + 1)));
                }
            }
            let seat = Assignee::Person { human: human("p0") };
            let found = substitute(cast.directory(), seat, &project, cast.now());
            let asked = if reached { name(length) } else { name(0) };
            assert_eq!(found, Assignee::Person { human: human(&asked) });
        }
    }

    fn member(name: &str) -> NewHuman {
        NewHuman {
            id: human(name),
            profile: Profile::default(),
            admin: false,
            active: true,
            projects: ["acme".parse().unwrap()].into(),
            groups: BTreeSet::new(),
            skills: BTreeSet::new(),
        }
    }

    #[test]
    fn a_delegate_must_be_able_to_answer() {
        let mut cast = Cast::new();
        away(&mut cast, "olga", Some("mark"));
        assert_eq!(routed(&cast, &Route::Owner, &[], None), person("mark"));
        let gone = NewHuman { active: false, ..member("mark") };
        cast.run(Actor::System, DirectoryCommand::SaveHuman(gone));
        assert_eq!(routed(&cast, &Route::Owner, &[], None), person("olga"));
    }

    #[test]
    fn whom_a_rule_names_may_be_away_too() {
        let mut cast = Cast::new();
        cast.rule("olga", rule("mark"));
        away(&mut cast, "mark", Some("nina"));
        assert_eq!(routed(&cast, &Route::Delegate, &[], None), person("nina"));
        away(&mut cast, "mark", None);
        assert_eq!(routed(&cast, &Route::Delegate, &[], None), person("mark"));
        // Where rules lead nowhere the owner is asked, so their substitute is.
        away(&mut cast, "olga", Some("nina"));
        let pool = Route::Pool { group: "nobody".parse().ok() };
        let seats = routed(&cast, &pool, &[], None);
        assert_eq!(seats.last(), Some(&Assignee::Person { human: human("nina") }));
    }

    #[test]
    fn an_absence_counts_while_it_lasts() {
        let mut cast = Cast::new();
        let at = |seconds| Some(cast.now().plus_seconds(seconds));
        let delegate = Some(human("mark"));
        let absence = Absence { from: at(60), until: at(120), delegate };
        let about = Some(ProfileSettings { absence: Some(absence), ..ProfileSettings::default() });
        let new = NewProfile { human: human("olga"), name: None, about };
        cast.run(cast.human("olga"), DirectoryCommand::SaveProfile(new));
        for (seconds, asked) in [(59, "olga"), (1, "mark"), (59, "mark"), (1, "olga")] {
            cast.advance(seconds);
            assert_eq!(routed(&cast, &Route::Owner, &[], None), person(asked));
        }
    }
}
