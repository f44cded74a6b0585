//! HACP over HTTP: tasks from their first word to their last, whoever calls.

use serde_json::{Value, json};

use crate::client::{Client, Reply};
use crate::world::World;

/// Somebody wants something done.
pub(crate) async fn op(who: &Client, operation: &str, params: Value) -> Reply {
    who.post(&format!("/hacp/v1/ops/{operation}"), json!({ "params": params })).await
}

/// The same, which works.
pub(crate) async fn done(who: &Client, operation: &str, params: Value) -> Value {
    op(who, operation, params).await.is(200).json
}

/// An error of this dialect: its status, its code, and everything every error has.
#[track_caller]
pub(crate) fn refused(reply: Reply, status: u16, code: &str) -> Reply {
    assert_eq!(reply.status, status, "{}", reply.text);
    let error = &reply["error"];
    assert_eq!(error["code"], code, "{}", reply.text);
    assert!(error["message"].as_str().is_some_and(|text| !text.is_empty()));
    assert!(error["details"].is_object() && error["retryable"].is_boolean());
    for key in ["spec_version", "schema_version", "profile"] {
        assert!(error[key].is_string(), "{key}: {}", reply.text);
    }
    reply
}

/// A task the agent works on.
pub(crate) async fn begun(world: &World, more: Value) -> String {
    let mut params = json!({ "type": "code", "spec": { "goal": "Fix the login" } });
    for (key, value) in more.as_object().unwrap() {
        params[key] = value.clone();
    }
    let task = done(&world.human(), "task.create", params).await;
    let id = task["id"].as_str().unwrap().to_owned();
    let given = json!({ "task_id": id, "agent_id": "agent_dev" });
    done(&world.human(), "task.assign", given).await;
    done(&world.agent(), "task.start", json!({ "task_id": id })).await;
    id
}

/// A checkpoint of a kind, as the agent raises it.
pub(crate) async fn raised(world: &World, task: &str, kind: &str, more: Value) -> String {
    let mut params = json!({ "task_id": task, "kind": kind, "prompt": "May I?" });
    for (key, value) in more.as_object().unwrap() {
        params[key] = value.clone();
    }
    let raised = done(&world.agent(), "checkpoint.raise", params).await;
    assert_eq!(raised["state"], "pending");
    raised["id"].as_str().unwrap().to_owned()
}

pub(crate) async fn state(world: &World, task: &str) -> String {
    let task = done(&world.human(), "task.get", json!({ "task_id": task })).await;
    task["state"].as_str().unwrap().to_owned()
}

pub(crate) fn inline(task: &str, content: &str) -> Value {
    let payload = json!({ "kind": "inline", "content": content });
    json!({ "task_id": task, "type": "patch", "payload": payload })
}

/// The reference flow of the protocol: HACP-001, HACP-004, HACP-006, HACP-031, HACP-032, HACP-040,
/// HACP-042, HACP-060, HACP-061, HACP-086; K-01, K-02, K-08.
#[tokio::test]
async fn the_reference_flow() {
    let world = World::dev().await;
    let (alice, devin) = (world.human(), world.agent());
    let id = begun(&world, json!({})).await;
    let checkpoint = raised(
        &world,
        &id,
        "choice",
        json!({ "options": [
        { "id": "a", "label": "Keep", "risk": "low" }, { "id": "b", "label": "Drop" },
    ] }),
    )
    .await;
    assert_eq!(state(&world, &id).await, "blocked");
    let resolved = json!({ "ckpt_id": checkpoint, "action": "choose", "choice": "a" });
    let resolved = done(&alice, "checkpoint.resolve", resolved).await;
    assert_eq!(resolved["resolution"]["by"], "user_dev");
    assert_eq!(state(&world, &id).await, "in_progress");

    let first = done(&devin, "artifact.commit", inline(&id, "one\n")).await;
    let wanted = json!({ "task_id": id, "verdict": "changes_requested",
                         "requested_changes": ["say two"] });
    done(&alice, "review.submit", wanted).await;
    let second = done(&devin, "artifact.commit", inline(&id, "two\n")).await;
    assert_eq!((&second["id"], &second["version"]), (&first["id"], &json!("v2")));
    assert_eq!(second["parent_version"], "v1");
    let good = json!({ "task_id": id, "art_id": second["id"], "verdict": "approved" });
    let review = done(&alice, "review.submit", good).await;
    let review = review["id"].as_str().unwrap();
    let entry = json!({ "scope": "project:dev", "key": "login", "value": "fixed", "by": id });
    done(&devin, "ledger.write", entry).await;
    let said = json!({ "review_id": review, "comment": { "severity": "nit", "body": "nice" } });
    done(&alice, "review.comment", said).await;

    let replayed = done(&alice, "audit.replay", json!({ "task_id": id })).await;
    let told: Vec<_> = replayed.as_array().unwrap().iter().map(|event| &event["action"]).collect();
    assert_eq!(
        json!(told),
        json!([
            "task.created",
            "task.assigned",
            "task.started",
            "task.checkpoint.raised",
            "task.checkpoint.resolved",
            "artifact.committed",
            "review.submitted",
            "artifact.committed",
            "review.submitted",
            "task.completed",
            "ledger.written",
            "review.commented",
        ])
    );
    assert!(dialects::hacp::audit::has_intact_hash_chain(replayed.as_array().unwrap()));
    let task = done(&alice, "task.get", json!({ "task_id": id })).await;
    assert_eq!(
        (&task["state"], &task["ownership"]["assignee"]),
        (&json!("completed"), &json!("user_dev"))
    );
    assert_eq!(task["revision"], 8, "once for each change, and not for what is written beside it");
    let same = done(&alice, "audit.query", json!({ "task_id": id })).await;
    assert_eq!(same, replayed);
    let read = done(&alice, "ledger.read", json!({ "scope": "project:dev", "key": "login" })).await;
    assert_eq!(read["value"], "fixed");
    world.end().await;
}

