//! The settings of projects.

use std::collections::BTreeSet;

use kernel::ask::{Assignee, EnvelopePolicy};
use kernel::directory::{
    AllowedRecipient, Directory, EscalationStep, IrreversibleSetting, NewProject, Project,
    RecipientPolicy,
};
use kernel::quota::Limits;
use kernel::retention::RetentionSetting;
use kernel::{Assurance, HumanId, ProjectId};

use super::controls::{FormDraft, SelectOption, expected_text};
use super::{FieldView, FormView, MAX_LIST_OPTIONS, SettingsBlock, SettingsPage, SettingsRow};
use crate::answer_form::problem::{FormProblems, ProblemLocation};
use crate::answer_form::submitted::SubmittedForm;
use crate::components::wording::{self, VisibleText};
use crate::site::paths;
use kernel::duration;

/// How many empty escalation steps the form offers.
const EMPTY_STEPS: usize = 2;
/// The maximum number of escalation steps in a form.
const MOST_STEPS: usize = 50;

/// The label of a field of a project. A problem with the escalation policy as a whole is shown at
/// its first step.
pub fn label(field: &str) -> Option<String> {
    Some(match field {
        "id" => t!("settings-projects-id"),
        "default_on_silence" => t!("settings-project-silence"),
        "floor" => t!("settings-project-assurance"),
        "reminders" => t!("settings-project-reminders"),
        "ladder" => t!("settings-project-escalation"),
        "envelopes" => t!("settings-project-envelopes"),
        "retention" => t!("settings-project-retention"),
        "recipients" => t!("settings-project-recipients"),
        "allowed_recipients" => t!("settings-project-allowed"),
        "quotas" => t!("settings-project-quotas"),
        "irreversible_assurance" => t!("settings-project-irreversible"),
        _ => return None,
    })
}

fn labeled(field: &str) -> String {
    label(field).unwrap_or_default()
}

/// The option without a minimum beyond the one for every answer.
const NO_RULE: &str = "none";

/// Every minimum assurance with its submitted value, lowest first.
const MINIMUM_ASSURANCES: [(Assurance, &str); 5] = [
    (Assurance::AgentAttested, "agent_attested"),
    (Assurance::Link, "link"),
    (Assurance::Channel, "channel"),
    (Assurance::Session, "session"),
    (Assurance::Passkey, "passkey"),
];

fn assurance_label(assurance: Assurance) -> String {
    match assurance {
        Assurance::None | Assurance::AgentAttested => t!("settings-assurance-agent-attested"),
        Assurance::Link => t!("settings-assurance-link"),
        Assurance::Channel => t!("settings-assurance-channel"),
        Assurance::Session => t!("settings-assurance-session"),
        Assurance::Passkey => t!("settings-assurance-passkey"),
    }
}

/// The list of projects.
pub fn list(projects: &[&Project], next: Option<String>, filled: FormDraft<'_>) -> SettingsPage {
    let row = |project: &&Project| {
        let mut facts = vec![if project.default_on_silence {
            t!("settings-projects-silence-allowed")
        } else {
            t!("settings-projects-silence-forbidden")
        }];
        let reminders = project.reminders.len();
        if reminders > 0 {
            facts.push(t!("settings-projects-reminders", count = reminders));
        }
        let steps = project.escalation_steps.len();
        if steps > 0 {
            facts.push(t!("settings-projects-steps", count = steps));
        }
        SettingsRow {
            title: VisibleText::of(project.id.as_str()),
            href: Some(paths::project(&project.id)),
            mark: None,
            facts: VisibleText::of(&facts.join(" · ")),
            act: None,
        }
    };
    let mut blocks = vec![SettingsBlock::Rows(projects.iter().map(row).collect())];
    blocks
        .extend(next.map(|href| SettingsBlock::Link { href, label: t!("settings-projects-more") }));
    let name =
        filled.text("id", &labeled("id"), "").hint(t!("settings-projects-id-hint")).mark_required();
    let add = FormView::new(paths::PROJECTS, vec![name], t!("settings-projects-add"));
    blocks.push(SettingsBlock::Form(add.titled(t!("settings-projects-add-title"))));
    SettingsPage {
        at: paths::PROJECTS,
        title: t!("settings-projects"),
        lead: t!("settings-projects-lead"),
        blocks,
        ..SettingsPage::default()
    }
}

