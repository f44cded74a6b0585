//! `countersign envelope check FILE…`: validates messages with an HXP eXperience envelope and
//! reports findings about them. It needs no server. A file contains one message, or one per
//! line; only one line at a time is in memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process;

use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};
use dialects::hxp_experience::{
    Checker, ConformanceLevel, ExperienceFinding, ExperienceReport, FindingSeverity, Namespace,
    NamespaceRegistry, Unreadable, ValidationOptions,
};
use kernel::text::reveal;
use serde::Serialize;

use super::Exit;
use super::output::{CLOSED_PIPE_EXIT_CODE, ProgressBar};
use crate::http::envelope_checker::MAX_MESSAGE_BYTES;

#[derive(Args)]
#[command(version = VERSION)]
pub(super) struct EnvelopeArgs {
    #[command(subcommand)]
    command: EnvelopeCommand,
}

#[derive(Subcommand)]
enum EnvelopeCommand {
    /// Check messages, in files or from standard input
    Check(EnvelopeCheckArgs),
}

#[derive(Args)]
#[command(
    after_help = "Exits with 0 if every message is valid, 1 if one is not, 4 if a file could \
                        not be read."
)]
struct EnvelopeCheckArgs {
    /// Files with one message, or one on each line; `-` for standard input. A `*` that the shell did
    /// not expand matches any text
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// The conformance level to check for; missing parts are reported
    #[arg(long, value_name = "LEVEL")]
    level: Option<LevelArg>,
    /// Reject unknown fields, invalid versions and languages, duplicate names and, with --level,
    /// messages below that level
    #[arg(long)]
    strict: bool,
    /// Read one message from each line, even if the first line is not complete JSON
    #[arg(long)]
    lines: bool,
    /// A JSON file with the known namespaces of extensions: from name to `about`, `sensitive_fields`,
    /// `opt_out`
    #[arg(long, value_name = "FILE")]
    namespaces: Option<PathBuf>,
    /// Print JSON, a line for each message
    #[arg(long)]
    json: bool,
}

/// The version of this program, and the protocol version it validates.
const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), ", HXP eXperience 1.0.0\n", env!("CARGO_PKG_REPOSITORY"));

/// The levels, as words of the command line.
#[derive(Clone, Copy, ValueEnum)]
enum LevelArg {
    Core,
    Standard,
    Full,
}

impl From<LevelArg> for ConformanceLevel {
    fn from(named: LevelArg) -> Self {
        match named {
            LevelArg::Core => Self::Core,
            LevelArg::Standard => Self::Standard,
            LevelArg::Full => Self::Full,
        }
    }
}

impl EnvelopeArgs {
    pub(super) fn run(self) -> anyhow::Result<Exit> {
        match self.command {
            EnvelopeCommand::Check(check) => check.run(),
        }
    }
}

impl EnvelopeCheckArgs {
    fn run(self) -> anyhow::Result<Exit> {
        let rules = ValidationOptions {
            level: self.level.map(ConformanceLevel::from),
            strict: self.strict,
        };
        let mut desk = MessageChecker {
            checker: Checker::new(rules, self.registry()?),
            out: BufWriter::with_capacity(1 << 16, io::stdout()),
            json: self.json,
            bar: ProgressBar::new(),
            terminal: io::stdout().is_terminal(),
            all_valid: true,
        };
        for named in &self.files {
            let unread = || format!("cannot read {named}");
            for file in matching_files(named).with_context(unread)? {
                desk.file(&file, self.lines).with_context(|| format!("cannot read {file}"))?;
            }
        }
        desk.flush();
        Ok(if desk.all_valid { Exit::Done } else { Exit::Denied })
    }

