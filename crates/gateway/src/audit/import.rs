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
use kernel::audit::{Digest, Head, Row, Verifier, Why};
use kernel::event::Trace;
use kernel::seal::{Flaw, Seals};
use kernel::{Ask, Entity, Event, Subject, evolve};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use store::SealedBlock;

use super::blocks::{BlockChain, Opened};
use super::export::{Counted, End, Header, Line, TYP};
use super::{Against, Finding, Progress, Report, cores};

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
    progress: &mut (dyn FnMut(Progress) + Send),
) -> anyhow::Result<Report> {
    let mut reader = Reader { lines, sha256: Sha256::new(), line: 0, bytes: 0 };
    let header = reader.header()?;
    let keys = match keys {
        Some(keys) => keys,
        None => Arc::new(header.jwks.clone()),
    };
    let against = Against { keys: Arc::clone(&keys), known, ..Against::default() };
    let mut replay = Replay::new(header, &against);
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
    let read = move |batch: anyhow::Result<(Vec<Raw>, u64)>| {
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
        progress(Progress { done: bytes, total: size, events: replay.report.events });
    }
    Ok(replay.finish())
}

/// Reads lines and hashes them.
struct Reader {
    lines: Box<dyn BufRead + Send>,
    sha256: Sha256,
    line: u64,
    bytes: u64,
}

/// One line. If it claims to be the last, also the hash of everything before it.
struct Raw {
    line: u64,
    text: Vec<u8>,
    before: Option<Digest>,
}

impl Reader {
    fn header(&mut self) -> anyhow::Result<Header> {
        let raw = self.next()?.context("the export is empty")?;
        match serde_json::from_slice(&raw.text) {
            Ok(Line::Header(header)) if header.version == 1 => Ok(header),
            Ok(Line::Header(header)) => {
                bail!("the export has version {}; this program knows version 1", header.version)
            }
            Ok(_) | Err(_) => bail!("this is not an export: its first line is no header"),
        }
    }

    fn batch(&mut self) -> anyhow::Result<Vec<Raw>> {
        let (mut batch, mut size) = (Vec::new(), 0);
        while size < BATCH
            && let Some(raw) = self.next()?
        {
            size += raw.text.len();
            batch.push(raw);
        }
        Ok(batch)
    }

    fn next(&mut self) -> anyhow::Result<Option<Raw>> {
        let mut text = Vec::new();
        let mut bounded = std::io::Read::take(&mut self.lines, LONGEST_LINE as u64);
        let n = bounded.read_until(b'\n', &mut text).context("cannot read the export")?;
        if n == 0 {
            return Ok(None);
        }
        self.line += 1;
        self.bytes += n as u64;
        if n >= LONGEST_LINE {
            bail!("line {} of the export is longer than any of ours", self.line);
        }
        let last = text.starts_with(b"{\"end\"");
        let before = last.then(|| Digest(self.sha256.clone().finalize().into()));
        self.sha256.update(&text);
        Ok(Some(Raw { line: self.line, text, before }))
    }
}

