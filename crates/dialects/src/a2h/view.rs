//! Calls in their current state: the response of every route about one call, and the lists of open
//! calls.
//!
//! The SDKs poll every three seconds, without limit, until `approved` or `response` is set. So a
//! call that expired, failed or was withdrawn has a response too, which says that no decision was
//! made. A HACP decision that does not answer the question is reported as that decision.

use kernel::actor::ActorRef;
use kernel::ask::{Ending, RecordedAnswer};
use kernel::audit::{Erasable, canonical};
use kernel::question::{Answer, Choice, Question, QuestionBody, Reply};
use kernel::task::ResolutionAction;
use kernel::{AnswerInterface, Ask, Time};
use serde_json::{Map, Value, json};

use super::create::{OTHER, OTHER_LABEL};
use super::options::ResponseOption;
use super::wire::{
    FunctionCall, FunctionCallSpec, FunctionCallStatus, HumanContact, HumanContactSpec,
    HumanContactStatus, Moment, Ours, UserInfo,
};
use super::{CallKind, PREFIX, call_id, stored_members};
use crate::hacp_decision::HacpDecision;
use crate::hxp_experience::claims::{self, EnvelopeVerdict, PickedActionView};

/// The comment of a denial without a comment (A2H-054).
const DENIED: &str = "Denied without a comment.";
/// The text of an answer without words.
const NO_WORDS: &str = "Answered without a comment.";

/// Data about a call that the ask itself does not hold.
#[derive(Debug, Clone, Default)]
pub struct CallContext {
    /// The display name of the person who answered, if the agent may know it.
    pub name: Option<String>,
    /// The signed receipt, once the ask has ended.
    pub receipt: Option<String>,
    /// The timestamp of the Slack message that asks the question (A2H-081).
    pub slack_message_ts: Option<String>,
}

/// A call of either kind in its current state; `None` once its text was erased.
pub fn call(ask: &Ask, beside: CallContext) -> Option<Value> {
    match CallKind::of(ask) {
        CallKind::FunctionCall => serde_json::to_value(function_call(ask, beside)?).ok(),
        CallKind::HumanContact | CallKind::Message => {
            serde_json::to_value(human_contact(ask, beside)?).ok()
        }
    }
}

fn function_call(ask: &Ask, beside: CallContext) -> Option<FunctionCall> {
    let question = ask.question.value()?;
    let kwargs = match question.body() {
        QuestionBody::Approve { details, .. } => details.clone(),
        QuestionBody::Confirm { items, .. } => {
            let labels: Vec<&str> = items.iter().map(|item| item.label.as_str()).collect();
            Map::from_iter([("items".to_owned(), json!(labels))])
        }
        QuestionBody::Choose { .. }
        | QuestionBody::Provide { .. }
        | QuestionBody::Escalate { .. }
        | QuestionBody::Converse => Map::new(),
    };
    let reject_options = options(ask, question);
    let decided = ask.ending().map(|ending| call_decision(question, ending, &reject_options));
    let spec = FunctionCallSpec {
        name: question.prompt().to_owned(),
        kwargs,
        channel: member(ask, "channel"),
        reject_options: (!reject_options.is_empty()).then_some(reject_options),
        state: state(ask),
    };
    let user_info = ask.deciding_answer().and_then(|resolution| user_info(resolution, beside.name));
    let (approved, comment, option) = decided.map_or((None, None, None), |decided| {
        (Some(decided.approved), decided.comment, decided.option)
    });
    Some(FunctionCall {
        run_id: run_id(ask),
        call_id: call_id(ask),
        spec,
        status: FunctionCallStatus {
            requested_at: Moment(ask.created_at),
            responded_at: ended_at(ask).map(Moment),
            approved,
            comment,
            user_info,
            reject_option_name: option,
            slack_message_ts: beside.slack_message_ts,
            ours: countersign_fields(ask, beside.receipt),
        },
    })
}

