//! Verifies an export, line by line, whatever its origin.
//!
//! Lines are in feed order, so the head of each subject is kept in memory: about 200 bytes for a
//! closed ask, and the whole state without texts for an open one.

use std::collections::HashMap;
use std::io::BufRead;
use std::sync::Arc;

use anyhow::{Context, bail};
use dialects::proof::{Jwks, jws};
use futures_util::{StreamExt, stream};
use kernel::audit::{ChainFault, Digest, Head, RecordRow, Verifier};
use kernel::event::ErasureTrace;
use kernel::seal::{BlockFault, BlockVerifier};
use kernel::{Ask, Entity, Event, Subject, evolve};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use store::SealedBlock;

use super::blocks::{BlockChain, OpenedBlock};
use super::export::{ExportEnd, ExportHeader, ExportLine, ExportTotals, TYP};
use super::{AuditBaseline, AuditFinding, AuditProgress, AuditReport, cores};

/// The approximate number of bytes per read.
const BATCH: usize = 512 << 10;
/// The longest accepted line. Lines of a real export are much shorter.
const LONGEST_LINE: usize = 64 << 20;

/// Verifies an export of `size` bytes, if the size is known. Without `keys`, it uses the keys in
/// the export itself. That shows that the export is consistent, but not who created it.
pub async fn check_export(
    lines: Box<dyn BufRead + Send>,
    size: u64,
    keys: Option<Arc<Jwks>>,
    known: Option<(u64, Digest)>,
    progress: &mut (dyn FnMut(AuditProgress) + Send),
) -> anyhow::Result<AuditReport> {
    let mut reader = ExportReader { lines, sha256: Sha256::new(), line: 0, bytes: 0 };
    let header = reader.header()?;
    let keys = match keys {
        Some(keys) => keys,
        None => Arc::new(header.jwks.clone()),
    };
    let against = AuditBaseline { keys: Arc::clone(&keys), known, ..AuditBaseline::default() };
    let mut replay = ExportVerification::new(header, &against);
    let batches = stream::unfold(Some(reader), async move |reader| {
        let mut reader = reader?;
        let read = tokio::task::spawn_blocking(move || {
            let batch = reader.batch();
            (batch, reader)
        });
        match read.await {
            Ok((Ok(batch), _)) if batch.is_empty() => None,
            Ok((Ok(batch), reader)) => Some((Ok((batch, reader.bytes)), Some(reader))),
            Ok((Err(error), _)) => Some((Err(error), None)),
            Err(error) => Some((Err(error.into()), None)),
        }
    });
    let read = move |batch: anyhow::Result<(Vec<RawExportLine>, u64)>| {
        let keys = Arc::clone(&keys);
        async move {
            let (batch, bytes) = batch?;
            let read = move || batch.into_iter().map(|raw| raw.read(&keys)).collect::<Vec<_>>();
            anyhow::Ok((tokio::task::spawn_blocking(read).await?, bytes))
        }
    };
    let mut batches = std::pin::pin!(batches.map(read).buffered(cores() + 1));
    while let Some(batch) = batches.next().await {
        let (batch, bytes) = batch?;
        for (line, read) in batch {
            replay.take(line, read);
        }
        progress(AuditProgress { done: bytes, total: size, events: replay.report.events });
    }
    Ok(replay.finish())
}

/// Reads lines and hashes them.
struct ExportReader {
    lines: Box<dyn BufRead + Send>,
    sha256: Sha256,
    line: u64,
    bytes: u64,
}

/// One line. If it claims to be the last, also the hash of everything before it.
struct RawExportLine {
    line: u64,
    text: Vec<u8>,
    before: Option<Digest>,
}

impl ExportReader {
    fn header(&mut self) -> anyhow::Result<ExportHeader> {
        let raw = self.next()?.context("the export is empty")?;
        match serde_json::from_slice(&raw.text) {
            Ok(ExportLine::Header(header)) if header.version == 1 => Ok(header),
            Ok(ExportLine::Header(header)) => {
                bail!("the export has version {}; this program knows version 1", header.version)
            }
            Ok(_) | Err(_) => bail!("this is not an export: its first line is not a header"),
        }
    }

