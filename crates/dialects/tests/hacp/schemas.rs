//! The registry of schemas, and that what goes out is what they say. HACP-085.

use dialects::hacp::runtime::{OutboxState, harness_event};
use dialects::hacp::schema::{names, schema, validate};
use dialects::hacp::{HacpError, HacpVersion, view};
use kernel::{FollowUp, Subject};
use serde_json::{Value, json};

use crate::fixtures::{V01, V02, artifact, entry, replay, story, task};

/// One of every object a version has a schema for, as it goes out.
fn samples(version: HacpVersion) -> Vec<(&'static str, Value)> {
    let (cast, id) = story();
    let done = task(&cast, id);
    let records: Vec<_> = cast
        .records()
        .iter()
        .filter(|record| record.subject == Subject::Task(id))
        .cloned()
        .collect();
    let shown = view::task(&done, version);
    let mut all = vec![
        ("Ownership", json!(version.stamped(view::ownership(&done)))),
        ("Ledger", json!(version.stamped(view::ledger(&entry(&cast).scope)))),
        ("ProtocolError", json!(HacpError::no_route().wire(version))),
        ("Task", json!(version.stamped(shown.clone()))),
    ];
    for raised in &done.checkpoints {
        let checkpoint = view::checkpoint(cast.seen(raised.ask), &done, version).unwrap();
        all.push(("Checkpoint", json!(version.stamped(checkpoint.clone()))));
        let proposed = checkpoint.later.into_iter().flat_map(|later| later.proposed_actions);
        all.extend(proposed.map(|action| ("ProposedAction", json!(action))));
    }
    for review in &done.reviews {
        all.push(("Review", json!(version.stamped(view::review(id, review, version)))));
    }
    let made = artifact(&cast, &done);
    for name in ["v1", "v2", "v3"] {
        let one = view::artifact(&made, Some(name), "https://gate.example", version).unwrap();
        all.push(("Artifact", json!(version.stamped(one))));
    }
    let (told, _) = replay(&records, None, version);
    all.extend(told.iter().map(|event| ("AuditEvent", json!(event))));
    if version == V02 {
        for effect in cast.follow_ups() {
            let FollowUp::Contract(contract) = effect else { continue };
            let record = records.iter().find(|record| record.seq == contract.seq).unwrap();
            let event = record.event().unwrap();
            let event = harness_event(contract, &done, &event, version).unwrap();
            all.push(("AdapterOperationContext", json!(event.operation_context)));
            let delivery = json!(version.stamped(event.clone().at_position(7)));
            all.push(("HarnessEvent", delivery["event"].clone()));
            all.push(("HarnessEventDelivery", delivery));
            // What is inside says which protocol it speaks, too.
            let told = json!(event);
            for (key, name) in [("grant", "PermissionGrant"), ("review", "Review")] {
                all.extend(told.get(key).map(|inner| (name, inner.clone())));
            }
            let grants = told["spec"]["constraints"]["grants"].as_array().into_iter().flatten();
            all.extend(grants.map(|grant| ("PermissionGrant", grant.clone())));
            all.push(("HarnessEvent", told));
            let kept = event.outbox_record(OutboxState::Succeeded, Some(json!({})), cast.now());
            let kept = json!(version.stamped(kept));
            all.push(("AdapterOperationContext", kept["context"].clone()));
            all.push(("HarnessEvent", kept["request"].clone()));
            all.push(("AdapterOutboxRecord", kept));
        }
        let later = shown.later.unwrap();
        all.extend(later.grants.iter().map(|grant| ("PermissionGrant", json!(grant))));
        let first = shown.spec.constraints.later.unwrap().grants;
        all.extend(first.iter().map(|grant| ("PermissionGrant", json!(grant))));
        all.extend(later.reviews.iter().map(|review| ("Review", json!(review))));
        all.push(("Ownership", json!(shown.ownership)));
        let policy = shown.spec.later.unwrap().review_policy;
        all.push(("ReviewPolicy", json!(policy)));
        all.push(("VersionNegotiation", json!(version.stamp())));
    }
    all
}

