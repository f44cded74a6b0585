//! Texts line by line: one text in full, or two side by side with their differences.
//!
//! A page states every omission: unchanged lines far from a change, and the rest of a text that is
//! too long for a page.

use similar::{DiffOp, TextDiff};

use crate::components::wording::VisibleText;

/// How many unchanged lines are shown around a change.
const CONTEXT_LINES: usize = 3;
/// The maximum number of lines on a page.
const MAX_LINES: usize = 500;
/// The maximum number of bytes on a page.
const MAX_BYTES: usize = 32 * 1024;
/// The longest line that is shown in full, in characters.
const MAX_LINE_CHARS: usize = 2_000;
/// Texts with more lines than this together are not compared, because comparing them would
/// delay the page.
const MAX_COMPARED_LINES: usize = 6_000;

/// Lines as a page shows them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiffView {
    /// The lines, from top to bottom.
    pub parts: Vec<DiffPart>,
    /// Whether there are two columns.
    pub two: bool,
    /// How many lines are left out because the page is full.
    pub more: usize,
    /// How many lines were added and removed.
    pub changed: (usize, usize),
}

/// A line, or a run of omitted lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiffPart {
    /// One line, in one version or in both.
    Line(DiffLine),
    /// The number of omitted unchanged lines.
    Same(usize),
}

/// One line, in one version or in both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    /// The line in the older version: its number and its text.
    pub was: Option<(usize, VisibleText)>,
    /// The line in the newer version.
    pub is: Option<(usize, VisibleText)>,
    /// `same`, `gone`, `come`, or `both` if one line replaces another.
    pub how: &'static str,
}

impl DiffView {
    /// One text in full.
    pub fn whole(text: &str) -> Self {
        let how = |_: &str| "same";
        Self::from_lines(text, how)
    }

    /// A text that is itself a patch.
    pub fn patch(text: &str) -> Self {
        let how = |line: &str| {
            let name = line.starts_with("+++") || line.starts_with("---");
            match line.chars().next().filter(|_| !name) {
                Some('+') => "come",
                Some('-') => "gone",
                Some(_) | None => "same",
            }
        };
        let mut sheet = Self::from_lines(text, how);
        let of = |how: &str| {
            let line = |part: &&DiffPart| matches!(part, DiffPart::Line(line) if line.how == how);
            sheet.parts.iter().filter(line).count()
        };
        sheet.changed = (of("come"), of("gone"));
        sheet
    }

    fn from_lines(text: &str, how: impl Fn(&str) -> &'static str) -> Self {
        let mut room = PageBudget::default();
        let lines = text.lines().enumerate().map(|(n, line)| {
            DiffPart::Line(DiffLine {
                was: None,
                is: Some((n + 1, visible_line(line))),
                how: how(line),
            })
        });
        let (parts, more) = room.fill(lines);
        Self { parts, two: false, more, changed: (0, 0) }
    }

    /// Two texts side by side.
    pub fn compare(was: &str, is: &str) -> Self {
        let (old, new): (Vec<&str>, Vec<&str>) = (was.lines().collect(), is.lines().collect());
        if old.len() + new.len() > MAX_COMPARED_LINES {
            return Self::uncompared(&old, &new);
        }
        let diff = TextDiff::from_slices(&old, &new);
        let mut changed = (0, 0);
        let mut parts = Vec::new();
        let mut at = 0;
        for group in diff.grouped_ops(CONTEXT_LINES) {
            let Some(first) = group.first() else { continue };
            let skipped = first.new_range().start.saturating_sub(at);
            if skipped > 0 {
                parts.push(DiffPart::Same(skipped));
            }
            for op in &group {
                at = op.new_range().end;
                if !matches!(op, DiffOp::Equal { .. }) {
                    changed.0 += op.new_range().len();
                    changed.1 += op.old_range().len();
                }
                parts.extend(rows(op, &old, &new));
            }
        }
        if new.len() > at {
            parts.push(DiffPart::Same(new.len() - at));
        }
        let (parts, more) = PageBudget::default().fill(parts.into_iter());
        Self { parts, two: true, more, changed }
    }

    /// Two texts that are too long to compare, side by side.
    fn uncompared(old: &[&str], new: &[&str]) -> Self {
        let rows = (0..old.len().max(new.len())).map(|n| {
            let side = |lines: &[&str]| lines.get(n).map(|line| (n + 1, visible_line(line)));
            DiffPart::Line(DiffLine { was: side(old), is: side(new), how: "same" })
        });
        let (parts, more) = PageBudget::default().fill(rows);
        Self { parts, two: true, more, changed: (0, 0) }
    }

    /// Whether both texts are equal.
    pub fn is_same(&self) -> bool {
        self.two && self.parts.iter().all(|part| matches!(part, DiffPart::Same(_)))
    }
}