/// A parsed line.
enum Read {
    Block(Opened),
    Record(Box<Row>, Result<Event, Why>, bool),
    End { end: End, before: Option<Digest>, signed: Option<Value> },
    Wrong(&'static str),
}

impl Raw {
    /// Does everything that does not depend on other lines.
    fn read(self, keys: &Jwks) -> (u64, Read) {
        let read = match serde_json::from_slice(&self.text) {
            // A line without a line end was truncated.
            _ if !self.text.ends_with(b"\n") => Read::Wrong("it was cut off"),
            Ok(Line::Record(line)) => {
                let row = Row::from(*line);
                let (opened, hollow) = closed(row.open());
                Read::Record(Box::new(row), opened, hollow)
            }
            Ok(Line::Block(line)) => {
                let hash = line.hash;
                let sealed = SealedBlock { block: line.claims, jws: line.jws };
                let mut opened = Opened::of(sealed, keys);
                if opened.block.hash() != hash {
                    opened.flaw = opened.flaw.or(Some(Flaw::Columns));
                }
                Read::Block(opened)
            }
            Ok(Line::End(end)) => {
                let signed = jws::open(&end.jws, TYP, keys).ok();
                Read::End { end, before: self.before, signed }
            }
            Ok(Line::Header(_)) => Read::Wrong("a second header"),
            Err(_) => Read::Wrong("it cannot be read"),
        };
        (self.line, read)
    }
}

/// The event without its texts, which were checked, and whether any were erased.
fn closed(opened: Result<Event, Why>) -> (Result<Event, Why>, bool) {
    let mut hollow = false;
    let closed = opened.map(|mut event| {
        event.what.slots(&mut |slot| hollow |= slot.close().is_none());
        event
    });
    (closed, hollow)
}

/// The state of the verification after the lines so far.
struct Replay {
    header: Header,
    blocks: BlockChain,
    subjects: HashMap<Subject, Entry>,
    /// One closed ask for each way to close. It stands for all asks that closed like it.
    endings: Vec<Ask>,
    position: u64,
    records: u64,
    ended: bool,
    lines: u64,
    report: Report,
}

/// The stored data of a subject.
struct Entry {
    head: Head,
    /// Events with missing values, until an event says that they were erased. Of those that only
    /// the same event can have erased, the first.
    hollow: Vec<(u64, Trace)>,
    state: State,
}

enum State {
    /// The subject existed before the export began, so its state is unknown.
    Unknown,
    Live(Box<Entity>),
    /// Like the ask with this index in `endings`.
    Over(usize),
    /// There was a finding. Later ones would only repeat it.
    Broken,
}

impl Replay {
    fn new(header: Header, against: &Against) -> Self {
        let seals = if header.after == 0 { Seals::default() } else { Seals::from_anywhere() };
        Self {
            position: header.after,
            header,
            blocks: BlockChain::new(seals, against),
            subjects: HashMap::new(),
            endings: Vec::new(),
            records: 0,
            ended: false,
            lines: 1,
            report: Report::default(),
        }
    }

    fn take(&mut self, line: u64, read: Read) {
        self.lines = line;
        if self.ended {
            self.report.found(Finding::Line { line, why: "it comes after the last line" });
        }
        match read {
            Read::Block(opened) => self.blocks.block(&opened, &mut self.report),
            Read::Record(row, opened, hollow) => self.record(&row, opened, hollow),
            Read::End { end, before, signed } => {
                self.ended = true;
                self.end(line, &end, before, signed.as_ref());
            }
            Read::Wrong(why) => self.report.found(Finding::Line { line, why }),
        }
    }

    fn record(&mut self, row: &Row, opened: Result<Event, Why>, hollow: bool) {
        self.report.events += 1;
        self.records += 1;
        if row.position <= self.position {
            self.report.found(Finding::Disorder { position: row.position });
        } else if row.position != self.position + 1 {
            self.report.found(Finding::Missing { position: row.position });
        }
        self.position = self.position.max(row.position);
        let report = &mut self.report;
        self.blocks.seals.record(row.position, row.hash, &mut |unsound| {
            report.found(Finding::Unsound(unsound));
        });
        let Ok(subject) = row.subject.parse::<Subject>() else {
            self.report.found(Finding::Nameless { position: row.position });
            return;
        };
        match self.follow(&subject, row, opened, hollow) {
            Ok(Some(entry)) => {
                self.subjects.insert(subject, entry);
            }
            Ok(None) => {}
            Err(finding) => {
                self.report.found(finding);
                let head = Head { seq: row.seq, hash: row.hash, at: row.at };
                let broken = Entry { head, hollow: Vec::new(), state: State::Broken };
                self.subjects.insert(subject, broken);
            }
        }
    }

