//! The claims of a receipt. The kernel builds them, and the server signs them.

use serde::Serialize;

use crate::actor::{ActorRef, AnswerInterface, Assurance, AttestedIdentity, SenderVerification};
use crate::ask::{
    Ask, AskState, DefaultAction, DisplayedContent, Ending, Priority, RecordedAnswer,
};
use crate::audit::{Digest, Erasable, Head};
use crate::ids::{AgentId, AskId, ProjectId};
use crate::question::{Question, QuestionKind, Reply};
use crate::text::reveal_json;
use crate::time::Time;
use crate::verification::Proof;

/// The content of a receipt: the question, how the ask ended, who answered, with which assurance,
/// and when.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Receipt {
    /// The ask that the receipt is about.
    pub ask: AskId,
    /// The project of the ask.
    pub project: ProjectId,
    /// The agent that asked.
    pub agent: AgentId,
    /// The kind of question.
    pub kind: QuestionKind,
    /// How it ended.
    pub outcome: ReceiptOutcome,
    /// When the agent asked.
    pub asked_at: Time,
    /// When a person first claimed or opened it, or else when it was asked.
    pub taken_up_at: Time,
    /// When it ended.
    pub ended_at: Time,
    /// The event that closed it, by its position in the ask's chain.
    pub place: Head,
    /// The accepted proofs of presence, if they were sufficient.
    pub proofs: Vec<Proof>,
}

/// How an ask ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum ReceiptOutcome {
    /// A person answered, or a default was taken.
    Completed {
        /// The answer; `None` once erased.
        reply: Option<Reply>,
        /// Who gave the answer.
        by: ActorRef,
        /// The interface through which the answer came.
        via: AnswerInterface,
        /// How strongly it is proven that this person answered.
        assurance: Assurance,
        /// Who answered, according to the agent that passed the answer on.
        attested: Option<AttestedIdentity>,
        /// How the server verified the sender of the email that carried the answer.
        sender: Option<Box<SenderVerification>>,
    },
    /// The deadline passed, and the agent continues with its default action.
    Expired {
        /// The default action.
        report: DefaultAction,
    },
    /// The deadline passed, and the agent defined that as a failure.
    Failed,
    /// The ask was cancelled.
    Cancelled {
        /// Who cancelled it.
        by: ActorRef,
        /// The reason; `None` if there was none or it was erased.
        reason: Option<String>,
    },
}

impl Receipt {
    /// The receipt of a closed ask; `None` while it is open.
    pub fn of(ask: &Ask) -> Option<Self> {
        let AskState::Over { place, ending } = &ask.state else { return None };
        let (outcome, ended_at) = match &**ending {
            Ending::Completed(resolution) => (
                ReceiptOutcome::Completed {
                    reply: resolution.reply.value().cloned(),
                    by: resolution.by.clone(),
                    via: resolution.via,
                    assurance: resolution.assurance,
                    attested: resolution.attested.as_deref().and_then(Erasable::value).cloned(),
                    sender: resolution
                        .sender
                        .as_deref()
                        .and_then(Erasable::value)
                        .cloned()
                        .map(Box::new),
                },
                resolution.at,
            ),
            Ending::Expired { at, report } => (ReceiptOutcome::Expired { report: *report }, *at),
            Ending::Failed { at } => (ReceiptOutcome::Failed, *at),
            Ending::Cancelled { at, by, reason, .. } => {
                let reason = reason.as_ref().and_then(|reason| reason.value().cloned());
                (ReceiptOutcome::Cancelled { by: by.clone(), reason }, *at)
            }
        };
        Some(Self {
            ask: ask.id,
            project: ask.project.clone(),
            agent: ask.agent.clone(),
            kind: ask.kind,
            outcome,
            asked_at: ask.created_at,
            taken_up_at: ask.engaged_by().map_or(ask.created_at, |(_, at)| at),
            ended_at,
            place: *place,
            proofs: ask.deciding_answer().map(proofs).unwrap_or_default(),
        })
    }
}

/// Whether the receipt of a closed ask is the same after a change. It differs once something in it
/// was erased. Stored signatures of the earlier receipt must then be deleted, because with the
/// public key they would confirm a guess of the erased text.
pub fn is_unchanged(before: &Ask, after: &Ask) -> bool {
    let said = |ask: &Ask| {
        let answer = ask.deciding_answer();
        let redacted = answer.is_some_and(|answer| ask.is_redacted(answer));
        let evidence_erased = answer.is_some_and(RecordedAnswer::evidence_erased);
        (Receipt::of(ask), ask.question.value().is_some(), redacted, evidence_erased)
    };
    said(before) == said(after)
}

fn proofs(resolution: &RecordedAnswer) -> Vec<Proof> {
    let enough = resolution.verification.as_ref().filter(|found| found.satisfied);
    enough.map(|found| found.proofs.clone()).unwrap_or_default()
}

/// The question and its display, as hashes of canonical JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionDigests {
    /// The complete prompt of the question.
    pub prompt: String,
    /// The hash of the exact question.
    pub question: Digest,
    /// The hash of what a page displays that shows the whole question.
    pub shown: Digest,
}

