//! The output of commands.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::future::Future;
use std::io::{self, IsTerminal, Write};
use std::process;
use std::time::{Duration, Instant};

use gateway::audit::AuditProgress;
use kernel::text::reveal;
use serde::Serialize;
use serde_json::Value;

use crate::config::variable;

/// The exit code that a shell reports for a program that wrote to a closed pipe.
pub(super) const CLOSED_PIPE_EXIT_CODE: i32 = 141;

/// Prints a line on standard output.
macro_rules! say {
    ($($text:tt)*) => { $crate::cli::output::line(format_args!($($text)*)) };
}
pub(super) use say;

/// Prints a line on standard error.
macro_rules! complain {
    ($($text:tt)*) => { $crate::cli::output::error_line(format_args!($($text)*)) };
}
pub(super) use complain;

/// Prints a line. A closed pipe (`| head`) ends the command quietly.
pub(super) fn line(text: fmt::Arguments<'_>) {
    if writeln!(io::stdout(), "{}", escape_controls(&text.to_string())).is_err() {
        process::exit(CLOSED_PIPE_EXIT_CODE);
    }
}

/// The same on standard error, whose errors are ignored.
pub(super) fn error_line(text: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "{}", escape_controls(&text.to_string()));
}

/// Escapes characters that control the terminal, because the text may come from an agent. The
/// escapes are those of JSON strings, so that printed JSON keeps its meaning.
pub(super) fn escape_controls(text: &str) -> Cow<'_, str> {
    let drives = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(drives) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if drives(c) {
            // Writing to a String cannot fail.
            let _ = write!(shown, "\\u{:04x}", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Runs work that is usually fast. If it takes longer, a message on the terminal says so.
pub(super) async fn with_wait_message<T>(work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    tokio::select! {
        done = &mut work => return done,
        () = tokio::time::sleep(Duration::from_secs(1)) => {}
    }
    let terminal = io::stderr().is_terminal();
    if terminal {
        eprint!("still working…");
    }
    let done = work.await;
    if terminal {
        eprint!("\r\x1b[K");
    }
    done
}

/// Prints an object as JSON, or the sentence that says the same.
pub(super) fn report(
    json: bool,
    object: &(impl Serialize + ?Sized),
    sentence: &str,
) -> anyhow::Result<()> {
    if json {
        say!("{}", serde_json::to_string(object)?);
    } else {
        say!("{sentence}");
    }
    Ok(())
}

/// Prints a list as JSON, or as a table with a row for each item.
pub(super) fn report_table<T: Serialize>(
    json: bool,
    items: &[T],
    names: &[&str],
    row: impl Fn(&T) -> Vec<String>,
) -> anyhow::Result<()> {
    if json {
        say!("{}", serde_json::to_string(items)?);
    } else {
        table(names, &items.iter().map(row).collect::<Vec<_>>());
    }
    Ok(())
}

/// Prints rows as aligned columns with a header.
pub(super) fn table(names: &[&str], rows: &[Vec<String>]) {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let width = |column: usize| {
        let cells = rows.iter().chain([&names]).filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let line = |row: &[String]| {
        let cells = row.iter().enumerate();
        let padded = cells.map(|(column, cell)| format!("{cell:<width$}", width = width(column)));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    styled(Style::Heading, &line(&names), "");
    for row in rows {
        say!("{}", line(row));
    }
}

/// The look of a part of a line. The text says the same without it.
#[derive(Clone, Copy)]
pub(super) enum Style {
    Heading,
    Good,
    Bad,
    Warning,
}

impl Style {
    /// The sequence that begins the style (ECMA-48).
    fn sequence(self) -> &'static str {
        match self {
            Self::Heading => "\x1b[1m",
            Self::Good => "\x1b[32m",
            Self::Bad => "\x1b[31m",
            Self::Warning => "\x1b[33m",
        }
    }
}

/// Whether standard output shows styles: it is a terminal that can, and the user does not object
/// (<https://no-color.org>).
fn shows_styles() -> bool {
    io::stdout().is_terminal()
        && variable("NO_COLOR").is_none()
        && variable("TERM").is_none_or(|terminal| terminal != "dumb")
}

/// Prints a line whose beginning has a style. Colours are used on a terminal only.
pub(super) fn styled(style: Style, beginning: &str, rest: &str) {
    let (beginning, rest) = (escape_controls(beginning), escape_controls(rest));
    let written = if shows_styles() {
        writeln!(io::stdout(), "{}{beginning}\x1b[0m{rest}", style.sequence())
    } else {
        writeln!(io::stdout(), "{beginning}{rest}")
    };
    if written.is_err() {
        process::exit(CLOSED_PIPE_EXIT_CODE);
    }
}

/// Prints an object as JSON, or with one member on each line.
pub(super) fn report_object(json: bool, object: &impl Serialize) -> anyhow::Result<()> {
    let object = serde_json::to_value(object)?;
    if json {
        say!("{object}");
        return Ok(());
    }
    let members = object.as_object().into_iter().flatten();
    let rows: Vec<_> = members.map(|(name, value)| (name.replace('_', " "), cell(value))).collect();
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, value) in rows.into_iter().filter(|(_, value)| !value.is_empty()) {
        say!("{name:<width$}  {value}");
    }
    Ok(())
}

/// A JSON value as text for people. Hidden characters are made visible.
pub(super) fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => reveal(text),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join(", "),
        Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

// A progress bar on the terminal. Errors of the terminal are ignored.

/// How often the bar is updated.
const SHOWN_EVERY: Duration = Duration::from_millis(100);

pub(super) struct ProgressBar {
    terminal: bool,
    started: Instant,
    shown: Instant,
}

impl ProgressBar {
    const WIDTH: u64 = 30;

    pub(super) fn new() -> Self {
        let (terminal, now) = (io::stderr().is_terminal(), Instant::now());
        Self { terminal, started: now, shown: now }
    }

    /// Shows the progress of a verification.
    pub(super) fn checked(&mut self, progress: AuditProgress) {
        let AuditProgress { done, total, events } = progress;
        let started = self.started;
        self.show(done, total, || {
            let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX).max(1);
            let rate = events.saturating_mul(1000) / millis;
            if total == 0 {
                format!("{events} events  {rate} events/s")
            } else {
                format!("{rate} events/s")
            }
        });
    }

    /// Shows the progress of a copy, in bytes.
    pub(super) fn copied(&mut self, what: &str, done: u64, total: u64) {
        self.show(done, total, || format!("{what}, {} of {} MiB", done >> 20, total >> 20));
    }

    /// Shows the progress of a count.
    pub(super) fn counted(&mut self, what: &str, done: u64, total: u64) {
        self.show(done, total, || format!("{done} of {total} {what}"));
    }

    /// Shows the progress of reading a file, in bytes; its length may be unknown.
    pub(super) fn read(&mut self, messages: u64, done: u64, total: u64) {
        self.show(done, total, || format!("{messages} messages, {} MiB", done >> 20));
    }

    /// Clears the bar before a line of the result.
    pub(super) fn clear(&self) {
        if self.terminal {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }

    fn show(&mut self, done: u64, total: u64, says: impl FnOnce() -> String) {
        if !self.terminal || self.shown.elapsed() < SHOWN_EVERY {
            return;
        }
        self.shown = Instant::now();
        let bar = (done.min(total) * 100).checked_div(total).map(|percent| {
            let full = usize::try_from(percent * Self::WIDTH / 100).unwrap_or(0);
            let rest = usize::try_from(Self::WIDTH).unwrap_or(0).saturating_sub(full);
            format!("[{}{}] {percent:3} %  ", "#".repeat(full), ".".repeat(rest))
        });
        let mut terminal = io::stderr();
        let _ = write!(terminal, "\r\x1b[K{}{}", bar.unwrap_or_default(), says());
        let _ = terminal.flush();
    }
}

/// The next output begins on a clean line.
impl Drop for ProgressBar {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_drives_the_terminal() {
        assert_eq!(escape_controls("two\nlines\tand more"), "two\nlines\tand more");
        assert_eq!(
            escape_controls("a\u{1b}[2J\u{7}\r\u{9b}31m\u{7f}"),
            "a\\u001b[2J\\u0007\\u000d\\u009b31m\\u007f"
        );
        let value = json!({ "prompt": "a\u{9b}31m\u{1b}" });
        let printed = escape_controls(&value.to_string()).into_owned();
        assert!(!printed.contains('\u{9b}'));
        assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), value);
    }
}
