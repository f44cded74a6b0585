//! Exports the audit log as JSON Lines, in constant memory. `docs/audit.md` describes the format.
//!
//! A header, then every block before the records it covers, then records in no block, then a last
//! line with counts and a signature over everything before it.

use std::sync::Arc;

use anyhow::bail;
use dialects::proof::Jwks;
use kernel::audit::{Digest, RecordRow};
use kernel::seal::Block;
use kernel::{DomainEvent, Time};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use store::{Change, SealedBlock, Store};

use crate::signing::Signer;

/// The number of records per read.
const PAGE: u64 = 256;
/// The `typ` of the signature at the end.
pub(super) const TYP: &str = "export+jwt";

/// One line. Its only member says of which kind it is.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum ExportLine {
    Header(ExportHeader),
    Block(BlockLine),
    Record(Box<RecordLine>),
    End(ExportEnd),
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExportHeader {
    pub(super) version: u8,
    pub(super) issuer: String,
    pub(super) at: Time,
    pub(super) after: u64,
    pub(super) jwks: Jwks,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BlockLine {
    pub(super) claims: Block,
    pub(super) hash: Digest,
    pub(super) jws: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordLine {
    pub(super) position: u64,
    pub(super) subject: String,
    pub(super) seq: u64,
    pub(super) at: Time,
    pub(super) what: String,
    pub(super) prev: Digest,
    pub(super) hash: Digest,
    pub(super) body: String,
    pub(super) contents: Option<Box<RawValue>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExportEnd {
    pub(super) claims: ExportTotals,
    pub(super) jws: String,
}

/// The claims of the signature at the end, besides version and issuer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExportTotals {
    pub(super) after: u64,
    pub(super) records: u64,
    pub(super) blocks: u64,
    pub(super) last: u64,
    pub(super) sha256: Digest,
}

impl ExportTotals {
    /// The claims as they are signed.
    pub(super) fn claims(&self, issuer: &str) -> Value {
        let mut claims = serde_json::to_value(self).unwrap_or_default();
        if let Value::Object(claims) = &mut claims {
            claims.insert("v".to_owned(), 1.into());
            claims.insert("iss".to_owned(), issuer.into());
        }
        claims
    }
}

/// An export in progress. Events that are written while it runs are left to the next one.
pub struct AuditExport {
    store: Arc<dyn Store>,
    signer: Signer,
    header: ExportHeader,
    phase: ExportPhase,
    /// The last exported position, and the last position to export.
    position: u64,
    end: u64,
    /// The last exported block, and the last block to export.
    block: u64,
    last_block: u64,
    /// The last position of the current block.
    covered: u64,
    counted: ExportTotals,
    sha256: Sha256,
}

enum ExportPhase {
    Header,
    Body,
    Over,
}

impl AuditExport {
    /// Begins after `after`, or earlier: at the beginning of the block that contains the next
    /// record, because only a whole block can be verified.
    pub async fn begin(
        store: Arc<dyn Store>,
        signer: Signer,
        issuer: String,
        at: Time,
        after: u64,
    ) -> anyhow::Result<Self> {
        // The order matters: the records of every block up to this one are among these.
        let last_block =
            store.block(store::BlockQuery::Last).await?.map_or(0, |sealed| sealed.block.n);
        let end = store.last_position().await?;
        let (after, block) =
            match store.block(store::BlockQuery::At(after.saturating_add(1))).await? {
                Some(SealedBlock { block, .. }) if block.n <= last_block => {
                    (block.first.saturating_sub(1), block.n.saturating_sub(1))
                }
                Some(_) | None if after >= end => (end, last_block),
                Some(_) | None => (after, if after == 0 { 0 } else { last_block }),
            };
        let header = ExportHeader { version: 1, issuer, at, after, jwks: signer.ever() };
        let counted =
            ExportTotals { after, records: 0, blocks: 0, last: after, sha256: Digest::ZERO };
        let (position, covered) = (after, after);
        let (phase, sha256) = (ExportPhase::Header, Sha256::new());
        Ok(Self {
            store,
            signer,
            header,
            phase,
            position,
            end,
            block,
            last_block,
            covered,
            counted,
            sha256,
        })
    }

    /// The next lines. `None` at the end.
    pub async fn next(&mut self) -> anyhow::Result<Option<Vec<u8>>> {
        let mut lines = Vec::new();
        match self.phase {
            ExportPhase::Header => {
                put(&mut lines, &ExportLine::Header(self.header.clone()))?;
                self.phase = ExportPhase::Body;
            }
            ExportPhase::Body if self.position >= self.covered && self.block < self.last_block => {
                self.begin_block(&mut lines).await?;
            }
            ExportPhase::Body if self.position < self.covered.max(self.end) => {
                self.records(&mut lines).await?;
            }
            ExportPhase::Body if let Some(erased) = self.erased_meanwhile().await? => {
                self.end = erased;
            }
            ExportPhase::Body => {
                self.counted.sha256 = Digest(self.sha256.clone().finalize().into());
                let jws = self.signer.sign(
                    TYP,
                    &self.counted.claims(&self.header.issuer),
                    self.header.at,
                );
                put(&mut lines, &ExportLine::End(ExportEnd { claims: self.counted.clone(), jws }))?;
                self.phase = ExportPhase::Over;
            }
            ExportPhase::Over => return Ok(None),
        }
        self.sha256.update(&lines);
        Ok(Some(lines))
    }

    /// The position of the last event that erased something while the export ran. The erased values
    /// are missing from exported records, so the export must contain these events.
    async fn erased_meanwhile(&self) -> anyhow::Result<Option<u64>> {
        let (mut after, mut erased) = (self.end, None);
        loop {
            let changes = self.store.changes(store::FeedQuery::After(after), 1000).await?;
            let Some(last) = changes.last() else { return Ok(erased) };
            after = last.position;
            let erases = |change: &&Change| DomainEvent::ERASING.contains(&change.what.as_str());
            let erasing = changes.iter().rfind(erases);
            erased = erasing.map(|change| change.position).or(erased);
        }
    }

    async fn begin_block(&mut self, lines: &mut Vec<u8>) -> anyhow::Result<()> {
        let Some(SealedBlock { block, jws }) = self.store.blocks(self.block, 1).await?.pop() else {
            bail!("block {} is missing", self.block + 1);
        };
        self.block = block.n;
        self.counted.blocks += 1;
        self.covered = block.end().saturating_sub(1);
        let hash = block.hash();
        put(lines, &ExportLine::Block(BlockLine { claims: block, hash, jws }))
    }

    async fn records(&mut self, lines: &mut Vec<u8>) -> anyhow::Result<()> {
        let to = if self.position < self.covered { self.covered } else { self.end };
        let limit = usize::try_from((to - self.position).min(PAGE)).unwrap_or(1);
        let rows = self.store.rows(store::FeedQuery::After(self.position), limit).await?;
        // Finding deleted records is the task of the verification.
        self.position = rows.last().map_or(to, |row| row.position.min(to));
        for row in rows.into_iter().filter(|row| row.position <= to) {
            self.counted.records += 1;
            self.counted.last = row.position;
            put(lines, &ExportLine::Record(Box::new(record(row))))?;
        }
        Ok(())
    }
}

fn put(lines: &mut Vec<u8>, line: &ExportLine) -> anyhow::Result<()> {
    serde_json::to_writer(&mut *lines, line)?;
    lines.push(b'\n');
    Ok(())
}

fn record(row: RecordRow) -> RecordLine {
    let RecordRow { position, subject, seq, at, what, prev, hash, body, contents } = row;
    // Contents that are no longer JSON are exported as a text, and verification then finds that
    // they do not match.
    let contents = contents.map(|text| {
        RawValue::from_string(text.clone()).or_else(|_| serde_json::value::to_raw_value(&text))
    });
    let contents = contents.and_then(Result::ok);
    RecordLine { position, subject, seq, at, what, prev, hash, body, contents }
}

impl From<RecordLine> for RecordRow {
    fn from(line: RecordLine) -> Self {
        let RecordLine { position, subject, seq, at, what, prev, hash, body, contents } = line;
        let contents = contents.map(|raw| raw.get().to_owned());
        Self { position, subject, seq, at, what, prev, hash, body, contents }
    }
}
