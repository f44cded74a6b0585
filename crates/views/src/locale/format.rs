//! Numbers, dates and times as the reader's language writes them (Unicode CLDR), in the reader's
//! time zone.

use icu_datetime::DateTimeFormatter;
use icu_datetime::fieldsets::{self, MD, YMD, YMDT};
use icu_datetime::input::DateTime as IcuDateTime;
use icu_decimal::DecimalFormatter;
use icu_decimal::input::Decimal;
use icu_locale_core::{Locale, locale};
use jiff::Zoned;
use jiff_icu::ConvertFrom as _;
use kernel::Time;

use super::reader::{Language, current, language};

struct Formats {
    decimal: Option<DecimalFormatter>,
    date: Option<DateTimeFormatter<YMD>>,
    day_and_month: Option<DateTimeFormatter<MD>>,
    date_time: Option<DateTimeFormatter<YMDT>>,
    time: Option<icu_datetime::NoCalendarFormatter<fieldsets::T>>,
}

thread_local! {
    // ICU's formatters cannot be shared between threads.
    static FORMATS: [Formats; 2] = [Formats::new(&locale!("en-GB")), Formats::new(&locale!("de"))];
}

impl Formats {
    /// The formats of a language. CLDR's data is compiled in, so none of them is missing.
    fn new(locale: &Locale) -> Self {
        let prefs = || locale.into();
        Self {
            decimal: DecimalFormatter::try_new(
                locale.into(),
                icu_decimal::options::DecimalFormatterOptions::default(),
            )
            .ok(),
            date: DateTimeFormatter::try_new(prefs(), YMD::medium()).ok(),
            day_and_month: DateTimeFormatter::try_new(prefs(), MD::short()).ok(),
            date_time: DateTimeFormatter::try_new(prefs(), YMD::medium().with_time_hm()).ok(),
            time: icu_datetime::NoCalendarFormatter::try_new(prefs(), fieldsets::T::hm()).ok(),
        }
    }

    /// Calls `format` with the formats of a language.
    fn with<T>(language: Language, format: impl FnOnce(&Self) -> T) -> T {
        FORMATS.with(|[english, german]| match language {
            Language::English => format(english),
            Language::German => format(german),
        })
    }
}

/// A whole number: `12,345` or `12.345`.
pub fn number(value: i64) -> String {
    number_in(language(), value)
}

pub(super) fn number_in(language: Language, value: i64) -> String {
    Formats::with(language, |formats| match &formats.decimal {
        Some(formatter) => formatter.format(&Decimal::from(value)).to_string(),
        None => value.to_string(),
    })
}

/// A decimal number in digits with a point, such as `1234.50`, with all its decimal places:
/// `1,234.50` or `1.234,50`. `None` if the text is not such a number.
pub fn decimal(digits: &str) -> Option<String> {
    let value: Decimal = digits.parse().ok()?;
    Formats::with(language(), |formats| Some(formats.decimal.as_ref()?.format(&value).to_string()))
}

/// The moment in the reader's time zone.
fn zoned(at: Time) -> Zoned {
    at.timestamp().to_zoned(current().zone())
}

/// A day: `1 Mar 2026` or `01.03.2026`.
pub fn date(at: Time) -> String {
    let at = zoned(at);
    let day = IcuDateTime::convert_from(at.datetime()).date;
    Formats::with(language(), |formats| match &formats.date {
        Some(formatter) => formatter.format(&day).to_string(),
        None => at.date().to_string(),
    })
}

/// The day in UTC that contains a moment: `1 Mar 2026` or `01.03.2026`.
pub fn utc_date(at: Time) -> String {
    let at = at.timestamp().to_zoned(jiff::tz::TimeZone::UTC);
    let day = IcuDateTime::convert_from(at.datetime()).date;
    Formats::with(language(), |formats| match &formats.date {
        Some(formatter) => formatter.format(&day).to_string(),
        None => at.date().to_string(),
    })
}

/// The same without the year, where there is little room: `01/03` or `01.03.`.
pub fn utc_day_and_month(at: Time) -> String {
    let at = at.timestamp().to_zoned(jiff::tz::TimeZone::UTC);
    let day = IcuDateTime::convert_from(at.datetime()).date;
    Formats::with(language(), |formats| match &formats.day_and_month {
        Some(formatter) => formatter.format(&day).to_string(),
        None => at.strftime("%m-%d").to_string(),
    })
}

/// A time of day: `16:05`.
pub fn time_of_day(at: Time) -> String {
    let at = zoned(at);
    let time = IcuDateTime::convert_from(at.datetime()).time;
    Formats::with(language(), |formats| match &formats.time {
        Some(formatter) => formatter.format(&time).to_string(),
        None => at.strftime("%H:%M").to_string(),
    })
}

/// A moment with its time zone: `1 Mar 2026, 16:05 CET`.
pub fn date_time(at: Time) -> String {
    let at = zoned(at);
    let zone = at.strftime("%Z").to_string();
    let moment = IcuDateTime::convert_from(at.datetime());
    Formats::with(language(), |formats| match &formats.date_time {
        Some(formatter) => format!("{} {zone}", formatter.format(&moment)),
        None => format!("{} {zone}", at.strftime("%Y-%m-%d %H:%M")),
    })
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;
    use crate::locale::{ReaderLocale, with};

    fn berlin(language: Language) -> ReaderLocale {
        ReaderLocale { language, time_zone: TimeZone::get("Europe/Berlin").ok() }
    }

    #[test]
    fn dates_and_numbers_follow_the_reader() {
        let at = Time::from_millis(1_772_372_700_000);
        let shown = || {
            [
                number(1_234_567),
                decimal("1234.50").unwrap(),
                date(at),
                time_of_day(at),
                date_time(at),
            ]
        };
        assert_eq!(
            with(berlin(Language::English), shown),
            ["1,234,567", "1,234.50", "1 Mar 2026", "14:45", "1 Mar 2026, 14:45 CET"]
        );
        assert_eq!(
            with(berlin(Language::German), shown),
            ["1.234.567", "1.234,50", "01.03.2026", "14:45", "01.03.2026, 14:45 CET"]
        );
        assert_eq!(date_time(at), "1 Mar 2026, 13:45 UTC");
        assert_eq!(decimal("12,5"), None);
        assert_eq!(decimal("a lot"), None);
    }
}
