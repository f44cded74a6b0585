//! The name and the self-description of a person, set by the person or an administrator.
//! Only administrators change the email address, because it allows signing in.

use super::notification_preferences::{person_to_change, save_profile};
use super::people::checked_name;
use super::profile_settings::{LONGEST_UNDO, zone};
use super::{Profile, ProfileSettings};
use crate::command::Envelope;
use crate::ids::HumanId;
use crate::refusal::Refusal;
use crate::text::is_storable;
use crate::world::{Decision, Stop, World};

/// The new state of a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewProfile {
    /// The person whose profile changes.
    pub human: HumanId,
    /// The name that others see; `None` keeps the current value.
    pub name: Option<String>,
    /// Their self-description; `None` keeps the current value.
    pub about: Option<ProfileSettings>,
}

/// The maximum length of a description, in characters.
const LONGEST_DESCRIPTION: usize = 1000;

pub(crate) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    new: &NewProfile,
) -> Result<Decision, Stop> {
    let (human, before) = person_to_change(world, envelope, &new.human)?;
    let name = new.name.clone().unwrap_or_else(|| before.name.clone());
    checked_name(&name)?;
    let about = match new.about.clone() {
        Some(about) => checked(world, &human.id, about)?,
        None => before.about.clone(),
    };
    let after = Profile { name, about, ..before.clone() };
    Ok(save_profile(envelope, human, &before, after))
}

/// Checks what a person says about themselves; `None` if all fields are empty.
pub(super) fn checked(
    world: &World<'_>,
    human: &HumanId,
    about: ProfileSettings,
) -> Result<Option<ProfileSettings>, Refusal> {
    let invalid = |field, expected| Err(Refusal::Invalid { field, expected });
    let ProfileSettings { description, time_zone, language, quiet_hours, absence, undo_seconds } =
        &about;
    let fits = |text: &String| is_storable(text) && text.chars().count() <= LONGEST_DESCRIPTION;
    if !description.as_ref().is_none_or(fits) {
        return invalid("about.description", "at most 1000 characters, none of them NUL");
    }
    if time_zone.as_deref().is_some_and(|name| zone(name).is_none()) {
        return invalid("about.time_zone", "an IANA time zone such as Europe/Berlin");
    }
    if language.as_deref().is_some_and(|tag| !is_language(tag)) {
        return invalid("about.language", "a BCP 47 language tag such as en or de-AT");
    }
    if quiet_hours.is_some_and(|hours| hours.from == hours.to) {
        return invalid("about.quiet_hours.to", "a time of day other than their start");
    }
    if undo_seconds.is_some_and(|seconds| seconds > LONGEST_UNDO) {
        return invalid("about.undo_seconds", "a whole number from 0 to 60");
    }
    if let Some(absence) = absence {
        if absence.from.zip(absence.until).is_some_and(|(from, until)| until <= from) {
            return invalid("about.absence.until", "a time after the start of the absence");
        }
        let stands_in = |id: &HumanId| {
            id != human && world.directory.human(id).is_some_and(|delegate| delegate.active)
        };
        if !absence.delegate.as_ref().is_none_or(stands_in) {
            return invalid("about.absence.delegate", "the ID of another active person");
        }
    }
    Ok(Some(about).filter(|about| !about.is_empty()))
}