/// `audit.query` finds events by task, by who did it and by what was done, a page at a time.
#[tokio::test]
async fn events_are_found_by_who_did_what() {
    let world = World::dev().await;
    let (one, two) = (begun(&world, json!({})).await, begun(&world, json!({})).await);
    let found = async |params: Value| {
        let found = done(&world.human(), "audit.query", params).await;
        let short = |event: &Value| (event["task_id"].clone(), event["action"].clone());
        found.as_array().unwrap().iter().map(short).collect::<Vec<_>>()
    };
    let row = |task: &String, action: &str| (json!(task), json!(action));
    let started = [row(&one, "task.started"), row(&two, "task.started")];
    assert_eq!(found(json!({ "action": "task.started" })).await, started);
    assert_eq!(found(json!({ "actor": "agent_dev" })).await, started);
    let mine = found(json!({ "task_id": two, "actor": "user_dev" })).await;
    assert_eq!(mine, [row(&two, "task.created"), row(&two, "task.assigned")]);
    let none = json!({ "task_id": two, "actor": "agent_dev", "action": "task.created" });
    assert_eq!(found(none).await, []);
    let (mut all, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let mut params = json!({ "limit": 2 });
        if !cursor.is_null() {
            params["cursor"] = cursor.clone();
        }
        let page = op(&world.human(), "audit.query", params).await.is(200);
        all.extend(page.json.as_array().unwrap().iter().map(|event| event["id"].clone()));
        match page.header("hacp-next-cursor") {
            "" => break,
            next => cursor = json!(next),
        }
    }
    let whole = done(&world.human(), "audit.query", json!({})).await;
    let whole: Vec<_> = whole.as_array().unwrap().iter().map(|event| event["id"].clone()).collect();
    assert_eq!((all.len(), &all), (6, &whole), "pages join without gaps");
    world.end().await;
}

