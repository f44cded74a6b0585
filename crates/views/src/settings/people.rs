//! People and groups, for administrators.

use std::collections::BTreeSet;

use kernel::directory::{Directory, Human, NewGroup, NewHuman, Profile};
use kernel::ids::GroupId;
use kernel::{HumanId, ProjectId, Time};

use super::controls::{Choice, Filled};
use super::{Act, Block, CHOICES, FormView, Row, SettingsPage};
use crate::answer_form::problem::{FormProblem, Place};
use crate::answer_form::submitted::Submitted;
use crate::components::when::When;
use crate::components::words::{self, Words};
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
    filled: Filled<'_>,
) -> SettingsPage {
    let row = |human: &&Human| {
        let profile = human.profile.value();
        let name = profile.map(|profile| profile.name.trim()).filter(|name| !name.is_empty());
        let email = profile.and_then(|profile| profile.email.as_deref());
        let projects: Vec<_> = human.projects.iter().map(ProjectId::as_str).collect();
        let away = human.absent(now).map(|_| "away");
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
        Row {
            title: Words::of(name.unwrap_or(human.id.as_str())),
            href: Some(paths::person(&human.id)),
            mark,
            facts: Words::of(&facts.into_iter().flatten().collect::<Vec<_>>().join(" · ")),
            act: None,
        }
    };
    let mut blocks = vec![Block::Rows(people.iter().map(row).collect())];
    blocks.extend(next.map(|href| Block::Link { href, label: "Show more people".to_owned() }));
    let fields = vec![
        filled
            .text("id", label("id"), "")
            .hint("Letters, digits and -_.@, such as ada. It cannot be changed later.")
            .needed(),
        filled.text("name", label("name"), ""),
        filled.input("email", "email", label("email"), ""),
    ];
    let add = FormView::new(paths::PEOPLE, fields, "Add this person").titled("Add somebody");
    blocks.push(Block::Form(add));
    SettingsPage {
        at: paths::PEOPLE,
        title: "People".to_owned(),
        lead: "Who can be asked and sign in.".to_owned(),
        blocks,
        ..SettingsPage::default()
    }
}

/// The page of a person who was erased.
fn tombstone(human: &Human, directory: &Directory) -> SettingsPage {
    SettingsPage {
        at: paths::PEOPLE,
        title: words::person(directory, &human.id),
        lead: format!("Was known here as {}.", human.id),
        blocks: vec![
            Block::Text(
                "Name, addresses, credentials and devices were removed. What this person wrote on \
                 requests and tasks is erased in the background within minutes. The audit log still \
                 shows what this id decided. The id cannot be used again."
                    .to_owned(),
            ),
            Block::Link { href: paths::PEOPLE.to_owned(), label: "Back to everybody".to_owned() },
        ],
        ..SettingsPage::default()
    }
}

/// The confirmation before a person is erased. It lists the data that is removed and that stays.
pub fn erase(human: &Human, directory: &Directory, filled: Filled<'_>) -> SettingsPage {
    let fields = vec![
        filled
            .text("confirm", CONFIRM, "")
            .hint(&format!("Enter {} to confirm. This cannot be undone.", human.id))
            .needed(),
    ];
    let mut form = FormView::new(paths::person_erase(&human.id), fields, "Erase this person");
    for button in &mut form.buttons {
        button.tone = "no";
    }
    let text = |text: &str| Block::Text(text.to_owned());
    SettingsPage {
        at: paths::PEOPLE,
        title: format!("Erase {}", words::person(directory, &human.id)),
        lead: "Erase the personal data of this person (GDPR).".to_owned(),
        blocks: vec![
            Block::Heading("What is removed".to_owned()),
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
            Block::Heading("What stays".to_owned()),
            text(
                "The id, and what was decided with it: the audit log still verifies. Typed answers \
                 belong to their requests and are erased with these. Backups and exports made before \
                 today, and messages already sent to chat or email, are not changed.",
            ),
            text("Agents, open requests and open tasks of this person must be handed over first."),
            Block::Form(form),
            Block::Link { href: paths::person(&human.id), label: "Back".to_owned() },
        ],
        ..SettingsPage::default()
    }
}

