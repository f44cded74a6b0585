//! Delegation rules: an owner hands matching asks to somebody else.

use std::collections::BTreeSet;

use super::{Human, Rule};
use crate::ask::Priority;
use crate::command::Envelope;
use crate::event::Happened;
use crate::ids::{HumanId, RuleId, Subject};
use crate::question::Kind;
use crate::refusal::Refusal;
use crate::text::is_short;
use crate::world::{Decision, Stop, World};

/// A rule to be added for the person who adds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRule {
    /// Which kinds of question; empty for any.
    pub kinds: BTreeSet<Kind>,
    /// Which project, by name or by the agent's label.
    pub project: Option<String>,
    /// Which tag.
    pub tag: Option<String>,
    /// Which priority.
    pub priority: Option<Priority>,
    /// To whom.
    pub delegate_to: HumanId,
}

/// More rules than this are a mistake in a script.
const MOST_RULES: usize = 1000;

/// All of them, or none.
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
        decision.happened.push((Subject::Rule(rule.id), Happened::RuleAdded(Box::new(rule))));
    }
    Ok(decision)
}

fn checked(id: RuleId, new: &NewRule, person: &Human) -> Result<Rule, Refusal> {
    for (field, text) in [("project_id", &new.project), ("tag", &new.tag)] {
        if text.as_deref().is_some_and(|text| text.is_empty() || !is_short(text)) {
            let expected = "a non-empty text of at most 200 bytes";
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
    Ok(Decision::of(Subject::Rule(id), Happened::RuleRemoved))
}
