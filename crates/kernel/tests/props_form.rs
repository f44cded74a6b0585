//! Laws of forms: whatever is submitted, validation answers; what it accepts, it accepts again
//! unchanged; what is hidden never comes out.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use kernel::form::{Field, FieldErrorCode, FieldSpec, Form};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// JSON of any shape, with scalars that are close to what the fields below expect.
fn any_json() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-20_i64..20).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[ -~\r\n\t]{0,20}".prop_map(Value::from),
        "[a-z<>\"@.\\[\\] é]{0,12}@[a-z.\\[\\]é-]{0,12}".prop_map(Value::from),
        "[+-]?[0-9]{0,20}[.eE]?[0-9]{0,3}".prop_map(Value::from),
        "[a-z]{1,6}:/{0,3}[a-z.:@é]{0,12}".prop_map(Value::from),
        "[0-9]{4}-[01][0-9]-[0-3][0-9](T[0-2][0-9]:00:00(Z|[+-]0[0-9]:30))?".prop_map(Value::from),
        prop::sample::select(vec!["a", "b", "c", "", "on", "true", "false", "yes", "data:,x"])
            .prop_map(Value::from),
    ];
    scalar.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-z]{0,4}", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

const KINDS: [&str; 12] = [
    "text",
    "textarea",
    "number",
    "date",
    "email",
    "url",
    "boolean",
    "select",
    "multiselect",
    "range",
    "file",
    "x-thing",
];

/// A field `f{index}` of any type, sometimes shown only for some answers to an earlier field.
fn any_field(index: usize) -> impl Strategy<Value = Value> {
    let operator = prop::sample::select(vec!["eq", "neq", "in", "gt", "lt"]);
    let condition = prop::option::of((0..index.max(1), operator, any_json()));
    (prop::sample::select(&KINDS[..]), any::<bool>(), any::<bool>(), condition).prop_map(
        move |(kind, required, limited, condition)| {
            let mut field = json!({
                "key": format!("f{index}"), "label": "L", "type": kind, "required": required,
            });
            let validation = match kind {
                "range" => json!({"min": -10, "max": 10}),
                "number" if limited => json!({"min": -5.5, "allowed_values": [1, 2.0, "3"]}),
                "text" | "textarea" if limited => json!({"maxLength": 8, "pattern": "\\w*"}),
                "date" if limited => json!({"min": 0, "max": "2040-01-01"}),
                _ => json!({}),
            };
            let members = field.as_object_mut().unwrap();
            members.insert("validation".to_owned(), validation);
            if kind.ends_with("select") {
                let options = json!([{"value": "a", "label": "A"}, {"value": "b", "label": "B"}]);
                members.insert("options".to_owned(), options);
            }
            if let Some((earlier, operator, value)) = condition
                && index > 0
            {
                let condition =
                    json!({"field": format!("f{earlier}"), "operator": operator, "value": value});
                members.insert("conditional".to_owned(), condition);
            }
            field
        },
    )
}

/// A form of six fields; conditions that make no sense are left out rather than the whole form.
fn any_form() -> impl Strategy<Value = Form> {
    let fields =
        (any_field(0), any_field(1), any_field(2), any_field(3), any_field(4), any_field(5));
    (fields, any::<bool>()).prop_map(|((a, b, c, d, e, f), stepped)| {
        let mut kept: Vec<Value> = Vec::new();
        for mut field in [a, b, c, d, e, f] {
            let mut tried = kept.clone();
            tried.push(field.clone());
            if serde_json::from_value::<Form>(json!({"fields": tried})).is_err() {
                field.as_object_mut().unwrap().remove("conditional");
            }
            kept.push(field);
        }
        let wire = if stepped {
            let (first, second) = kept.split_at(3);
            json!({"steps": [
                {"title": "1", "fields": first},
                {"title": "2", "fields": second},
                {"title": "3", "fields": []},
            ]})
        } else {
            json!({"fields": kept})
        };
        serde_json::from_value(wire).unwrap()
    })
}

fn any_answers() -> impl Strategy<Value = Map<String, Value>> {
    let key = prop_oneof![9 => "f[0-5]", 1 => ".{0,8}"];
    prop::collection::vec((key, any_json()), 0..8).prop_map(|pairs| pairs.into_iter().collect())
}

