//! The document that describes our own API.

use std::collections::BTreeSet;

use kernel::HumanId;
use kernel::directory::ContactMethod;
use reqwest::Method;
use serde_json::{Map, Value, json};

use crate::client::{Client, Reply};
use crate::native::asked;
use crate::world::World;

fn document() -> Value {
    serde_json::to_value(server::http::api::document()).unwrap()
}

/// Method, path and operation.
fn operations(document: &Value) -> Vec<(String, String, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    let each = paths.iter().flat_map(|(path, item)| {
        let methods = item.as_object().unwrap().iter();
        methods.map(move |(method, operation)| (method.clone(), path.clone(), operation))
    });
    each.collect()
}

#[test]
fn the_document_is_reviewed_when_it_changes() {
    insta::assert_json_snapshot!("openapi", document());
}

/// Every name of several words that a caller may send is accepted with `_` and with `-`.
#[test]
fn names_of_several_words_have_two_spellings() {
    fn collect(
        document: &Value,
        at: &Value,
        seen: &mut BTreeSet<String>,
        to: &mut BTreeSet<String>,
    ) {
        match at {
            Value::Object(members) => {
                if let Some(place) = at["$ref"].as_str()
                    && seen.insert(place.to_owned())
                {
                    let there = document.pointer(place.trim_start_matches('#')).unwrap();
                    collect(document, there, seen, to);
                }
                if at["type"] == "string" {
                    let words = at["enum"].as_array().into_iter().flatten();
                    let words = words.chain(at.get("const")).filter_map(Value::as_str);
                    to.extend(words.map(str::to_owned));
                }
                members.values().for_each(|value| collect(document, value, seen, to));
            }
            Value::Array(items) => items.iter().for_each(|item| collect(document, item, seen, to)),
            _ => {}
        }
    }
    let document = document();
    let (mut seen, mut words) = (BTreeSet::new(), BTreeSet::new());
    for (_, _, operation) in operations(&document) {
        collect(&document, &operation["requestBody"]["content"], &mut seen, &mut words);
        collect(&document, &operation["parameters"], &mut seen, &mut words);
    }
    let several: BTreeSet<String> =
        words.into_iter().filter(|word| word.contains(['-', '_'])).collect();
    let other =
        several.iter().map(|word| kernel::spelling::other_separator(word)).collect::<BTreeSet<_>>();
    let accepted = kernel::spelling::ALIASES.iter().map(|word| (*word).to_owned());
    assert_eq!(other, accepted.collect(), "in the document on the left, accepted on the right");
}

/// Every route of our own API is described, and nothing else is.
#[test]
fn every_route_is_described() {
    let document = document();
    let described: BTreeSet<(String, String)> =
        operations(&document).into_iter().map(|(method, path, _)| (method, path)).collect();
    let routes: BTreeSet<(String, String)> = crate::routes::routes_under("/api/v1/");
    assert_eq!(described, routes, "in the document on the left, in the table on the right");
}

/// What every operation says: a name of its own, a summary, who may call, and all its problems.
#[test]
fn every_operation_is_whole() {
    let document = document();
    assert_eq!(document["openapi"], "3.1.0");
    let mut names = BTreeSet::new();
    for (method, path, operation) in operations(&document) {
        let name = operation["operationId"].as_str().unwrap().to_owned();
        assert!(names.insert(name.clone()), "{name} is there twice");
        assert!(!operation["summary"].as_str().unwrap().is_empty(), "{name}");
        assert!(!operation["security"].as_array().unwrap().is_empty(), "{name}");
        let responses = operation["responses"].as_object().unwrap();
        for (status, response) in responses.iter().filter(|(status, _)| status.as_str() >= "400") {
            let shared = response.get("$ref").and_then(Value::as_str);
            let place = shared.map(|place| place.trim_start_matches('#'));
            let response = place.map_or(response, |place| document.pointer(place).unwrap());
            let kinds: Vec<&String> = response["content"].as_object().unwrap().keys().collect();
            assert_eq!(kinds, ["application/problem+json"], "{method} {path} {status}");
        }
        for status in ["400", "429", "500", "503"] {
            assert!(responses.contains_key(status), "{name} has no {status}");
        }
        let open = crate::routes::is_public(&method, &path);
        assert_eq!(responses.contains_key("401"), !open, "{name}");
        assert_eq!(operation["security"] == json!([{}]), open, "{name}");
        // Where one kind of credential is needed, the other one is told so.
        let one_kind = !open && operation["security"].as_array().unwrap().len() == 1;
        assert!(!one_kind || responses.contains_key("403"), "{name}");
        let missing = path.contains('{')
            || ["createAsk", "getInsights"].contains(&name.as_str())
            || operation["tags"][0] == "testing";
        assert_eq!(responses.contains_key("404"), missing, "{name}");
        let body = operation.get("requestBody").is_some();
        assert!(!body || responses.contains_key("413"), "{name}");
        let kind = operation.pointer("/requestBody/content/application~1json");
        assert!(kind.is_none_or(|kind| kind.get("example").is_some()), "{name} has no example");
    }
    // Every reference leads somewhere.
    let mut wrong = Vec::new();
    references(&document, &mut |place| {
        if document.pointer(place.trim_start_matches('#')).is_none() {
            wrong.push(place.to_owned());
        }
    });
    assert_eq!(wrong, Vec::<String>::new());
}

