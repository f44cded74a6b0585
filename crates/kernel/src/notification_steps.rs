//! Notification steps: what to do next to notify a person. This module only decides; the caller
//! asks again when an attempt has a result, or when there was no reaction for a while.
//!
//! | | patience | quiet hours | digest |
//! |---|---|---|---|
//! | critical | 2 minutes | ignored | never |
//! | high | 5 minutes | held | never |
//! | normal | 15 minutes | held | never |
//! | low | one contact method is enough | held | unless turned off, or it was escalated |

use jiff::civil;
use jiff::tz::TimeZone;

use crate::actor::ActorRef;
use crate::ask::{Ask, Priority};
use crate::audit::Digest;
use crate::directory::{ContactMethod, DigestFrequency, Human, ProfileSettings, TimeOfDay};
use crate::follow_up::NotificationReason;
use crate::ids::HumanId;
use crate::time::Time;

/// The person to notify.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addressee<'a> {
    /// The contact methods that can be used now, in the order in which to try them.
    pub contact_methods: &'a [ContactMethod],
    /// The person's own settings: quiet hours and time zone.
    pub about: Option<&'a ProfileSettings>,
    /// How often they want to receive non-urgent notifications.
    pub digest: DigestFrequency,
}

/// A notification, and the attempts so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PendingNotification<'a> {
    /// How urgent the ask is.
    pub priority: Priority,
    /// Why the person is notified now.
    pub why: NotificationReason,
    /// The [digests](ContactMethod::digest) of the contact methods that were tried without success
    /// or could not be used.
    pub tried: &'a [Digest],
}

/// The next notification step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextNotification {
    /// Notify the person by this contact method.
    Tell(ContactMethod),
    /// Do not disturb the person until then; decide again at that time.
    Hold(Time),
    /// Notify the person then, in a digest with all other non-urgent notifications.
    Gather(Time),
    /// Do nothing: there is no further contact method.
    Nothing,
}

/// The next step for a notification.
pub fn next_notification(
    to: &Addressee<'_>,
    notice: &PendingNotification<'_>,
    now: Time,
) -> NextNotification {
    let Some(next) = untried(to, notice).next() else { return NextNotification::Nothing };
    let can_wait = notice.priority == Priority::Low && notice.why != NotificationReason::Escalated;
    if let Some(at) = next_digest_at(to.digest, to.about, now).filter(|_| can_wait) {
        return NextNotification::Gather(at);
    }
    let quiet = to.about.and_then(|about| about.quiet_until(now));
    match quiet.filter(|_| notice.priority != Priority::Critical) {
        Some(until) => NextNotification::Hold(until),
        None => NextNotification::Tell(next.clone()),
    }
}

/// When to try the next contact method if the person does not react to this attempt. `None` if
/// there is no next one, or if one is enough.
pub fn retry_at(to: &Addressee<'_>, notice: &PendingNotification<'_>, now: Time) -> Option<Time> {
    untried(to, notice).next()?;
    Some(now.plus_seconds(response_wait(notice.priority)?))
}

/// Whether there is a contact method that was not tried.
pub fn has_untried_method(to: &Addressee<'_>, notice: &PendingNotification<'_>) -> bool {
    untried(to, notice).next().is_some()
}

fn untried<'a>(
    to: &'a Addressee<'_>,
    notice: &'a PendingNotification<'_>,
) -> impl Iterator<Item = &'a ContactMethod> {
    to.contact_methods.iter().filter(|means| !notice.tried.contains(&means.digest()))
}

/// How many seconds to wait for a reaction before the next contact method; `None` if one is enough.
pub fn response_wait(priority: Priority) -> Option<u64> {
    match priority {
        Priority::Critical => Some(2 * 60),
        Priority::High => Some(5 * 60),
        Priority::Normal => Some(15 * 60),
        Priority::Low => None,
    }
}

