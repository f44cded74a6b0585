//! `countersign verify RECEIPT`: checks whether a receipt is genuine, and prints its claims. It
//! needs no server if the keys are at hand. Exits 0 if it is valid, 1 if it is not.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use clap::Args;
use dialects::proof::passkey::enrolled;
use dialects::proof::receipt::id as receipt_id;
use dialects::proof::record_check::Inclusion;
use dialects::proof::{
    Jwks, ProofError, RECEIPT, ReceiptClaims, RevocationClaims, RevokedKey, compare, explain, jws,
    verify as check, verify_enrolment, verify_evidence,
};
use gateway::audit::check_export;
use gateway::signing::published;
use gateway::vault::Vault;
use kernel::audit::Digest;
use kernel::passkey_evidence::PasskeyEvidence;
use kernel::question::Question;
use kernel::receipt::QuestionDigests;
use kernel::text::reveal;
use kernel::{AskId, Assurance, Time};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::AskStore;
use store::sqlite::Sqlite;
use ulid::Ulid;

use super::Exit;
use super::output::say;

#[derive(Args)]
#[command(
    after_help = "Exits with 0 if the receipt is valid, 1 if it is not, 4 if it could not be checked."
)]
pub(super) struct VerifyArgs {
    /// The receipt: a file, `-` for standard input, or the receipt itself
    receipt: String,
    /// The trusted keys, a JWKS as the issuer publishes it [default: those of the data folder, else
    /// the issuer's]
    #[arg(long, value_name = "FILE|URL")]
    jwks: Option<String>,
    /// The data folder with the trusted keys, unless --jwks is given [default: ./countersign-data, if
    /// it exists]
    #[arg(long, env = "COUNTERSIGN_DATA", value_name = "DIR")]
    data: Option<PathBuf>,
    /// The issuer that the receipt must have
    #[arg(long, value_name = "URL")]
    issuer: Option<String>,
    /// The question that the receipt must be about, as JSON
    #[arg(long, value_name = "FILE")]
    question: Option<PathBuf>,
    /// The issuer's revocations, one page or several
    #[arg(long, value_name = "FILE")]
    revocations: Option<PathBuf>,
    /// The proof that the answer is in the audit log, as JSON
    #[arg(long, value_name = "FILE")]
    proof: Option<PathBuf>,
    /// The passkey evidence that came with the receipt, as JSON [default: in the receipt's file, if
    /// it is the output of `countersign receipts show --json`]
    #[arg(long, value_name = "FILE")]
    evidence: Option<PathBuf>,
    /// The enrolment of the passkey: the proof from `…/receipt/enrolment`, or an audit export
    #[arg(long, value_name = "FILE")]
    enrolment: Option<PathBuf>,
    /// The address at which answers were confirmed with a passkey, if it is not the issuer's
    #[arg(long, value_name = "URL")]
    origin: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The result of a verification.
#[derive(Serialize)]
struct VerifyResult {
    valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    claims: Option<ReceiptClaims>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    words: Vec<String>,
    /// The checks that ran, and the keys they used.
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    keys: Option<VerifyKeys>,
}

#[derive(Serialize)]
struct VerifyKeys {
    source: &'static str,
    place: String,
}

/// Why a receipt is not valid.
type InvalidReason = String;

impl VerifyArgs {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let json = self.json;
        let (receipt, beside) = read(&self.receipt)?;
        let found = Box::pin(self.check_receipt(&receipt, beside)).await?;
        if json {
            say!("{}", serde_json::to_string(&found)?);
        } else {
            show(&found);
        }
        Ok(if found.valid { Exit::Done } else { Exit::Denied })
    }