/// HACP-085: every object that goes out is as its schema says, by our own judgement and by that of
/// a library.
#[test]
fn what_goes_out_is_what_is_published() {
    for version in [V01, V02] {
        let samples = samples(version);
        let sampled: std::collections::BTreeSet<_> =
            samples.iter().map(|(name, _)| *name).collect();
        assert_eq!(sampled, names(version).collect(), "each has a sample");
        for (name, value) in samples {
            validate(name, &value, version)
                .unwrap_or_else(|error| panic!("{name}: {error}: {value}"));
            let schema = schema(name, version).unwrap();
            assert!(jsonschema::is_valid(&schema, &value), "{name}: {value}");
        }
    }
}

/// HACP-085: sixteen schemas, each a copy of its own.
#[test]
fn the_registry() {
    assert_eq!((names(V02).count(), names(V01).count()), (16, 8));
    for name in names(V02) {
        let mut one = schema(name, V02).unwrap();
        assert!(jsonschema::draft202012::meta::is_valid(&one), "{name}");
        one["required"] = json!([]);
        assert_ne!(schema(name, V02).unwrap(), one, "{name}");
    }
    insta::assert_json_snapshot!("schema_of_a_task", schema("Task", V02).unwrap());
    insta::assert_json_snapshot!("schema_of_an_early_task", schema("Task", V01).unwrap());
}

/// HACP-085, HACP-086: every schema of 0.2 requires which schema and which profile an object is of.
#[test]
fn every_schema_requires_schema_and_profile() {
    for name in names(V02) {
        let required = schema(name, V02).unwrap()["required"].clone();
        for key in ["schema_version", "profile"] {
            assert!(required.as_array().unwrap().contains(&json!(key)), "{name}: {key}");
        }
    }
    for (name, value) in samples(V02) {
        for key in ["schema_version", "profile"] {
            let mut without = value.clone();
            without.as_object_mut().unwrap().shift_remove(key).unwrap();
            assert_eq!(validate(name, &without, V02).unwrap_err().code, "INVALID_SPEC", "{name}");
        }
    }
}

/// HACP-085: an unknown name, a missing member, a wrong type, another version.
#[test]
fn what_does_not_fit() {
    let code = |name: &str, value: &Value| validate(name, value, V02).unwrap_err().code;
    let samples = samples(V02);
    let (_, task) = samples.iter().find(|(name, _)| *name == "Task").unwrap();
    assert_eq!(code("Banana", task), "NOT_FOUND");
    assert_eq!(schema("task", V02).unwrap_err().code, "NOT_FOUND");
    assert_eq!(schema("HarnessEvent", V01).unwrap_err().code, "NOT_FOUND");
    assert_eq!(code("Task", &json!([])), "INVALID_SPEC");
    for (key, value, expected) in [
        ("state", json!("paused"), "INVALID_SPEC"),
        ("revision", json!("3"), "INVALID_SPEC"),
        ("created_at", json!("yesterday"), "INVALID_SPEC"),
        ("schema_version", json!("0.3"), "VERSION_UNSUPPORTED"),
        ("profile", json!("HLP-realtime"), "VERSION_UNSUPPORTED"),
        ("spec_version", json!(2), "INVALID_SPEC"),
    ] {
        let mut changed = task.clone();
        changed[key] = value;
        assert_eq!(code("Task", &changed), expected, "{key}");
        let schema = schema("Task", V02).unwrap();
        // Formats are notes to a library, unless it is told to judge by them.
        assert_eq!(jsonschema::is_valid(&schema, &changed), key == "created_at", "{key}");
    }
    for key in task.as_object().unwrap().keys().cloned().collect::<Vec<_>>() {
        let mut without = task.clone();
        without.as_object_mut().unwrap().shift_remove(&key);
        let required =
            schema("Task", V02).unwrap()["required"].as_array().unwrap().contains(&json!(key));
        assert_eq!(validate("Task", &without, V02).is_err(), required, "{key}");
    }
}
