//! Erases what an erased person wrote on an ask: comments, reasons, the comments of their answers,
//! and the evidence of their passkey and of the sender of their email. The answers themselves
//! belong to the request and are erased with it.

use super::{Ask, AskState, Ending};
use crate::actor::{Actor, ActorRef};
use crate::audit::Erasable;
use crate::command::Envelope;
use crate::event::{AskEvent, AskTextErased};
use crate::ids::{AskId, HumanId};
use crate::question::Reply;
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

pub(crate) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: AskId,
    human: &HumanId,
) -> Result<Decision, Stop> {
    // Only the server sends this command, after a person was erased.
    if envelope.actor != Actor::System {
        return Err(Refusal::NotFound { what: "request" }.into());
    }
    let ask = world.ask(id)?;
    if !world.directory.human(human).is_some_and(crate::directory::Human::is_erased) {
        return Err(Refusal::NotAllowed { why: "erase the person first" }.into());
    }
    let by = ActorRef::Human(human.clone());
    let votes = || ask.votes.iter().filter(|vote| vote.by == by);
    let kept: Vec<&Reply> = votes().filter_map(|vote| vote.reply.value()).collect();
    let mut salts = envelope.salts.clone();
    let mut replies = Vec::new();
    let has_comments = kept.iter().any(|reply| reply.comment.is_some());
    let has_evidence = votes().any(super::RecordedAnswer::has_evidence);
    if has_comments || has_evidence {
        for reply in kept {
            let reply = Reply { answer: reply.answer.clone(), comment: None };
            replies.push(Erasable::new(reply, &mut salts));
        }
    }
    if replies.is_empty() && !ask.has_text_by(&by) {
        return Ok(Decision::default());
    }
    let without_comments = !replies.is_empty() && !has_comments;
    let erased = AskTextErased { human: human.clone(), replies, without_comments };
    Ok(Decision::on(ask, AskEvent::WordsErased(Box::new(erased))))
}

impl Ask {
    /// Whether an answer lost its comment because the person who gave it was erased.
    pub fn is_redacted(&self, answer: &super::RecordedAnswer) -> bool {
        matches!(&answer.by, ActorRef::Human(human) if self.redacted.contains(human))
    }

    /// Whether the ask still holds a comment or a reason by this person.
    fn has_text_by(&self, by: &ActorRef) -> bool {
        let comment =
            self.comments.iter().any(|said| said.by == *by && said.text.value().is_some());
        let revoked = self.revoked.as_ref();
        let revoked = revoked.is_some_and(|said| said.by == *by && said.reason.value().is_some());
        let cancelled = matches!(
            self.ending(),
            Some(Ending::Cancelled { by: who, reason: Some(reason), .. })
                if who == by && reason.value().is_some()
        );
        let held = matches!(by, ActorRef::Human(human) if self.held_comments.contains(human));
        comment || revoked || cancelled || held
    }