    fn batch(&mut self) -> anyhow::Result<Vec<RawExportLine>> {
        let (mut batch, mut size) = (Vec::new(), 0);
        while size < BATCH
            && let Some(raw) = self.next()?
        {
            size += raw.text.len();
            batch.push(raw);
        }
        Ok(batch)
    }

    fn next(&mut self) -> anyhow::Result<Option<RawExportLine>> {
        let mut text = Vec::new();
        let mut bounded = std::io::Read::take(&mut self.lines, LONGEST_LINE as u64);
        let n = bounded.read_until(b'\n', &mut text).context("cannot read the export")?;
        if n == 0 {
            return Ok(None);
        }
        self.line += 1;
        self.bytes += n as u64;
        if n >= LONGEST_LINE {
            bail!("line {} of the export exceeds the maximum length", self.line);
        }
        let last = text.starts_with(b"{\"end\"");
        let before = last.then(|| Digest(self.sha256.clone().finalize().into()));
        self.sha256.update(&text);
        Ok(Some(RawExportLine { line: self.line, text, before }))
    }
}

/// A parsed line.
enum ParsedLine {
    Block(OpenedBlock),
    Record(Box<RecordRow>, Result<Event, ChainFault>, bool),
    End { end: ExportEnd, before: Option<Digest>, signed: Option<Value> },
    Wrong(&'static str),
}

impl RawExportLine {
    /// Does everything that does not depend on other lines.
    fn read(self, keys: &Jwks) -> (u64, ParsedLine) {
        let read = match serde_json::from_slice(&self.text) {
            // A line without a line end was truncated.
            _ if !self.text.ends_with(b"\n") => ParsedLine::Wrong("it is incomplete"),
            Ok(ExportLine::Record(line)) => {
                let row = RecordRow::from(*line);
                let (opened, hollow) = event_without_texts(row.open());
                ParsedLine::Record(Box::new(row), opened, hollow)
            }
            Ok(ExportLine::Block(line)) => {
                let hash = line.hash;
                let sealed = SealedBlock { block: line.claims, jws: line.jws };
                let mut opened = OpenedBlock::of(sealed, keys);
                if opened.block.hash() != hash {
                    opened.flaw = opened.flaw.or(Some(BlockFault::Columns));
                }
                ParsedLine::Block(opened)
            }
            Ok(ExportLine::End(end)) => {
                let signed = jws::open(&end.jws, TYP, keys).ok();
                ParsedLine::End { end, before: self.before, signed }
            }
            Ok(ExportLine::Header(_)) => ParsedLine::Wrong("a second header"),
            Err(_) => ParsedLine::Wrong("it cannot be read"),
        };
        (self.line, read)
    }
}

/// The event without its texts, which were checked, and whether any were erased.
fn event_without_texts(opened: Result<Event, ChainFault>) -> (Result<Event, ChainFault>, bool) {
    let mut hollow = false;
    let closed = opened.map(|mut event| {
        event.what.slots(&mut |slot| {
            hollow |= slot.content().is_none();
            drop(slot.take_out());
        });
        event
    });
    (closed, hollow)
}

/// The state of the verification after the lines so far.
struct ExportVerification {
    header: ExportHeader,
    blocks: BlockChain,
    subjects: HashMap<Subject, SubjectEntry>,
    /// One closed ask for each outcome. It represents all asks with the same outcome.
    endings: Vec<Ask>,
    position: u64,
    records: u64,
    ended: bool,
    lines: u64,
    report: AuditReport,
}

/// The stored data of a subject.
struct SubjectEntry {
    head: Head,
    /// Events with missing values, until an event says that they were erased. Of those that only
    /// the same event can have erased, the first.
    hollow: Vec<(u64, ErasureTrace)>,
    state: SubjectState,
}

enum SubjectState {
    /// The subject existed before the export began, so its state is unknown.
    Unknown,
    Live(Box<Entity>),
    /// Like the ask with this index in `endings`.
    Over(usize),
    /// There was a finding. Later ones would only repeat it.
    Broken,
}

impl ExportVerification {
    fn new(header: ExportHeader, against: &AuditBaseline) -> Self {
        let seals = if header.after == 0 {
            BlockVerifier::default()
        } else {
            BlockVerifier::from_anywhere()
        };
        Self {
            position: header.after,
            header,
            blocks: BlockChain::new(seals, against),
            subjects: HashMap::new(),
            endings: Vec::new(),
            records: 0,
            ended: false,
            lines: 1,
            report: AuditReport::default(),
        }
    }