/// HACP-080, HACP-081, HACP-082; K-21: a call that is repeated is answered as it was, whatever
/// happened since, and what was read before is not changed unseen.
#[tokio::test]
async fn a_repeated_call_is_answered_as_it_was() {
    let world = World::dev().await;
    let (alice, devin) = (world.human(), world.agent());
    let id = begun(&world, json!({})).await;
    let send = async |who: &Client, operation: &str, params: Value, beside: Value| {
        let mut body = beside;
        body["params"] = params;
        who.post(&format!("/hacp/v1/ops/{operation}"), body).await
    };
    let raise = json!({ "task_id": id, "kind": "input", "prompt": "Which port?" });
    let key = json!({ "idempotency_key": "one", "expected_task_revision": 2 });
    let first = send(&devin, "checkpoint.raise", raise.clone(), key.clone()).await.is(200);
    let amend = json!({ "task_id": id, "text": "hurry", "intent": "redirect" });
    let amended = send(&alice, "task.amend", amend.clone(), json!({ "idempotency_key": "two" }));
    let amended = amended.await.is(200);
    let answered = json!({ "ckpt_id": first["id"], "action": "provide", "input": "8080" });
    send(&alice, "checkpoint.resolve", answered.clone(), json!({ "idempotency_key": "three" }))
        .await
        .is(200);
    // The task has moved on twice; the answers are those of then.
    let again = send(&devin, "checkpoint.raise", raise.clone(), key).await.is(200);
    assert_eq!(again.json, first.json);
    let again =
        send(&alice, "task.amend", amend.clone(), json!({ "idempotency_key": "two" })).await;
    assert_eq!(again.is(200).json, amended.json);
    let again = send(&alice, "checkpoint.resolve", answered, json!({ "idempotency_key": "three" }));
    assert_eq!(again.await.is(200)["state"], "resolved");
    // The same key for something else, or by somebody else, is a mistake that waiting does not
    // mend.
    let other = json!({ "task_id": id, "text": "slowly" });
    let other = send(&alice, "task.amend", other, json!({ "idempotency_key": "two" })).await;
    assert_eq!(refused(other, 409, "CONFLICT")["error"]["retryable"], false);
    let stale = send(&alice, "task.amend", amend, json!({ "expected_task_revision": 0 })).await;
    let stale = refused(stale, 409, "CONFLICT");
    assert_eq!(stale["error"]["retryable"], true);
    assert_eq!(stale["error"]["correlation_id"], id.as_str());
    let told = done(&alice, "audit.replay", json!({ "task_id": id })).await;
    assert_eq!(told.as_array().unwrap().len(), 6, "nothing was done twice");
    world.end().await;
}

/// HACP-041, HACP-051, K-14: who may do what, and when, each in the protocol's own words; and
/// nothing changes by what is refused.
#[tokio::test]
async fn refusals_say_why_and_change_nothing() {
    let world = World::dev().await;
    let (alice, devin, bob, other) =
        (world.human(), world.agent(), world.member(), world.agent_2());
    let id = begun(&world, json!({})).await;
    let task = json!({ "task_id": id });
    let before = done(&alice, "audit.replay", task.clone()).await;
    for (who, operation, params, status, code) in [
        (
            &devin,
            "task.create",
            json!({ "type": "x", "spec": { "goal": "mine" } }),
            401,
            "UNAUTHORIZED",
        ),
        (
            &alice,
            "task.create",
            json!({ "type": "x", "spec": { "goal": " " } }),
            400,
            "INVALID_SPEC",
        ),
        (&devin, "task.cancel", task.clone(), 401, "UNAUTHORIZED"),
        (&bob, "task.cancel", task.clone(), 401, "UNAUTHORIZED"),
        (&bob, "task.amend", json!({ "task_id": id, "text": "x" }), 401, "UNAUTHORIZED"),
        (&devin, "task.start", task.clone(), 412, "PRECONDITION_FAILED"),
        (
            &alice,
            "checkpoint.raise",
            json!({ "task_id": id, "kind": "input", "prompt": "x" }),
            401,
            "UNAUTHORIZED",
        ),
        (
            &devin,
            "checkpoint.raise",
            json!({ "task_id": id, "kind": "interrupt", "prompt": "x" }),
            400,
            "INVALID_SPEC",
        ),
        (
            &devin,
            "checkpoint.raise",
            json!({ "task_id": id, "kind": "choice", "prompt": "x" }),
            400,
            "INVALID_SPEC",
        ),
        (
            &devin,
            "ownership.delegate",
            json!({ "task_id": id, "to_agent": "agent_dev_2" }),
            412,
            "PRECONDITION_FAILED",
        ),
        (
            &alice,
            "review.submit",
            json!({ "task_id": id, "verdict": "approved" }),
            412,
            "PRECONDITION_FAILED",
        ),
        (
            &devin,
            "ledger.write",
            json!({ "scope": "project:dev2", "key": "k", "value": 1, "by": id }),
            401,
            "UNAUTHORIZED",
        ),
        (
            &devin,
            "ledger.write",
            json!({ "scope": "galaxy:x", "key": "k", "value": 1, "by": id }),
            400,
            "INVALID_SPEC",
        ),
        (
            &devin,
            "artifact.commit",
            json!({ "task_id": id, "type": "x", "payload": {
            "kind": "ref", "uri": "https://x.example/a", "checksum": "not-a-sha", "size": 5 } }),
            400,
            "INVALID_SPEC",
        ),
        (
            &devin,
            "artifact.commit",
            json!({ "task_id": id, "type": "x", "payload": {
            "kind": "inline", "content": "x", "checksum": format!("sha256:{}", "0".repeat(64)) } }),
            400,
            "INVALID_SPEC",
        ),
        (&other, "task.get", task.clone(), 404, "NOT_FOUND"),
        (
            &alice,
            "task.get",
            json!({ "task_id": "task_01J00000000000000000000000" }),
            404,
            "NOT_FOUND",
        ),
        (&alice, "task.dance", task.clone(), 404, "NOT_FOUND"),
        (&alice, "task.get", json!({ "task_id": id, "colour": "red" }), 400, "INVALID_SPEC"),
        (
            &alice,
            "task.amend",
            json!({ "task_id": id, "text": "x", "intent": "banana" }),
            400,
            "INVALID_SPEC",
        ),
        (
            &bob,
            "task.amend",
            json!({ "task_id": id, "text": "x", "by": "user_dev" }),
            401,
            "UNAUTHORIZED",
        ),
    ] {
        let said = op(who, operation, params.clone()).await;
        refused(said, status, code);
    }
    let after = done(&alice, "audit.replay", task).await;
    assert_eq!(before, after);
    let unsigned = world.anonymous().post("/hacp/v1/ops/task.list", json!({})).await;
    refused(unsigned, 401, "UNAUTHORIZED");
    world.end().await;
}

