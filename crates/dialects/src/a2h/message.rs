//! `POST /messages`, `GET /messages/{uid}`: the `Message` of `proto.a2h.dev/v1alpha1` (A2H-131,
//! A2H-133, A2H-134).

use kernel::ask::DefaultAction;
use kernel::audit::Digest;
use kernel::command::NewAsk;
use kernel::question::{Answer, AnswerKind, Question, QuestionBody};
use kernel::{Ask, AskId};
use serde_json::{Map, Value, json};

use super::CallKind;
use super::channel;
use super::conversation;
use super::create::{self, storable};
use super::errors::A2hWireError;
use super::parse::Members;
use super::schema::{self, Shape, VALUE};
use super::schema_limits;
use super::view::{answer_text, countersign_fields, ended_at, member, state, undecided_reason};
use super::wire::{Message, MessageSpec, MessageStatus, Metadata, Moment};

/// The `apiVersion` of every object.
pub const API_VERSION: &str = "proto.a2h.dev/v1alpha1";

/// A message to create.
#[derive(Debug, Clone)]
pub struct NewA2hMessage {
    /// The ask, without a deadline.
    pub ask: NewAsk,
    /// The caller's own id, if given.
    pub uid: Option<String>,
    /// The digest of the spec. The same message sent again has the same digest.
    pub fingerprint: Digest,
    /// The schema of the answer. The server checks whether it is a valid JSON Schema.
    pub schema: Option<Value>,
    /// The conversation that this message continues, if any.
    pub conversation: Option<AskId>,
}

pub fn parse_message(bytes: &[u8]) -> Result<NewA2hMessage, A2hWireError> {
    let body = storable(bytes)?;
    let body = Members::new(&body, "");
    for (key, only) in [("apiVersion", API_VERSION), ("kind", "Message")] {
        if body.text(key)? != Some(only) {
            return Err(body.bad(key, only));
        }
    }
    // The published specification misspells `metadata` once.
    let metadata = match body.object("metadata")? {
        Some(metadata) => Some(metadata),
        None => body.object("metatdata")?,
    };
    let metadata = metadata.map(|metadata| Members::new(metadata, "metadata"));
    let uid = metadata.filter(|metadata| metadata.present("uid").is_some());
    let uid = uid.map(|metadata| create::id(metadata, "uid")).transpose()?;
    let spec = body.object("spec")?.ok_or_else(|| body.bad("spec", "an object"))?;
    let spec = Members::new(spec, "spec");
    let text = spec.either(&["message", "agentMessage"])?;
    let text = text.filter(|text| !text.trim().is_empty());
    let text = text.ok_or_else(|| spec.bad("message", "a non-empty string"))?;
    // Either the member of the specification, or the one that calls use.
    let channel_id = match spec.present("channel_id") {
        Some(id) if !id.is_string() && !id.is_number() => {
            return Err(spec.bad("channel_id", "a string or a number"));
        }
        Some(id) => Some(id.clone()),
        None => channel::read(spec, "channel")?.conversation,
    };
    let conversation = channel_id.as_ref().map(conversation::conversation_id).transpose()?;
    let wanted = spec.present("response_schema").cloned();
    if let Some(schema) = &wanted {
        schema_limits::check(schema).map_err(|expected| spec.bad("response_schema", &expected))?;
    }
    let state = spec.object("state")?.map(|state| json!(state));
    let (question, stance) = question(&text, wanted.as_ref())
        .ok_or_else(|| spec.bad("message", "a string without NUL characters"))?;
    let mut kept = Map::new();
    for (key, value) in [
        ("kind", Some(json!(CallKind::Message.as_str()))),
        ("message", Some(json!(text))),
        ("response_schema", wanted.clone()),
        ("channel_id", channel_id),
        ("state", state),
        ("irreversible", create::is_marked_irreversible(body, spec).then(|| json!(true))),
    ] {
        kept.extend(value.map(|value| (key.to_owned(), value)));
    }
    let fingerprint = Digest::of_json(&kept);
    kept.extend(uid.as_ref().map(|uid| ("call_id".to_owned(), json!(uid))));
    let ask = create::ask(question, kept, &[stance], DefaultAction::Skip);
    let ask = create::with_claims(ask, bytes);
    Ok(NewA2hMessage { ask, uid, fingerprint, schema: wanted, conversation })
}

/// The question that asks a person for such an answer.
fn question(text: &str, schema: Option<&Value>) -> Option<(Question, AnswerKind)> {
    let (body, context, stance) = match schema.map(|schema| (schema, schema::shape(schema))) {
        None => (QuestionBody::Converse, None, AnswerKind::Reply),
        Some((_, Shape::Object(form) | Shape::Value(form))) => {
            (QuestionBody::Provide { form }, None, AnswerKind::Provide)
        }
        Some((schema, Shape::Free)) => {
            let shown = serde_json::to_string_pretty(schema).ok()?;
            let context = format!("The agent reads the answer as JSON with this schema:\n{shown}");
            (QuestionBody::Converse, Some(context), AnswerKind::Reply)
        }
    };
    Some((Question::new(text, context, body).ok()?, stance))
}

/// A message in its current state; `None` once its text was erased. `judge` returns the errors of a
/// value under a schema, if any.
pub fn message(
    ask: &Ask,
    receipt: Option<String>,
    judge: impl Fn(&Value, &Value) -> Option<Value>,
) -> Option<Message> {
    let question = ask.question.value()?;
    let schema = member(ask, "response_schema");
    let uid = super::call_id(ask);
    let said = ask.deciding_answer().and_then(|resolution| resolution.reply.value());
    let response = said.zip(schema.as_ref()).map(|(reply, schema)| {
        let value = value(question, &reply.answer, schema);
        (judge(schema, &value), value)
    });
    let (failed, response) = match response {
        Some((None, value)) => (None, Some(value)),
        Some((failed, _)) => (failed, None),
        None => (None, None),
    };
    let own = said.and_then(|reply| reply.comment.clone());
    let human_message = match (ask.ending().and_then(undecided_reason), own, said) {
        (Some(why), _, _) => Some(why),
        (None, Some(comment), _) => Some(comment),
        (None, None, reply) => reply.map(|reply| answer_text(question, &reply.answer)),
    };
    Some(Message {
        api_version: API_VERSION,
        kind: "Message",
        metadata: Metadata { uid },
        spec: MessageSpec {
            message: member(ask, "message")
                .and_then(|text| text.as_str().map(ToOwned::to_owned))
                .unwrap_or_else(|| question.prompt().to_owned()),
            response_schema: schema,
            channel_id: member(ask, "channel_id"),
            state: state(ask),
        },
        status: MessageStatus {
            requested_at: Moment(ask.created_at),
            responded_at: ended_at(ask).map(Moment),
            human_message,
            response,
            failed_validation_details: failed,
            ours: countersign_fields(ask, receipt),
        },
    })
}

/// The answer as the value that the schema describes.
fn value(question: &Question, answer: &Answer, schema: &Value) -> Value {
    match (question.body(), answer) {
        (QuestionBody::Provide { form }, Answer::Provided { values }) => {
            let values = values.redacted(form);
            match schema::shape(schema) {
                Shape::Value(_) => values.get(VALUE).cloned().unwrap_or_default(),
                Shape::Object(_) | Shape::Free => Value::Object(values),
            }
        }
        (_, Answer::Replied { text }) => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
        (_, answer) => json!(answer_text(question, answer)),
    }
}
