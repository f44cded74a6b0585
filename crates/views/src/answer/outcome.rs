//! How a request ended, in words: who decided what, when, through which channel, and what happens
//! next.

use kernel::ask::Ending;
use kernel::ask::{OnExpiry, RecordedAnswer};
use kernel::directory::Directory;
use kernel::form::{Field, FileRef, REDACTED};
use kernel::question::{Answer, Choice, Question, QuestionBody, Reply};
use kernel::task::ResolutionAction;
use kernel::text::reveal;
use kernel::verification::Proof;
use kernel::{ActorRef, Ask, Assurance, Time};
use serde_json::Value;

use crate::answer::changes::{self, ChangedValue};
use crate::components::facts::{Fact, FactList, TextBlock, fact};
use crate::components::relative_time::RelativeTime;
use crate::components::wording::{self};

/// The end of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomeView {
    /// The style class: `yes`, `no` or `over`.
    pub tone: &'static str,
    /// Its state in a word: "Answered", "Closed", "Sent".
    pub over: &'static str,
    /// The verdict: "Approved", "Expired".
    pub headline: String,
    /// Who ended it and how, as a sentence.
    pub sentence: String,
    /// The person's name, for lists.
    pub who: Option<String>,
    pub at: RelativeTime,
    /// The values of the answer.
    pub said: Vec<Fact>,
    /// The changes to the agent's proposal, old and new.
    pub changed: Vec<ChangedValue>,
    /// Whether it was approved with those changes, rather than sent back with them.
    pub edited: bool,
    /// The comment on the answer.
    pub comment: Option<TextBlock>,
    /// What happens next, as a sentence.
    pub next: Option<String>,
}

impl OutcomeView {
    /// The end of an ask; `None` while it is open. A passed deadline counts as the end even before
    /// the timer records it.
    pub fn of(ask: &Ask, directory: &Directory, now: Time) -> Option<Self> {
        let mut outcome = Self::without_revocation(ask, directory, now)?;
        if let Some(revoked) = &ask.revoked {
            let why = revoked.reason.value().map(|reason| format!(": {}", reveal(reason)));
            (outcome.tone, outcome.over) = ("over", "Closed");
            outcome.headline.push_str(", then revoked");
            outcome.next = Some(format!(
                "Its receipt was revoked {}{}. It no longer counts.",
                RelativeTime::new(revoked.at, now).words,
                why.unwrap_or_default(),
            ));
        }
        Some(outcome)
    }

    /// The changes of an approval on one line; `None` if there are none. With changes, the question
    /// shows the old values.
    pub fn changes(&self) -> Option<String> {
        let lines: Vec<String> = self.changed.iter().map(ChangedValue::line).collect();
        (self.edited && !lines.is_empty()).then(|| lines.join(" · "))
    }

    fn without_revocation(ask: &Ask, directory: &Directory, now: Time) -> Option<Self> {
        let question = ask.question.value();
        let Some(ending) = ask.ending() else {
            // The deadline waits while an answer can still be undone.
            let deadline = ask.expires_at.filter(|at| *at <= now && ask.held.is_none())?;
            return unrecorded_expiry(&ask.on_expiry, deadline, question, now);
        };
        match ending {
            Ending::Completed(resolution) if ask.starts_conversation() => {
                Some(message_outcome(answered_outcome(resolution, question, directory, now), ask))
            }
            Ending::Completed(resolution) => {
                Some(answered_outcome(resolution, question, directory, now))
            }
            Ending::Expired { at, report } => {
                let next = format!("The agent {}.", wording::default_action(*report));
                Some(closed_outcome("Expired", "Nobody answered in time.", *at, now, next))
            }
            Ending::Failed { at } => {
                Some(closed_outcome("Failed", "Nobody answered in time.", *at, now, FAILS))
            }
            Ending::Cancelled { at, by, reason, decided } => {
                let who = wording::actor_name(directory, by);
                let (headline, sentence, next) = closed(*decided, &who);
                let mut outcome = closed_outcome(headline, sentence, *at, now, next);
                outcome.who = Some(wording::actor_name(directory, by));
                let reason = reason.as_ref().and_then(|reason| reason.value());
                outcome.comment =
                    reason.map(|text| TextBlock::new("comment-said".to_owned(), text));
                Some(outcome)
            }
        }
    }
}

