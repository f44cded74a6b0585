//! The methods of the Web API that the channel calls, by Slack's reference.

use serde_json::{Value, json};

use super::{APP_TOKEN, BOT_TOKEN, Inner, Message, OTHER_TOKEN, Shared, TEAM, limits};

impl Shared {
    pub(super) fn answer(&self, method: &str, token: Option<&str>, body: &Value) -> Value {
        let Some(token) = token else { return refused("not_authed") };
        match (token, method) {
            (APP_TOKEN, "apps.connections.open") => {
                let ticket = self.sockets.ticket();
                return json!({ "ok": true, "url": format!("ws://{}/link/{ticket}", self.base) });
            }
            (APP_TOKEN, _) | (BOT_TOKEN | OTHER_TOKEN, "apps.connections.open") => {
                return refused("not_allowed_token_type");
            }
            (BOT_TOKEN | OTHER_TOKEN, _) => {}
            _ => return refused("invalid_auth"),
        }
        let mut inner = self.inner();
        let given = match method {
            "auth.test" => given(body, &[], &[]),
            "chat.postMessage" => given(
                body,
                &["channel", "text", "parse", "link_names", "unfurl_links", "unfurl_media"],
                &["blocks", "thread_ts", "metadata", "mrkdwn"],
            ),
            "chat.update" => {
                given(body, &["channel", "ts", "text", "parse", "link_names"], &["blocks"])
            }
            "chat.postEphemeral" => given(
                body,
                &["channel", "user", "text", "parse", "link_names"],
                &["blocks", "thread_ts"],
            ),
            "views.open" => given(body, &["trigger_id", "view"], &[]),
            "users.info" => given(body, &["user"], &[]),
            _ => return refused("unknown_method"),
        };
        let done = given.and_then(|()| match method {
            "auth.test" => Ok(json!({
                "team": "Example", "user": "countersign", "team_id": TEAM, "user_id": "U0BOT",
            })),
            "chat.postMessage" => inner.post(token, body),
            "chat.update" => inner.update(token, body),
            "chat.postEphemeral" => inner.post_ephemeral(body),
            "views.open" => inner.open(body),
            _ => inner.info(body),
        });
        match done {
            Ok(mut answer) => {
                answer["ok"] = json!(true);
                answer
            }
            Err((error, messages)) => json!({
                "ok": false, "error": error, "response_metadata": { "messages": messages },
            }),
        }
    }
}

