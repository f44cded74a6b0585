//! Secret answers: the sensitive values of an answer, kept separate from all records. The audit log
//! holds salted commitments in their place; the values themselves are stored elsewhere, encrypted,
//! until the agent has received them.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Answer, Question, QuestionBody, Reply};
use crate::ask::{Ask, AskState, Ending};
use crate::audit::{Digest, Salts, canonical};
use crate::form::{Field, FieldKind};

/// Sensitive values by the key of their field. `Debug` shows keys only.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SecretValues(BTreeMap<String, SaltedValue>);

/// A value and the salt of its commitment. The salt is as secret as the value: with it, short
/// values could be guessed from the commitment.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct SaltedValue {
    salt: String,
    value: Value,
}

impl SaltedValue {
    /// The text that replaces the value in the recorded answer.
    fn placeholder(&self) -> String {
        let mut bytes = self.salt.clone().into_bytes();
        bytes.push(b'.');
        bytes.extend(canonical(&self.value));
        format!("[redacted:{}]", Digest::of(&bytes))
    }
}

impl fmt::Debug for SecretValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Confided")?;
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl SecretValues {
    /// Whether there are no secret values.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The key under which the values are stored: a digest of the texts that replace them in the
    /// recorded answer.
    pub fn name(&self) -> Digest {
        let marks: BTreeMap<&String, String> =
            self.0.iter().map(|(key, told)| (key, told.placeholder())).collect();
        Digest::of_json(&marks)
    }
}

/// Whether values of this field are stored separately. A file is not: the answer holds only its
/// digest.
fn is_secret(field: &Field) -> bool {
    field.is_sensitive() && !matches!(field.kind(), FieldKind::File)
}

impl Question {
    /// Takes the sensitive values out of a checked reply, and puts commitments in their place.
    pub fn take_secrets(&self, reply: &mut Reply, salts: &Salts) -> SecretValues {
        let mut confided = SecretValues::default();
        let (QuestionBody::Provide { form }, Answer::Provided { values }) =
            (&self.body, &mut reply.answer)
        else {
            return confided;
        };
        values.replace(|key, value| {
            form.field(key).filter(|field| is_secret(field))?;
            let told = SaltedValue { salt: hex::encode(salts.of(key)), value: value.clone() };
            let mark = told.placeholder();
            confided.0.insert(key.to_owned(), told);
            Some(mark.into())
        });
        confided
    }
}

impl Ask {
    /// The key under which the secret values of this ask are stored. `None` if there are none, or
    /// if the text was erased.
    pub fn secret_values_key(&self) -> Option<Digest> {
        let QuestionBody::Provide { form } = self.question.value()?.body() else { return None };
        let Answer::Provided { values } = &self.deciding_answer()?.reply.value()?.answer else {
            return None;
        };
        let marks: BTreeMap<&str, &str> = values
            .iter()
            .filter(|(key, _)| form.field(key).is_some_and(is_secret))
            .filter_map(|(key, value)| Some((key, value.as_str()?)))
            .filter(|(_, mark)| mark.starts_with("[redacted:"))
            .collect();
        (!marks.is_empty()).then(|| Digest::of_json(&marks))
    }

    /// The ask as its agent reads it, with the secret values in their places. For display only: a
    /// stored ask never contains them.
    #[must_use]
    pub fn with_secrets(mut self, confided: &SecretValues) -> Self {
        let AskState::Over { ending, .. } = &mut self.state else { return self };
        if let Ending::Completed(resolution) = &mut **ending
            && let Some(Reply { answer: Answer::Provided { values }, .. }) =
                resolution.reply.value_for_display()
        {
            values.replace(|key, value| {
                let told = confided.0.get(key)?;
                (*value == told.placeholder()).then(|| told.value.clone())
            });
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::command::{AskCommand, NewAsk};
    use crate::receipt::Receipt;
    use crate::testing::{Cast, new_ask};

    fn question() -> Question {
        let form = json!({"fields": [
            {"key": "user", "label": "User", "type": "text"},
            {"key": "pin", "label": "PIN", "type": "number", "sensitive": true},
        ]});
        let form = serde_json::from_value(form).unwrap();
        Question::new("Who?", None, QuestionBody::Provide { form }).unwrap()
    }

    fn reply() -> Reply {
        let values = serde_json::from_value(json!({"user": "ada", "pin": 4711})).unwrap();
        Reply { answer: Answer::Provided { values }, comment: None }
    }

    /// The audit log commits to a secret and does not contain it; the agent still reads it.
    #[test]
    fn nothing_that_is_recorded_holds_a_secret() {
        let mut cast = Cast::new();
        let id = cast.ask(NewAsk { question: question(), ..new_ask() });
        cast.run(cast.human("olga"), AskCommand::Answer(id, Box::new(reply())));
        let ask = cast.seen(id).clone();
        let recorded = format!(
            "{} {:?} {:?}",
            serde_json::to_string(&ask).unwrap(),
            cast.records(),
            Receipt::of(&ask)
        );
        assert!(!recorded.contains("4711"), "{recorded}");
        assert!(recorded.contains("[redacted:") && recorded.contains("ada"));

        // The server derives the same secret values from the same reply with the same salts.
        let mut seed = [0; 32];
        seed[..16].copy_from_slice(&(u128::from(id.ulid()) + 1).to_be_bytes());
        let mut same = reply();
        let confided = question().take_secrets(&mut same, &Salts::new(seed));
        assert_eq!(ask.secret_values_key(), Some(confided.name()));
        assert!(!format!("{confided:?}").contains("4711"));
        let stored = serde_json::to_string(&confided).unwrap();
        let confided: SecretValues = serde_json::from_str(&stored).unwrap();
        let values = |ask: Ask| {
            let answer = &ask.deciding_answer().unwrap().reply.value().unwrap().answer;
            let Answer::Provided { values } = answer else { panic!("{answer:?}") };
            Value::Object(values.as_map().clone())
        };
        assert_eq!(
            values(ask.clone().with_secrets(&confided)),
            json!({"user": "ada", "pin": 4711})
        );
        let other = question().take_secrets(&mut reply(), &Salts::new([8; 32]));
        assert_ne!(confided.name(), other.name(), "equal secrets cannot be told from each other");
        assert_eq!(
            values(ask.clone().with_secrets(&other)),
            values(ask),
            "only what it commits to"
        );
    }

    #[test]
    fn what_is_not_sensitive_stays_where_it_is() {
        let form = json!({"fields": [{"key": "k", "label": "K", "type": "text"}]});
        let form = serde_json::from_value(form).unwrap();
        let plain = Question::new("So?", None, QuestionBody::Provide { form }).unwrap();
        let values = serde_json::from_value(json!({"k": "[redacted:x]"})).unwrap();
        let mut reply = Reply { answer: Answer::Provided { values }, comment: None };
        let before = reply.clone();
        assert!(plain.take_secrets(&mut reply, &Salts::new([7; 32])).is_empty());
        assert_eq!(reply, before);
        let mut no = Reply { answer: Answer::CHANGES, comment: Some("why".to_owned()) };
        assert!(question().take_secrets(&mut no, &Salts::new([7; 32])).is_empty());
    }
}
