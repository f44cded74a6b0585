//! People and groups, for administrators.

use std::collections::BTreeSet;

use kernel::directory::{Directory, Human, NewGroup, NewHuman, Profile};
use kernel::ids::GroupId;
use kernel::{HumanId, ProjectId, Time};

use super::controls::{FormDraft, SelectOption};
use super::{FormView, MAX_LIST_OPTIONS, RowAction, SettingsBlock, SettingsPage, SettingsRow};
use crate::answer_form::problem::{FormProblems, ProblemLocation};
use crate::answer_form::submitted::SubmittedForm;
use crate::components::relative_time::RelativeTime;
use crate::components::wording::{self, VisibleText};
use crate::site::paths;

/// The labels of the fields of a person, for problems.
pub const LABELS: &[(&str, &str)] = &[
    ("id", "Name in the system"),
    ("name", "What to call them"),
    ("email", "Email address"),
    ("admin", "Administrator"),
    ("active", "Active"),
    ("projects", "Projects"),
    ("groups", "Groups"),
    ("skills", "Qualified for"),
];

/// The labels of the fields of a group.
pub const GROUP_LABELS: &[(&str, &str)] = &[("id", "Name of the group"), ("members", "Members")];

fn label(field: &str) -> &'static str {
    LABELS.iter().find(|(name, _)| *name == field).map_or("", |(_, label)| label)
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
        let away = human.absence_at(now).map(|_| "away");
        let mark = match (human.active, human.admin) {
            (false, _) if human.is_erased() => Some("erased"),
            (false, _) => Some("cannot sign in"),
            (true, true) => Some("administrator"),
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
    blocks.extend(
        next.map(|href| SettingsBlock::Link { href, label: "Show more people".to_owned() }),
    );
    let fields = vec![
        filled
            .text("id", label("id"), "")
            .hint("Letters, digits and -_.@, such as ada. It cannot be changed later.")
            .mark_required(),
        filled.text("name", label("name"), ""),
        filled.input("email", "email", label("email"), ""),
    ];
    let add = FormView::new(paths::PEOPLE, fields, "Add this person").titled("Add somebody");
    blocks.push(SettingsBlock::Form(add));
    SettingsPage {
        at: paths::PEOPLE,
        title: "People".to_owned(),
        lead: "Who can be asked and sign in.".to_owned(),
        blocks,
        ..SettingsPage::default()
    }
}

/// The page of a person who was erased.
fn erased_person(human: &Human, directory: &Directory) -> SettingsPage {
    SettingsPage {
        at: paths::PEOPLE,
        title: wording::person_name(directory, &human.id),
        lead: format!("Was known here as {}.", human.id),
        blocks: vec![
            SettingsBlock::Text(
                "Name, addresses, credentials and devices were removed. What this person wrote on \
                 requests and tasks is erased in the background within minutes. The audit log still \
                 shows what this id decided. The id cannot be used again."
                    .to_owned(),
            ),
            SettingsBlock::Link { href: paths::PEOPLE.to_owned(), label: "Back to everybody".to_owned() },
        ],
        ..SettingsPage::default()
    }
}

/// The confirmation before a person is erased. It lists the data that is removed and that stays.
pub fn erase(human: &Human, directory: &Directory, filled: FormDraft<'_>) -> SettingsPage {
    let fields = vec![
        filled
            .text("confirm", CONFIRM, "")
            .hint(&format!("Enter {} to confirm. This cannot be undone.", human.id))
            .mark_required(),
    ];
    let mut form = FormView::new(paths::person_erase(&human.id), fields, "Erase this person");
    for button in &mut form.buttons {
        button.tone = "no";
    }
    let text = |text: &str| SettingsBlock::Text(text.to_owned());
    SettingsPage {
        at: paths::PEOPLE,
        title: format!("Erase {}", wording::person_name(directory, &human.id)),
        lead: "Erase the personal data of this person (GDPR).".to_owned(),
        blocks: vec![
            SettingsBlock::Heading("What is removed".to_owned()),
            text(
                "Name, email address, contact methods, notification settings, time zone, quiet hours \
                 and absence; memberships of projects and groups; sessions, passkeys, sign-in links \
                 and tokens; devices; snoozed requests; delegation rules and escalation steps that \
                 name this person.",
            ),
            text(
                "What this person wrote: comments, reasons, comments on answers, reviews, and \
                 conversations with agents. This happens in the background within minutes.",
            ),
            SettingsBlock::Heading("What stays".to_owned()),
            text(
                "The id, and what was decided with it: the audit log still verifies. Typed answers \
                 belong to their requests and are erased with these. Backups and exports made before \
                 today, and messages already sent to chat or email, are not changed.",
            ),
            text("Agents, open requests and open tasks of this person must be handed over first."),
            SettingsBlock::Form(form),
            SettingsBlock::Link { href: paths::person(&human.id), label: "Back".to_owned() },
        ],
        ..SettingsPage::default()
    }
}