/// `answers` without every key the form refused, until it accepts or only lacks required fields.
fn accepted_part(form: &Form, mut answers: Map<String, Value>) -> Map<String, Value> {
    loop {
        let Err(errors) = form.validate(&answers) else { return answers };
        let before = answers.len();
        for error in errors.iter().filter(|error| error.code != FieldErrorCode::Required) {
            answers.remove(&error.key);
        }
        if answers.len() == before {
            return answers;
        }
    }
}

/// The same form with nothing required, so that partial answers reach the laws below.
fn relaxed(form: &Form) -> Form {
    let mut wire = serde_json::to_value(form).unwrap();
    let relax = |container: &mut Value| {
        for field in container.get_mut("fields").and_then(Value::as_array_mut).into_iter().flatten()
        {
            field.as_object_mut().unwrap().remove("required");
        }
    };
    relax(&mut wire);
    wire.get_mut("steps").and_then(Value::as_array_mut).into_iter().flatten().for_each(relax);
    serde_json::from_value(wire).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// HITL-136: any JSON gets an answer, and progress stays within its own totals (HITL-102).
    #[test]
    fn validation_never_panics(form in any_form(), answers in any_answers()) {
        let known = |key: &str| form.field(key).is_some();
        match form.validate(&answers) {
            Ok(values) => prop_assert!(answers.keys().all(|key| known(key)) && values.iter().all(|(key, _)| known(key))),
            Err(errors) => for error in errors {
                prop_assert_eq!(error.code == FieldErrorCode::UnknownField, !known(&error.key));
                prop_assert!(!error.message.is_empty());
            },
        }
        let progress = form.progress(&answers);
        prop_assert!(progress.completed_fields <= progress.total_fields);
        prop_assert!((1..=progress.total_steps).contains(&progress.current_step));
        prop_assert_eq!(progress.total_fields as usize, form.visible(&answers).count());
    }

    /// What a form accepted it accepts again, unchanged, and it is in form order.
    #[test]
    fn validating_twice_is_validating_once(form in any_form(), answers in any_answers()) {
        let form = relaxed(&form);
        let values = form.validate(&accepted_part(&form, answers)).unwrap();
        let again = form.validate(values.as_map()).unwrap();
        prop_assert_eq!(serde_json::to_string(&again).unwrap(), serde_json::to_string(&values).unwrap());
        let order: Vec<&str> = values.iter().map(|(key, _)| key).collect();
        let expected: Vec<&str> =
            form.fields().map(Field::key).filter(|key| values.get(key).is_some()).collect();
        prop_assert_eq!(order, expected);
    }

    /// HITL-135: a hidden field is neither returned nor asked for.
    #[test]
    fn hidden_fields_never_appear(form in any_form(), answers in any_answers()) {
        let visible: Vec<&str> = form.visible(&answers).map(Field::key).collect();
        match form.validate(&answers) {
            Ok(values) => prop_assert!(values.iter().all(|(key, _)| visible.contains(&key))),
            Err(errors) => for error in errors {
                let hidden = form.field(&error.key).is_some() && !visible.contains(&error.key.as_str());
                prop_assert!(!hidden, "{} is hidden", error.key);
            },
        }
        let relaxed = relaxed(&form);
        let answers = accepted_part(&relaxed, answers);
        let visible: Vec<&str> = relaxed.visible(&answers).map(Field::key).collect();
        let values = relaxed.validate(&answers).unwrap();
        prop_assert!(values.iter().all(|(key, _)| visible.contains(&key)));
    }

    /// A form written to JSON and read back is the same form (HITL-130, HITL-132).
    #[test]
    fn forms_survive_json(form in any_form()) {
        let text = serde_json::to_string(&form).unwrap();
        prop_assert_eq!(serde_json::from_str::<Form>(&text).unwrap(), form);
    }

    /// Patterns from strangers compile or are refused; they never panic or stall (C-11).
    #[test]
    fn any_pattern_is_taken_or_refused(pattern in "[\\\\dwsb(){}\\[\\]^$|?*+.,:<>=!a-c0-9é-]{0,40}", text in any::<String>()) {
        let mut spec = FieldSpec::new("k", "K", "text");
        spec.validation = Some(serde_json::from_value(json!({"pattern": pattern})).unwrap());
        if let Ok(field) = Field::try_from(spec) {
            let form = Form::single(field).unwrap();
            let _ = form.validate(&Map::from_iter([("k".to_owned(), Value::from(text))]));
        }
    }
}
