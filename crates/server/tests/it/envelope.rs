//! HXP eXperience messages over HTTP, judged for anybody.

use scraper::{Html, Selector};
use serde_json::{Value, json};
use server::config::Settings;
use server::http::envelope_checker::MAX_MESSAGE_BYTES;

use crate::world::{World, dev};

const VALIDATE: &str = "/envelope/v1/validate";

fn message() -> Value {
    json!({
        "hxp": {
            "version": "1.0.0",
            "intent": "decide",
            "delivery": { "verbosity": "low", "language": "not a tag!!" },
            "transparency": { "confidence": 0.5 },
            "actions": [],
            "later": 1,
        },
        "content": "Take the ferry.",
    })
}

/// HXPE-038, HXPE-041, HXPE-042, HXPE-049, HXPE-058: no credential, a verdict for any JSON.
#[tokio::test]
async fn any_json_gets_a_verdict() {
    let world = World::dev().await;
    let anybody = world.anonymous();
    let reply = anybody.post(VALIDATE, message()).await.is(200);
    assert_eq!((&reply["valid"], &reply["level"]), (&json!(true), &json!("core")));
    assert_eq!(reply["errors"], json!([]));
    assert_eq!(reply["warnings"][0]["rule"], "HXPE-015");
    assert_eq!(reply["warnings"][0]["instancePath"], "/hxp/delivery/language");
    for query in ["strict=true", "strict=1", "strict", "strict=true&level=core"] {
        let reply = anybody.post(&format!("{VALIDATE}?{query}"), message()).await.is(200);
        assert_eq!((&reply["valid"], &reply["level"]), (&json!(false), &json!(null)), "{query}");
        assert_eq!(reply["errors"].as_array().unwrap().len(), 2, "{query}");
    }
    let reply = anybody.post(&format!("{VALIDATE}?level=standard"), message()).await.is(200);
    assert_eq!((&reply["valid"], reply["warnings"].as_array().unwrap().len()), (&json!(true), 10));
    for body in ["null", "[]", "1e400", "\"x\"", "{}", "{\"hxp\":1}"] {
        let reply = anybody.post_raw(VALIDATE, body).await.is(200);
        assert_eq!(reply["valid"], false, "{body}");
    }
    world.end().await;
}

/// HXPE-049: what is no JSON, too large, or asked for in words nobody knows.
#[tokio::test]
async fn what_cannot_be_judged_is_refused() {
    let world = World::dev().await;
    let anybody = world.anonymous();
    let broken: [&[u8]; 6] = [b"", b"{", b"nonsense", b"\"\xff\"", b"{} {}", b"{\"a\":01}"];
    for body in broken {
        let reply = anybody.post_raw(VALIDATE, body.to_vec()).await.problem(400, "invalid-json");
        assert!(reply["detail"].as_str().unwrap().starts_with("it is not "), "{}", reply.text);
    }
    let deep = "[".repeat(1 << 16);
    anybody.post_raw(VALIDATE, deep).await.problem(400, "invalid-json");
    for query in ["level=most", "level=", "strict=maybe", "lax=true"] {
        let reply = anybody.post(&format!("{VALIDATE}?{query}"), message()).await;
        let reply = reply.problem(422, "invalid-field");
        assert_eq!(reply["errors"][0]["field"], query.split('=').next().unwrap());
    }
    let mut large = message();
    large["content"] = json!("");
    let room = MAX_MESSAGE_BYTES - large.to_string().len();
    large["content"] = json!("x".repeat(room));
    assert_eq!(anybody.post(VALIDATE, large.clone()).await.is(200)["valid"], true);
    large["content"] = json!("x".repeat(room + 1));
    anybody.post(VALIDATE, large).await.problem(413, "too-large");
    anybody.get(VALIDATE).await.problem(405, "method-not-allowed");
    anybody.get("/envelope/v2/validate").await.problem(404, "not-found");
    world.end().await;
}

