//! A person's profile and absence.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use kernel::directory::profile_settings::zone;
use kernel::directory::{
    Absence, Directory, Human, NewProfile, ProfileSettings, QuietHours, TimeOfDay,
};
use kernel::{HumanId, Time};

use super::controls::{FormDraft, SelectOption};
use super::{FormButton, FormView, MAX_LIST_OPTIONS, SettingsBlock, SettingsPage, time_zones};
use crate::answer_form::fields::FieldView;
use crate::answer_form::problem::{FormProblems, ProblemLocation};
use crate::answer_form::submitted::SubmittedForm;
use crate::components::relative_time::RelativeTime;
use crate::components::wording::{self, VisibleText};
use crate::locale::Language;
use crate::site::{assets, paths};

/// The label of a field of a profile.
pub fn label(field: &str) -> Option<String> {
    Some(match field {
        "name" => t!("settings-profile-name"),
        "about.description" => t!("settings-profile-description"),
        "about.time_zone" => t!("settings-profile-time-zone"),
        "about.language" => t!("settings-profile-language"),
        "about.quiet_hours.from" => t!("settings-profile-quiet-from"),
        "about.quiet_hours.to" => t!("settings-profile-quiet-to"),
        "about.undo_seconds" => t!("settings-profile-undo"),
        "about.absence.from" => t!("settings-away-from"),
        "about.absence.until" => t!("settings-away-until"),
        "about.absence.delegate" => t!("settings-away-delegate"),
        _ => return None,
    })
}

/// The option for no person.
const NOBODY: &str = "-";

fn labeled(field: &str) -> String {
    label(field).unwrap_or_default()
}

/// The page of a person's own profile.
pub fn page(me: &Human, now: Time, filled: FormDraft<'_>) -> SettingsPage {
    let profile = me.profile.value().cloned().unwrap_or_default();
    let about = profile.about.unwrap_or_default();
    let (from, to) = about
        .quiet_hours
        .map_or_else(Default::default, |hours| (hours.from.to_string(), hours.to.to_string()));
    let undo = me.undo_seconds().to_string();
    let description = about.description.as_deref().unwrap_or_default();
    let time_zone = about.time_zone.as_deref().unwrap_or_default();
    let input = |kind, name: &str, current: &str| filled.input(kind, name, &labeled(name), current);
    let fields = vec![
        filled.text("name", &labeled("name"), &profile.name),
        filled
            .area("about.description", &labeled("about.description"), description)
            .hint(t!("settings-profile-description-hint")),
        language_field(filled, about.language.as_deref().unwrap_or_default()),
        time_zones::field(filled, "about.time_zone", &labeled("about.time_zone"), time_zone)
            .hint(t!("settings-profile-time-zone-hint")),
        input("time", "about.quiet_hours.from", &from).hint(t!("settings-profile-quiet-hint")),
        input("time", "about.quiet_hours.to", &to),
        input("number", "about.undo_seconds", &undo).hint(t!("settings-profile-undo-hint")),
    ];
    let mut blocks = Vec::new();
    if let Some(until) = about.quiet_until(now) {
        let until = RelativeTime::new(until, now);
        blocks.push(SettingsBlock::Text(t!("settings-profile-quiet-now", until = until.words)));
    }
    blocks.push(SettingsBlock::Form(FormView::new(
        paths::PROFILE,
        fields,
        t!("settings-profile-save"),
    )));
    blocks.push(SettingsBlock::Text(match &profile.email {
        Some(email) => t!("settings-profile-email", email = email),
        None => t!("settings-profile-no-email"),
    }));
    SettingsPage {
        at: paths::PROFILE,
        title: t!("settings-profile"),
        lead: t!("settings-profile-lead"),
        blocks,
        script: Some(assets::zone_js()),
        ..SettingsPage::default()
    }
}