/// The page of one project.
pub fn page(project: &Project, directory: &Directory, filled: FormDraft<'_>) -> SettingsPage {
    let silence = [
        ("yes".to_owned(), t!("settings-project-silence-yes")),
        ("no".to_owned(), t!("settings-project-silence-no")),
    ];
    let floors: Vec<SelectOption> = MINIMUM_ASSURANCES
        .iter()
        .map(|(assurance, id)| ((*id).to_owned(), assurance_label(*assurance)))
        .collect();
    let floor = MINIMUM_ASSURANCES
        .iter()
        .find(|(floor, ..)| *floor == project.minimum_assurance)
        .map_or("", |f| f.1);
    let reminders: Vec<_> =
        project.reminders.iter().map(|after| duration::to_text(*after)).collect();
    let allowed = if project.default_on_silence { "yes" } else { "no" };
    let envelopes = [
        ("lenient".to_owned(), t!("settings-project-envelopes-lenient")),
        ("strict".to_owned(), t!("settings-project-envelopes-strict")),
    ];
    let taken = match project.envelopes {
        EnvelopePolicy::Lenient => "lenient",
        EnvelopePolicy::Strict => "strict",
    };
    let irreversible = project.irreversible_assurance;
    let approving: Vec<SelectOption> =
        std::iter::once((NO_RULE.to_owned(), t!("settings-project-irreversible-none")))
            .chain(floors.iter().skip(1).cloned())
            .collect();
    let approved_by = MINIMUM_ASSURANCES.iter().find(|(floor, ..)| Some(*floor) == irreversible);
    let approved_by = approved_by.map_or(NO_RULE, |(_, id)| *id);
    let mut fields = vec![
        filled
            .one_of("floor", &labeled("floor"), &floors, floor)
            .hint(t!("settings-project-assurance-hint")),
        filled
            .one_of(
                "irreversible_assurance",
                &labeled("irreversible_assurance"),
                &approving,
                approved_by,
            )
            .hint(t!("settings-project-irreversible-hint")),
        filled.one_of("default_on_silence", &labeled("default_on_silence"), &silence, allowed),
        filled
            .one_of("envelopes", &labeled("envelopes"), &envelopes, taken)
            .hint(t!("settings-project-envelopes-hint")),
        filled
            .text("reminders", &labeled("reminders"), &reminders.join(", "))
            .hint(t!("settings-project-reminders-hint")),
    ];
    let kept = project.retention.map(|keep| keep.to_string()).unwrap_or_default();
    fields.push(
        filled
            .text("retention", &labeled("retention"), &kept)
            .hint(t!("settings-project-retention-hint")),
    );
    fields.extend(limits(project, filled));
    let who = assignee_options(project, directory);
    for n in 0..project.escalation_steps.len() + EMPTY_STEPS {
        let step = project.escalation_steps.get(n);
        let after = step.map(|step| duration::to_text(step.after)).unwrap_or_default();
        let seat = step.map(|step| assignee_value(&step.assignee)).unwrap_or_default();
        let (place, nth) = (delay_input(n), n + 1);
        let mut time = filled.text(&place, &t!("settings-project-step-after", step = nth), &after);
        if n == 0 {
            time = time.hint(t!("settings-project-step-hint"));
        }
        fields.push(time);
        let name = assignee_input(n);
        fields.push(filled.one_of(
            &name,
            &t!("settings-project-step-ask", step = nth),
            &who,
            &seat,
        ));
    }
    SettingsPage {
        at: paths::PROJECTS,
        title: project.id.to_string(),
        lead: t!("settings-project-lead"),
        blocks: vec![
            SettingsBlock::Form(FormView::new(
                paths::project(&project.id),
                fields,
                t!("settings-project-save"),
            )),
            SettingsBlock::Link {
                href: paths::PROJECTS.to_owned(),
                label: t!("settings-projects-back"),
            },
        ],
        ..SettingsPage::default()
    }
}

