//! What a task delivered: every version with what is known of it, and one of them whole or two side by
//! side, with the comments beside the lines they are about.

use std::collections::BTreeMap;

use kernel::task::{Artifact, Payload, PayloadKind, Version, VersionRef};
use kernel::{ArtifactId, Task, Time};
use serde_json::Value;

use crate::components::diff::{Line, Part, Sheet};
use crate::components::facts::link;
use crate::components::markdown::{self, Reading};
use crate::components::task_words as words_of;
use crate::components::when::When;
use crate::components::words::{self, Words};
use crate::site::paths;
use crate::tasks::review::{Judged, Note};

/// How many versions are listed with all that is known of them, and how many can be picked.
const LISTED: usize = 20;
const PICKED: usize = 100;
/// How much of what a task delivered a page reads.
pub const LONGEST: usize = 256 * 1024;

/// What is known of what was delivered.
#[derive(Debug, Clone, Default)]
pub struct Deliveries {
    /// The artifacts, each once.
    pub artifacts: Vec<Artifact>,
    /// What is shown: the older one, if two are compared, and the newer one.
    pub older: Option<Open>,
    /// The newer one.
    pub newer: Option<Open>,
}

/// A version that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// Which.
    pub of: VersionRef,
    /// What was read of it.
    pub content: Content,
}

/// What a page can show of a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Words, and whether there are more of them.
    Text(String, bool),
    /// A picture every browser knows.
    Picture,
    /// Other bytes.
    Bytes,
    /// It is kept elsewhere.
    Elsewhere,
    /// We should have it, and do not.
    Missing,
    /// We have it where nothing can be read now.
    Away,
}

impl Content {
    /// What the first bytes are; `whole` if they are all.
    pub fn of(bytes: &[u8], whole: bool) -> Self {
        if picture(bytes).is_some() {
            return Self::Picture;
        }
        let text = match str::from_utf8(bytes) {
            Ok(text) => text,
            // A letter may have been cut in two.
            Err(error) if !whole && bytes.len() - error.valid_up_to() < 4 => {
                let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
                str::from_utf8(valid).unwrap_or_default()
            }
            Err(_) => return Self::Bytes,
        };
        if text.contains('\0') { Self::Bytes } else { Self::Text(text.to_owned(), !whole) }
    }
}

/// The type of a picture that every browser shows and that can do nothing else.
pub fn picture(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// How the words of a version are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    Plain,
    Json,
    Markdown,
    Patch,
}

impl Written {
    fn of(payload: &Payload, sort: &str, text: &str) -> Self {
        let kind = payload.media_type.as_deref().unwrap_or_default().to_ascii_lowercase();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        let sort = sort.to_ascii_lowercase();
        if payload.kind == PayloadKind::Diff || matches!(kind, "text/x-diff" | "text/x-patch") {
            Self::Patch
        } else if kind == "text/markdown" || sort.contains("markdown") {
            Self::Markdown
        } else if kind == "application/json"
            || kind.ends_with("+json")
            || (kind.is_empty() && text.trim_start().starts_with(['{', '[']))
        {
            Self::Json
        } else {
            Self::Plain
        }
    }
}

/// Everything that was delivered, as a page shows it.
#[derive(Debug, Clone)]
pub struct Versions {
    /// Newest first.
    pub rows: Vec<Row>,
    /// How many older ones are not listed.
    pub before: usize,
    /// What can be picked: value, words, whether it is the older one shown, or the newer.
    pub picks: Vec<Pick>,
    /// What is shown.
    pub sheet: Option<View>,
}

/// Something to pick.
#[derive(Debug, Clone)]
pub struct Pick {
    /// What is sent.
    pub value: String,
    /// What is read.
    pub label: String,
    /// Whether it is the older one that is shown.
    pub older: bool,
    /// Whether it is the newer one.
    pub newer: bool,
}

