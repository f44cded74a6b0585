//! A person's profile and absence.

use std::sync::LazyLock;

use jiff::civil::DateTime;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use kernel::directory::profile_settings::zone;
use kernel::directory::{
    Absence, Directory, Human, NewProfile, ProfileSettings, QuietHours, TimeOfDay,
};
use kernel::{HumanId, Time};

use super::controls::{FormDraft, SelectOption};
use super::{FormButton, FormView, MAX_LIST_OPTIONS, SettingsBlock, SettingsPage};
use crate::answer_form::fields::FieldView;
use crate::answer_form::problem::{FormProblems, ProblemLocation};
use crate::answer_form::submitted::SubmittedForm;
use crate::components::relative_time::RelativeTime;
use crate::components::wording::{self, VisibleText};
use crate::site::paths;

/// The labels of the fields of a profile, for problems.
pub const LABELS: &[(&str, &str)] = &[
    ("name", "Your name"),
    ("about.description", "What you do"),
    ("about.time_zone", "Time zone"),
    ("about.language", "Language"),
    ("about.quiet_hours.from", "Quiet from"),
    ("about.quiet_hours.to", "Quiet until"),
    ("about.undo_seconds", "Undo window"),
    ("about.absence.from", "Away from"),
    ("about.absence.until", "Back on"),
    ("about.absence.delegate", "Who is asked instead"),
];

/// The option for no person.
const NOBODY: &str = "-";

/// The names of all time zones.
static ZONES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let known = TimeZoneDatabase::bundled();
    let names = known.available().map(|name| name.to_string());
    names.filter(|name| name.contains('/') && !name.starts_with("Etc/")).collect()
});

fn label(field: &str) -> &'static str {
    LABELS.iter().find(|(name, _)| *name == field).map_or("", |(_, label)| label)
}

/// The page of a person's own profile.
pub fn page(me: &Human, now: Time, filled: FormDraft<'_>) -> SettingsPage {
    let profile = me.profile.value().cloned().unwrap_or_default();
    let about = profile.about.unwrap_or_default();
    let (from, to) = about
        .quiet_hours
        .map_or_else(Default::default, |hours| (hours.from.to_string(), hours.to.to_string()));
    let undo = me.undo_seconds().to_string();
    let text = |name: &str, current: Option<String>| {
        filled.text(name, label(name), &current.unwrap_or_default())
    };
    let fields = vec![
        text("name", Some(profile.name)),
        filled
            .area("about.description", label("about.description"), &about.description.clone().unwrap_or_default())
            .hint("What others should know before they hand you a request."),
        filled
            .suggested(
                "about.time_zone",
                label("about.time_zone"),
                &about.time_zone.clone().unwrap_or_default(),
                ZONES.clone(),
            )
            .hint("Such as Europe/Berlin. Quiet hours and absences are read in it; without one, in UTC."),
        text("about.language", about.language.clone()).hint("A tag such as en or de-AT."),
        filled
            .input("time", "about.quiet_hours.from", label("about.quiet_hours.from"), &from)
            .hint("When you would rather not be disturbed: notices on your devices wait until it is over, unless a request is critical. Leave both empty to have none."),
        filled.input("time", "about.quiet_hours.to", label("about.quiet_hours.to"), &to),
        filled
            .input("number", "about.undo_seconds", label("about.undo_seconds"), &undo)
            .hint("For how many seconds you can undo an answer, from 0 to 60. The agent gets your answer after that; with 0 it gets it at once."),
    ];
    let mut blocks = Vec::new();
    if let Some(until) = about.quiet_until(now) {
        let until = RelativeTime::new(until, now);
        blocks.push(SettingsBlock::Text(format!(
            "It is quiet for you now; notices go on {}.",
            until.words
        )));
    }
    blocks.push(SettingsBlock::Form(FormView::new(paths::PROFILE, fields, "Save your profile")));
    let email = profile.email.unwrap_or_else(|| "none".to_owned());
    blocks.push(SettingsBlock::Text(format!(
        "Your address: {email}. It lets you sign in by mail, so only an administrator changes it."
    )));
    SettingsPage {
        at: paths::PROFILE,
        title: "My profile".to_owned(),
        lead: "Who you are and how you want to be reached.".to_owned(),
        blocks,
        ..SettingsPage::default()
    }
}

