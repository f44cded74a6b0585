//! Charts as inline SVG, with a title and a sentence for people who cannot see them, and their
//! numbers as a table. No information is carried by colour or height alone.

use kernel::Time;
use kernel::insight::Day;

use crate::locale;

/// The width of a drawing in its own units: about that of a phone, so that its text
/// stays readable there.
pub const WIDTH: u32 = 360;
/// The maximum height of a column.
const COLUMN_HEIGHT: u32 = 110;
/// The y coordinate of the base line of columns.
const BASE_LINE: u32 = 130;
/// The height of one bar with the text above it.
const BAR_HEIGHT: u32 = 36;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chart {
    /// The prefix of the element ids on the page.
    pub id: &'static str,
    pub title: String,
    /// The chart's content as a sentence.
    pub says: String,
    /// The height of the drawing.
    pub height: u32,
    pub marks: Vec<ChartShape>,
    /// The headings of its table.
    pub head: Vec<String>,
    /// The rows of its table.
    pub rows: Vec<Vec<String>>,
}

/// One shape or text of a drawing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChartShape {
    Bar {
        x: u32,
        y: u32,
        width: u32,
        height: u32,
        /// The style class.
        tone: &'static str,
    },
    /// A horizontal line.
    Rule {
        /// The distance from the top.
        y: u32,
    },
    Text {
        x: u32,
        y: u32,
        /// The SVG `text-anchor`.
        anchor: &'static str,
        /// The style class.
        tone: &'static str,
        text: String,
    },
    /// A line through several points.
    Line {
        /// The value of the SVG `points` attribute.
        points: String,
    },
    Dot {
        /// The distance from the left.
        x: u32,
        /// The distance from the top.
        y: u32,
    },
}

/// A number with its label and its formatted text.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartValue {
    pub label: String,
    pub n: f64,
    /// The number as it is shown.
    pub shown: String,
    /// The style class.
    pub tone: &'static str,
}

impl ChartValue {
    /// A part that shows a count.
    pub fn count(label: impl Into<String>, n: u64) -> Self {
        Self { label: label.into(), n: number(n), shown: grouped(n), tone: "" }
    }

    /// A part that shows a share.
    pub fn share(label: impl Into<String>, share: f64, shown: String) -> Self {
        Self { label: label.into(), n: share, shown, tone: "" }
    }

    /// The same part with another style class.
    #[must_use]
    pub fn toned(self, tone: &'static str) -> Self {
        Self { tone, ..self }
    }
}

/// Converts a count for drawing.
#[expect(clippy::cast_precision_loss, reason = "for drawing, not for counting")]
pub fn number(n: u64) -> f64 {
    n as f64
}

/// Bars below each other, each with its text above it.
pub fn bars(parts: &[ChartValue], most: Option<f64>) -> (u32, Vec<ChartShape>) {
    let most = most.unwrap_or_else(|| largest(parts));
    let mut marks = Vec::with_capacity(parts.len() * 3);
    let mut y = 0;
    for part in parts {
        marks.push(text(0, y + 13, "start", "", part.label.clone()));
        marks.push(text(WIDTH, y + 13, "end", "n", part.shown.clone()));
        let width = scaled(part.n, most, WIDTH);
        marks.push(ChartShape::Bar { x: 0, y: y + 19, width, height: 9, tone: part.tone });
        y += BAR_HEIGHT;
    }
    (y, marks)
}

/// Columns beside each other. If there are many, only some have a label below.
pub fn columns(parts: &[ChartValue], most: Option<f64>) -> (u32, Vec<ChartShape>) {
    let most = most.unwrap_or_else(|| largest(parts));
    let n = u32::try_from(parts.len()).unwrap_or(1).max(1);
    let step = WIDTH / n;
    let gap = if step > 6 { step / 6 } else { 0 };
    // A label needs about this much room. The first label starts at the edge, not below the middle
    // of its column, so narrow columns need a larger distance to the second label.
    let room = 52_u32.saturating_sub((step - gap) / 2).max(44);
    let every = (room * n).div_ceil(WIDTH);
    let mut marks = vec![ChartShape::Rule { y: BASE_LINE }];
    for (place, part) in (0_u32..).zip(parts) {
        // The position is computed per column: with a year of columns, each is less than
        // one unit wide.
        let (x, next) = (place * WIDTH / n, (place + 1) * WIDTH / n);
        let height = scaled(part.n, most, COLUMN_HEIGHT);
        let width = (next - x).saturating_sub(gap).max(1);
        marks.push(ChartShape::Bar { x, y: BASE_LINE - height, width, height, tone: part.tone });
        let middle = x + width / 2;
        if n <= 16 && part.n > 0.0 {
            let above = BASE_LINE.saturating_sub(height + 4);
            // A longer number would overlap its neighbours; the table has the full number.
            let shown = if part.shown.len() > 5 { rounded(part.n) } else { part.shown.clone() };
            marks.push(text(middle, above, "middle", "n", shown));
        }
        // The last label would overlap the one before it.
        if place % every == 0 && (place == 0 || x + 40 <= WIDTH) {
            let (at, anchor) = if place == 0 { (0, "start") } else { (middle, "middle") };
            marks.push(text(at, BASE_LINE + 16, anchor, "", part.label.clone()));
        }
    }
    (BASE_LINE + 22, marks)
}