fn references(value: &Value, each: &mut impl FnMut(&str)) {
    match value {
        Value::Object(members) => {
            if let Some(place) = members.get("$ref").and_then(Value::as_str) {
                each(place);
            }
            members.values().for_each(|value| references(value, each));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, each)),
        _ => {}
    }
}

/// The examples of bodies are true: each is taken by the server as it stands there.
#[tokio::test]
async fn examples_are_taken() {
    let world = World::dev().await;
    world.add_to_group("user_dev", "ops").await;
    crate::conversations::opened(&world).await;
    let document = document();
    let timed = json!({
        "question": { "prompt": "Deploy?", "kind": "approve" },
        "timeout_seconds": 3600, "on_expiry": "fail",
        "hxp": crate::envelope_asks::envelope(),
    });
    let mut tried = 0;
    for (method, path, operation) in operations(&document) {
        let body = operation.pointer("/requestBody/content/application~1json/example");
        let Some(body) = body else { continue };
        let ask = asked(&world.agent(), timed.clone()).await;
        let id = match path.split('/').nth(3).unwrap() {
            "asks" => ask.rsplit_once('/').unwrap().1.to_owned(),
            "webhooks" if path.contains("{id}") => {
                let made = crate::webhooks::endpoint(&world, "https://agent.example/", json!({}));
                made.await["id"].as_str().unwrap().to_owned()
            }
            "me" if path.contains("{id}") => sent_code(&world).await,
            _ => parameter(operation, "id"),
        };
        // Only what is over has a receipt to revoke.
        if operation["operationId"] == "revokeReceipt" {
            world.agent().post(&format!("{ask}/cancel"), json!({})).await.is(200);
        }
        let who = caller(&world, operation);
        let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
        let reply = Reply::of(who.request(method, &path.replace("{id}", &id)).json(body)).await;
        assert!(matches!(reply.status, 200 | 201 | 204), "{path}: {}", reply.text);
        tried += 1;
    }
    // Nobody is there to be told.
    for endpoint in world.human().get("/api/v1/webhooks").await["webhooks"].as_array().unwrap() {
        let path = format!("/api/v1/webhooks/{}", endpoint["id"].as_str().unwrap());
        world.human().delete(&path).await.is(204);
    }
    world.advance(60);
    assert!(tried >= 12, "{tried}");
    world.end().await;
}

/// Has a code sent, as the examples have it; the id of the address.
async fn sent_code(world: &World) -> String {
    let means = ContactMethod::email("ada@example.com").digest();
    let human: HumanId = "user_dev".parse().unwrap();
    let hash = world.app().core.secrets.code_hash(&human, &means, "042137");
    let expires_at = world.now().plus_seconds(600);
    let code = store::VerificationCode { human, means, hash, expires_at };
    world.gateway().store().put_code(code).await.unwrap();
    means.to_string()
}

fn caller(world: &World, operation: &Value) -> Client {
    let schemes = operation["security"].as_array().unwrap();
    let names: Vec<&String> =
        schemes.iter().flat_map(|scheme| scheme.as_object().unwrap().keys()).collect();
    if names.iter().any(|name| *name == "agent_key") { world.agent() } else { world.human() }
}

fn parameter(operation: &Value, name: &str) -> String {
    let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
    let found = parameters.iter().find(|parameter| parameter["name"] == name);
    found.and_then(|found| found["example"].as_str()).unwrap_or_default().to_owned()
}

/// What agents and people are shown has exactly the fields the document says.
#[tokio::test]
async fn an_ask_looks_as_described() {
    let world = World::dev().await;
    let document = document();
    let path = asked(&world.agent(), crate::native::approval()).await;
    world.human().post(&format!("{path}/answer"), crate::native::yes()).await.is(200);
    let ask = world.agent().get(&path).await.is(200);
    for (value, name) in [(&ask.json, "Ask"), (&ask["result"], "AskResult")] {
        let fields = |object: &Map<String, Value>| object.keys().cloned().collect::<BTreeSet<_>>();
        let described = &document["components"]["schemas"][name]["properties"];
        assert_eq!(fields(value.as_object().unwrap()), fields(described.as_object().unwrap()));
    }
    world.end().await;
}
