//! People and groups, for administrators.

use std::collections::BTreeSet;

use kernel::directory::{Directory, Human, NewGroup, NewHuman, Profile};
use kernel::ids::GroupId;
use kernel::{HumanId, ProjectId, Time};

use super::controls::{FormDraft, SelectOption, expected_text};
use super::{FormView, MAX_LIST_OPTIONS, RowAction, SettingsBlock, SettingsPage, SettingsRow};
use crate::answer_form::problem::{FormProblems, ProblemLocation};
use crate::answer_form::submitted::SubmittedForm;
use crate::components::relative_time::RelativeTime;
use crate::components::wording::{self, VisibleText};
use crate::site::paths;

/// The label of a field of a person.
pub fn label(field: &str) -> Option<String> {
    Some(match field {
        "id" => t!("settings-people-id"),
        "name" => t!("settings-people-name"),
        "email" => t!("settings-people-email"),
        "admin" => t!("settings-people-admin"),
        "active" => t!("settings-people-active"),
        "projects" => t!("settings-people-projects"),
        "groups" => t!("settings-people-groups"),
        "skills" => t!("settings-people-skills"),
        _ => return None,
    })
}

/// The label of a field of a group.
pub fn group_label(field: &str) -> Option<String> {
    Some(match field {
        "id" => t!("settings-groups-id"),
        "members" => t!("settings-groups-members"),
        _ => return None,
    })
}

fn labeled(field: &str) -> String {
    label(field).unwrap_or_default()
}

/// The list of people.
pub fn list(
    people: &[&Human],
    next: Option<String>,
    now: Time,
    filled: FormDraft<'_>,
) -> SettingsPage {
    let row = |human: &&Human| {
        let profile = human.profile.value();
        let name = profile.map(|profile| profile.name.trim()).filter(|name| !name.is_empty());
        let email = profile.and_then(|profile| profile.email.as_deref());
        let projects: Vec<_> = human.projects.iter().map(ProjectId::as_str).collect();
        let away = human.absence_at(now).map(|_| t!("settings-people-away"));
        let mark = match (human.active, human.admin) {
            (false, _) if human.is_erased() => Some(t!("settings-people-erased")),
            (false, _) => Some(t!("settings-people-inactive")),
            (true, true) => Some(t!("settings-people-administrator")),
            (true, false) => away,
        };
        let facts = [
            Some(human.id.to_string()).filter(|_| name.is_some()),
            email.map(str::to_owned),
            Some(projects.join(", ")).filter(|text| !text.is_empty()),
        ];
        SettingsRow {
            title: VisibleText::of(name.unwrap_or(human.id.as_str())),
            href: Some(paths::person(&human.id)),
            mark,
            facts: VisibleText::of(&facts.into_iter().flatten().collect::<Vec<_>>().join(" · ")),
            act: None,
        }
    };
    let mut blocks = vec![SettingsBlock::Rows(people.iter().map(row).collect())];
    blocks.extend(next.map(|href| SettingsBlock::Link { href, label: t!("settings-people-more") }));
    let fields = vec![
        filled.text("id", &labeled("id"), "").hint(t!("settings-people-id-hint")).mark_required(),
        filled.text("name", &labeled("name"), ""),
        filled.input("email", "email", &labeled("email"), ""),
    ];
    let add = FormView::new(paths::PEOPLE, fields, t!("settings-people-add"))
        .titled(t!("settings-people-add-title"));
    blocks.push(SettingsBlock::Form(add));
    SettingsPage {
        at: paths::PEOPLE,
        title: t!("settings-people"),
        lead: t!("settings-people-lead"),
        blocks,
        ..SettingsPage::default()
    }
}

/// The page of a person who was erased.
fn erased_person(human: &Human, directory: &Directory) -> SettingsPage {
    SettingsPage {
        at: paths::PEOPLE,
        title: wording::person_name(directory, &human.id),
        lead: t!("settings-erased-lead", id = human.id.as_str()),
        blocks: vec![
            SettingsBlock::Text(t!("settings-erased-text")),
            SettingsBlock::Link {
                href: paths::PEOPLE.to_owned(),
                label: t!("settings-people-back"),
            },
        ],
        ..SettingsPage::default()
    }
}