/// Parses the profile form. The absence has its own page and stays unchanged.
pub fn read(form: &SubmittedForm, me: &Human) -> Result<NewProfile, FormProblems> {
    let given = |name: &str| {
        let text = form.text(name).map(|text| text.trim().to_owned());
        text.filter(|text| !text.is_empty())
    };
    let mut problem = FormProblems::default();
    let mut time = |name: &str| {
        let text = given(name)?;
        // Some browsers also send seconds.
        let minutes = text.get(..5).filter(|_| text.len() == 8).unwrap_or(&text);
        let read = minutes.parse::<TimeOfDay>();
        if read.is_err() {
            let place = ProblemLocation::Field(name.to_owned());
            problem.add(
                place,
                Some(VisibleText::of(label(name))),
                "Expected a time of day such as 22:30.",
            );
        }
        read.ok()
    };
    let (from, to) = (time("about.quiet_hours.from"), time("about.quiet_hours.to"));
    let quiet_hours = from.zip(to).map(|(from, to)| QuietHours { from, to });
    if problem.problems.is_empty() && quiet_hours.is_none() && (from.is_some() || to.is_some()) {
        let missing =
            if from.is_none() { "about.quiet_hours.from" } else { "about.quiet_hours.to" };
        let place = ProblemLocation::Field(missing.to_owned());
        problem.add(place, Some(VisibleText::of(label(missing))), "Give both times, or neither.");
    }
    let before = me.profile_settings().cloned().unwrap_or_default();
    let undo_seconds = match given("about.undo_seconds").map(|text| text.parse::<u64>()) {
        Some(Ok(seconds)) => Some(seconds),
        Some(Err(_)) => {
            let place = ProblemLocation::Field("about.undo_seconds".to_owned());
            let message = "Expected a whole number from 0 to 60.";
            problem.add(place, Some(VisibleText::of(label("about.undo_seconds"))), message);
            None
        }
        // An empty field selects the default; a form without the field leaves
        // the setting unchanged.
        None => before.undo_seconds.filter(|_| form.value("about.undo_seconds").is_none()),
    };
    if !problem.problems.is_empty() {
        return Err(problem);
    }
    let about = ProfileSettings {
        description: given("about.description"),
        time_zone: given("about.time_zone"),
        language: given("about.language"),
        quiet_hours,
        absence: before.absence,
        undo_seconds,
    };
    let name = Some(form.text("name").unwrap_or_default().trim().to_owned());
    Ok(NewProfile { human: me.id.clone(), name, about: Some(about) })
}

/// The page where a person sets or ends their absence.
pub fn absence_page(
    me: &Human,
    directory: &Directory,
    now: Time,
    filled: FormDraft<'_>,
) -> SettingsPage {
    let about = me.profile_settings().cloned().unwrap_or_default();
    let zone_name = about.time_zone.clone().unwrap_or_else(|| "UTC".to_owned());
    let local = local(me);
    let absence = about.absence.filter(|absence| absence.until.is_none_or(|until| now < until));
    let mut blocks = Vec::new();
    let lead = match &absence {
        None => "While you are away, whoever you name is asked instead of you.".to_owned(),
        Some(absence) => absence_words(absence, directory, now),
    };
    if absence.is_some() {
        let mut back = FormView::new(paths::AWAY, Vec::new(), "I\u{2019}m back");
        back.hidden.push(("do", "back".to_owned()));
        blocks.push(SettingsBlock::Form(back));
    }
    let absence = absence.unwrap_or_default();
    let shown = |at: Option<Time>| {
        at.map(|at| at.timestamp().to_zoned(local.clone()).strftime("%Y-%m-%dT%H:%M").to_string())
            .unwrap_or_default()
    };
    let (mut choices, more) = colleagues(me, directory, absence.delegate.as_ref());
    choices.insert(0, (NOBODY.to_owned(), "Nobody: requests stay with you".to_owned()));
    let delegate = absence.delegate.as_ref().map_or(NOBODY, HumanId::as_str);
    let who = filled.one_of(
        "about.absence.delegate",
        label("about.absence.delegate"),
        &choices,
        delegate,
    );
    let who = if more {
        who.hint("Only the first 500 people are listed; name others over the API.")
    } else {
        who
    };
    let day = |name: &str, at, hint: &str| -> FieldView {
        filled.input("datetime-local", name, label(name), &shown(at)).hint(hint)
    };
    let fields = vec![
        who,
        day(
            "about.absence.until",
            absence.until,
            &format!(
                "Leave it empty to be away until you say that you are back. Times are in {zone_name}."
            ),
        ),
        day("about.absence.from", absence.from, "Leave it empty to be away from now on."),
    ];
    let mut form = FormView::new(paths::AWAY, fields, "I\u{2019}m away");
    form.hidden.push(("do", "away".to_owned()));
    form.buttons = vec![FormButton {
        tone: if absence == Absence::default() { "yes" } else { "plain" },
        sends: None,
        label: if absence == Absence::default() { "I\u{2019}m away" } else { "Change it" }
            .to_owned(),
    }];
    blocks.push(SettingsBlock::Form(form));
    blocks.push(SettingsBlock::Text(
        "Requests you were asked before stay with you; you can still answer everything. Somebody who \
         is away too, or not in the request\u{2019}s project, is not asked instead."
            .to_owned(),
    ));
    SettingsPage {
        at: paths::AWAY,
        title: "Away or back".to_owned(),
        lead,
        blocks,
        ..SettingsPage::default()
    }
}

