//! The mistakes that developers and operators make most often, with the exact status and message
//! that each gets. The messages are written here as people read them.

use reqwest::Method;
use serde_json::{Value, json};
use server::config::{SecretString, Settings};

use crate::client::{Client, Reply};
use crate::world::{World, dev};

const ASKS: &str = "/api/v1/asks";
const HXP: &str = "/hxp/v1/requests";
const CASES: &str = "/hitl/v1/cases";
const CALLS: &str = "/a2h/v1/function_calls";
const TASKS: &str = "/hacp/v1/ops/task.create";
const SLACK: &str = "/channels/slack/events";

/// What a caller sends.
enum Sent {
    Nothing,
    Json(Value),
    Text(&'static str),
}

/// One mistake: what is wrong, the call, and the status and message of the response.
struct Mistake<'c> {
    what: &'static str,
    caller: &'c Client,
    method: Method,
    path: String,
    sent: Sent,
    status: u16,
    message: &'static str,
}

fn get<'c>(
    what: &'static str,
    caller: &'c Client,
    path: impl Into<String>,
    status: u16,
    message: &'static str,
) -> Mistake<'c> {
    let path = path.into();
    Mistake { what, caller, method: Method::GET, path, sent: Sent::Nothing, status, message }
}

fn post<'c>(
    what: &'static str,
    caller: &'c Client,
    path: impl Into<String>,
    body: Value,
    status: u16,
    message: &'static str,
) -> Mistake<'c> {
    let path = path.into();
    Mistake { what, caller, method: Method::POST, path, sent: Sent::Json(body), status, message }
}

fn raw<'c>(
    what: &'static str,
    caller: &'c Client,
    path: impl Into<String>,
    body: &'static str,
    status: u16,
    message: &'static str,
) -> Mistake<'c> {
    let path = path.into();
    Mistake { what, caller, method: Method::POST, path, sent: Sent::Text(body), status, message }
}

/// The message of an error, in the format of any protocol.
fn message(reply: &Reply) -> &str {
    let places = [&reply["detail"], &reply["message"], &reply["error"]["message"]];
    places.into_iter().find_map(Value::as_str).unwrap_or(&reply.text)
}

/// Makes every mistake, and reports all differences at once.
async fn make_all(mistakes: Vec<Mistake<'_>>) {
    let mut wrong = Vec::new();
    for Mistake { what, caller, method, path, sent, status, message: expected } in mistakes {
        let request = caller.request(method, &path);
        let request = match sent {
            Sent::Nothing => request,
            Sent::Json(body) => request.json(&body),
            Sent::Text(body) => request.header("content-type", "application/json").body(body),
        };
        let reply = Reply::of(request).await;
        let got = (reply.status, message(&reply));
        if got != (status, expected) {
            wrong.push(format!("{what}:\n  {} {}\n  {status} {expected}", got.0, got.1));
        }
    }
    assert!(wrong.is_empty(), "got, and expected:\n{}", wrong.join("\n"));
}

fn approval() -> Value {
    json!({ "question": { "prompt": "Deploy?", "kind": "approve" } })
}

fn with(mut body: Value, more: Value) -> Value {
    let Value::Object(more) = more else { return body };
    let members = body.as_object_mut();
    members.unwrap().extend(more);
    body
}

fn asking(more: Value) -> Value {
    with(approval(), more)
}

fn decide(more: Value) -> Value {
    let payload = json!({ "question": "Which?", "options": ["a", "b"] });
    with(json!({ "action": "DECIDE", "payload": payload }), more)
}

fn case(more: Value) -> Value {
    with(json!({ "type": "approval", "prompt": "Deploy?" }), more)
}

fn call(id: &str, more: Value) -> Value {
    with(json!({ "run_id": "run", "call_id": id, "spec": { "fn": "pay", "kwargs": {} } }), more)
}

async fn asked(agent: &Client, body: Value) -> String {
    let created = agent.post(ASKS, body).await.is(201);
    format!("{ASKS}/{}", created["id"].as_str().unwrap())
}