    async fn check_receipt(
        self,
        receipt: &str,
        beside: Option<PasskeyEvidence>,
    ) -> anyhow::Result<VerifyResult> {
        let mut found = VerifyResult {
            valid: false,
            why: None,
            claims: None,
            words: Vec::new(),
            notes: Vec::new(),
            keys: None,
        };
        // Read the claims before they are verified, to find the issuer.
        let claimed: Value = match jws::peek(receipt, RECEIPT) {
            Ok(claims) => claims,
            Err(unproven) => {
                found.why = Some(unproven.to_string());
                return Ok(found);
            }
        };
        let issuer = claimed.get("iss").and_then(Value::as_str).unwrap_or_default().to_owned();
        if let Some(expected) = &self.issuer
            && *expected.trim_end_matches('/') != *issuer
        {
            found.why = Some(format!("its issuer is {issuer}, not {expected}"));
            return Ok(found);
        }
        let trust = TrustedKeys::find(self.jwks, self.data, &issuer).await?;
        found.notes.push(trust.source.trust_statement());
        found.keys = Some(VerifyKeys { source: trust.source.kind(), place: trust.source.place() });
        let claims = match check(receipt, &trust.keys) {
            Ok(claims) => claims,
            Err(unproven) => {
                found.why = Some(invalid_reason(&unproven, &trust));
                return Ok(found);
            }
        };
        found.words = explain(&claims);
        let mut wrong = Vec::new();
        if let Some(path) = &self.question {
            match same_question(path, &claims)? {
                Ok(note) => found.notes.push(note),
                Err(no) => wrong.push(no),
            }
        }
        match revoked(receipt, &claims, &trust, self.revocations.as_deref()).await? {
            Ok(note) => found.notes.push(note),
            Err(no) => wrong.push(no),
        }
        if let Some(path) = &self.proof {
            match check_inclusion(path, &claims, &trust)? {
                Ok(note) => found.notes.push(note),
                Err(no) => wrong.push(no),
            }
        }
        let evidence = match &self.evidence {
            Some(path) => Some(read_evidence(path)?),
            None => beside,
        };
        match &evidence {
            Some(evidence) => match check_evidence(evidence, &claims, self.origin.as_deref()) {
                Ok(note) => found.notes.push(note),
                Err(no) => wrong.push(no),
            },
            None => found.notes.extend(missing(&claims)),
        }
        if let Some(path) = &self.enrolment {
            let evidence = evidence.as_ref().context("--enrolment needs --evidence")?;
            let keys = &trust.keys;
            match check_enrolment(path, evidence, &claims, keys).await? {
                Ok(note) => found.notes.push(note),
                Err(no) => wrong.push(no),
            }
        }
        found.claims = Some(claims);
        found.valid = wrong.is_empty();
        found.why = (!wrong.is_empty()).then(|| wrong.join("; "));
        Ok(found)
    }
}

/// Reads a receipt. A file may contain the output of `countersign receipt --json`,
/// with passkey evidence.
fn read(place: &str) -> anyhow::Result<(String, Option<PasskeyEvidence>)> {
    #[derive(Deserialize)]
    struct PrintedReceipt {
        receipt: String,
        #[serde(default)]
        evidence: Option<PasskeyEvidence>,
    }
    let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let itself = |text: &str| text.matches('.').count() == 2 && text.chars().all(letters);
    let text = if place == "-" {
        let mut text = String::new();
        let bound = jws::LARGEST as u64 + 2;
        std::io::stdin().take(bound).read_to_string(&mut text).context("cannot read it")?;
        text
    } else if itself(place) && !Path::new(place).exists() {
        place.to_owned()
    } else {
        file(Path::new(place))?
    };
    let printed: Result<PrintedReceipt, _> = serde_json::from_str(&text);
    let (receipt, evidence) = match printed {
        Ok(printed) => (printed.receipt, printed.evidence),
        Err(_) => (text, None),
    };
    Ok((receipt.trim().to_owned(), evidence))
}

fn invalid_reason(unproven: &ProofError, trust: &TrustedKeys) -> String {
    let ProofError::UnknownKey { kid } = unproven else { return unproven.to_string() };
    match trust.revoked.iter().find(|key| key.kid == *kid) {
        Some(key) => format!("the key that signed it was revoked at {}: {}", key.at, key.reason),
        None => unproven.to_string(),
    }
}

/// Whether the receipt is about this question, given as asked or as the API shows it.
fn same_question(
    path: &Path,
    claims: &ReceiptClaims,
) -> anyhow::Result<Result<String, InvalidReason>> {
    let unreadable = || format!("{} is not a question in JSON", path.display());
    let value: Value = serde_json::from_str(&file(path)?).with_context(unreadable)?;
    let question = value.get("question").unwrap_or(&value);
    let typed: Result<Question, _> = serde_json::from_value(question.clone());
    let typed = typed.ok().map(|question| QuestionDigests::hash(&question));
    let same = typed == Some(claims.question_sha256)
        || Digest::of_json(question) == claims.question_sha256;
    Ok(if same {
        Ok(format!("It is about the question in {}.", path.display()))
    } else {
        Err(format!("it is not about the question in {}", path.display()))
    })
}

