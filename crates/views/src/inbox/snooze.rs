//! Snoozing a request until a given time, and reassigning it to another person.

use askama::Template;
use jiff::ToSpan;
use jiff::civil::{DateTime, Weekday, time};
use jiff::tz::TimeZone;
use kernel::directory::Directory;
use kernel::{Ask, HumanId, Time};

use crate::components::wording::{self, VisibleText};
use crate::site::{assets, paths};
use crate::{PageContext, render};

/// The problem with a submitted form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SnoozeProblem {
    /// The time is missing or in the past.
    Time,
    /// The person has reached the maximum number of snoozed requests.
    Full,
    /// No valid person was chosen. Contains the note that was entered.
    Person(String),
    /// The request is closed or belongs to another person; contains the reason.
    Refused(String),
}

/// Renders the page as HTML.
pub fn page(
    frame: &PageContext,
    ask: &Ask,
    directory: &Directory,
    people: &[HumanId],
    back: &str,
    wrong: Option<&SnoozeProblem>,
) -> String {
    let prompt =
        ask.question.value().map(|question| VisibleText::beginning(question.prompt(), 220));
    let name = |id: &HumanId| (id.to_string(), wording::person_name(directory, id));
    let note = match wrong {
        Some(SnoozeProblem::Person(note)) => note.clone(),
        Some(SnoozeProblem::Time | SnoozeProblem::Full | SnoozeProblem::Refused(_)) | None => {
            String::new()
        }
    };
    let refused = match wrong {
        Some(SnoozeProblem::Full) => Some(t!("snooze-full")),
        Some(SnoozeProblem::Refused(why)) => Some(why.clone()),
        Some(SnoozeProblem::Time | SnoozeProblem::Person(_)) | None => None,
    };
    let here = back.to_owned();
    render(&SnoozePage {
        frame,
        prompt: prompt.unwrap_or_else(wording::erased),
        href: paths::request(ask.id),
        agent: ask.agent.to_string(),
        project: ask.project.to_string(),
        ask: ask.id.to_string(),
        back_href: if back.is_empty() {
            paths::INBOX.to_owned()
        } else {
            format!("{}?{back}", paths::INBOX)
        },
        here,
        people: people.iter().map(name).collect(),
        time_wrong: matches!(wrong, Some(SnoozeProblem::Time)),
        person_wrong: matches!(wrong, Some(SnoozeProblem::Person(_))),
        refused,
        note,
    })
}

#[derive(Template)]
#[template(path = "inbox/snooze_page.html")]
struct SnoozePage<'a> {
    frame: &'a PageContext,
    prompt: VisibleText,
    href: String,
    agent: String,
    project: String,
    ask: String,
    here: String,
    back_href: String,
    people: Vec<(String, String)>,
    time_wrong: bool,
    person_wrong: bool,
    refused: Option<String>,
    note: String,
}

/// The time of a choice in this time zone: `1h`, `tomorrow`, `week`, or `pick` with a date and time
/// in the format of browsers.
pub fn snooze_until(choice: &str, at: Option<&str>, zone: &TimeZone, now: Time) -> Option<Time> {
    let here = now.timestamp().to_zoned(zone.clone());
    let morning = |day: jiff::civil::Date| day.to_datetime(time(9, 0, 0, 0));
    let wanted: DateTime = match choice {
        "1h" => return Some(now.plus_seconds(60 * 60)),
        "tomorrow" => morning(here.date().checked_add(1.day()).ok()?),
        "week" => morning(here.date().nth_weekday(1, Weekday::Monday).ok()?),
        "pick" => at?.trim().parse().ok()?,
        _ => return None,
    };
    let there = wanted.to_zoned(zone.clone()).ok()?;
    Some(Time::new(there.timestamp()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_where_one_is() {
        // A Sunday, late in the evening in Berlin.
        let now: Time = "2026-03-01T22:30:00Z".parse().unwrap();
        let berlin = TimeZone::fixed(jiff::tz::offset(1));
        for (choice, at, expected) in [
            ("1h", None, Some("2026-03-01T23:30:00.000Z")),
            ("tomorrow", None, Some("2026-03-02T08:00:00.000Z")),
            ("week", None, Some("2026-03-02T08:00:00.000Z")),
            ("pick", Some("2026-03-05T14:30"), Some("2026-03-05T13:30:00.000Z")),
            ("pick", Some("2026-03-05T14:30:10"), Some("2026-03-05T13:30:10.000Z")),
            ("pick", Some("soon"), None),
            ("pick", Some("9999-99-99T00:00"), None),
            ("pick", None, None),
            ("never", None, None),
        ] {
            let found = snooze_until(choice, at, &berlin, now).map(|at| at.to_string());
            assert_eq!(found.as_deref(), expected, "{choice} {at:?}");
        }
        let utc = snooze_until("tomorrow", None, &TimeZone::UTC, now).unwrap();
        assert_eq!(utc.to_string(), "2026-03-02T09:00:00.000Z");
    }
}