/// Keys, hosts, paths, methods and bodies.
#[tokio::test]
async fn mistakes_of_every_call() {
    let world = World::with(Settings { body_limit: Some(4096), ..dev() }).await;
    let (agent, human) = (world.agent(), world.human());
    let soon = world.now().plus_seconds(60).to_string();
    let keys = "/api/v1/keys";
    let issue = json!({ "agent": "agent_dev", "label": "short", "expires_at": soon });
    let expired = human.post(keys, issue).await.is(201)["secret"].as_str().unwrap().to_owned();
    let revoked = human.post(keys, json!({ "agent": "agent_dev", "label": "lost" })).await.is(201);
    let id = revoked["id"].as_str().unwrap();
    human.delete(&format!("{keys}/{id}")).await.is(204);
    let revoked = revoked["secret"].as_str().unwrap().to_owned();
    world.advance(61);
    let (anonymous, unknown) = (world.anonymous(), world.bearer("cs_agent_unknown"));
    let (expired, revoked) = (world.bearer(&expired), world.bearer(&revoked));
    let elsewhere = world.agent().header("host", "evil.example");
    let ask = asked(&agent, approval()).await;
    let retried = world.agent().header("idempotency-key", "once");
    retried.post(ASKS, approval()).await.is(201);
    let stale = world.human().header("if-match", "\"7\"");
    let unquoted = world.human().header("if-match", "latest");
    let bad_key = "this credential is unknown, expired, revoked, or not accepted by this path";
    make_all(vec![
        get(
            "no credential",
            &anonymous,
            ASKS,
            401,
            "missing credential; send one as `Authorization: Bearer …`",
        ),
        get("unknown key", &unknown, ASKS, 401, bad_key),
        get("expired key", &expired, ASKS, 401, bad_key),
        get("revoked key", &revoked, ASKS, 401, bad_key),
        post(
            "agent key for a person's call",
            &agent,
            format!("{ask}/answer"),
            json!({ "answer": { "verdict": "approved" } }),
            403,
            "this path requires a person's token, but this is an agent key",
        ),
        post(
            "person's token for an agent's call",
            &human,
            ASKS,
            approval(),
            403,
            "this path requires an agent key, but this is a person's token",
        ),
        get(
            "not an administrator",
            &world.member(),
            "/api/v1/people",
            403,
            "only an administrator can do this",
        ),
        get(
            "wrong host",
            &elsewhere,
            ASKS,
            421,
            "the Host header is not a host name of this server; set public_url to the URL that \
             clients use",
        ),
        get(
            "unknown path",
            &agent,
            "/api/v1/requests",
            404,
            "unknown path; check the URL, or see /docs",
        ),
        get(
            "wrong method",
            &agent,
            format!("{ask}/answer"),
            405,
            "this path does not support this method",
        ),
        get("unknown id", &agent, format!("{ASKS}/ask_0"), 404, "request not found"),
        raw(
            "invalid JSON",
            &agent,
            ASKS,
            "{\"question\": {\"prompt\": \"Deploy?\",}}",
            400,
            "the body is not valid JSON: trailing comma at line 1 column 35",
        ),
        raw(
            "duplicate field",
            &agent,
            ASKS,
            "{\"question\": {\"prompt\": \"x\", \"kind\": \"approve\"}, \"tags\": [], \"tags\": []}",
            422,
            "tags: expected a single value; the field is duplicated",
        ),
        post(
            "body too large",
            &agent,
            ASKS,
            asking(json!({ "metadata": { "log": "x".repeat(5000) } })),
            413,
            "the body exceeds this server's size limit",
        ),
        post(
            "idempotency key used twice",
            &retried,
            ASKS,
            asking(json!({ "priority": "high" })),
            409,
            "this idempotency key was already used with a different request",
        ),
        post(
            "old version",
            &stale,
            format!("{ask}/claim"),
            json!({}),
            412,
            "this request has changed; its current version is 1",
        ),
        post(
            "If-Match that is not a version",
            &unquoted,
            format!("{ask}/claim"),
            json!({}),
            400,
            "If-Match: expected one version in quotes such as \"3\", or *",
        ),
    ])
    .await;
    world.end().await;
}