fn human_contact(ask: &Ask, beside: CallContext) -> Option<HumanContact> {
    let question = ask.question.value()?;
    let (subject, msg) = match question.context() {
        Some(context) => (Some(question.prompt().to_owned()), context.to_owned()),
        None => (None, question.prompt().to_owned()),
    };
    let options = options(ask, question);
    let said = ask.ending().map(|ending| contact_response(ask, question, ending, &options));
    let spec = HumanContactSpec {
        msg,
        subject,
        channel: member(ask, "channel"),
        response_options: (!options.is_empty()).then_some(options),
        state: state(ask),
    };
    let (response, response_option_name) = said.unzip();
    Some(HumanContact {
        run_id: run_id(ask),
        call_id: call_id(ask),
        spec,
        status: HumanContactStatus {
            requested_at: Moment(ask.created_at),
            responded_at: ended_at(ask).map(Moment),
            response,
            response_option_name: response_option_name.flatten(),
            slack_message_ts: beside.slack_message_ts,
            ours: countersign_fields(ask, beside.receipt),
        },
    })
}

pub(super) fn member(ask: &Ask, key: &str) -> Option<Value> {
    stored_members(ask)?.get(key).cloned()
}

/// The caller's own data: its `state`, or the metadata of another dialect with the envelope sent
/// beside it (A2H-117).
pub(super) fn state(ask: &Ask) -> Option<Value> {
    if let Some(kept) = stored_members(ask) {
        return kept.get("state").cloned();
    }
    let mut own = ask.metadata.value().cloned().unwrap_or_default();
    if let Some(envelope) = ask.envelope() {
        own.insert(claims::MEMBER.to_owned(), Value::Object(envelope.clone()));
    }
    (!own.is_empty()).then_some(Value::Object(own))
}

/// The run's id, or the agent's id if the ask came from another dialect.
fn run_id(ask: &Ask) -> String {
    let given = stored_members(ask).and_then(|kept| kept.get("run_id")?.as_str());
    given.map_or_else(|| ask.agent.to_string(), ToOwned::to_owned)
}

/// The options as given, or those that fit a question of another dialect.
fn options(ask: &Ask, question: &Question) -> Vec<ResponseOption> {
    let given = stored_members(ask).map(|kept| {
        let list = kept.get("reject_options").or_else(|| kept.get("response_options"));
        list.and_then(|list| serde_json::from_value(list.clone()).ok()).unwrap_or_default()
    });
    given.unwrap_or_else(|| {
        let choices: &[Choice] = match question.body() {
            QuestionBody::Approve { reject_options, .. } => reject_options,
            QuestionBody::Choose { options, .. } => options.choices(),
            QuestionBody::Provide { .. }
            | QuestionBody::Confirm { .. }
            | QuestionBody::Escalate { .. }
            | QuestionBody::Converse => &[],
        };
        let escalate = matches!(question.body(), QuestionBody::Escalate { .. });
        let plain = |name: &str| Choice::plain(name);
        let own = ["retry", "skip", "abort"].map(plain);
        let choices = if escalate { &own[..] } else { choices };
        choices.iter().map(of_choice).collect()
    })
}

fn of_choice(choice: &Choice) -> ResponseOption {
    ResponseOption {
        name: choice.id.clone(),
        title: (choice.label != choice.id).then(|| choice.label.clone()),
        description: choice.description.clone(),
        prompt_fill: None,
        interactive: false,
        irreversible: false,
    }
}

pub(super) fn countersign_fields(ask: &Ask, receipt: Option<String>) -> Ours {
    let outcome = ask.ending().map(|ending| match ending {
        Ending::Completed(resolution) if resolution.by == ActorRef::System => "default",
        Ending::Completed(_) => "answered",
        Ending::Expired { .. } => "expired",
        Ending::Failed { .. } => "failed",
        Ending::Cancelled { decided: Some(action), .. } => match action {
            ResolutionAction::Approve
            | ResolutionAction::Reject
            | ResolutionAction::Choose
            | ResolutionAction::Provide => "answered",
            ResolutionAction::Reassign => "cancelled",
        },
        Ending::Cancelled { decided: None, .. } => "cancelled",
    });
    Ours {
        ask_id: ask.id.with_prefix(PREFIX),
        outcome,
        receipt,
        hxp_verdict: EnvelopeVerdict::of(ask),
        hxp_picked: PickedActionView::all(ask),
    }
}