/// The lines of one diff operation.
fn rows(op: &DiffOp, old: &[&str], new: &[&str]) -> Vec<DiffPart> {
    let (from, to) = (op.old_range(), op.new_range());
    let how = match op {
        DiffOp::Equal { .. } => "same",
        DiffOp::Delete { .. } => "gone",
        DiffOp::Insert { .. } => "come",
        DiffOp::Replace { .. } => "both",
    };
    let side = |lines: &[&str], range: &std::ops::Range<usize>, n: usize| {
        let at = range.start + n;
        lines.get(at).filter(|_| range.contains(&at)).map(|line| (at + 1, visible_line(line)))
    };
    let row = |n: usize| {
        let (was, is) = (side(old, &from, n), side(new, &to, n));
        let how = match (&was, &is) {
            (Some(_), Some(_)) => how,
            (None, _) => "come",
            (_, None) => "gone",
        };
        DiffPart::Line(DiffLine { was, is, how })
    };
    (0..from.len().max(to.len())).map(row).collect()
}

/// A line with hidden characters made visible; a very long line states how much of it is omitted.
fn visible_line(line: &str) -> VisibleText {
    match line.char_indices().nth(MAX_LINE_CHARS) {
        Some((at, _)) => {
            let (drawn, rest) = line.split_at(at);
            VisibleText::of(&t!("diff-cut-line", text = drawn, n = rest.chars().count()))
        }
        None => VisibleText::of(line),
    }
}

/// How full the page is.
#[derive(Default)]
struct PageBudget {
    rows: usize,
    bytes: usize,
}

impl PageBudget {
    /// Returns the lines that fit, and how many do not.
    fn fill(&mut self, parts: impl Iterator<Item = DiffPart>) -> (Vec<DiffPart>, usize) {
        let mut drawn = Vec::new();
        let mut more = 0;
        for part in parts {
            let (bytes, lines) = match &part {
                DiffPart::Same(lines) => (0, *lines),
                DiffPart::Line(line) => {
                    let size = |side: &Option<(usize, VisibleText)>| {
                        side.as_ref().map_or(0, |(_, words)| words.as_str().len())
                    };
                    (size(&line.was) + size(&line.is), 1)
                }
            };
            if more == 0 && self.rows < MAX_LINES && self.bytes + bytes <= MAX_BYTES {
                self.rows += 1;
                self.bytes += bytes;
                drawn.push(part);
            } else {
                more += lines;
            }
        }
        (drawn, more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(sheet: &DiffView) -> Vec<String> {
        let side = |side: &Option<(usize, VisibleText)>| {
            side.as_ref().map_or_else(|| "-".to_owned(), |(n, words)| format!("{n}:{words}"))
        };
        let part = |part: &DiffPart| match part {
            DiffPart::Same(n) => format!("… {n}"),
            DiffPart::Line(DiffLine { was, is, how }) => {
                format!("{how} {} {}", side(was), side(is))
            }
        };
        sheet.parts.iter().map(part).collect()
    }

    #[test]
    fn what_differs_stands_side_by_side_and_the_rest_is_counted() {
        let old: Vec<String> = (1..=20).map(|n| format!("line {n}\n")).collect();
        let old = old.concat();
        let new = old.replace("line 10\n", "line ten\nline 10b\n").replace("line 11\n", "");
        let sheet = DiffView::compare(&old, &new);
        assert_eq!(
            shown(&sheet),
            [
                "… 6",
                "same 7:line 7 7:line 7",
                "same 8:line 8 8:line 8",
                "same 9:line 9 9:line 9",
                "both 10:line 10 10:line ten",
                "both 11:line 11 11:line 10b",
                "same 12:line 12 12:line 12",
                "same 13:line 13 13:line 13",
                "same 14:line 14 14:line 14",
                "… 6",
            ]
        );
        assert_eq!((sheet.changed, sheet.more), ((2, 2), 0));
        let sheet = DiffView::compare("a\nb\n", "a\nb\nc\n");
        assert_eq!(shown(&sheet).last().unwrap(), "come - 3:c");
        assert_eq!(shown(&DiffView::compare("a\nb\n", "b\n"))[0], "gone 1:a -");
        assert!(DiffView::compare(&old, &old).is_same() && !sheet.is_same());
    }

    #[test]
    fn a_list_of_changes_is_read_as_one() {
        let sheet = DiffView::patch("--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n kept\n");
        let how = sheet.parts.iter().map(|part| match part {
            DiffPart::Line(line) => line.how,
            DiffPart::Same(_) => "…",
        });
        assert_eq!(how.collect::<Vec<_>>(), ["same", "same", "same", "gone", "come", "same"]);
        assert_eq!(sheet.changed, (1, 1));
    }

    /// UX 2: no text is cut silently, and no character is hidden.
    #[test]
    fn what_is_not_drawn_is_said() {
        let sheet = DiffView::whole(&"x\n".repeat(MAX_LINES + 7));
        assert_eq!((sheet.parts.len(), sheet.more), (MAX_LINES, 7));
        let long = DiffView::whole(&"y".repeat(MAX_LINE_CHARS + 5));
        assert!(shown(&long)[0].ends_with("… (5 more characters)"), "{:?}", shown(&long));
        assert_eq!(shown(&DiffView::whole("a\u{202e}b")), ["same - 1:a⟨U+202E⟩b"]);
        let huge = "z\n".repeat(MAX_COMPARED_LINES);
        assert!(DiffView::compare(&huge, &huge).more > 0);
    }
}