/// Fields, names and states of the native API.
#[tokio::test]
async fn mistakes_of_the_native_api() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let yes = || json!({ "answer": { "verdict": "approved" } });
    let open = asked(&agent, asking(json!({ "timeout_seconds": 60 }))).await;
    let closed = asked(&agent, approval()).await;
    human.post(&format!("{closed}/answer"), yes()).await.is(200);
    let cancelled = asked(&agent, approval()).await;
    agent.post(&format!("{cancelled}/cancel"), json!({})).await.is(200);
    let expired = asked(&agent, asking(json!({ "timeout_seconds": 1, "on_expiry": "fail" }))).await;
    world.advance(2);
    let claimed = asked(&agent, asking(json!({ "route": { "to": "pool" } }))).await;
    world.member().post(&format!("{claimed}/claim"), json!({})).await.is(200);
    let choice = json!({ "question": { "prompt": "Which?", "kind": "choose", "pick": "one", "options": [
        { "id": "a", "label": "A" }, { "id": "b", "label": "B" }] } });
    let choice = asked(&agent, choice).await;
    let mistakes = vec![
        post(
            "empty body",
            &agent,
            ASKS,
            json!({}),
            422,
            "question: expected a value; it is missing",
        ),
        post(
            "misspelt field",
            &agent,
            ASKS,
            asking(json!({ "prority": "high" })),
            422,
            "prority: unknown field; allowed fields: question, priority, route, timeout_seconds, \
             on_expiry, reminders, tags, irreversible, metadata, follows, conversation, assurance, \
             callback_url, place, hxp; did you mean \"priority\"?",
        ),
        post(
            "misspelt name",
            &agent,
            ASKS,
            asking(json!({ "assurance": "agentattested" })),
            422,
            "assurance: expected `none`, `agent-attested`, `link`, `channel`, `session` or \
             `passkey`; did you mean \"agent-attested\"?",
        ),
        post(
            "unknown name",
            &agent,
            ASKS,
            asking(json!({ "priority": "urgent" })),
            422,
            "priority: expected `low`, `normal`, `high` or `critical`",
        ),
        post(
            "wrong type",
            &agent,
            ASKS,
            asking(json!({ "timeout_seconds": "60" })),
            422,
            "timeout_seconds: expected a whole number of seconds from 0 (never) to 100 years",
        ),
        post(
            "string instead of a list",
            &agent,
            ASKS,
            asking(json!({ "tags": "deploy" })),
            422,
            "tags: expected a list",
        ),
        post("list instead of an object", &agent, ASKS, json!([]), 422, "body: expected an object"),
        post(
            "a default without a deadline",
            &agent,
            ASKS,
            asking(json!({ "on_expiry": "fail" })),
            422,
            "on_expiry: expected stay_open, or timeout_seconds together with it",
        ),
        post(
            "unknown person",
            &agent,
            ASKS,
            asking(json!({ "route": { "to": "person", "human": "ada" } })),
            422,
            "route.human: expected a person who is a member of this project",
        ),
        post(
            "private callback URL",
            &agent,
            ASKS,
            asking(json!({ "callback_url": "http://10.0.0.1/done" })),
            422,
            "callback_url: expected an https URL, or http to localhost or 127.0.0.1",
        ),
        get(
            "misspelt parameter",
            &agent,
            format!("{ASKS}?stat=open"),
            400,
            "stat: unknown parameter; allowed parameters: view, state, kind, priority, \
             project, agent, fold, expiring, limit, cursor; did you mean \"state\"?",
        ),
        get(
            "misspelt state",
            &agent,
            format!("{ASKS}?state=compleeted"),
            400,
            "state: expected open, waiting, pending, engaged, completed, expired, cancelled, failed \
             or all; did you mean \"completed\"?",
        ),
        get(
            "page size out of range",
            &agent,
            format!("{ASKS}?limit=1000"),
            400,
            "limit: expected a whole number from 1 to 100",
        ),
        get(
            "cursor of another list",
            &agent,
            format!("{ASKS}?cursor=AAAA"),
            422,
            "cursor: expected the `next` of the previous page of the same list",
        ),
        post(
            "answer to an answered ask",
            &human,
            format!("{closed}/answer"),
            yes(),
            409,
            "already answered by user_dev at 2026-03-01T09:00:00.000Z",
        ),
        post(
            "answer to a cancelled ask",
            &human,
            format!("{cancelled}/answer"),
            yes(),
            409,
            "cancelled by agent_dev at 2026-03-01T09:00:00.000Z",
        ),
        post(
            "answer after the deadline",
            &human,
            format!("{expired}/answer"),
            yes(),
            410,
            "this request expired at 2026-03-01T09:00:01.000Z",
        ),
        post(
            "claim of a claimed ask",
            &human,
            format!("{claimed}/claim"),
            json!({}),
            409,
            "user_dev_2 has claimed this request",
        ),
        post(
            "wrong kind of answer",
            &human,
            format!("{choice}/answer"),
            yes(),
            422,
            "this question expects one of its options",
        ),
        post(
            "unknown option",
            &human,
            format!("{choice}/answer"),
            json!({ "answer": { "verdict": "chosen", "options": ["c"] } }),
            422,
            "the answer must be one of the options",
        ),
        post(
            "deadline in the past",
            &human,
            format!("{open}/extend"),
            json!({ "until": "2026-01-01T00:00:00Z" }),
            422,
            "until: expected a time after the current deadline",
        ),
        post(
            "deadline that is not a time",
            &human,
            format!("{open}/extend"),
            json!({ "until": "tomorrow" }),
            422,
            "until: expected a time in RFC 3339 format, such as 2026-11-15T09:00:00Z",
        ),
        post(
            "receipt of an open ask",
            &human,
            format!("{open}/erase"),
            json!({}),
            409,
            "cancel this request before erasing it",
        ),
        post(
            "webhook without an owner",
            &human,
            "/api/v1/webhooks",
            json!({ "url": "https://example.com/hook" }),
            422,
            "agent: expected either `agent` or `project`",
        ),
        post(
            "key that has already expired",
            &human,
            "/api/v1/keys",
            json!({ "agent": "agent_dev", "expires_at": "2026-01-01T00:00:00Z" }),
            422,
            "expires_at: expected a time in the future",
        ),
    ];
    make_all(mistakes).await;
    world.end().await;
}