/// One version in the list.
#[derive(Debug, Clone)]
pub struct Row {
    /// What it is called.
    pub name: Words,
    /// What sort of thing, in the agent's words.
    pub sort: Words,
    /// What there is to know: form, type, size.
    pub facts: String,
    /// When it was delivered.
    pub at: Option<When>,
    /// What its bytes hash to.
    pub checksum: String,
    /// Where it can be fetched from us.
    pub href: Option<String>,
    /// Where it is kept: an address that can be followed, or words.
    pub uri: Option<Result<Words, Words>>,
    /// What was said of it.
    pub verdicts: Vec<(&'static str, String)>,
}

/// What is drawn of one version, or of two.
#[derive(Debug, Clone)]
pub struct View {
    /// What it is.
    pub title: String,
    /// What became of its lines, in words.
    pub extent: String,
    /// Line by line, each with the comments on it.
    pub lines: Vec<Drawn>,
    /// Whether there are two columns.
    pub two: bool,
    /// What is not drawn, in words.
    pub more: Option<String>,
    /// How it reads.
    pub reading: Option<Reading>,
    /// Pictures: where they are, and what they are.
    pub pictures: Vec<(String, String)>,
    /// Why nothing is drawn.
    pub nothing: Option<&'static str>,
    /// Where the whole of it is.
    pub whole: Option<String>,
}

/// A line, or a gap, with what was said of it.
#[derive(Debug, Clone)]
pub struct Drawn {
    /// The line.
    pub part: Part,
    /// The comments below it.
    pub notes: Vec<Note>,
}

impl Drawn {
    /// The number by which the line can be named.
    pub fn n(&self) -> Option<usize> {
        match &self.part {
            Part::Line(Line { is: Some((n, _)), .. }) => Some(*n),
            Part::Line(Line { is: None, .. }) | Part::Same(_) => None,
        }
    }
}

/// What a version is named by in an address.
pub fn value(of: &VersionRef) -> String {
    format!("{}:{}", of.id, of.version)
}

/// A version by that name, if the task delivered it.
pub fn named(task: &Task, value: &str) -> Option<VersionRef> {
    let (id, version) = value.split_once(':')?;
    let of = VersionRef { id: id.parse::<ArtifactId>().ok()?, version: version.to_owned() };
    task.delivered.contains(&of).then_some(of)
}

impl Deliveries {
    /// One version with the artifact it is of.
    pub fn find(&self, of: &VersionRef) -> Option<(&Artifact, &Version)> {
        let artifact = self.artifacts.iter().find(|made| made.id == of.id)?;
        Some((artifact, artifact.version(Some(&of.version))?))
    }
}

impl Versions {
    /// The deliveries of a task; `judged` is what was said of them.
    pub fn new(task: &Task, found: &Deliveries, judged: &[Judged], now: Time) -> Self {
        let many = found.artifacts.len() > 1;
        let shown =
            |open: &Option<Open>, of: &VersionRef| open.as_ref().is_some_and(|open| open.of == *of);
        let pick = |of: &VersionRef| Pick {
            value: value(of),
            label: label(found, of, many),
            older: shown(&found.older, of),
            newer: shown(&found.newer, of),
        };
        let rows = task.delivered.iter().rev().take(LISTED);
        let rows = rows.map(|of| Row::new(task, found, of, judged, now));
        Self {
            rows: rows.collect(),
            before: task.delivered.len().saturating_sub(LISTED),
            picks: task.delivered.iter().rev().take(PICKED).map(pick).collect(),
            sheet: found.newer.as_ref().map(|newer| View::new(task, found, newer, judged)),
        }
    }
}

fn label(found: &Deliveries, of: &VersionRef, many: bool) -> String {
    let version = Words::of(&of.version);
    match found.find(of).filter(|_| many) {
        Some((artifact, _)) => format!("{} {version}", Words::of(&artifact.sort)),
        None => version.to_string(),
    }
}

impl Row {
    fn new(task: &Task, found: &Deliveries, of: &VersionRef, judged: &[Judged], now: Time) -> Self {
        let said = judged.iter().filter(|judged| judged.of == *of);
        let verdicts = said.map(|said| (said.tone, format!("{} by {}", said.verdict, said.who)));
        let known = found.find(of);
        let payload = known.map(|(_, version)| &version.payload);
        let facts = payload.map(|payload| {
            let kind = payload.media_type.as_deref().map(|kind| format!(", {}", Words::of(kind)));
            let (form, size) = (words_of::payload(payload.kind), words::size(payload.size));
            format!("{form}{}, {size}", kind.unwrap_or_default())
        });
        let uri = payload.and_then(|payload| payload.uri.as_deref());
        Self {
            name: Words::of(&of.version),
            sort: Words::of(known.map_or("", |(artifact, _)| &artifact.sort)),
            facts: facts.unwrap_or_else(|| "Nothing is known of it any more".to_owned()),
            at: known.map(|(_, version)| When::new(version.produced_at, now)),
            checksum: payload.map(|payload| payload.checksum.to_string()).unwrap_or_default(),
            href: payload
                .filter(|payload| payload.held.is_some())
                .map(|_| paths::version(task.id, of)),
            uri: uri.map(|uri| link(uri).ok_or_else(|| Words::of(uri))),
            verdicts: verdicts.collect(),
        }
    }
}

impl View {
    fn new(task: &Task, found: &Deliveries, newer: &Open, judged: &[Judged]) -> Self {
        let many = found.artifacts.len() > 1;
        let name = |open: &Open| label(found, &open.of, many);
        let older = found.older.as_ref();
        let title = match older {
            Some(older) => format!("{} beside {}", name(older), name(newer)),
            None => name(newer),
        };
        let kept = found.find(&newer.of).is_some_and(|(_, version)| version.payload.held.is_some());
        let mut view = Self {
            title,
            extent: String::new(),
            lines: Vec::new(),
            two: false,
            more: None,
            reading: None,
            pictures: Vec::new(),
            nothing: None,
            whole: kept.then(|| paths::version(task.id, &newer.of)),
        };
        let pictures = |open: &Open| open.content == Content::Picture;
        for open in older.into_iter().chain([newer]).filter(|open| pictures(open)) {
            view.pictures.push((paths::version(task.id, &open.of), name(open)));
        }
        match (&newer.content, older.map(|older| &older.content)) {
            (Content::Text(is, more), was) => {
                let was = match was {
                    Some(Content::Text(was, _)) => Some(was.as_str()),
                    Some(_) | None => None,
                };
                view.words(found, newer, was, is, *more, judged);
            }
            (Content::Picture, _) => {}
            (Content::Bytes, _) => {
                view.nothing = Some("This is neither words nor a picture. Fetch it to look at it.");
            }
            (Content::Elsewhere, _) => {
                let text = "It is kept elsewhere; Countersign has only what is said of it below.";
                view.nothing = Some(text);
            }
            (Content::Missing, _) => {
                view.nothing = Some("Its bytes are not here any more.");
            }
            (Content::Away, _) => {
                view.nothing = Some("Its bytes cannot be read right now. Try again in a minute.");
            }
        }
        view
    }

