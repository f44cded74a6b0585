//! Namespaces of extensions: their names, their sensitive fields, and how to opt out of them.
//! Section 7.10 and section 9.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The prefix of vendors' namespaces.
pub const VENDOR: &str = "vendor.";

/// Names that an extension cannot have, because the envelope uses them.
const CORE: [&str; 11] = [
    "version",
    "intent",
    "delivery",
    "cognition",
    "transparency",
    "actions",
    "negotiation",
    "refusal",
    "safety",
    "extensions",
    "content",
];

/// A registered namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Namespace {
    /// The purpose of the namespace.
    #[serde(default)]
    pub about: String,
    /// Fields with private data.
    #[serde(default)]
    pub sensitive_fields: Vec<String>,
    /// How to opt out of the sensitive fields.
    #[serde(default)]
    pub opt_out: String,
}

/// Why a namespace cannot be registered.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NamespaceError {
    /// The envelope has a field of this name.
    #[error("`{0}` is a field of the envelope; an extension cannot redefine it")]
    Core(String),
    /// The name is neither a word nor a vendor's.
    #[error("a namespace is a word, or `vendor.` followed by a name; `{0}` is neither")]
    Name(String),
    /// There are sensitive fields, but no way to opt out.
    #[error("`{0}` has sensitive fields, so `opt_out` must say how to opt out of them")]
    NoOptOut(String),
}

/// The registered namespaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespaceRegistry {
    known: BTreeMap<String, Namespace>,
}

/// The domains that the specification names. It defines no fields for them, so none is sensitive.
impl Default for NamespaceRegistry {
    fn default() -> Self {
        let domain = |name: &str, about: &str| {
            (name.to_owned(), Namespace { about: about.to_owned(), ..Namespace::default() })
        };
        Self {
            known: BTreeMap::from([
                domain("education", "teaching and learning"),
                domain("finance", "money and markets"),
                domain("medical", "health and care"),
            ]),
        }
    }
}

impl NamespaceRegistry {
    /// Adds a namespace, or returns why it cannot be added.
    pub fn register(&mut self, name: &str, namespace: Namespace) -> Result<(), NamespaceError> {
        if redefines(name) {
            return Err(NamespaceError::Core(name.to_owned()));
        }
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let own = name.strip_prefix(VENDOR).unwrap_or(name);
        if own.is_empty() || !name.chars().all(word) {
            return Err(NamespaceError::Name(name.to_owned()));
        }
        if !namespace.sensitive_fields.is_empty() && namespace.opt_out.trim().is_empty() {
            return Err(NamespaceError::NoOptOut(name.to_owned()));
        }
        self.known.insert(name.to_owned(), namespace);
        Ok(())
    }

    pub fn find(&self, name: &str) -> Option<&Namespace> {
        self.known.get(name)
    }
}

/// Whether a namespace has a name of the envelope.
pub(super) fn redefines(name: &str) -> bool {
    CORE.contains(&name) || name.starts_with("hxp")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HXPE-034: sensitive fields are documented, with a way to opt out.
    #[test]
    fn sensitive_fields_need_a_way_around_them() {
        let mut registry = NamespaceRegistry::default();
        let mut patient = Namespace {
            about: "notes".into(),
            sensitive_fields: vec!["diagnosis".into()],
            opt_out: " ".into(),
        };
        let refused = registry.register("vendor.clinic", patient.clone());
        assert_eq!(refused, Err(NamespaceError::NoOptOut("vendor.clinic".into())));
        patient.opt_out = "leave `diagnosis` out".into();
        assert_eq!(registry.register("vendor.clinic", patient.clone()), Ok(()));
        assert_eq!(registry.find("vendor.clinic"), Some(&patient));
        assert!(registry.find("medical").is_some());
    }

    /// HXPE-032, HXPE-033: names of the envelope, and invalid names.
    #[test]
    fn names_that_cannot_be_registered() {
        let mut registry = NamespaceRegistry::default();
        for name in ["intent", "content", "hxp", "hxp.delivery"] {
            let refused = registry.register(name, Namespace::default());
            assert_eq!(refused, Err(NamespaceError::Core(name.into())));
        }
        for name in ["", "vendor.", "two words", "é"] {
            let refused = registry.register(name, Namespace::default());
            assert_eq!(refused, Err(NamespaceError::Name(name.into())));
        }
    }
}