/// How a request closed without an answer: a headline, a sentence, and the consequence. A decision
/// on a HACP checkpoint has its own wording.
fn closed(decided: Option<ResolutionAction>, who: &str) -> (&'static str, String, &'static str) {
    match decided {
        None => (
            "Withdrawn",
            format!("Withdrawn by {who}."),
            "Nothing is needed from you: the agent no longer waits for an answer.",
        ),
        Some(ResolutionAction::Reject) => {
            ("Rejected", format!("Rejected by {who}."), "The task has ended.")
        }
        Some(ResolutionAction::Approve | ResolutionAction::Choose | ResolutionAction::Provide) => (
            "Answered",
            format!("Answered by {who} in other words."),
            "The agent goes on with that.",
        ),
        Some(ResolutionAction::Reassign) => (
            "Reassigned",
            format!("{who} gave the task to another agent."),
            "The other agent goes on with the task.",
        ),
    }
}

const FAILS: &str = "The agent is told that the request failed.";

fn closed_outcome(
    headline: &str,
    sentence: impl Into<String>,
    at: Time,
    now: Time,
    next: impl Into<String>,
) -> OutcomeView {
    OutcomeView {
        tone: "over",
        over: "Closed",
        headline: headline.to_owned(),
        sentence: sentence.into(),
        who: None,
        at: RelativeTime::new(at, now),
        said: Vec::new(),
        changed: Vec::new(),
        edited: false,
        comment: None,
        next: Some(next.into()),
    }
}

/// The outcome after the deadline has passed and before the timer has recorded it.
fn unrecorded_expiry(
    on_expiry: &OnExpiry,
    deadline: Time,
    question: Option<&Question>,
    now: Time,
) -> Option<OutcomeView> {
    let next = match on_expiry {
        OnExpiry::StayOpen => return None,
        OnExpiry::Fail => FAILS.to_owned(),
        OnExpiry::Report { action } => format!("The agent {}.", wording::default_action(*action)),
        OnExpiry::Answer { reply } => format!(
            "The default is taken: {}. It is marked as nobody's answer.",
            reply
                .value()
                .map_or_else(|| "no longer known".to_owned(), |reply| brief(reply, question))
        ),
    };
    Some(closed_outcome("Expired", "Nobody answered in time.", deadline, now, next))
}

/// What happens without an answer, stated before the deadline.
pub fn on_silence(on_expiry: &OnExpiry, question: Option<&Question>) -> String {
    match on_expiry {
        OnExpiry::StayOpen => "It stays open and can still be answered".to_owned(),
        OnExpiry::Fail => "The request fails, and the agent is told so".to_owned(),
        OnExpiry::Report { action } => {
            format!("The agent {}", wording::default_action(*action))
        }
        OnExpiry::Answer { reply } => {
            let reply = reply.value().map(|reply| brief(reply, question));
            let reply = reply.unwrap_or_else(|| "the agent's default".to_owned());
            format!("This default is taken, marked as nobody's answer: {reply}")
        }
    }
}

