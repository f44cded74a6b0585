//! References to files in answers: stored content by its hash, or a URL.

use serde::{Deserialize, Serialize};
use url::Url;

/// The maximum length of a file name in bytes; common file systems have the same limit.
const MAX_NAME: usize = 255;

/// A file that the server stores, named by the hash of its content.
///
/// A valid reference has a digest of 64 lower-case hex digits, a name without path separators or
/// control characters, and a media type of the form `type/subtype`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
pub struct FileRef {
    wire: Wire,
}

/// Why a reference to a file was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FileRefError {
    /// Not a SHA-256 digest.
    #[error("`sha256` must be 64 lower-case hexadecimal digits")]
    Digest,
    /// Not a plain file name.
    #[error("`name` must be a file name without path separators, at most 255 bytes")]
    Name,
    /// Not a media type.
    #[error("`media_type` must be a media type such as `text/plain`")]
    MediaType,
}

impl FileRef {
    /// A reference to content with this digest.
    pub fn new(
        sha256: impl Into<String>,
        name: impl Into<String>,
        size: u64,
        media_type: impl Into<String>,
    ) -> Result<Self, FileRefError> {
        let (sha256, name, media_type) = (sha256.into(), name.into(), media_type.into());
        Self::try_from(Wire { sha256, name, size, media_type })
    }

    /// SHA-256 of the content, 64 lower-case hex digits.
    pub fn sha256(&self) -> &str {
        &self.wire.sha256
    }

    /// The original name of the file.
    pub fn name(&self) -> &str {
        &self.wire.name
    }

    /// Size of the content in bytes, as claimed.
    pub fn size(&self) -> u64 {
        self.wire.size
    }

    /// Media type of the content, as claimed.
    pub fn media_type(&self) -> &str {
        &self.wire.media_type
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = File))]
#[serde(deny_unknown_fields)]
struct Wire {
    sha256: String,
    name: String,
    size: u64,
    media_type: String,
}

#[cfg(feature = "openapi")]
crate::openapi::same_as!(FileRef, Wire);

impl TryFrom<Wire> for FileRef {
    type Error = FileRefError;

    fn try_from(wire: Wire) -> Result<Self, FileRefError> {
        let hex = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        if wire.sha256.len() != 64 || !wire.sha256.bytes().all(hex) {
            return Err(FileRefError::Digest);
        }
        let forbidden = |c: char| c.is_control() || matches!(c, '/' | '\\');
        let dots = matches!(wire.name.as_str(), "" | "." | "..");
        if dots || wire.name.len() > MAX_NAME || wire.name.contains(forbidden) {
            return Err(FileRefError::Name);
        }
        if !is_media_type(&wire.media_type) {
            return Err(FileRefError::MediaType);
        }
        Ok(Self { wire })
    }
}

impl From<FileRef> for Wire {
    fn from(file: FileRef) -> Self {
        file.wire
    }
}

/// Accepts `type/subtype`. Parameters after a `;` are not checked.
fn is_media_type(text: &str) -> bool {
    let token = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&b))
    };
    let (essence, parameters) = text.split_once(';').unwrap_or((text, ""));
    let plain = !parameters.contains(|c: char| c.is_control());
    text.len() <= MAX_NAME
        && plain
        && essence
            .trim()
            .split_once('/')
            .is_some_and(|(kind, subtype)| token(kind) && token(subtype))
}

/// Whether a string refers to a file: an http(s) URL or a `data:` URI (HXPX-033).
pub(super) fn is_reference(text: &str) -> bool {
    if text.contains(|c: char| c.is_control() || c.is_whitespace()) {
        return false;
    }
    if text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:")) {
        return text.contains(',');
    }
    Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_file_that_exists_is_valid() {
        let sha = "0".repeat(64);
        let file = FileRef::new(&sha, "cv.pdf", 3, "application/pdf").unwrap();
        let wire =
            json!({"sha256": sha, "name": "cv.pdf", "size": 3, "media_type": "application/pdf"});
        assert_eq!(serde_json::to_value(&file).unwrap(), wire);
        assert_eq!(serde_json::from_value::<FileRef>(wire).unwrap(), file);

        for (sha256, name, media_type, expected) in [
            ("A".repeat(64), "a", "a/b", FileRefError::Digest),
            ("0".repeat(63), "a", "a/b", FileRefError::Digest),
            (sha.clone(), "", "a/b", FileRefError::Name),
            (sha.clone(), "..", "a/b", FileRefError::Name),
            (sha.clone(), "../etc/passwd", "a/b", FileRefError::Name),
            (sha.clone(), "c:\\a", "a/b", FileRefError::Name),
            (sha.clone(), "a\0", "a/b", FileRefError::Name),
            (sha.clone(), "a", "pdf", FileRefError::MediaType),
            (sha.clone(), "a", "text/", FileRefError::MediaType),
            (sha.clone(), "a", "text/plain;\r\nx", FileRefError::MediaType),
        ] {
            assert_eq!(FileRef::new(sha256, name, 1, media_type), Err(expected));
        }
    }

    /// HXPX-033: a file result is a reference, URL or data URI.
    #[test]
    fn references_are_web_addresses_or_data() {
        for good in
            ["https://example.com/a.pdf", "http://h/a", "data:,hi", "DATA:text/plain;base64,aGk="]
        {
            assert!(is_reference(good), "{good}");
        }
        for bad in [
            "",
            "a.pdf",
            "/etc/passwd",
            "file:///etc/passwd",
            "javascript:1",
            "data:",
            "https://",
            "https://a b/",
        ] {
            assert!(!is_reference(bad), "{bad}");
        }
    }
}