    fn take(&mut self, line: u64, read: ParsedLine) {
        self.lines = line;
        if self.ended {
            self.report.add_finding(AuditFinding::Line { line, why: "it follows the last line" });
        }
        match read {
            ParsedLine::Block(opened) => self.blocks.block(&opened, &mut self.report),
            ParsedLine::Record(row, opened, hollow) => self.record(&row, opened, hollow),
            ParsedLine::End { end, before, signed } => {
                self.ended = true;
                self.end(line, &end, before, signed.as_ref());
            }
            ParsedLine::Wrong(why) => self.report.add_finding(AuditFinding::Line { line, why }),
        }
    }

    fn record(&mut self, row: &RecordRow, opened: Result<Event, ChainFault>, hollow: bool) {
        self.report.events += 1;
        self.records += 1;
        if row.position <= self.position {
            self.report.add_finding(AuditFinding::Disorder { position: row.position });
        } else if row.position != self.position + 1 {
            self.report.add_finding(AuditFinding::Missing { position: row.position });
        }
        self.position = self.position.max(row.position);
        let report = &mut self.report;
        self.blocks.seals.record(row.position, row.hash, &mut |unsound| {
            report.add_finding(AuditFinding::Unsound(unsound));
        });
        let Ok(subject) = row.subject.parse::<Subject>() else {
            self.report.add_finding(AuditFinding::Nameless { position: row.position });
            return;
        };
        match self.apply_event(&subject, row, opened, hollow) {
            Ok(Some(entry)) => {
                self.subjects.insert(subject, entry);
            }
            Ok(None) => {}
            Err(finding) => {
                self.report.add_finding(finding);
                let head = Head { seq: row.seq, hash: row.hash, at: row.at };
                let broken = SubjectEntry { head, hollow: Vec::new(), state: SubjectState::Broken };
                self.subjects.insert(subject, broken);
            }
        }
    }

