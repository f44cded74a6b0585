//! What is said of a message: findings, and the verdict they come to. Sections 6 and 7, and the
//! shape of errors that validators of JSON Schema have.

use std::fmt;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// How much a message of this kind tells. Section 6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// What every message must have.
    Core,
    /// And all that is recommended.
    Standard,
    /// And something of what is possible: a refusal, safety, extensions.
    Full,
}

impl Level {
    /// Every level, the least first.
    pub const ALL: [Self; 3] = [Self::Core, Self::Standard, Self::Full];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Standard => "standard",
            Self::Full => "full",
        }
    }

    /// The level of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The message does not count.
    Error,
    /// It counts, and somebody should look at it.
    Warning,
    /// It counts, and this is worth knowing.
    Note,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The rule, by our number: `HXPE-012`.
    pub rule: &'static str,
    /// What it is about, as a JSON Pointer; of what is missing, the object it is missing in.
    #[serde(rename = "instancePath")]
    pub pointer: String,
    /// What of the schema it breaks, and where that stands.
    #[serde(flatten)]
    pub schema: Option<Breach>,
    /// What to do about it, in a sentence.
    pub message: String,
}

/// What of the schema is broken, as Ajv would say it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Breach {
    /// The keyword: `required`, `type`, `enum` …
    pub keyword: &'static str,
    /// What the keyword wanted.
    pub params: Value,
    /// Where it stands in the schema.
    pub schema_path: String,
}

/// What a message came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The level it reaches; none if it is not valid.
    pub level: Option<Level>,
    /// What must be there and is not, by its place.
    pub missing_core: Vec<&'static str>,
    /// What should be there and is not.
    pub missing_standard: Vec<&'static str>,
    /// Everything that was found, in the order of the fields.
    pub findings: Vec<Finding>,
    /// How many more there were than anybody reads.
    pub omitted: usize,
}

impl Report {
    /// Whether nothing stands against it.
    pub fn is_valid(&self) -> bool {
        self.errors().next().is_none()
    }

    /// What stands against it.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.of(Severity::Error)
    }

    /// What somebody should look at.
    pub fn warnings(&self) -> impl Iterator<Item = &Finding> {
        self.of(Severity::Warning)
    }

    /// What is worth knowing.
    pub fn notes(&self) -> impl Iterator<Item = &Finding> {
        self.of(Severity::Note)
    }

    fn of(&self, severity: Severity) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.severity == severity)
    }
}

/// `{valid, level, errors, warnings, notes, missing}`, and how many findings were left out.
impl Serialize for Report {
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

/// Where a check is, on the stack; it becomes a pointer when there is something to say.
#[derive(Clone, Copy)]
pub(super) enum Path<'p> {
    Root,
    /// What has a pointer already.
    Place(&'p str),
    Member(&'p Path<'p>, &'p str),
    Item(&'p Path<'p>, usize),
}

impl Path<'_> {
    /// The JSON Pointer to it.
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
        let hxp = Path::Member(&Path::Root, "a/b~c");
        assert_eq!(Path::Item(&hxp, 3).pointer(), "/a~1b~0c/3");
        assert_eq!(Path::Member(&Path::Place("/x"), "/~é").pointer(), "/x/~1~0é");
        assert_eq!(Path::Root.pointer(), "");
    }

    /// HXPE-035, HXPE-036, HXPE-037: the levels by their names.
    #[test]
    fn levels_have_names() {
        for level in Level::ALL {
            assert_eq!(Level::named(level.name()), Some(level));
        }
        assert_eq!(Level::named("Core"), None);
    }
}
