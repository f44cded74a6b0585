//! `countersign answer ID approve`

use std::io::IsTerminal;

use anyhow::{Context, bail};
use clap::Args;
use serde_json::{Map, Value, json};

use super::Exit;
use super::inbox::prompt;
use super::output::say;
use super::remote::RemoteArgs;
use super::render::{
    DetailLevel, PrintedField, fields, hint, is_irreversible, options, reject_options,
};
use super::requests::{native_id, print};

#[derive(Args)]
#[command(
    after_help = "Exits with 0 if the answer was accepted, 1 if you did not confirm it, 4 if the \
                        command failed."
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(super) struct AnswerArgs {
    /// The request, under any prefix: `ask_…`, `hxp_…`
    id: String,
    /// The answer: approve, reject (followed by one of the offered reasons) or changes; confirm or
    /// decline; retry, skip or abort; an option; a value, or KEY=VALUE for each field of a form
    #[arg(required_unless_present_any = ["approve", "reject", "changes"], value_name = "ANSWER")]
    words: Vec<String>,
    /// Approve, or confirm; the same as the answer `approve`
    #[arg(long, conflicts_with_all = ["words", "reject", "changes"])]
    approve: bool,
    /// Reject, or decline; the same as the answer `reject`
    #[arg(long, conflicts_with_all = ["words", "changes", "edit"])]
    reject: bool,
    /// Request changes before you approve; needs --comment
    #[arg(long, conflicts_with = "words", requires = "comment")]
    changes: bool,
    /// Approve with this detail changed, if the request allows that; repeat it for several
    #[arg(long, value_name = "KEY=VALUE", conflicts_with = "changes")]
    edit: Vec<String>,
    /// A reason or note
    #[arg(long, short, value_name = "TEXT")]
    comment: Option<String>,
    /// Skip the confirmation for requests that can't be undone or are critical; --json skips it too
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    remote: RemoteArgs,
}

impl AnswerArgs {
    /// The words of the answer, or those that a flag stands for.
    fn words_for(&self, ask: &client::Ask) -> Vec<String> {
        let confirms = ask.kind == "confirm";
        match (self.approve, self.reject) {
            (true, _) if confirms => vec!["confirm".to_owned()],
            (true, _) => vec!["approve".to_owned()],
            (_, true) if confirms => vec!["decline".to_owned()],
            (_, true) => vec!["reject".to_owned()],
            (false, false) => self.words.clone(),
        }
    }

    pub(super) async fn run(self) -> anyhow::Result<Exit> {
        let server = self.remote.human().await?;
        let id = native_id(&self.id);
        let ask = server.client.show(&id).await.map_err(server.with_advice())?;
        let comment = self.comment.as_deref();
        let reply = if self.changes {
            if ask.kind != "approve" {
                bail!(
                    "changes can only be requested for an approval; this request accepts {}",
                    hint(&ask)
                );
            }
            json!({ "answer": { "verdict": "changes_requested" }, "comment": comment })
        } else {
            let words = self.words_for(&ask);
            edited(&ask, reply(&ask, &words, comment)?, &self.edit)?
        };
        if !(self.yes || self.remote.json || confirm_if_needed(&ask, &reply)?) {
            return Ok(Exit::Denied);
        }
        let answered = server.client.answer(&id, &reply).await.map_err(server.with_advice())?;
        print(&answered, self.remote.json, DetailLevel::Brief)?;
        Ok(Exit::Done)
    }
}

/// Whether this reply needs a second, deliberate confirmation: it lets the agent proceed, and the
/// server says that the request needs one.
pub(super) fn needs_confirmation(ask: &client::Ask, reply: &Value) -> bool {
    let stops = ["rejected", "changes_requested", "declined", "abort"];
    let verdict = reply["answer"]["verdict"].as_str().unwrap_or_default();
    ask.result.is_none()
        && ask.rest.get("needs_confirmation") == Some(&json!(true))
        && !stops.contains(&verdict)
}

/// Shows the request and asks for the confirmation, if this reply needs one. Returns whether to
/// send it. Fails without a terminal.
pub(super) fn confirm_if_needed(ask: &client::Ask, reply: &Value) -> anyhow::Result<bool> {
    if !needs_confirmation(ask, reply) {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() {
        bail!("{}: repeat the command with --yes", warning(ask));
    }
    print(ask, false, DetailLevel::Whole)?;
    let sure = confirmed(ask, reply)?;
    if !sure {
        say!("Nothing was sent.");
    }
    Ok(sure)
}

/// The reason for the confirmation.
fn warning(ask: &client::Ask) -> &'static str {
    if is_irreversible(ask) { "This can't be undone" } else { "This request is critical" }
}

