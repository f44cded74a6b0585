//! The findings about a message, and its level. Sections 6 and 7. Findings have the shape of JSON
//! Schema validators' errors.

use std::fmt;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// The level of a message. Section 6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ConformanceLevel {
    /// All required fields are present.
    Core,
    /// All recommended fields are present too.
    Standard,
    /// At least one of refusal, safety and extensions is present too.
    Full,
}

impl ConformanceLevel {
    /// Every level, in ascending order.
    pub const ALL: [Self; 3] = [Self::Core, Self::Standard, Self::Full];

    pub fn name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Standard => "standard",
            Self::Full => "full",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

impl fmt::Display for ConformanceLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingSeverity {
    /// The message is not valid.
    Error,
    /// The message is valid, but the agent's developer should review this.
    Warning,
    /// The message is valid; this is information.
    Note,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExperienceFinding {
    pub severity: FindingSeverity,
    /// The rule, by our number: `HXPE-012`.
    pub rule: &'static str,
    /// A JSON Pointer to the value; for a missing value, to its parent object.
    #[serde(rename = "instancePath")]
    pub pointer: String,
    /// The violated keyword of the schema.
    #[serde(flatten)]
    pub schema: Option<SchemaViolation>,
    /// How to fix it, in a sentence.
    pub message: String,
}

/// A violation of the schema, as Ajv reports it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SchemaViolation {
    /// The keyword: `required`, `type`, `enum` …
    pub keyword: &'static str,
    /// The parameters of the keyword.
    pub params: Value,
    /// The path of the keyword in the schema.
    pub schema_path: String,
}

/// The result of validating a message.
#[derive(Debug, Clone, PartialEq)]
pub struct ExperienceReport {
    /// The level that the message reaches; `None` if it is not valid.
    pub level: Option<ConformanceLevel>,
    /// The paths of missing required fields.
    pub missing_core: Vec<&'static str>,
    /// The paths of missing recommended fields.
    pub missing_standard: Vec<&'static str>,
    /// The findings, in the order of the fields.
    pub findings: Vec<ExperienceFinding>,
    /// How many findings were left out.
    pub omitted: usize,
}

impl ExperienceReport {
    /// Whether there are no errors.
    pub fn is_valid(&self) -> bool {
        self.errors().next().is_none()
    }

    pub fn errors(&self) -> impl Iterator<Item = &ExperienceFinding> {
        self.of(FindingSeverity::Error)
    }

    pub fn warnings(&self) -> impl Iterator<Item = &ExperienceFinding> {
        self.of(FindingSeverity::Warning)
    }

    pub fn notes(&self) -> impl Iterator<Item = &ExperienceFinding> {
        self.of(FindingSeverity::Note)
    }

    fn of(&self, severity: FindingSeverity) -> impl Iterator<Item = &ExperienceFinding> {
        self.findings.iter().filter(move |finding| finding.severity == severity)
    }
}

/// `{valid, level, errors, warnings, notes, missing}`, and the number of findings left out.
impl Serialize for ExperienceReport {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Missing<'a> {
            core: &'a [&'static str],
            standard: &'a [&'static str],
        }
        let mut shown = to.serialize_struct("Report", 7)?;
        shown.serialize_field("valid", &self.is_valid())?;
        shown.serialize_field("level", &self.level)?;
        shown.serialize_field("errors", &self.errors().collect::<Vec<_>>())?;
        shown.serialize_field("warnings", &self.warnings().collect::<Vec<_>>())?;
        shown.serialize_field("notes", &self.notes().collect::<Vec<_>>())?;
        let missing = Missing { core: &self.missing_core, standard: &self.missing_standard };
        shown.serialize_field("missing", &missing)?;
        if self.omitted > 0 {
            shown.serialize_field("omitted", &self.omitted)?;
        } else {
            shown.skip_field("omitted")?;
        }
        shown.end()
    }
}

/// The path of the current value, on the stack. It becomes a pointer only if there is a finding.
#[derive(Clone, Copy)]
pub(super) enum EnvelopePath<'p> {
    Root,
    /// A value whose pointer is known.
    Place(&'p str),
    Member(&'p EnvelopePath<'p>, &'p str),
    Item(&'p EnvelopePath<'p>, usize),
}

impl EnvelopePath<'_> {
    /// The JSON Pointer of the path.
    pub(super) fn pointer(&self) -> String {
        let mut pointer = String::with_capacity(32);
        self.write(&mut pointer);
        pointer
    }

    fn write(&self, to: &mut String) {
        match self {
            Self::Root => {}
            Self::Place(pointer) => to.push_str(pointer),
            Self::Member(of, name) => {
                of.write(to);
                to.push('/');
                if name.bytes().any(|byte| matches!(byte, b'~' | b'/')) {
                    to.push_str(&name.replace('~', "~0").replace('/', "~1"));
                } else {
                    to.push_str(name);
                }
            }
            Self::Item(of, at) => {
                of.write(to);
                to.push('/');
                to.push_str(&at.to_string());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_escape_what_they_are_made_of() {
        let hxp = EnvelopePath::Member(&EnvelopePath::Root, "a/b~c");
        assert_eq!(EnvelopePath::Item(&hxp, 3).pointer(), "/a~1b~0c/3");
        assert_eq!(EnvelopePath::Member(&EnvelopePath::Place("/x"), "/~é").pointer(), "/x/~1~0é");
        assert_eq!(EnvelopePath::Root.pointer(), "");
    }

    /// HXPE-035, HXPE-036, HXPE-037: the levels by their names.
    #[test]
    fn levels_have_names() {
        for level in ConformanceLevel::ALL {
            assert_eq!(ConformanceLevel::named(level.name()), Some(level));
        }
        assert_eq!(ConformanceLevel::named("Core"), None);
    }
}
