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

/// The label of a field of a rule.
pub fn label(field: &str) -> Option<String> {
    Some(match field {
        "delegate_to" => t!("settings-rules-delegate"),
        "kinds" => t!("settings-rules-kinds"),
        "project_id" => t!("settings-rules-project"),
        "tag" => t!("settings-rules-tag"),
        "priority" => t!("settings-rules-priority"),
        _ => return None,
    })
}

fn labeled(field: &str) -> String {
    label(field).unwrap_or_default()
}

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
        blocks.push(SettingsBlock::Text(t!("settings-rules-none")));
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
    let kinds: Vec<SelectOption> =
        KINDS.iter().map(|(kind, name)| ((*name).to_owned(), wording::kind(*kind))).collect();
    let mut urgency: Vec<SelectOption> = vec![(String::new(), t!("settings-rules-any-priority"))];
    urgency.extend(
        PRIORITIES.iter().map(|(priority, name)| ((*name).to_owned(), priority_label(*priority))),
    );
    if people.is_empty() {
        blocks.push(SettingsBlock::Text(t!("settings-rules-nobody")));
    } else {
        let fields = vec![
            filled.one_of("delegate_to", &labeled("delegate_to"), &people, ""),
            filled
                .some_of("kinds", &labeled("kinds"), &kinds, |_| false)
                .hint(t!("settings-rules-kinds-hint")),
            filled
                .text("project_id", &labeled("project_id"), "")
                .hint(t!("settings-rules-project-hint")),
            filled.text("tag", &labeled("tag"), "").hint(t!("settings-rules-tag-hint")),
            filled.one_of("priority", &labeled("priority"), &urgency, ""),
        ];
        let add = FormView::new(paths::RULES, fields, t!("settings-rules-add"));
        blocks.push(SettingsBlock::Form(add.titled(t!("settings-rules-add-title"))));
    }
    SettingsPage {
        at: paths::RULES,
        title: t!("settings-rules"),
        lead: t!("settings-rules-lead"),
        blocks,
        ..SettingsPage::default()
    }
}

fn row(rule: &Rule, directory: &Directory) -> SettingsRow {
    let mut facts = Vec::new();
    let kinds: Vec<_> = rule.kinds.iter().map(|kind| wording::kind(*kind)).collect();
    facts.push(if kinds.is_empty() { t!("settings-rules-any-kind") } else { kinds.join(", ") });
    facts.extend(
        rule.project.as_ref().map(|project| t!("settings-rules-in-project", project = project)),
    );
    facts.extend(rule.tag.as_ref().map(|tag| t!("settings-rules-with-tag", tag = tag)));
    facts.extend(rule.priority.map(|priority| match priority {
        Priority::Critical => t!("settings-rules-only-critical"),
        Priority::High => t!("settings-rules-only-high"),
        Priority::Normal => t!("settings-rules-only-normal"),
        Priority::Low => t!("settings-rules-only-low"),
    }));
    let sends = ("remove", rule.id.to_string());
    let act =
        RowAction::Post { action: paths::RULES.to_owned(), sends, label: t!("settings-remove") };
    SettingsRow {
        title: VisibleText::of(&t!(
            "settings-rules-to",
            name = wording::person_name(directory, &rule.delegate_to)
        )),
        href: None,
        mark: None,
        facts: VisibleText::of(&facts.join(" · ")),
        act: Some(act),
    }
}

fn priority_label(priority: Priority) -> String {
    match priority {
        Priority::Critical => t!("settings-rules-critical"),
        Priority::High => t!("settings-rules-high"),
        Priority::Normal => t!("settings-rules-normal"),
        Priority::Low => t!("settings-rules-low"),
    }
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
        delegate_to: id(form, "delegate_to", &labeled("delegate_to"))?,
    })
}