/// Asks on the terminal whether to send the reply.
pub(super) fn confirmed(ask: &client::Ask, reply: &Value) -> anyhow::Result<bool> {
    let verdict = reply["answer"]["verdict"].as_str().unwrap_or_default().replace('_', " ");
    let text = format!("{}. Your answer: {verdict}. Type yes to send it: ", warning(ask));
    Ok(prompt(&text)?.is_some_and(|said| said.eq_ignore_ascii_case("yes")))
}

/// An approval with changed details. A value is parsed as JSON if that keeps its type, otherwise it
/// is a text.
fn edited(ask: &client::Ask, mut reply: Value, edits: &[String]) -> anyhow::Result<Value> {
    if edits.is_empty() {
        return Ok(reply);
    }
    if reply["answer"]["verdict"] != "approved" {
        bail!("--edit requires an approval: only approved details can be changed");
    }
    let question = ask.question.as_ref().unwrap_or(&Value::Null);
    let mut changed = Map::new();
    for edit in edits {
        let Some((key, text)) = edit.split_once('=') else {
            bail!("“{edit}”: expected KEY=VALUE");
        };
        let value = match &question["details"][key] {
            Value::String(_) => json!(text),
            _ => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
        };
        changed.insert(key.to_owned(), value);
    }
    reply["answer"]["edits"] = Value::Object(changed);
    Ok(reply)
}

/// Turns the words of the command line into a reply to this question.
pub(super) fn reply(
    ask: &client::Ask,
    words: &[String],
    comment: Option<&str>,
) -> anyhow::Result<Value> {
    let first = words.first().map_or("", String::as_str);
    let question = ask.question.as_ref().unwrap_or(&Value::Null);
    let answer = match (ask.kind.as_str(), first) {
        ("approve", "approve" | "yes" | "y") => json!({ "verdict": "approved" }),
        ("approve", "reject" | "no" | "n") => match words.get(1..).unwrap_or_default() {
            [] => json!({ "verdict": "rejected" }),
            reason => json!({ "verdict": "rejected", "option": rejected_for(question, reason)? }),
        },
        ("confirm", "confirm" | "yes" | "y") => {
            json!({ "verdict": "confirmed", "items": item_ids(question) })
        }
        ("confirm", "decline" | "no" | "n") => json!({ "verdict": "declined" }),
        ("escalate", "retry" | "skip" | "abort") => json!({ "verdict": first }),
        ("approve", "changes") => json!({ "verdict": "changes_requested" }),
        ("choose", _) => json!({ "verdict": "chosen", "options": chosen(question, words)? }),
        ("provide", _) => json!({ "verdict": "provided", "values": values(question, words)? }),
        ("converse", _) => json!({ "verdict": "replied", "text": words.join(" ") }),
        (_, other) => bail!("“{other}” does not answer this request; it accepts {}", hint(ask)),
    };
    Ok(json!({ "answer": answer, "comment": comment }))
}

fn item_ids(question: &Value) -> Vec<&Value> {
    let items = question.get("items").and_then(Value::as_array);
    items.into_iter().flatten().filter_map(|item| item.get("id")).collect()
}

/// The reason of a rejection, by id or label.
fn rejected_for<'q>(question: &'q Value, words: &[String]) -> anyhow::Result<&'q str> {
    let found = one_of(&reject_options(question), &[words.join(" ")])?;
    found.into_iter().next().context("expected the reason of the rejection")
}

/// The chosen options, by id or label.
fn chosen<'q>(question: &'q Value, words: &[String]) -> anyhow::Result<Vec<&'q str>> {
    one_of(&options(question), words)
}

fn one_of<'q>(options: &[(&'q str, &'q str)], words: &[String]) -> anyhow::Result<Vec<&'q str>> {
    let find = |word: &String| {
        let by_id = options.iter().find(|(id, _)| id == word);
        let by_label = || options.iter().find(|(_, label)| label == word);
        let Some((id, _)) = by_id.or_else(by_label) else {
            let ids: Vec<_> = options.iter().map(|(id, _)| *id).collect();
            bail!("“{word}” is not an option; the options are {}", ids.join(", "));
        };
        Ok(*id)
    };
    words.iter().map(find).collect()
}

/// One value for a form with one field, otherwise `KEY=VALUE` for each field.
fn values(question: &Value, words: &[String]) -> anyhow::Result<Map<String, Value>> {
    let fields = fields(question);
    if let [only] = fields.as_slice() {
        return Ok(Map::from_iter([(only.key.to_owned(), value(only, &words.join(" "))?)]));
    }
    let mut values = Map::new();
    for word in words {
        let pair = word.split_once('=');
        let named = |key: &str| fields.iter().find(|field| field.key == key);
        let Some((field, text)) = pair.and_then(|(key, text)| Some((named(key)?, text))) else {
            let keys: Vec<_> = fields.iter().map(|field| field.key).collect();
            bail!("“{word}”: expected KEY=VALUE with one of {}", keys.join(", "));
        };
        values.insert(field.key.to_owned(), value(field, text)?);
    }
    Ok(values)
}