/// The recipients that agents may contact, and their limits.
fn limits(project: &Project, filled: FormDraft<'_>) -> [FieldView; 3] {
    let reachable = [
        ("project".to_owned(), t!("settings-project-recipients-project")),
        ("any".to_owned(), t!("settings-project-recipients-any")),
    ];
    let chosen = match project.recipients.reachable {
        RecipientPolicy::Project => "project",
        RecipientPolicy::Any => "any",
    };
    let allowed: Vec<String> = project.recipients.allow.iter().map(ToString::to_string).collect();
    let quotas = project.quotas.to_string().replace(',', ", ");
    [
        filled
            .one_of("recipients", &labeled("recipients"), &reachable, chosen)
            .hint(t!("settings-project-recipients-hint")),
        filled
            .text("allowed_recipients", &labeled("allowed_recipients"), &allowed.join(", "))
            .hint(t!("settings-project-allowed-hint")),
        filled.text("quotas", &labeled("quotas"), &quotas).hint(t!("settings-project-quotas-hint")),
    ]
}

fn delay_input(n: usize) -> String {
    if n == 0 { "ladder".to_owned() } else { format!("ladder.{n}.after") }
}

fn assignee_input(n: usize) -> String {
    format!("ladder.{n}.who")
}

fn assignee_value(seat: &Assignee) -> String {
    match seat {
        Assignee::Person { human } => human.to_string(),
        Assignee::Pool { group: Some(group) } => format!("@{group}"),
        Assignee::Pool { group: None } => "@".to_owned(),
    }
}

/// The possible assignees of a step: anyone, a group, a member, and the current assignees
/// of the steps.
fn assignee_options(project: &Project, directory: &Directory) -> Vec<SelectOption> {
    let mut all = vec![
        (String::new(), t!("settings-project-step-nobody")),
        ("@".to_owned(), t!("settings-project-step-anyone")),
    ];
    let groups = directory.groups().take(MAX_LIST_OPTIONS);
    all.extend(
        groups.map(|id| (format!("@{id}"), t!("settings-project-step-group", group = id.as_str()))),
    );
    let named =
        |id: &HumanId| (id.to_string(), format!("{} ({id})", wording::person_name(directory, id)));
    let members = directory.humans().filter(|h| h.active && h.projects.contains(&project.id));
    all.extend(members.take(MAX_LIST_OPTIONS).map(|human| named(&human.id)));
    for step in &project.escalation_steps {
        let value = assignee_value(&step.assignee);
        if !all.iter().any(|(known, _)| *known == value) {
            all.push((value.clone(), value));
        }
    }
    all
}