    pub(crate) fn erase_text_by(&mut self, erased: &AskTextErased) {
        let by = ActorRef::Human(erased.human.clone());
        for comment in self.comments.iter_mut().filter(|comment| comment.by == by) {
            comment.text.erase();
        }
        if let Some(revoked) = self.revoked.as_mut().filter(|revoked| revoked.by == by) {
            revoked.reason.erase();
        }
        if let Some(held) = self.held.as_mut().filter(|held| held.vote.by == by) {
            held.vote.reply.erase();
        }
        self.held_comments.retain(|human| *human != erased.human);
        let mut last = None;
        let votes = self.votes.iter_mut().filter(|vote| vote.by == by);
        for (vote, reply) in votes.zip(&erased.replies) {
            vote.reply = reply.clone();
            vote.erase_evidence();
            last = Some(reply);
        }
        let commented = last.is_some() && !erased.without_comments;
        if commented && !self.redacted.contains(&erased.human) {
            self.redacted.push(erased.human.clone());
        }
        let AskState::Over { ending, .. } = &mut self.state else { return };
        match &mut **ending {
            Ending::Completed(resolution) if resolution.by == by => {
                if let Some(reply) = last {
                    resolution.reply = reply.clone();
                    resolution.erase_evidence();
                }
            }
            Ending::Cancelled { by: who, reason: Some(reason), .. } if *who == by => reason.erase(),
            Ending::Completed(_)
            | Ending::Cancelled { .. }
            | Ending::Expired { .. }
            | Ending::Failed { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{AskCommand, DirectoryCommand};
    use crate::question::Answer;
    use crate::testing::{Cast, human, new_ask};

    fn erase_olga(cast: &mut Cast) {
        let agents = ["bot"];
        for agent in agents {
            cast.give_agent(agent, "mark");
        }
        cast.run(Actor::System, DirectoryCommand::EraseHuman(human("olga")));
    }

    #[test]
    fn comments_go_and_the_decision_stays() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        cast.run(cast.human("olga"), AskCommand::Comment(id, "hush remark".to_owned()));
        cast.run(cast.agent("bot"), AskCommand::Comment(id, "agent remark".to_owned()));
        let reply = Reply { answer: Answer::REJECTED, comment: Some("hush reason".to_owned()) };
        cast.run(cast.human("olga"), AskCommand::Answer(id, Box::new(reply)));
        let early = cast.attempt(Actor::System, AskCommand::EraseWords(id, human("olga")));
        assert!(matches!(early, Err(Refusal::NotAllowed { .. })), "{early:?}");
        erase_olga(&mut cast);
        let nosy = cast.attempt(cast.human("mark"), AskCommand::EraseWords(id, human("olga")));
        assert_eq!(nosy, Err(Refusal::NotFound { what: "request" }));
        cast.run(Actor::System, AskCommand::EraseWords(id, human("olga")));
        let ask = cast.seen(id);
        let shown = serde_json::to_string(ask).unwrap();
        assert!(!shown.contains("hush") && shown.contains("agent remark"), "{shown}");
        let answer = ask.deciding_answer().unwrap();
        assert!(ask.is_redacted(answer));
        assert_eq!(answer.reply.value().unwrap().answer, Answer::REJECTED);
        let records = cast.records().len();
        cast.run(Actor::System, AskCommand::EraseWords(id, human("olga")));
        assert_eq!(cast.records().len(), records, "nothing is left to erase");
    }

    /// The passkey evidence is personal data: it is erased with the person, and the answer says so.
    #[test]
    fn the_evidence_of_a_passkey_goes() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        let key = cast.passkey("olga", "laptop");
        let confirmed = cast.confirmed(id, "olga", key, &crate::testing::yes(), 1);
        cast.run(cast.human("olga"), confirmed);
        let commitment =
            cast.seen(id).deciding_answer().unwrap().passkey.as_ref().unwrap().commitment();
        erase_olga(&mut cast);
        cast.run(Actor::System, AskCommand::EraseWords(id, human("olga")));
        let ask = cast.seen(id);
        let answer = ask.deciding_answer().unwrap();
        assert!(answer.evidence_erased() && ask.votes[0].evidence_erased());
        assert_eq!(answer.passkey.as_ref().unwrap().commitment(), commitment);
        assert!(!ask.is_redacted(answer), "there was no comment");
        assert_eq!(answer.reply.value().unwrap().answer, crate::testing::yes().answer);
        let shown = serde_json::to_string(ask).unwrap();
        assert!(!shown.contains("signature"), "{shown}");
        // The record with the evidence loses its contents, and the later record holds the answer.
        let answered =
            cast.record_of(id).into_iter().find(|e| e.what.name() == "answered").unwrap();
        let erased = cast.records().last().unwrap().event().unwrap();
        assert!(erased.what.erases(&answered.erasure_trace()));
        let records = cast.records().len();
        cast.run(Actor::System, AskCommand::EraseWords(id, human("olga")));
        assert_eq!(cast.records().len(), records, "nothing is left to erase");
    }

    /// The domain of an email may name the person who owns it.
    #[test]
    fn how_the_sender_of_an_email_was_verified_goes() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        let domain = "olga.example".to_owned();
        cast.sender = Some(crate::actor::SenderVerification::Dkim { domain });
        cast.run(cast.human("olga"), AskCommand::Answer(id, crate::testing::yes()));
        cast.sender = None;
        let kept = serde_json::to_string(cast.seen(id)).unwrap();
        assert!(kept.contains("olga.example"), "{kept}");
        erase_olga(&mut cast);
        cast.run(Actor::System, AskCommand::EraseWords(id, human("olga")));
        let ask = cast.seen(id);
        let answer = ask.deciding_answer().unwrap();
        assert!(answer.sender.as_ref().is_some_and(|sender| sender.value().is_none()));
        assert!(answer.evidence_erased() && !ask.is_redacted(answer));
        let left = serde_json::to_string(ask).unwrap();
        assert!(!left.contains("olga.example"), "{left}");
        let answered =
            cast.record_of(id).into_iter().find(|e| e.what.name() == "answered").unwrap();
        let erased = cast.records().last().unwrap().event().unwrap();
        assert!(erased.what.erases(&answered.erasure_trace()));
    }

    /// A vote without a comment keeps its commitment.
    #[test]
    fn an_answer_without_a_comment_is_not_touched() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        cast.run(cast.human("olga"), AskCommand::Comment(id, "hush".to_owned()));
        cast.run(cast.human("olga"), AskCommand::Answer(id, crate::testing::yes()));
        let before = cast.seen(id).deciding_answer().unwrap().clone();
        erase_olga(&mut cast);
        cast.run(Actor::System, AskCommand::EraseWords(id, human("olga")));
        assert_eq!(cast.seen(id).deciding_answer(), Some(&before));
        assert_eq!(cast.seen(id).comments[0].text.value(), None);
    }
}