/// The typed text as a value of the field. The server validates it further.
pub(super) fn value(field: &PrintedField<'_>, text: &str) -> anyhow::Result<Value> {
    Ok(match (field.kind, text) {
        ("boolean", "yes" | "y" | "true") => json!(true),
        ("boolean", "no" | "n" | "false") => json!(false),
        ("multiselect", _) => text.split(',').map(str::trim).collect(),
        ("file", _) => bail!("{}: upload the file on the page of the request", field.key),
        _ => json!(text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(kind: &str, question: &Value) -> client::Ask {
        let ask = json!({ "id": "ask_1", "state": "pending", "kind": kind, "question": question });
        serde_json::from_value(ask).unwrap()
    }

    fn parsed_answer(ask: &client::Ask, words: &[&str]) -> Result<Value, String> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        let reply = reply(ask, &words, None).map_err(|error| error.to_string())?;
        Ok(reply["answer"].clone())
    }

    #[test]
    fn a_word_means_what_the_question_makes_of_it() {
        let options =
            json!([{ "id": "changes", "label": "Small ones" }, { "id": "b", "label": "B" }]);
        let choose = ask("choose", &json!({ "options": options }));
        let chosen = json!({ "verdict": "chosen", "options": ["changes"] });
        assert_eq!(parsed_answer(&choose, &["changes"]).unwrap(), chosen);
        assert_eq!(parsed_answer(&choose, &["Small ones"]).unwrap(), chosen);
        assert!(parsed_answer(&choose, &["c"]).unwrap_err().contains("the options are changes, b"));

        let converse = ask("converse", &json!({}));
        let replied = json!({ "verdict": "replied", "text": "changes are needed" });
        assert_eq!(parsed_answer(&converse, &["changes", "are", "needed"]).unwrap(), replied);

        let approve = ask("approve", &json!({}));
        assert_eq!(parsed_answer(&approve, &["changes"]).unwrap()["verdict"], "changes_requested");
        let wrong = parsed_answer(&approve, &["maybe"]).unwrap_err();
        assert!(wrong.contains("approve | reject | changes"), "{wrong}");
    }

    #[test]
    fn a_rejection_may_name_one_of_the_reasons_offered() {
        let reasons = json!([{ "id": "later", "label": "Not now" }]);
        let approve = ask("approve", &json!({ "reject_options": reasons }));
        let rejected = json!({ "verdict": "rejected", "option": "later" });
        assert_eq!(parsed_answer(&approve, &["reject", "later"]).unwrap(), rejected);
        assert_eq!(parsed_answer(&approve, &["reject", "Not", "now"]).unwrap(), rejected);
        assert_eq!(parsed_answer(&approve, &["reject"]).unwrap(), json!({ "verdict": "rejected" }));
        assert!(
            parsed_answer(&approve, &["reject", "odd"])
                .unwrap_err()
                .contains("the options are later")
        );
        assert_eq!(hint(&approve), "approve | reject later | reject | changes");
    }

    #[test]
    fn edits_keep_the_type_of_the_detail() {
        let question = json!({ "details": { "amount": 40, "order": "1042" } });
        let approve = ask("approve", &question);
        let edit = |words: &[&str], edits: &[&str]| {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            let edits: Vec<String> = edits.iter().map(ToString::to_string).collect();
            edited(&approve, reply(&approve, &words, None).unwrap(), &edits)
        };
        let reply = edit(&["approve"], &["amount=30", "order=7"]).unwrap();
        assert_eq!(reply["answer"]["edits"], json!({ "amount": 30, "order": "7" }));
        assert_eq!(edit(&["approve"], &[]).unwrap()["answer"], json!({ "verdict": "approved" }));
        assert!(edit(&["reject"], &["amount=30"]).is_err());
        assert!(edit(&["approve"], &["amount"]).is_err());
    }

    #[test]
    fn forms_take_pairs_and_yes_and_lists() {
        let field = |key: &str, kind: &str| json!({ "key": key, "label": key, "type": kind });
        let fields = json!([field("a", "text"), field("b", "boolean"), field("c", "multiselect")]);
        let form = ask("provide", &json!({ "form": { "fields": fields } }));
        let values = parsed_answer(&form, &["a=x=y", "b=yes", "c=1, 2"]).unwrap()["values"].clone();
        assert_eq!(values, json!({ "a": "x=y", "b": true, "c": ["1", "2"] }));
        for wrong in ["d=1", "plain"] {
            assert!(parsed_answer(&form, &[wrong]).unwrap_err().contains("one of a, b, c"));
        }
        let one = ask("provide", &json!({ "form": { "fields": [field("a", "text")] } }));
        assert_eq!(
            parsed_answer(&one, &["two", "words"]).unwrap()["values"],
            json!({ "a": "two words" })
        );
    }
}
