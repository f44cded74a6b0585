//! The table: figures, the figures they are compared with, and whether the goals are met.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use gateway::clock::OsClock;
use serde::{Deserialize, Serialize};
use store::Clock;

/// The goal of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Goal {
    AtLeast(f64),
    AtMost(f64),
}

impl Goal {
    fn is_met(self, by: f64) -> bool {
        match self {
            Self::AtLeast(goal) => by >= goal,
            Self::AtMost(goal) => by <= goal,
        }
    }
}

/// One figure. If there is a figure to compare it with, the goal is about their ratio.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Measurement {
    what: String,
    /// Absent if the server does not support it.
    figure: Option<f64>,
    unit: String,
    against: Option<f64>,
    ratio: Option<f64>,
    goal: Option<Goal>,
    met: Option<bool>,
    note: String,
    /// The change since the last committed results, in percent.
    change: Option<f64>,
}

impl Measurement {
    pub(crate) fn new(what: impl Into<String>, figure: f64, unit: &str) -> Self {
        Self {
            what: what.into(),
            figure: Some(figure),
            unit: unit.to_owned(),
            against: None,
            ratio: None,
            goal: None,
            met: None,
            note: String::new(),
            change: None,
        }
    }

    /// A figure that cannot be measured here, and why.
    pub(crate) fn missing(what: impl Into<String>, why: &str) -> Self {
        Self { figure: None, ..Self::new(what, 0.0, "") }.note(why)
    }

    pub(crate) fn against(mut self, other: f64) -> Self {
        self.against = Some(other);
        self.ratio = self.figure.map(|figure| figure / other);
        self
    }

    pub(crate) fn goal(mut self, goal: Goal) -> Self {
        self.goal = Some(goal);
        self.met = self.judged().map(|by| goal.is_met(by));
        self
    }

    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// The number that a goal is about.
    fn judged(&self) -> Option<f64> {
        self.ratio.or(self.figure)
    }

    fn cells(&self) -> [String; 8] {
        let Some(figure) = self.figure else {
            let mut cells = [const { String::new() }; 8];
            cells[0].clone_from(&self.what);
            "not available".clone_into(&mut cells[1]);
            cells[7].clone_from(&self.note);
            return cells;
        };
        let said = |number: Option<f64>| number.map_or_else(String::new, |n| amount(n, &self.unit));
        let goal = match self.goal {
            Some(Goal::AtLeast(goal)) => format!("≥ {goal}"),
            Some(Goal::AtMost(goal)) => format!("≤ {goal}"),
            None => String::new(),
        };
        let met = self.met.map_or("", |met| if met { "yes" } else { "no" });
        [
            self.what.clone(),
            amount(figure, &self.unit),
            said(self.against),
            self.ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")),
            goal,
            met.to_owned(),
            self.change.map_or_else(String::new, |change| format!("{change:+.0} %")),
            self.note.clone(),
        ]
    }
}

/// A number in readable form.
fn amount(number: f64, unit: &str) -> String {
    if number >= 100.0 {
        let mut digits = format!("{number:.0}");
        for place in (1..digits.len())
            .rev()
            .filter(|n| n % 3 == 0)
            .map(|n| digits.len() - n)
            .rev()
            .collect::<Vec<_>>()
        {
            digits.insert(place, ',');
        }
        format!("{digits} {unit}")
    } else {
        format!("{number:.2} {unit}")
    }
}

const HEADS: [&str; 8] = ["what", "figure", "against", "ratio", "goal", "met", "change", ""];

/// All figures of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct BenchReport {
    at: String,
    scale: String,
    commit: String,
    cores: usize,
    rows: Vec<Measurement>,
    /// The results to compare with.
    before: Option<String>,
}

impl BenchReport {
    pub(crate) fn new(scale: &str) -> Self {
        let at = OsClock.now().to_string();
        let commit = git(&["rev-parse", "--short", "HEAD"]).unwrap_or_default();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let (scale, rows) = (scale.to_owned(), Vec::new());
        Self { at, scale, commit: commit.trim().to_owned(), cores, rows, before: None }
    }

    pub(crate) fn add(&mut self, rows: Vec<Measurement>) {
        self.rows.extend(rows);
    }

    /// Compares each figure with the last committed one.
    pub(crate) fn compare(&mut self) {
        let Some(before) = last_committed() else { return };
        for row in &mut self.rows {
            let earlier = before.rows.iter().find(|earlier| earlier.what == row.what);
            let earlier = earlier.and_then(Measurement::judged).filter(|earlier| *earlier != 0.0);
            row.change = earlier.zip(row.judged()).map(|(then, now)| (now / then - 1.0) * 100.0);
        }
        self.before = Some(before.at);
    }

    /// The table for a terminal.
    pub(crate) fn table(&self) -> String {
        let rows: Vec<[String; 8]> = self.lines().collect();
        let mut widths = [0; 8];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let mut text = self.title();
        for row in &rows {
            text.push('\n');
            let mut line = String::new();
            for ((n, cell), width) in row.iter().enumerate().zip(widths) {
                // Numbers are aligned right, text left.
                let _ = match n {
                    1..=3 | 6 => write!(line, "{cell:>width$}  "),
                    _ => write!(line, "{cell:<width$}  "),
                };
            }
            text.push_str(line.trim_end());
        }
        text
    }

    fn markdown(&self) -> String {
        let mut text = format!("# Results of {}\n\n{}\n\n", self.at, self.title());
        for (n, row) in self.lines().enumerate() {
            let _ = writeln!(text, "| {} |", row.join(" | "));
            if n == 0 {
                let _ = writeln!(text, "|{}", "---|".repeat(row.len()));
            }
        }
        text
    }

    fn title(&self) -> String {
        let Self { at, scale, commit, cores, before, .. } = self;
        let mut title = format!("{at}, {scale} run on {cores} cores, commit {commit}.");
        if let Some(before) = before {
            let _ = write!(title, " Change: of what is judged, against the run of {before}.");
        }
        title
    }

    fn lines(&self) -> impl Iterator<Item = [String; 8]> {
        let head = HEADS.map(str::to_owned);
        std::iter::once(head).chain(self.rows.iter().map(Measurement::cells))
    }

    /// Writes the table as Markdown and JSON. File names sort by time.
    pub(crate) fn write(&self, folder: &Path) -> anyhow::Result<PathBuf> {
        std::fs::create_dir_all(folder)?;
        let name: String =
            self.at.chars().map(|c| if matches!(c, ':' | '.') { '-' } else { c }).collect();
        let file = folder.join(name);
        std::fs::write(file.with_extension("md"), self.markdown())?;
        let json = serde_json::to_string_pretty(self)? + "\n";
        let file = file.with_extension("json");
        std::fs::write(&file, json)?;
        Ok(file)
    }
}

/// The directory of the results.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("results")
}

/// The last results under version control, if there are any.
fn last_committed() -> Option<BenchReport> {
    let files = git(&["ls-files", "*.json"])?;
    let last = files.lines().max()?;
    let text = std::fs::read_to_string(folder().join(last)).ok()?;
    serde_json::from_str(&text).ok()
}

fn git(words: &[&str]) -> Option<String> {
    let said = Command::new("git").arg("-C").arg(folder()).args(words).output().ok()?;
    said.status.success().then(|| String::from_utf8_lossy(&said.stdout).into_owned())
}