pub(super) fn ended_at(ask: &Ask) -> Option<Time> {
    ask.ending().map(|ending| match ending {
        Ending::Completed(resolution) => resolution.at,
        Ending::Expired { at, .. } | Ending::Failed { at } | Ending::Cancelled { at, .. } => *at,
    })
}

/// The person who answered, as far as the agent may know (A2H-007, A2H-063).
fn user_info(resolution: &RecordedAnswer, name: Option<String>) -> Option<UserInfo> {
    match (&resolution.by, resolution.via) {
        (ActorRef::Human(_), via) => {
            let source = match via {
                AnswerInterface::Web | AnswerInterface::Link | AnswerInterface::Push => "Web",
                AnswerInterface::Cli => "CLI",
                AnswerInterface::Slack => "Slack",
                AnswerInterface::Email => "Email",
                AnswerInterface::Sms => "SMS",
                AnswerInterface::Whatsapp => "WhatsApp",
                AnswerInterface::Telegram => "Telegram",
                AnswerInterface::Api
                | AnswerInterface::Inline
                | AnswerInterface::Timer
                | AnswerInterface::Script
                | AnswerInterface::Webhook => "API",
            };
            name.map(|name| UserInfo { name, source: source.to_owned() })
        }
        // The agent chose this channel, so it may see the name that the person has there.
        (ActorRef::Guest, _) => {
            let attested = resolution.attested.as_deref().and_then(Erasable::value)?;
            let name = attested.display_name.as_ref().unwrap_or(&attested.platform_user_id);
            Some(UserInfo { name: name.clone(), source: attested.platform.clone() })
        }
        (ActorRef::Relay, _) => {
            let attested = resolution.attested.as_deref().and_then(Erasable::value)?;
            let name = attested.display_name.clone()?;
            Some(UserInfo { name, source: "agent-attested".to_owned() })
        }
        (ActorRef::Agent(_) | ActorRef::LinkHolder | ActorRef::System, _) => None,
    }
}

/// A sentence for an ask that ended without a decision (A2H-061, and for the SDKs' polling).
pub(super) fn undecided_reason(ending: &Ending) -> Option<String> {
    match ending {
        Ending::Completed(_) | Ending::Cancelled { decided: Some(_), .. } => None,
        Ending::Expired { at, .. } | Ending::Failed { at } => {
            Some(format!("This request expired at {at} without an answer. No decision was made."))
        }
        Ending::Cancelled { at, reason, by, decided: None } => {
            let why = reason.as_ref().and_then(Erasable::value);
            let why = why.map_or_else(String::new, |why| format!(" ({why})"));
            Some(match by {
                // Older records do not hold the HACP decision, so a rejection looks like this too.
                ActorRef::Human(_) => format!("A person cancelled this request at {at}{why}."),
                ActorRef::Agent(_)
                | ActorRef::LinkHolder
                | ActorRef::Relay
                | ActorRef::Guest
                | ActorRef::System => {
                    format!("This request was cancelled at {at}{why}. No decision was made.")
                }
            })
        }
    }
}

/// The reply that ended a call, if there was one and it was not erased.
fn reply(ending: &Ending) -> Option<(&RecordedAnswer, &Reply)> {
    match ending {
        Ending::Completed(resolution) => Some((resolution, resolution.reply.value()?)),
        Ending::Expired { .. } | Ending::Failed { .. } | Ending::Cancelled { .. } => None,
    }
}

