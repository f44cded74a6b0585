//! `HumanLayer`'s webhooks (A2H-110, A2H-112): an envelope around a function call or a human contact,
//! or around a conversation somebody began (A2H-115, A2H-132).
//!
//! An ask of any dialect is one of the two: what is approved or confirmed is a function call, anything
//! else a contact. Nothing is added where its decoders take no more (A2H-037), but inside `status`.

use kernel::ask::Ending;
use kernel::question::{Answer, Body, Question, Reply};
use kernel::{Ask, Time};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::News;
use crate::a2h::new_conversation;
use crate::a2h::wire::NewConversation;

/// What is sent.
#[derive(Debug, Clone, Serialize)]
pub struct Envelope {
    is_test: bool,
    #[serde(rename = "type")]
    kind: &'static str,
    /// The bare object, as v1beta1 sends it.
    pub event: Event,
}

/// What happened.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Event {
    /// A call ended.
    Contact(Contact),
    /// A person wrote.
    Conversation(Conversation),
}

/// `NewConversation` as A2H has it, and beside it the members `HumanLayer`'s v1beta3 reads.
#[derive(Debug, Clone, Serialize)]
pub struct Conversation {
    #[serde(flatten)]
    object: NewConversation,
    user_message: String,
    contact_channel_id: String,
    agent_name: String,
    thread_id: String,
}

/// A function call or a human contact: the two differ in what their parts hold.
#[derive(Debug, Clone, Serialize)]
pub struct Contact {
    run_id: String,
    call_id: String,
    spec: Value,
    status: Value,
}

impl Envelope {
    /// What is told: nothing before the end, and nothing once the words were erased.
    pub fn of(news: &News<'_>) -> Option<Self> {
        let is_test = news.is_test();
        let (kind, event) = match news.ask {
            Some(ask) if ask.is_opening() => {
                ("conversation.created", Event::Conversation(conversation(ask)?))
            }
            Some(ask) => {
                let (kind, contact) = contact(ask, news.receipt.as_deref())?;
                (kind, Event::Contact(contact))
            }
            None => ("function_call.completed", Event::Contact(sample(news.told.at))),
        };
        Some(Self { is_test, kind, event })
    }
}

fn conversation(ask: &Ask) -> Option<Conversation> {
    let object = new_conversation(ask)?;
    let spec = object.spec.clone();
    Some(Conversation {
        object,
        user_message: spec.user_message,
        contact_channel_id: spec.channel_id.clone(),
        agent_name: spec.agent_name,
        thread_id: spec.channel_id,
    })
}

fn contact(ask: &Ask, receipt: Option<&str>) -> Option<(&'static str, Contact)> {
    let (question, ending) = (ask.question.value()?, ask.ending()?);
    let (ended_at, reply) = match ending {
        Ending::Completed(resolution) => (resolution.at, resolution.reply.value()),
        Ending::Expired { at, .. } | Ending::Failed { at } | Ending::Cancelled { at, .. } => {
            (*at, None)
        }
    };
    let comment = comment(ending, reply);
    let state = ask.metadata.value().filter(|state| !state.is_empty());
    let mut status = json!({ "requested_at": ask.created_at, "responded_at": ended_at });
    let (kind, spec) = match question.body() {
        Body::Approve { details, .. } => {
            let said = reply.map(|reply| &reply.answer);
            let approved = matches!(said, Some(Answer::Approved { .. }));
            decided(&mut status, approved, comment);
            ("function_call.completed", function(question, details, state))
        }
        Body::Confirm { items, .. } => {
            let said = reply.map(|reply| &reply.answer);
            let approved = matches!(said, Some(Answer::Confirmed { .. }));
            decided(&mut status, approved, comment);
            let items = items.iter().map(|item| json!(item.label)).collect();
            let details = Map::from_iter([("items".to_owned(), Value::Array(items))]);
            ("function_call.completed", function(question, &details, state))
        }
        Body::Choose { .. } | Body::Provide { .. } | Body::Escalate { .. } | Body::Converse => {
            let response = reply.map(|reply| said(reply, question)).or(comment);
            status["response"] = json!(response);
            ("human_contact.completed", message(question, state))
        }
    };
    status["receipt"] = json!(receipt);
    let (run_id, call_id) = (ask.agent.to_string(), ask.id.to_string());
    Some((kind, Contact { run_id, call_id, spec, status }))
}

/// A2H-115: what was not approved has words, whoever found none.
fn decided(status: &mut Value, approved: bool, comment: Option<String>) {
    status["approved"] = json!(approved);
    status["comment"] = json!(comment.or_else(|| (!approved).then(|| "rejected".to_owned())));
}

fn comment(ending: &Ending, reply: Option<&Reply>) -> Option<String> {
    match ending {
        Ending::Completed(_) => reply.and_then(|reply| reply.comment.clone()),
        Ending::Expired { .. } | Ending::Failed { .. } => {
            Some("expired: nobody answered in time".to_owned())
        }
        Ending::Cancelled { reason, .. } => {
            let why = reason.as_ref().and_then(|reason| reason.value());
            Some(why.map_or_else(|| "cancelled".to_owned(), |why| format!("cancelled: {why}")))
        }
    }
}

/// A2H-117: the agent's own data comes back as `state`.
fn function(
    question: &Question,
    kwargs: &Map<String, Value>,
    state: Option<&Map<String, Value>>,
) -> Value {
    json!({ "fn": question.prompt(), "kwargs": kwargs, "state": state })
}

fn message(question: &Question, state: Option<&Map<String, Value>>) -> Value {
    let msg = match question.context() {
        Some(context) => format!("{}\n\n{context}", question.prompt()),
        None => question.prompt().to_owned(),
    };
    json!({ "msg": msg, "state": state })
}

/// An answer as text: the words of what was chosen, a form as JSON.
fn said(reply: &Reply, question: &Question) -> String {
    let label = |id: &String| match question.body() {
        Body::Choose { options, .. } => {
            let known = options.choices().iter().find(|option| option.id == *id);
            known.map_or_else(|| id.clone(), |option| option.label.clone())
        }
        Body::Approve { .. }
        | Body::Provide { .. }
        | Body::Confirm { .. }
        | Body::Escalate { .. }
        | Body::Converse => id.clone(),
    };
    match &reply.answer {
        Answer::Chosen { options } => options.iter().map(label).collect::<Vec<_>>().join(", "),
        Answer::Provided { values } => json!(values).to_string(),
        Answer::Replied { text } => text.clone(),
        Answer::Retry { .. } => "retry".to_owned(),
        Answer::Skip => "skip".to_owned(),
        Answer::Abort => "abort".to_owned(),
        Answer::ChangesRequested { .. } => {
            let words = reply.comment.as_deref().unwrap_or("please");
            format!("changes requested: {words}")
        }
        Answer::Approved { .. } | Answer::Confirmed { .. } => "approved".to_owned(),
        Answer::Rejected { .. } | Answer::Declined => "rejected".to_owned(),
    }
}

/// A2H-118: what arrives in a test; receivers pass it over. Should one of before not know that, nothing was
/// approved.
fn sample(at: Time) -> Contact {
    Contact {
        run_id: "test".to_owned(),
        call_id: "test".to_owned(),
        spec: json!({ "fn": "test", "kwargs": {}, "state": null }),
        status: json!({
            "requested_at": at, "responded_at": at, "approved": false, "comment": "a test",
            "receipt": null,
        }),
    }
}
