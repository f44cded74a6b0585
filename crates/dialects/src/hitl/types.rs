//! The review types, their actions, and their kernel equivalents. Section 10.

use kernel::Ask;
use kernel::question::{AnswerKind, QuestionKind};

use super::create;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaseType {
    /// Approve, ask for changes, or reject.
    Approval,
    /// Choose one or more of several items.
    Selection,
    /// Fill in a form.
    Input,
    /// Confirm exactly these items, or cancel.
    Confirmation,
    /// Decide about a failure.
    Escalation,
    /// A custom type of the service, answered like a form.
    Custom(String),
}

/// An action of a person, as the protocol names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HitlAction {
    /// The name on the wire.
    pub name: &'static str,
    /// The kernel's equivalent.
    pub stance: AnswerKind,
    /// Whether it is offered inline by default. An action that needs text or a page is not.
    inline: bool,
}

const fn action(name: &'static str, stance: AnswerKind, inline: bool) -> HitlAction {
    HitlAction { name, stance, inline }
}

const APPROVAL: &[HitlAction] = &[
    action("approve", AnswerKind::Approve, true),
    action("edit", AnswerKind::Change, false),
    action("reject", AnswerKind::Reject, true),
];
const SELECTION: &[HitlAction] = &[action("select", AnswerKind::Choose, false)];
const INPUT: &[HitlAction] = &[action("submit", AnswerKind::Provide, false)];
const CONFIRMATION: &[HitlAction] =
    &[action("confirm", AnswerKind::Confirm, true), action("cancel", AnswerKind::Decline, true)];
const ESCALATION: &[HitlAction] = &[
    action("retry", AnswerKind::Retry, true),
    action("skip", AnswerKind::Skip, true),
    action("abort", AnswerKind::Abort, true),
];

impl CaseType {
    pub const STANDARD: [Self; 5] =
        [Self::Approval, Self::Selection, Self::Input, Self::Confirmation, Self::Escalation];

    /// The type of this name. A custom type has a name after `x-`.
    pub fn named(name: &str) -> Option<Self> {
        if name.strip_prefix("x-").is_some_and(|rest| !rest.trim().is_empty()) {
            return Some(Self::Custom(name.to_owned()));
        }
        Self::STANDARD.into_iter().find(|standard| standard.as_str() == name)
    }

    /// The type as which a case of any dialect is shown.
    pub fn of(ask: &Ask) -> Self {
        let kept = create::stored_members(ask).and_then(|kept| kept.get("type")?.as_str());
        kept.and_then(Self::named).unwrap_or(match ask.kind {
            QuestionKind::Approve => Self::Approval,
            QuestionKind::Choose => Self::Selection,
            QuestionKind::Provide | QuestionKind::Converse => Self::Input,
            QuestionKind::Confirm => Self::Confirmation,
            QuestionKind::Escalate => Self::Escalation,
        })
    }

    pub fn as_str(&self) -> &str {
        match self {
            Self::Approval => "approval",
            Self::Selection => "selection",
            Self::Input => "input",
            Self::Confirmation => "confirmation",
            Self::Escalation => "escalation",
            Self::Custom(name) => name,
        }
    }

    /// The actions of the type (HITL-120).
    pub fn actions(&self) -> &'static [HitlAction] {
        match self {
            Self::Approval => APPROVAL,
            Self::Selection => SELECTION,
            Self::Input | Self::Custom(_) => INPUT,
            Self::Confirmation => CONFIRMATION,
            Self::Escalation => ESCALATION,
        }
    }

    /// The action of this name, if the type has it.
    pub fn action(&self, name: &str) -> Option<HitlAction> {
        self.actions().iter().copied().find(|action| action.name == name)
    }

    /// The action name for an answer of this stance.
    pub fn named_action(&self, stance: AnswerKind) -> &'static str {
        let action = self.actions().iter().find(|action| action.stance == stance);
        action.map_or("submit", |action| action.name)
    }

    /// The actions offered inline if the service names none (HITL-076).
    pub fn inline(&self) -> Vec<HitlAction> {
        self.actions().iter().copied().filter(|action| action.inline).collect()
    }

    /// The names of the actions, separated by commas.
    pub fn offers(&self) -> String {
        self.actions().iter().map(|action| action.name).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HITL-014, HITL-120.
    #[test]
    fn types_are_closed_but_for_custom_ones() {
        for standard in CaseType::STANDARD {
            assert_eq!(CaseType::named(standard.as_str()), Some(standard));
        }
        assert_eq!(
            CaseType::named("x-acme-compare"),
            Some(CaseType::Custom("x-acme-compare".into()))
        );
        for wrong in ["x-", "x- ", "X-a", "Approval", "approve", ""] {
            assert_eq!(CaseType::named(wrong), None, "{wrong}");
        }
        let offers = CaseType::STANDARD.map(|standard| standard.offers());
        assert_eq!(
            offers,
            ["approve, edit, reject", "select", "submit", "confirm, cancel", "retry, skip, abort"]
        );
    }

    /// HITL-076: an action that needs a page is not offered inline.
    #[test]
    fn inline_by_default_is_what_fits_a_button() {
        let inline = |of: CaseType| of.inline().iter().map(|a| a.name).collect::<Vec<_>>();
        assert_eq!(inline(CaseType::Approval), ["approve", "reject"]);
        assert_eq!(inline(CaseType::Confirmation), ["confirm", "cancel"]);
        assert_eq!(inline(CaseType::Escalation), ["retry", "skip", "abort"]);
        for none in [CaseType::Selection, CaseType::Input, CaseType::Custom("x-a".into())] {
            assert!(inline(none).is_empty());
        }
    }
}