/// HXP Execution, HITL, A2H, HACP and HXP eXperience.
#[tokio::test]
async fn mistakes_of_the_protocols() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let (anonymous, unknown) = (world.anonymous(), world.bearer("nobody"));
    let id = agent.post(HXP, decide(json!({}))).await.is(201);
    let request = format!("{HXP}/{}", id["request_id"].as_str().unwrap());
    agent.post(CALLS, call("c1", json!({}))).await.is(200);
    let old = world.agent().header("hacp-version", "9.9");
    make_all(vec![
        get(
            "HXP: no credential",
            &anonymous,
            HXP,
            401,
            "missing, unknown, expired or revoked credential; send a valid one as Authorization: \
             Bearer <credential>",
        ),
        post(
            "HXP: lower-case action",
            &agent,
            HXP,
            decide(json!({ "action": "decide" })),
            400,
            "action: expected DECIDE, APPROVE or PROVIDE; did you mean \"DECIDE\"?",
        ),
        post(
            "HXP: unknown priority",
            &agent,
            HXP,
            decide(json!({ "priority": "hihg" })),
            400,
            "priority: expected low, normal, high or critical; did you mean \"high\"?",
        ),
        post(
            "HXP: one option",
            &agent,
            HXP,
            decide(json!({ "payload": { "question": "Which?", "options": ["a"] } })),
            400,
            "payload.options: expected 2 to 6 distinct non-empty strings",
        ),
        post(
            "HXP: no result",
            &human,
            format!("{request}/resolve"),
            json!({}),
            400,
            "result: expected the answer to the question",
        ),
        post(
            "HXP: unknown option",
            &human,
            format!("{request}/resolve"),
            json!({ "result": "c" }),
            422,
            "result: expected one of \"a\", \"b\"",
        ),
        get(
            "HXP: unknown request",
            &agent,
            format!("{HXP}/hxp_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
            404,
            "request not found",
        ),
        raw(
            "HXP: invalid JSON",
            &agent,
            HXP,
            "{",
            400,
            "the body is not valid JSON: EOF while parsing an object at line 1 column 1",
        ),
        post(
            "HITL: no credential",
            &anonymous,
            CASES,
            case(json!({})),
            401,
            "missing, unknown, expired or revoked token; send a valid token for this call as \
             Authorization: Bearer <token>",
        ),
        post(
            "HITL: misspelt type",
            &agent,
            CASES,
            case(json!({ "type": "aproval" })),
            400,
            "type: expected approval, selection, input, confirmation, escalation, or a custom name \
             that starts with x-; did you mean \"approval\"?",
        ),
        post(
            "HITL: no prompt",
            &agent,
            CASES,
            json!({ "type": "approval" }),
            400,
            "prompt: expected a non-empty string",
        ),
        post(
            "HITL: wrong timeout",
            &agent,
            CASES,
            case(json!({ "timeout": "soon" })),
            400,
            "timeout: expected a duration such as 24h, 30m, 7d, PT24H or P7D, of at least one \
             second and at most seven days",
        ),
        post(
            "HITL: default action",
            &agent,
            CASES,
            case(json!({ "default_action": "aprove" })),
            400,
            "default_action: expected skip, approve, reject or abort; did you mean \"approve\"?",
        ),
        post(
            "HITL: role and person",
            &agent,
            CASES,
            case(json!({ "role": "owner", "person": "user_dev" })),
            400,
            "person: expected no value, because role is present; send either person or role",
        ),
        post(
            "HITL: misspelt routing",
            &agent,
            CASES,
            case(json!({ "routing": { "priorty": "high" } })),
            400,
            "routing.priorty: unknown field; allowed fields: role, person, project, priority, tags; \
             did you mean \"priority\"?",
        ),
        get(
            "HITL: unknown case",
            &agent,
            "/hitl/v1/reviews/review_01ARZ3NDEKTSV4RRFFQ69G5FAV/status",
            404,
            "case not found",
        ),
        post(
            "A2H: unknown key",
            &unknown,
            CALLS,
            call("c2", json!({})),
            401,
            "missing, unknown, expired or revoked key; send a valid key as Authorization: Bearer \
             <key>",
        ),
        post(
            "A2H: no spec",
            &agent,
            CALLS,
            json!({ "run_id": "run", "call_id": "c2" }),
            422,
            "spec: expected an object",
        ),
        post(
            "A2H: id with a slash",
            &agent,
            CALLS,
            call("a/b", json!({})),
            422,
            "call_id: expected a string of 1 to 200 bytes other than . and .., without / ? # % \\, \
             control characters, or spaces at either end",
        ),
        post(
            "A2H: another spec under the same id",
            &agent,
            CALLS,
            call("c1", json!({ "spec": { "fn": "pay", "kwargs": { "amount": 2 } } })),
            409,
            "this call_id was already used with a different spec",
        ),
        post(
            "A2H: Slack channel by name",
            &agent,
            CALLS,
            call("c3", json!({ "spec": { "fn": "pay", "kwargs": {}, "channel": {
                "slack": { "channel_or_user_id": "#general" } } } })),
            422,
            "spec.channel.slack.channel_or_user_id: expected the ID of a channel or user such as \
             C0123ABC, not its name",
        ),
        get(
            "A2H: unknown call",
            &agent,
            format!("{CALLS}/c9"),
            404,
            "call not found",
        ),
        post(
            "HACP: no credential",
            &anonymous,
            TASKS,
            json!({ "params": {} }),
            401,
            "missing, unknown, expired or revoked credential; send an agent key or a human token as \
             Authorization: Bearer <credential>",
        ),
        post(
            "HACP: misspelt operation",
            &human,
            "/hacp/v1/ops/task.craete",
            json!({ "params": {} }),
            404,
            "unknown operation in 0.2.0-draft; did you mean \"task.create\"?",
        ),
        post(
            "HACP: unsupported version",
            &old,
            TASKS,
            json!({ "params": {} }),
            409,
            "unsupported version",
        ),
        post(
            "HACP: misspelt parameter",
            &human,
            "/hacp/v1/ops/task.get",
            json!({ "params": { "taskid": "task_1" } }),
            400,
            "params.taskid: unknown field; allowed fields: task_id; did you mean \"task_id\"?",
        ),
        post(
            "HACP: unknown task",
            &human,
            "/hacp/v1/ops/task.get",
            json!({ "params": { "task_id": "task_1" } }),
            404,
            "params.task_id: task not found",
        ),
        post(
            "HACP: no goal",
            &human,
            TASKS,
            json!({ "params": { "type": "code" } }),
            400,
            "params.goal: expected a non-empty string",
        ),
    ])
    .await;
    world.end().await;
}