/// The label of the field for the repeated id.
const CONFIRM: &str = "Name in the system";

/// Checks that the id was repeated correctly.
pub fn confirmed(form: &Submitted, human: &HumanId) -> Result<(), FormProblem> {
    if form.value("confirm").unwrap_or_default().trim() == human.as_str() {
        return Ok(());
    }
    let mut problem = FormProblem::default();
    let message = format!("Enter {human} to confirm.");
    problem.add(Place::Field("confirm".to_owned()), Some(Words::of(CONFIRM)), message);
    Err(problem)
}

/// The page of one person.
pub fn page(human: &Human, directory: &Directory, now: Time, filled: Filled<'_>) -> SettingsPage {
    if human.is_erased() {
        return tombstone(human, directory);
    }
    let profile = human.profile.value().cloned().unwrap_or_default();
    let known = directory.projects().take(CHOICES).map(|project| project.id.to_string());
    let all: BTreeSet<String> =
        known.chain(human.projects.iter().map(ToString::to_string)).collect();
    let projects: Vec<Choice> = all.into_iter().map(|id| (id.clone(), id)).collect();
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
    let mut blocks = vec![Block::Form(save), Block::Form(link.titled("Let them in"))];
    blocks.extend(waiting_passkeys(human, directory, now));
    blocks.extend([
        Block::Heading("End all access".to_owned()),
        Block::Text(
            "Ends their sessions, tokens, sign-in links and passkeys, takes their contact methods as \
             not verified, and ends the review links and messages that were sent to them. Use it when a device or an account was stolen. A new sign-in link lets \
             them in again."
                .to_owned(),
        ),
        Block::Form(end_access(human)),
        Block::Heading("Erase personal data (GDPR)".to_owned()),
        Block::Link {
            href: paths::person_erase(&human.id),
            label: "Erase this person…".to_owned(),
        },
        Block::Link { href: paths::PEOPLE.to_owned(), label: "Back to everybody".to_owned() },
    ]);
    SettingsPage {
        at: paths::PEOPLE,
        title: words::person(directory, &human.id),
        lead: format!("Known here as {}.", human.id),
        blocks,
        ..SettingsPage::default()
    }
}

