//! Who is asked: the owner, whom the owner's rules name, or a pool. Pure.

use std::collections::BTreeSet;

use crate::ask::{Labels, Priority, Route, Seat};
use crate::directory::{Agent, Directory, Human, Rule};
use crate::ids::ProjectId;
use crate::question::Kind;

/// What routing looks at.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The agent that asks.
    pub agent: &'a Agent,
    /// How people are to be picked.
    pub route: &'a Route,
    /// What kind of question.
    pub kind: Kind,
    /// How urgent.
    pub priority: Priority,
    /// What it is about.
    pub tags: &'a BTreeSet<String>,
    /// The agent's own names.
    pub labels: &'a Labels,
}

/// Picks the seats. There is always somebody: where rules lead nowhere, or a pool has no members
/// yet, the owner is asked.
pub fn seats(directory: &Directory, facts: &Facts<'_>) -> Vec<Seat> {
    let owner = Seat::Person { human: facts.agent.owner.clone() };
    let project = &facts.agent.project;
    let seat = match facts.route {
        Route::Owner => owner,
        Route::Delegate => directory
            .rules_of(&facts.agent.owner)
            .filter(|rule| matches(rule, facts))
            .filter_map(|rule| directory.human(&rule.delegate_to))
            .find(|human| human.active && human.projects.contains(project))
            .map_or(owner, |human| Seat::Person { human: human.id.clone() }),
        Route::Pool { group } => {
            let pool = Seat::Pool { group: group.clone() };
            let qualifies = |human: &Human| human.qualifies(project, group.as_ref(), facts.tags);
            if directory.humans().any(|human| human.active && qualifies(human)) {
                pool
            } else {
                return vec![pool, owner];
            }
        }
        Route::Person { human } => Seat::Person { human: human.clone() },
    };
    vec![seat]
}

/// Every key the rule gives must match.
fn matches(rule: &Rule, facts: &Facts<'_>) -> bool {
    let project = |wanted: &String| {
        facts.labels.project.as_ref() == Some(wanted) || is(&facts.agent.project, wanted)
    };
    (rule.kinds.is_empty() || rule.kinds.contains(&facts.kind))
        && rule.project.as_ref().is_none_or(project)
        && rule.tag.as_ref().is_none_or(|tag| facts.tags.contains(tag))
        && rule.priority.is_none_or(|priority| priority == facts.priority)
}

fn is(project: &ProjectId, name: &str) -> bool {
    project.as_str() == name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::NewRule;
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

    fn routed(cast: &Cast, route: &Route, tags: &[&str], label: Option<&str>) -> Vec<Seat> {
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        let labels = Labels { agent: None, project: label.map(str::to_owned) };
        let agent = cast.directory().agent(&"bot".parse().unwrap()).unwrap();
        let priority = Priority::Normal;
        let facts =
            Facts { agent, route, kind: Kind::Approve, priority, tags: &tags, labels: &labels };
        seats(cast.directory(), &facts)
    }

    fn person(name: &str) -> Vec<Seat> {
        vec![Seat::Person { human: human(name) }]
    }

    /// HXPX-072: owner, delegate, pool.
    #[test]
    fn each_role_leads_somewhere() {
        let cast = Cast::new();
        assert_eq!(routed(&cast, &Route::Owner, &[], None), person("olga"));
        assert_eq!(routed(&cast, &Route::Delegate, &[], None), person("olga"));
        let pool = Route::Pool { group: None };
        assert_eq!(routed(&cast, &pool, &[], None), vec![Seat::Pool { group: None }]);
    }

    /// HXPX-073: all given keys must match, the first match wins, somebody unknown is skipped.
    #[test]
    fn rules_are_tried_in_order() {
        let mut cast = Cast::new();
        cast.rule("olga", NewRule { tag: Some("finance".into()), ..rule("nobody-here") });
        cast.rule("olga", NewRule { tag: Some("finance".into()), ..rule("mark") });
        cast.rule("olga", NewRule { project: Some("beta".into()), ..rule("nina") });
        cast.rule("olga", NewRule { kinds: [Kind::Choose].into(), ..rule("nina") });
        let delegate = Route::Delegate;
        assert_eq!(routed(&cast, &delegate, &["finance"], None), person("mark"));
        assert_eq!(routed(&cast, &delegate, &["finance"], Some("beta")), person("mark"));
        assert_eq!(routed(&cast, &delegate, &[], Some("beta")), person("nina"));
        assert_eq!(routed(&cast, &delegate, &["other"], None), person("olga"));
        assert_eq!(routed(&cast, &Route::Owner, &["finance"], None), person("olga"));
    }

    /// Like `Route::Person` and handing on: asks do not leave their project.
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
        let seat = |group: &str| Seat::Pool { group: group.parse().ok() };
        let owner = Seat::Person { human: human("olga") };
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
        assert_eq!(routed(&cast, &Route::Delegate, &[], None), vec![Seat::Person { human: to }]);
    }
}