fn answered_outcome(
    resolution: &RecordedAnswer,
    question: Option<&Question>,
    directory: &Directory,
    now: Time,
) -> OutcomeView {
    let RecordedAnswer { reply, by, via, assurance, at, attested, verification, shown, .. } =
        resolution;
    let reply = reply.value();
    let attested = attested.as_ref().and_then(|attested| attested.value());
    let who = attested.map_or_else(|| wording::actor_name(directory, by), wording::attested_user);
    let sentence = if *by == ActorRef::System {
        "Nobody answered in time, so the agent's default was taken.".to_owned()
    } else if *by == ActorRef::LinkHolder {
        // Older answers do not record where their link was sent. They have the same assurance
        // for every link.
        let proves = match (assurance, shown) {
            (Assurance::AgentAttested, _) => {
                " The agent was given this link, so only the agent vouches that a person answered."
            }
            (_, Some(_)) => " Countersign sent this link to a verified address.",
            (_, None) => "",
        };
        format!("Answered by {who}.{proves}")
    } else {
        format!(
            "Answered by {who} {} ({}).",
            wording::channel_name(*via),
            wording::assurance_words(resolution)
        )
    };
    let sentence = match verification.as_ref().filter(|found| found.satisfied) {
        Some(found) => format!("{sentence} {}", proof_providers(&found.proofs)),
        None => sentence,
    };
    let comment = reply.and_then(|reply| reply.comment.as_deref());
    let tone = reply.map_or("over", |reply| tone(&reply.answer));
    OutcomeView {
        tone,
        over: if tone == "over" { "Closed" } else { "Answered" },
        headline: reply.map_or_else(|| "Answered".to_owned(), |reply| brief(reply, question)),
        sentence,
        who: Some(who),
        at: RelativeTime::new(*at, now),
        said: reply.map(|reply| answer_facts(&reply.answer, question)).unwrap_or_default(),
        changed: changes::of_reply(question, reply),
        edited: reply
            .is_some_and(|reply| matches!(reply.answer, Answer::Approved { edits: Some(_) })),
        comment: comment.map(|text| TextBlock::new("comment-said".to_owned(), text)),
        next: reply.is_none().then(|| "The words of this answer were erased.".to_owned()),
    }
}

/// The outcome of a message that a person sent without a question. Its text is shown
/// in the conversation.
fn message_outcome(outcome: OutcomeView, ask: &Ask) -> OutcomeView {
    let sentence = outcome.sentence.replacen("Answered", "Written", 1);
    let next = outcome.next.or_else(|| {
        let agent = &ask.agent;
        ask.latest.is_none().then(|| format!("{agent} will answer here, and in the inbox."))
    });
    let headline = "Message sent".to_owned();
    OutcomeView { over: "Sent", headline, sentence, said: Vec::new(), next, ..outcome }
}

/// The providers that confirmed that the answerer is a person; they do not identify the person.
fn proof_providers(proofs: &[Proof]) -> String {
    let names: Vec<String> = proofs.iter().map(|proof| reveal(&proof.provider)).collect();
    format!("That a person answered was confirmed by {}.", names.join(" and "))
}

/// The style class of an answer.
pub(crate) fn tone(answer: &Answer) -> &'static str {
    match answer {
        Answer::Approved { .. }
        | Answer::Chosen { .. }
        | Answer::Provided { .. }
        | Answer::Confirmed { .. }
        | Answer::Retry { .. }
        | Answer::Replied { .. } => "yes",
        Answer::Rejected { .. } | Answer::Declined | Answer::Abort => "no",
        Answer::ChangesRequested { .. } | Answer::Skip => "over",
    }
}

/// A summary of an answer in a few words.
pub fn brief(reply: &Reply, question: Option<&Question>) -> String {
    match &reply.answer {
        Answer::Approved { edits: None } => "Approved".to_owned(),
        Answer::Approved { edits: Some(_) } => "Approved with changes".to_owned(),
        Answer::Rejected { option: None } => "Rejected".to_owned(),
        Answer::Rejected { option: Some(option) } => {
            format!("Rejected: “{}”", option_label(option, question))
        }
        Answer::ChangesRequested { .. } => "Changes requested".to_owned(),
        Answer::Chosen { options } => match options.as_slice() {
            [only] => format!("Chose “{}”", option_label(only, question)),
            several => format!("Chose {} options", several.len()),
        },
        Answer::Provided { .. } => "Filled in".to_owned(),
        Answer::Confirmed { .. } => confirm_label(question, true),
        Answer::Declined => confirm_label(question, false),
        Answer::Retry { .. } => "Retry".to_owned(),
        Answer::Skip => "Skip this step".to_owned(),
        Answer::Abort => "Abort".to_owned(),
        Answer::Replied { .. } => "Replied".to_owned(),
    }
}