/// HACP-052, HACP-053; K-17: a checkpoint that runs out is resolved no more, wherever somebody
/// tries; the task stays blocked unless it was written down otherwise.
#[tokio::test]
async fn a_checkpoint_runs_out() {
    let world = World::dev().await;
    let until = || json!({ "expires_at": world.now().plus_seconds(60) });
    let (stays, goes) =
        (begun(&world, json!({})).await, begun(&world, json!({ "on_expiry": "cancel" })).await);
    let (one, two) = (
        raised(&world, &stays, "approval", until()).await,
        raised(&world, &goes, "approval", until()).await,
    );
    world.advance(61);
    let late = json!({ "ckpt_id": one, "action": "approve" });
    refused(op(&world.human(), "checkpoint.resolve", late).await, 410, "CHECKPOINT_EXPIRED");
    world.run_timers().await;
    assert_eq!(state(&world, &stays).await, "blocked");
    assert_eq!(state(&world, &goes).await, "completed");
    for (task, last) in [(&stays, "task.checkpoint.expired"), (&goes, "task.cancelled")] {
        let told = done(&world.human(), "audit.replay", json!({ "task_id": task })).await;
        assert_eq!(told.as_array().unwrap().last().unwrap()["action"], last);
    }
    let twice = json!({ "ckpt_id": two });
    refused(op(&world.human(), "checkpoint.expire", twice).await, 412, "PRECONDITION_FAILED");
    done(&world.human(), "task.cancel", json!({ "task_id": stays })).await;
    world.end().await;
}

/// `deadline` and `max_duration` are kept to; K-17.
#[tokio::test]
async fn a_deadline_is_kept() {
    let world = World::dev().await;
    let by = world.now().plus_seconds(60);
    let id = begun(&world, json!({ "deadline": by })).await;
    let brief = json!({ "spec": { "goal": "Soon", "constraints": { "max_duration": "PT1M" } } });
    let brief = begun(&world, brief).await;
    world.advance(61);
    for task in [&id, &brief] {
        let late = op(&world.agent(), "artifact.commit", inline(task, "x")).await;
        refused(late, 408, "DEADLINE_EXCEEDED");
        // What a person decides is not late.
        done(&world.human(), "task.cancel", json!({ "task_id": task, "reason": "too late" })).await;
    }
    world.end().await;
}

/// HACP-087: versions, and what each has.
#[tokio::test]
async fn versions_narrow_and_are_refused() {
    let world = World::dev().await;
    let id = begun(&world, json!({})).await;
    let old = world.human().header("hacp-version", "0.1.0-draft");
    let task = op(&old, "task.get", json!({ "task_id": id })).await.is(200);
    assert_eq!((&task["spec_version"], &task["revision"]), (&json!("0.1.0-draft"), &Value::Null));
    refused(
        op(&old, "task.interrupt", json!({ "task_id": id, "prompt": "x" })).await,
        404,
        "NOT_FOUND",
    );
    let odd = world.human().header("hacp-version", "9.9");
    refused(op(&odd, "task.list", json!({})).await, 409, "VERSION_UNSUPPORTED");
    let listed = op(&world.human(), "task.list", json!({})).await.is(200);
    assert_eq!(listed.header("hacp-version"), "0.2.0-draft");
    assert_eq!(listed.header("hacp-profile"), "HLP-industrial");
    let version = world.anonymous().get("/hacp/v1/version").await.is(200);
    assert_eq!(version["spec_version"], "0.2.0-draft");
    let schema = world.anonymous().get("/hacp/v1/schemas/Task").await.is(200);
    assert!(schema["required"].as_array().unwrap().contains(&json!("spec")));
    refused(world.anonymous().get("/hacp/v1/schemas/Nonsense").await, 404, "NOT_FOUND");
    world.end().await;
}