/// A HACP decision that does not answer the question, as text: a denial says so, and a text given
/// in place of an answer is returned.
fn decision_text(settled: HacpDecision<'_>) -> String {
    match (settled.action, settled.words()) {
        (ResolutionAction::Reject, None) => DENIED.to_owned(),
        (ResolutionAction::Reject, Some(comment)) => format!("Denied: {comment}"),
        (ResolutionAction::Choose | ResolutionAction::Provide, Some(words)) => words.to_owned(),
        (
            ResolutionAction::Approve
            | ResolutionAction::Choose
            | ResolutionAction::Provide
            | ResolutionAction::Reassign,
            _,
        ) => settled.sentence(),
    }
}

struct CallDecision {
    approved: bool,
    comment: Option<String>,
    option: Option<String>,
}

impl CallDecision {
    fn rejected(comment: String) -> Self {
        Self { approved: false, comment: Some(comment), option: None }
    }
}

/// An agent that receives `approved: true` runs the action it asked for. So everything except
/// approval of exactly that action is a denial with an explanation.
fn call_decision(question: &Question, ending: &Ending, options: &[ResponseOption]) -> CallDecision {
    if let Some(settled) = HacpDecision::of(ending) {
        return CallDecision::rejected(decision_text(settled));
    }
    if let Some(why) = undecided_reason(ending) {
        return CallDecision::rejected(why);
    }
    let Some((resolution, Reply { answer, comment })) = reply(ending) else {
        return CallDecision::rejected("The text of the answer was erased.".to_owned());
    };
    let noted = |what: &str| match comment {
        Some(comment) => format!("{what}: {comment}"),
        None => format!("{what}."),
    };
    let items = match question.body() {
        QuestionBody::Confirm { items, .. } => items.len(),
        QuestionBody::Approve { .. }
        | QuestionBody::Choose { .. }
        | QuestionBody::Provide { .. }
        | QuestionBody::Escalate { .. }
        | QuestionBody::Converse => 0,
    };
    match answer {
        Answer::Approved { edits: None } => {
            CallDecision { approved: true, comment: comment.clone(), option: None }
        }
        Answer::Approved { edits: Some(edits) } => {
            let what = format!("Approved only with these changed details: {}", compact(edits));
            CallDecision::rejected(noted(&what))
        }
        Answer::Confirmed { items: confirmed } if confirmed.len() == items => {
            CallDecision { approved: true, comment: comment.clone(), option: None }
        }
        Answer::Confirmed { items: confirmed } => CallDecision::rejected(noted(&format!(
            "Only this was confirmed: {}",
            confirmed.join(", ")
        ))),
        Answer::ChangesRequested { edits } => {
            let wanted = edits.as_ref().map(|edits| format!(", such as {}", compact(edits)));
            CallDecision::rejected(noted(&format!(
                "Changes requested{}",
                wanted.unwrap_or_default()
            )))
        }
        Answer::Rejected { option } => {
            let picked = option.as_ref().and_then(|id| options.iter().find(|one| one.name == *id));
            let text = match (picked, comment) {
                (Some(option), comment) => answered_with(option, resolution, comment.as_deref()),
                (None, Some(comment)) => comment.clone(),
                (None, None) => DENIED.to_owned(),
            };
            CallDecision { approved: false, comment: Some(text), option: option.clone() }
        }
        Answer::Declined => {
            CallDecision::rejected(comment.clone().unwrap_or_else(|| DENIED.to_owned()))
        }
        Answer::Chosen { .. }
        | Answer::Provided { .. }
        | Answer::Retry { .. }
        | Answer::Skip
        | Answer::Abort
        | Answer::Replied { .. } => CallDecision::rejected(answer_text(question, answer)),
    }
}

/// The text that pressing an option sends. If the agent passed on the answer, the text is the
/// person's own.
fn answered_with(
    option: &ResponseOption,
    resolution: &RecordedAnswer,
    comment: Option<&str>,
) -> String {
    match comment {
        Some(comment) if resolution.via == AnswerInterface::Inline => comment.to_owned(),
        comment => option.with(comment),
    }
}

