//! Scripted people, for testing agents without real people: rules that say who answers what, and
//! when. Only with `--dev`.

mod answers;
mod script_answer;
mod scripted_people;

pub use script_answer::ScriptAnswer;
pub use scripted_people::{ScriptedAction, ScriptedPeople};

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, ensure};
use kernel::ask::Priority;
use kernel::question::QuestionKind;
use kernel::{AgentId, Ask, HumanId, ProjectId};
use regex::Regex;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Rules, tried in order: the first that fits an ask and is not used up plays.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// `[[rule]]`
    #[serde(default, rename = "rule")]
    pub rules: Vec<ScriptRule>,
}

/// What happens to asks that match a condition.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ScriptRule)]
pub struct ScriptRule {
    /// The name of the rule in reports.
    #[serde(default)]
    pub name: Option<String>,
    /// The asks that the rule applies to; by default all.
    #[serde(default)]
    pub when: ScriptCondition,
    /// How long the person takes.
    #[serde(default, deserialize_with = "duration")]
    #[schema(value_type = String)]
    pub after: Duration,
    /// The person who answers; by default the person who was asked, otherwise the agent's owner.
    #[serde(default)]
    pub by: Option<HumanId>,
    /// The answer; without one, there is no answer.
    #[serde(default)]
    pub answer: Option<ScriptAnswer>,
    /// The comment on the answer, or a comment without an answer.
    #[serde(default)]
    pub comment: Option<String>,
    /// The number of asks that the rule answers; by default all.
    #[serde(default)]
    pub times: Option<u32>,
}

/// The asks that a rule applies to: every given condition must match.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ScriptWhen)]
pub struct ScriptCondition {
    /// The kind of question.
    #[serde(default)]
    pub kind: Option<QuestionKind>,
    /// A regular expression found in the prompt.
    #[serde(default, deserialize_with = "pattern")]
    #[schema(value_type = String)]
    pub prompt: Option<Regex>,
    /// The agent.
    #[serde(default)]
    pub agent: Option<AgentId>,
    /// The project.
    #[serde(default)]
    pub project: Option<ProjectId>,
    /// A tag of the ask.
    #[serde(default)]
    pub tag: Option<String>,
    /// The priority.
    #[serde(default)]
    pub priority: Option<Priority>,
    /// Metadata of the ask, compared member by member.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub metadata: Map<String, Value>,
}

impl Script {
    /// Reads a script from a file: JSON if it is named so, else TOML.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("scripted: cannot read {}", path.display()))?;
        let json = path.extension().is_some_and(|extension| extension == "json");
        let read = if json {
            serde_json::from_str(&text).map_err(anyhow::Error::from)
        } else {
            toml::from_str(&text).map_err(anyhow::Error::from)
        };
        let script: Self = read.with_context(|| format!("scripted: in {}", path.display()))?;
        script.check().with_context(|| format!("scripted: in {}", path.display()))?;
        Ok(script)
    }

    /// Rejects a rule that can never play, because it is a mistake.
    pub fn check(&self) -> anyhow::Result<()> {
        for (n, rule) in self.rules.iter().enumerate() {
            ensure!(rule.times != Some(0), "rule {}: times: expected at least 1", n + 1);
        }
        Ok(())
    }
}

impl ScriptRule {
    /// The name of the rule, or its index.
    pub fn title(&self, place: usize) -> String {
        self.name.clone().unwrap_or_else(|| format!("rule {}", place + 1))
    }
}

impl ScriptCondition {
    /// Whether the rule applies to this ask.
    pub fn fits(&self, ask: &Ask) -> bool {
        let prompt = || ask.question.value().map_or("", |question| question.prompt());
        let metadata = ask.metadata.value();
        self.kind.is_none_or(|kind| kind == ask.kind)
            && self.prompt.as_ref().is_none_or(|pattern| pattern.is_match(prompt()))
            && self.agent.as_ref().is_none_or(|agent| *agent == ask.agent)
            && self.project.as_ref().is_none_or(|project| *project == ask.project)
            && self.tag.as_ref().is_none_or(|tag| ask.tags.contains(tag))
            && self.priority.is_none_or(|priority| priority == ask.priority)
            && self.metadata.iter().all(|(key, value)| {
                metadata.is_some_and(|metadata| metadata.get(key) == Some(value))
            })
    }
}

/// A duration as people write it: `2s`, `1h 30m`, `PT5M`.
pub fn duration<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(from)?;
    let expected =
        || D::Error::custom(format!("expected a duration such as 2s or 1h, not {text:?}"));
    let while_ = text.parse::<jiff::SignedDuration>().map_err(|_| expected())?;
    while_.try_into().map_err(|_| expected())
}

fn pattern<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Regex>, D::Error> {
    let text = String::deserialize(from)?;
    Regex::new(&text).map(Some).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use kernel::question::Answer;
    use kernel::testing::{Cast, new_ask};
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> anyhow::Result<Script> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("people.toml");
        std::fs::write(&path, text).unwrap();
        Script::read(&path)
    }

    #[test]
    fn a_script_reads_as_a_person_writes_it() {
        let script = read(
            r#"
            [[rule]]
            name = "big refunds"
            when = { kind = "approve", prompt = "(?i)refund", priority = "high" }
            after = "1m 30s"
            by = "user_dev"
            answer = { verdict = "rejected" }
            comment = "too much"
            times = 2

            [[rule]]
            answer = "yes"
            "#,
        );
        let script = script.unwrap();
        let [first, second] = script.rules.as_slice() else { panic!() };
        assert_eq!(first.after, Duration::from_secs(90));
        assert_eq!(first.answer, Some(ScriptAnswer::Exactly(Answer::REJECTED)));
        assert_eq!((first.title(0), second.title(1)), ("big refunds".into(), "rule 2".into()));
        assert_eq!(second.answer, Some(ScriptAnswer::Yes));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, said) in [
            ("[[rule]]\nanser = \"yes\"", "anser"),
            ("[[rule]]\nanswer = \"maybe\"", "expected \"yes\", \"no\""),
            ("[[rule]]\nanswer = { verdict = \"agreed\" }", "agreed"),
            ("[[rule]]\nafter = \"soon\"", "expected a duration such as 2s"),
            ("[[rule]]\nafter = \"-2s\"", "expected a duration such as 2s"),
            ("[[rule]]\nwhen = { prompt = \"(\" }", "unclosed group"),
            ("[[rule]]\ntimes = 0", "rule 1: times"),
        ] {
            let error = format!("{:#}", read(text).unwrap_err());
            assert!(error.contains(said), "{text}: {error}");
            assert!(error.contains("people.toml"), "{error}");
        }
    }

    #[test]
    fn everything_that_is_said_must_hold() {
        let mut cast = Cast::new();
        let metadata = json!({ "run": 7 }).as_object().unwrap().clone();
        let new = kernel::command::NewAsk { metadata, tags: ["tax".into()].into(), ..new_ask() };
        let id = cast.ask(new);
        for (when, fits) in [
            (json!({}), true),
            (json!({ "kind": "approve", "prompt": "order \\d", "agent": "bot" }), true),
            (json!({ "metadata": { "run": 7 }, "tag": "tax", "priority": "normal" }), true),
            (json!({ "kind": "choose" }), false),
            (json!({ "prompt": "^order" }), false),
            (json!({ "metadata": { "run": 8 } }), false),
            (json!({ "tag": "law" }), false),
            (json!({ "project": "rival" }), false),
        ] {
            let parsed: ScriptCondition = serde_json::from_value(when.clone()).unwrap();
            assert_eq!(parsed.fits(cast.seen(id)), fits, "{when}");
        }
    }
}
