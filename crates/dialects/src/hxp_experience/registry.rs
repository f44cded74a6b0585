//! Namespaces of extensions: who may use which name, which of their fields are sensitive, and how to
//! do without them. Section 7.10 and section 9.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What vendors' namespaces begin with.
pub const VENDOR: &str = "vendor.";

/// Names an extension cannot have: they are the envelope's own.
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

/// What is known of one namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Namespace {
    /// What it is for.
    #[serde(default)]
    pub about: String,
    /// Fields that tell something private.
    #[serde(default)]
    pub sensitive_fields: Vec<String>,
    /// How to do without them.
    #[serde(default)]
    pub opt_out: String,
}

/// Why a namespace cannot be registered.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unfit {
    /// The envelope has such a field itself.
    #[error("`{0}` is a name of the envelope itself; extensions cannot redefine it")]
    Core(String),
    /// Neither a plain word nor a vendor's.
    #[error("a namespace is a word, or `vendor.` and a name; `{0}` is neither")]
    Name(String),
    /// Sensitive fields without a way around them.
    #[error("`{0}` has sensitive fields, so `opt_out` must say how to do without them")]
    NoOptOut(String),
}

/// The namespaces that are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registry {
    known: BTreeMap<String, Namespace>,
}

/// The domains the specification names. It gives them no fields, so none is sensitive.
impl Default for Registry {
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

impl Registry {
    /// Adds a namespace, or says what it lacks.
    pub fn register(&mut self, name: &str, namespace: Namespace) -> Result<(), Unfit> {
        if redefines(name) {
            return Err(Unfit::Core(name.to_owned()));
        }
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let own = name.strip_prefix(VENDOR).unwrap_or(name);
        if own.is_empty() || !name.chars().all(word) {
            return Err(Unfit::Name(name.to_owned()));
        }
        if !namespace.sensitive_fields.is_empty() && namespace.opt_out.trim().is_empty() {
            return Err(Unfit::NoOptOut(name.to_owned()));
        }
        self.known.insert(name.to_owned(), namespace);
        Ok(())
    }

    /// What is known of a namespace.
    pub fn find(&self, name: &str) -> Option<&Namespace> {
        self.known.get(name)
    }
}

/// Whether a namespace takes a name of the envelope.
pub(super) fn redefines(name: &str) -> bool {
    CORE.contains(&name) || name.starts_with("hxp")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HXPE-034: what is sensitive is documented, with a way around it.
    #[test]
    fn sensitive_fields_need_a_way_around_them() {
        let mut registry = Registry::default();
        let mut patient = Namespace {
            about: "notes".into(),
            sensitive_fields: vec!["diagnosis".into()],
            opt_out: " ".into(),
        };
        let refused = registry.register("vendor.clinic", patient.clone());
        assert_eq!(refused, Err(Unfit::NoOptOut("vendor.clinic".into())));
        patient.opt_out = "leave `diagnosis` out".into();
        assert_eq!(registry.register("vendor.clinic", patient.clone()), Ok(()));
        assert_eq!(registry.find("vendor.clinic"), Some(&patient));
        assert!(registry.find("medical").is_some());
    }

    /// HXPE-032, HXPE-033: names of the envelope and names that are none.
    #[test]
    fn names_that_cannot_be_registered() {
        let mut registry = Registry::default();
        for name in ["intent", "content", "hxp", "hxp.delivery"] {
            let refused = registry.register(name, Namespace::default());
            assert_eq!(refused, Err(Unfit::Core(name.into())));
        }
        for name in ["", "vendor.", "two words", "é"] {
            let refused = registry.register(name, Namespace::default());
            assert_eq!(refused, Err(Unfit::Name(name.into())));
        }
    }
}
