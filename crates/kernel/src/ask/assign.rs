//! Assigns an ask to a person, with an optional note.

use crate::ask::comment;
use crate::audit::Erasable;
use crate::command::Envelope;
use crate::event::AskEvent;
use crate::ids::{AskId, HumanId, Subject};
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

pub(crate) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: AskId,
    to: &HumanId,
    note: Option<&str>,
) -> Result<Decision, Stop> {
    let ask = world.ask(id)?;
    if !world.directory.administers(&envelope.actor) {
        let person = world.directory.person(&envelope.actor)?;
        if !ask.may_be_answered_by(person) {
            return Err(Refusal::NotFound { what: "request" }.into());
        }
        let holder = ask.claim.as_ref().map(|claim| &claim.human);
        if holder.is_some_and(|holder| *holder != person.id) && person.id != ask.owner {
            let why = "only the agent's owner or the current assignee can reassign this request";
            return Err(Refusal::NotAllowed { why }.into());
        }
    }
    ask.check_open(world.now)?;
    ask.check_not_held(&envelope.actor)?;
    let target = world.directory.human(to).filter(|human| human.active);
    if target.is_none_or(|human| !human.projects.contains(&ask.project) && human.id != ask.owner) {
        let expected = "a person who is a member of this project";
        return Err(Refusal::Invalid { field: "to", expected }.into());
    }
    if ask.claim.as_ref().is_some_and(|claim| claim.human == *to) {
        return Ok(Decision::default());
    }
    let mut decision = Decision::default();
    if let Some(note) = note {
        let text = comment::check_text(ask, "note", note)?;
        let text = Erasable::new(text, &mut envelope.salts.clone());
        decision
            .happened
            .push((Subject::Ask(ask.id), AskEvent::Commented { text, nudge: false }.into()));
    }
    decision.happened.push((Subject::Ask(ask.id), AskEvent::Assigned { to: to.clone() }.into()));
    Ok(decision)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::AskCommand;
    use crate::question::{Answer, Reply};
    use crate::testing::{Cast, human, new_ask};

    #[test]
    fn whoever_is_handed_it_may_answer() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        cast.run(cast.human("olga"), AskCommand::Assign(id, human("mark"), None));
        let yes = Reply { answer: Answer::Approved { edits: None }, comment: None };
        cast.run(cast.human("mark"), AskCommand::Answer(id, Box::new(yes)));
        assert!(!cast.seen(id).is_open());
    }

    #[test]
    fn not_to_strangers_and_not_by_them() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        let to_zoe = cast.attempt(cast.human("olga"), AskCommand::Assign(id, human("zoe"), None));
        assert!(matches!(to_zoe, Err(Refusal::Invalid { field: "to", .. })));
        let by_mark = cast.attempt(cast.human("mark"), AskCommand::Assign(id, human("mark"), None));
        assert_eq!(by_mark, Err(Refusal::NotFound { what: "request" }));
    }
}