/// Whoever has messages judged too often waits, and can still sign in.
#[tokio::test]
async fn one_address_does_not_hold_up_others() {
    let world = World::with(Settings { sign_in_limit: Some(1), ..dev() }).await;
    let anybody = world.anonymous();
    let mut refused = None;
    for _ in 0..3000 {
        let reply = anybody.post_raw(VALIDATE, "1").await;
        if reply.status == 429 {
            refused = Some(reply);
            break;
        }
    }
    let refused = refused.unwrap().problem(429, "rate-limited");
    assert!(refused.header("retry-after").parse::<u64>().unwrap() >= 1);
    let page = anybody.post_form("/envelope", &[("message", "1")]).await;
    assert_eq!(page.status, 429);
    anybody.get("/sign-in").await.is(200);
    world.end().await;
}

/// HXPE-047: our own schema at a stable place.
#[tokio::test]
async fn the_schema_is_published() {
    let world = World::dev().await;
    let reply = world.anonymous().get("/envelope/v1/schema.json").await.is(200);
    assert_eq!(reply.header("content-type"), "application/schema+json");
    let validator = jsonschema::validator_for(&reply.json).unwrap();
    assert!(validator.is_valid(&message()) && !validator.is_valid(&json!({})));
    world.end().await;
}

/// HXPE-053: pages of others may read all six headers.
#[tokio::test]
async fn headers_of_both_protocols_are_exposed() {
    let world = World::dev().await;
    let page = world.anonymous().header("origin", "http://localhost:8000");
    let reply = page.post(VALIDATE, message()).await.is(200);
    let exposed = reply.header("access-control-expose-headers").to_lowercase();
    for name in [
        "hxp-status",
        "hxp-request-id",
        "hxp-intent",
        "hxp-verbosity",
        "hxp-confidence",
        "hxp-cogload",
    ] {
        assert!(exposed.contains(name), "{exposed}");
    }
    world.end().await;
}

/// HXPE-048, HXPE-058: claims are shown as claims, findings where they belong, hostile text as
/// text.
#[tokio::test]
async fn a_message_can_be_looked_at() {
    let world = World::dev().await;
    let anybody = world.anonymous();
    anybody.get("/envelope").await.is(200);
    let mut hostile = message();
    hostile["hxp"]["intent"] = json!("<script>alert(1)</script>\u{202e}");
    hostile["hxp"]["actions"] = json!([{ "type": "x", "label": "\"><img src=x>" }, 7]);
    hostile["hxp"]["</textarea>"] = json!(1);
    hostile["content"] = json!("</pre></textarea><b>bold</b>");
    let text = hostile.to_string();
    let form = [("message", text.as_str()), ("level", "full"), ("strict", "true")];
    let reply = anybody.post_form("/envelope", &form).await.is(200);
    let page = Html::parse_document(&reply.text);
    let all = |selector: &str| -> Vec<String> {
        let selector = Selector::parse(selector).unwrap();
        page.select(&selector).map(|found| found.text().collect()).collect()
    };
    assert_eq!(all("main script, main b, main img"), Vec::<String>::new());
    assert_eq!(all("main pre"), ["</pre></textarea><b>bold</b>"]);
    assert_eq!(all("textarea"), [text]);
    assert_eq!(all("option[selected]"), ["full"]);
    let claims = all("dl.facts div").join("\n");
    assert!(claims.contains("<script>alert(1)</script>⟨U+202E⟩"), "{claims}");
    assert!(claims.contains("Error: language is not a BCP 47 tag"), "{claims}");
    assert!(claims.contains("/hxp/actions/1"), "{claims}");
    assert!(all("main").join("").contains("This message is not valid"));
    for (message, says) in
        [("", "This is not a message"), ("{\"a\":", "line 1, column 6"), ("[]", "not valid")]
    {
        let reply = anybody.post_form("/envelope", &[("message", message)]).await.is(200);
        assert!(reply.text.contains(says), "{}", reply.text);
    }
    world.end().await;
}
