//! What commands print, and when.

use std::fmt;
use std::future::Future;
use std::io::{self, IsTerminal, Write};
use std::process;
use std::time::Duration;

/// What a shell sees of a program that wrote to a pipe nobody reads.
pub(super) const NOBODY_READS: i32 = 141;

/// A line on standard output.
macro_rules! say {
    ($($text:tt)*) => { $crate::cli::output::line(format_args!($($text)*)) };
}
pub(super) use say;

/// Prints a line. A reader that has seen enough (`| head`) ends the command quietly.
pub(super) fn line(text: fmt::Arguments<'_>) {
    if writeln!(io::stdout(), "{text}").is_err() {
        process::exit(NOBODY_READS);
    }
}

/// Does something that is usually quick; if it is not, whoever sits at the terminal is told.
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

/// Columns that line up, under their names.
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
