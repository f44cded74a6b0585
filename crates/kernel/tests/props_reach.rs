//! Laws of how a notice gets through, in any zone and at any moment.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests too")]

use kernel::Time;
use kernel::ask::Priority;
use kernel::audit::Digest;
use kernel::directory::{ContactMethod, DigestFrequency, ProfileSettings, QuietHours, TimeOfDay};
use kernel::follow_up::NotificationReason;
use kernel::notification_steps::{
    Addressee, NextNotification, PendingNotification, next_digest_at, next_notification, retry_at,
};
use proptest::prelude::*;

const ZONES: [&str; 6] = [
    "UTC",
    "Europe/Berlin",
    "America/St_Johns",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "Pacific/Apia",
];

fn moment() -> impl Strategy<Value = Time> {
    // 2026 and 2027, to the millisecond: every change of clocks is among them.
    (1_767_225_600_000_i64..1_830_297_600_000).prop_map(Time::from_millis)
}

fn time_of_day() -> impl Strategy<Value = TimeOfDay> {
    (0..24_u8, 0..60_u8).prop_map(|(h, m)| format!("{h:02}:{m:02}").parse().unwrap())
}

fn about() -> impl Strategy<Value = ProfileSettings> {
    let quiet = proptest::option::of((time_of_day(), time_of_day()));
    (proptest::sample::select(&ZONES[..]), quiet).prop_map(|(zone, quiet)| {
        let quiet = quiet.filter(|(from, to)| from != to);
        ProfileSettings {
            time_zone: Some(zone.to_owned()),
            quiet_hours: quiet.map(|(from, to)| QuietHours { from, to }),
            ..ProfileSettings::default()
        }
    })
}

fn cadence() -> impl Strategy<Value = DigestFrequency> {
    prop_oneof![
        Just(DigestFrequency::Off),
        Just(DigestFrequency::Hour),
        time_of_day().prop_map(|at| DigestFrequency::Day { at }),
    ]
}

fn priority() -> impl Strategy<Value = Priority> {
    proptest::sample::select(&Priority::ALL[..])
}

fn means(n: usize) -> Vec<ContactMethod> {
    (0..n).map(|n| ContactMethod::email(&format!("n{n}@example.com"))).collect()
}

proptest! {
    /// Whatever can wait in one period waits for the same moment, which is later and not quiet.
    #[test]
    fn one_period_is_one_digest(
        about in about(),
        cadence in cadence(),
        now in moment(),
        share in 0.0..1.0_f64,
    ) {
        let Some(at) = next_digest_at(cadence, Some(&about), now) else {
            prop_assert_eq!(cadence, DigestFrequency::Off);
            return Ok(());
        };
        prop_assert!(at > now);
        prop_assert_eq!(about.quiet_until(at), None);
        #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a share")]
        let between = now.millis() + ((at.millis() - now.millis()) as f64 * share) as i64;
        let between = Time::from_millis(between.min(at.millis() - 1));
        prop_assert_eq!(next_digest_at(cadence, Some(&about), between), Some(at));
        let days = (at.millis() - now.millis()) / 86_400_000;
        prop_assert!(days <= 2, "{} days", days);
    }

    /// Every means is tried once, in its order, and then it ends; only quiet hours hold it up.
    #[test]
    fn a_chain_tries_everything_once_and_ends(
        about in about(),
        priority in priority(),
        n in 0..5_usize,
        mut now in moment(),
    ) {
        let means = means(n);
        let to = Addressee { contact_methods: &means, about: Some(&about), digest: DigestFrequency::Off };
        let mut tried: Vec<Digest> = Vec::new();
        let mut told = Vec::new();
        for _ in 0..=2 * n {
            let notice = PendingNotification { priority, why: NotificationReason::Asked, tried: &tried };
            match next_notification(&to, &notice, now) {
                NextNotification::Tell(by) => {
                    prop_assert!(priority == Priority::Critical || about.quiet_until(now).is_none());
                    tried.push(by.digest());
                    told.push(by);
                    let after = PendingNotification { priority, why: NotificationReason::Asked, tried: &tried };
                    let more = retry_at(&to, &after, now);
                    let goes_on = told.len() < n && priority != Priority::Low;
                    prop_assert_eq!(more.is_some(), goes_on);
                    now = more.unwrap_or(now);
                    prop_assert!(more.is_none_or(|at| at >= now));
                }
                NextNotification::Hold(until) => {
                    prop_assert!(priority != Priority::Critical && until > now);
                    now = until;
                }
                NextNotification::Gather(_) => prop_assert!(false, "digests are off"),
                NextNotification::Nothing => break,
            }
        }
        prop_assert_eq!(told, means);
    }

    /// Only what can wait is gathered.
    #[test]
    fn what_is_urgent_is_never_gathered(
        about in about(),
        cadence in cadence(),
        priority in priority(),
        now in moment(),
    ) {
        let means = means(1);
        let to = Addressee { contact_methods: &means, about: Some(&about), digest: cadence };
        for why in [NotificationReason::Asked, NotificationReason::Assigned, NotificationReason::Reminder, NotificationReason::Escalated] {
            let gathered = matches!(next_notification(&to, &PendingNotification { priority, why, tried: &[] }, now), NextNotification::Gather(_));
            let can_wait = priority == Priority::Low && why != NotificationReason::Escalated;
            prop_assert_eq!(gathered, can_wait && cadence != DigestFrequency::Off, "{:?}", why);
        }
    }
}