/// When the next digest is sent; `None` if the person wants each notification at once. It is later
/// than `now`, and never in quiet hours: a digest that would fall into them is sent at their end.
pub fn next_digest_at(
    digest: DigestFrequency,
    about: Option<&ProfileSettings>,
    now: Time,
) -> Option<Time> {
    let zone = about.map_or(TimeZone::UTC, ProfileSettings::zone);
    let moments = match digest {
        DigestFrequency::Off => return None,
        DigestFrequency::Hour => hours(&zone, now),
        DigestFrequency::Day { at } => days(&zone, at, now),
    };
    // A digest that was due in quiet hours that have not ended yet is still to be sent.
    let quiet = |at: Time| about.and_then(|about| about.quiet_until(at)).unwrap_or(at);
    moments.into_iter().map(quiet).filter(|at| *at > now).min()
}

/// The full hour before a moment, and the one after it.
fn hours(zone: &TimeZone, now: Time) -> Vec<Time> {
    let local = now.timestamp().to_zoned(zone.clone());
    let into = i64::from(local.minute()) * 60 + i64::from(local.second());
    let begun = now.millis() - into * 1000 - i64::from(local.millisecond());
    vec![Time::from_millis(begun), Time::from_millis(begun.saturating_add(60 * 60 * 1000))]
}

/// A time of day on the days around a moment. If a clock change skips it, it is correspondingly
/// later; if a clock change repeats it, it is the first.
fn days(zone: &TimeZone, at: TimeOfDay, now: Time) -> Vec<Time> {
    let today = now.timestamp().to_zoned(zone.clone()).date();
    let moment = |day: civil::Date| {
        let local = day.to_datetime(at.civil());
        zone.to_ambiguous_timestamp(local).compatible().ok().map(Time::new)
    };
    let around = [today.yesterday().ok(), Some(today), today.tomorrow().ok()];
    around.into_iter().flatten().filter_map(moment).collect()
}

/// Whether an ask waits for a person: it is open, they may answer it, and no other person has
/// claimed it.
pub fn waits_for(ask: &Ask, human: &Human) -> bool {
    let free = ask.claim.as_ref().is_none_or(|claim| claim.human == human.id);
    ask.is_open() && free && ask.may_be_answered_by(human) && ask.held_by() != Some(&human.id)
}