/// A line over days, interrupted on days without a value.
pub fn trend(days: &[(Day, Option<f64>)], least: f64, most: f64) -> (u32, Vec<ChartShape>) {
    let mut marks = Vec::new();
    for value in [least, f64::midpoint(least, most), most] {
        let y = BASE_LINE - scaled(value - least, most - least, COLUMN_HEIGHT);
        marks.push(ChartShape::Rule { y });
        marks.push(text(0, y.saturating_sub(3), "start", "", format!("{value:.0}")));
    }
    let last = u32::try_from(days.len().saturating_sub(1)).unwrap_or(1).max(1);
    let place = |n: u32, value: f64| {
        let x = 24 + n * (WIDTH - 30) / last;
        (x, BASE_LINE - scaled(value - least, most - least, COLUMN_HEIGHT))
    };
    let mut line: Vec<(u32, u32)> = Vec::new();
    let mut draw = |line: &mut Vec<(u32, u32)>| {
        if line.len() > 1 {
            let points: Vec<String> = line.iter().map(|(x, y)| format!("{x},{y}")).collect();
            marks.push(ChartShape::Line { points: points.join(" ") });
        }
        marks.extend(line.drain(..).map(|(x, y)| ChartShape::Dot { x, y }));
    };
    for (n, (_, value)) in (0_u32..).zip(days) {
        match value {
            Some(value) => line.push(place(n, *value)),
            None => draw(&mut line),
        }
    }
    draw(&mut line);
    if let (Some((first, _)), Some((end, _))) = (days.first(), days.last()) {
        marks.push(text(0, BASE_LINE + 16, "start", "", day_label(*first)));
        marks.push(text(WIDTH, BASE_LINE + 16, "end", "", day_label(*end)));
    }
    (BASE_LINE + 22, marks)
}

fn text(x: u32, y: u32, anchor: &'static str, tone: &'static str, text: String) -> ChartShape {
    ChartShape::Text { x, y, anchor, tone, text }
}

fn largest(parts: &[ChartValue]) -> f64 {
    parts.iter().map(|part| part.n).fold(0.0, f64::max)
}

/// A count as the reader's language writes it.
pub fn grouped(n: u64) -> String {
    locale::number(i64::try_from(n).unwrap_or(i64::MAX))
}

/// When a day in UTC begins.
fn beginning(day: Day) -> Time {
    Time::from_millis(day.number().saturating_mul(86_400_000))
}

/// A day as the reader's language writes it.
pub fn day_label(day: Day) -> String {
    locale::utc_date(beginning(day))
}

/// The same without the year, for a label with little room.
pub fn short_day_label(day: Day) -> String {
    locale::utc_day_and_month(beginning(day))
}

/// A share as a whole percentage.
pub fn percent(share: f64) -> String {
    t!("percent", n = format!("{:.0}", share * 100.0))
}

/// A short form of a number, for places with little room.
fn rounded(n: f64) -> String {
    match n {
        n if n < 9_999.5 => format!("{n:.0}"),
        n if n < 999_500.0 => t!("chart-thousands", n = format!("{:.0}", n / 1e3)),
        n => {
            let millions = format!("{:.1}", n / 1e6);
            t!("chart-millions", n = locale::decimal(&millions).unwrap_or(millions))
        }
    }
}

