//! The output of commands.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::future::Future;
use std::io::{self, IsTerminal, Write};
use std::process;
use std::time::Duration;

/// The exit code that a shell reports for a program that wrote to a closed pipe.
pub(super) const NOBODY_READS: i32 = 141;

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
    if writeln!(io::stdout(), "{}", harmless(&text.to_string())).is_err() {
        process::exit(NOBODY_READS);
    }
}

/// The same on standard error, whose errors are ignored.
pub(super) fn error_line(text: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "{}", harmless(&text.to_string()));
}

/// Escapes characters that control the terminal, because the text may come from an agent. The
/// escapes are those of JSON strings, so that printed JSON keeps its meaning.
pub(super) fn harmless(text: &str) -> Cow<'_, str> {
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
pub(super) async fn patiently<T>(work: impl Future<Output = T>) -> T {
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

/// Prints rows as aligned columns with a header.
pub(super) fn table(names: &[&str], rows: &[Vec<String>]) {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let width = |column: usize| {
        let cells = rows.iter().chain([&names]).filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    for row in [&names].into_iter().chain(rows) {
        let cells = row.iter().enumerate();
        let padded = cells.map(|(column, cell)| format!("{cell:<width$}", width = width(column)));
        say!("{}", padded.collect::<Vec<_>>().join("  ").trim_end());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_drives_the_terminal() {
        assert_eq!(harmless("two\nlines\tand more"), "two\nlines\tand more");
        assert_eq!(
            harmless("a\u{1b}[2J\u{7}\r\u{9b}31m\u{7f}"),
            "a\\u001b[2J\\u0007\\u000d\\u009b31m\\u007f"
        );
        let value = json!({ "prompt": "a\u{9b}31m\u{1b}" });
        let printed = harmless(&value.to_string()).into_owned();
        assert!(!printed.contains('\u{9b}'));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&printed).unwrap(), value);
    }
}