/// HACP-083; section 5 of the digest; K-16: what the runtime has to do, in order, however often it
/// looks, until it says that it has it.
#[tokio::test]
async fn a_runtime_reads_what_it_has_to_do() {
    let world = World::dev().await;
    let (alice, devin) = (world.human(), world.agent());
    let id = begun(&world, json!({ "delegable": true })).await;
    let checkpoint = raised(&world, &id, "approval", json!({})).await;
    done(&alice, "task.amend", json!({ "task_id": id, "text": "carefully" })).await;
    let to = json!({ "ckpt_id": checkpoint, "action": "reassign", "reassign_to": "agent_dev_2" });
    done(&alice, "checkpoint.resolve", to).await;
    let duties = async |who: &Client| {
        let events = done(who, "runtime.peek", json!({})).await;
        let events = events.as_array().unwrap().clone();
        for event in &events {
            assert_eq!(event["event"]["correlation_id"], id.as_str());
        }
        events.iter().map(|one| one["event"]["operation"].clone()).collect::<Vec<_>>()
    };
    let devins = ["delegate", "block", "steer", "cancel"];
    assert_eq!(duties(&devin).await, devins);
    assert_eq!(duties(&devin).await, devins, "looking takes nothing away");
    assert_eq!(duties(&world.agent_2()).await, ["handoff"]);
    let events = done(&devin, "runtime.peek", json!({ "limit": 2 })).await;
    let through = &events[1]["cursor"];
    done(&devin, "runtime.ack", json!({ "through": through })).await;
    assert_eq!(duties(&devin).await, ["steer", "cancel"]);
    done(&devin, "runtime.ack", json!({ "through": events[0]["cursor"] })).await;
    assert_eq!(duties(&devin).await, ["steer", "cancel"], "only ever forward");
    let waiting = done(&alice, "pending.outbox", json!({ "task_id": id })).await;
    assert_eq!(waiting[0]["state"], "pending");
    done(&world.agent_2(), "task.get", json!({ "task_id": id })).await;
    world.end().await;
}

/// Upstream's client: it leaves the type out, always says who raised and produced, asks whether the
/// server is well, and wants objects that say which protocol they speak, inside of others as well.
#[tokio::test]
async fn as_upstreams_client_calls() {
    let world = World::dev().await;
    let (alice, devin) = (world.human(), world.agent());
    let health = world.anonymous().get("/hacp/v1/health").await.is(200);
    assert_eq!((&health["status"], &health["schema_version"]), (&json!("ok"), &json!("0.2")));
    let grants = json!([{ "scope": "fs:/repo", "decision": "allow" }]);
    let spec = json!({ "goal": "Fix it", "constraints": { "grants": grants } });
    let task = done(&alice, "task.create", json!({ "spec": spec })).await;
    assert_eq!(task["type"], "");
    let id = task["id"].as_str().unwrap().to_owned();
    let given = json!({ "task_id": id, "agent_id": "agent_dev" });
    done(&alice, "task.assign", given).await;
    done(&devin, "task.start", json!({ "task_id": id })).await;
    for (raised_by, taken) in [("user_dev", false), ("agent_dev", true)] {
        let raise = json!({ "task_id": id, "kind": "approval", "prompt": "Go?",
            "raised_by": raised_by });
        let reply = op(&devin, "checkpoint.raise", raise).await;
        if taken {
            let checkpoint = reply.is(200)["id"].clone();
            let yes = json!({ "ckpt_id": checkpoint, "action": "approve" });
            done(&alice, "checkpoint.resolve", yes).await;
        } else {
            refused(reply, 401, "UNAUTHORIZED");
        }
    }
    let commit = json!({ "task_id": id, "produced_by": "agent_dev",
        "payload": { "kind": "inline", "content": "x" } });
    let made = done(&devin, "artifact.commit", commit).await;
    assert_eq!((&made["type"], &made["provenance"]["produced_by"]), (&json!(""), &json!(id)));

    // Everything that has a schema fits it, wherever it stands.
    let task = done(&alice, "task.get", json!({ "task_id": id })).await;
    let listed = done(&alice, "task.list", json!({})).await;
    let told = done(&devin, "runtime.peek", json!({})).await;
    let waiting = done(&alice, "pending.outbox", json!({})).await;
    for (name, value) in [
        ("Task", &task),
        ("Task", &listed[0]),
        ("Ownership", &task["ownership"]),
        ("PermissionGrant", &task["grants"][0]),
        ("PermissionGrant", &task["spec"]["constraints"]["grants"][0]),
        ("HarnessEventDelivery", &told[0]),
        ("HarnessEvent", &told[0]["event"]),
        ("AdapterOperationContext", &told[0]["event"]["operation_context"]),
        ("PermissionGrant", &told[0]["event"]["spec"]["constraints"]["grants"][0]),
        ("AdapterOutboxRecord", &waiting[0]),
        ("AdapterOperationContext", &waiting[0]["context"]),
        ("HarnessEvent", &waiting[0]["request"]),
    ] {
        let schema = alice.get(&format!("/hacp/v1/schemas/{name}")).await.is(200).json;
        assert!(jsonschema::is_valid(&schema, value), "{name}: {value}");
        assert_eq!(
            (&value["schema_version"], &value["profile"]),
            (&json!("0.2"), &json!("HLP-industrial"))
        );
    }
    world.end().await;
}