/// Scales a value to a length. A value above zero is always visible.
fn scaled(n: f64, most: f64, length: u32) -> u32 {
    if n <= 0.0 || most <= 0.0 {
        return 0;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the length"
    )]
    let drawn = ((n / most).min(1.0) * f64::from(length)).round() as u32;
    drawn.max(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inside(marks: &[ChartShape], height: u32) {
        for mark in marks {
            match mark {
                ChartShape::Bar { x, y, width, height: tall, .. } => {
                    assert!(x + width <= WIDTH && y + tall <= height, "{mark:?}");
                }
                ChartShape::Text { x, y, .. } | ChartShape::Dot { x, y } => {
                    assert!(*x <= WIDTH && *y <= height, "{mark:?}");
                }
                ChartShape::Rule { y } => assert!(*y <= height),
                ChartShape::Line { points } => assert!(points.contains(' ')),
            }
        }
    }

    #[test]
    fn whatever_is_drawn_lies_inside() {
        for n in [0_u64, 1, 7, 10, 16, 30, 90, 400] {
            let parts: Vec<ChartValue> =
                (0..n).map(|n| ChartValue::count(format!("part {n}"), n)).collect();
            for (height, marks) in [bars(&parts, None), columns(&parts, Some(1.0))] {
                inside(&marks, height);
            }
            let day = |n: u64| Day::from_number(i64::try_from(n).unwrap());
            let value = |n: u64| (!n.is_multiple_of(3)).then_some(number(n % 10) + 1.0);
            let days: Vec<_> = (0..n).map(|n| (day(n), value(n))).collect();
            let (height, marks) = trend(&days, 1.0, 10.0);
            inside(&marks, height);
        }
    }

    #[test]
    fn numbers_are_read_at_a_glance() {
        for (n, shown, short) in [
            (0, "0", "0"),
            (999, "999", "999"),
            (1_000, "1,000", "1000"),
            (12_345, "12,345", "12k"),
            (999_499, "999,499", "999k"),
            (999_500, "999,500", "1.0M"),
            (1_234_567, "1,234,567", "1.2M"),
        ] {
            assert_eq!((grouped(n).as_str(), rounded(number(n)).as_str()), (shown, short));
        }
    }

    /// Columns fill the whole width, whatever their number.
    #[test]
    fn columns_take_the_whole_width() {
        for n in [1_u64, 7, 30, 90, 365] {
            let parts: Vec<ChartValue> =
                (0..n).map(|n| ChartValue::count(format!("part {n}"), n)).collect();
            let (_, marks) = columns(&parts, None);
            let ends = marks.iter().filter_map(|mark| match mark {
                ChartShape::Bar { x, width, .. } => Some(x + width),
                _ => None,
            });
            let ends: Vec<u32> = ends.collect();
            assert!(ends.is_sorted(), "{n}: {ends:?}");
            let gap = WIDTH / u32::try_from(n).unwrap() / 6;
            assert!(ends.last().is_some_and(|end| end + gap >= WIDTH), "{n}: {ends:?}");
        }
    }

    /// Labels do not overlap: a day takes 34 units of the width.
    #[test]
    fn words_below_columns_lie_beside_each_other() {
        for n in [1_u64, 7, 10, 16, 30, 90, 365] {
            let parts: Vec<ChartValue> = (0..n).map(|n| ChartValue::count("11-17", n)).collect();
            let mut end = 0;
            for mark in columns(&parts, None).1 {
                let ChartShape::Text { x, anchor, tone: "", .. } = mark else { continue };
                let from = if anchor == "start" { x } else { x - 17 };
                assert!(from >= end, "{n}: the words at {x} begin before {end}");
                end = from + 34;
            }
        }
    }

    #[test]
    fn something_is_never_drawn_as_nothing() {
        assert_eq!((scaled(0.0, 9.0, 100), scaled(1.0, 1e9, 100)), (0, 2));
        assert_eq!((scaled(9.0, 9.0, 100), scaled(1.0, 0.0, 100)), (100, 0));
    }

    /// A day without a value interrupts the line, and a single day is a dot.
    #[test]
    fn a_line_is_broken_where_there_is_nothing() {
        let days = [Some(1.0), Some(2.0), None, Some(3.0)];
        let days: Vec<_> =
            (0_i64..).zip(days).map(|(n, value)| (Day::from_number(n), value)).collect();
        let (_, marks) = trend(&days, 1.0, 10.0);
        let count = |of: fn(&ChartShape) -> bool| marks.iter().filter(|mark| of(mark)).count();
        assert_eq!(count(|mark| matches!(mark, ChartShape::Line { .. })), 1);
        assert_eq!(count(|mark| matches!(mark, ChartShape::Dot { .. })), 3);
    }
}