type Done = Result<Value, (&'static str, Vec<String>)>;

/// Checks that all required arguments are present, and no unknown ones.
fn given(body: &Value, needed: &[&str], more: &[&str]) -> Result<(), (&'static str, Vec<String>)> {
    let Some(map) = body.as_object() else { return Err(("invalid_arguments", Vec::new())) };
    let lacks = needed.iter().filter(|name| !map.contains_key(**name));
    let lacks = lacks.map(|name| format!("missing {name}"));
    let strange = map
        .keys()
        .filter(|name| !needed.contains(&name.as_str()) && !more.contains(&name.as_str()));
    let wrong: Vec<String> = lacks.chain(strange.map(|name| format!("unknown {name}"))).collect();
    if wrong.is_empty() { Ok(()) } else { Err(("invalid_arguments", wrong)) }
}

fn refused(error: &str) -> Value {
    json!({ "ok": false, "error": error })
}

fn refusal<T>(error: &'static str) -> Result<T, (&'static str, Vec<String>)> {
    Err((error, Vec::new()))
}

/// Whether everything is disabled that would turn text into links or mentions.
fn is_inert(body: &Value, unfurling: bool) -> bool {
    body["parse"] == "none"
        && body["link_names"] == false
        && (!unfurling || body["unfurl_links"] == false && body["unfurl_media"] == false)
}

impl Inner {
    fn post(&mut self, token: &str, body: &Value) -> Done {
        let channel = match body["channel"].as_str().unwrap_or_default() {
            to if to.starts_with(['U', 'W']) => match self.users.get(to) {
                None => return refusal("channel_not_found"),
                Some(user) if user["is_bot"] == true => return refusal("cannot_dm_bot"),
                Some(_) => format!("D{}", &to[1..]),
            },
            to if to.starts_with('D') && self.users.contains_key(&format!("U{}", &to[1..])) => {
                to.to_owned()
            }
            to => match self.channels.get(to) {
                None => return refusal("channel_not_found"),
                Some((_, true)) => return refusal("is_archived"),
                Some((false, _)) => return refusal("not_in_channel"),
                Some((true, false)) => to.to_owned(),
            },
        };
        limits::message(body)?;
        if !is_inert(body, true) {
            return refusal("invalid_arguments");
        }
        if let Some(metadata) = body.get("metadata") {
            let named = metadata["event_type"].is_string();
            if !named || !metadata["event_payload"].is_object() {
                return refusal("invalid_metadata_format");
            }
        }
        let thread_ts = body["thread_ts"].as_str().map(str::to_owned);
        let ts = self.stamp();
        let (body, token) = (body.clone(), token.to_owned());
        let answer = json!({ "channel": channel, "ts": ts, "message": { "text": body["text"] } });
        self.messages.push(Message { channel, ts, thread_ts, body, token });
        Ok(answer)
    }

    fn update(&mut self, token: &str, body: &Value) -> Done {
        limits::message(body)?;
        if !is_inert(body, false) {
            return refusal("invalid_arguments");
        }
        let (channel, ts) = (&body["channel"], &body["ts"]);
        if !channel.as_str().is_some_and(|channel| channel.starts_with(['C', 'D', 'G'])) {
            return refusal("channel_not_found");
        }
        let mut here = self.messages.iter_mut();
        let here = here.find(|m| *channel == m.channel.as_str() && *ts == m.ts.as_str());
        match here {
            None => refusal("message_not_found"),
            Some(message) if message.token != token => refusal("cant_update_message"),
            Some(message) => {
                message.body = body.clone();
                Ok(json!({ "channel": channel, "ts": ts }))
            }
        }
    }

    fn post_ephemeral(&mut self, body: &Value) -> Done {
        limits::message(body)?;
        if !is_inert(body, false) {
            return refusal("invalid_arguments");
        }
        let (channel, user) = (body["channel"].as_str(), body["user"].as_str());
        match (channel.unwrap_or_default(), user.unwrap_or_default()) {
            (_, user) if !self.users.contains_key(user) => refusal("user_not_in_channel"),
            (channel, user) if channel.starts_with('D') && channel[1..] != user[1..] => {
                refusal("channel_not_found")
            }
            (channel, _) if channel.starts_with('D') => Ok(json!({ "message_ts": self.stamp() })),
            (channel, _) => match self.channels.get(channel) {
                Some((true, false)) => Ok(json!({ "message_ts": self.stamp() })),
                Some((true, true)) => refusal("is_archived"),
                Some((false, _)) => refusal("not_in_channel"),
                None => refusal("channel_not_found"),
            },
        }
    }

    fn open(&mut self, body: &Value) -> Done {
        let trigger = body["trigger_id"].as_str().unwrap_or_default();
        if !self.triggers.remove(trigger) {
            return refusal("exchanged_trigger_id");
        }
        limits::view(&body["view"])?;
        self.count += 1;
        let mut view = body["view"].clone();
        view["id"] = json!(format!("V{:04}", self.count));
        view["hash"] = json!(format!("{}.hash", self.count));
        self.views.push(view.clone());
        Ok(json!({ "view": view }))
    }

    fn info(&self, body: &Value) -> Done {
        let user = body["user"].as_str().and_then(|id| self.users.get(id));
        user.map_or_else(|| refusal("user_not_found"), |user| Ok(json!({ "user": user })))
    }

    /// The timestamp of the next message.
    pub(super) fn stamp(&mut self) -> String {
        self.count += 1;
        format!("1770000000.{:06}", self.count)
    }
}