/// Whether the receipt was revoked, as far as can be determined.
async fn revoked(
    receipt: &str,
    claims: &ReceiptClaims,
    trust: &TrustedKeys,
    list: Option<&Path>,
) -> anyhow::Result<Result<String, InvalidReason>> {
    if let Some(path) = list {
        let text = file(path)?;
        let mut pages = Vec::new();
        for page in text.split_whitespace() {
            let page = RevocationClaims::verify(page, &trust.keys);
            pages.push(page.with_context(|| format!("{} is not valid", path.display()))?);
        }
        return listed(receipt, claims, &pages);
    }
    match &trust.source {
        TrustSource::Folder(folder) => {
            let database = folder.join("countersign.db");
            if !database.exists() {
                return Ok(Ok(unknown()));
            }
            let ask = Sqlite::open_read_only(&database)?.ask(claims.sub).await?;
            if let Err(differs) = compare(claims, ask.as_deref()) {
                return Ok(Err(format!("{differs}, says the database there")));
            }
            Ok(match ask.as_deref().and_then(|ask| ask.revoked.as_ref()) {
                Some(revoked) => {
                    Err(revoked_reason(revoked.at, revoked.reason.value().map(String::as_str)))
                }
                None => {
                    Ok("It is what the database there recorded, and was not revoked.".to_owned())
                }
            })
        }
        TrustSource::Issuer(_) => {
            // The page that begins with this very receipt.
            let above = AskId::new(Ulid::from(u128::from(claims.sub.ulid()).saturating_add(1)));
            let cursor = receipt_id(above);
            let address = format!("{}/api/v1/receipts/revocations?cursor={cursor}", claims.iss);
            let page = fetch(&address).await?;
            let page = RevocationClaims::verify(page.trim(), &trust.keys)
                .with_context(|| format!("{address} is not valid"))?;
            listed(receipt, claims, &[page])
        }
        TrustSource::File(_) | TrustSource::Named(_) => Ok(Ok(unknown())),
    }
}

fn unknown() -> String {
    "Whether it was revoked since was not checked: give --revocations.".to_owned()
}

fn listed(
    receipt: &str,
    claims: &ReceiptClaims,
    pages: &[RevocationClaims],
) -> anyhow::Result<Result<String, InvalidReason>> {
    let Some(oldest) = pages.iter().map(|page| page.iat).min() else {
        bail!("there are no revocations in the file")
    };
    if let Some(page) = pages.iter().find(|page| page.iss != claims.iss) {
        bail!("the revocations are those of {}, not of {}", page.iss, claims.iss);
    }
    let kid = jws::kid(receipt, RECEIPT)?;
    if let Some(key) = pages.iter().flat_map(|page| &page.keys).find(|key| key.kid == kid) {
        return Ok(Err(format!(
            "the key that signed it was revoked at {}: {}",
            key.at, key.reason
        )));
    }
    let mut all = pages.iter().flat_map(|page| &page.revoked);
    if let Some(found) = all.find(|one| one.jti == claims.jti) {
        return Ok(Err(revoked_reason(found.at, found.reason.as_deref())));
    }
    let at = Time::from_millis(oldest.saturating_mul(1000));
    Ok(Ok(if pages.iter().any(|page| page.covers(&claims.jti)) {
        format!("It is not revoked, as of the list of {at}.")
    } else {
        format!(
            "Whether it was revoked is not known: it is not in the part of {at} that was given."
        )
    }))
}

fn revoked_reason(at: Time, reason: Option<&str>) -> InvalidReason {
    match reason {
        Some(reason) => format!("it was revoked at {at}: {reason}"),
        None => format!("it was revoked at {at}"),
    }
}

/// Whether the receipt is in a sealed block of the audit log.
fn check_inclusion(
    path: &Path,
    claims: &ReceiptClaims,
    trust: &TrustedKeys,
) -> anyhow::Result<Result<String, InvalidReason>> {
    let proof: Inclusion = serde_json::from_str(&file(path)?)
        .with_context(|| format!("{} is not a proof of inclusion", path.display()))?;
    Ok(match proof.check(claims, &trust.keys) {
        Ok(block) => Ok(format!(
            "Its event is in block {} of the audit record, sealed at {} by {}.",
            block.n, block.at, block.issuer
        )),
        Err(not) => Err(format!("the proof of inclusion is not valid: {not}")),
    })
}