/// The label of the field for the repeated id.
const CONFIRM: &str = "Name in the system";

/// Checks that the id was repeated correctly.
pub fn check_confirmation(form: &SubmittedForm, human: &HumanId) -> Result<(), FormProblems> {
    if form.value("confirm").unwrap_or_default().trim() == human.as_str() {
        return Ok(());
    }
    let mut problem = FormProblems::default();
    let message = format!("Enter {human} to confirm.");
    problem.add(
        ProblemLocation::Field("confirm".to_owned()),
        Some(VisibleText::of(CONFIRM)),
        message,
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
        filled.text("name", label("name"), &profile.name),
        filled
            .input("email", "email", label("email"), &profile.email.unwrap_or_default())
            .hint("They can sign in with a link sent there."),
        filled.flag("active", label("active"), "Can sign in and be asked", human.active),
        filled.flag("admin", label("admin"), "May change these settings", human.admin),
        filled.some_of("projects", label("projects"), &projects, member),
        filled.text("groups", label("groups"), &groups).hint("Separated by commas."),
        filled
            .text("skills", label("skills"), &skills)
            .hint("Tags of requests they may take from a pool, separated by commas."),
    ];
    let save = FormView::new(paths::person(&human.id), fields, "Save");
    let link = FormView::new(
        paths::person_link(&human.id),
        Vec::new(),
        "Make a sign-in link and show it once",
    );
    let mut blocks =
        vec![SettingsBlock::Form(save), SettingsBlock::Form(link.titled("Let them in"))];
    blocks.extend(waiting_passkeys(human, directory, now));
    blocks.extend([
        SettingsBlock::Heading("End all access".to_owned()),
        SettingsBlock::Text(
            "Ends their sessions, tokens, sign-in links and passkeys, takes their contact methods as \
             not verified, and ends the review links and messages that were sent to them. Use it when a device or an account was stolen. A new sign-in link lets \
             them in again."
                .to_owned(),
        ),
        SettingsBlock::Form(end_access(human)),
        SettingsBlock::Heading("Erase personal data (GDPR)".to_owned()),
        SettingsBlock::Link {
            href: paths::person_erase(&human.id),
            label: "Erase this person…".to_owned(),
        },
        SettingsBlock::Link { href: paths::PEOPLE.to_owned(), label: "Back to everybody".to_owned() },
    ]);
    SettingsPage {
        at: paths::PEOPLE,
        title: wording::person_name(directory, &human.id),
        lead: format!("Known here as {}.", human.id),
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
            blocks.push(SettingsBlock::Heading("Passkeys to confirm".to_owned()));
        }
        let added = RelativeTime::new(key.issued_at, now).words;
        let from = RelativeTime::new(from, now).words;
        blocks.push(SettingsBlock::Text(format!(
            "“{}”, added {added}. It confirms answers {from}, or when you confirm it. Ask them in \
             person or on the phone whether they added it.",
            VisibleText::of(&key.label)
        )));
        let mut form =
            FormView::new(paths::person_passkey(&human.id), Vec::new(), "Confirm this passkey");
        form.hidden.push(("key", key.id.to_string()));
        blocks.push(SettingsBlock::Form(form));
    }
    blocks
}

