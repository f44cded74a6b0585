//! The agent nudges: it says why it cannot wait, and the assignees are notified again.

use crate::actor::Actor;
use crate::ask::{Assignee, comment};
use crate::audit::Erasable;
use crate::command::{Envelope, Nudge};
use crate::event::AskEvent;
use crate::ids::AskId;
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

pub(crate) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: AskId,
    urge: &Nudge,
) -> Result<Decision, Stop> {
    let ask = world.ask(id)?;
    let Actor::Agent { .. } = &envelope.actor else {
        let why = "only the agent that asked can send a reminder";
        return Err(Refusal::NotAllowed { why }.into());
    };
    if !ask.is_visible_to_key(&envelope.actor) {
        return Err(Refusal::NotFound { what: "request" }.into());
    }
    ask.check_open(world.now)?;
    let text = comment::check_text(ask, "text", &urge.text)?;
    let text = Erasable::new(text, &mut envelope.salts.clone());
    // People outside the project are not asked, even if the agent knows them.
    let new: Vec<Assignee> = urge
        .people
        .iter()
        .filter(|human| {
            let known = world.directory.human(human);
            known.is_some_and(|human| human.active && human.projects.contains(&ask.project))
        })
        .map(|human| Assignee::Person { human: human.clone() })
        .filter(|seat| !ask.assignees.contains(seat))
        .collect();
    let mut decision = Decision::on(ask, AskEvent::Commented { text, nudge: true });
    if !new.is_empty() {
        let joined = AskEvent::Joined { assignees: new };
        decision.happened.push((crate::ids::Subject::Ask(ask.id), joined.into()));
    }
    Ok(decision)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Phase;
    use crate::command::AskCommand;
    use crate::follow_up::FollowUp;
    use crate::follow_up::NotificationReason;
    use crate::testing::{Cast, human, new_ask, yes};

    fn urge(text: &str, people: &[&str]) -> Nudge {
        let people = people.iter().map(|name| human(name)).collect();
        Nudge { text: text.to_owned(), people }
    }

    /// A2H-100, A2H-105: the nudge notifies again, also more people, and the ask stays open.
    #[test]
    fn whoever_is_asked_is_told_once_more_with_the_agents_words() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        let before = cast.follow_ups().len();
        cast.run(
            cast.agent("bot"),
            AskCommand::Nudge(id, urge("the bank closes at five", &["mark"])),
        );
        let told: Vec<_> = cast.follow_ups()[before..]
            .iter()
            .filter_map(|effect| {
                let FollowUp::Notify { assignee: seat, why: NotificationReason::Escalated, .. } =
                    effect
                else {
                    return None;
                };
                Some(seat.clone())
            })
            .collect();
        let seat = |name| Assignee::Person { human: human(name) };
        assert_eq!(told, [seat("olga"), seat("mark")]);
        let ask = cast.seen(id);
        assert_eq!(ask.phase(), Phase::Waiting);
        assert_eq!(ask.comments.len(), 1);
        assert_eq!(ask.assignees, [seat("olga"), seat("mark")]);
        cast.run(cast.agent("bot"), AskCommand::Nudge(id, urge("please", &["mark"])));
        assert_eq!(cast.seen(id).assignees.len(), 2, "once is enough");
        cast.run(cast.human("mark"), AskCommand::Answer(id, yes()));
    }

    /// A2H-104.
    #[test]
    fn only_the_agent_urges_and_only_what_is_open() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        let again = || AskCommand::Nudge(id, urge("now", &["spy-owner", "nobody"]));
        assert!(matches!(
            cast.attempt(cast.human("olga"), again()),
            Err(Refusal::NotAllowed { .. })
        ));
        assert_eq!(
            cast.attempt(cast.agent("spy"), again()),
            Err(Refusal::NotFound { what: "request" })
        );
        let empty = AskCommand::Nudge(id, urge(" ", &[]));
        let refused = cast.attempt(cast.agent("bot"), empty);
        assert!(matches!(refused, Err(Refusal::Invalid { field: "text", .. })), "{refused:?}");
        cast.run(cast.agent("bot"), again());
        assert_eq!(cast.seen(id).assignees.len(), 1, "strangers are not asked");
        cast.run(cast.human("olga"), AskCommand::Answer(id, yes()));
        let late = cast.attempt(cast.agent("bot"), again());
        assert!(matches!(late, Err(Refusal::AlreadyAnswered { .. })), "{late:?}");
    }
}
