//! A person's delegation rules.

use kernel::ask::Priority;
use kernel::directory::{Directory, Human, NewRule, Rule};
use kernel::question::QuestionKind;

use super::controls::{FormDraft, SelectOption};
use super::people::id;
use super::{FormView, MAX_LIST_OPTIONS, RowAction, SettingsBlock, SettingsPage, SettingsRow};
use crate::answer_form::problem::FormProblems;
use crate::answer_form::submitted::SubmittedForm;
use crate::components::wording::{self, VisibleText};
use crate::site::paths;

/// The labels of the fields of a rule, for problems.
pub const LABELS: &[(&str, &str)] = &[
    ("delegate_to", "Goes to"),
    ("kinds", "Which questions"),
    ("project_id", "Which project"),
    ("tag", "Which tag"),
    ("priority", "How urgent"),
];

const KINDS: [(QuestionKind, &str); 6] = [
    (QuestionKind::Approve, "approve"),
    (QuestionKind::Choose, "choose"),
    (QuestionKind::Provide, "provide"),
    (QuestionKind::Confirm, "confirm"),
    (QuestionKind::Escalate, "escalate"),
    (QuestionKind::Converse, "converse"),
];

const PRIORITIES: [(Priority, &str); 4] = [
    (Priority::Critical, "critical"),
    (Priority::High, "high"),
    (Priority::Normal, "normal"),
    (Priority::Low, "low"),
];

/// The page of a person's rules.
pub fn page(me: &Human, directory: &Directory, filled: FormDraft<'_>) -> SettingsPage {
    let rows: Vec<SettingsRow> =
        directory.rules_of(&me.id).map(|rule| row(rule, directory)).collect();
    let mut blocks = Vec::new();
    if rows.is_empty() {
        blocks
            .push(SettingsBlock::Text("You have no rule yet: you are asked yourself.".to_owned()));
    } else {
        blocks.push(SettingsBlock::Rows(rows));
    }
    let choice = |human: &Human| {
        (
            human.id.to_string(),
            format!("{} ({})", wording::person_name(directory, &human.id), human.id),
        )
    };
    let shares = |human: &&Human| {
        human.id != me.id && human.active && !human.projects.is_disjoint(&me.projects)
    };
    let people: Vec<SelectOption> =
        directory.humans().filter(shares).take(MAX_LIST_OPTIONS).map(choice).collect();
    let kinds: Vec<SelectOption> = KINDS
        .iter()
        .map(|(kind, name)| ((*name).to_owned(), wording::kind(*kind).to_owned()))
        .collect();
    let mut urgency: Vec<SelectOption> = vec![(String::new(), "Any".to_owned())];
    urgency.extend(PRIORITIES.iter().map(|(_, name)| ((*name).to_owned(), capital(name))));
    if people.is_empty() {
        blocks.push(SettingsBlock::Text(
            "Nobody else is in your projects, so there is nobody to hand requests to.".to_owned(),
        ));
    } else {
        let fields = vec![
            filled.one_of("delegate_to", "Goes to", &people, ""),
            filled.some_of("kinds", "Which questions", &kinds, |_| false).hint("None ticked: any."),
            filled
                .text("project_id", "Which project", "")
                .hint("By name, or by the agent\u{2019}s own label. Empty: any."),
            filled.text("tag", "Which tag", "").hint("Empty: any."),
            filled.one_of("priority", "How urgent", &urgency, ""),
        ];
        let add = FormView::new(paths::RULES, fields, "Add this rule");
        blocks.push(SettingsBlock::Form(add.titled("Add a rule")));
    }
    SettingsPage {
        at: paths::RULES,
        title: "My delegation rules".to_owned(),
        lead: "Where an agent of yours asks for a delegate, the first rule that matches says who it is."
            .to_owned(),
        blocks,
        ..SettingsPage::default()
    }
}

fn row(rule: &Rule, directory: &Directory) -> SettingsRow {
    let mut facts = Vec::new();
    let kinds: Vec<_> = rule.kinds.iter().map(|kind| wording::kind(*kind)).collect();
    facts.push(if kinds.is_empty() { "any question".to_owned() } else { kinds.join(", ") });
    facts.extend(rule.project.as_ref().map(|project| format!("in {project}")));
    facts.extend(rule.tag.as_ref().map(|tag| format!("about {tag}")));
    let urgent = PRIORITIES.iter().find(|(priority, _)| Some(*priority) == rule.priority);
    facts.extend(urgent.map(|(_, name)| format!("{name} only")));
    let sends = ("remove", rule.id.to_string());
    let act = RowAction::Post { action: paths::RULES.to_owned(), sends, label: "Remove" };
    SettingsRow {
        title: VisibleText::of(&format!(
            "To {}",
            wording::person_name(directory, &rule.delegate_to)
        )),
        href: None,
        mark: None,
        facts: VisibleText::of(&facts.join(" · ")),
        act: Some(act),
    }
}

fn capital(word: &str) -> String {
    let mut text = word.to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

/// Parses the form for a rule.
pub fn read(form: &SubmittedForm) -> Result<NewRule, FormProblems> {
    let text = |name: &str| {
        let text = form.value(name).unwrap_or_default().trim().to_owned();
        Some(text).filter(|text| !text.is_empty())
    };
    let ticked = |name: &str| form.values("kinds").any(|kind| kind == name);
    let urgent = PRIORITIES.iter().find(|(_, name)| form.value("priority") == Some(*name));
    Ok(NewRule {
        kinds: KINDS.iter().filter(|(_, name)| ticked(name)).map(|(kind, _)| *kind).collect(),
        project: text("project_id"),
        tag: text("tag"),
        priority: urgent.map(|(priority, _)| *priority),
        delegate_to: id(form, "delegate_to", "Goes to")?,
    })
}