/// Parses the form of a project.
pub fn read(form: &SubmittedForm, id: ProjectId) -> Result<NewProject, FormProblems> {
    let mut problem = FormProblems::default();
    let plain = NewProject::plain(id);
    let named = |(_, name): &&(Assurance, &str)| Some(*name) == form.value("floor");
    let floor =
        MINIMUM_ASSURANCES.iter().find(named).map_or(plain.minimum_assurance, |(floor, ..)| *floor);
    let mut wrong = |name: String, label: &str, message: String| {
        problem.add(ProblemLocation::Field(name), Some(VisibleText::of(label)), message);
    };
    let mut reminders = BTreeSet::new();
    let texts = form.value("reminders").unwrap_or_default().split(',').map(str::trim);
    for text in texts.filter(|text| !text.is_empty()) {
        if let Some(seconds) = duration::parse(text) {
            reminders.insert(seconds);
        } else {
            let message = t!(
                "settings-expected-not",
                expected = duration::EXPECTED,
                given = VisibleText::of(text)
            );
            wrong("reminders".to_owned(), &labeled("reminders"), message);
        }
    }
    let kept = form.value("retention").map(str::trim).filter(|text| !text.is_empty());
    let retention = kept.and_then(|text| {
        let read = text.parse::<RetentionSetting>();
        read.map_err(|expected| {
            let message = expected_text(expected);
            wrong("retention".to_owned(), &labeled("retention"), message);
        })
        .ok()
    });
    let mut allowed = BTreeSet::new();
    let texts = form.value("allowed_recipients").unwrap_or_default().split([',', '\n']);
    for text in texts.map(str::trim).filter(|text| !text.is_empty()) {
        match text.parse::<AllowedRecipient>() {
            Ok(one) => {
                allowed.insert(one);
            }
            Err(error) => {
                wrong(
                    "allowed_recipients".to_owned(),
                    &labeled("allowed_recipients"),
                    format!("{}.", VisibleText::of(&error.to_string())),
                );
            }
        }
    }
    let quotas = form.value("quotas").unwrap_or_default().parse::<Limits>();
    if let Err(error) = &quotas {
        let message = format!("{}.", VisibleText::of(&error.to_string()));
        wrong("quotas".to_owned(), &labeled("quotas"), message);
    }
    // A page from before the setting existed does not change it.
    let recipients = form.value("recipients").map(|value| match value {
        "any" => RecipientPolicy::Any,
        _ => RecipientPolicy::Project,
    });
    let allowed_recipients = form.value("allowed_recipients").map(|_| allowed);
    let quotas = form.value("quotas").and_then(|_| quotas.ok());
    let mut ladder = Vec::new();
    for n in 0..MOST_STEPS {
        let after = form.value(&delay_input(n)).unwrap_or_default().trim();
        let who = form.value(&assignee_input(n)).unwrap_or_default();
        let (time, label) = (duration::parse(after), t!("settings-project-step", step = n + 1));
        match (time, parse_assignee(who)) {
            _ if after.is_empty() && who.is_empty() => {}
            (Some(after), Some(seat)) => ladder.push(EscalationStep { after, assignee: seat }),
            _ if who.is_empty() => {
                wrong(assignee_input(n), &label, t!("settings-project-step-expected"));
            }
            (None, _) => wrong(delay_input(n), &label, expected_text(duration::EXPECTED)),
            (Some(_), None) => {
                wrong(assignee_input(n), &label, t!("settings-person-expected"));
            }
        }
    }
    let named =
        |(_, name): &&(Assurance, &str)| Some(*name) == form.value("irreversible_assurance");
    let irreversible_assurance = match form.value("irreversible_assurance") {
        // A form from before the field existed does not change it.
        None => plain.irreversible_assurance,
        Some(_) => IrreversibleSetting::Set(
            MINIMUM_ASSURANCES.iter().find(named).map(|(least, ..)| *least),
        ),
    };
    if !problem.problems.is_empty() {
        return Err(problem);
    }
    ladder.sort_by_key(|step: &EscalationStep| step.after);
    let default_on_silence = form.value("default_on_silence") != Some("no");
    let envelopes = match form.value("envelopes") {
        Some("strict") => EnvelopePolicy::Strict,
        Some(_) | None => EnvelopePolicy::Lenient,
    };
    Ok(NewProject {
        default_on_silence,
        minimum_assurance: floor,
        escalation_steps: ladder,
        reminders,
        envelopes,
        retention,
        recipients,
        allowed_recipients,
        quotas,
        irreversible_assurance,
        ..plain
    })
}

fn parse_assignee(who: &str) -> Option<Assignee> {
    match who.strip_prefix('@') {
        None => who.parse().ok().map(|human| Assignee::Person { human }),
        Some("") => Some(Assignee::Pool { group: None }),
        Some(group) => group.parse().ok().map(|group| Assignee::Pool { group: Some(group) }),
    }
}