/// The person's pending passkeys, each with a button to confirm it.
fn waiting_passkeys(human: &Human, directory: &Directory, now: Time) -> Vec<Block> {
    let mut blocks = Vec::new();
    for key in directory.passkeys_of(&human.id) {
        let Some(from) = key.counts_from(now) else { continue };
        if blocks.is_empty() {
            blocks.push(Block::Heading("Passkeys to confirm".to_owned()));
        }
        let added = When::new(key.issued_at, now).words;
        let from = When::new(from, now).words;
        blocks.push(Block::Text(format!(
            "“{}”, added {added}. It confirms answers {from}, or when you confirm it. Ask them in \
             person or on the phone whether they added it.",
            Words::of(&key.label)
        )));
        let mut form =
            FormView::new(paths::person_passkey(&human.id), Vec::new(), "Confirm this passkey");
        form.hidden.push(("key", key.id.to_string()));
        blocks.push(Block::Form(form));
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
pub fn link_made(human: &Human, directory: &Directory, url: &str) -> SettingsPage {
    SettingsPage {
        at: paths::PEOPLE,
        title: format!("A sign-in link for {}", words::person(directory, &human.id)),
        lead: "Hand it to them yourself. It works once, within 24 hours; whoever opens it is them."
            .to_owned(),
        blocks: vec![
            Block::Secret { label: "Sign-in link".to_owned(), value: url.to_owned() },
            Block::Link { href: paths::person(&human.id), label: "Back".to_owned() },
        ],
        ..SettingsPage::default()
    }
}

/// Parses the form for a new person. Projects and groups are assigned on the person's page.
pub fn read_new(form: &Submitted) -> Result<NewHuman, FormProblem> {
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
pub fn read(form: &Submitted, human: HumanId) -> Result<NewHuman, FormProblem> {
    let wrong = |field: &str, message: &str| {
        let mut problem = FormProblem::default();
        problem.add(Place::Field(field.to_owned()), Some(Words::of(label(field))), message);
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

fn profile(form: &Submitted) -> Profile {
    let text = |name: &str| form.value(name).unwrap_or_default().trim().to_owned();
    Profile {
        name: text("name"),
        email: Some(text("email")).filter(|email| !email.is_empty()),
        ..Profile::default()
    }
}

/// The entries of a comma-separated list.
fn listed<'a>(form: &'a Submitted, name: &'a str) -> impl Iterator<Item = &'a str> {
    let text = form.value(name).unwrap_or_default();
    text.split(',').map(str::trim).filter(|word| !word.is_empty())
}

/// Parses the id of a new object.
pub fn id<T: std::str::FromStr<Err = kernel::ids::BadId>>(
    form: &Submitted,
    field: &str,
    label: &str,
) -> Result<T, FormProblem> {
    form.value(field).unwrap_or_default().trim().parse().map_err(|error: kernel::ids::BadId| {
        let mut problem = FormProblem::default();
        let message = format!("Expected {}.", error.expected);
        problem.add(Place::Field(field.to_owned()), Some(Words::of(label)), message);
        problem
    })
}

/// The list of groups.
pub fn groups(directory: &Directory, filled: Filled<'_>) -> SettingsPage {
    let row = |id: &GroupId| {
        let names: Vec<String> =
            directory.members(id).map(|human| words::person(directory, &human.id)).collect();
        let act = Act::Go { href: paths::group(id), label: "Change" };
        let (title, facts) = (Words::of(id.as_str()), Words::of(&names.join(", ")));
        Row { title, href: Some(paths::group(id)), mark: None, facts, act: Some(act) }
    };
    let rows: Vec<Row> = directory.groups().take(CHOICES).map(row).collect();
    let mut blocks = Vec::new();
    if rows.is_empty() {
        blocks.push(Block::Text("There is no group yet.".to_owned()));
    } else {
        blocks.push(Block::Rows(rows));
    }
    let fields = vec![
        filled.text("id", "Name of the group", "").hint("Such as legal or on-call.").needed(),
        members(directory, filled, |_| false),
    ];
    let add = FormView::new(paths::GROUPS, fields, "Make this group").titled("Make a group");
    blocks.push(Block::Form(add));
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
pub fn group(id: &GroupId, directory: &Directory, filled: Filled<'_>) -> SettingsPage {
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
            Block::Form(FormView::new(paths::group(id), fields, "Save who is in it")),
            Block::Link { href: paths::GROUPS.to_owned(), label: "Back to all groups".to_owned() },
        ],
        ..SettingsPage::default()
    }
}

fn members(
    directory: &Directory,
    filled: Filled<'_>,
    is_in: impl Fn(&str) -> bool,
) -> crate::answer_form::fields::FieldView {
    let choice = |human: &Human| {
        (human.id.to_string(), format!("{} ({})", words::person(directory, &human.id), human.id))
    };
    let listed = directory.humans().take(CHOICES).map(choice);
    let rest = directory.humans().skip(CHOICES).filter(|human| is_in(human.id.as_str()));
    let choices: Vec<Choice> = listed.chain(rest.map(choice)).collect();
    filled.some_of("members", "Members", &choices, is_in)
}

/// Parses the members of a group.
pub fn read_group(form: &Submitted, id: GroupId) -> Result<NewGroup, FormProblem> {
    let members = form.values("members").map(str::parse).collect::<Result<_, _>>();
    let members = members.map_err(|_: kernel::ids::BadId| {
        FormProblem::one(Place::Field("members".to_owned()), "Choose people from the list.")
    })?;
    Ok(NewGroup { id, members })
}
