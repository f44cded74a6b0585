//! People whose tokens somebody else issues.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};
use server::config::Settings;

use crate::client::{approve, with};
use crate::world::{World, dev};

const KEY: &str = include_str!("fixtures/jwt-test-key.pem");
const OTHER_KEY: &str = include_str!("fixtures/jwt-other-key.pem");
const JWKS: &str = include_str!("fixtures/jwks.json");

/// A dev server that takes tokens of `https://id.example`, with Ada among its people.
async fn world() -> World {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/fixtures");
    let world = World::with(Settings {
        jwt_issuer: Some("https://id.example".to_owned()),
        jwt_audience: Some("countersign".to_owned()),
        jwt_jwks: Some(format!("{fixtures}/jwks.json")),
        ..dev()
    })
    .await;
    let ada = json!({ "id": "ada", "email": "ada@example.com", "projects": ["dev"] });
    world.human().save("people", ada).await.saved();
    world
}

/// What a good token says.
fn claims(world: &World) -> Value {
    let now = world.now().millis() / 1000;
    json!({
        "iss": "https://id.example", "aud": "countersign", "sub": "ada",
        "iat": now, "exp": now + 300,
    })
}

fn header(kid: &str) -> Header {
    Header { kid: Some(kid.to_owned()), ..Header::new(Algorithm::EdDSA) }
}

fn signed(header: &Header, claims: &Value, key: &str) -> String {
    encode(header, claims, &EncodingKey::from_ed_pem(key.as_bytes()).unwrap()).unwrap()
}

fn token(claims: &Value) -> String {
    signed(&header("test-1"), claims, KEY)
}

async fn refused(world: &World, token: &str, why: &str) {
    let reply = world.bearer(token).inbox("").await;
    assert_eq!(reply.status, 401, "{why}: {}", reply.text);
    assert_eq!(reply["error"], "unauthorized", "{why}");
}

/// An issuer dates its tokens by real time, wherever the server's own clock was moved to.
#[tokio::test]
async fn a_moved_clock_does_not_end_a_token() {
    let world = world().await;
    let token = token(&claims(&world));
    world.agent().post("/api/v1/dev/clock", json!({ "advance": "24h" })).await.is(200);
    assert_eq!(world.bearer(&token).get("/api/v1/me").await.is(200)["id"], "ada");
    world.advance(301);
    refused(&world, &token, "it has expired").await;
    world.end().await;
}

/// HXPX-004: `sub` is the person's id, or a verified `email` their address.
#[tokio::test]
async fn a_token_of_the_issuer_is_a_person() {
    let world = world().await;
    let by_id = claims(&world);
    let email = json!({ "sub": "auth0|77", "email": "ada@example.com", "email_verified": true });
    let by_email = with(claims(&world), email);
    let several = with(claims(&world), json!({ "aud": ["other", "countersign"] }));
    for claims in [by_id, by_email, several] {
        let ada = world.bearer(&token(&claims));
        let me = ada.get("/api/v1/me").await.is(200);
        assert_eq!((&me["kind"], &me["id"]), (&json!("human"), &json!("ada")));
        let id = world.agent().ask(with(approve("x"), json!({ "role": "pool" }))).await;
        ada.resolve(&id, json!({ "result": "approved" })).await.is(200);
        // A person all the same: agent calls are not theirs.
        ada.list("").await.error(401, "unauthorized");
    }
    // Our own tokens still work beside them.
    world.human().inbox("").await.is(200);
    world.end().await;
}

/// HXPX-003, HXPX-004: claims that do not fit.
#[tokio::test]
async fn tokens_for_others_are_refused() {
    let world = world().await;
    let now = world.now().millis() / 1000;
    for (why, more) in [
        ("another issuer", json!({ "iss": "https://evil.example" })),
        ("another audience", json!({ "aud": "shop" })),
        ("no audience", json!({ "aud": null })),
        ("no issuer", json!({ "iss": null })),
        ("run out", json!({ "exp": now })),
        ("not yet", json!({ "nbf": now + 3600 })),
        ("no expiry", json!({ "exp": null })),
        ("nobody we know", json!({ "sub": "eve" })),
        ("an agent's name", json!({ "sub": "agent_dev" })),
        (
            "an unverified address",
            json!({
                "sub": "x", "email": "ada@example.com", "email_verified": false,
            }),
        ),
        ("an address nobody vouches for", json!({ "sub": "x", "email": "ada@example.com" })),
        (
            "an address we do not know",
            json!({
                "sub": "x", "email": "eve@example.com", "email_verified": true,
            }),
        ),
    ] {
        refused(&world, &token(&with(claims(&world), more)), why).await;
    }
    world.end().await;
}

/// HXPX-003: signatures that prove nothing.
#[tokio::test]
async fn forged_tokens_are_refused() {
    let world = world().await;
    let claims = claims(&world);
    refused(&world, &signed(&header("test-1"), &claims, OTHER_KEY), "another key").await;
    refused(&world, &signed(&header("test-2"), &claims, KEY), "an unknown key id").await;
    // The public key as a shared secret.
    let jwks: Value = serde_json::from_str(JWKS).unwrap();
    let public = jwks["keys"][0]["x"].as_str().unwrap();
    for secret in [BASE64_URL_SAFE_NO_PAD.decode(public).unwrap(), public.as_bytes().to_vec()] {
        let header = Header { kid: Some("test-1".to_owned()), ..Header::new(Algorithm::HS256) };
        let forged = encode(&header, &claims, &EncodingKey::from_secret(&secret)).unwrap();
        refused(&world, &forged, "HS256").await;
    }
    let part = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let none = format!("{}.{}.", part(&json!({ "alg": "none", "kid": "test-1" })), part(&claims));
    refused(&world, &none, "alg none").await;
    let good = token(&claims);
    let (front, signature) = good.rsplit_once('.').unwrap();
    refused(&world, front, "no signature").await;
    refused(&world, &format!("{front}."), "an empty signature").await;
    let head = front.split_once('.').unwrap().0;
    let other = part(&with(claims, json!({ "sub": "user_dev" })));
    refused(&world, &format!("{head}.{other}.{signature}"), "other claims").await;
    refused(&world, "a.b.c", "nonsense").await;
    world.bearer(&good).inbox("").await.is(200);
    world.end().await;
}

