//! The deliveries of a task: every version with its facts, and one version in full or two side by
//! side, with the comments beside their lines.

use std::collections::BTreeMap;

use kernel::task::{Artifact, Payload, PayloadKind, Version, VersionRef};
use kernel::{ArtifactId, Task, Time};
use serde_json::Value;

use crate::components::diff::{DiffLine, DiffPart, DiffView};
use crate::components::facts::link;
use crate::components::markdown::{self, RenderedMarkdown};
use crate::components::relative_time::RelativeTime;
use crate::components::task_labels as words_of;
use crate::components::wording::{self, VisibleText};
use crate::site::paths;
use crate::tasks::review::{ReviewNote, ReviewView};

/// The number of versions that are listed with details, and the number that can be selected.
const MAX_LISTED_VERSIONS: usize = 20;
const MAX_SELECTABLE_VERSIONS: usize = 100;
/// How many bytes of a version a page reads.
pub const MAX_VERSION_BYTES: usize = 256 * 1024;

/// The deliveries of a task.
#[derive(Debug, Clone, Default)]
pub struct TaskDeliveries {
    /// The artifacts, each once.
    pub artifacts: Vec<Artifact>,
    /// The older version, if two are compared.
    pub older: Option<ShownVersion>,
    /// The shown version, or the newer one if two are compared.
    pub newer: Option<ShownVersion>,
}

/// A version that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownVersion {
    pub of: VersionRef,
    pub content: VersionContent,
}

/// The content of a version, as far as a page can show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VersionContent {
    /// Text, and whether it was cut.
    Text(String, bool),
    /// An image that every browser can show.
    Picture,
    /// Other binary data.
    Bytes,
    /// It is stored outside of this server.
    Elsewhere,
    /// It should be stored here, but is not.
    Missing,
    /// It is stored here, but cannot be read now.
    Away,
}

impl VersionContent {
    /// The kind of these first bytes; `whole` says that they are the entire content.
    pub fn of(bytes: &[u8], whole: bool) -> Self {
        if image_media_type(bytes).is_some() {
            return Self::Picture;
        }
        let text = match str::from_utf8(bytes) {
            Ok(text) => text,
            // The cut may be in the middle of a UTF-8 sequence.
            Err(error) if !whole && bytes.len() - error.valid_up_to() < 4 => {
                let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
                str::from_utf8(valid).unwrap_or_default()
            }
            Err(_) => return Self::Bytes,
        };
        if text.contains('\0') { Self::Bytes } else { Self::Text(text.to_owned(), !whole) }
    }
}

/// The media type of an image that every browser shows and that cannot contain scripts.
pub fn image_media_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// The format of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextFormat {
    Plain,
    Json,
    Markdown,
    Patch,
}

