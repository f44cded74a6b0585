//! `countersign answer ID approve`

use clap::Args;
use serde_json::{Map, Value, json};

use super::Exit;
use super::remote::{Remote, explain};
use super::show::{plain, print_ask};

#[derive(Args)]
pub(super) struct Answer {
    /// The request
    id: String,
    /// approve, reject, changes, confirm, decline, retry, skip or abort; an option to choose; or a
    /// value to provide (KEY=VALUE for a form)
    #[arg(required = true, value_name = "ANSWER")]
    words: Vec<String>,
    /// A reason or note
    #[arg(long, short)]
    comment: Option<String>,
    #[command(flatten)]
    remote: Remote,
}

impl Answer {
    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let client = self.remote.human()?;
        let id = plain(&self.id);
        let ask = client.show(&id).await.map_err(explain)?;
        let reply = reply(&ask, &self.words, self.comment.as_deref())?;
        let answered = client.answer(&id, &reply).await.map_err(explain)?;
        print_ask(&answered, self.remote.json)?;
        Ok(Exit::Done)
    }
}

/// Words on a command line become a reply to this question.
pub(super) fn reply(
    ask: &client::Ask,
    words: &[String],
    comment: Option<&str>,
) -> anyhow::Result<Value> {
    let first = words.first().map_or("", String::as_str);
    let answer = match (ask.kind.as_str(), first) {
        (_, "changes") => json!({ "verdict": "changes_requested" }),
        ("approve", "approve" | "yes" | "y") => json!({ "verdict": "approved" }),
        ("approve", "reject" | "no" | "n") => json!({ "verdict": "rejected" }),
        ("confirm", "confirm" | "yes" | "y") => {
            json!({ "verdict": "confirmed", "items": item_ids(ask) })
        }
        ("confirm", "decline" | "no" | "n") => json!({ "verdict": "declined" }),
        ("escalate", "retry" | "skip" | "abort") => json!({ "verdict": first }),
        ("choose", _) => json!({ "verdict": "chosen", "options": words }),
        ("provide", _) => json!({ "verdict": "provided", "values": values(ask, words)? }),
        ("converse", _) => json!({ "verdict": "replied", "text": words.join(" ") }),
        (kind, other) => anyhow::bail!("“{other}” does not answer a question of kind {kind}"),
    };
    Ok(json!({ "answer": answer, "comment": comment }))
}

fn item_ids(ask: &client::Ask) -> Vec<Value> {
    let items = ask.question.as_ref().and_then(|question| question.get("items")?.as_array());
    items.into_iter().flatten().filter_map(|item| item.get("id").cloned()).collect()
}

/// One value for a form of one field, else `KEY=VALUE` for each.
fn values(ask: &client::Ask, words: &[String]) -> anyhow::Result<Map<String, Value>> {
    let fields: Vec<&str> = ask
        .question
        .iter()
        .filter_map(|question| question.pointer("/form/fields")?.as_array())
        .flatten()
        .filter_map(|field| field.get("key")?.as_str())
        .collect();
    if let [only] = fields.as_slice() {
        return Ok(Map::from_iter([((*only).to_owned(), json!(words.join(" ")))]));
    }
    let mut values = Map::new();
    for word in words {
        let Some((key, value)) = word.split_once('=') else {
            anyhow::bail!("expected KEY=VALUE for each of: {}", fields.join(", "));
        };
        values.insert(key.to_owned(), json!(value));
    }
    Ok(values)
}