/// An absence as a sentence.
fn absence_words(absence: &Absence, directory: &Directory, now: Time) -> String {
    let since = match absence.from.filter(|from| now < *from) {
        Some(from) => format!("You will be away {}", RelativeTime::new(from, now).words),
        None => "You are away".to_owned(),
    };
    let until = absence.until.map(|until| {
        let RelativeTime { words, exact, .. } = RelativeTime::new(until, now);
        format!(" and back {words} ({exact})")
    });
    let instead = match &absence.delegate {
        Some(id) => format!("{} is asked instead", wording::person_name(directory, id)),
        None => "Nobody stands in for you, so requests stay with you".to_owned(),
    };
    format!("{since}{}. {instead}.", until.unwrap_or_default())
}

/// Parses the absence form. The rest of the profile stays unchanged.
pub fn read_absence(form: &SubmittedForm, me: &Human) -> Result<NewProfile, FormProblems> {
    let mut about = me.profile_settings().cloned().unwrap_or_default();
    about.absence = None;
    if form.value("do") != Some("back") {
        let zone = local(me);
        let (mut problem, mut delegate) = (FormProblems::default(), None);
        let mut add = |name: &str, message: &str| {
            let place = ProblemLocation::Field(name.to_owned());
            problem.add(place, Some(VisibleText::of(label(name))), message);
        };
        let named = form.value("about.absence.delegate");
        if let Some(name) = named.filter(|name| !matches!(*name, "" | NOBODY)) {
            match name.parse() {
                Ok(id) => delegate = Some(id),
                Err(_) => add("about.absence.delegate", "Choose somebody from the list."),
            }
        }
        let mut moment = |name: &str| {
            let text = form.value(name).map(str::trim).filter(|text| !text.is_empty())?;
            let local = text.parse::<DateTime>().ok();
            let at = local.and_then(|at| zone.to_ambiguous_timestamp(at).compatible().ok());
            if at.is_none() {
                add(name, "Expected a day and a time, such as 2026-12-24T08:00.");
            }
            at.map(Time::new)
        };
        let (from, until) = (moment("about.absence.from"), moment("about.absence.until"));
        if !problem.problems.is_empty() {
            return Err(problem);
        }
        about.absence = Some(Absence { from, until, delegate });
    }
    Ok(NewProfile { human: me.id.clone(), name: None, about: Some(about) })
}

fn local(me: &Human) -> TimeZone {
    let name = me.profile_settings().and_then(|about| about.time_zone.as_deref());
    name.and_then(zone).unwrap_or(TimeZone::UTC)
}

/// The active people who share a project with this person, and whether there are more than
/// can be shown.
fn colleagues(
    me: &Human,
    directory: &Directory,
    named: Option<&HumanId>,
) -> (Vec<SelectOption>, bool) {
    let shares = |human: &&Human| {
        human.id != me.id && human.active && !human.projects.is_disjoint(&me.projects)
    };
    let choice =
        |id: &HumanId| (id.to_string(), format!("{} ({id})", wording::person_name(directory, id)));
    let mut found: Vec<SelectOption> = directory
        .humans()
        .filter(shares)
        .take(MAX_LIST_OPTIONS + 1)
        .map(|human| choice(&human.id))
        .collect();
    let more = found.len() > MAX_LIST_OPTIONS;
    found.truncate(MAX_LIST_OPTIONS);
    if let Some(named) = named.filter(|id| !found.iter().any(|(known, _)| known == id.as_str())) {
        found.push(choice(named));
    }
    (found, more)
}