    fn registry(&self) -> anyhow::Result<NamespaceRegistry> {
        let mut registry = NamespaceRegistry::default();
        let Some(path) = &self.namespaces else { return Ok(registry) };
        let text = std::fs::read_to_string(path);
        let text = text.with_context(|| format!("cannot read {}", path.display()))?;
        let named: std::collections::BTreeMap<String, Namespace> = serde_json::from_str(&text)
            .with_context(|| format!("{} contains no namespaces", path.display()))?;
        for (name, namespace) in named {
            registry.register(&name, namespace)?;
        }
        Ok(registry)
    }
}

/// Validates messages and prints the results.
struct MessageChecker {
    checker: Checker,
    out: BufWriter<io::Stdout>,
    json: bool,
    bar: ProgressBar,
    terminal: bool,
    all_valid: bool,
}

/// The result of one file.
#[derive(Default)]
struct FileTally {
    messages: u64,
    valid: u64,
}

/// The result of one message, as JSON.
#[derive(Serialize)]
struct MessageCheckResult<'a> {
    file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(flatten)]
    verdict: MessageVerdict<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum MessageVerdict<'a> {
    Judged(&'a ExperienceReport),
    Unreadable { valid: bool, unreadable: &'a str },
}

/// The files a name stands for: itself, or if it contains a `*` and no such file exists, the
/// matching files of its folder, in order.
fn matching_files(name: &str) -> io::Result<Vec<String>> {
    let path = Path::new(name);
    let pattern = path.file_name().and_then(|last| last.to_str()).unwrap_or_default();
    if !pattern.contains('*') || path.exists() {
        return Ok(vec![name.to_owned()]);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder.unwrap_or_else(|| Path::new(".")))? {
        let entry = entry?;
        let Ok(file) = entry.file_name().into_string() else { continue };
        if is_like(&file, pattern) && entry.path().is_file() {
            let path = folder.map_or_else(|| PathBuf::from(&file), |folder| folder.join(&file));
            found.push(path.to_string_lossy().into_owned());
        }
    }
    if found.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "no file is named like it"));
    }
    found.sort_unstable();
    Ok(found)
}