/// The confirmation before a person is erased. It lists the data that is removed and that stays.
pub fn erase(human: &Human, directory: &Directory, filled: FormDraft<'_>) -> SettingsPage {
    let fields = vec![
        filled
            .text("confirm", &labeled("id"), "")
            .hint(t!("settings-erase-confirm-hint", id = human.id.as_str()))
            .mark_required(),
    ];
    let mut form =
        FormView::new(paths::person_erase(&human.id), fields, t!("settings-erase-button"));
    for button in &mut form.buttons {
        button.tone = "no";
    }
    SettingsPage {
        at: paths::PEOPLE,
        title: t!("settings-erase-title", name = wording::person_name(directory, &human.id)),
        lead: t!("settings-erase-lead"),
        blocks: vec![
            SettingsBlock::Heading(t!("settings-erase-removed")),
            SettingsBlock::Text(t!("settings-erase-removed-data")),
            SettingsBlock::Text(t!("settings-erase-removed-text")),
            SettingsBlock::Heading(t!("settings-erase-kept")),
            SettingsBlock::Text(t!("settings-erase-kept-text")),
            SettingsBlock::Text(t!("settings-erase-first")),
            SettingsBlock::Form(form),
            SettingsBlock::Link { href: paths::person(&human.id), label: t!("settings-back") },
        ],
        ..SettingsPage::default()
    }
}

/// Checks that the id was repeated correctly.
pub fn check_confirmation(form: &SubmittedForm, human: &HumanId) -> Result<(), FormProblems> {
    if form.value("confirm").unwrap_or_default().trim() == human.as_str() {
        return Ok(());
    }
    let mut problem = FormProblems::default();
    problem.add(
        ProblemLocation::Field("confirm".to_owned()),
        Some(VisibleText::of(&labeled("id"))),
        t!("settings-erase-confirm-wrong", id = human.as_str()),
    );
    Err(problem)
}

/// The page of one person.
pub fn page(
    human: &Human,
    directory: &Directory,
    now: Time,
    filled: FormDraft<'_>,
) -> SettingsPage {
    if human.is_erased() {
        return erased_person(human, directory);
    }
    let profile = human.profile.value().cloned().unwrap_or_default();
    let known = directory.projects().take(MAX_LIST_OPTIONS).map(|project| project.id.to_string());
    let all: BTreeSet<String> =
        known.chain(human.projects.iter().map(ToString::to_string)).collect();
    let projects: Vec<SelectOption> = all.into_iter().map(|id| (id.clone(), id)).collect();
    let joined = |texts: Vec<&str>| texts.join(", ");
    let groups = joined(human.groups.iter().map(GroupId::as_str).collect());
    let skills = joined(human.skills.iter().map(String::as_str).collect());
    let member = |id: &str| human.projects.iter().any(|project| project.as_str() == id);
    let fields = vec![
        filled.text("name", &labeled("name"), &profile.name),
        filled
            .input("email", "email", &labeled("email"), &profile.email.unwrap_or_default())
            .hint(t!("settings-people-email-hint")),
        filled.flag("active", &labeled("active"), &t!("settings-people-active-yes"), human.active),
        filled.flag("admin", &labeled("admin"), &t!("settings-people-admin-yes"), human.admin),
        filled.some_of("projects", &labeled("projects"), &projects, member),
        filled.text("groups", &labeled("groups"), &groups).hint(t!("settings-people-groups-hint")),
        filled.text("skills", &labeled("skills"), &skills).hint(t!("settings-people-skills-hint")),
    ];
    let save = FormView::new(paths::person(&human.id), fields, t!("settings-save"));
    let link =
        FormView::new(paths::person_link(&human.id), Vec::new(), t!("settings-invite-button"));
    let mut blocks =
        vec![SettingsBlock::Form(save), SettingsBlock::Form(link.titled(t!("settings-invite")))];
    blocks.extend(waiting_passkeys(human, directory, now));
    blocks.extend([
        SettingsBlock::Heading(t!("settings-end-access")),
        SettingsBlock::Text(t!("settings-end-access-text")),
        SettingsBlock::Form(end_access(human)),
        SettingsBlock::Heading(t!("settings-erase-heading")),
        SettingsBlock::Link {
            href: paths::person_erase(&human.id),
            label: t!("settings-erase-link"),
        },
        SettingsBlock::Link { href: paths::PEOPLE.to_owned(), label: t!("settings-people-back") },
    ]);
    SettingsPage {
        at: paths::PEOPLE,
        title: wording::person_name(directory, &human.id),
        lead: t!("settings-person-lead", id = human.id.as_str()),
        blocks,
        ..SettingsPage::default()
    }
}