fn end_access(human: &Human) -> FormView {
    let mut form = FormView::new(paths::person_access(&human.id), Vec::new(), "End all access now");
    for button in &mut form.buttons {
        button.tone = "no";
    }
    form
}

/// The page with a new sign-in link.
pub fn link_created(human: &Human, directory: &Directory, url: &str) -> SettingsPage {
    SettingsPage {
        at: paths::PEOPLE,
        title: format!("A sign-in link for {}", wording::person_name(directory, &human.id)),
        lead: "Hand it to them yourself. It works once, within 24 hours; whoever opens it is them."
            .to_owned(),
        blocks: vec![
            SettingsBlock::Secret { label: "Sign-in link".to_owned(), value: url.to_owned() },
            SettingsBlock::Link { href: paths::person(&human.id), label: "Back".to_owned() },
        ],
        ..SettingsPage::default()
    }
}

/// Parses the form for a new person. Projects and groups are assigned on the person's page.
pub fn read_new(form: &SubmittedForm) -> Result<NewHuman, FormProblems> {
    Ok(NewHuman {
        id: id(form, "id", label("id"))?,
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
    let wrong = |field: &str, message: &str| {
        let mut problem = FormProblems::default();
        problem.add(
            ProblemLocation::Field(field.to_owned()),
            Some(VisibleText::of(label(field))),
            message,
        );
        problem
    };
    let names = "Expected names of letters, digits and -_.@, separated by commas.";
    let projects = form.values("projects").map(str::parse).collect::<Result<_, _>>();
    let groups = listed(form, "groups").map(str::parse).collect::<Result<_, _>>();
    Ok(NewHuman {
        id: human,
        profile: profile(form),
        admin: form.value("admin").is_some(),
        active: form.value("active").is_some(),
        projects: projects.map_err(|_| wrong("projects", names))?,
        groups: groups.map_err(|_| wrong("groups", names))?,
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
        let message = format!("Expected {}.", error.expected);
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
        let act = RowAction::Go { href: paths::group(id), label: "Change" };
        let (title, facts) = (VisibleText::of(id.as_str()), VisibleText::of(&names.join(", ")));
        SettingsRow { title, href: Some(paths::group(id)), mark: None, facts, act: Some(act) }
    };
    let rows: Vec<SettingsRow> = directory.groups().take(MAX_LIST_OPTIONS).map(row).collect();
    let mut blocks = Vec::new();
    if rows.is_empty() {
        blocks.push(SettingsBlock::Text("There is no group yet.".to_owned()));
    } else {
        blocks.push(SettingsBlock::Rows(rows));
    }
    let fields = vec![
        filled
            .text("id", "Name of the group", "")
            .hint("Such as legal or on-call.")
            .mark_required(),
        members(directory, filled, |_| false),
    ];
    let add = FormView::new(paths::GROUPS, fields, "Make this group").titled("Make a group");
    blocks.push(SettingsBlock::Form(add));
    SettingsPage {
        at: paths::GROUPS,
        title: "Groups".to_owned(),
        lead:
            "An agent may ask a group: the first of its members who takes the request answers it."
                .to_owned(),
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
        lead: "Exactly these people are in the group; with nobody in it, it is gone.".to_owned(),
        blocks: vec![
            SettingsBlock::Form(FormView::new(paths::group(id), fields, "Save who is in it")),
            SettingsBlock::Link {
                href: paths::GROUPS.to_owned(),
                label: "Back to all groups".to_owned(),
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
    filled.some_of("members", "Members", &choices, is_in)
}

/// Parses the members of a group.
pub fn read_group(form: &SubmittedForm, id: GroupId) -> Result<NewGroup, FormProblems> {
    let members = form.values("members").map(str::parse).collect::<Result<_, _>>();
    let members = members.map_err(|_: kernel::ids::BadId| {
        FormProblems::one(
            ProblemLocation::Field("members".to_owned()),
            "Choose people from the list.",
        )
    })?;
    Ok(NewGroup { id, members })
}