/// HXP eXperience reports findings instead of refusing.
#[tokio::test]
async fn mistakes_in_an_envelope() {
    let world = World::dev().await;
    let message = json!({ "hxp": {
        "version": "1.0", "intent": "inform", "delivery": { "format": "tabel" },
        "transparency": { "confidence": 2 }, "actions": [], "colour": "red",
    }, "content": "Done." });
    let path = "/envelope/v1/validate?strict=true";
    let checked = world.anonymous().post(path, message).await.is(200);
    let findings = checked["errors"].as_array().unwrap();
    let found = |pointer: &str| {
        let one = findings.iter().find(|one| one["instancePath"] == pointer);
        one.map_or("", |one| one["message"].as_str().unwrap())
    };
    for (pointer, expected) in [
        (
            "/hxp/version",
            "version must be three numbers separated by dots, without leading zeros, such as 1.0.0",
        ),
        (
            "/hxp/delivery/format",
            "format must be one of bullets, steps, narrative, code, table, mixed; did you mean \"table\"?",
        ),
        ("/hxp/transparency/confidence", "this must be a number from 0 to 1"),
        ("/hxp/colour", "unknown field; strict mode accepts known fields only"),
    ] {
        assert_eq!(found(pointer), expected, "{pointer}: {findings:#?}");
    }
    world.end().await;
}