fn show(found: &VerifyResult) {
    match &found.why {
        None => say!("The receipt is valid."),
        Some(why) => say!("The receipt is NOT valid: {}.", reveal(why)),
    }
    for sentences in [&found.words, &found.notes] {
        if !sentences.is_empty() {
            say!("");
        }
        for sentence in sentences {
            say!("  {}", reveal(sentence).replace('\n', "\n    "));
        }
    }
}

// The source of the keys that verify a receipt. A valid signature proves only as much as its keys,
// so the source is always printed.

/// The largest response that is read.
const MAX_RESPONSE_BYTES: usize = 16 << 20;
/// The default data directory of a server.
const HERE: &str = "countersign-data";

/// Keys, and their source.
pub(super) struct TrustedKeys {
    pub(super) keys: Jwks,
    /// Revoked keys of the same installation, as far as known.
    pub(super) revoked: Vec<RevokedKey>,
    pub(super) source: TrustSource,
}

pub(super) enum TrustSource {
    /// A saved file.
    File(PathBuf),
    /// A given URL.
    Named(String),
    /// The data directory of the installation itself.
    Folder(PathBuf),
    /// The issuer that the receipt names.
    Issuer(String),
}

impl TrustSource {
    /// The source in one word.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::File(_) => "file",
            Self::Named(_) => "named",
            Self::Folder(_) => "folder",
            Self::Issuer(_) => "issuer",
        }
    }

    pub(super) fn place(&self) -> String {
        match self {
            Self::File(path) | Self::Folder(path) => path.display().to_string(),
            Self::Named(url) | Self::Issuer(url) => url.clone(),
        }
    }

    /// What a signature verified with these keys proves.
    pub(super) fn trust_statement(&self) -> String {
        let place = self.place();
        match self {
            Self::File(_) => format!("Verified with the keys in {place}."),
            Self::Named(_) => format!("Verified with the keys fetched now from {place}."),
            Self::Folder(_) => format!("Verified with the keys of the data folder {place}."),
            Self::Issuer(_) => format!(
                "Checked with keys fetched now from {place}, the issuer the receipt itself names. \
                 That proves less than keys you kept: make sure that this is the issuer you mean, \
                 keep its keys, and give them with --jwks."
            ),
        }
    }
}

impl TrustedKeys {
    /// The given keys, or else those of a data directory, or else the issuer's.
    pub(super) async fn find(
        jwks: Option<String>,
        data: Option<PathBuf>,
        issuer: &str,
    ) -> anyhow::Result<Self> {
        if let Some(place) = jwks {
            let source = if is_address(&place) {
                TrustSource::Named(place)
            } else {
                TrustSource::File(PathBuf::from(place))
            };
            return Self::read(source).await;
        }
        let folder = data.or_else(|| {
            let here = PathBuf::from(HERE);
            here.join("server-keys.json").exists().then_some(here)
        });
        if let Some(folder) = folder {
            let (keys, revoked) = published(&Vault::folder(&folder)).await?;
            return Ok(Self { keys, revoked, source: TrustSource::Folder(folder) });
        }
        ensure!(
            is_address(issuer),
            "the receipt names no address as its issuer: give its keys with --jwks"
        );
        let address = format!("{}/.well-known/jwks.json", issuer.trim_end_matches('/'));
        Self::read(TrustSource::Issuer(address)).await
    }

    async fn read(source: TrustSource) -> anyhow::Result<Self> {
        let place = source.place();
        let bytes = match &source {
            TrustSource::File(path) | TrustSource::Folder(path) => file(path)?.into_bytes(),
            TrustSource::Named(url) | TrustSource::Issuer(url) => fetch(url).await?.into_bytes(),
        };
        let keys = serde_json::from_slice(&bytes)
            .with_context(|| format!("{place} is not a JSON Web Key Set"))?;
        Ok(Self { keys, revoked: Vec::new(), source })
    }
}

fn is_address(text: &str) -> bool {
    text.starts_with("https://") || text.starts_with("http://")
}