/// The person's pending passkeys, each with a button to confirm it.
fn waiting_passkeys(human: &Human, directory: &Directory, now: Time) -> Vec<SettingsBlock> {
    let mut blocks = Vec::new();
    for key in directory.passkeys_of(&human.id) {
        let Some(from) = key.counts_from(now) else { continue };
        if blocks.is_empty() {
            blocks.push(SettingsBlock::Heading(t!("settings-person-passkeys")));
        }
        let added = RelativeTime::new(key.issued_at, now).words;
        let from = RelativeTime::new(from, now).words;
        blocks.push(SettingsBlock::Text(t!(
            "settings-person-passkey",
            name = VisibleText::of(&key.label),
            added = added,
            from = from
        )));
        let mut form = FormView::new(
            paths::person_passkey(&human.id),
            Vec::new(),
            t!("settings-person-passkey-confirm"),
        );
        form.hidden.push(("key", key.id.to_string()));
        blocks.push(SettingsBlock::Form(form));
    }
    blocks
}

fn end_access(human: &Human) -> FormView {
    let mut form = FormView::new(
        paths::person_access(&human.id),
        Vec::new(),
        t!("settings-end-access-button"),
    );
    for button in &mut form.buttons {
        button.tone = "no";
    }
    form
}

/// The page with a new sign-in link.
pub fn link_created(human: &Human, directory: &Directory, url: &str) -> SettingsPage {
    SettingsPage {
        at: paths::PEOPLE,
        title: t!("settings-invite-title", name = wording::person_name(directory, &human.id)),
        lead: t!("settings-invite-lead"),
        blocks: vec![
            SettingsBlock::Secret { label: t!("settings-invite-link"), value: url.to_owned() },
            SettingsBlock::Link { href: paths::person(&human.id), label: t!("settings-back") },
        ],
        ..SettingsPage::default()
    }
}

/// Parses the form for a new person. Projects and groups are assigned on the person's page.
pub fn read_new(form: &SubmittedForm) -> Result<NewHuman, FormProblems> {
    Ok(NewHuman {
        id: id(form, "id", &labeled("id"))?,
        profile: profile(form),
        admin: false,
        active: true,
        projects: BTreeSet::new(),
        groups: BTreeSet::new(),
        skills: BTreeSet::new(),
    })
}

/// Parses the form of an existing person.
pub fn read(form: &SubmittedForm, human: HumanId) -> Result<NewHuman, FormProblems> {
    let wrong = |field: &str| {
        let mut problem = FormProblems::default();
        problem.add(
            ProblemLocation::Field(field.to_owned()),
            Some(VisibleText::of(&labeled(field))),
            t!("settings-people-ids-expected"),
        );
        problem
    };
    let projects = form.values("projects").map(str::parse).collect::<Result<_, _>>();
    let groups = listed(form, "groups").map(str::parse).collect::<Result<_, _>>();
    Ok(NewHuman {
        id: human,
        profile: profile(form),
        admin: form.value("admin").is_some(),
        active: form.value("active").is_some(),
        projects: projects.map_err(|_| wrong("projects"))?,
        groups: groups.map_err(|_| wrong("groups"))?,
        skills: listed(form, "skills").map(str::to_owned).collect(),
    })
}

fn profile(form: &SubmittedForm) -> Profile {
    let text = |name: &str| form.value(name).unwrap_or_default().trim().to_owned();
    Profile {
        name: text("name"),
        email: Some(text("email")).filter(|email| !email.is_empty()),
        ..Profile::default()
    }
}

/// The entries of a comma-separated list.
fn listed<'a>(form: &'a SubmittedForm, name: &'a str) -> impl Iterator<Item = &'a str> {
    let text = form.value(name).unwrap_or_default();
    text.split(',').map(str::trim).filter(|word| !word.is_empty())
}

