//! Delegation rules on the wire.

use std::collections::BTreeSet;

use kernel::ask::Priority;
use kernel::directory::{NewRule, Rule};
use kernel::question::QuestionKind;
use kernel::text::is_short;
use kernel::{HumanId, Refusal, RuleId};
use serde::{Deserialize, Serialize};

/// `POST /api/v1/rules`: hand what matches to somebody else. What is left out matches everything.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RuleBody {
    /// Which kinds of question; empty for any.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<QuestionKind>))]
    pub kinds: BTreeSet<QuestionKind>,
    /// Which project, by name or by the agent's own label.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 200))]
    pub project: Option<String>,
    /// Which tag.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 200))]
    pub tag: Option<String>,
    /// Which priority.
    #[serde(default)]
    pub priority: Option<Priority>,
    /// To whom. Somebody unknown, or not of the ask's project, is skipped.
    pub delegate_to: HumanId,
}

impl TryFrom<RuleBody> for NewRule {
    type Error = Refusal;

    fn try_from(body: RuleBody) -> Result<Self, Refusal> {
        let RuleBody { kinds, project, tag, priority, delegate_to } = body;
        // The kernel checks this too, but names the field as in another dialect.
        if project.as_deref().is_some_and(|text| text.is_empty() || !is_short(text)) {
            let expected = "a non-empty string of at most 200 bytes";
            return Err(Refusal::Invalid { field: "project", expected });
        }
        Ok(Self { kinds, project, tag, priority, delegate_to })
    }
}

/// A rule; rules are tried in the order of their ids.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Rule))]
pub struct RuleView<'a> {
    /// Its id.
    pub id: RuleId,
    /// Which kinds of question; empty for any.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<QuestionKind>))]
    pub kinds: &'a BTreeSet<QuestionKind>,
    /// Which project.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub project: Option<&'a str>,
    /// Which tag.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub tag: Option<&'a str>,
    /// Which priority.
    pub priority: Option<Priority>,
    /// To whom.
    #[cfg_attr(feature = "openapi", schema(value_type = HumanId))]
    pub delegate_to: &'a HumanId,
}

impl<'a> From<&'a Rule> for RuleView<'a> {
    fn from(rule: &'a Rule) -> Self {
        Self {
            id: rule.id,
            kinds: &rule.kinds,
            project: rule.project.as_deref(),
            tag: rule.tag.as_deref(),
            priority: rule.priority,
            delegate_to: &rule.delegate_to,
        }
    }
}
