//! `reject_options` and `response_options` (A2H-027, A2H-028, A2H-086).
//!
//! If an option sends a text as the person's words, the person sees that text before they press the
//! option. The receipt records the text they saw.

use kernel::ask::irreversible::marks_irreversible;
use kernel::question::Choice;
use serde::{Deserialize, Serialize};

use super::errors::A2hWireError;
use super::parse::Members;

/// Maximum number of options.
const MOST: usize = 20;

/// An option that a person can press.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResponseOption {
    /// The name returned to the agent.
    pub name: String,
    /// The label people see; defaults to the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The text sent as the person's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_fill: Option<String>,
    /// Whether the person may replace the text with their own.
    #[serde(default)]
    pub interactive: bool,
    /// Whether the agent marks the consequence as irreversible. The mark is stored and shown again;
    /// one such mark makes the whole request irreversible.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub irreversible: bool,
}

impl ResponseOption {
    /// The label people see.
    pub(super) fn shown(&self) -> &str {
        self.title.as_deref().filter(|title| !title.trim().is_empty()).unwrap_or(&self.name)
    }

    /// The text sent if the person adds no comment.
    pub(super) fn response_text(&self) -> &str {
        let fill = self.prompt_fill.as_deref().filter(|fill| !fill.trim().is_empty());
        fill.unwrap_or_else(|| self.shown())
    }

    /// The text sent, with the person's comment if there is one.
    pub(super) fn with(&self, comment: Option<&str>) -> String {
        match comment {
            None => self.response_text().to_owned(),
            Some(comment) if self.interactive => comment.to_owned(),
            Some(comment) => format!("{}\n\n{comment}", self.response_text()),
        }
    }

    /// The option as people see it.
    pub(super) fn choice(&self) -> Choice {
        let fill = self.prompt_fill.as_deref().filter(|fill| *fill != self.shown());
        let sends = fill.filter(|fill| !fill.trim().is_empty()).map(|fill| {
            let own = if self.interactive { ", unless you write something else" } else { "" };
            format!("Sends “{fill}”{own}")
        });
        let said = [self.description.clone(), sends];
        let said: Vec<String> =
            said.into_iter().flatten().filter(|t| !t.trim().is_empty()).collect();
        let description = (!said.is_empty()).then(|| said.join("\n"));
        Choice { id: self.name.clone(), label: self.shown().to_owned(), description }
    }
}

/// The options of a spec; empty if the list is absent or empty.
pub(super) fn read(spec: Members<'_>, key: &str) -> Result<Vec<ResponseOption>, A2hWireError> {
    let Some(list) = spec.list(key)? else { return Ok(Vec::new()) };
    if list.len() > MOST {
        return Err(spec.bad(key, "at most 20 options"));
    }
    let mut options: Vec<ResponseOption> = Vec::with_capacity(list.len());
    for (n, item) in list.iter().enumerate() {
        let path = format!("{}[{n}]", spec.path(key));
        let map = item.as_object().ok_or_else(|| A2hWireError::field(&path, "an object"))?;
        let item = Members::new(map, &path);
        let option = ResponseOption {
            name: item.required("name")?.to_owned(),
            title: item.text("title")?.map(ToOwned::to_owned),
            description: item.text("description")?.map(ToOwned::to_owned),
            prompt_fill: item.either(&["prompt_fill", "promptFill"])?,
            interactive: item.flag("interactive")?.unwrap_or(false),
            irreversible: marks_irreversible(map),
        };
        if options.iter().any(|other| other.name == option.name) {
            return Err(item.bad("name", "a name that no other option has"));
        }
        options.push(option);
    }
    Ok(options)
}