/// The response of a human contact, and the name of the chosen option.
fn contact_response(
    ask: &Ask,
    question: &Question,
    ending: &Ending,
    options: &[ResponseOption],
) -> (String, Option<String>) {
    if let Some(settled) = HacpDecision::of(ending) {
        return (decision_text(settled), None);
    }
    if let Some(why) = undecided_reason(ending) {
        return (why, None);
    }
    let Some((resolution, Reply { answer, comment })) = reply(ending) else {
        return ("The text of the answer was erased.".to_owned(), None);
    };
    let picked = |id: &str| options.iter().find(|option| option.name == id);
    let own = stored_members(ask).is_some();
    let with = |option: &ResponseOption| {
        let text = answered_with(option, resolution, comment.as_deref());
        (text, Some(option.name.clone()))
    };
    let noted = |text: String| match comment {
        Some(comment) => format!("{text}\n\n{comment}"),
        None => text,
    };
    match answer {
        Answer::Chosen { options: chosen } => match (chosen.as_slice(), chosen.first()) {
            ([only], _) if own && only == OTHER && picked(only).is_none() => {
                (comment.clone().unwrap_or_else(|| OTHER_LABEL.to_owned()), None)
            }
            ([_], Some(only)) => picked(only).map_or_else(|| (only.clone(), None), with),
            (several, _) => (noted(compact(&several)), None),
        },
        Answer::Retry { .. } | Answer::Skip | Answer::Abort => {
            let text = answer_text(question, answer);
            let name = text.split_whitespace().next().map(ToOwned::to_owned);
            (noted(text), name)
        }
        Answer::ChangesRequested { .. } => {
            let what = comment.as_deref().unwrap_or("see the request");
            (format!("Changes requested: {what}"), None)
        }
        Answer::Replied { .. }
        | Answer::Provided { .. }
        | Answer::Confirmed { .. }
        | Answer::Declined
        | Answer::Approved { .. }
        | Answer::Rejected { .. } => (noted(answer_text(question, answer)), None),
    }
}

/// The answer as a text that is never empty.
pub(super) fn answer_text(question: &Question, answer: &Answer) -> String {
    let text = match answer {
        Answer::Replied { text } => text.clone(),
        Answer::Provided { values } => {
            let values = match question.body() {
                QuestionBody::Provide { form } => values.redacted(form),
                QuestionBody::Approve { .. }
                | QuestionBody::Choose { .. }
                | QuestionBody::Confirm { .. }
                | QuestionBody::Escalate { .. }
                | QuestionBody::Converse => values.as_map().clone(),
            };
            match values.iter().next() {
                Some((_, only)) if values.len() == 1 => plain(only),
                _ => compact(&values),
            }
        }
        Answer::Retry { params } if !params.is_empty() => format!("retry with {}", compact(params)),
        Answer::Retry { .. } => "retry".to_owned(),
        Answer::Skip => "skip".to_owned(),
        Answer::Abort => "abort".to_owned(),
        Answer::Chosen { options } => options.join(", "),
        Answer::Confirmed { .. } | Answer::Declined => {
            let label = |yes: bool| match question.body() {
                QuestionBody::Confirm { yes: go, no, .. } => if yes { go } else { no }.clone(),
                QuestionBody::Approve { .. }
                | QuestionBody::Choose { .. }
                | QuestionBody::Provide { .. }
                | QuestionBody::Escalate { .. }
                | QuestionBody::Converse => String::new(),
            };
            label(matches!(answer, Answer::Confirmed { .. }))
        }
        Answer::Approved { .. } => "approved".to_owned(),
        Answer::Rejected { .. } => "rejected".to_owned(),
        Answer::ChangesRequested { .. } => "changes requested".to_owned(),
    };
    if text.trim().is_empty() { NO_WORDS.to_owned() } else { text }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| compact(value), ToOwned::to_owned)
}

fn compact(value: &impl serde::Serialize) -> String {
    String::from_utf8(canonical(value)).unwrap_or_default()
}
