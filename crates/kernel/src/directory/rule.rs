//! Delegation rules: matching asks of an owner go to another person.

use std::collections::BTreeSet;

use super::{Human, Rule};
use crate::ask::Priority;
use crate::command::Envelope;
use crate::event::DirectoryEvent;
use crate::ids::{HumanId, RuleId, Subject};
use crate::question::QuestionKind;
use crate::refusal::Refusal;
use crate::text::is_short;
use crate::world::{Decision, Stop, World};

/// A delegation rule for the person who adds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRule {
    /// The kinds of question it matches; empty for all.
    pub kinds: BTreeSet<QuestionKind>,
    /// The project it matches, by id or by the agent's label; `None` for all.
    pub project: Option<String>,
    /// The tag it matches; `None` for all.
    pub tag: Option<String>,
    /// The priority it matches; `None` for all.
    pub priority: Option<Priority>,
    /// The person who is asked instead.
    pub delegate_to: HumanId,
}

/// The maximum number of rules of an owner. More are probably a mistake in a script.
const MOST_RULES: usize = 1000;

/// Adds all rules, or none if one is refused.
pub(crate) fn add(
    world: &World<'_>,
    envelope: &Envelope,
    new: &[(RuleId, NewRule)],
) -> Result<Decision, Stop> {
    let person = world.directory.person(&envelope.actor)?;
    if world.directory.rules_of(&person.id).count() + new.len() > MOST_RULES {
        let expected = "at most 1000 rules per person";
        return Err(Refusal::Invalid { field: "rules", expected }.into());
    }
    let mut decision = Decision::default();
    for (id, rule) in new {
        let rule = checked(*id, rule, person)?;
        decision
            .happened
            .push((Subject::Rule(rule.id), DirectoryEvent::RuleAdded(Box::new(rule)).into()));
    }
    Ok(decision)
}

fn checked(id: RuleId, new: &NewRule, person: &Human) -> Result<Rule, Refusal> {
    for (field, text) in [("project_id", &new.project), ("tag", &new.tag)] {
        if text.as_deref().is_some_and(|text| text.is_empty() || !is_short(text)) {
            let expected = "a non-empty string of at most 200 bytes";
            return Err(Refusal::Invalid { field, expected });
        }
    }
    let NewRule { kinds, project, tag, priority, delegate_to } = new.clone();
    let owner = person.id.clone();
    Ok(Rule { id, owner, kinds, project, tag, priority, delegate_to, removed: false })
}

pub(crate) fn remove(world: &World<'_>, envelope: &Envelope, id: RuleId) -> Result<Decision, Stop> {
    let person = world.directory.person(&envelope.actor)?;
    let rule = world.directory.rule(id).filter(|rule| rule.owner == person.id);
    if rule.is_none() {
        return Err(Refusal::NotFound { what: "rule" }.into());
    }
    Ok(Decision::of(Subject::Rule(id), DirectoryEvent::RuleRemoved))
}
