//! Converts a reply back to its form, so that a person who undoes an answer finds the entered
//! values. This is the counterpart of [`submitted`](crate::answer_form::submitted). Secrets and
//! files are not included.

use kernel::form::Field;
use kernel::question::{Answer, Question, QuestionBody, Reply};
use serde_json::{Map, Value};

use crate::answer_form::edits;
use crate::answer_form::submitted::{EDITS, PARAMS, SubmittedForm};

/// The form that produces this reply to this question.
pub fn of(question: &Question, reply: &Reply) -> SubmittedForm {
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: String| pairs.push((name.to_owned(), value));
    if let Some(comment) = &reply.comment {
        let name = if *question.body() == QuestionBody::Converse { "reply" } else { "comment" };
        add(name, comment.clone());
    }
    match (&reply.answer, question.body()) {
        (
            Answer::Approved { edits: Some(edited) }
            | Answer::ChangesRequested { edits: Some(edited) },
            QuestionBody::Approve { details, editable, .. },
        ) => {
            let open = editable.offered(details);
            pairs.extend(edits::entered(&open, editable.form(), EDITS, &merged(&open, edited)));
        }
        (Answer::Retry { params: edited }, QuestionBody::Escalate { params, .. }) => {
            pairs.extend(edits::entered(params, None, PARAMS, &merged(params, edited)));
        }
        (Answer::Chosen { options }, _) => {
            for option in options {
                add("option", option.clone());
            }
        }
        (Answer::Replied { text }, _) => add("reply", text.clone()),
        (Answer::Provided { values }, QuestionBody::Provide { form }) => {
            let shown =
                |key: &str| form.field(key).is_some_and(|field| !Field::is_sensitive(field));
            for (key, value) in values.iter().filter(|(key, _)| shown(key)) {
                let name = format!("field.{key}");
                match value {
                    Value::Array(items) => {
                        for item in items {
                            add(&name, text(item));
                        }
                    }
                    Value::Object(_) | Value::Null => {}
                    Value::String(_) | Value::Number(_) | Value::Bool(_) => add(&name, text(value)),
                }
            }
        }
        (
            Answer::Approved { .. }
            | Answer::ChangesRequested { .. }
            | Answer::Rejected { .. }
            | Answer::Confirmed { .. }
            | Answer::Declined
            | Answer::Retry { .. }
            | Answer::Skip
            | Answer::Abort
            | Answer::Provided { .. },
            _,
        ) => {}
    }
    SubmittedForm::new(pairs)
}

fn merged(original: &Map<String, Value>, edited: &Map<String, Value>) -> Map<String, Value> {
    let mut all = original.clone();
    all.extend(edited.clone());
    all
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use kernel::form::Form;
    use kernel::question::{Choice, Options, PickMode};
    use serde_json::json;

    use super::*;
    use crate::answer_form::submitted;

    fn question(body: QuestionBody) -> Question {
        Question::new("So?", None, body).unwrap()
    }

    /// A form converted to a reply and back is the same form.
    #[test]
    fn a_reply_and_its_form_are_the_same() {
        let object = |value: Value| value.as_object().unwrap().clone();
        let details = object(json!({ "amount": 12.5, "to": { "name": "Ann" }, "fast": false }));
        let approve = QuestionBody::Approve {
            details,
            editable: true.into(),
            reject_requires_reason: false,
            reject_options: Vec::new(),
        };
        let fields = json!({ "fields": [
            { "key": "name", "label": "Name", "type": "text" },
            { "key": "age", "label": "Age", "type": "number" },
            { "key": "ok", "label": "OK", "type": "boolean" },
            { "key": "of", "label": "Of", "type": "multiselect",
              "options": [{ "value": "a", "label": "A" }, { "value": "b", "label": "B" }] },
        ] });
        let form: Form = serde_json::from_value(fields).unwrap();
        let choices = vec![Choice::plain("a"), Choice::plain("b"), Choice::plain("c")];
        let options = Options::new(choices).unwrap();
        let choose = QuestionBody::Choose { options, pick: PickMode::Many, suggested: None };
        let params = object(json!({ "retries": 3, "url": "https://a.example" }));
        let escalate = QuestionBody::Escalate { error: Map::new(), params };
        for (body, action, pairs) in [
            (
                approve.clone(),
                "approve",
                vec![("edits.0", "13"), ("edits.1", "Bob"), ("comment", "ok")],
            ),
            (approve.clone(), "changes", vec![("edits.2", "true"), ("comment", "faster")]),
            (approve, "reject", vec![("comment", "no")]),
            (choose, "choose", vec![("option", "a"), ("option", "c")]),
            (
                QuestionBody::Provide { form },
                "provide",
                vec![
                    ("field.name", "Ann"),
                    ("field.age", "7"),
                    ("field.ok", "true"),
                    ("field.of", "b"),
                ],
            ),
            (escalate, "retry", vec![("params.0", "4")]),
            (QuestionBody::Converse, "reply", vec![("reply", "hello\nthere")]),
        ] {
            let question = question(body);
            let typed = |pairs: Vec<(String, String)>| {
                let mut form = SubmittedForm::new(pairs);
                form.pairs.push(("action".to_owned(), action.to_owned()));
                submitted::reply(&question, &form)
            };
            let pairs = pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
            let reply = typed(pairs).unwrap();
            let again = typed(of(&question, &reply).pairs);
            assert_eq!(again.as_ref(), Ok(&reply), "{action}");
        }
    }
}
