//! Bad input: each gets its documented error, changes nothing, ends nothing, and leaves no secret
//! in the log.

use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, COOKIE, SET_COOKIE};
use serde_json::{Value, json};

use super::agent::{AGENT, Caller, HUMAN, answer, signed_in_with};
use super::support::{Server, serve, verify};

/// Words that stand for what must never be logged.
const SECRET_ANSWER: &str = "correct-horse-battery-staple";
const WRONG_KEY: &str = "a-key-nobody-made";

/// A body, the status it gets and the code that goes with it.
type Case = (&'static str, Vec<u8>, u16, &'static str);

fn create(name: &'static str, change: &Value, status: u16, code: &'static str) -> Case {
    let mut body =
        json!({ "action": "DECIDE", "payload": { "question": "?", "options": ["a", "b"] } });
    for (key, value) in change.as_object().unwrap() {
        body[key] = value.clone();
    }
    (name, body.to_string().into_bytes(), status, code)
}

fn decide(name: &'static str, change: &Value) -> Case {
    let mut payload = json!({ "question": "?", "options": ["a", "b"] });
    for (key, value) in change.as_object().unwrap() {
        payload[key] = value.clone();
    }
    create(name, &json!({ "payload": payload }), 400, "invalid_payload")
}

fn provide(name: &'static str, change: &Value) -> Case {
    let mut payload = json!({ "prompt": "?", "input_type": "text" });
    for (key, value) in change.as_object().unwrap() {
        payload[key] = value.clone();
    }
    create(name, &json!({ "action": "PROVIDE", "payload": payload }), 400, "invalid_payload")
}

