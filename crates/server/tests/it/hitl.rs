//! What the stories of HITL share: a case as the service that made it knows it.

use serde_json::{Value, json};

use crate::client::{Client, Reply};
use crate::world::World;

/// The schemas of `docs/schemas`.
#[path = "../../../dialects/tests/hitl/schemas.rs"]
pub(crate) mod schemas;

pub(crate) const CASES: &str = "/hitl/v1/cases";

/// A case, with everything its 202 said.
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) hitl: Value,
    anyone: Client,
}

/// An approval.
pub(crate) fn approval() -> Value {
    json!({ "type": "approval", "prompt": "Deploy v2.1.0?", "context": { "version": "2.1.0" } })
}

/// A case of any type, with what it needs.
pub(crate) fn of(kind: &str) -> Value {
    let context = match kind {
        "selection" => json!({ "items": [{"id": "a", "title": "A"}, {"id": "b", "title": "B"}] }),
        "input" => json!({ "form": { "fields": [
            {"key": "name", "label": "Name", "type": "text", "required": true},
            {"key": "pin", "label": "PIN", "type": "text", "sensitive": true},
        ] } }),
        "confirmation" => json!({ "items": [{"id": "m", "label": "Mail"}] }),
        "escalation" => json!({ "error": { "title": "It broke" } }),
        _ => json!({ "version": "2.1.0" }),
    };
    json!({ "type": kind, "prompt": "Please decide.", "context": context })
}

/// The first with the members of the second.
pub(crate) fn with(mut base: Value, more: Value) -> Value {
    let Value::Object(more) = more else { return more };
    for (key, value) in more {
        base[key.as_str()] = value;
    }
    base
}

/// An inline answer by somebody of Slack.
pub(crate) fn inline(action: &str) -> Value {
    json!({
        "action": action, "submitted_via": "slack_block_action",
        "submitted_by": {"platform": "slack", "platform_user_id": "U1", "display_name": "Ann"},
    })
}

impl Case {
    pub(crate) async fn make(world: &World, body: Value) -> Self {
        let made = world.agent().post(CASES, body).await.is(202);
        Self::of(world, &made)
    }

    /// The case of a 202.
    pub(crate) fn of(world: &World, made: &Reply) -> Self {
        let hitl = made["hitl"].clone();
        schemas::holds(hitl["spec_version"].as_str().unwrap(), "hitl-object", &hitl);
        let id = hitl["case_id"].as_str().unwrap().to_owned();
        Self { id, hitl, anyone: world.anonymous() }
    }

    /// The same case under our own API.
    pub(crate) fn ask(&self) -> String {
        self.id.replace("review_", "ask_")
    }

    pub(crate) fn hxp(&self) -> String {
        self.id.replace("review_", "hxp_")
    }

    pub(crate) fn ask_id(&self) -> kernel::AskId {
        self.ask().parse().unwrap()
    }

    fn token_of(&self, url: &str) -> String {
        let url = self.hitl[url].as_str().unwrap();
        url.split_once("?token=").unwrap().1.to_owned()
    }

    pub(crate) fn review_token(&self) -> String {
        self.token_of("review_url")
    }

    pub(crate) fn poll_token(&self) -> String {
        self.token_of("poll_url")
    }

    pub(crate) fn submit_token(&self) -> String {
        self.hitl["submit_token"].as_str().unwrap().to_owned()
    }

    pub(crate) fn at(&self, what: &str) -> String {
        format!("/hitl/v1/reviews/{}/{what}", self.id)
    }

    /// The path and query of an address the 202 gave out.
    pub(crate) fn path(&self, url: &str) -> String {
        let url = url::Url::parse(self.hitl[url].as_str().unwrap()).unwrap();
        url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()))
    }

    /// Polls as the service's agent does, and holds it against the schema.
    pub(crate) async fn status(&self) -> Reply {
        let reply = self.anyone.get(&self.path("poll_url")).await.is(200);
        let version = self.hitl["spec_version"].as_str().unwrap();
        schemas::holds(version, "poll-response", &reply.json);
        reply
    }

    /// Answers as whoever holds the link.
    pub(crate) async fn respond(&self, body: Value) -> Reply {
        let path = format!("{}?token={}", self.at("respond"), self.review_token());
        self.anyone.post(&path, body).await
    }

    /// Answers as the agent.
    pub(crate) async fn submit(&self, body: Value) -> Reply {
        self.anyone.clone().bearer(&self.submit_token()).post(&self.path("submit_url"), body).await
    }
}

/// Asserts an error of this dialect: its status, its code, and the shape every error has.
#[track_caller]
pub(crate) fn refused(reply: Reply, status: u16, code: &str) -> Reply {
    assert_eq!(reply.status, status, "{}", reply.text);
    assert_eq!(reply.header("content-type"), "application/json", "{}", reply.text);
    assert_eq!(reply["error"], code, "{}", reply.text);
    assert!(reply["message"].as_str().is_some_and(|text| !text.is_empty()), "{}", reply.text);
    reply
}