fn confirm_label(question: Option<&Question>, went_ahead: bool) -> String {
    match question.map(Question::body) {
        Some(QuestionBody::Confirm { yes, no, .. }) if !wording::are_protocol_labels(yes, no) => {
            format!("“{}”", reveal(if went_ahead { yes } else { no }))
        }
        Some(_) | None if went_ahead => "Confirmed".to_owned(),
        Some(_) | None => "Declined".to_owned(),
    }
}

fn option_label(id: &str, question: Option<&Question>) -> String {
    let choices: &[Choice] = match question.map(Question::body) {
        Some(QuestionBody::Choose { options, .. }) => options.choices(),
        Some(QuestionBody::Approve { reject_options, .. }) => reject_options,
        Some(_) | None => &[],
    };
    reveal(choices.iter().find(|choice| choice.id == id).map_or(id, |choice| &choice.label))
}

/// The values of an answer that need more room than its headline. Secret values are redacted.
pub fn answer_facts(answer: &Answer, question: Option<&Question>) -> Vec<Fact> {
    let all = |map, prefix| {
        let FactList { headline, rows } = FactList::of(map, prefix);
        headline.into_iter().chain(rows).collect::<Vec<_>>()
    };
    match answer {
        Answer::Approved { edits: Some(map) } => all(map, "edited"),
        Answer::ChangesRequested { edits: Some(map) } => all(map, "wanted"),
        Answer::Retry { params } => all(params, "param"),
        Answer::Chosen { options } if options.len() > 1 => {
            let labels = options.iter().map(|id| option_label(id, question));
            vec![fact("Chosen", &Value::from(labels.collect::<Vec<_>>().join("\n")), "chosen")]
        }
        Answer::Replied { text } => vec![fact("Reply", &Value::from(text.as_str()), "replied")],
        Answer::Provided { values } => match question.map(Question::body) {
            Some(QuestionBody::Provide { form }) => {
                let shown = values.redacted(form);
                let one = |(key, value): (&String, &Value)| {
                    let label = form.field(key).map_or(key.as_str(), Field::label);
                    fact(label, &display_value(value, form.field(key)), &format!("said-{key}"))
                };
                shown.iter().map(one).collect()
            }
            // Without the form it is unknown which values are secret.
            Some(_) | None => Vec::new(),
        },
        Answer::Approved { edits: None }
        | Answer::Rejected { .. }
        | Answer::ChangesRequested { edits: None }
        | Answer::Chosen { .. }
        | Answer::Confirmed { .. }
        | Answer::Declined
        | Answer::Skip
        | Answer::Abort => Vec::new(),
    }
}

/// A form value as the person saw it: labels for options, names for files, nothing for secrets.
pub(crate) fn display_value(value: &Value, field: Option<&Field>) -> Value {
    let label = |value: &Value| {
        let options = field.map(Field::options).unwrap_or_default();
        let option = options.iter().find(|option| *value == option.value);
        option.map_or_else(|| value.clone(), |option| Value::from(option.label.as_str()))
    };
    match value {
        _ if value == REDACTED => Value::from("(secret, not shown again)"),
        Value::Array(chosen) => {
            let labels: Option<Vec<String>> =
                chosen.iter().map(|item| label(item).as_str().map(str::to_owned)).collect();
            labels.map_or_else(|| value.clone(), |labels| Value::from(labels.join("\n")))
        }
        Value::Object(_) => match serde_json::from_value::<FileRef>(value.clone()) {
            Ok(file) => Value::from(format!("{} ({} bytes)", file.name(), file.size())),
            Err(_) => value.clone(),
        },
        Value::String(_) => label(value),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