/// Whether a name matches a pattern in which `*` stands for any text. A hidden file matches only a
/// pattern with a dot, as in a shell.
fn is_like(name: &str, pattern: &str) -> bool {
    if name.starts_with('.') != pattern.starts_with('.') {
        return false;
    }
    let mut parts = pattern.split('*');
    let (first, last) = (parts.next().unwrap_or_default(), parts.next_back().unwrap_or_default());
    let middle = name.strip_prefix(first).and_then(|rest| rest.strip_suffix(last));
    let Some(mut rest) = middle else { return false };
    parts.all(|part| match rest.split_once(part) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

impl MessageChecker {
    fn file(&mut self, name: &str, lines: bool) -> io::Result<()> {
        if name == "-" {
            return self.messages("standard input", io::stdin().lock(), 0, lines);
        }
        let file = File::open(name)?;
        let length = file.metadata()?.len();
        self.messages(name, BufReader::with_capacity(1 << 20, file), length, lines)
    }

    /// Reads one message, or one per line if the first line is a complete message and more follow.
    fn messages(
        &mut self,
        name: &str,
        mut from: impl BufRead,
        length: u64,
        lines: bool,
    ) -> io::Result<()> {
        let mut text = Vec::new();
        let mut cut = read_line(&mut from, &mut text)?;
        let whole = !cut && self.checker.check(&text).is_ok();
        if !lines && (!whole || is_at_end(&mut from)?) {
            let bound = (MAX_MESSAGE_BYTES as u64 + 1).saturating_sub(text.len() as u64);
            from.take(bound).read_to_end(&mut text)?;
            let mut tally = FileTally::default();
            self.check_message(name, None, &text, text.len() > MAX_MESSAGE_BYTES, &mut tally);
            self.sum(name, &tally, false);
            return Ok(());
        }
        let (mut tally, mut line, mut done) = (FileTally::default(), 0, 0);
        while !text.is_empty() {
            line += 1;
            done += text.len() as u64;
            if cut || !text.trim_ascii().is_empty() {
                self.check_message(name, Some(line), &text, cut, &mut tally);
            }
            self.bar.read(tally.messages, done, length);
            cut = read_line(&mut from, &mut text)?;
        }
        self.sum(name, &tally, true);
        Ok(())
    }

    fn check_message(
        &mut self,
        name: &str,
        line: Option<u64>,
        text: &[u8],
        cut: bool,
        tally: &mut FileTally,
    ) {
        tally.messages += 1;
        let judged = if cut {
            Err(format!("it is larger than {} MiB", MAX_MESSAGE_BYTES >> 20))
        } else {
            self.checker.check(text).map_err(|error: Unreadable| error.to_string())
        };
        let valid = judged.as_ref().is_ok_and(ExperienceReport::is_valid);
        tally.valid += u64::from(valid);
        self.all_valid &= valid;
        if self.json {
            let verdict = match &judged {
                Ok(report) => MessageVerdict::Judged(report),
                Err(why) => MessageVerdict::Unreadable { valid: false, unreadable: why },
            };
            let told = serde_json::to_string(&MessageCheckResult { file: name, line, verdict });
            self.print_line(&told.unwrap_or_default());
            return;
        }
        let place = line.map_or_else(|| name.to_owned(), |line| format!("{name}:{line}"));
        match judged {
            Ok(report) => {
                for finding in &report.findings {
                    self.print_line(&sentence(&place, finding));
                }
                if report.omitted > 0 {
                    self.print_line(&format!("{place}: and {} more", report.omitted));
                }
                if line.is_none()
                    && let Some(level) = report.level
                {
                    self.print_line(&format!("{place}: valid, {level}"));
                }
            }
            Err(why) => self.print_line(&format!("{place}: error: {why}")),
        }
    }

    fn sum(&mut self, name: &str, tally: &FileTally, many: bool) {
        let FileTally { messages, valid } = *tally;
        if self.json {
            return;
        }
        if many {
            let wrong = messages - valid;
            self.print_line(&format!("{name}: {messages} messages, {valid} valid, {wrong} not"));
        } else if valid == 0 {
            self.print_line(&format!("{name}: NOT valid"));
        }
    }

    /// Prints a line of the result. A closed pipe ends the command quietly.
    fn print_line(&mut self, line: &str) {
        if self.terminal {
            self.bar.clear();
        }
        if writeln!(self.out, "{line}").is_err() {
            process::exit(CLOSED_PIPE_EXIT_CODE);
        }
        if self.terminal {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if self.out.flush().is_err() {
            process::exit(CLOSED_PIPE_EXIT_CODE);
        }
    }
}

/// A finding on one line, whatever the message calls its fields.
fn sentence(place: &str, finding: &ExperienceFinding) -> String {
    let severity = match finding.severity {
        FindingSeverity::Error => "error",
        FindingSeverity::Warning => "warning",
        FindingSeverity::Note => "note",
    };
    let ExperienceFinding { rule, pointer, message, .. } = finding;
    let at = if pointer.is_empty() { "the message" } else { pointer };
    reveal(&format!("{place}: {severity}: {at}: {message} [{rule}]")).replace(['\n', '\t'], " ")
}

/// Reads the next line with its end, up to the size of the largest message. Returns whether it
/// was cut there.
fn read_line(from: &mut impl BufRead, text: &mut Vec<u8>) -> io::Result<bool> {
    text.clear();
    from.by_ref().take(MAX_MESSAGE_BYTES as u64 + 1).read_until(b'\n', text)?;
    let cut = text.len() > MAX_MESSAGE_BYTES && !text.ends_with(b"\n");
    if cut {
        from.skip_until(b'\n')?;
    }
    Ok(cut)
}

/// Whether only white space follows up to the end of the input.
fn is_at_end(from: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let waiting = from.fill_buf()?;
        if waiting.is_empty() {
            return Ok(true);
        }
        let blank = waiting.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if blank < waiting.len() {
            return Ok(false);
        }
        from.consume(blank);
    }
}
