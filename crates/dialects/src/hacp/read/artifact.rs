//! `artifact.commit`, `artifact.get`, `artifact.reference`, `artifact.share`. HACP-021, HACP-028;
//! K-08.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kernel::audit::Digest;
use kernel::task::{
    NewVersion, Payload, PayloadKind, Role, StoredContent, TaskCommand, VersionRef,
};
use kernel::{ArtifactId, TaskId};

use super::super::errors::HacpError;
use super::super::parse::Members;
use super::{OperationParams, artifact_id, data_uri, task_id};

/// A delivery before the server has looked up its uploaded bytes.
#[derive(Debug, Clone)]
pub struct ArtifactCommit {
    /// The task that delivers it.
    pub task: TaskId,
    /// The artifact that gets a new version; `None` for a new artifact.
    pub artifact: Option<ArtifactId>,
    pub sort: String,
    /// The name of the version; `None` for the next number.
    pub name: Option<String>,
    /// The version it is based on; `None` for the newest.
    pub parent: Option<String>,
    pub payload: NewPayload,
}

/// The payload of a version, as the caller describes it.
#[derive(Debug, Clone)]
pub struct NewPayload {
    pub kind: PayloadKind,
    /// The URL of the bytes, unless this server stores them.
    pub uri: Option<String>,
    /// The stated digest of the bytes.
    pub checksum: Option<Digest>,
    /// The stated number of bytes.
    pub size: Option<u64>,
    /// The stated media type.
    pub media_type: Option<String>,
    /// The bytes, if they came with the call. They match the stated checksum and size.
    pub content: Option<Vec<u8>>,
}

impl ArtifactCommit {
    /// The command, given the bytes that this server stores, if any, and their stated media type.
    pub fn command(
        &self,
        held: Option<(&StoredContent, Option<&str>)>,
    ) -> Result<TaskCommand, HacpError> {
        let version = NewVersion {
            artifact: self.artifact,
            sort: self.sort.clone(),
            name: self.name.clone(),
            parent: self.parent.clone(),
            payload: self.payload.resolve(held)?,
        };
        Ok(TaskCommand::Commit(self.task, Box::new(version)))
    }
}

impl NewPayload {
    /// The upload it refers to, if `uri` names one.
    pub fn upload(&self) -> Option<&str> {
        self.uri.as_deref().and_then(|uri| uri.strip_prefix(UPLOAD))
    }

    /// The server counts and hashes the bytes that it stores. For other bytes it relies on the
    /// stated size and checksum, so these are required (HACP-028).
    fn resolve(&self, held: Option<(&StoredContent, Option<&str>)>) -> Result<Payload, HacpError> {
        let wrong = |key: &str, expected: &str| {
            HacpError::field(&format!("params.payload.{key}"), expected)
        };
        let (kind, media_type) = (self.kind, self.media_type.clone());
        if let Some((&StoredContent { checksum, size, manifest }, sort)) = held {
            if self.checksum.is_some_and(|said| said != checksum) {
                return Err(wrong(
                    "checksum",
                    &format!("sha256:{checksum}, the checksum of the bytes"),
                ));
            }
            if self.size.is_some_and(|said| said != size) {
                return Err(wrong("size", &format!("{size}, the number of bytes")));
            }
            let uri = self.uri.clone().filter(|_| self.upload().is_none());
            let media_type = media_type.or_else(|| sort.map(ToOwned::to_owned));
            return Ok(Payload { kind, uri, checksum, size, media_type, held: Some(manifest) });
        }
        if self.uri.is_none() || self.upload().is_some() {
            let expected = "a URL, unless the bytes are in `content` or in a finished upload";
            return Err(wrong("uri", expected));
        }
        let checksum = self.checksum.ok_or_else(|| wrong("checksum", EXPECTED_CHECKSUM))?;
        let size = self.size.ok_or_else(|| wrong("size", "the number of bytes"))?;
        Ok(Payload { kind, uri: self.uri.clone(), checksum, size, media_type, held: None })
    }
}

/// The prefix of an upload's id in `uri`.
const UPLOAD: &str = "upload:";

pub(super) fn commit(params: Members<'_>) -> Result<OperationParams, HacpError> {
    params.only(&["task_id", "type", "payload", "art_id", "version", "parent_version"])?;
    let path = params.path("payload");
    let payload = params.object("payload")?.ok_or_else(|| params.bad("payload", "an object"))?;
    Ok(OperationParams::Commit(Box::new(ArtifactCommit {
        task: task_id(params)?,
        artifact: params.id("art_id", "artifact")?,
        sort: params.text("type")?.unwrap_or_default().to_owned(),
        name: params.text("version")?.map(ToOwned::to_owned),
        parent: params.text("parent_version")?.map(ToOwned::to_owned),
        payload: new_payload(Members::new(payload, &path))?,
    })))
}