/// Parses the id of a new object.
pub fn id<T: std::str::FromStr<Err = kernel::ids::BadId>>(
    form: &SubmittedForm,
    field: &str,
    label: &str,
) -> Result<T, FormProblems> {
    form.value(field).unwrap_or_default().trim().parse().map_err(|error: kernel::ids::BadId| {
        let mut problem = FormProblems::default();
        let message = expected_text(error.expected);
        problem.add(
            ProblemLocation::Field(field.to_owned()),
            Some(VisibleText::of(label)),
            message,
        );
        problem
    })
}

/// The list of groups.
pub fn groups(directory: &Directory, filled: FormDraft<'_>) -> SettingsPage {
    let row = |id: &GroupId| {
        let names: Vec<String> =
            directory.members(id).map(|human| wording::person_name(directory, &human.id)).collect();
        let act = RowAction::Go { href: paths::group(id), label: t!("settings-groups-change") };
        let (title, facts) = (VisibleText::of(id.as_str()), VisibleText::of(&names.join(", ")));
        SettingsRow { title, href: Some(paths::group(id)), mark: None, facts, act: Some(act) }
    };
    let rows: Vec<SettingsRow> = directory.groups().take(MAX_LIST_OPTIONS).map(row).collect();
    let mut blocks = Vec::new();
    if rows.is_empty() {
        blocks.push(SettingsBlock::Text(t!("settings-groups-none")));
    } else {
        blocks.push(SettingsBlock::Rows(rows));
    }
    let fields = vec![
        filled
            .text("id", &t!("settings-groups-id"), "")
            .hint(t!("settings-groups-id-hint"))
            .mark_required(),
        members(directory, filled, |_| false),
    ];
    let add = FormView::new(paths::GROUPS, fields, t!("settings-groups-add"))
        .titled(t!("settings-groups-add-title"));
    blocks.push(SettingsBlock::Form(add));
    SettingsPage {
        at: paths::GROUPS,
        title: t!("settings-groups"),
        lead: t!("settings-groups-lead"),
        blocks,
        ..SettingsPage::default()
    }
}

/// The page of one group.
pub fn group(id: &GroupId, directory: &Directory, filled: FormDraft<'_>) -> SettingsPage {
    let is_in = |name: &str| {
        let human = name.parse().ok().and_then(|name: HumanId| directory.human(&name));
        human.is_some_and(|human| human.groups.contains(id))
    };
    let fields = vec![members(directory, filled, is_in)];
    SettingsPage {
        at: paths::GROUPS,
        title: id.to_string(),
        lead: t!("settings-group-lead"),
        blocks: vec![
            SettingsBlock::Form(FormView::new(paths::group(id), fields, t!("settings-group-save"))),
            SettingsBlock::Link {
                href: paths::GROUPS.to_owned(),
                label: t!("settings-groups-back"),
            },
        ],
        ..SettingsPage::default()
    }
}

fn members(
    directory: &Directory,
    filled: FormDraft<'_>,
    is_in: impl Fn(&str) -> bool,
) -> crate::answer_form::fields::FieldView {
    let choice = |human: &Human| {
        (
            human.id.to_string(),
            format!("{} ({})", wording::person_name(directory, &human.id), human.id),
        )
    };
    let listed = directory.humans().take(MAX_LIST_OPTIONS).map(choice);
    let rest = directory.humans().skip(MAX_LIST_OPTIONS).filter(|human| is_in(human.id.as_str()));
    let choices: Vec<SelectOption> = listed.chain(rest.map(choice)).collect();
    filled.some_of("members", &t!("settings-groups-members"), &choices, is_in)
}

/// Parses the members of a group.
pub fn read_group(form: &SubmittedForm, id: GroupId) -> Result<NewGroup, FormProblems> {
    let members = form.values("members").map(str::parse).collect::<Result<_, _>>();
    let members = members.map_err(|_: kernel::ids::BadId| {
        FormProblems::one(
            ProblemLocation::Field("members".to_owned()),
            t!("settings-groups-members-expected"),
        )
    })?;
    Ok(NewGroup { id, members })
}