/// Operation 14: what is judged belongs to the task; naming another task's artifact changes
/// nothing.
#[tokio::test]
async fn another_tasks_artifact_is_not_judged() {
    let world = World::dev().await;
    let (one, two) = (begun(&world, json!({})).await, begun(&world, json!({})).await);
    let mine = done(&world.agent(), "artifact.commit", inline(&one, "one\n")).await;
    let theirs = done(&world.agent(), "artifact.commit", inline(&two, "two\n")).await;
    let before = done(&world.human(), "audit.replay", json!({ "task_id": one })).await;
    let wrong = json!({ "task_id": one, "art_id": theirs["id"], "verdict": "approved" });
    let refusal = op(&world.human(), "review.submit", wrong).await;
    refused(refusal, 412, "PRECONDITION_FAILED");
    assert_eq!(state(&world, &one).await, "review_ready");
    let after = done(&world.human(), "audit.replay", json!({ "task_id": one })).await;
    assert_eq!(after, before, "nothing was recorded");
    let right = json!({ "task_id": one, "art_id": mine["id"], "verdict": "approved" });
    done(&world.human(), "review.submit", right).await;
    world.end().await;
}

/// A person sees what runtimes have not confirmed, of the tasks they may see, in the order it was
/// decided; an agent its own.
#[tokio::test]
async fn a_person_reads_the_outbox_of_their_projects() {
    let world = World::dev().await;
    let (one, two) = (begun(&world, json!({})).await, begun(&world, json!({})).await);
    let theirs = json!({ "project": "dev2", "spec": { "goal": "y" } });
    let theirs = done(&world.human(), "task.create", theirs).await["id"].clone();
    let given = json!({ "task_id": theirs, "agent_id": "agent_dev_2" });
    done(&world.human(), "task.assign", given).await;
    let tasks = async |who: &Client, params: Value| {
        let waiting = done(who, "pending.outbox", params).await;
        waiting.as_array().unwrap().iter().map(|kept| kept["task_id"].clone()).collect::<Vec<_>>()
    };
    let all = [json!(one), json!(two), theirs.clone()];
    assert_eq!(tasks(&world.human(), json!({})).await, all);
    assert_eq!(tasks(&world.human(), json!({ "task_id": two })).await, [json!(two)]);
    assert_eq!(tasks(&world.agent(), json!({})).await, all[..2]);
    assert_eq!(tasks(&world.agent_2(), json!({})).await, [theirs]);
    let first = op(&world.human(), "pending.outbox", json!({ "limit": 1 })).await.is(200);
    let cursor = first.header("hacp-next-cursor").to_owned();
    let rest = tasks(&world.human(), json!({ "cursor": cursor })).await;
    assert_eq!(rest, all[1..], "and the next page goes on behind it");
    let told = done(&world.agent(), "runtime.peek", json!({})).await;
    let through = told[1]["cursor"].clone();
    done(&world.agent(), "runtime.ack", json!({ "through": through })).await;
    assert_eq!(tasks(&world.human(), json!({})).await, all[2..], "what was confirmed is gone");
    world.end().await;
}
