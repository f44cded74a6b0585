//! Data URLs, which hold their content: `data:text/plain;base64,SGVsbG8=` (RFC 2397).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The prefix of a data URL.
const SCHEME: &str = "data:";

/// The content of a data URL.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DataUri {
    /// The stated media type.
    pub(super) media_type: Option<String>,
    pub(super) bytes: Vec<u8>,
}

/// The content of a URL; `None` if it is not a data URL, an error if it cannot be decoded.
pub(super) fn read(uri: &str) -> Option<Result<DataUri, &'static str>> {
    let begins = uri.get(..SCHEME.len()).is_some_and(|it| it.eq_ignore_ascii_case(SCHEME));
    begins.then(|| decoded(uri.get(SCHEME.len()..).unwrap_or_default()))
}

fn decoded(rest: &str) -> Result<DataUri, &'static str> {
    let expected = "a data URL such as data:text/plain;base64,SGk=";
    let (about, encoded) = rest.split_once(',').ok_or(expected)?;
    let bytes = unescaped(encoded).ok_or(expected)?;
    let (about, bytes) = match about.strip_suffix(";base64") {
        Some(about) => (about, STANDARD.decode(bytes).map_err(|_| expected)?),
        None => (about, bytes),
    };
    let media_type = (!about.is_empty()).then(|| about.to_owned());
    Ok(DataUri { media_type, bytes })
}

/// Decodes percent-encoding. `None` if an escape is not two hexadecimal digits.
fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.split('%');
    bytes.extend_from_slice(parts.next()?.as_bytes());
    for part in parts {
        let (digits, plain) = part.split_at_checked(2)?;
        let mut byte = [0];
        hex::decode_to_slice(digits, &mut byte).ok()?;
        bytes.extend_from_slice(&byte);
        bytes.extend_from_slice(plain.as_bytes());
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HACP-028: the content of a data URL counts as stored bytes.
    #[test]
    fn an_address_may_be_what_it_leads_to() {
        let plain = |text: &str| Some(text.to_owned());
        for (uri, media_type, bytes) in [
            ("data:,", None, &b""[..]),
            ("data:,a%20b%2Fc", None, b"a b/c"),
            ("DATA:text/plain,hello", plain("text/plain"), b"hello"),
            ("data:;base64,SGk=", None, b"Hi"),
            (
                "data:text/x;charset=utf-8;base64,%53GVsbG8%3D",
                plain("text/x;charset=utf-8"),
                b"Hello",
            ),
        ] {
            let data = DataUri { media_type, bytes: bytes.to_vec() };
            assert_eq!(read(uri), Some(Ok(data)), "{uri}");
        }
        for uri in ["", "data", "https://a/data:,", "dätä:,"] {
            assert_eq!(read(uri), None, "{uri}");
        }
        for uri in ["data:", "data:text/plain", "data:,%", "data:,%4", "data:,%ä", "data:;base64,?"]
        {
            assert!(matches!(read(uri), Some(Err(_))), "{uri}");
        }
    }
}
