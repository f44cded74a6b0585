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

use super::controls::{FormDraft, SelectOption};
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

/// The labels of the fields of a project, for problems. A problem with the escalation policy as a
/// whole is shown at its first step.
pub const LABELS: &[(&str, &str)] = &[
    ("id", "Name of the project"),
    ("default_on_silence", "When nobody answers"),
    ("floor", "How sure it must be who answers"),
    ("reminders", "Reminders"),
    ("ladder", "Escalation"),
    ("envelopes", "What agents say of their messages"),
    ("retention", "How long words are kept"),
    ("recipients", "Who agents may reach"),
    ("allowed_recipients", "Allowed recipients"),
    ("quotas", "Quotas"),
    ("irreversible_assurance", "Who may approve what is irreversible or critical"),
];

/// The option without a minimum beyond the one for every answer.
const NO_RULE: &str = "none";

/// Every minimum assurance in plain words, lowest first.
const MINIMUM_ASSURANCES: [(Assurance, &str, &str); 5] = [
    (
        Assurance::AgentAttested,
        "agent_attested",
        "Anybody, even if only the agent vouches for them: this includes review links that agents were given",
    ),
    (
        Assurance::Link,
        "link",
        "Whoever holds a link or a reply address that Countersign sent to a verified address of a person",
    ),
    (
        Assurance::Channel,
        "channel",
        "Somebody known from a chat account, or by an email whose sender is verified",
    ),
    (Assurance::Session, "session", "Somebody who is signed in"),
    (Assurance::Passkey, "passkey", "Somebody who confirms this very answer with a passkey"),
];

/// The list of projects.
pub fn list(projects: &[&Project], next: Option<String>, filled: FormDraft<'_>) -> SettingsPage {
    let row = |project: &&Project| {
        let silence = if project.default_on_silence {
            "an agent may go on when nobody answers"
        } else {
            "nothing happens when nobody answers"
        };
        let reminders = match project.reminders.len() {
            0 => String::new(),
            1 => " · 1 reminder".to_owned(),
            n => format!(" · {n} reminders"),
        };
        let steps = match project.escalation_steps.len() {
            0 => String::new(),
            1 => " · 1 step of escalation".to_owned(),
            n => format!(" · {n} steps of escalation"),
        };
        SettingsRow {
            title: VisibleText::of(project.id.as_str()),
            href: Some(paths::project(&project.id)),
            mark: None,
            facts: VisibleText::of(&format!("{silence}{reminders}{steps}")),
            act: None,
        }
    };
    let mut blocks = vec![SettingsBlock::Rows(projects.iter().map(row).collect())];
    blocks.extend(
        next.map(|href| SettingsBlock::Link { href, label: "Show more projects".to_owned() }),
    );
    let name = filled
        .text("id", "Name of the project", "")
        .hint("Such as billing. It cannot be changed later.")
        .mark_required();
    let add = FormView::new(paths::PROJECTS, vec![name], "Add this project");
    blocks.push(SettingsBlock::Form(add.titled("Add a project")));
    SettingsPage {
        at: paths::PROJECTS,
        title: "Projects".to_owned(),
        lead: "What groups agents and people, with the rules for its requests.".to_owned(),
        blocks,
        ..SettingsPage::default()
    }
}

/// The page of one project.
pub fn page(project: &Project, directory: &Directory, filled: FormDraft<'_>) -> SettingsPage {
    let silence = [
        ("yes".to_owned(), "An agent may say what happens then".to_owned()),
        ("no".to_owned(), "No agent may take silence for a yes or any other answer".to_owned()),
    ];
    let floors: Vec<SelectOption> = MINIMUM_ASSURANCES
        .iter()
        .map(|(_, id, words)| ((*id).to_owned(), (*words).to_owned()))
        .collect();
    let floor = MINIMUM_ASSURANCES
        .iter()
        .find(|(floor, ..)| *floor == project.minimum_assurance)
        .map_or("", |f| f.1);
    let reminders: Vec<_> =
        project.reminders.iter().map(|after| duration::to_text(*after)).collect();
    let allowed = if project.default_on_silence { "yes" } else { "no" };
    let envelopes = [
        ("lenient".to_owned(), "Take what there is of it, and note what is wrong".to_owned()),
        ("strict".to_owned(), "Refuse a request whose envelope is not as specified".to_owned()),
    ];
    let taken = match project.envelopes {
        EnvelopePolicy::Lenient => "lenient",
        EnvelopePolicy::Strict => "strict",
    };
    let irreversible = project.irreversible_assurance;
    let approving: Vec<SelectOption> =
        std::iter::once((NO_RULE.to_owned(), "As for every answer".to_owned()))
            .chain(floors.iter().skip(1).cloned())
            .collect();
    let approved_by = MINIMUM_ASSURANCES.iter().find(|(floor, ..)| Some(*floor) == irreversible);
    let approved_by = approved_by.map_or(NO_RULE, |(_, id, _)| *id);
    let mut fields = vec![
        filled.one_of("floor", "How sure it must be who answers", &floors, floor).hint("An answer from anybody less known is refused."),
        filled
            .one_of("irreversible_assurance", "Who may approve what is irreversible or critical", &approving, approved_by)
            .hint("Rejecting such a request and requesting changes is open to everybody who may answer. Silence never approves it where this says more than the agent's word."),
        filled.one_of("default_on_silence", "When nobody answers", &silence, allowed),
        filled
            .one_of("envelopes", "What agents say of their messages", &envelopes, taken)
            .hint("How sure they are, what they assume and more, in the envelope of HXP eXperience."),
        filled
            .text("reminders", "Reminders", &reminders.join(", "))
            .hint("How long after the request, separated by commas: 15 min, 1 h, 1 day. They count where the agent names none, and never once its time is up."),
    ];
    let kept = project.retention.map(|keep| keep.to_string()).unwrap_or_default();
    fields.push(
        filled
            .text("retention", "How long words are kept", &kept)
            .hint("After a request or task is over: 30d, 12h, or off for ever. Empty means as long as this server keeps them. What was decided stays, and so does the proof."),
    );
    fields.extend(limits(project, filled));
    let who = assignee_options(project, directory);
    for n in 0..project.escalation_steps.len() + EMPTY_STEPS {
        let step = project.escalation_steps.get(n);
        let after = step.map(|step| duration::to_text(step.after)).unwrap_or_default();
        let seat = step.map(|step| assignee_value(&step.assignee)).unwrap_or_default();
        let (place, nth) = (delay_input(n), n + 1);
        let mut time = filled.text(&place, &format!("Step {nth}: after"), &after);
        if n == 0 {
            time = time.hint("Who is asked as well when nobody has answered by then. Leave a step empty to take it away.");
        }
        fields.push(time);
        let name = assignee_input(n);
        fields.push(filled.one_of(&name, &format!("Step {nth}: ask"), &who, &seat));
    }
    SettingsPage {
        at: paths::PROJECTS,
        title: project.id.to_string(),
        lead: "The rules for requests of this project. Those already asked keep the rules they were asked under.".to_owned(),
        blocks: vec![
            SettingsBlock::Form(FormView::new(paths::project(&project.id), fields, "Save the rules")),
            SettingsBlock::Link { href: paths::PROJECTS.to_owned(), label: "Back to all projects".to_owned() },
        ],
        ..SettingsPage::default()
    }
}