fn bad_creates() -> Vec<Case> {
    let raw = |name, body: &[u8], status, code| (name, body.to_vec(), status, code);
    let mut deep = vec![b'['; 100_000];
    deep.extend(vec![b']'; 100_000]);
    vec![
        raw("nothing", b"", 400, "invalid_json"),
        raw("half an object", b"{\"action\": ", 400, "invalid_json"),
        raw("no JSON", b"action=DECIDE", 400, "invalid_json"),
        raw("not UTF-8", b"{\"action\": \"\xff\xfe\"}", 400, "invalid_json"),
        raw("half a surrogate", br#"{"action": "\ud800"}"#, 400, "invalid_json"),
        raw("very deep", &deep, 400, "invalid_json"),
        raw("a list", b"[]", 400, "invalid_body"),
        raw("null", b"null", 400, "invalid_body"),
        raw("a number", b"7", 400, "invalid_body"),
        raw("larger than taken", &vec![b' '; (1 << 20) + 1], 413, "too_large"),
        raw("no action", b"{}", 400, "invalid_action"),
        create("an unknown action", &json!({ "action": "SIGN" }), 400, "invalid_action"),
        create("an action in lower case", &json!({ "action": "decide" }), 400, "invalid_action"),
        create("an action of the wrong type", &json!({ "action": 1 }), 400, "invalid_action"),
        create("an unknown role", &json!({ "role": "boss" }), 400, "invalid_role"),
        create("a role of the wrong type", &json!({ "role": ["owner"] }), 400, "invalid_role"),
        create("an unknown priority", &json!({ "priority": "urgent" }), 400, "invalid_priority"),
        create("an unknown fallback", &json!({ "fallback": "approve" }), 400, "invalid_fallback"),
        create("a negative timeout", &json!({ "timeout_seconds": -1 }), 400, "invalid_timeout"),
        create("a huge timeout", &json!({ "timeout_seconds": u64::MAX }), 400, "invalid_timeout"),
        create("a timeout in words", &json!({ "timeout_seconds": "60" }), 400, "invalid_timeout"),
        create("half a second", &json!({ "timeout_seconds": 0.5 }), 400, "invalid_timeout"),
        raw(
            "a timeout beyond floats",
            br#"{"action":"DECIDE","payload":{"question":"?","options":["a","b"]},"timeout_seconds":1e999}"#,
            400,
            "invalid_json",
        ),
        create("an agent id of the wrong type", &json!({ "agent_id": 7 }), 400, "invalid_agent_id"),
        create("a long project", &json!({ "project_id": "x".repeat(201) }), 400, "invalid_project_id"),
        create("metadata as text", &json!({ "metadata": "x" }), 400, "invalid_metadata"),
        create("NUL in metadata", &json!({ "metadata": { "a": "\0" } }), 400, "invalid_metadata"),
        create("no payload", &json!({ "payload": null }), 400, "invalid_payload"),
        create("a payload as a list", &json!({ "payload": [] }), 400, "invalid_payload"),
        decide("an empty question", &json!({ "question": "  " })),
        decide("a question of the wrong type", &json!({ "question": 5 })),
        decide("one option", &json!({ "options": ["a"] })),
        decide("seven options", &json!({ "options": ["1", "2", "3", "4", "5", "6", "7"] })),
        decide("the same option twice", &json!({ "options": ["a", "a"] })),
        decide("an option that is no text", &json!({ "options": ["a", 2] })),
        decide("options as text", &json!({ "options": "a,b" })),
        decide("a default that is no option", &json!({ "default_option": "c" })),
        decide("501 characters of context", &json!({ "context": "ä".repeat(501) })),
        decide("NUL in the question", &json!({ "question": "a\0b" })),
        create("a default that is not there", &json!({ "fallback": "default" }), 400, "invalid_payload"),
        provide("an unknown input type", &json!({ "input_type": "colour" })),
        provide("a pattern that is none", &json!({ "validation": { "pattern": "(" } })),
        provide("a selection of nothing", &json!({ "input_type": "selection", "validation": { "allowed_values": [] } })),
        create("details as a list", &json!({ "action": "APPROVE", "payload": { "item": "?", "details": [] } }),
            400,
            "invalid_payload",
        ),
    ]
}

#[tokio::test]
async fn bad_input_gets_its_error_and_nothing_else() {
    let data = tempfile::tempdir().unwrap();
    let mut command = serve(data.path());
    command.args(["--dev", "--log-level", "debug"]);
    let server = Server::start(&mut command);
    let caller = Caller::of(&server);
    let asked = caller.ask("Deploy?").await.unwrap().1;
    let secrets = secret_question(&caller).await;

    for (name, body, status, code) in bad_creates() {
        let request = caller.request(Method::POST, "/hxp/v1/requests", AGENT);
        let request = request.header(CONTENT_TYPE, "application/json").body(body);
        expect(name, request, status, code).await;
    }
    bad_credentials(&caller, &asked).await;
    bad_answers(&caller, &asked, &secrets).await;
    let cookie = bad_pages(&caller, &server, &asked).await;

    assert_eq!(caller.total().await, 2, "something was made");
    // What is odd but allowed is kept as it was written.
    let odd = "Send to \u{202e}moc.elpmaxe\u{200b}?";
    let (status, id) = caller.ask(odd).await.unwrap();
    assert_eq!(status, 201);
    assert_eq!(caller.poll(&id).await["payload"]["item"], odd);

    let log = server.stderr();
    assert!(log.lines().count() > 40, "the log is silent: {log}");
    assert!(log.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    let printed = server.stdout();
    let link = printed.rsplit_once("token=").unwrap().1.lines().next().unwrap();
    for secret in [AGENT, HUMAN, WRONG_KEY, SECRET_ANSWER, &cookie, link, "token="] {
        assert!(!log.contains(secret), "the log tells {secret}");
    }
    assert!(!printed.contains(SECRET_ANSWER) && !printed.contains(&cookie));
    assert!(!log.contains("panic"), "{log}");
    server.stop();
    assert_eq!(verify(data.path()).0, Some(0));
}

async fn secret_question(caller: &Caller) -> String {
    let body = json!({
        "action": "PROVIDE",
        "payload": { "prompt": "The passphrase?", "input_type": "text", "validation": { "max": 40 } },
    });
    let (status, created) = caller.post("/hxp/v1/requests", AGENT, &body).await.unwrap();
    assert_eq!(status, 201, "{created}");
    created["request_id"].as_str().unwrap().to_owned()
}

/// Wrong, missing and swapped credentials; what belongs to another project is not there.
async fn bad_credentials(caller: &Caller, asked: &str) {
    let body = json!({ "action": "APPROVE", "payload": { "item": "?" } });
    let poll = format!("/hxp/v1/requests/{asked}");
    let resolve = format!("{poll}/resolve");
    for wrong in [WRONG_KEY, HUMAN, "", "dev-agent-key\u{e4}", "DEV-AGENT-KEY"] {
        let request = caller.request(Method::POST, "/hxp/v1/requests", wrong).json(&body);
        expect("create", request, 401, "unauthorized").await;
        expect("poll", caller.request(Method::GET, &poll, wrong), 401, "unauthorized").await;
    }
    for wrong in [WRONG_KEY, AGENT] {
        let answer = json!({ "result": "approved" });
        let request = caller.request(Method::POST, &resolve, wrong).json(&answer);
        expect("resolve", request, 401, "unauthorized").await;
        let request = caller.request(Method::GET, "/hxp/v1/inbox", wrong);
        expect("inbox", request, 401, "unauthorized").await;
    }
    let other = caller.request(Method::GET, &poll, "dev-agent-key-2");
    expect("another project's", other, 404, "not_found").await;
    let other = caller.request(Method::POST, &format!("{poll}/cancel"), "dev-agent-key-2");
    expect("another project's", other, 404, "not_found").await;
    let other = caller.request(Method::POST, &resolve, "dev-human-token-2");
    let other = other.json(&json!({ "result": "approved" }));
    expect("somebody else's", other, 404, "not_found").await;
    for id in ["hxp_nothing", "%00", "..%2f..", "hxp_01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
        let request = caller.request(Method::GET, &format!("/hxp/v1/requests/{id}"), AGENT);
        expect(id, request, 404, "not_found").await;
    }
    // The query of a WebSocket carries a key; this is no upgrade, so it is only refused.
    let socket = caller.request(Method::GET, &format!("/hxp/ws/{asked}?token={WRONG_KEY}"), "");
    expect("a socket with a wrong key", socket, 401, "unauthorized").await;
    let socket = caller.request(Method::GET, &format!("/hxp/ws/{asked}?token={AGENT}"), "");
    expect("a socket that is none", socket, 400, "invalid_body").await;
    for (query, code) in [
        ("limit=x", "invalid_limit"),
        ("limit=0", "invalid_limit"),
        ("status=open", "invalid_status"),
        ("cursor=%00", "invalid_cursor"),
    ] {
        let request = caller.request(Method::GET, &format!("/hxp/v1/requests?{query}"), AGENT);
        expect(query, request, 400, code).await;
    }
    let wrong = caller.request(Method::PUT, "/hxp/v1/requests", AGENT);
    expect("a method it has not", wrong, 405, "method_not_allowed").await;
    let nowhere = caller.request(Method::GET, "/hxp/v2/requests", AGENT);
    expect("no route", nowhere, 404, "not_found").await;
}

/// Answers that do not answer, and answers that come too late.
async fn bad_answers(caller: &Caller, asked: &str, secrets: &str) {
    let send = |id: &str, body: Value| {
        caller.request(Method::POST, &format!("/hxp/v1/requests/{id}/resolve"), HUMAN).json(&body)
    };
    expect("no result", send(asked, json!({})), 400, "missing_result").await;
    expect("null", send(asked, json!({ "result": null })), 400, "missing_result").await;
    for wrong in [json!("yes"), json!(true), json!(["approved"]), json!({ "a": 1 })] {
        expect("a mismatch", send(asked, json!({ "result": wrong })), 422, "invalid_result").await;
    }
    for wrong in [json!(""), json!(format!("{SECRET_ANSWER}{SECRET_ANSWER}")), json!(7)] {
        let request = send(secrets, json!({ "result": wrong }));
        expect("a value that does not fit", request, 422, "invalid_result").await;
    }
    assert_eq!(caller.poll(asked).await["status"], "pending");

    let (status, _) = caller.resolve(secrets, SECRET_ANSWER).await.unwrap();
    assert_eq!(status, 200);
    assert_eq!(caller.poll(secrets).await["receipt"]["result"], SECRET_ANSWER);
    let again = send(secrets, json!({ "result": SECRET_ANSWER }));
    expect("a second answer", again, 409, "conflict").await;
}

/// Forms without a session or its token, and a sign-in link that is none. Gives a session's secret.
async fn bad_pages(caller: &Caller, server: &Server, asked: &str) -> String {
    let form = "application/x-www-form-urlencoded";
    let post = |path: &str, body: String| {
        caller.request(Method::POST, path, "").header(CONTENT_TYPE, form).body(body)
    };
    let status = async |request: reqwest::RequestBuilder| request.send().await.unwrap().status();
    assert_eq!(status(post("/sign-in", format!("token={WRONG_KEY}"))).await, 401);
    let said = server.stdout();
    let link = said.rsplit_once("token=").unwrap().1.lines().next().unwrap().to_owned();
    // Looking decides nothing: the link still works afterwards.
    let look = caller.request(Method::GET, &format!("/sign-in?token={link}"), "");
    assert_eq!(status(look).await, 200);
    assert_eq!(status(post("/sign-in", format!("token={link}"))).await, 403, "no form of ours");
    let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build();
    let url = server.url.replace("localhost", "127.0.0.1");
    let signed_in = signed_in_with(&http.unwrap(), &url, &link).await;
    let kept = signed_in.headers().get_all(SET_COOKIE).iter();
    let kept: Vec<&str> =
        kept.map(|line| line.to_str().unwrap().split(';').next().unwrap()).collect();
    let (_, secret) = kept[0].split_once('=').unwrap();
    assert_eq!(status(post("/sign-in", format!("token={link}"))).await, 401, "it works once");

    let native = asked.replacen("hxp_", "ask_", 1);
    let approve = "verdict=approved".to_owned();
    let forged = post(&format!("/asks/{native}/answer"), approve).header(COOKIE, kept.join("; "));
    let refused = status(forged).await;
    assert_eq!(refused, 403, "an answer without the form's token");
    assert_eq!(caller.poll(asked).await["receipt"], Value::Null);
    secret.to_owned()
}

async fn expect(name: &str, request: reqwest::RequestBuilder, status: u16, code: &str) {
    let (got, said) = answer(request).await.unwrap();
    assert_eq!((got, said["error"].as_str()), (status, Some(code)), "{name}: {said}");
    let message = said["message"].as_str().unwrap_or_default();
    assert!(!message.is_empty() && !message.contains(SECRET_ANSWER), "{name}: {said}");
}