    fn words(
        &mut self,
        found: &Deliveries,
        newer: &Open,
        was: Option<&str>,
        is: &str,
        more: bool,
        judged: &[Judged],
    ) {
        let known = found.find(&newer.of);
        let written = known.map_or(Written::Plain, |(artifact, version)| {
            Written::of(&version.payload, &artifact.sort, is)
        });
        let spelled = |text: &str| match written {
            Written::Json => pretty(text).unwrap_or_else(|| text.to_owned()),
            Written::Plain | Written::Markdown | Written::Patch => text.to_owned(),
        };
        let is = spelled(is);
        let sheet = match (was, written) {
            (Some(was), _) => Sheet::compare(&spelled(was), &is),
            (None, Written::Patch) => Sheet::patch(&is),
            (None, Written::Plain | Written::Json | Written::Markdown) => Sheet::whole(&is),
        };
        if written == Written::Markdown {
            self.reading = Some(markdown::reading(&is));
        }
        self.extent = extent(&sheet, is.lines().count());
        self.more = match (sheet.more, more) {
            (0, false) => None,
            (0, true) => Some("It goes on beyond what is shown here.".to_owned()),
            (1, _) => Some("1 more line is not shown here.".to_owned()),
            (n, _) => Some(format!("{n} more lines are not shown here.")),
        };
        self.two = sheet.two;
        // A line of changes is a line of what they change: only what they are written in is ours to count.
        let plain = written != Written::Patch;
        let mut notes = notes(&newer.of, judged, plain);
        let lines = sheet.parts.into_iter().map(|part| {
            let mut drawn = Drawn { part, notes: Vec::new() };
            drawn.notes = drawn.n().and_then(|n| notes.remove(&n)).unwrap_or_default();
            drawn
        });
        self.lines = lines.collect();
    }
}

/// The comments on a version by the line they are about.
fn notes(of: &VersionRef, judged: &[Judged], plain: bool) -> BTreeMap<usize, Vec<Note>> {
    let mut by_line: BTreeMap<usize, Vec<Note>> = BTreeMap::new();
    for note in judged.iter().filter(|judged| judged.of == *of).flat_map(|judged| &judged.notes) {
        if let Some(n) = note.line(plain) {
            by_line.entry(n).or_default().push(note.clone());
        }
    }
    by_line
}

fn extent(sheet: &Sheet, lines: usize) -> String {
    let count = |n: usize, what: &str| match n {
        1 => format!("1 line {what}"),
        n => format!("{n} lines {what}"),
    };
    match sheet.changed {
        _ if sheet.is_same() => "Both say the same.".to_owned(),
        (0, 0) if lines == 1 => "1 line".to_owned(),
        (0, 0) => format!("{lines} lines"),
        (come, gone) => format!("{}, {}", count(come, "added"), count(gone, "taken away")),
    }
}

/// JSON as people read it; the order of its keys stays.
fn pretty(text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    serde_json::to_string_pretty(&value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_bytes_are_is_told_by_themselves() {
        let cases: [(&[u8], Content); 9] = [
            (b"\x89PNG\r\n\x1a\n...", Content::Picture),
            (b"GIF89a", Content::Picture),
            (b"\xff\xd8\xff\xe0", Content::Picture),
            (b"RIFF\0\0\0\0WEBP", Content::Picture),
            (b"hello", Content::Text("hello".to_owned(), false)),
            (b"<svg onload='x'/>", Content::Text("<svg onload='x'/>".to_owned(), false)),
            (b"a\0b", Content::Bytes),
            (b"\xff\xfe\x00", Content::Bytes),
            (b"", Content::Text(String::new(), false)),
        ];
        for (bytes, is) in cases {
            assert_eq!(Content::of(bytes, true), is, "{bytes:?}");
        }
        let cut = "é".as_bytes();
        assert_eq!(Content::of(&cut[..1], false), Content::Text(String::new(), true));
        assert_eq!(Content::of(&cut[..1], true), Content::Bytes);
    }
}