/// HXPX-003: a token runs out by the server's clock; who was deactivated is not let in.
#[tokio::test]
async fn a_token_runs_out() {
    let world = world().await;
    let good = token(&claims(&world));
    world.advance(299);
    world.bearer(&good).inbox("").await.is(200);
    world.advance(1);
    refused(&world, &good, "run out").await;
    let fresh = token(&claims(&world));
    let left = json!({ "id": "ada", "email": "ada@example.com", "active": false });
    world.human().save("people", left).await.saved();
    refused(&world, &fresh, "deactivated").await;
    world.end().await;
}

/// When the issuer's keys cannot be read, that is said as what it is.
#[tokio::test]
async fn without_the_issuers_keys_nobody_can_tell() {
    let world = World::with(Settings {
        jwt_issuer: Some("https://id.example".to_owned()),
        jwt_audience: Some("countersign".to_owned()),
        jwt_jwks: Some("/nowhere/jwks.json".to_owned()),
        ..dev()
    })
    .await;
    let good = token(&claims(&world));
    let unknown = world.bearer(&good).inbox("").await.error(503, "unavailable");
    assert_eq!(unknown.header("retry-after"), "5");
    world.bearer(&good).get("/api/v1/keys").await.problem(503, "unavailable");
    world.human().inbox("").await.is(200);
    world.end().await;
}

/// A token that demands what we do not know, is something else than a credential, or is signed with
/// a key that is for something else.
#[tokio::test]
async fn tokens_and_keys_are_for_what_they_say() {
    let public = serde_json::from_str::<Value>(JWKS).unwrap()["keys"][0].clone();
    let key = |kid: &str, more: Value| {
        let mut key = public.clone();
        let key = key.as_object_mut().unwrap();
        for name in ["use", "alg"] {
            key.remove(name);
        }
        key.insert("kid".to_owned(), kid.into());
        key.extend(more.as_object().unwrap().clone());
        Value::Object(key.clone())
    };
    let fit = [
        key("bare", json!({})),
        key("sig", json!({ "use": "sig" })),
        key("verify", json!({ "key_ops": ["verify"] })),
        key("all", json!({ "use": "sig", "key_ops": ["verify"], "alg": "EdDSA" })),
        // Two keys of one name, of which one fits.
        key("twice", json!({ "use": "enc" })),
        key("twice", json!({ "use": "sig" })),
    ];
    let unfit = [
        key("enc", json!({ "use": "enc" })),
        key("other", json!({ "use": "tls" })),
        key("sign", json!({ "key_ops": ["sign"] })),
        key("wrap", json!({ "key_ops": ["wrapKey", "encrypt"] })),
        key("none", json!({ "key_ops": [] })),
        key("alg", json!({ "alg": "ES256" })),
        key("unknown-alg", json!({ "alg": "XX512" })),
        key("mixed", json!({ "use": "enc", "key_ops": ["verify"], "alg": "EdDSA" })),
    ];
    let keys: Vec<&Value> = fit.iter().chain(&unfit).collect();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), json!({ "keys": keys }).to_string()).unwrap();
    let world = World::with(Settings {
        jwt_issuer: Some("https://id.example".to_owned()),
        jwt_audience: Some("countersign".to_owned()),
        jwt_jwks: Some(file.path().display().to_string()),
        ..dev()
    })
    .await;
    let ada = json!({ "id": "ada", "email": "ada@example.com", "projects": ["dev"] });
    world.human().save("people", ada).await.saved();
    let claims = claims(&world);
    for key in &fit {
        let kid = key["kid"].as_str().unwrap();
        let reply = world.bearer(&signed(&header(kid), &claims, KEY)).inbox("").await;
        assert_eq!(reply.status, 200, "{kid}: {}", reply.text);
    }
    for key in &unfit {
        let kid = key["kid"].as_str().unwrap();
        refused(&world, &signed(&header(kid), &claims, KEY), kid).await;
    }
    for typ in ["JWT", "jwt", "at+jwt", "application/at+jwt"] {
        let header = Header { typ: Some(typ.to_owned()), ..header("sig") };
        world.bearer(&signed(&header, &claims, KEY)).inbox("").await.is(200);
    }
    for typ in ["logout+jwt", "dpop+jwt", "JOSE", ""] {
        let header = Header { typ: Some(typ.to_owned()), ..header("sig") };
        refused(&world, &signed(&header, &claims, KEY), typ).await;
    }
    for crit in [vec!["exp"], vec!["b64"], vec!["https://example.com/must"], vec![]] {
        let crit = Some(crit.into_iter().map(str::to_owned).collect());
        refused(&world, &signed(&Header { crit, ..header("sig") }, &claims, KEY), "crit").await;
    }
    world.end().await;
}
