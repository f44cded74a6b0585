//! Comments on an ask, by the agent that asked or by a person who may see the ask.

use crate::ask::Ask;
use crate::audit::Erasable;
use crate::command::Envelope;
use crate::event::AskEvent;
use crate::ids::AskId;
use crate::refusal::Refusal;
use crate::text::is_storable;
use crate::world::{Decision, Stop, World};

/// An ask takes no more comments than this.
const MOST_COMMENTS: usize = 100;
/// The maximum length of a comment, in characters.
const LONGEST: usize = 4000;

pub(crate) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: AskId,
    text: &str,
) -> Result<Decision, Stop> {
    let ask = world.ask(id)?;
    if !ask.is_visible_to(&envelope.actor, world.directory) {
        return Err(Refusal::NotFound { what: "request" }.into());
    }
    let text = Erasable::new(check_text(ask, "text", text)?, &mut envelope.salts.clone());
    Ok(Decision::on(ask, AskEvent::Commented { text, nudge: false }))
}

/// Checks the text of a field, and that the ask can take one more comment.
pub(super) fn check_text(ask: &Ask, field: &'static str, text: &str) -> Result<String, Refusal> {
    if ask.question.value().is_none() {
        return Err(Refusal::NotAllowed { why: "the text of this request was erased" });
    }
    if text.trim().is_empty() || !is_storable(text) || text.chars().count() > LONGEST {
        let expected = "a string of 1 to 4000 characters, none of them NUL";
        return Err(Refusal::Invalid { field, expected });
    }
    if ask.comments.len() >= MOST_COMMENTS {
        return Err(Refusal::Invalid { field, expected: "at most 100 comments" });
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::Actor;
    use crate::command::AskCommand;
    use crate::testing::{Cast, human, new_ask, yes};

    fn said(cast: &Cast, id: AskId) -> Vec<(String, Option<String>)> {
        let comments = cast.seen(id).comments.iter();
        comments.map(|said| (said.by.to_string(), said.text.value().cloned())).collect()
    }

    #[test]
    fn the_agent_and_whoever_sees_it_talk_before_and_after_the_answer() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        let comment = |text: &str| AskCommand::Comment(id, text.to_owned());
        cast.run(cast.agent("bot"), comment("urgent"));
        cast.run(cast.human("olga"), AskCommand::Answer(id, yes()));
        cast.run(cast.human("olga"), comment("done"));
        for stranger in [cast.human("zoe"), cast.human("mark"), cast.agent("spy")] {
            let refused = cast.attempt(stranger, comment("hello"));
            assert_eq!(refused, Err(Refusal::NotFound { what: "request" }));
        }
        let one = |by: &str, text: &str| (by.to_owned(), Some(text.to_owned()));
        assert_eq!(said(&cast, id), [one("bot", "urgent"), one("olga", "done")]);
        cast.run(Actor::System, AskCommand::Erase(id));
        assert_eq!(said(&cast, id), [("bot".to_owned(), None), ("olga".to_owned(), None)]);
        let late = cast.attempt(cast.human("olga"), comment("more"));
        assert!(matches!(late, Err(Refusal::NotAllowed { .. })));
    }

    #[test]
    fn remarks_are_short_and_not_too_many() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        let comment = |text: String| AskCommand::Comment(id, text);
        for text in [String::new(), "  \n".to_owned(), "a\0b".to_owned(), "é".repeat(4001)] {
            let refused = cast.attempt(cast.agent("bot"), comment(text));
            assert!(matches!(refused, Err(Refusal::Invalid { field: "text", .. })));
        }
        for _ in 0..100 {
            cast.run(cast.agent("bot"), comment("é".repeat(4000)));
        }
        let refused = cast.attempt(cast.agent("bot"), comment("one more".to_owned()));
        assert!(matches!(refused, Err(Refusal::Invalid { field: "text", .. })));
        let note = Some("also".to_owned());
        let refused = cast.attempt(cast.human("olga"), AskCommand::Assign(id, human("mark"), note));
        assert!(matches!(refused, Err(Refusal::Invalid { field: "note", .. })));
        assert_eq!(cast.seen(id).claim, None);
    }
}