/// Whether a person has reacted to an ask: they opened, claimed, commented or voted. Only the first
/// person who opens an ask is recorded.
pub fn has_reacted(ask: &Ask, id: &HumanId) -> bool {
    let them = |by: &ActorRef| *by == ActorRef::Human(id.clone());
    ask.look.as_ref().is_some_and(|look| them(&look.by))
        || ask.claim.as_ref().is_some_and(|claim| claim.human == *id)
        || ask.votes.iter().any(|vote| them(&vote.by))
        || ask.held_by() == Some(id)
        || ask.comments.iter().any(|comment| them(&comment.by))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{AskCommand, Command};
    use crate::directory::QuietHours;
    use crate::testing::{Cast, human, new_ask};

    const NIGHT: Option<(&str, &str)> = Some(("22:00", "07:30"));

    fn about(zone: &str, quiet: Option<(&str, &str)>) -> ProfileSettings {
        let hours = |(from, to): (&str, &str)| QuietHours {
            from: from.parse().unwrap(),
            to: to.parse().unwrap(),
        };
        ProfileSettings {
            time_zone: Some(zone.to_owned()),
            quiet_hours: quiet.map(hours),
            ..ProfileSettings::default()
        }
    }

    fn at(text: &str) -> Time {
        text.parse().unwrap()
    }

    #[test]
    fn what_comes_next() {
        use NotificationReason::{Asked, Escalated, Reminder};
        use Priority::{Critical, High, Low, Normal};
        let (mail, devices) = (ContactMethod::email("ada@example.com"), ContactMethod::Devices);
        let both = [devices.clone(), mail.clone()];
        let day = about("Europe/Berlin", NIGHT);
        let (noon, night) = ("2026-01-10T11:00:00Z", "2026-01-10T23:00:00Z");
        let morning = at("2026-01-11T06:30:00Z");
        let (hour, off) = (DigestFrequency::Hour, DigestFrequency::Off);
        let by = |means: &ContactMethod| NextNotification::Tell(means.clone());
        for (what, priority, why, tried, digest, now, expected) in [
            ("first", Normal, Asked, &[][..], hour, noon, by(&devices)),
            ("then the next", Normal, Asked, &[&devices][..], hour, noon, by(&mail)),
            ("whatever was tried", High, Asked, &[&mail][..], hour, noon, by(&devices)),
            (
                "then none",
                Critical,
                Asked,
                &[&mail, &devices][..],
                hour,
                noon,
                NextNotification::Nothing,
            ),
            ("at night", High, Asked, &[][..], hour, night, NextNotification::Hold(morning)),
            (
                "also what comes next",
                Normal,
                Asked,
                &[&devices][..],
                hour,
                night,
                NextNotification::Hold(morning),
            ),
            (
                "also a reminder",
                Normal,
                Reminder,
                &[][..],
                hour,
                night,
                NextNotification::Hold(morning),
            ),
            ("but not this", Critical, Asked, &[][..], hour, night, by(&devices)),
            (
                "it can wait",
                Low,
                Asked,
                &[][..],
                hour,
                noon,
                NextNotification::Gather(at("2026-01-10T12:00:00Z")),
            ),
            (
                "also reminders",
                Low,
                Reminder,
                &[][..],
                hour,
                noon,
                NextNotification::Gather(at("2026-01-10T12:00:00Z")),
            ),
            ("until morning", Low, Asked, &[][..], hour, night, NextNotification::Gather(morning)),
            ("nobody else answers", Low, Escalated, &[][..], hour, noon, by(&devices)),
            ("nor at night", Low, Escalated, &[][..], hour, night, NextNotification::Hold(morning)),
            ("at once", Low, Asked, &[][..], off, noon, by(&devices)),
            ("after a failure", Low, Asked, &[&devices][..], off, noon, by(&mail)),
            ("not at night", Low, Asked, &[][..], off, night, NextNotification::Hold(morning)),
        ] {
            let to = Addressee { contact_methods: &both, about: Some(&day), digest };
            let tried: Vec<Digest> = tried.iter().map(|means| means.digest()).collect();
            let notice = PendingNotification { priority, why, tried: &tried };
            assert_eq!(next_notification(&to, &notice, at(now)), expected, "{what}");
        }
        let nobody = Addressee { contact_methods: &[], about: None, digest: hour };
        let notice = PendingNotification { priority: Low, why: Asked, tried: &[] };
        assert_eq!(
            next_notification(&nobody, &notice, at(noon)),
            NextNotification::Nothing,
            "there is no way"
        );
    }

    #[test]
    fn silence_is_borne_for_a_while_and_only_if_there_is_more_to_try() {
        let now = at("2026-01-10T11:00:00Z");
        let means = [ContactMethod::Devices, ContactMethod::email("ada@example.com")];
        let tried = means.each_ref().map(ContactMethod::digest);
        let to = Addressee { contact_methods: &means, about: None, digest: DigestFrequency::Hour };
        for (priority, seconds) in [
            (Priority::Critical, Some(120)),
            (Priority::High, Some(300)),
            (Priority::Normal, Some(900)),
            (Priority::Low, None),
        ] {
            let once = PendingNotification {
                priority,
                why: NotificationReason::Asked,
                tried: &tried[..1],
            };
            let until = seconds.map(|seconds| now.plus_seconds(seconds));
            assert_eq!(retry_at(&to, &once, now), until, "{priority:?}");
            let all = PendingNotification { tried: &tried, ..once };
            assert_eq!(retry_at(&to, &all, now), None, "{priority:?}");
        }
    }

    #[test]
    fn what_can_wait_comes_together() {
        let day = |text: &str| DigestFrequency::Day { at: text.parse().unwrap() };
        for (now, digest, zone, quiet, expected) in [
            ("2026-01-10T11:00:00Z", DigestFrequency::Hour, "UTC", None, "2026-01-10T12:00:00Z"),
            (
                "2026-01-10T11:59:59.999Z",
                DigestFrequency::Hour,
                "UTC",
                None,
                "2026-01-10T12:00:00Z",
            ),
            // The full hour in a time zone that is half an hour off.
            (
                "2026-01-10T11:00:00Z",
                DigestFrequency::Hour,
                "Asia/Kolkata",
                None,
                "2026-01-10T11:30:00Z",
            ),
            // The end of quiet hours is between two full hours, and is not missed in the last of
            // them.
            ("2026-01-10T21:10:00Z", DigestFrequency::Hour, "UTC", NIGHT, "2026-01-11T07:30:00Z"),
            ("2026-01-11T07:10:00Z", DigestFrequency::Hour, "UTC", NIGHT, "2026-01-11T07:30:00Z"),
            ("2026-01-11T07:30:00Z", DigestFrequency::Hour, "UTC", NIGHT, "2026-01-11T08:00:00Z"),
            // The hour that a clock change repeats is two hours.
            (
                "2026-10-25T00:30:00Z",
                DigestFrequency::Hour,
                "Europe/Berlin",
                None,
                "2026-10-25T01:00:00Z",
            ),
            (
                "2026-10-25T01:30:00Z",
                DigestFrequency::Hour,
                "Europe/Berlin",
                None,
                "2026-10-25T02:00:00Z",
            ),
            ("2026-01-10T06:59:00Z", day("08:00"), "Europe/Berlin", None, "2026-01-10T07:00:00Z"),
            ("2026-01-10T07:00:00Z", day("08:00"), "Europe/Berlin", None, "2026-01-11T07:00:00Z"),
            // In summer an hour earlier; elsewhere it is already the next day.
            ("2026-07-10T07:00:00Z", day("08:00"), "Europe/Berlin", None, "2026-07-11T06:00:00Z"),
            (
                "2026-01-10T18:00:00Z",
                day("08:00"),
                "Pacific/Auckland",
                None,
                "2026-01-10T19:00:00Z",
            ),
            // A time that a clock change skips is later; one that occurs twice is the first.
            ("2026-03-28T12:00:00Z", day("02:30"), "Europe/Berlin", None, "2026-03-29T01:30:00Z"),
            ("2026-10-24T12:00:00Z", day("02:30"), "Europe/Berlin", None, "2026-10-25T00:30:00Z"),
            ("2026-10-25T00:45:00Z", day("02:30"), "Europe/Berlin", None, "2026-10-26T01:30:00Z"),
            // Within quiet hours it is their end.
            ("2026-01-10T05:00:00Z", day("06:00"), "UTC", NIGHT, "2026-01-10T07:30:00Z"),
            ("2026-01-10T06:30:00Z", day("06:00"), "UTC", NIGHT, "2026-01-10T07:30:00Z"),
            ("2026-01-10T07:30:00Z", day("06:00"), "UTC", NIGHT, "2026-01-11T07:30:00Z"),
        ] {
            let found = next_digest_at(digest, Some(&about(zone, quiet)), at(now));
            assert_eq!(found, Some(at(expected)), "{now} {digest:?} {zone} {quiet:?}");
        }
        assert_eq!(next_digest_at(DigestFrequency::Off, None, at("2026-01-10T11:00:00Z")), None);
    }

    #[test]
    fn whoever_knows_of_it_is_told_no_more() {
        for what in ["nothing", "a look", "a word", "a claim"] {
            let mut cast = Cast::new();
            let id = cast.ask(new_ask());
            let act = match what {
                "a look" => Some(Command::Ask(AskCommand::Open(id))),
                "a word" => Some(Command::Ask(AskCommand::Comment(id, "hm".to_owned()))),
                "a claim" => Some(Command::Ask(AskCommand::Claim(id))),
                _ => None,
            };
            if let Some(command) = act {
                cast.run(cast.human("olga"), command);
            }
            let ask = cast.seen(id);
            assert_eq!(has_reacted(ask, &human("olga")), what != "nothing", "{what}");
            assert!(!has_reacted(ask, &human("mark")), "{what}");
            let waits = |name| waits_for(ask, cast.directory().human(&human(name)).unwrap());
            assert!(waits("olga") && !waits("mark"), "{what}");
        }
    }
}