const KINDS: [(&str, PayloadKind); 4] = [
    ("diff", PayloadKind::Diff),
    ("blob", PayloadKind::Blob),
    ("ref", PayloadKind::Ref),
    ("inline", PayloadKind::Inline),
];

fn new_payload(payload: Members<'_>) -> Result<NewPayload, HacpError> {
    payload.only(&["kind", "uri", "checksum", "size", "content", "encoding", "media_type"])?;
    let kind = payload.required_word("kind", &KINDS)?;
    let mut content = content(payload)?;
    if kind == PayloadKind::Ref && content.is_some() {
        return Err(payload.bad("content", "no value, because a ref has no content"));
    }
    if kind == PayloadKind::Ref {
        payload.required("uri")?;
    }
    let mut uri = payload.text("uri")?;
    let mut media_type = payload.text("media_type")?.map(ToOwned::to_owned);
    if let Some(data) = uri.and_then(data_uri::read) {
        let data = data.map_err(|expected| payload.bad("uri", expected))?;
        if kind == PayloadKind::Ref || content.is_some() {
            return Err(payload.bad(
                "uri",
                "a URL other than data:, because the bytes of this payload are elsewhere",
            ));
        }
        (uri, content) = (None, Some(data.bytes));
        media_type = media_type.or(data.media_type);
    }
    let (said, size) = (checksum(payload)?, payload.count("size")?);
    let is = content.as_deref().map(Digest::of);
    if let (Some(is), Some(said)) = (is, said)
        && is != said
    {
        return Err(payload.bad("checksum", &format!("sha256:{is}, the checksum of the content")));
    }
    let length = content.as_ref().map(|content| u64::try_from(content.len()).unwrap_or(u64::MAX));
    if let (Some(is), Some(said)) = (length, size)
        && is != said
    {
        return Err(payload.bad("size", &format!("{is}, the size of the content")));
    }
    let new = NewPayload {
        kind,
        uri: uri.map(ToOwned::to_owned),
        checksum: is.or(said),
        size: length.or(size),
        media_type,
        content,
    };
    if new.checksum.is_none() && new.upload().is_none() {
        return Err(payload.bad("checksum", EXPECTED_CHECKSUM));
    }
    Ok(new)
}

const EXPECTED_CHECKSUM: &str = "sha256: followed by 64 hexadecimal digits";

fn checksum(payload: Members<'_>) -> Result<Option<Digest>, HacpError> {
    let read = |text: &str| {
        let digits = text.strip_prefix("sha256:").and_then(|digits| digits.parse().ok());
        digits.ok_or_else(|| payload.bad("checksum", EXPECTED_CHECKSUM))
    };
    payload.text("checksum")?.map(read).transpose()
}

/// The content: text as UTF-8, other bytes in base64.
fn content(payload: Members<'_>) -> Result<Option<Vec<u8>>, HacpError> {
    let base64 = payload.word("encoding", &[("utf-8", false), ("base64", true)])?;
    let Some(text) = payload.text("content")? else {
        return if base64.is_some() {
            Err(payload.bad("encoding", "no value, because there is no content"))
        } else {
            Ok(None)
        };
    };
    if base64 != Some(true) {
        return Ok(Some(text.as_bytes().to_vec()));
    }
    let decoded = STANDARD.decode(text);
    decoded.map(Some).map_err(|_| payload.bad("content", "padded base64"))
}

pub(super) fn get(params: Members<'_>) -> Result<OperationParams, HacpError> {
    params.only(&["art_id", "version"])?;
    let version = params.text("version")?.map(ToOwned::to_owned);
    Ok(OperationParams::Artifact { id: artifact_id(params)?, version })
}

/// A reference fixes both id and version (HACP-021).
pub(super) fn reference(params: Members<'_>) -> Result<OperationParams, HacpError> {
    params.only(&["art_id", "version", "by_task", "as_", "as"])?;
    let (id, version) = (artifact_id(params)?, params.required("version")?.to_owned());
    let task = params.required_id("by_task", "task")?;
    let role = params.either("as_", "as")?;
    let roles = [("input", Role::Input), ("output", Role::Output)];
    let role = params.word(role, &roles)?.unwrap_or(Role::Input);
    Ok(OperationParams::command(TaskCommand::Reference(task, VersionRef { id, version }, role)))
}

pub(super) fn share(params: Members<'_>) -> Result<OperationParams, HacpError> {
    params.only(&["art_id", "project"])?;
    params.required("project")?;
    let expected = "the ID of a project";
    let project = params.read("project", expected)?;
    let project = project.ok_or_else(|| params.bad("project", expected))?;
    Ok(OperationParams::command(TaskCommand::Share(artifact_id(params)?, project)))
}
