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
    pub over: String,
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
            let when = RelativeTime::new(revoked.at, now).words;
            (outcome.tone, outcome.over) = ("over", t!("outcome-closed"));
            outcome.headline = t!("outcome-then-revoked", headline = outcome.headline);
            outcome.next = Some(match revoked.reason.value() {
                Some(reason) => {
                    t!("outcome-revoked-because", when = when, reason = reveal(reason))
                }
                None => t!("outcome-revoked", when = when),
            });
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
                Some(message_outcome(resolution, ask, directory, now))
            }
            Ending::Completed(resolution) => {
                Some(answered_outcome(resolution, question, directory, now))
            }
            Ending::Expired { at, report } => {
                let next = format!("{}.", wording::default_action(*report));
                Some(closed_outcome(t!("outcome-expired"), t!("outcome-nobody"), *at, now, next))
            }
            Ending::Failed { at } => {
                let next = t!("outcome-fails");
                Some(closed_outcome(t!("outcome-failed"), t!("outcome-nobody"), *at, now, next))
            }
            Ending::Cancelled { at, by, reason, decided } => {
                let (headline, sentence, next) = closed(*decided, &ActorWords::of(directory, by));
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
fn closed(
    decided: Option<ResolutionAction>,
    ActorWords { by, name }: &ActorWords,
) -> (String, String, String) {
    match decided {
        None => (
            t!("outcome-withdrawn"),
            t!("outcome-withdrawn-by", by = by, name = name),
            t!("outcome-withdrawn-next"),
        ),
        Some(ResolutionAction::Reject) => (
            t!("outcome-rejected"),
            t!("outcome-rejected-by", by = by, name = name),
            t!("outcome-rejected-next"),
        ),
        Some(ResolutionAction::Approve | ResolutionAction::Choose | ResolutionAction::Provide) => (
            t!("outcome-reworded"),
            t!("outcome-reworded-by", by = by, name = name),
            t!("outcome-reworded-next"),
        ),
        Some(ResolutionAction::Reassign) => (
            t!("outcome-reassigned"),
            t!("outcome-reassigned-by", by = by, name = name),
            t!("outcome-reassigned-next"),
        ),
    }
}

/// Who did something, for sentences of the catalog: the catalog selects by `by`, because other
/// languages decline what is not a name.
struct ActorWords {
    /// The kind of actor: `agent`, `link`, `relay`, `guest`, or `other`.
    by: &'static str,
    /// The name of a person, the id of an agent.
    name: String,
}

impl ActorWords {
    fn of(directory: &Directory, by: &ActorRef) -> Self {
        let kind = match by {
            ActorRef::Agent(id) => return Self { by: "agent", name: id.to_string() },
            ActorRef::LinkHolder => "link",
            ActorRef::Relay => "relay",
            ActorRef::Guest => "guest",
            ActorRef::Human(_) | ActorRef::System => "other",
        };
        Self { by: kind, name: wording::actor_name(directory, by) }
    }
}

fn closed_outcome(
    headline: String,
    sentence: String,
    at: Time,
    now: Time,
    next: String,
) -> OutcomeView {
    OutcomeView {
        tone: "over",
        over: t!("outcome-closed"),
        headline,
        sentence,
        who: None,
        at: RelativeTime::new(at, now),
        said: Vec::new(),
        changed: Vec::new(),
        edited: false,
        comment: None,
        next: Some(next),
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
        OnExpiry::Fail => t!("outcome-fails"),
        OnExpiry::Report { action } => format!("{}.", wording::default_action(*action)),
        OnExpiry::Answer { reply } => {
            let reply = reply.value().map(|reply| brief(reply, question));
            let reply = reply.unwrap_or_else(|| t!("outcome-default-erased"));
            t!("outcome-falls-back", answer = reply)
        }
    };
    Some(closed_outcome(t!("outcome-expired"), t!("outcome-nobody"), deadline, now, next))
}

/// What happens without an answer, stated before the deadline.
pub fn on_silence(on_expiry: &OnExpiry, question: Option<&Question>) -> String {
    match on_expiry {
        OnExpiry::StayOpen => t!("silence-stays-open"),
        OnExpiry::Fail => t!("silence-fails"),
        OnExpiry::Report { action } => wording::default_action(*action),
        OnExpiry::Answer { reply } => {
            let reply = reply.value().map(|reply| brief(reply, question));
            let reply = reply.unwrap_or_else(|| t!("silence-default"));
            t!("silence-falls-back", answer = reply)
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
    let mut sentences = Vec::new();
    if *by == ActorRef::System {
        sentences.push(t!("outcome-default"));
    } else if *by == ActorRef::LinkHolder {
        sentences.push(match attested {
            Some(_) => t!("outcome-answered-by-attested-link", name = who),
            None => t!("outcome-answered-by-link"),
        });
        // Older answers do not record where their link was sent. They have the same assurance
        // for every link.
        match (assurance, shown) {
            (Assurance::AgentAttested, _) => sentences.push(t!("outcome-link-of-agent")),
            (_, Some(_)) => sentences.push(t!("outcome-link-of-address")),
            (_, None) => {}
        }
    } else {
        let ActorWords { by, name } = match attested {
            Some(_) => ActorWords { by: "other", name: who.clone() },
            None => ActorWords::of(directory, by),
        };
        let channel = wording::channel_name(*via);
        let assurance = wording::assurance_words(resolution);
        sentences.push(t!(
            "outcome-answered-by",
            by = by,
            name = name,
            channel = channel,
            assurance = assurance,
        ));
    }
    if let Some(found) = verification.as_ref().filter(|found| found.satisfied) {
        sentences.push(proof_providers(&found.proofs));
    }
    let comment = reply.and_then(|reply| reply.comment.as_deref());
    let tone = reply.map_or("over", |reply| tone(&reply.answer));
    OutcomeView {
        tone,
        over: if tone == "over" { t!("outcome-closed") } else { t!("outcome-answered") },
        headline: reply.map_or_else(|| t!("brief-answered"), |reply| brief(reply, question)),
        sentence: sentences.join(" "),
        who: Some(who),
        at: RelativeTime::new(*at, now),
        said: reply.map(|reply| answer_facts(&reply.answer, question)).unwrap_or_default(),
        changed: changes::of_reply(question, reply),
        edited: reply
            .is_some_and(|reply| matches!(reply.answer, Answer::Approved { edits: Some(_) })),
        comment: comment.map(|text| TextBlock::new("comment-said".to_owned(), text)),
        next: reply.is_none().then(|| t!("outcome-answer-erased")),
    }
}

/// The outcome of a message that a person sent without a question. Its text is shown
/// in the conversation.
fn message_outcome(
    resolution: &RecordedAnswer,
    ask: &Ask,
    directory: &Directory,
    now: Time,
) -> OutcomeView {
    let outcome = answered_outcome(resolution, ask.question.value(), directory, now);
    let next = outcome.next.or_else(|| {
        let agent = ask.agent.as_str();
        ask.latest.is_none().then(|| t!("outcome-message-next", agent = agent))
    });
    OutcomeView {
        over: t!("outcome-sent"),
        headline: t!("outcome-message-sent"),
        sentence: t!(
            "outcome-written-by",
            name = wording::actor_name(directory, &resolution.by),
            channel = wording::channel_name(resolution.via),
            assurance = wording::assurance_words(resolution),
        ),
        said: Vec::new(),
        next,
        ..outcome
    }
}

/// The providers that confirmed that the answerer is a person; they do not identify the person.
fn proof_providers(proofs: &[Proof]) -> String {
    let names: Vec<String> = proofs.iter().map(|proof| reveal(&proof.provider)).collect();
    t!("outcome-proven", providers = names.join(", "))
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
        Answer::Approved { edits: None } => t!("brief-approved"),
        Answer::Approved { edits: Some(_) } => t!("brief-approved-edited"),
        Answer::Rejected { option: None } => t!("brief-rejected"),
        Answer::Rejected { option: Some(option) } => {
            t!("brief-rejected-option", option = option_label(option, question))
        }
        Answer::ChangesRequested { .. } => t!("brief-changes-requested"),
        Answer::Chosen { options } => match options.as_slice() {
            [only] => t!("brief-chosen", option = option_label(only, question)),
            several => t!("brief-chosen-several", count = several.len()),
        },
        Answer::Provided { .. } => t!("brief-provided"),
        Answer::Confirmed { .. } => confirm_label(question, true),
        Answer::Declined => confirm_label(question, false),
        Answer::Retry { .. } => t!("brief-retry"),
        Answer::Skip => t!("brief-skip"),
        Answer::Abort => t!("brief-abort"),
        Answer::Replied { .. } => t!("brief-replied"),
    }
}

fn confirm_label(question: Option<&Question>, went_ahead: bool) -> String {
    match question.map(Question::body) {
        Some(QuestionBody::Confirm { yes, no, .. }) if !wording::are_protocol_labels(yes, no) => {
            t!("brief-label", label = reveal(if went_ahead { yes } else { no }))
        }
        Some(_) | None if went_ahead => t!("brief-confirmed"),
        Some(_) | None => t!("brief-declined"),
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
            let labels = Value::from(labels.collect::<Vec<_>>().join("\n"));
            vec![fact(&t!("answer-chosen"), &labels, "chosen")]
        }
        Answer::Replied { text } => {
            vec![fact(&t!("answer-replied"), &Value::from(text.as_str()), "replied")]
        }
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
        _ if value == REDACTED => Value::from(t!("answer-secret")),
        Value::Array(chosen) => {
            let labels: Option<Vec<String>> =
                chosen.iter().map(|item| label(item).as_str().map(str::to_owned)).collect();
            labels.map_or_else(|| value.clone(), |labels| Value::from(labels.join("\n")))
        }
        Value::Object(_) => match serde_json::from_value::<FileRef>(value.clone()) {
            Ok(file) => Value::from(t!("answer-file", name = file.name(), bytes = file.size())),
            Err(_) => value.clone(),
        },
        Value::String(_) => label(value),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