impl QuestionDigests {
    /// The hash that a receipt states for the display where the question was answered: that of the
    /// whole question, or that of `null` if the server displayed less. Answers from before this was
    /// recorded state the whole question, so that their receipts do not change.
    pub fn displayed(&self, shown: Option<DisplayedContent>) -> Digest {
        match shown {
            Some(DisplayedContent::Question) | None => self.shown,
            Some(DisplayedContent::Summary | DisplayedContent::Nothing) => Self::null_digest(),
        }
    }

    /// The digest that means "no digest": the one of the JSON value `null`.
    pub fn null_digest() -> Digest {
        Digest::of_json(&serde_json::Value::Null)
    }
}

/// The content of a page that shows the whole question, whatever else it adds: the question with
/// its hidden characters made visible, the agent, the project, the urgency and the time.
#[derive(Serialize)]
struct DisplayedQuestion<'a> {
    ask: AskId,
    agent: &'a AgentId,
    project: &'a ProjectId,
    priority: Priority,
    asked_at: Time,
    question: serde_json::Value,
}

impl QuestionDigests {
    /// The exhibit of an ask; `None` once its text was erased.
    pub fn of(ask: &Ask) -> Option<Self> {
        let question = ask.question.value()?;
        // A question is plain JSON, so this cannot fail; `null` would hash to something else.
        let words = reveal_json(serde_json::to_value(question).unwrap_or_default());
        let showing = DisplayedQuestion {
            ask: ask.id,
            agent: &ask.agent,
            project: &ask.project,
            priority: ask.priority,
            asked_at: ask.created_at,
            question: words,
        };
        Some(Self {
            prompt: question.prompt().to_owned(),
            question: Self::hash(question),
            shown: Digest::of_json(&showing),
        })
    }

    /// The hash that identifies a question.
    pub fn hash(question: &Question) -> Digest {
        Digest::of_json(question)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::Actor;
    use crate::command::{AskCommand, DirectoryCommand, NewAsk};
    use crate::question::QuestionBody;
    use crate::testing::{Cast, human, new_ask, yes};

    /// A receipt names the deciding event, whatever is added to the chain later.
    #[test]
    fn the_place_does_not_move() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        cast.run(
            cast.human("olga"),
            AskCommand::Assign(id, human("mark"), Some("yours".to_owned())),
        );
        cast.run(cast.human("mark"), AskCommand::Answer(id, yes()));
        let receipt = Receipt::of(cast.seen(id)).unwrap();
        let decided = cast.records().last().unwrap().clone();
        assert_eq!((receipt.place.seq, receipt.place.hash), (decided.seq, decided.hash));
        cast.run(cast.human("mark"), AskCommand::Comment(id, "there".to_owned()));
        cast.run(
            cast.agent("bot"),
            AskCommand::Create(Box::new(NewAsk { follows: Some(id), ..new_ask() })),
        );
        cast.run(Actor::System, AskCommand::Erase(id));
        assert_eq!(Receipt::of(cast.seen(id)).unwrap().place, receipt.place);
    }

    /// A receipt stays the same until something in it is erased.
    #[test]
    fn only_erasure_changes_what_a_receipt_says() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        let said = Box::new(Reply { comment: Some("fine".to_owned()), ..*yes() });
        cast.run(cast.human("olga"), AskCommand::Assign(id, human("mark"), None));
        cast.run(cast.human("mark"), AskCommand::Answer(id, said));
        let ended = cast.seen(id).clone();
        cast.run(cast.human("olga"), AskCommand::Comment(id, "there".to_owned()));
        assert!(is_unchanged(&ended, cast.seen(id)));
        cast.give_agent("bot", "nina");
        for (name, unchanged) in [("olga", true), ("mark", false)] {
            cast.run(Actor::System, DirectoryCommand::EraseHuman(human(name)));
            cast.run(Actor::System, AskCommand::EraseWords(id, human(name)));
            assert_eq!(is_unchanged(&ended, cast.seen(id)), unchanged, "{name}");
        }
        let redacted = cast.seen(id).clone();
        cast.run(Actor::System, AskCommand::Erase(id));
        assert!(!is_unchanged(&redacted, cast.seen(id)));

        let withdrawn = cast.ask(new_ask());
        cast.run(cast.agent("bot"), AskCommand::Cancel(withdrawn, None));
        let before = cast.seen(withdrawn).clone();
        cast.run(Actor::System, AskCommand::Erase(withdrawn));
        assert!(!is_unchanged(&before, cast.seen(withdrawn)));
    }

    #[test]
    fn an_exhibit_tells_questions_apart_and_is_gone_with_the_words() {
        let mut cast = Cast::new();
        let asked = |prompt: &str| NewAsk {
            question: Question::new(prompt, None, QuestionBody::Converse).unwrap(),
            ..new_ask()
        };
        let exhibits: Vec<_> = ["Pay 10?", "Pay 100?", "Pay\u{200b} 10?"]
            .map(|prompt| cast.ask(asked(prompt)))
            .map(|id| QuestionDigests::of(cast.seen(id)).unwrap())
            .into();
        assert_ne!(exhibits[0].question, exhibits[1].question);
        assert_ne!(exhibits[0].question, exhibits[2].question, "hidden or not");
        assert_eq!(exhibits[2].prompt, "Pay\u{200b} 10?");
        let id = cast.ask(asked("Pay?"));
        cast.run(cast.agent("bot"), AskCommand::Cancel(id, None));
        cast.run(Actor::System, AskCommand::Erase(id));
        assert_eq!(QuestionDigests::of(cast.seen(id)), None);
    }
}
