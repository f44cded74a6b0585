//! `GET` and `POST /hxp/v1/delegation/rules`.
//! Section 6.2.

use std::collections::BTreeSet;

use kernel::HumanId;
use kernel::directory::{NewRule, Rule};
use kernel::question::QuestionKind;
use kernel::spelling::listed;
use kernel::text::is_storable;
use serde_json::{Map, Value};

use super::create::{ACTIONS, priority};
use super::errors::{HxpWireError, code};
use super::parse::{object, present};
use super::wire::{self, Action};
use crate::members::PRIORITIES;

/// Maximum number of rules per call.
const MOST: usize = 100;

/// The rules that a call adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRules {
    pub rules: Vec<NewRule>,
    /// Whether the body was `{"rules": […]}`. The response has the same form; otherwise it is one
    /// bare rule.
    pub listed: bool,
}

/// Reads one rule, or `{"rules": […]}`.
pub fn parse_rules(bytes: &[u8]) -> Result<NewRules, HxpWireError> {
    let body = object(bytes)?;
    match present(&body, "rules") {
        None => Ok(NewRules { rules: vec![rule(&body)?], listed: false }),
        Some(Value::Array(items)) if (1..=MOST).contains(&items.len()) => {
            let read = |item: &Value| match item {
                Value::Object(map) => rule(map),
                _ => Err(bad("rules", "objects")),
            };
            Ok(NewRules { rules: items.iter().map(read).collect::<Result<_, _>>()?, listed: true })
        }
        Some(_) => Err(bad("rules", "a list of 1 to 100 rules")),
    }
}

/// A rule in a response.
pub fn rule_view(rule: &Rule) -> wire::Rule {
    let action = Action::ALL.into_iter().find(|action| kinds(*action) == rule.kinds);
    wire::Rule {
        rule_id: rule.id,
        action,
        kinds: if action.is_none() { rule.kinds.iter().copied().collect() } else { Vec::new() },
        project_id: rule.project.clone(),
        tag: rule.tag.clone(),
        priority: rule.priority,
        delegate_to: rule.delegate_to.clone(),
    }
}

/// A person's rules, in the order in which the server applies them.
pub fn rules_view<'r>(rules: impl IntoIterator<Item = &'r Rule>) -> wire::Rules {
    wire::Rules { rules: rules.into_iter().map(rule_view).collect() }
}

fn rule(map: &Map<String, Value>) -> Result<NewRule, HxpWireError> {
    let delegate_to = present(map, "delegate_to").and_then(Value::as_str);
    let delegate_to: HumanId = delegate_to
        .and_then(|name| name.parse().ok())
        .ok_or_else(|| bad("delegate_to", "the ID of a person"))?;
    let kinds = match text(map, "action")? {
        None => BTreeSet::new(),
        Some(name) => {
            Action::named(name).map(kinds).ok_or_else(|| bad("action", &listed(&ACTIONS, name)))?
        }
    };
    let priority = match text(map, "priority")? {
        None => None,
        Some(name) => {
            let bad = || bad("priority", &listed(&PRIORITIES, name));
            Some(priority(name).ok_or_else(bad)?)
        }
    };
    let project = text(map, "project_id")?.map(ToOwned::to_owned);
    let tag = text(map, "tag")?.map(ToOwned::to_owned);
    Ok(NewRule { kinds, project, tag, priority, delegate_to })
}

fn kinds(action: Action) -> BTreeSet<QuestionKind> {
    action.kinds().iter().copied().collect()
}

fn text<'m>(map: &'m Map<String, Value>, key: &str) -> Result<Option<&'m str>, HxpWireError> {
    let Some(value) = present(map, key) else { return Ok(None) };
    let short = |text: &&str| !text.is_empty() && text.len() <= 200 && is_storable(text);
    let text = value.as_str().filter(short);
    text.map(Some).ok_or_else(|| bad(key, "a non-empty string of at most 200 bytes"))
}

fn bad(field: &str, expected: &str) -> HxpWireError {
    HxpWireError::field(400, code::INVALID_RULE, field, expected)
}