/// The languages that have a catalog, in their own names, or the one of the browser. A stored tag
/// stays as it is, such as `de-AT` for German.
fn language_field(filled: FormDraft<'_>, stored: &str) -> FieldView {
    let chosen = Language::from_tag(stored);
    let value = |language: Option<Language>| match language {
        _ if language == chosen => stored.to_owned(),
        Some(language) => language.tag().to_owned(),
        None => String::new(),
    };
    let mut choices: Vec<SelectOption> =
        vec![(value(None), t!("settings-profile-language-browser"))];
    choices.extend(
        Language::ALL.map(|language| (value(Some(language)), language.own_name().to_owned())),
    );
    filled.one_of("about.language", &labeled("about.language"), &choices, stored)
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
            problem.add(place, Some(VisibleText::of(&labeled(name))), t!("settings-time-expected"));
        }
        read.ok()
    };
    let (from, to) = (time("about.quiet_hours.from"), time("about.quiet_hours.to"));
    let quiet_hours = from.zip(to).map(|(from, to)| QuietHours { from, to });
    if problem.problems.is_empty() && quiet_hours.is_none() && (from.is_some() || to.is_some()) {
        let missing =
            if from.is_none() { "about.quiet_hours.from" } else { "about.quiet_hours.to" };
        let place = ProblemLocation::Field(missing.to_owned());
        problem.add(
            place,
            Some(VisibleText::of(&labeled(missing))),
            t!("settings-profile-quiet-both"),
        );
    }
    let before = me.profile_settings().cloned().unwrap_or_default();
    let undo_seconds = match given("about.undo_seconds").map(|text| text.parse::<u64>()) {
        Some(Ok(seconds)) => Some(seconds),
        Some(Err(_)) => {
            let place = ProblemLocation::Field("about.undo_seconds".to_owned());
            let message = t!("settings-profile-undo-expected");
            problem.add(place, Some(VisibleText::of(&labeled("about.undo_seconds"))), message);
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
        None => t!("settings-away-lead"),
        Some(absence) => absence_words(absence, directory, now),
    };
    if absence.is_some() {
        let mut back = FormView::new(paths::AWAY, Vec::new(), t!("settings-away-back"));
        back.hidden.push(("do", "back".to_owned()));
        blocks.push(SettingsBlock::Form(back));
    }
    let absence = absence.unwrap_or_default();
    let shown = |at: Option<Time>| {
        at.map(|at| at.timestamp().to_zoned(local.clone()).strftime("%Y-%m-%dT%H:%M").to_string())
            .unwrap_or_default()
    };
    let (mut choices, more) = colleagues(me, directory, absence.delegate.as_ref());
    choices.insert(0, (NOBODY.to_owned(), t!("settings-away-nobody")));
    let delegate = absence.delegate.as_ref().map_or(NOBODY, HumanId::as_str);
    let who = filled.one_of(
        "about.absence.delegate",
        &labeled("about.absence.delegate"),
        &choices,
        delegate,
    );
    let who = if more { who.hint(t!("settings-away-more", count = MAX_LIST_OPTIONS)) } else { who };
    let day = |name: &str, at, hint: String| -> FieldView {
        filled.input("datetime-local", name, &labeled(name), &shown(at)).hint(hint)
    };
    let fields = vec![
        who,
        day("about.absence.until", absence.until, t!("settings-away-until-hint", zone = zone_name)),
        day("about.absence.from", absence.from, t!("settings-away-from-hint")),
    ];
    let (tone, label) = if absence == Absence::default() {
        ("yes", t!("settings-away-button"))
    } else {
        ("plain", t!("settings-away-change"))
    };
    let hidden = vec![("do", "away".to_owned())];
    let buttons = vec![FormButton { tone, sends: None, label }];
    let form = FormView { heading: None, action: paths::AWAY.to_owned(), hidden, fields, buttons };
    blocks.push(SettingsBlock::Form(form));
    blocks.push(SettingsBlock::Text(t!("settings-away-note")));
    SettingsPage {
        at: paths::AWAY,
        title: t!("settings-away"),
        lead,
        blocks,
        ..SettingsPage::default()
    }
}

/// An absence as a sentence.
fn absence_words(absence: &Absence, directory: &Directory, now: Time) -> String {
    let from = absence.from.filter(|from| now < *from).map(|at| RelativeTime::new(at, now).words);
    let back = absence.until.map(|at| RelativeTime::new(at, now));
    let away = match (from, back) {
        (None, None) => t!("settings-away-now"),
        (None, Some(back)) => {
            t!("settings-away-now-until", back = back.words, exact = back.exact)
        }
        (Some(from), None) => t!("settings-away-later", from = from),
        (Some(from), Some(back)) => {
            t!("settings-away-later-until", from = from, back = back.words, exact = back.exact)
        }
    };
    let instead = match &absence.delegate {
        Some(id) => {
            t!("settings-away-delegated", name = wording::person_name(directory, id))
        }
        None => t!("settings-away-undelegated"),
    };
    format!("{away} {instead}")
}

/// Parses the absence form. The rest of the profile stays unchanged.
pub fn read_absence(form: &SubmittedForm, me: &Human) -> Result<NewProfile, FormProblems> {
    let mut about = me.profile_settings().cloned().unwrap_or_default();
    about.absence = None;
    if form.value("do") != Some("back") {
        let zone = local(me);
        let (mut problem, mut delegate) = (FormProblems::default(), None);
        let mut add = |name: &str, message: String| {
            let place = ProblemLocation::Field(name.to_owned());
            problem.add(place, Some(VisibleText::of(&labeled(name))), message);
        };
        let named = form.value("about.absence.delegate");
        if let Some(name) = named.filter(|name| !matches!(*name, "" | NOBODY)) {
            match name.parse() {
                Ok(id) => delegate = Some(id),
                Err(_) => add("about.absence.delegate", t!("settings-person-expected")),
            }
        }
        let mut moment = |name: &str| {
            let text = form.value(name).map(str::trim).filter(|text| !text.is_empty())?;
            let local = text.parse::<DateTime>().ok();
            let at = local.and_then(|at| zone.to_ambiguous_timestamp(at).compatible().ok());
            if at.is_none() {
                add(name, t!("settings-date-time-expected"));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer_form::fields::Control;

    #[test]
    fn a_stored_language_keeps_its_tag_and_shows_as_the_one_that_has_a_catalog() {
        let problems = FormProblems::default();
        let filled = FormDraft { form: None, problems: &problems };
        for (stored, values) in [
            ("", ["", "en", "de"]),
            ("de", ["", "en", "de"]),
            ("de-AT", ["", "en", "de-AT"]),
            ("en-US", ["", "en-US", "de"]),
            // No catalog: the page is in the language of the browser.
            ("fr", ["fr", "en", "de"]),
        ] {
            let Control::Select(options) = language_field(filled, stored).control else {
                panic!("a list")
            };
            let sent: Vec<_> = options.iter().map(|option| option.value.as_str()).collect();
            assert_eq!(sent, values, "{stored}");
            let chosen: Vec<_> = options.iter().filter(|option| option.checked).collect();
            assert_eq!(chosen.len(), 1, "{stored}");
            assert_eq!(chosen[0].value, stored);
        }
    }
}
