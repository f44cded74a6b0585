//! Notification settings: which contact methods come first, which are turned off, and how often to
//! send non-urgent notifications. The person or an administrator sets them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{ContactMethod, Human, Profile, TimeOfDay};
use crate::audit::Erasable;
use crate::command::Envelope;
use crate::event::DirectoryEvent;
use crate::ids::{HumanId, Subject};
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

/// The notification settings of a person.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotificationPreferences {
    /// The contact methods that come first; the others follow in their default order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<ContactMethod>,
    /// The contact methods that are turned off.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub off: BTreeSet<ContactMethod>,
    /// How often non-urgent notifications are sent.
    #[serde(default)]
    pub digest: DigestFrequency,
}

impl NotificationPreferences {
    /// Whether all settings are the defaults.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// How often a person gets a digest of requests that are not urgent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case", tag = "every", deny_unknown_fields)]
#[cfg_attr(feature = "openapi", schema(as = Cadence))]
pub enum DigestFrequency {
    /// No digest; each notification is sent immediately.
    Off,
    /// A digest every full hour.
    #[default]
    Hour,
    /// A digest once a day.
    Day {
        /// At this time of day, in their time zone.
        at: TimeOfDay,
    },
}

/// New notification settings; omitted fields keep their value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewNotificationPreferences {
    /// The person whose settings change.
    pub human: HumanId,
    /// The contact methods that come first.
    pub order: Option<Vec<ContactMethod>>,
    /// The contact methods that are turned off.
    pub off: Option<BTreeSet<ContactMethod>>,
    /// How often non-urgent notifications are sent.
    pub digest: Option<DigestFrequency>,
}

pub(crate) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    new: &NewNotificationPreferences,
) -> Result<Decision, Stop> {
    let (human, before) = person_to_change(world, envelope, &new.human)?;
    let invalid = |field, expected| Stop::from(Refusal::Invalid { field, expected });
    let mut notices = before.notification_preferences.as_deref().cloned().unwrap_or_default();
    if let Some(order) = &new.order {
        let once: BTreeSet<&ContactMethod> = order.iter().collect();
        if once.len() != order.len() || !order.iter().all(|means| before.has_contact_method(means))
        {
            return Err(invalid("order", "contact methods of this person, each at most once"));
        }
        notices.order.clone_from(order);
    }
    if let Some(off) = &new.off {
        if !off.iter().all(|means| before.has_contact_method(means)) {
            return Err(invalid("off", "contact methods of this person"));
        }
        notices.off.clone_from(off);
    }
    notices.digest = new.digest.unwrap_or(notices.digest);
    let after = Profile { notification_preferences: Some(Box::new(notices)), ..before.clone() };
    Ok(save_profile(envelope, human, &before, after))
}

/// The person whose profile the actor wants to change: their own, or anyone's for an administrator.
pub(super) fn person_to_change(
    world: &World<'_>,
    envelope: &Envelope,
    id: &HumanId,
) -> Result<(Human, Profile), Refusal> {
    let own = world.directory.person(&envelope.actor).is_ok_and(|person| person.id == *id);
    if !own && !world.directory.administers(&envelope.actor) {
        let why = "only the person themselves or an administrator can do this";
        return Err(Refusal::NotAllowed { why });
    }
    let human =
        world.directory.existing_human(id).ok_or(Refusal::NotFound { what: "person" })?.clone();
    let profile = human.profile.value().cloned().unwrap_or_default();
    Ok((human, profile))
}

/// The decision to change a profile; empty if nothing changes.
pub(super) fn save_profile(
    envelope: &Envelope,
    human: Human,
    before: &Profile,
    after: Profile,
) -> Decision {
    let after = after.without_stale_settings();
    if after == *before {
        return Decision::default();
    }
    let profile = Erasable::new(after, &mut envelope.salts.clone());
    let subject = Subject::Human(human.id.clone());
    Decision::of(subject, DirectoryEvent::HumanSaved(Box::new(Human { profile, ..human })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Actor;
    use crate::command::DirectoryCommand;
    use crate::testing::{Cast, human};

    fn save(new: NewNotificationPreferences) -> DirectoryCommand {
        DirectoryCommand::SaveNotices(new)
    }

    fn plain() -> NewNotificationPreferences {
        NewNotificationPreferences { human: human("olga"), order: None, off: None, digest: None }
    }

    fn seen(cast: &Cast) -> Option<NotificationPreferences> {
        let olga = cast.directory().human(&human("olga")).unwrap();
        olga.profile.value().unwrap().notification_preferences.as_deref().cloned()
    }

    #[test]
    fn people_say_it_themselves_and_what_is_left_out_stays() {
        let mut cast = Cast::new();
        let daily = DigestFrequency::Day { at: "08:00".parse().unwrap() };
        let new = NewNotificationPreferences { digest: Some(daily), ..plain() };
        cast.run(cast.human("olga"), save(new));
        let new =
            NewNotificationPreferences { off: Some([ContactMethod::Devices].into()), ..plain() };
        cast.run(Actor::System, save(new));
        let off = [ContactMethod::Devices].into();
        assert_eq!(
            seen(&cast),
            Some(NotificationPreferences {
                off,
                digest: daily,
                ..NotificationPreferences::default()
            })
        );
        let before = cast.records().len();
        cast.run(cast.human("olga"), save(plain()));
        assert_eq!(cast.records().len(), before, "nothing happened");
        let back = NewNotificationPreferences {
            off: Some([].into()),
            digest: Some(DigestFrequency::Hour),
            ..plain()
        };
        cast.run(cast.human("olga"), save(back));
        assert_eq!(seen(&cast), None, "as if nothing had been said");
        for actor in [cast.human("mark"), cast.agent("bot")] {
            let nosy = cast.attempt(actor, save(plain()));
            assert!(matches!(nosy, Err(Refusal::NotAllowed { .. })), "{nosy:?}");
        }
    }

    #[test]
    fn only_means_there_are_can_be_ordered() {
        let mut cast = Cast::new();
        let stranger = || ContactMethod::email("eve@example.com");
        let twice = vec![ContactMethod::Devices, ContactMethod::Devices];
        for (field, new) in [
            ("order", NewNotificationPreferences { order: Some(vec![stranger()]), ..plain() }),
            ("order", NewNotificationPreferences { order: Some(twice), ..plain() }),
            ("off", NewNotificationPreferences { off: Some([stranger()].into()), ..plain() }),
        ] {
            let refused = cast.attempt(cast.human("olga"), save(new));
            let named = matches!(&refused, Err(Refusal::Invalid { field: at, .. }) if *at == field);
            assert!(named, "{field}: {refused:?}");
        }
    }

    #[test]
    fn cadences_as_they_are_written() {
        for (cadence, text) in [
            (DigestFrequency::Off, r#"{"every":"off"}"#),
            (DigestFrequency::Hour, r#"{"every":"hour"}"#),
            (
                DigestFrequency::Day { at: "08:30".parse().unwrap() },
                r#"{"every":"day","at":"08:30"}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&cadence).unwrap(), text);
            assert_eq!(serde_json::from_str::<DigestFrequency>(text).unwrap(), cadence);
        }
    }
}