    /// The entry of a subject after one more event.
    fn apply_event(
        &mut self,
        subject: &Subject,
        row: &RecordRow,
        opened: Result<Event, ChainFault>,
        hollow: bool,
    ) -> Result<Option<SubjectEntry>, AuditFinding> {
        let before = self.subjects.remove(subject);
        if matches!(&before, Some(SubjectEntry { state: SubjectState::Broken, .. })) {
            return Ok(before);
        }
        let mut verifier = match &before {
            Some(before) => Verifier::after(subject.clone(), before.head),
            // The subject began before the export did.
            None if self.header.after > 0 && row.seq > 1 => {
                let head = Head { seq: row.seq - 1, hash: row.prev, at: row.at };
                Verifier::after(subject.clone(), head)
            }
            None => Verifier::default(),
        };
        let event = verifier.check_row(subject, row, || opened).map_err(AuditFinding::Broken)?;
        let head = Head { seq: row.seq, hash: row.hash, at: event.at };
        let empty = hollow.then(|| event.erasure_trace());
        let (mut hollow, before) = before.map_or((Vec::new(), None), |mut before| {
            (std::mem::take(&mut before.hollow), Some(before))
        });
        hollow.retain(|(_, earlier)| !event.what.erases(earlier));
        if let Some(trace) = empty.filter(|trace| hollow.iter().all(|(_, one)| one != trace)) {
            hollow.push((row.seq, trace));
        }
        let state = match before {
            None if row.seq > 1 => SubjectState::Unknown,
            None => self.next_state(None, &event, row.hash)?,
            Some(SubjectEntry { state: SubjectState::Unknown | SubjectState::Broken, .. }) => {
                SubjectState::Unknown
            }
            Some(SubjectEntry { state: SubjectState::Live(entity), .. }) => {
                self.next_state(Some(*entity), &event, row.hash)?
            }
            Some(SubjectEntry { state: SubjectState::Over(ending), head: was, .. }) => {
                let ask = self.endings.get(ending).zip(match subject {
                    Subject::Ask(id) => Some(*id),
                    _ => None,
                });
                let ask = ask.map(|(ask, id)| {
                    let mut ask = ask.clone();
                    (ask.id, ask.head) = (id, was);
                    Entity::Ask(Box::new(ask))
                });
                // Events after the end are kept, because later events may depend on them.
                SubjectState::Live(Box::new(
                    evolve(ask, &event, row.hash).map_err(AuditFinding::Nonsense)?,
                ))
            }
        };
        Ok(Some(SubjectEntry { head, hollow, state }))
    }

    fn next_state(
        &mut self,
        before: Option<Entity>,
        event: &Event,
        hash: Digest,
    ) -> Result<SubjectState, AuditFinding> {
        let was_open = !matches!(&before, Some(Entity::Ask(ask)) if !ask.is_open());
        let entity = evolve(before, event, hash).map_err(AuditFinding::Nonsense)?;
        let Entity::Ask(ask) = entity else { return Ok(SubjectState::Live(Box::new(entity))) };
        if ask.is_open() || !was_open || ask.followed_by.is_some() {
            return Ok(SubjectState::Live(Box::new(Entity::Ask(ask))));
        }
        let like = |other: &Ask| {
            std::mem::discriminant(&other.state) == std::mem::discriminant(&ask.state)
        };
        let ending = self.endings.iter().position(like).unwrap_or_else(|| {
            self.endings.push(*ask);
            self.endings.len() - 1
        });
        Ok(SubjectState::Over(ending))
    }

    fn end(&mut self, line: u64, end: &ExportEnd, before: Option<Digest>, signed: Option<&Value>) {
        let Some(sha256) = before else {
            self.report
                .add_finding(AuditFinding::Line { line, why: "it is not a valid last line" });
            return;
        };
        if end.claims.last > self.position {
            self.report.add_finding(AuditFinding::Missing { position: end.claims.last + 1 });
        }
        let found = ExportTotals {
            after: self.header.after,
            records: self.records,
            blocks: self.report.blocks,
            last: self.position,
            sha256,
        };
        let why = if end.claims.records != found.records {
            "its number of records is wrong"
        } else if end.claims.blocks != found.blocks {
            "its number of blocks is wrong"
        } else if end.claims != found {
            "it does not match the lines before it"
        } else if signed != Some(&found.claims(&self.header.issuer)) {
            "its signature does not verify"
        } else {
            return;
        };
        self.report.add_finding(AuditFinding::Line { line, why });
    }

    fn finish(mut self) -> AuditReport {
        self.blocks.finish(&mut self.report);
        self.report.subjects = self.subjects.len() as u64;
        let mut hollow: Vec<(&Subject, u64)> = self
            .subjects
            .iter()
            .filter_map(|(subject, entry)| Some((subject, entry.hollow.first()?.0)))
            .collect();
        hollow.sort();
        for (subject, seq) in hollow {
            self.report.add_finding(AuditFinding::Hollow { subject: subject.to_string(), seq });
        }
        if !self.ended {
            self.report.add_finding(AuditFinding::CutOff { lines: self.lines });
        }
        self.report
    }
}
