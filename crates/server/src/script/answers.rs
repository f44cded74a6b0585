//! The answer to each kind of question that a plain yes or no stands for.

use kernel::form::Values;
use kernel::question::{Answer, Question, QuestionBody};
use serde_json::{Map, Value};

use super::ScriptAnswer;

/// The reason that goes with a no where the question requires one.
const BECAUSE: &str = "rejected by the script";

impl ScriptAnswer {
    /// The answer to a question, and its reason if it needs one.
    pub(super) fn answer_to(
        &self,
        question: &Question,
    ) -> Result<(Answer, Option<&'static str>), String> {
        match self {
            Self::Exactly(answer) => Ok((answer.clone(), None)),
            Self::Yes => yes(question.body()).map(|answer| (answer, None)),
            Self::No => no(question.body()).map(|answer| (answer, Some(BECAUSE))),
        }
    }
}

fn yes(body: &QuestionBody) -> Result<Answer, String> {
    Ok(match body {
        QuestionBody::Approve { .. } => Answer::Approved { edits: None },
        QuestionBody::Choose { options, suggested, .. } => {
            let first = options.choices().first().map(|choice| &choice.id);
            Answer::Chosen { options: suggested.as_ref().or(first).cloned().into_iter().collect() }
        }
        QuestionBody::Provide { form } => {
            let mut values = Map::new();
            for field in form.fields() {
                match field.default_value() {
                    Some(value) => {
                        values.insert(field.key().to_owned(), value.clone());
                    }
                    None if field.is_required() => {
                        return Err(format!(
                            "the field {:?} has no default; write answer = {{verdict = \
                             \"provided\", values = {{…}}}}",
                            field.key()
                        ));
                    }
                    None => {}
                }
            }
            // Any JSON object is valid as values.
            let values: Values = serde_json::from_value(Value::Object(values)).unwrap_or_default();
            Answer::Provided { values }
        }
        QuestionBody::Confirm { items, .. } => {
            Answer::Confirmed { items: items.iter().map(|item| item.id.clone()).collect() }
        }
        QuestionBody::Escalate { .. } => Answer::Retry { params: Map::new() },
        QuestionBody::Converse => Answer::Replied { text: "yes".to_owned() },
    })
}

fn no(body: &QuestionBody) -> Result<Answer, String> {
    Ok(match body {
        QuestionBody::Approve { .. } => Answer::REJECTED,
        QuestionBody::Confirm { .. } => Answer::Declined,
        QuestionBody::Escalate { .. } => Answer::Abort,
        QuestionBody::Choose { .. } => {
            return Err("a question with options cannot be answered with “no”; write answer = \
                        {verdict = \"chosen\", options = […]}"
                .to_owned());
        }
        QuestionBody::Provide { .. } => {
            return Err("a form cannot be answered with “no”; write answer = {verdict = \
                        \"provided\", values = {…}}"
                .to_owned());
        }
        QuestionBody::Converse => Answer::Replied { text: "no".to_owned() },
    })
}

#[cfg(test)]
mod tests {
    use kernel::question::Reply;
    use serde_json::json;

    use super::*;

    /// Yes and no become answers that the kernel accepts. Where a question has no “no”, the script
    /// gets an error.
    #[test]
    fn yes_and_no_answer_every_kind() {
        let choice = |id: &str| json!({ "id": id, "label": id });
        let field = |key: &str| json!({ "key": key, "label": key, "type": "text" });
        let mut size = field("size");
        size["required"] = json!(true);
        size["default"] = json!("large");
        for body in [
            json!({ "kind": "approve", "reject_requires_reason": true }),
            json!({ "kind": "choose", "pick": "one", "options": [choice("a"), choice("b")] }),
            json!({ "kind": "choose", "pick": "many", "options": [choice("a"), choice("b")],
                "suggested": "b" }),
            json!({ "kind": "confirm", "yes": "Go", "no": "Stop", "items": [choice("a")] }),
            json!({ "kind": "escalate", "error": { "code": 1 } }),
            json!({ "kind": "converse" }),
            json!({ "kind": "provide", "form": { "fields": [size, field("note")] } }),
        ] {
            let mut body = body;
            body["prompt"] = json!("Well?");
            let question: Question = serde_json::from_value(body).unwrap();
            for says in [ScriptAnswer::Yes, ScriptAnswer::No] {
                let none = matches!(
                    question.body(),
                    QuestionBody::Choose { .. } | QuestionBody::Provide { .. }
                );
                let said = says.answer_to(&question);
                if none && matches!(says, ScriptAnswer::No) {
                    assert!(said.unwrap_err().contains("cannot be answered with “no”"));
                    continue;
                }
                let (answer, comment) = said.unwrap();
                let reply = Reply { answer, comment: comment.map(str::to_owned) };
                assert!(question.check(reply.clone()).is_ok(), "{reply:?} to {question:?}");
            }
        }
        let bare = json!({ "prompt": "Size?", "kind": "provide", "form": { "fields": [
            { "key": "size", "label": "Size", "type": "text", "required": true }] } });
        let question: Question = serde_json::from_value(bare).unwrap();
        assert!(
            ScriptAnswer::Yes.answer_to(&question).unwrap_err().contains("\"size\" has no default")
        );
    }
}
