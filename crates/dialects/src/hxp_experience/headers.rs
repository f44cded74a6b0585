//! `HXP-Intent`, `HXP-Verbosity`, `HXP-Confidence`, `HXP-CogLoad`: a summary of an envelope for
//! programs that do not read bodies. Section 8.2. They are hints; the envelope takes precedence.

use serde_json::{Value, json};

use super::VERBOSITY;
use super::finding::{ExperienceFinding, FindingSeverity};
use super::view::EnvelopeView;

/// The names, in lower case as on the wire.
pub const NAMES: [&str; 4] = ["hxp-intent", "hxp-verbosity", "hxp-confidence", "hxp-cogload"];

/// Longer intents are left out, to keep headers short.
const LONGEST: usize = 512;

/// The values of the headers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EnvelopeHeaders {
    /// The value of `HXP-Intent`, if it is present and valid.
    pub intent: Option<String>,
    /// The value of `HXP-Verbosity`, if it is present and valid.
    pub verbosity: Option<&'static str>,
    /// The value of `HXP-Confidence`, if it is present and valid.
    pub confidence: Option<f64>,
    /// The value of `HXP-CogLoad`, if it is present and valid.
    pub load: Option<u8>,
}

/// The headers of an envelope, without those for absent values. An intent is free text, so
/// everything except plain ASCII is percent-encoded. This includes line breaks, which prevents
/// header injection.
pub fn headers(view: &EnvelopeView) -> Vec<(&'static str, String)> {
    let [intent, verbosity, confidence, load] = NAMES;
    let encoded = view.intent.as_deref().map(encode).filter(|text| text.len() <= LONGEST);
    let found = [
        (intent, encoded),
        (verbosity, view.verbosity.map(ToOwned::to_owned)),
        (confidence, view.confidence.map(|number| number.to_string())),
        (load, view.load.map(|number| number.to_string())),
    ];
    found.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

impl EnvelopeHeaders {
    /// Reads headers by name, in any case. It ignores other headers and invalid values.
    pub fn read<'a>(headers: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Self {
        let mut hints = Self::default();
        for (name, value) in headers {
            let Ok(value) = std::str::from_utf8(value) else { continue };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "hxp-intent" => hints.intent = decode(value),
                "hxp-verbosity" => {
                    hints.verbosity = VERBOSITY.iter().find(|word| **word == value).copied();
                }
                "hxp-confidence" => {
                    let number = value.parse().ok();
                    hints.confidence = number.filter(|number| (0.0..=1.0).contains(number));
                }
                "hxp-cogload" => {
                    hints.load = value.parse().ok().filter(|load| (1..=10).contains(load));
                }
                _ => {}
            }
        }
        hints
    }

    /// The values, by their path in an envelope.
    pub(super) fn pointer_values(&self) -> Vec<(&'static str, Value)> {
        let found = [
            ("/intent", self.intent.as_ref().map(|intent| json!(intent))),
            ("/delivery/verbosity", self.verbosity.map(|word| json!(word))),
            ("/transparency/confidence", self.confidence.map(|number| json!(number))),
            ("/cognition/load", self.load.map(|number| json!(number))),
        ];
        found.into_iter().filter_map(|(place, value)| Some((place, value?))).collect()
    }

    /// Where the headers differ from the envelope. The envelope takes precedence, so a difference
    /// is a note and not an error.
    pub fn differences(&self, view: &EnvelopeView) -> Vec<ExperienceFinding> {
        let says = |header: &str, pointer: &str| ExperienceFinding {
            severity: FindingSeverity::Note,
            rule: "HXPE-051",
            pointer: pointer.to_owned(),
            schema: None,
            message: format!("the header {header} contradicts the envelope; the envelope counts"),
        };
        let differs = [
            (self.intent.is_some() && self.intent != view.intent, "HXP-Intent", "/hxp/intent"),
            (
                self.verbosity.is_some() && self.verbosity != view.verbosity,
                "HXP-Verbosity",
                "/hxp/delivery/verbosity",
            ),
            (
                self.confidence.is_some() && self.confidence != view.confidence,
                "HXP-Confidence",
                "/hxp/transparency/confidence",
            ),
            (self.load.is_some() && self.load != view.load, "HXP-CogLoad", "/hxp/cognition/load"),
        ];
        let found = differs.into_iter().filter(|(differs, _, _)| *differs);
        found.map(|(_, header, pointer)| says(header, pointer)).collect()
    }
}

fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_graphic() && byte != b'%' {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            for digit in [byte >> 4, byte & 15] {
                let digit = char::from_digit(u32::from(digit), 16).unwrap_or('0');
                encoded.push(digit.to_ascii_uppercase());
            }
        }
    }
    encoded
}

/// Decodes a value; `None` if it has control characters or is not valid text.
fn decode(text: &str) -> Option<String> {
    if text.is_empty() || text.bytes().any(|byte| byte.is_ascii_control()) {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
            let value = digit()? * 16 + digit()?;
            bytes.push(u8::try_from(value).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}