/// A platform's call with a wrong clock or a wrong secret.
#[tokio::test]
async fn mistakes_of_signed_calls() {
    let secret = |text: &str| Some(SecretString::new(text));
    let settings = Settings {
        slack_bot_token: secret("xoxb-1"),
        slack_signing_secret: secret("8f742231b10e8888abcd99yyyzzz85a5"),
        ..dev()
    };
    let world = World::with(settings).await;
    let at = |seconds: u64| (world.now().plus_seconds(seconds).millis() / 1000).to_string();
    let signed = |time: &str| {
        let caller = world.anonymous().header("x-slack-request-timestamp", time);
        caller.header("x-slack-signature", &format!("v0={}", "0".repeat(64)))
    };
    let (late, forged) = (signed(&at(301)), signed(&at(0)));
    make_all(vec![
        raw(
            "no signature",
            &world.anonymous(),
            SLACK,
            "{}",
            401,
            "expected one x-slack-request-timestamp",
        ),
        raw(
            "clock skew",
            &late,
            SLACK,
            "{}",
            401,
            "x-slack-request-timestamp differs from the current time by more than five minutes; \
             check the clocks",
        ),
        raw(
            "bad signature",
            &forged,
            SLACK,
            "{}",
            401,
            "the signature does not match the signing secret",
        ),
        raw(
            "channel that is not configured",
            &world.anonymous(),
            "/channels/telegram/update",
            "{}",
            404,
            "this channel is not configured on this server",
        ),
    ])
    .await;
    world.end().await;
}

/// Settings with which the server does not start.
#[tokio::test]
async fn mistakes_in_settings() {
    let text = |text: &str| Some(text.to_owned());
    let secret = |text: &str| Some(SecretString::new(text));
    for (settings, expected) in vec![
        (
            Settings { listen: text("0.0.0.0:3402"), ..Settings::default() },
            "refusing to listen on 0.0.0.0:3402 without TLS: set tls_cert and tls_key, or set \
             allow_plain_http if a reverse proxy terminates TLS",
        ),
        (
            Settings { listen: text("0.0.0.0:3402"), ..dev() },
            "--dev uses publicly known credentials, so it can listen on a loopback address only, \
             such as 127.0.0.1:3402",
        ),
        (
            Settings { listen: text("localhost"), ..Settings::default() },
            "listen: expected HOST:PORT such as 0.0.0.0:3402, not localhost: invalid socket address \
             syntax",
        ),
        (
            Settings { public_url: "https://ask.example.com/app".parse().ok(), ..dev() },
            "public_url: expected an http or https URL without a path, such as \
             https://ask.example.com, not https://ask.example.com/app",
        ),
        (
            Settings { tls_cert: Some("cert.pem".into()), ..Settings::default() },
            "tls_cert and tls_key must be set together",
        ),
        (Settings { body_limit: Some(10), ..dev() }, "body_limit: expected at least 4096 bytes"),
        (
            Settings { telegram_webhook_secret: secret("s"), ..dev() },
            "telegram_token is required; @BotFather shows it",
        ),
        (
            Settings { oidc_client_id: text("countersign"), ..dev() },
            "oidc_issuer and oidc_client_id must be set together",
        ),
        (
            Settings { mail_replies: text("ask@example.com"), ..dev() },
            "mail_replies requires a way to receive email: set imap_url, mail_listen or \
             mail_inbound",
        ),
    ] {
        let refused = settings.check().map(drop).unwrap_err();
        assert_eq!(format!("{refused:#}"), expected);
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("countersign.toml");
    std::fs::write(&file, "dev = true\npublic-url = \"https://ask.example.com\"\n").unwrap();
    let refused = Settings::default().complete(Some(&file)).map(drop).unwrap_err();
    assert_eq!(
        refused.root_cause().to_string(),
        "line 2: unknown setting public-url; did you mean \"public_url\"?; \
         docs/configuration.md lists all settings"
    );
}