/// Whether a text has the form of a language tag: a language, and its subtags.
fn is_language(tag: &str) -> bool {
    let mut parts = tag.split('-');
    let language = parts.next().unwrap_or_default();
    let first =
        (2..=3).contains(&language.len()) && language.bytes().all(|b| b.is_ascii_alphabetic());
    let more = |part: &str| {
        (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    tag.len() <= 35 && first && parts.all(more)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::Actor;
    use crate::command::DirectoryCommand;
    use crate::directory::{Absence, NewHuman, QuietHours};
    use crate::testing::{Cast, human};

    fn save(name: &str, about: ProfileSettings) -> DirectoryCommand {
        DirectoryCommand::SaveProfile(NewProfile {
            human: human(name),
            name: None,
            about: Some(about),
        })
    }

    fn about() -> ProfileSettings {
        ProfileSettings {
            description: Some("Refunds and returns".to_owned()),
            time_zone: Some("Europe/Berlin".to_owned()),
            language: Some("de-AT".to_owned()),
            quiet_hours: Some(QuietHours {
                from: "22:00".parse().unwrap(),
                to: "07:00".parse().unwrap(),
            }),
            absence: Some(Absence { delegate: Some(human("mark")), ..Absence::default() }),
            undo_seconds: Some(60),
        }
    }

    #[test]
    fn people_say_it_themselves_and_administrators_for_anybody() {
        let mut cast = Cast::new();
        cast.run(cast.human("olga"), save("olga", about()));
        assert_eq!(
            cast.directory().human(&human("olga")).unwrap().profile_settings(),
            Some(&about())
        );
        for actor in [cast.human("mark"), cast.agent("bot")] {
            let nosy = cast.attempt(actor, save("olga", ProfileSettings::default()));
            assert!(matches!(nosy, Err(Refusal::NotAllowed { .. })), "{nosy:?}");
        }
        cast.run(Actor::System, save("olga", ProfileSettings::default()));
        assert_eq!(cast.directory().human(&human("olga")).unwrap().profile_settings(), None);
        let ghost = cast.attempt(Actor::System, save("ghost", about()));
        assert_eq!(ghost, Err(Refusal::NotFound { what: "person" }));
    }

    #[test]
    fn what_is_not_said_stays_and_the_address_always_does() {
        let mut cast = Cast::new();
        let known = cast.directory().human(&human("olga")).unwrap().clone();
        let profile = Profile {
            name: "Olga".to_owned(),
            email: Some("olga@example.com".to_owned()),
            about: Some(about()),
            ..Profile::default()
        };
        let new = NewHuman {
            id: known.id,
            profile: profile.clone(),
            admin: false,
            active: true,
            projects: known.projects,
            groups: known.groups,
            skills: known.skills,
        };
        cast.run(Actor::System, DirectoryCommand::SaveHuman(new.clone()));
        let seen = |cast: &Cast| {
            let olga = cast.directory().human(&human("olga")).unwrap();
            olga.profile.value().unwrap().clone()
        };
        assert_eq!(seen(&cast), profile);
        // An administrator who changes another field keeps it.
        let other = Profile { about: None, ..profile.clone() };
        cast.run(Actor::System, DirectoryCommand::SaveHuman(NewHuman { profile: other, ..new }));
        assert_eq!(seen(&cast), profile);
        let name = Some("Olga P.".to_owned());
        let renamed = NewProfile { human: human("olga"), name, about: None };
        cast.run(cast.human("olga"), DirectoryCommand::SaveProfile(renamed.clone()));
        assert_eq!(seen(&cast), Profile { name: "Olga P.".to_owned(), ..profile });
        let before = cast.records().len();
        cast.run(cast.human("olga"), DirectoryCommand::SaveProfile(renamed));
        assert_eq!(cast.records().len(), before, "nothing happened");
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_name() {
        let mut cast = Cast::new();
        let away = |absence| ProfileSettings { absence: Some(absence), ..about() };
        let delegate = |name: &str| Absence { delegate: Some(human(name)), ..Absence::default() };
        let noon = "12:00".parse().unwrap();
        let at = |seconds| Some(cast.now().plus_seconds(seconds));
        let long = "x".repeat(1001);
        let backwards = Absence { from: at(60), until: at(60), delegate: None };
        for (field, wrong) in [
            ("about.description", ProfileSettings { description: Some(long), ..about() }),
            (
                "about.description",
                ProfileSettings { description: Some("a\0b".to_owned()), ..about() },
            ),
            (
                "about.time_zone",
                ProfileSettings { time_zone: Some("Mars/Olympus".to_owned()), ..about() },
            ),
            ("about.language", ProfileSettings { language: Some("German!".to_owned()), ..about() }),
            ("about.language", ProfileSettings { language: Some(String::new()), ..about() }),
            ("about.undo_seconds", ProfileSettings { undo_seconds: Some(61), ..about() }),
            (
                "about.quiet_hours.to",
                ProfileSettings {
                    quiet_hours: Some(QuietHours { from: noon, to: noon }),
                    ..about()
                },
            ),
            ("about.absence.until", away(backwards)),
            ("about.absence.delegate", away(delegate("olga"))),
            ("about.absence.delegate", away(delegate("ghost"))),
        ] {
            let refused = cast.attempt(cast.human("olga"), save("olga", wrong.clone()));
            let named = matches!(&refused, Err(Refusal::Invalid { field: at, .. }) if *at == field);
            assert!(named, "{field}: {wrong:?} gave {refused:?}");
        }
        for tag in ["en", "de-AT", "zh-Hans-CN", "sr-Latn", "gsw"] {
            assert!(is_language(tag), "{tag}");
        }
    }

    /// Profiles stored before these fields existed are read and written unchanged.
    #[test]
    fn a_profile_that_says_nothing_is_stored_as_ever() {
        let profile = Profile { name: "Ann".to_owned(), email: None, ..Profile::default() };
        let stored = serde_json::to_string(&profile).unwrap();
        assert_eq!(stored, r#"{"name":"Ann"}"#);
        assert_eq!(serde_json::from_str::<Profile>(&stored).unwrap(), profile);
        let said = Profile { about: Some(about()), ..profile };
        let stored = serde_json::to_string(&said).unwrap();
        assert_eq!(serde_json::from_str::<Profile>(&stored).unwrap(), said);
    }
}