/// The recipients that agents may contact, and their limits.
fn limits(project: &Project, filled: FormDraft<'_>) -> [FieldView; 3] {
    let reachable = [
        (
            "project".to_owned(),
            "People of this project, the agent's owner and allowed recipients".to_owned(),
        ),
        ("any".to_owned(), "Any address an agent names".to_owned()),
    ];
    let chosen = match project.recipients.reachable {
        RecipientPolicy::Project => "project",
        RecipientPolicy::Any => "any",
    };
    let allowed: Vec<String> = project.recipients.allow.iter().map(ToString::to_string).collect();
    let quotas = project.quotas.to_string().replace(',', ", ");
    [
        filled
            .one_of("recipients", "Who agents may reach", &reachable, chosen)
            .hint("Requests an agent sends to any other address are refused."),
        filled
            .text("allowed_recipients", "Allowed recipients", &allowed.join(", "))
            .hint("Addresses agents may use besides, separated by commas: slack:C0123ABC, email:ops@example.com, @example.com for a mail domain, sms:* for every number."),
        filled
            .text("quotas", "Quotas", &quotas)
            .hint("Where this project differs from the server, separated by commas: agent.open_asks=100, project.notifications=500. 0 means no limit."),
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
        (String::new(), "Nobody".to_owned()),
        ("@".to_owned(), "Anybody in the project".to_owned()),
    ];
    let groups = directory.groups().take(MAX_LIST_OPTIONS);
    all.extend(groups.map(|id| (format!("@{id}"), format!("The group {id}"))));
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
    let named = |(_, name, _): &&(Assurance, &str, &str)| Some(*name) == form.value("floor");
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
            let message =
                format!("Expected {}, not {}.", duration::EXPECTED, VisibleText::of(text));
            wrong("reminders".to_owned(), "Reminders", message);
        }
    }
    let kept = form.value("retention").map(str::trim).filter(|text| !text.is_empty());
    let retention = kept.and_then(|text| {
        let read = text.parse::<RetentionSetting>();
        read.map_err(|expected| {
            wrong(
                "retention".to_owned(),
                "How long words are kept",
                format!("Expected {expected}."),
            );
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
                    "Allowed recipients",
                    format!("{}.", VisibleText::of(&error.to_string())),
                );
            }
        }
    }
    let quotas = form.value("quotas").unwrap_or_default().parse::<Limits>();
    if let Err(error) = &quotas {
        wrong("quotas".to_owned(), "Quotas", format!("{}.", VisibleText::of(&error.to_string())));
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
        let (time, label) = (duration::parse(after), format!("Step {}", n + 1));
        match (time, parse_assignee(who)) {
            _ if after.is_empty() && who.is_empty() => {}
            (Some(after), Some(seat)) => ladder.push(EscalationStep { after, assignee: seat }),
            _ if who.is_empty() => {
                let message = "Choose who is asked, or empty the step.".to_owned();
                wrong(assignee_input(n), &label, message);
            }
            (None, _) => wrong(delay_input(n), &label, format!("Expected {}.", duration::EXPECTED)),
            (Some(_), None) => {
                wrong(assignee_input(n), &label, "Choose somebody from the list.".to_owned());
            }
        }
    }
    let named = |(_, name, _): &&(Assurance, &str, &str)| {
        Some(*name) == form.value("irreversible_assurance")
    };
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
