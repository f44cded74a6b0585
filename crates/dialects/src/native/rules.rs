//! Delegation rules on the wire.

use std::collections::BTreeSet;

use kernel::ask::Priority;
use kernel::directory::{NewRule, Rule};
use kernel::question::QuestionKind;
use kernel::text::is_short;
use kernel::{HumanId, Refusal, RuleId};
use serde::{Deserialize, Serialize};

/// `POST /api/v1/rules`: delegate matching asks to another person. Fields that are left out match
/// everything.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RuleBody {
    /// The kinds of question; empty matches all.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<QuestionKind>))]
    pub kinds: BTreeSet<QuestionKind>,
    /// The project, by ID or by the agent's own label.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 200))]
    pub project: Option<String>,
    /// The tag.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 200))]
    pub tag: Option<String>,
    /// The priority.
    #[serde(default)]
    pub priority: Option<Priority>,
    /// The delegate. The rule is skipped if this person does not exist or is not a member of the
    /// ask's project.
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

/// A delegation rule. The server applies rules in the order of their IDs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Rule))]
pub struct RuleView<'a> {
    /// The ID.
    pub id: RuleId,
    /// The kinds of question; empty matches all.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<QuestionKind>))]
    pub kinds: &'a BTreeSet<QuestionKind>,
    /// The project.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub project: Option<&'a str>,
    /// The tag.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub tag: Option<&'a str>,
    /// The priority.
    pub priority: Option<Priority>,
    /// The delegate.
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