pub(super) fn file(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Fetches a URL without redirects, with a timeout and a size limit.
pub(super) async fn fetch(url: &str) -> anyhow::Result<String> {
    let http = reqwest::Client::builder()
        .timeout(Duration::from_secs(10))
        .redirect(reqwest::redirect::Policy::none())
        .build()?;
    let read = async {
        let mut answer = http.get(url).send().await?.error_for_status()?;
        let mut bytes = Vec::new();
        while let Some(chunk) = answer.chunk().await? {
            bytes.extend(chunk);
            ensure!(bytes.len() <= MAX_RESPONSE_BYTES, "it is larger than 16 MiB");
        }
        Ok(String::from_utf8(bytes)?)
    };
    read.await.with_context(|| format!("cannot fetch {url}"))
}

// Checks passkey evidence for `countersign verify`: the signature over the answer, and the
// enrolment of the passkey in the audit log.

/// The evidence in a file: by itself, or as `countersign receipt --json` prints it.
pub(super) fn read_evidence(path: &Path) -> anyhow::Result<PasskeyEvidence> {
    let unreadable = || format!("{} contains no passkey evidence", path.display());
    let value: Value = serde_json::from_str(&file(path)?).with_context(unreadable)?;
    let evidence = value.get("evidence").unwrap_or(&value);
    serde_json::from_value(evidence.clone()).with_context(unreadable)
}

/// What the evidence proves, or why it proves nothing.
pub(super) fn check_evidence(
    evidence: &PasskeyEvidence,
    claims: &ReceiptClaims,
    origin: Option<&str>,
) -> Result<String, String> {
    match verify_evidence(evidence, claims, origin) {
        Ok(()) => Ok(format!(
            "The passkey {} of {} signed this very answer; its signature fits.",
            evidence.key, evidence.statement.human
        )),
        Err(error) => Err(format!("the passkey evidence is not valid: {error}")),
    }
}

/// The note for missing evidence; `None` if none is needed.
pub(super) fn missing(claims: &ReceiptClaims) -> Option<String> {
    let passkey = claims.assurance == Some(Assurance::Passkey) && !claims.evidence_erased;
    passkey.then(|| {
        "The signature of the passkey was not checked, so this rests on the issuer's word: give \
         --evidence."
            .to_owned()
    })
}

/// A record of an export, with only the fields needed here.
#[derive(Deserialize)]
struct ExportedLine {
    record: Option<ExportedRecord>,
}

#[derive(Deserialize)]
struct ExportedRecord {
    subject: String,
    seq: u64,
    at: Time,
    what: String,
    body: String,
}

/// Whether the signing passkey was enrolled before, by a proof of inclusion or a
/// complete audit export.
pub(super) async fn check_enrolment(
    path: &Path,
    evidence: &PasskeyEvidence,
    claims: &ReceiptClaims,
    keys: &Jwks,
) -> anyhow::Result<Result<String, String>> {
    let open = || File::open(path).with_context(|| format!("cannot read {}", path.display()));
    let mut first = String::new();
    BufReader::new(open()?).read_line(&mut first)?;
    let is_export = serde_json::from_str::<Value>(&first).is_ok_and(|v| v.get("header").is_some());
    if !is_export {
        let proof: Inclusion = serde_json::from_str(&file(path)?).with_context(|| {
            format!("{} is neither a proof of inclusion nor an audit export", path.display())
        })?;
        return Ok(match verify_enrolment(&proof, evidence, claims, keys) {
            Ok(block) => Ok(format!(
                "The passkey was enrolled before that: block {} of the audit log, sealed at {} by {}.",
                block.n, block.at, block.issuer
            )),
            Err(error) => Err(format!("the enrolment is not valid: {error}")),
        });
    }
    let size = open()?.metadata()?.len();
    let lines = Box::new(BufReader::new(open()?));
    let report = check_export(lines, size, Some(Arc::new(keys.clone())), None, &mut |_| {}).await?;
    if !report.holds() {
        bail!("the audit export is not valid; run `countersign audit verify --export` on it");
    }
    let mut found = None;
    for line in BufReader::new(open()?).lines() {
        let line: ExportedLine = serde_json::from_str(&line?)?;
        let Some(entry) = line.record.filter(|entry| entry.subject == evidence.key.to_string())
        else {
            continue;
        };
        let removed = matches!(entry.what.as_str(), "key_revoked" | "key_erased");
        if entry.seq == 1 {
            found = Some(enrolled(&entry.body, &entry.subject, 1, evidence, claims.ended_at));
        } else if removed && entry.at < claims.ended_at {
            return Ok(Err(format!("the passkey was removed at {}, before the answer", entry.at)));
        }
    }
    Ok(match found {
        Some(Ok(())) => Ok("The passkey was enrolled before that, as the audit export shows, and \
                            was not removed before the answer."
            .to_owned()),
        Some(Err(error)) => Err(format!("the enrolment is not valid: {error}")),
        None => Err("the audit export does not have the enrolment of the passkey".to_owned()),
    })
}