    /// The entry of a subject after one more event.
    fn follow(
        &mut self,
        subject: &Subject,
        row: &Row,
        opened: Result<Event, Why>,
        hollow: bool,
    ) -> Result<Option<Entry>, Finding> {
        let before = self.subjects.remove(subject);
        if matches!(&before, Some(Entry { state: State::Broken, .. })) {
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
        let event = verifier.check_row(subject, row, || opened).map_err(Finding::Broken)?;
        let head = Head { seq: row.seq, hash: row.hash, at: event.at };
        let empty = hollow.then(|| event.trace());
        let (mut hollow, before) = before.map_or((Vec::new(), None), |mut before| {
            (std::mem::take(&mut before.hollow), Some(before))
        });
        hollow.retain(|(_, earlier)| !event.what.erases(earlier));
        if let Some(trace) = empty.filter(|trace| hollow.iter().all(|(_, one)| one != trace)) {
            hollow.push((row.seq, trace));
        }
        let state = match before {
            None if row.seq > 1 => State::Unknown,
            None => self.lived(None, &event, row.hash)?,
            Some(Entry { state: State::Unknown | State::Broken, .. }) => State::Unknown,
            Some(Entry { state: State::Live(entity), .. }) => {
                self.lived(Some(*entity), &event, row.hash)?
            }
            Some(Entry { state: State::Over(ending), head: was, .. }) => {
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
                State::Live(Box::new(evolve(ask, &event, row.hash).map_err(Finding::Nonsense)?))
            }
        };
        Ok(Some(Entry { head, hollow, state }))
    }

    fn lived(
        &mut self,
        before: Option<Entity>,
        event: &Event,
        hash: Digest,
    ) -> Result<State, Finding> {
        let was_open = !matches!(&before, Some(Entity::Ask(ask)) if !ask.is_open());
        let entity = evolve(before, event, hash).map_err(Finding::Nonsense)?;
        let Entity::Ask(ask) = entity else { return Ok(State::Live(Box::new(entity))) };
        if ask.is_open() || !was_open || ask.followed_by.is_some() {
            return Ok(State::Live(Box::new(Entity::Ask(ask))));
        }
        let like = |other: &Ask| {
            std::mem::discriminant(&other.state) == std::mem::discriminant(&ask.state)
        };
        let ending = self.endings.iter().position(like).unwrap_or_else(|| {
            self.endings.push(*ask);
            self.endings.len() - 1
        });
        Ok(State::Over(ending))
    }

    fn end(&mut self, line: u64, end: &End, before: Option<Digest>, signed: Option<&Value>) {
        let Some(sha256) = before else {
            self.report.found(Finding::Line { line, why: "it is not the last line we write" });
            return;
        };
        if end.claims.last > self.position {
            self.report.found(Finding::Missing { position: end.claims.last + 1 });
        }
        let found = Counted {
            after: self.header.after,
            records: self.records,
            blocks: self.report.blocks,
            last: self.position,
            sha256,
        };
        let why = if end.claims.records != found.records {
            "it counts other records than there are"
        } else if end.claims.blocks != found.blocks {
            "it counts other blocks than there are"
        } else if end.claims != found {
            "the lines before it are not those it was made for"
        } else if signed != Some(&found.claims(&self.header.issuer)) {
            "its signature does not verify"
        } else {
            return;
        };
        self.report.found(Finding::Line { line, why });
    }

    fn finish(mut self) -> Report {
        self.blocks.finish(&mut self.report);
        self.report.subjects = self.subjects.len() as u64;
        let mut hollow: Vec<(&Subject, u64)> = self
            .subjects
            .iter()
            .filter_map(|(subject, entry)| Some((subject, entry.hollow.first()?.0)))
            .collect();
        hollow.sort();
        for (subject, seq) in hollow {
            self.report.found(Finding::Hollow { subject: subject.to_string(), seq });
        }
        if !self.ended {
            self.report.found(Finding::CutOff { lines: self.lines });
        }
        self.report
    }
}