impl TextFormat {
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

/// The deliveries, as a page shows them.
#[derive(Debug, Clone)]
pub struct VersionsView {
    /// The versions, newest first.
    pub rows: Vec<VersionRow>,
    /// The number of older versions that are not listed.
    pub before: usize,
    /// The versions that can be selected.
    pub picks: Vec<VersionOption>,
    pub sheet: Option<VersionView>,
}

/// An option of the version lists.
#[derive(Debug, Clone)]
pub struct VersionOption {
    /// The submitted value.
    pub value: String,
    pub label: String,
    /// Whether it is the older version that is shown.
    pub older: bool,
    /// Whether it is the newer version that is shown.
    pub newer: bool,
}

/// One version in the list.
#[derive(Debug, Clone)]
pub struct VersionRow {
    pub name: VisibleText,
    /// The kind of artifact, in the agent's words.
    pub sort: VisibleText,
    /// The facts: form, type, size.
    pub facts: String,
    /// When it was delivered.
    pub at: Option<RelativeTime>,
    /// The hash of its content.
    pub checksum: String,
    /// The path to download it from this server.
    pub href: Option<String>,
    /// The place where it is stored: a URL that can be followed, or text.
    pub uri: Option<Result<VisibleText, VisibleText>>,
    /// The reviews of it.
    pub verdicts: Vec<(&'static str, String)>,
}

/// The view of one version or of two.
#[derive(Debug, Clone)]
pub struct VersionView {
    pub title: String,
    /// The number of lines or changes, in words.
    pub extent: String,
    /// The lines, each with its comments.
    pub lines: Vec<CommentedLine>,
    /// Whether there are two columns.
    pub two: bool,
    /// The omitted part, in words.
    pub more: Option<String>,
    /// The rendered Markdown.
    pub reading: Option<RenderedMarkdown>,
    /// The images: their path and their description.
    pub pictures: Vec<(String, String)>,
    /// Why nothing is shown.
    pub nothing: Option<String>,
    /// The path of the complete version.
    pub whole: Option<String>,
}

/// A line or a gap, with its comments.
#[derive(Debug, Clone)]
pub struct CommentedLine {
    pub part: DiffPart,
    pub notes: Vec<ReviewNote>,
}

impl CommentedLine {
    /// The line number that comments refer to.
    pub fn n(&self) -> Option<usize> {
        match &self.part {
            DiffPart::Line(DiffLine { is: Some((n, _)), .. }) => Some(*n),
            DiffPart::Line(DiffLine { is: None, .. }) | DiffPart::Same(_) => None,
        }
    }
}

/// The name of a version in a URL.
pub fn version_value(of: &VersionRef) -> String {
    format!("{}:{}", of.id, of.version)
}

/// The version with this name, if the task delivered it.
pub fn parse_version(task: &Task, value: &str) -> Option<VersionRef> {
    let (id, version) = value.split_once(':')?;
    let of = VersionRef { id: id.parse::<ArtifactId>().ok()?, version: version.to_owned() };
    task.delivered.contains(&of).then_some(of)
}

impl TaskDeliveries {
    /// A version and its artifact.
    pub fn find(&self, of: &VersionRef) -> Option<(&Artifact, &Version)> {
        let artifact = self.artifacts.iter().find(|made| made.id == of.id)?;
        Some((artifact, artifact.version(Some(&of.version))?))
    }
}

impl VersionsView {
    /// The deliveries of a task; `judged` contains their reviews.
    pub fn new(task: &Task, found: &TaskDeliveries, judged: &[ReviewView], now: Time) -> Self {
        let many = found.artifacts.len() > 1;
        let shown = |open: &Option<ShownVersion>, of: &VersionRef| {
            open.as_ref().is_some_and(|open| open.of == *of)
        };
        let pick = |of: &VersionRef| VersionOption {
            value: version_value(of),
            label: label(found, of, many),
            older: shown(&found.older, of),
            newer: shown(&found.newer, of),
        };
        let rows = task.delivered.iter().rev().take(MAX_LISTED_VERSIONS);
        let rows = rows.map(|of| VersionRow::new(task, found, of, judged, now));
        Self {
            rows: rows.collect(),
            before: task.delivered.len().saturating_sub(MAX_LISTED_VERSIONS),
            picks: task.delivered.iter().rev().take(MAX_SELECTABLE_VERSIONS).map(pick).collect(),
            sheet: found.newer.as_ref().map(|newer| VersionView::new(task, found, newer, judged)),
        }
    }
}

fn label(found: &TaskDeliveries, of: &VersionRef, many: bool) -> String {
    let version = VisibleText::of(&of.version);
    match found.find(of).filter(|_| many) {
        Some((artifact, _)) => format!("{} {version}", VisibleText::of(&artifact.sort)),
        None => version.to_string(),
    }
}

impl VersionRow {
    fn new(
        task: &Task,
        found: &TaskDeliveries,
        of: &VersionRef,
        judged: &[ReviewView],
        now: Time,
    ) -> Self {
        let said = judged.iter().filter(|judged| judged.of == *of);
        let verdicts = said
            .map(|said| (said.tone, t!("task-verdict-by", verdict = said.verdict, who = said.who)));
        let known = found.find(of);
        let payload = known.map(|(_, version)| &version.payload);
        let facts = payload.map(|payload| {
            let kind =
                payload.media_type.as_deref().map(|kind| format!(", {}", VisibleText::of(kind)));
            let (form, size) = (words_of::payload(payload.kind), wording::size(payload.size));
            format!("{form}{}, {size}", kind.unwrap_or_default())
        });
        let uri = payload.and_then(|payload| payload.uri.as_deref());
        Self {
            name: VisibleText::of(&of.version),
            sort: VisibleText::of(known.map_or("", |(artifact, _)| &artifact.sort)),
            facts: facts.unwrap_or_else(|| t!("task-version-unknown")),
            at: known.map(|(_, version)| RelativeTime::new(version.produced_at, now)),
            checksum: payload.map(|payload| payload.checksum.to_string()).unwrap_or_default(),
            href: payload
                .filter(|payload| payload.held.is_some())
                .map(|_| paths::version(task.id, of)),
            uri: uri.map(|uri| link(uri).ok_or_else(|| VisibleText::of(uri))),
            verdicts: verdicts.collect(),
        }
    }
}

impl VersionView {
    fn new(
        task: &Task,
        found: &TaskDeliveries,
        newer: &ShownVersion,
        judged: &[ReviewView],
    ) -> Self {
        let many = found.artifacts.len() > 1;
        let name = |open: &ShownVersion| label(found, &open.of, many);
        let older = found.older.as_ref();
        let title = match older {
            Some(older) => t!("task-compare-title", older = name(older), newer = name(newer)),
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
        let pictures = |open: &ShownVersion| open.content == VersionContent::Picture;
        for open in older.into_iter().chain([newer]).filter(|open| pictures(open)) {
            view.pictures.push((paths::version(task.id, &open.of), name(open)));
        }
        match (&newer.content, older.map(|older| &older.content)) {
            (VersionContent::Text(is, more), was) => {
                let was = match was {
                    Some(VersionContent::Text(was, _)) => Some(was.as_str()),
                    Some(_) | None => None,
                };
                view.words(found, newer, was, is, *more, judged);
            }
            (VersionContent::Picture, _) => {}
            (VersionContent::Bytes, _) => {
                view.nothing = Some(t!("task-version-binary"));
            }
            (VersionContent::Elsewhere, _) => {
                view.nothing = Some(t!("task-version-elsewhere"));
            }
            (VersionContent::Missing, _) => {
                view.nothing = Some(t!("task-version-missing"));
            }
            (VersionContent::Away, _) => {
                view.nothing = Some(t!("task-version-unreadable"));
            }
        }
        view
    }

    fn words(
        &mut self,
        found: &TaskDeliveries,
        newer: &ShownVersion,
        was: Option<&str>,
        is: &str,
        more: bool,
        judged: &[ReviewView],
    ) {
        let known = found.find(&newer.of);
        let written = known.map_or(TextFormat::Plain, |(artifact, version)| {
            TextFormat::of(&version.payload, &artifact.sort, is)
        });
        let spelled = |text: &str| match written {
            TextFormat::Json => pretty(text).unwrap_or_else(|| text.to_owned()),
            TextFormat::Plain | TextFormat::Markdown | TextFormat::Patch => text.to_owned(),
        };
        let is = spelled(is);
        let sheet = match (was, written) {
            (Some(was), _) => DiffView::compare(&spelled(was), &is),
            (None, TextFormat::Patch) => DiffView::patch(&is),
            (None, TextFormat::Plain | TextFormat::Json | TextFormat::Markdown) => {
                DiffView::whole(&is)
            }
        };
        if written == TextFormat::Markdown {
            self.reading = Some(markdown::render_markdown(&is));
        }
        self.extent = extent(&sheet, is.lines().count());
        self.more = match (sheet.more, more) {
            (0, false) => None,
            (0, true) => Some(t!("task-version-cut")),
            (n, _) => Some(t!("task-more-lines", count = n)),
        };
        self.two = sheet.two;
        // In a patch, `file:12` refers to a line of the changed file, not to a line that
        // is shown here.
        let plain = written != TextFormat::Patch;
        let mut notes = comments_by_line(&newer.of, judged, plain);
        let lines = sheet.parts.into_iter().map(|part| {
            let mut drawn = CommentedLine { part, notes: Vec::new() };
            drawn.notes = drawn.n().and_then(|n| notes.remove(&n)).unwrap_or_default();
            drawn
        });
        self.lines = lines.collect();
    }
}

/// The comments on a version, by line.
fn comments_by_line(
    of: &VersionRef,
    judged: &[ReviewView],
    plain: bool,
) -> BTreeMap<usize, Vec<ReviewNote>> {
    let mut by_line: BTreeMap<usize, Vec<ReviewNote>> = BTreeMap::new();
    for note in judged.iter().filter(|judged| judged.of == *of).flat_map(|judged| &judged.notes) {
        if let Some(n) = note.line(plain) {
            by_line.entry(n).or_default().push(note.clone());
        }
    }
    by_line
}

fn extent(sheet: &DiffView, lines: usize) -> String {
    match sheet.changed {
        _ if sheet.is_same() => t!("task-lines-same"),
        (0, 0) => t!("task-line-count", count = lines),
        (come, gone) => {
            let (added, removed) =
                (t!("task-lines-added", count = come), t!("task-lines-removed", count = gone));
            format!("{added}, {removed}")
        }
    }
}

/// Formatted JSON with its keys in the original order.
fn pretty(text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    serde_json::to_string_pretty(&value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_bytes_are_is_told_by_themselves() {
        let cases: [(&[u8], VersionContent); 9] = [
            (b"\x89PNG\r\n\x1a\n...", VersionContent::Picture),
            (b"GIF89a", VersionContent::Picture),
            (b"\xff\xd8\xff\xe0", VersionContent::Picture),
            (b"RIFF\0\0\0\0WEBP", VersionContent::Picture),
            (b"hello", VersionContent::Text("hello".to_owned(), false)),
            (b"<svg onload='x'/>", VersionContent::Text("<svg onload='x'/>".to_owned(), false)),
            (b"a\0b", VersionContent::Bytes),
            (b"\xff\xfe\x00", VersionContent::Bytes),
            (b"", VersionContent::Text(String::new(), false)),
        ];
        for (bytes, is) in cases {
            assert_eq!(VersionContent::of(bytes, true), is, "{bytes:?}");
        }
        let cut = "é".as_bytes();
        assert_eq!(VersionContent::of(&cut[..1], false), VersionContent::Text(String::new(), true));
        assert_eq!(VersionContent::of(&cut[..1], true), VersionContent::Bytes);
    }
}
